# SPDX-License-Identifier: MIT OR Apache-2.0
"""Protobuf messages, written by hand: what tests and seeds need to make profiles."""


def number(value):
    """A varint, which the .wake format has too."""
    out = b""
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def field(key, value):
    """A field of a message: a number, or bytes."""
    if isinstance(value, int):
        return number(key << 3) + number(value)
    return number(key << 3 | 2) + number(len(value)) + value


def message(*fields):
    return b"".join(field(key, value) for key, value in fields)
