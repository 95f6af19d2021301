#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Seeds for from_mtrace_fuzz: logs of glibc's mtrace."""
import os
import sys

SEEDS = [
    "= Start\n@ ./app:(read_config+0x1d)[0x11b0] + 0x55b4c51c34a0 0x64\n@ ./app:[0x11e7] < 0x55b4c51c34a0\n"
    "@ ./app:[0x11e7] > 0x55b4c51c3510 0x1388\n@ ./app:[0x1267] ! 0x55b4c51c3610 0x1388\n"
    "@ /lib/x86_64-linux-gnu/libc.so.6:(__strdup+1a)[0x9e9aa] + 0x10 0x4\n@ ./app:[0x11e7] - 0x55b4c51c3510\n"
    "@ ./app:[0x11e7] - 0x10\n@ ./app:[0x11e7] - 0x10\n= End\n",
    "+ 0x10 0x20\n- 0x10\n+ 0x10 0x30\n+ 0x10 0x40\n+ (nil) 0x50\n",
    "@ [0x401000] + 0x10 0x20\r\n@ a b:(f)[0x1] + 0x20 0x1\n",
]
for number, text in enumerate(SEEDS):
    with open(os.path.join(sys.argv[1], f"seed{number}"), "w", encoding="utf-8", newline="") as f:
        f.write(text)
