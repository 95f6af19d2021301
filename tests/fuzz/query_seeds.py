#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Seeds for query_fuzz: the words of queries, and behind them bytes that become events."""
import os
import sys

EVENTS = bytes(n * 37 % 256 for n in range(600))
QUERIES = [
    "",
    "size-min=16\nsize-max=4K\nstate=leaked\ndetail=yes\n",
    "from=10%\nto=90%\nat=peak\nallocated=inside\nfreed=outside\n",
    "function=^ma.n$\nnot-module=lib(c|m)\nsource=[a-z]+\\.c\nsplit=thread\n",
    "pid=1,2,3\nstack=1,2\nthread=1\nfreed-by=worker\nkind=malloc,calloc,new\n",
    "mark=mark\nalive-at=50%\ngroup-leaked-min=10%\ngroup-interval-max=1s\ntemporary=2\nticks=10\nmedian=yes\n",
    "allocated-from=1us\nallocated-to=1h\nfreed-from=0\nfreed-to=100%\ngroup-peak-from=1ms\ngroup-peak-to=99%\n",
    "freed-function=^ma.n$\nnot-freed-module=lib(c|m)\nfreed-stack=1,2\nkept-until=50%\nmapped=no\nmapped=yes\narena=main\n",
    "blocks=none\nsize-min=1\n",
    "mapping=1,2\nnot-stack=1\nnot-freed-stack=2,3\n",
    "peak-rss-min=1\nreadable=yes\nwritable=no\nexecutable=any\n",
    "function=(((((\n",
    "size-min=99999999999999999999G\nfrom=-1\nno-such-key=1\n=\n",
]
for number, query in enumerate(QUERIES):
    with open(os.path.join(sys.argv[1], f"query{number}"), "wb") as f:
        f.write(query.encode() + b"\n" + EVENTS)
