#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Ctrl-C while a report reads: it says what it has read, and up to when; so do findings and
history; two moments are not compared by half; who presses it again and again is let out; while something new is made of a recording: nothing is written.
The signal comes with a chosen read of the file
(strace --inject), so that it comes at the same place each time."""
import json
import os
import re
import shutil

from support import HEAPWAKE, Check, native, record, tool, workload

check = Check()
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # one CPU: nothing is read ahead by another thread
WHOLE = ["report", "--json", "--calls", "--where", "size-min=1", "out.wake"]


def reads(argv, call="pread64"):
    """How many times the file is read."""
    native(["strace", "-qq", "-o", "log", "-e", f"trace={call}", HEAPWAKE, *argv])
    return sum(1 for _ in open("log", encoding="utf-8"))


def interrupted(argv, at, call="pread64", signal="SIGINT"):
    inject = ["-e", f"trace={call}", "-e", f"inject={call}:signal={signal}:when={at}"]
    return native(["strace", "-qq", "-o", "log", *inject, HEAPWAKE, *argv])


def check_report(argv, at):
    check.about(f"report, read {at}")
    done = interrupted(argv, at)
    answer = json.loads(done.out)
    check.equal("exit status", 0, done.status)
    check.equal("interrupted", True, answer["interrupted"])
    said = re.search(rb"Interrupted: the lists are about the time up to [\d.]+ (ns|us|ms|s|min) only\.", done.err)
    check.holds(said, f"It says {done.err!r}.")
    check.equal("the summary", whole["summary"], answer["summary"])
    return answer["calls"]["total_blocks"]


if check.equal("status of record", 0, record([workload("order"), "4", "300000"]).status):
    whole = json.loads(tool(*WHOLE).out)
    check.equal("interrupted, when nobody did", False, whole["interrupted"])
    count = reads(WHOLE)
    check.holds(count >= 24, f"Only {count} reads: this recording is too small to be interrupted.")
    seen = [check_report(WHOLE, at) for at in (count - 2, count // 2 + 4, count // 2)]
    check.about("report")
    check.holds(whole["calls"]["total_blocks"] >= seen[0] >= seen[1] >= seen[2] > 0 and seen[0] > seen[2],
                f"All of {whole['calls']['total_blocks']}, and what was seen of it: {seen}.")
    for words in (["--misuse"], ["--advice"], ["--without", "main"], ["--maps"]):
        argv = ["report", "--json", *words, "out.wake"]
        check.about(f"report {words[0]}")
        done = interrupted(argv, reads(argv) - 2)
        check.equal("exit status", 0, done.status)
        check.equal("interrupted", True, json.loads(done.out)["interrupted"])
        check.holds(b"Interrupted: shown is what had been read by then." in done.err, f"It says {done.err!r}.")
    check.about("history")
    argv = ["history", "--json", "out.wake", "0x1000"]
    done = interrupted(argv, reads(argv) - 2)
    check.equal("interrupted", True, json.loads(done.out)["interrupted"])
    check.holds(b"Interrupted: shown is what had been read by then." in done.err, f"It says {done.err!r}.")
    shutil.copy("out.wake", "copy.wake")
    for words in (["report"], ["history", "--json"], ["diff", "copy.wake"]):
        argv = [*words, "copy.wake", *(["0x1000"] if words[0] == "history" else [])]
        for presses, alive in ((2, True), (3, False)):  # before the third read somebody may only look what it is
            check.about(f"{words[0]}, Ctrl-C {presses} times")
            status = native(["strace", "-qq", "-o", "log", "-P", "copy.wake", "-e", "trace=pread64",
                             "-e", f"inject=pread64:signal=SIGINT:when=3..{presses + 2}", HEAPWAKE, *argv]).status
            check.holds(status in (0, 1) if alive else status in (-2, 130), f"exit status {status}")
        check.equal("verify", 0, tool("verify", "copy.wake").status)
    for argv in (["report", "--since", "20%", "--until", "60%", "out.wake"], ["diff", "out.wake@20%", "out.wake@60%"]):
        check.about(argv[0] + ", two moments")
        done = interrupted(argv, reads(argv) - 2)
        check.equal("exit status", 1, done.status)
        check.equal("standard output", b"", done.out)
        check.holds(b"Interrupted: " in done.err, f"It says {done.err!r}.")
    for words in (["export", "-f", "csv", "out.wake"], ["merge", "out.wake", "copy.wake"], ["anonymize", "out.wake"]):
        check.about(words[0])
        command = [*words, "-o", "new.file"]
        middle = reads(command) // 2
        os.unlink("new.file")
        done = interrupted(command, middle)
        check.equal("exit status", 1, done.status)
        check.holds(b"Interrupted; nothing was written." in done.err, f"It says {done.err!r}.")
        check.equal("files left behind", [], [name for name in os.listdir() if "new.file" in name])
        if os.path.exists("new.file"):
            os.unlink("new.file")
    # SIGTERM, and a terminal that is closed, are died of, and leave as little behind.
    for words in (["export", "-f", "csv"], ["export", "-f", "sqlite"], ["merge"], ["anonymize"], ["diff", "--svg", "new.file", "copy.wake"]):
        for name, status in (("SIGTERM", -15), ("SIGHUP", -1)):
            check.about(f"{' '.join(words)}, {name}")
            command = [*words, "out.wake", *(["copy.wake"] if words[0] == "merge" else []), *(["-o", "new.file"] if words[0] != "diff" else [])]
            call = "pwrite64" if "sqlite" in words else "write"
            with open("new.file", "wb") as f:
                f.write(b"as it was")
            done = interrupted(command, 1, call, name)
            check.holds(done.status in (status, 128 - status), f"exit status {done.status}")
            check.equal("files left behind", ["new.file"], [file for file in os.listdir() if "new.file" in file])
            check.equal("what had the name", b"as it was", open("new.file", "rb").read())
            os.unlink("new.file")
    # These copy event by event. SIGTERM is died of, and leaves as little behind.
    check.equal("export -f heaptrack", 0, tool("export", "-f", "heaptrack", "-o", "order.heaptrack", "out.wake").status)
    for words, call in ((["strip", "--threshold", "1ms", "out.wake"], "pread64"), (["import", "-q", "order.heaptrack"], "write")):
        for name, status in (("SIGINT", 1), ("SIGTERM", -15)):
            check.about(f"{words[0]}, {name}")
            command = [*words, "-o", "new.file"]
            middle = reads(command, call) // 2
            check.equal("files made", ["new.file"], [name for name in os.listdir() if "new.file" in name])
            with open("new.file", "wb") as f:
                f.write(b"as it was")
            done = interrupted(command, middle, call, name)
            check.holds(done.status in (status, 128 - status), f"exit status {done.status}")
            check.equal("standard error", b"heapwake: Interrupted; nothing was written.\n", done.err)
            check.equal("files left behind", ["new.file"], [name for name in os.listdir() if "new.file" in name])
            check.equal("what had the name", b"as it was", open("new.file", "rb").read())
            os.unlink("new.file")
check.done()
