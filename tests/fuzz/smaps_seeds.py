#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Seeds for smaps_fuzz: that of this very process, and some that are made up."""
import os
import sys

RANGE = "%x-%x %s 00000000 00:00 0 %s\nSize: 20 kB\nRss: %d kB\nAnonymous: %d kB\nSwap: %d kB\nVmFlags: rd wr\n"

with open("/proc/self/smaps", "rb") as f:
    SEEDS = [f.read()[:8000]]
SEEDS += [text.encode() for text in (
    RANGE % (0x1000, 0x6000, "rw-p", "[anon:one two]", 8, 8, 0) + RANGE % (0x6000, 0x7000, "r--s", "/a\\012b (deleted)", 0, 0, 4),
    RANGE % (0x1000, 0x6000, "---p", "", 1 << 60, 1 << 61, 1 << 62) + RANGE % (0x2000, 0x3000, "rwxp", "[heap]", 4, 4, 4),
    "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]\nRss: 0 kB\n",
)]
for number, seed in enumerate(SEEDS):
    with open(os.path.join(sys.argv[1], f"seed{number}"), "wb") as f:
        f.write(seed)
