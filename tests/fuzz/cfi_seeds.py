#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""cfi_seeds FOLDER: the unwind data of some programs, as cfi_fuzz takes it."""
import glob
import os
import struct
import sys

LARGEST = 40000


def sections(path):
    """Name -> (offset, size) of the sections of a 64-bit ELF file."""
    with open(path, "rb") as f:
        data = f.read()
    at, size, count, names = struct.unpack_from("<Q10xHHH", data, 40)
    headers = [struct.unpack_from("<IIQQQQ", data, at + i * size) for i in range(count)]
    text = data[headers[names][4]:][:headers[names][5]]
    return data, {text[h[0]:text.index(b"\0", h[0])].decode(): (h[4], h[5]) for h in headers}


def main():
    made = 0
    for path in sorted(glob.glob(os.path.join(os.environ["WORKLOADS"], "*"))) + ["/bin/true", "/bin/sh"]:
        if not os.path.isfile(path):
            continue
        data, found = sections(path)
        if ".eh_frame_hdr" not in found or ".eh_frame" not in found:
            continue
        start, end = found[".eh_frame_hdr"][0], sum(found[".eh_frame"])
        entries = struct.unpack_from("<I", data, start + 8)[0]
        if not 0 < end - start <= LARGEST or entries == 0:
            continue
        for flags, offset in ((0, 0), (1, (found[".eh_frame"][0] - start) // 4)):
            distance = struct.unpack_from("<i", data, start + 12 + entries // 2 * 8)[0]
            if offset < 256:
                with open(os.path.join(sys.argv[1], f"cfi{made}"), "wb") as f:
                    f.write(struct.pack("<BBi", flags, offset, distance) + data[start:end])
                made += 1


main()
