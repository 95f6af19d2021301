#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Seeds for listing_fuzz: lists of blocks as SQLite, scripts and people write them."""
import os
import sys

SEEDS = [
    "process|number\n0|7\n1|3\n0|18446744073709551614\n",
    "# by hand\n0 1\n0\t2\r\n\n3, 4\n4294967295|0",
    "12\n5\n\n5\n",
    "0|one\n",
]
for number, text in enumerate(SEEDS):
    with open(os.path.join(sys.argv[1], f"list{number}.txt"), "w", encoding="utf-8", newline="") as f:
        f.write(text)
