#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Where exports go, for every format there is: a file or a pipe with the same bytes; a
reader that goes away; a full disk; filters that leave nothing; recordings that were
cut; and what is said when the command is used wrongly."""
import os
import re
import resource
import shutil
import subprocess

from support import HEAPWAKE, Check, leave_out, native, record, tool, workload

check = Check()
record([workload("blame")], "blame.wake")
listed = tool("export", "-f", "no-such", "blame.wake")
FORMATS = re.search(r"there are (.*)\.", listed.err.decode()).group(1).split(", ")
EXPECTED = {"folded", "heaptrack", "flamegraph", "speedscope", "massif", "dhat", "callgrind", "json", "csv", "pprof", "dot",
            "svg", "pdf", "ps", "gprof2dot", "html", "perfetto", "sqlite"}
DRAWN = {"svg", "pdf", "ps"}  # by graphviz
FILE = {"sqlite"}  # never to a pipe


def check_words():
    check.equal("exit status of an unknown format", 2, listed.status)
    check.equal("formats", EXPECTED, set(FORMATS))
    for argv, word in ((["-f", "csv"], "recording"), (["blame.wake"], "format"), (["-f", "csv", "a", "b"], "one"),
                       (["-f", "csv", "--nonsense", "blame.wake"], "--nonsense"), (["-f"], "format"),
                       (["-f", "csv", "--leaks", "blame.wake"], "--leaks"),
                       (["-f", "csv", "--where", "size=x", "blame.wake"], "size")):
        done = tool("export", *argv)
        check.equal(f"exit status of {argv}", 2, done.status)
        check.holds(word in done.err.decode(), f"{argv} is answered with {done.err.decode()}")
    for form in FORMATS:
        done = tool("export", "-f", form, "-o", "at.out", "--where", "at=50%", "blame.wake")
        has_moment = form in ("html", "json", "pprof", "sqlite", "folded", "flamegraph", "dot", "svg", "pdf", "ps", "gprof2dot")
        check.holds(done.status == 0 if has_moment else done.status == 2 and b"'at' has no meaning" in done.err,
                    f"at=50% for {form}: {done.status}, {done.err.decode()}")
    for form, word in (("json", "at=1h"), ("folded", "alive-at=1h"), ("massif", "alive-at=1h")):
        said = tool("export", "-f", form, "--where", word, "blame.wake").err.decode()
        check.equal(f"{word} for {form}, said to be the end", 1, said.count("a later moment is taken as that"))
    done = tool("export", "-f", "csv", "absent.wake")
    check.holds(done.status == 1 and b"absent.wake" in done.err, "An absent file is not named.")


def undated(content):
    """Without the moment at which it was drawn."""
    return re.sub(rb"/CreationDate \([^)]*\)|%%CreationDate:.*", b"", content)  # of PDF, of PostScript


def check_file(form):
    """A file is whole; how long it is."""
    done = tool("export", "-f", form, "-o", "out", "blame.wake")
    check.equal("exit status", 0, done.status)
    check.holds(done.err.count(b"\n") <= 2, "Too much is said.")
    length = os.path.getsize("out")
    check.holds(length > 100, f"The file has {length} bytes.")
    return length


def check_pipe(form):
    """A pipe gets what a file gets."""
    to_file = tool("export", "-f", form, "-o", "out", "blame.wake")
    to_pipe = tool("export", "-f", form, "blame.wake")
    check.equal("exit status of a pipe", 0, to_pipe.status)
    check.equal("what is said", to_file.err, to_pipe.err)
    with open("out", "rb") as f:
        check.holds(undated(f.read()) == undated(to_pipe.out), "A pipe gets something else.")


def check_no_pipe(form):
    done = tool("export", "-f", form, "blame.wake")
    check.equal("a pipe", (2, b""), (done.status, done.out))
    check.holds(b"-o" in done.err, f"A pipe is answered with {done.err.decode()}")


def check_closed_pipe(form):
    """A reader that has seen enough ends it, without a word."""
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([HEAPWAKE, "export", "-f", form, "blame.wake"], stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    said = [line for line in done.stderr.decode().splitlines() if "cannot be written" in line or "room" in line]
    check.equal("a closed pipe", (0, []), (done.returncode, said))


def check_full_disk(form, size):
    """No room: an error, and nothing under the final name, nor what was there before lost."""
    with open("kept", "wb") as f:
        f.write(b"as before")

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (size // 2, size // 2))

    before = sorted(os.listdir("."))
    done = native([HEAPWAKE, "export", "-f", form, "-o", "kept", "blame.wake"], preexec_fn=limit)
    check.equal("exit status of a full disk", 1, done.status)
    check.holds(b"no room" in done.err, f"A full disk is answered with {done.err.decode()}")
    check.equal("files after a full disk", before, sorted(os.listdir(".")))
    with open("kept", "rb") as f:
        check.equal("the file that was there", b"as before", f.read())


def check_odd_files(form):
    with open("blame.wake", "rb") as f:
        whole = f.read()
    with open("cut.wake", "wb") as f:
        f.write(whole[:len(whole) * 2 // 3])
    check.equal("a recording that was cut", 0, tool("export", "-f", form, "-o", "out", "cut.wake").status)
    nothing = tool("export", "-f", form, "-o", "out", "--where", "size-min=1G", "blame.wake")
    check.equal("a filter that leaves nothing", 0, nothing.status)
    window = tool("export", "-f", form, "-o", "out", "--from", "30%", "--to", "60%", "blame.wake")
    check.equal("a window", 0, window.status)


check_words()
for name in FORMATS:
    if name in DRAWN and shutil.which("dot") is None:
        leave_out(f"There is no graphviz here: {name} was not tried.")
        continue
    check.about(name)
    length = check_file(name)
    if name in FILE:
        check_no_pipe(name)
    else:
        check_pipe(name)
        check_closed_pipe(name)
    check_full_disk(name, length)
    check_odd_files(name)

for argv in (["export", "-f", "csv", "-o", "own.wake", "own.wake"], ["diff", "--svg", "own.wake", "own.wake", "own.wake"],
             ["check", "--max-leak", "1G", "--junit", "own.wake", "own.wake"],
             ["strip", "--threshold", "1s", "own.wake", "-o", "own.wake"]):
    record(["true"], "own.wake")
    before = open("own.wake", "rb").read()
    refused = tool(*argv)
    check.holds(refused.status == 2 and b"is the file that is read" in refused.err, f"{argv}: {refused}")
    check.equal(f"the recording after {argv}", before, open("own.wake", "rb").read())
check.done()
