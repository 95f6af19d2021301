#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Seeds for listener_fuzz: hellos with and without their token and their segment, requests."""
import os
import struct
import sys

TOKEN = b"sixteen letters\0"


def hello(token=TOKEN, magic=0x4F4C4C48, version=2):
    return struct.pack("<II16sII", magic, version, token, 1234, 1)


def request(text, size=4096, version=1):
    return struct.pack("<IIIIII", 0x4C525443, version, 5, 1234, 0, 0) + text.ljust(size, b"\0")


MESSAGES = [hello(), hello(b"guessed"), hello(version=9), hello() + b"more", hello()[:20], request(b"a tag"),
            request(b"x" * 4096), request(b"", 4000), request(b"later", version=7)]
for number, message in enumerate(MESSAGES):
    for descriptors in (0, 1, 3):
        with open(os.path.join(sys.argv[1], f"message{number}-{descriptors}"), "wb") as f:
            f.write(bytes([descriptors]) + message)
