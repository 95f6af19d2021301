#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""A script is run by the program in its first line: that is whose functions have names, however the
script was started, and whether its own interpreter is a script too. Where most stacks are an interpreter's, every face
says that they have its native frames only, and what helps."""
import json
import os
import shutil
import sys

from support import Check, leave_out, record, tool, workload

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


def notes(path):
    """The note about an interpreter that each face has: the report, its JSON, the page, the export as JSON."""
    for form in ("html", "json"):
        check.equal(f"export {form}", 0, tool("export", "-f", form, "-o", f"out.{form}", path).status)
    with open("out.html", encoding="utf-8") as f:
        page = f.read()
    with open("out.json", encoding="utf-8") as f:
        whole = json.load(f)["notes"]
    faces = {"text": " ".join(tool("report", path).out.decode().split()), "page": page,
             "json": " ".join(json.loads(tool("report", "--json", path).out)["summary"]["notes"]), "export": " ".join(whole)}
    return {face: "native frames only" in text for face, text in faces.items()}, faces["text"]


SCRIPTS = {"Python": (sys.executable, "p.py", "x = [[i] for i in range(20000)]\nimport json\njson.dumps(x)\n", "PYTHONMALLOC=malloc makes each object a block; --maps shows pymalloc's arenas."),
           "JavaScript": ("node", "n.js", "const a = [];\nfor (let i = 0; i < 2000; i++) a.push(JSON.parse('[1]'));\n", "--maps"),
           "Perl": ("perl", "q.pl", "my @a; push @a, {a => $_} for 1..2000;\n", "--by function")}
for name, (program, path, text, help_word) in SCRIPTS.items():
    check.about(name)
    if shutil.which(program) is None:
        leave_out(f"{name}: {program} is not installed.")
        continue
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    record([os.path.realpath(shutil.which(program)), path], "native.wake")
    faces, said = notes("native.wake")
    check.equal("faces that say it", {face: True for face in faces}, faces)
    check.holds(f"note {name}" in said and help_word in said, f"The head says: {said[:900]}")
check.about("a script that starts a script")
with open("wrap.sh", "w", encoding="utf-8") as f:
    f.write(f"for i in 1 2 3 4 5 6 7 8 9; do x=$(echo $i | cat); done\n{sys.executable} p.py\n")
record(["sh", "wrap.sh"], "native.wake")
check.equal("faces that say it", {True}, set(notes("native.wake")[0].values()))
check.about("a program of its own")
check.equal("faces that say it", {False}, set(notes("plain.wake")[0].values()))
check.done()
