#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Seeds for sanitizer_fuzz: small ELF files with string tables, with and without a sanitizer."""
import os
import struct
import sys

STRTAB = 3


def elf(tables, size=None):
    """A head, sections, string tables; `size` is what the last section says of itself."""
    offset = 64 + 64 * len(tables)
    body, sections = b"", b""
    for table in tables:
        length = len(table) if size is None else size
        sections += struct.pack("<IIQQQQIIQQ", 0, STRTAB, 0, 0, offset + len(body), length, 0, 0, 1, 0)
        body += table
    ident = b"\x7fELF\x02\x01\x01" + bytes(9)
    head = ident + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 0, 64, 0, 64, 56, 0, 64, len(tables), 0)
    return head + sections + body


SEEDS = [
    elf([b"\0malloc\0free\0", b"\0main\0"]),
    elf([b"\0__asan_init\0libasan.so.8\0"]),
    elf([b"\0" + b"x" * 65530 + b"\0__tsan_init\0"]),
    elf([b"\0libc.so.6\0"] * 3, 1 << 40),
    elf([b"\0liblsan.so.0\0"], 5),
]
for number, seed in enumerate(SEEDS):
    with open(os.path.join(sys.argv[1], f"program{number}"), "wb") as f:
        f.write(seed)
