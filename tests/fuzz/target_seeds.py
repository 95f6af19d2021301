#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Seeds for target_fuzz: small ELF programs that need libraries, and scripts."""
import os
import struct
import sys

LOAD, DYNAMIC, INTERP = 1, 2, 3
NEEDED, STRTAB = 1, 5


def elf(libraries=(), loader=b"", bits=2, machine=62, entries=None, base=0x400000):
    """A head, its segments, the loader's name, the names of libraries, the dynamic section."""
    names = b"\0" + b"".join(name + b"\0" for name in libraries)
    at = [1 + sum(len(name) + 1 for name in libraries[:i]) for i in range(len(libraries))]
    start = 64 + 3 * 56
    if entries is None:
        entries = [(NEEDED, offset) for offset in at] + [(STRTAB, base + start + len(loader) + 1), (0, 0)]
    dynamic = b"".join(struct.pack("<qQ", *entry) for entry in entries)
    body = loader + b"\0" + names + dynamic
    segments = b"".join(struct.pack("<IIQQQQQQ", kind, 5, offset, base + offset, 0, length, length, 1) for kind, offset, length in (
        (INTERP, start, len(loader) + 1), (LOAD, 0, start + len(body)),
        (DYNAMIC, start + len(body) - len(dynamic), len(dynamic))))
    head = b"\x7fELF" + bytes([bits, 1, 1]) + bytes(9)
    return head + struct.pack("<HHIQQQIHHHHHH", 3, machine, 1, 0, 64, 0, 0, 64, 56, 3, 64, 0, 0) + segments + body


GLIBC = b"/lib64/ld-linux-x86-64.so.2"
SEEDS = [
    elf([b"libc.so.6"], GLIBC),
    elf([b"libm.so.6", b"libasan.so.8", b"libc.so.6"], GLIBC),
    elf([b"/opt/llvm/lib/libclang_rt.asan-x86_64.so"], GLIBC, base=0),
    elf([b"libc.so"], b"/lib/ld-musl-x86_64.so.1"),
    elf([b"libc.so.6"], GLIBC, bits=1, machine=3),
    elf([b"libtsan.so.2"], GLIBC, entries=[(STRTAB, 1 << 63), (NEEDED, 1 << 62), (NEEDED, 1)]),
    elf([b"lib%d.so" % i for i in range(40)] + [b"liblsan.so.0"], GLIBC),
    b"#! /bin/sh -e\n",
    b"#!/proc/self/exe\n",
]
for number, seed in enumerate(SEEDS):
    with open(os.path.join(sys.argv[1], f"program{number}"), "wb") as f:
        f.write(seed)
