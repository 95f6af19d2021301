#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Seeds for budget_fuzz: files of limits with everything that they may hold."""
import os
import sys

SEEDS = [
    '# .heapwake.toml\n[check]\nmax-peak = "200M"\nmax-leak = 0\nmax-leak-per-site = "4K"\nmax-leak-growing = 0\nmax-leak-stopped = "1M"\n'
    'max-allocations = 2_000_000\nmax-growth = "5%"\nbase = "base.wake"\nsuppressions = ["a.txt", "/b\\"c\\\\.txt"]\n',
    '[check]\r\nmax-leak = "1.5MiB" # comment\r\n\r\nsuppressions = []',
    '[check]\nmax-leak = "unended\n',
]
for number, text in enumerate(SEEDS):
    with open(os.path.join(sys.argv[1], f"limits{number}.toml"), "w", encoding="utf-8") as f:
        f.write(text)
