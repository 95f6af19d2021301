#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""store_seeds FOLDER: the golden recordings, and one of several threads, with the
byte in front that store_fuzz takes: 0 as they are, 1 with checksums put right."""
import glob
import os
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests/format"))
from wake_bytes import checksum  # noqa: E402
from wake_reader import Recording  # noqa: E402


def write_plain(path, to):
    """Without compression, whose bytes a fuzzer can do nothing with; then there is no index either."""
    recording = Recording(path)
    data = recording.data[:recording.chunks[0].offset]
    for chunk in recording.chunks:
        if chunk.type in (5, 11, 12):
            data += recording.data[chunk.offset:chunk.end] if chunk.type == 5 else b""
            continue
        payload = chunk.payload().data
        head = struct.pack("<4sHHIIIIQ", b"WKCH", chunk.type, 0, chunk.process, len(payload), len(payload), 0, checksum(payload))
        data += head + struct.pack("<Q", checksum(head)) + payload
    with open(to, "wb") as f:
        f.write(data)


threads = os.path.join(sys.argv[1], "threads.wake")
subprocess.run([os.environ["HEAPWAKE"], "record", "-q", "-o", threads, "--",
                os.path.join(os.environ["WORKLOADS"], "ends"), "return", "4", "300"],
               check=False, stdout=subprocess.DEVNULL)
paths = glob.glob(os.path.join(os.environ["ROOT"], "tests/golden/*.wake")) + [threads]
plain = [os.path.join(sys.argv[1], f"plain{minor}.wake") for minor in (4, 5, 6)]
for minor, to in zip((4, 5, 6), plain):
    write_plain(os.path.join(os.environ["ROOT"], f"tests/golden/example-1.{minor}.wake"), to)
paths += plain
for number, path in enumerate(paths):
    with open(path, "rb") as f:
        data = f.read()
    for first in (b"\0", b"\1"):
        with open(os.path.join(sys.argv[1], f"store{number}.{first[0]}"), "wb") as f:
            f.write(first + data)
for path in threads, *plain:
    os.unlink(path)
