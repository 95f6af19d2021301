#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Seeds for from_heaptrack_fuzz: interpreted and raw, old and new, packed."""
import gzip
import os
import sys

NEW = b"""v 10400 3
X ./prog --arg
I 1000 100000
S 8 leak:abc
s 9 /bin/prog
s 4 main
s 6 main.c
s 3 foo
s 5 inl_a
i 401000 1 2 3 a
t 1 0
i 402000 1 5 3 1e 4 3 14
t 2 1
i 402000 1 4
t 3 1
a 64 2
+ 0
c a
R 100
- 0
a 8 3
+ 1
+ 0
+ 1
- 1
c 14
R 90

# strings: 5
# ips: 3
"""
OLD = b"v 10100 2\nX ./old\ns /bin/old\ns main\ns a b.c\ni 10 1 2 3 4\nt 1 0\na 5 1\n+ 0\n- 0\n- 0\nA\n"
RAW = b"""v 10400 3
x 9 /bin/prog
X ./prog
I 1000 100000
m 1 -
m 1 x 555500000000 0 1000 1000 5000
m 9 linux-vds 7fff00000000 0 1000
t 555500001234 0
t 7fff00000123 1
t 10 2
+ 20 3 7000
+ 30 1 7100
- 7000
- 7000
+ 10 2 7100
c 5
R 20
m 1 -
m 1 x 555500000000 0 1000 1000 5000
t 555500001299 0
+ 5 4 8000
c 8
"""
for name, text in (("new", NEW), ("old", OLD), ("raw", RAW), ("new.gz", gzip.compress(NEW))):
    with open(os.path.join(sys.argv[1], name), "wb") as f:
        f.write(text)
