#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Seeds for perf_map_fuzz: what JIT compilers leave for perf, and what nobody should."""
import os
import sys

SEEDS = [
    "7f0000001000 40 Lua: main.lua:3\n7f0000001040 80 Lua: main.lua:9\n",
    "7f0000001000 40 first\n7f0000001020 10 second, inside\n7f0000001000 100 third, over all\n",
    "1000 10 \n1000 0 nothing\nzz 10 no number\n-1 10 less\nffffffffffffffff 1 last\nfffffffffffffff0 f end",
    "\n\n\n",
    "".join(f"{0x10000 + 16 * i:x} 10 function_{i}\n" for i in range(300)),
]
for number, seed in enumerate(SEEDS):
    with open(os.path.join(sys.argv[1], f"map{number}"), "wb") as f:
        f.write(seed.encode())
