#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Seeds for suppress_fuzz: suppressions as people write them, and patterns with names behind."""
import os
import sys

SEEDS = [
    "# known\nleak:libfontconfig\nleak:^main$\n\nleak:*Pool::grow*\n",
    "leak:\nrace:no such kind\nleak:a",
    "leak:" + "x" * 5000 + "\r\nleak:b\r\n",
    "^ab*cd*ef$gh".ljust(12) + "abxcdyefgh",
    "*a*b*c*d*e*f" + "aaaaabbbbbcccccdddddeeef",
    "a***********" + "aaaaaaaaaaaaaaaaaaaaaaaa",
]
for number, seed in enumerate(SEEDS):
    with open(os.path.join(sys.argv[1], f"suppressions{number}"), "wb") as f:
        f.write(seed.encode())
