#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Where a recording goes and what comes out of it: outputs that exist, are links,
pipes or folders, two recorders with one name, odd names and paths, readers that
go away, and a standard output that is full."""
import json
import os
import shutil
import stat
import subprocess

from support import HEAPWAKE, Check, Ledger, events, info, native, record, tool, workload

check = Check()
ENDS, STATUS = [workload("ends"), "return", "1", "200"], 6


def recorded(path):
    return Ledger(events(path)).made[7069]


def check_outputs():
    check.about("the output is there already")
    with open("old.wake", "wb") as f:
        f.write(b"something else")
    run = native([HEAPWAKE, "record", "-o", "old.wake", "--", *ENDS])
    check.equal("exit status", STATUS, run.status)
    check.equal("blocks", 200, recorded("old.wake"))
    check.equal("mode", 0o600, stat.S_IMODE(os.stat("old.wake").st_mode))

    check.about("the output is a link")
    with open("precious", "wb") as f:
        f.write(b"precious")
    os.symlink("precious", "link.wake")
    run = native([HEAPWAKE, "record", "-o", "link.wake", "--", *ENDS])
    check.equal("exit status", STATUS, run.status)
    with open("precious", "rb") as f:
        check.equal("what the link points to", b"precious", f.read())

    for what, make in (("pipe", os.mkfifo), ("folder", os.mkdir)):
        check.about(f"the output is a {what}")
        make(f"{what}.wake")
        run = native([HEAPWAKE, "record", "-o", f"{what}.wake", "--", *ENDS])
        check.equal("exit status", STATUS, run.status)
        check.holds(run.err.startswith(b"heapwake: "), f"nothing is said: {run.err!r}")

    check.about("the output is deleted while it is written")
    os.mkdir("gone")
    script = "while [ ! -s gone/out.wake.partial ]; do sleep 0.01; done; rm -r gone"
    run = native([HEAPWAKE, "record", "--symbols", "no", "-o", "gone/out.wake", "--", "sh", "-c", script])
    check.equal("exit status", 0, run.status)
    check.holds(run.err.endswith(b"somebody has deleted 'gone/out.wake.partial' meanwhile\n"), f"it says {run.err!r}")

    check.about("two recorders, one name")
    both = [subprocess.Popen([HEAPWAKE, "record", "-q", "-o", "same.wake", "--", *ENDS], stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE) for _ in range(2)]
    for process in both:
        process.communicate(timeout=60)
        check.equal("exit status", STATUS, process.returncode)
    check.equal("blocks", 200, recorded("same.wake"))
    check.sound("same.wake")


def check_names():
    """Paths with everything in them that a path may have."""
    for name in ("a space", "a\nline", "quote'\"", "%s%n%d", "-o", "ünïcödé", "\udcff\udcfe", "x" * 200, "tab\there", "$(id)"):
        check.about(f"a program called {name!r}")
        folder = os.path.join(os.getcwd(), "odd", name)
        os.makedirs(folder)
        program = os.path.join(folder, name)
        shutil.copy(workload("ends"), program)
        run = record([program, *ENDS[1:]], "odd.wake")
        check.equal("exit status", STATUS, run.status)
        check.equal("blocks", 200, recorded("odd.wake"))
        for words in (("info", "--json"), ("report", "--json")):
            done = tool(*words, "odd.wake")
            check.equal(f"status of {words[0]}", 0, done.status)
            json.loads(done.out)
        check.holds(b"\n" not in os.fsencode(name) or os.fsencode(name) not in tool("info", "odd.wake").out,
                    "a name makes a line of its own.")
        path = os.path.join(folder, "out.wake")
        record(ENDS, path.replace("%", "%%"))
        check.equal("blocks recorded there", 200, recorded(path))


def check_readers():
    record([workload("family"), "fork"], "big.wake")
    for words in (("report",), ("info",), ("dump", "--tsv"), ("report", "--json"), ("export", "-f", "folded")):
        check.about(f"{words[0]} whose reader goes away")
        process = subprocess.Popen([HEAPWAKE, *words, "big.wake"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdout.read(1)
        process.stdout.close()
        err = process.stderr.read()
        check.holds(process.wait(30) in (0, 1, -13, 141), f"status {process.returncode}")
        check.holds(err.count(b"\n") <= 1, f"it says {err!r}")
        process.stderr.close()
        for where, what in ((">/dev/full", "a full device"), (">&-", "a closed output")):
            check.about(f"{words[0]} into {what}")
            done = subprocess.run(["sh", "-c", f'exec "$@" {where}', "sh", HEAPWAKE, *words, "big.wake"], stderr=subprocess.PIPE, timeout=60)
            check.equal("exit status", 1, done.returncode)
            check.holds(done.stderr.startswith(b"heapwake") and done.stderr.count(b"\n") == 1, f"it says {done.stderr!r}")


def check_writers():
    """What they made is there, and that it could not be said is the status."""
    record(ENDS, "made.wake")
    for words in (("strip", "--threshold", "1ms", "-o", "new.wake", "made.wake"), ("merge", "-o", "new.wake", "made.wake"),
                  ("anonymize", "-o", "new.wake", "made.wake"), ("symbolize", "made.wake")):
        check.about(f"{words[0]} into a full device")
        with open("/dev/full", "wb") as full:
            done = subprocess.run([HEAPWAKE, *words], stdout=full, stderr=subprocess.PIPE, timeout=60)
        check.equal("exit status", 1, done.returncode)
        check.holds(b"cannot be written" in done.stderr and done.stderr.count(b"\n") == 1, f"it says {done.stderr!r}")
        if words[0] != "symbolize":
            check.equal("verify", 0, tool("verify", "new.wake").status)
            os.unlink("new.wake")


def check_help():
    for words in (["help"], ["help", "where"], ["help", "report"], ["record", "--help"], ["report", "-h"], ["version"]):
        check.about(f"{words} into a full device")
        with open("/dev/full", "wb") as full:
            done = subprocess.run([HEAPWAKE, *words], stdout=full, stderr=subprocess.PIPE, timeout=60)
        check.equal("exit status", 1, done.returncode)
        check.holds(done.stderr.startswith(b"heapwake") and done.stderr.count(b"\n") == 1, f"it says {done.stderr!r}")
        check.equal("exit status where there is room", 0, tool(*words).status)


def check_closing_lines():
    """The name of what was made is in one line, and nothing in it is for the terminal."""
    record(ENDS, "plain.wake")
    name = "odd\x1b[31m\nname.wake"
    for words in (["merge", "plain.wake"], ["strip", "--threshold", "1ms", "plain.wake"], ["anonymize", "plain.wake"]):
        check.about(f"{words[0]} to an odd name")
        done = tool(*words, "-o", name)
        check.equal("exit status", 0, done.status)
        check.holds(os.path.exists(name), "there is no such file.")
        check.holds(done.out.startswith(b"odd\\x1b[31m\\nname.wake: ") and done.out.count(b"\n") == 1, f"it says {done.out!r}")
        os.unlink(name)


check_outputs()
check_names()
check_readers()
check_writers()
check_help()
check_closing_lines()
check.holds(info("big.wake")["complete"], "the recording is not whole.")
check.done()
