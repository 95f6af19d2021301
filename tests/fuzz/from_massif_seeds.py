#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Seeds for from_massif_fuzz: files of Valgrind's massif."""
import os
import sys

HEAD = "desc: --threshold=0\ncmd: ./app x\ntime_unit: %s\n"
FIELDS = "#-----------\nsnapshot=%d\n#-----------\ntime=%s\nmem_heap_B=%d\nmem_heap_extra_B=8\nmem_stacks_B=%d\nheap_tree=%s\n"
TREE = ("n2: %d (heap allocation functions) malloc/new/new[], --alloc-fns, etc.\n n1: 600 0x1093B9: leak_small (blame.c:64)\n"
        "  n0: 500 0x1090D7: main (blame.c:128)\n n0: 300 in 5 places, all below massif's threshold (1.00%%)\n")
SEEDS = [
    HEAD % "i" + FIELDS % (0, "0", 0, 0, "empty") + FIELDS % (1, "50", 1000, 3, "detailed") + TREE % 1000 +
    FIELDS % (2, "60", 400, 0, "empty") + FIELDS % (3, "70", 2000, 0, "peak") + TREE % 2000 + FIELDS % (4, "70", 100, 0, "empty"),
    HEAD % "ms" + FIELDS % (0, "1.5", 5, 0, "peak") + "n0: 5 (heap)\n",
    HEAD % "B" + FIELDS % (0, "7", 10, 0, "detailed") + "n1: 10 (x)\n n1: 10 0x1: ??? (in /bin/a)\n  n0: 10 0x2: f(int) (a.rs:3:9)\n",
]
for number, text in enumerate(SEEDS):
    with open(os.path.join(sys.argv[1], f"seed{number}"), "w", encoding="utf-8", newline="") as f:
        f.write(text)
