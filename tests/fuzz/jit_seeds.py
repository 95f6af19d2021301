#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""jit_seeds FOLDER: announcements of unwind tables, as jit_fuzz takes them."""
import os
import struct
import sys

BASE = 0x200000000000
CODE = BASE + 0x1000


def record(body):
    body += b"\0" * (-len(body) % 4)
    return struct.pack("<I", len(body)) + body


def cie(letters=b"zR", data=b"\0", program=b"\x0c\x07\x08\x90\x01"):
    return record(struct.pack("<IB", 0, 1) + letters + b"\0\x01\x78\x10" + bytes([len(data)]) + data + program)


def fde(back, start, length, program, width="Q"):
    return record(struct.pack("<I", back) + struct.pack("<" + 2 * width, start, length) + b"\0" + program)


def seeds():
    plain = cie()
    frame = b"\x41\x0e\x10\x86\x02\x43\x0e\x80\x02"
    one = plain + fde(len(plain) + 4, CODE, 64, frame)
    yield one + bytes(4)
    yield one  # without an end
    two = one + fde(len(one) + 4, CODE + 64, 64, b"\x41\x0e\x10\x86\x02\x43\x0d\x06")
    yield two + bytes(4)
    relative = cie(data=b"\x1b")
    # The address of the field is BASE less what follows it.
    size = len(relative) + 4 + 4 + 4 + 4 + 1 + len(frame) + 2 + 4
    field = BASE - size + len(relative) + 8
    yield (relative + fde(len(relative) + 4, (CODE - field) & 0xffffffff, 64, frame, "I") + bytes(8))[:size]
    yield plain + fde(len(plain) + 4, CODE, 64, b"\x0f\x03\x77\x08\x06" + b"\x16\x06\x02\x77\x10") + bytes(4)
    silent = cie(letters=b"zPR", data=bytes(9) + b"\0", program=b"")
    yield silent + fde(len(silent) + 4, CODE, 64, b"") + bytes(4)
    yield plain + fde(len(plain) + 4, CODE, 64, frame + bytes(600)) + bytes(4)
    yield struct.pack("<IQ", 0xffffffff, len(plain) - 4) + plain[4:] + fde(len(plain) + 12, CODE, 64, frame) + bytes(4)


def main():
    for number, seed in enumerate(seeds()):
        with open(os.path.join(sys.argv[1], f"jit-{number}"), "wb") as f:
            f.write(struct.pack("<i", CODE + 5 - BASE) + seed)


if __name__ == "__main__":
    main()
