#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""A script is run by the program in its first line: that is whose functions have names, however the
script was started, and whether its own interpreter is a script too."""
import json
import os

from support import Check, record, tool, workload

check = Check()
BLAME = workload("blame")


def script(name, line):
    with open(name, "w", encoding="utf-8") as f:
        f.write(f"#!{line}\nnothing that this interpreter reads\n")
    os.chmod(name, 0o755)
    return f"./{name}"


def leaks(path):
    done = tool("report", "--json", "--leaks", "-n", "0", path)
    return sorted((s["bytes"], s["blocks"], [f["function"] for f in s["frames"]]) for s in json.loads(done.out)["leaks"]["sites"])


def modules(path):
    done = tool("report", "--json", "--calls", "--by", "module", path)
    return sorted(g["name"] for g in json.loads(done.out)["calls"]["groups"])


check.equal("status of record", 0, record([BLAME, "a"], "plain.wake").status)
expected = leaks("plain.wake")
check.holds(expected, "The program leaks nothing.")
os.mkdir("folder")
os.symlink(BLAME, "folder/linked")
inner = script("inner", f"{BLAME} a")
cases = {"a script": [script("plain", f"{BLAME} a")],
         "with blanks": [script("blanks", f" \t{BLAME} a")],
         "its absolute name": [os.path.abspath(script("absolute", f"{BLAME} a"))],
         "a script for a script": [script("outer", os.path.abspath(inner))],
         "a relative interpreter": [script("relative", "./folder/linked a")],
         "started by a shell": ["sh", "-c", f"{inner}; :"]}
for name, argv in cases.items():
    check.about(name)
    done = record(argv, "script.wake")
    check.equal("exit status", 0, done.status)
    seen = leaks("script.wake")
    check.equal("what leaks", expected, [site for site in seen if site in expected])
    scripts = [path for path in modules("script.wake") if os.path.dirname(path) == os.getcwd()]
    check.equal("scripts that count as code", [], scripts)
    check.equal("nothing is said to be missing", False, b"is not there" in tool("report", "script.wake").out)

check.about("a script that has gone since")
record(["./plain"], "script.wake", ["--symbols", "no"])
os.unlink("plain")
check.equal("what leaks", expected, leaks("script.wake"))
check.done()
