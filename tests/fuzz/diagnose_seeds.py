#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Seeds for diagnose_fuzz: small ELF programs with a loader and a build id, and scripts."""
import os
import struct
import sys

INTERP, NOTE = 3, 4
GLIBC, MUSL = b"/lib64/ld-linux-x86-64.so.2\0", b"/lib/ld-musl-x86_64.so.1\0"


def note(identity, name=b"GNU\0", kind=3):
    return struct.pack("<III", len(name), len(identity), kind) + name + identity


def elf(loader, notes=b"", bits=2, machine=62):
    start, segments = 64 + 2 * 56, b""
    for kind, offset, length in ((INTERP, start, len(loader)), (NOTE, start + len(loader), len(notes))):
        segments += struct.pack("<IIQQQQQQ", kind if length else 0, 4, offset, offset, 0, length, length, 1)
    head = b"\x7fELF" + bytes([bits, 1, 1]) + bytes(9)
    return head + struct.pack("<HHIQQQIHHHHHH", 3, machine, 1, 0, 64, 0, 0, 64, 56, 2, 64, 0, 0) + segments + loader + notes


SEEDS = [
    elf(GLIBC, note(bytes(range(20)))),
    elf(MUSL, note(b"x" * 64) + note(b"y" * 8)),
    elf(b"", note(b"abcd", b"Go\0\0", 4) + note(b"")),
    elf(GLIBC, note(b"z" * 200), bits=1, machine=3),
    elf(GLIBC, struct.pack("<III", 0xFFFFFFFF, 0xFFFFFFFC, 3)),
    b"#!/bin/sh\n",
    b"#! /proc/self/exe -x\n",
    b"#!",
]
for number, seed in enumerate(SEEDS):
    with open(os.path.join(sys.argv[1], f"program{number}"), "wb") as f:
        f.write(seed)
