#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""segment_seeds FOLDER: spools of real programs, made small as segment_fuzz takes
them. The probe finds no collector where it stands alone, so it leaves a spool."""
import glob
import os
import shutil
import struct
import subprocess
import sys

PAGE, CHUNK, LANES = 4096, 8192, 64
PROGRAMS = (["ends", "return", "4", "200"], ["ends", "_exit", "1", "200"], ["early"], ["hooks"], ["stacks"])


def piece(data):
    data = data.rstrip(b"\0")
    return struct.pack("<H", len(data)) + data


def shrink(data):
    """The same segment with few lanes and only the chunks in use, with their sums."""
    lane_at, _, chunk_at = struct.unpack_from("<III", data, 24)
    next_at, = struct.unpack_from("<I", data, 40)
    fresh = struct.unpack_from("<I", data, 128 + 64 + 8)[0]
    chunks = min(fresh, 16)
    head = bytearray(data[:512])
    struct.pack_into("<QIIIII", head, 16, 3 * PAGE + chunks * CHUNK, 2 * PAGE, LANES, 3 * PAGE, chunks, 2 * PAGE + 4 * LANES)
    pieces = [bytes(head), data[PAGE:2 * PAGE], data[lane_at:lane_at + 4 * LANES] + data[next_at:next_at + 4 * chunks]]
    pieces += [data[chunk_at + i * CHUNK:chunk_at + (i + 1) * CHUNK] for i in range(chunks)]
    return b"".join(map(piece, pieces))


folder = os.path.abspath(sys.argv[1])
probe = os.path.join(folder, "libheapwake.so")
shutil.copy(os.environ["PROBE"], probe)
for number, program in enumerate(PROGRAMS):
    subprocess.run([os.path.join(os.environ["WORKLOADS"], program[0]), *program[1:]], cwd=folder, check=False,
                   env={**os.environ, "LD_PRELOAD": probe, "PATH": "/nonexistent", "HEAPWAKE_OUTPUT": f"{number}.wake"},
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
os.unlink(probe)
for path in glob.glob(os.path.join(folder, "*.spool")):
    with open(path, "rb") as f:
        small = shrink(f.read(64 << 20))
    os.unlink(path)
    with open(path[:-len(".wake.spool")] + ".segment", "wb") as f:
        f.write(small)
