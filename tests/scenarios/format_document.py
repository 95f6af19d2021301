#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""The files drawn in docs/format.md are the golden ones, and both readers see in them what the document says."""
import json
import os
import re
import subprocess
import sys

root = os.environ["ROOT"]
golden = os.path.join(root, "tests/golden/example-1.0.wake")
named = os.path.join(root, "tests/golden/example-1.1.wake")
reader = os.path.join(root, "tests/format/wake_reader.py")

with open(os.path.join(root, "docs/format.md"), encoding="utf-8") as f:
    text = f.read()
drawings = re.findall(r"```hex\n(.*?)```", text, re.S)
told, told_names, told_pools, told_part, told_usage, told_levels, told_arenas, told_weights = re.findall(r"```tsv\n(.*?)```", text, re.S)


def expect_drawn(drawn, drawing, path):
    """The bytes so far and those of a drawing are the file."""
    for line in drawing.splitlines():
        if not line.strip():
            continue
        offset, data = line.split(";")[0].split(":")
        if int(offset, 16) != len(drawn):
            sys.exit(f"docs/format.md: the line at {offset} should be at {len(drawn):04x}.")
        drawn += bytes.fromhex(data)
    with open(path, "rb") as f:
        if f.read() != drawn:
            sys.exit(f"docs/format.md does not draw {path}.")


def expect_told(command, told):
    seen = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    if seen != told:
        sys.exit(f"{' '.join(command)} prints\n{seen}and docs/format.md says\n{told}")


drawn = bytearray()
expect_drawn(drawn, drawings[0], golden)
expect_drawn(drawn, drawings[1], named)  # goes on where the first ends
for path in golden, named:
    subprocess.run([sys.executable, reader, "--check", path], check=True)
    subprocess.run([os.environ["HEAPWAKE"], "verify", path], check=True)
    expect_told([sys.executable, reader, path], told)
    expect_told([os.environ["HEAPWAKE"], "dump", "--tsv", path], told)
for name, lines in (("example-1.2.wake", told_pools), ("example-1.2.wake.2", told_part)):
    path = os.path.join(root, "tests/golden", name)
    subprocess.run([sys.executable, reader, "--check", path], check=True)
    subprocess.run([os.environ["HEAPWAKE"], "verify", path], check=True)
    expect_told([sys.executable, reader, path], lines)
    expect_told([os.environ["HEAPWAKE"], "dump", "--tsv", path], lines)
series = [os.path.join(root, "tests/golden", f"example-1.2.wake.{part}") for part in (1, 2)]
whole = json.loads(subprocess.run([os.environ["HEAPWAKE"], "report", "--json", *series], capture_output=True, check=True).stdout)
seen = tuple(whole["summary"][key] for key in ("files", "allocations", "frees", "culled_blocks", "culled_bytes", "leaked_bytes"))
if seen != (1, 6, 4, 3, 33, 250):
    sys.exit(f"The two files of the series together say {seen}.")
expect_told([sys.executable, reader, "--names", named], told_names)
expect_told([sys.executable, reader, "--names", golden], "")
used = os.path.join(root, "tests/golden/example-1.3.wake")
subprocess.run([sys.executable, reader, "--check", used], check=True)
subprocess.run([os.environ["HEAPWAKE"], "verify", used], check=True)
expect_told([sys.executable, reader, "--usage", used], told_usage)
maps = json.loads(subprocess.run([os.environ["HEAPWAKE"], "report", "--maps", "--json", used], capture_output=True, check=True).stdout)
seen = [(m["name"], m["peak_rss_bytes"], m["left_bytes"], [u["rss_bytes"] for u in m["usage"]]) for m in maps["mappings"]]
if seen != [("", 20480, 16384, [20480, 16384]), ("[anon:cells]", 8192, 16384, [8192, 4096]), ("", 0, 4096, [0])]:
    sys.exit(f"{used} says of its mappings {seen}.")
levels = os.path.join(root, "tests/golden/example-1.4.wake")
subprocess.run([sys.executable, reader, "--check", levels], check=True)
subprocess.run([os.environ["HEAPWAKE"], "verify", levels], check=True)
expect_told([sys.executable, reader, "--levels", levels], told_levels)
leaks = json.loads(subprocess.run([os.environ["HEAPWAKE"], "report", "--leaks", "--json", levels], capture_output=True, check=True).stdout)
seen = [(site["bytes"], site["verdict"]["kind"], round(site["verdict"]["bytes_per_minute"] / 60e6)) for site in leaks["leaks"]["sites"]]
if seen != [(800, "grows", 99)]:
    sys.exit(f"{levels} says of its leaks {seen}.")
arenas = os.path.join(root, "tests/golden/example-1.5.wake")
subprocess.run([sys.executable, reader, "--check", arenas], check=True)
subprocess.run([os.environ["HEAPWAKE"], "verify", arenas], check=True)
expect_told([sys.executable, reader, "--arenas", arenas], told_arenas)
for arena in ("main", "other"):
    asked = [os.environ["HEAPWAKE"], "report", "--allocated", "--json", "-n", "0", "--where", f"arena={arena}", arenas]
    report = json.loads(subprocess.run(asked, capture_output=True, check=True).stdout)["allocated"]
    sizes = [int(line.split("\t")[3]) for line in told_arenas.splitlines() if line.endswith(arena)]
    if (report["total_blocks"], report["total_bytes"]) != (len(sizes), sum(sizes)):
        sys.exit(f"{arenas} says of arena={arena} {report}.")
samples = os.path.join(root, "tests/golden/example-1.6.wake")
subprocess.run([sys.executable, reader, "--check", samples], check=True)
subprocess.run([os.environ["HEAPWAKE"], "verify", samples], check=True)
expect_told([sys.executable, reader, "--weights", samples], told_weights)
shown = json.loads(subprocess.run([os.environ["HEAPWAKE"], "export", "-f", "json", samples], capture_output=True, check=True).stdout)["processes"][0]
seen = [shown["block_columns"].index(name) for name in ("number", "size", "stack", "blocks")]
seen = sorted([row[at] for at in seen] for row in shown["blocks"])
if seen != [[int(line.split("\t")[at]) for at in (1, 3, 4, 5)] for line in told_weights.splitlines()]:
    sys.exit(f"{samples} says of its blocks {seen}.")
