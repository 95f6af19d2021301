#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""`heapwake export -f gprof2dot`, read by the real gprof2dot and drawn by graphviz."""
import json
import re
import subprocess
import sys

from packages import from_pip
from support import Check, native, record, tool, truth, workload

check = Check()
env = {"PYTHONPATH": from_pip("gprof2dot", "2025.4.14")}

told = truth(record([workload("blame")], "blame.wake"))
done = tool("export", "-f", "gprof2dot", "-o", "blame.json", "blame.wake")
check.equal("exit status", 0, done.status)
profile = json.load(open("blame.json"))
check.equal("sum of the costs", tool("report", "--json", "--peak", "blame.wake").out and
            json.loads(tool("report", "--json", "--peak", "blame.wake").out)["peak"]["total_bytes"],
            sum(e["cost"][0] for e in profile["events"]))

read = native([sys.executable, "-m", "gprof2dot", "-f", "json", "-n", "0", "-e", "0", "blame.json"], env=env)
check.equal("gprof2dot", 0, read.status)
check.equal("what it complains of", b"", read.err)
text = read.out.decode()
share = 100 * told["functions"]["hold"]["peak"][0] / sum(e["cost"][0] for e in profile["events"])
hold = re.search(r'label="[^"]*hold\\n([\d.]+)%\\n\(([\d.]+)%\)', text)
check.holds(hold is not None, f"gprof2dot does not show hold: {text[:300]}")
if hold:
    check.holds(abs(float(hold[2]) - share) < 0.02, f"hold has {hold[2]} %, the program says {share:.2f} %.")
drawn = subprocess.run(["dot", "-Tsvg"], input=read.out, capture_output=True)
check.equal("dot", 0, drawn.returncode)
check.holds(b"hold" in drawn.stdout, "The picture has no names.")
check.done()
