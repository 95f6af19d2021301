# SPDX-License-Identifier: MIT OR Apache-2.0
"""pymix.py ROUNDS: what scripts do all day: strings, dicts, objects, sorting, JSON, regular expressions."""
import json
import re
import sys


class Item:
    def __init__(self, number):
        self.name = f"item {number * 7919 % 10007}"
        self.tags = {f"t{k}": number % (k + 1) for k in range(5)}
        self.next = None


def one_round(seed):
    items = [Item(seed * 1000 + i) for i in range(1000)]
    for a, b in zip(items, items[1:]):
        a.next = b
    by_name = {}
    for item in items:
        by_name.setdefault(item.name, []).append(item)
    names = sorted(by_name, key=lambda n: n[::-1])
    text = json.dumps({n: [i.tags for i in by_name[n]] for n in names[:200]})
    words = re.findall(r"[a-z]+ ([0-9]+)", text)
    back = json.loads(text)
    return len(words) + len(back) + sum(len(w) for w in (" ".join(names)).split())


total = 0
for r in range(int(sys.argv[1]) if len(sys.argv) > 1 else 100):
    total += one_round(r)
print("pymix:", total)
