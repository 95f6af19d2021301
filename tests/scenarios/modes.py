#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Who may read what is written: recordings only their owner, for they hold addresses and command
lines; reports, pictures and exports whom the umask lets."""
import glob
import os
import shutil
import stat
import subprocess

from support import HEAPWAKE, Check, record, tool, workload

check = Check()


def mode(path):
    return oct(stat.S_IMODE(os.stat(path).st_mode))


def under(mask, *argv):
    return subprocess.run([HEAPWAKE, *argv], capture_output=True, umask=mask, check=False)


record([workload("blame")], "blame.wake")
check.equal("a recording", "0o600", mode("blame.wake"))
for mask in (0o022, 0o002, 0o077):
    usual = oct(0o666 & ~mask)
    formats = ["folded", "html", "json", "pprof", "sqlite", "flamegraph"] + (["svg"] if shutil.which("dot") else [])
    for form in formats:
        check.equal(f"export -f {form}", 0, under(mask, "export", "-f", form, "-o", f"out.{form}", "blame.wake").returncode)
        check.equal(f"umask {mask:03o}: {form}", usual, mode(f"out.{form}"))
    check.equal("diff --svg", 0, under(mask, "diff", "--svg", "diff.svg", "blame.wake", "blame.wake").returncode)
    check.equal(f"umask {mask:03o}: diff --svg", usual, mode("diff.svg"))
    done = under(mask, "check", "--max-leak", "1G", "--junit", "check.xml", "--markdown", "check.md", "-o", "kept.wake", "--", workload("blame"))
    check.equal("check", 0, done.returncode)
    check.equal(f"umask {mask:03o}: --junit, --markdown", [usual] * 2, [mode("check.xml"), mode("check.md")])
    check.equal(f"umask {mask:03o}: check -o", "0o600", mode("kept.wake"))
    for argv in (("strip", "--threshold", "1s", "blame.wake", "-o", "short.wake"), ("merge", "-o", "short.wake", "blame.wake"),
                 ("anonymize", "-o", "short.wake", "blame.wake")):
        done = under(mask, *argv)
        check.equal(f"{argv[0]}: {done.stderr}", 0, done.returncode)
        check.equal(f"umask {mask:03o}: {argv[0]}", "0o600", mode("short.wake"))
    os.makedirs("reports", exist_ok=True)
    done = under(mask, "record", "-q", "-o", "reports/told.wake", "--", workload("told"), "report")
    for path in glob.glob("reports/*"):
        check.equal(f"umask {mask:03o}: {path}", "0o600" if path.endswith(".wake") else usual, mode(path))
    check.holds(any(path.endswith(".memlog") for path in glob.glob("reports/*")), f"There is no report: {os.listdir('reports')}")
    shutil.rmtree("reports")
check.done()
