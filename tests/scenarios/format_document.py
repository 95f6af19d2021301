#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""The file drawn in docs/format.md is the golden one, and both readers see in it what the document says."""
import os
import re
import subprocess
import sys

root = os.environ["ROOT"]
golden = os.path.join(root, "tests/golden/example-1.0.wake")
reader = os.path.join(root, "tests/format/wake_reader.py")

with open(os.path.join(root, "docs/format.md"), encoding="utf-8") as f:
    text = f.read()
drawn = bytearray()
for line in re.search(r"```hex\n(.*?)```", text, re.S).group(1).splitlines():
    if not line.strip():
        continue
    offset, data = line.split(";")[0].split(":")
    if int(offset, 16) != len(drawn):
        sys.exit(f"docs/format.md: the line at {offset} should be at {len(drawn):04x}.")
    drawn += bytes.fromhex(data)
with open(golden, "rb") as f:
    if f.read() != drawn:
        sys.exit("docs/format.md does not draw tests/golden/example-1.0.wake.")

told = re.search(r"```tsv\n(.*?)```", text, re.S).group(1)


def expect_told(command):
    seen = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    if seen != told:
        sys.exit(f"{' '.join(command)} prints\n{seen}and docs/format.md says\n{told}")


subprocess.run([sys.executable, reader, "--check", golden], check=True)
expect_told([sys.executable, reader, golden])
expect_told([os.environ["HEAPWAKE"], "dump", "--tsv", golden])
