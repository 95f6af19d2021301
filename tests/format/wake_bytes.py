# SPDX-License-Identifier: MIT OR Apache-2.0
"""The lowest layer of docs/format.md, for wake_reader.py: checksums, compression, numbers, chunks."""
import ctypes
import struct

CAP = 16 << 20
MASK = (1 << 64) - 1


class Bad(Exception):
    pass


def demand(truth, sentence):
    if not truth:
        raise Bad(sentence)


xxhash = ctypes.CDLL('libxxhash.so.0')
xxhash.XXH3_64bits.restype = ctypes.c_uint64
xxhash.XXH3_64bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
zstd = ctypes.CDLL('libzstd.so.1')
zstd.ZSTD_decompress.restype = ctypes.c_size_t
zstd.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]


def checksum(data):
    return xxhash.XXH3_64bits(bytes(data), len(data))


def unpack(flags, data, raw):
    if flags == 0:
        demand(len(data) == raw, 'a plain payload has two lengths')
        return bytes(data)
    demand(flags == 1, 'unknown compression %d' % flags)
    out = ctypes.create_string_buffer(max(raw, 1))
    demand(zstd.ZSTD_decompress(out, raw, bytes(data), len(data)) == raw, 'zstd data do not unpack')
    return out.raw[:raw]


class Bytes:
    """Numbers from bytes, in order."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def left(self):
        return len(self.data) - self.at

    def take(self, length):
        demand(length <= self.left(), 'a record ends too early')
        self.at += length
        return self.data[self.at - length:self.at]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                demand(value <= MASK, 'a varint is too large')
                return value
            demand(shift < 70, 'a varint is too long')

    def signed(self):
        value = self.varint()
        return value >> 1 if value & 1 == 0 else -(value >> 1) - 1

    def text(self):
        return self.take(self.varint())


class Chunk:
    def __init__(self, data, offset):
        head = data[offset:offset + 40]
        demand(len(head) == 40, 'byte %d: a chunk header is cut' % offset)
        (magic, self.type, self.flags, self.process, self.raw, self.stored, zero, total, head_sum) = \
            struct.unpack('<4sHHIIIIQQ', head)
        demand(magic == b'WKCH', 'byte %d: no chunk' % offset)
        demand(checksum(head[:32]) == head_sum, 'byte %d: header checksum' % offset)
        demand(zero == 0, 'byte %d: reserved bytes' % offset)
        demand(self.raw <= CAP and self.stored <= CAP, 'byte %d: longer than allowed' % offset)
        self.offset, self.end = offset, offset + 40 + self.stored
        demand(self.end <= len(data), 'byte %d: the payload is cut' % offset)
        self.data = data[offset + 40:self.end]
        demand(checksum(self.data) == total, 'byte %d: payload checksum' % offset)

    def payload(self):
        return Bytes(unpack(self.flags, self.data, self.raw))
