#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Seeds for from_pprof_fuzz: heap profiles in pprof's format."""
import gzip
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from format.protowrite import message, number  # noqa: E402

TEXTS = [b"", b"alloc_objects", b"count", b"alloc_space", b"bytes", b"inuse_objects", b"inuse_space", b"/bin/app", b"make_it",
         b"a.c", b"main", b"peak_space"]


def profile(types, rows):
    out = [(1, message((1, TEXTS.index(name)), (2, 2))) for name in types]
    for places, values in rows:
        out.append((2, message((1, b"".join(map(number, places))), (2, b"".join(map(number, values))),
                               (3, message((1, 4), (3, 8))))))
    out.append((3, message((1, 1), (2, 0x400000), (3, 0x500000), (4, 0), (5, 7))))
    out.append((4, message((1, 1), (2, 1), (3, 0x401000), (4, message((1, 1), (2, 7))), (4, message((1, 2), (2, 9))))))
    out.append((4, message((1, 2), (2, 1), (3, 0x402000))))
    out.append((5, message((1, 1), (2, 8), (3, 8), (4, 9))))
    out.append((5, message((1, 2), (2, 10), (4, 9))))
    out += [(6, text) for text in TEXTS] + [(9, 10**18), (10, 10**9), (11, message((1, 3), (2, 4))), (12, 512)]
    return message(*out)


ALL = [b"alloc_objects", b"alloc_space", b"inuse_objects", b"inuse_space", b"peak_space"]
SEEDS = [
    profile(ALL, [([1, 2], [10, 1000, 3, 300, 700]), ([2], [5, 50, 0, 0, 50]), ([], [1, 1, 1, 1, 1])]),
    profile(ALL[2:4], [([1], [3, 300]), ([2, 2, 2], [9, 0])]),
    gzip.compress(profile(ALL[:2], [([1], [10**9, 10**12])]), mtime=0),
]
for index, seed in enumerate(SEEDS):
    with open(os.path.join(sys.argv[1], f"seed{index}"), "wb") as f:
        f.write(seed)
