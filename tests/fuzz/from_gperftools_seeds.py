#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Seeds for from_gperftools_fuzz: text heap profiles."""
import os
import sys

SEEDS = [
    "heap profile:   3:  1064960 [  43: 1082368] @ heapprofile\n     1:  1048576 [   1:  1048576] @ 0x401234 0x7f12\n"
    "     2:    16384 [  42:    33792] @ 0x401239 0x401000\n\nMAPPED_LIBRARIES:\n"
    "00400000-00500000 r-xp 00000000 08:01 1048602    /bin/app\n7f00000000-7f00001000 r-xp 00000000 00:00 0 [vdso]\n",
    "heap profile: 1: 10 [2: 20] @ heap_v2/524288\n1: 10 [2: 20] @ 0x1\n0: 0 [9000000: 1] @ 0x2 0x3\n",
    "heap profile: 9: 1 [1: 9] @ heapz_v2/2\n9: 1 [1: 9] @\n\n",
]
for number, text in enumerate(SEEDS):
    with open(os.path.join(sys.argv[1], f"seed{number}"), "w", encoding="utf-8", newline="") as f:
        f.write(text)
