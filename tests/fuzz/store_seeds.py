#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""store_seeds FOLDER: the golden recordings, and one of several threads, with the
byte in front that store_fuzz takes: 0 as they are, 1 with checksums put right."""
import glob
import os
import subprocess
import sys

threads = os.path.join(sys.argv[1], "threads.wake")
subprocess.run([os.environ["HEAPWAKE"], "record", "-q", "-o", threads, "--",
                os.path.join(os.environ["WORKLOADS"], "ends"), "return", "4", "300"],
               check=False, stdout=subprocess.DEVNULL)
paths = glob.glob(os.path.join(os.environ["ROOT"], "tests/golden/*.wake")) + [threads]
for number, path in enumerate(paths):
    with open(path, "rb") as f:
        data = f.read()
    for first in (b"\0", b"\1"):
        with open(os.path.join(sys.argv[1], f"store{number}.{first[0]}"), "wb") as f:
            f.write(first + data)
os.unlink(threads)
