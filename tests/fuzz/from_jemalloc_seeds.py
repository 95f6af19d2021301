#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Seeds for from_jemalloc_fuzz: heap profiles of jemalloc."""
import os
import sys

SEEDS = [
    "heap_v2/524288\n  t*: 28: 106496 [30: 120000]\n  t0: 28: 106496 [30: 120000]\n@ 0x5f6a 0x401234 0x7f12\n  t*: 13: 6688 [0: 0]\n"
    "  t0: 13: 6688 [0: 0]\n@ 0x5f6b\n  t*: 15: 99808 [30: 120000]\n  t3: 15: 99808 [30: 120000]\n\nMAPPED_LIBRARIES:\n"
    "00400000-00402000 r--p 00000000 08:01 1048602    /bin/app\n00402000-00500000 r-xp 00002000 08:01 1048602    /bin/app\n",
    "heap_v2/1\n  t*: 1: 8 [100000: 800000]\n@ 0x1\n  t*: 1: 8 [100000: 800000]\n@\n  t*: 5: 0 [7: 3]\n",
    "heap_v2/0\n@ 0x1 0x2\n\nMAPPED_LIBRARIES:\n",
]
for number, text in enumerate(SEEDS):
    with open(os.path.join(sys.argv[1], f"seed{number}"), "w", encoding="utf-8", newline="") as f:
        f.write(text)
