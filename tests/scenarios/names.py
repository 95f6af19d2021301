#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Names and binaries in recordings: what is put in comes out, what was recorded stays as it was whatever happens to the
one who adds, and a recording from a stranger writes nothing where it should not."""
import glob
import os
import re
import resource
import shutil
import struct
import subprocess
import sys
import time

from format import wake_reader
from format.protowrite import number
from support import HEAPWAKE, PROBE, Check, info, native, record, tool, workload

PROGRAM = workload("ends")
COMMAND = [PROGRAM, "return", 2, 500]
READER = os.path.join(os.environ["ROOT"], "tests/format/wake_reader.py")
check = Check()


def read(path):
    with open(path, "rb") as f:
        return f.read()


def write(path, data):
    with open(path, "wb") as f:
        f.write(data)


def text(data):
    return number(len(data)) + data


def chunk(kind, payload):
    """A chunk that belongs to no process, as docs/format.md draws it."""
    head = struct.pack("<4sHHIIIIQ", b"WKCH", kind, 0, 0xffffffff, len(payload), len(payload), 0,
                       wake_reader.checksum(payload))
    return head + struct.pack("<Q", wake_reader.checksum(head)) + payload


def binary(path, build_id, data):
    head = struct.pack("<QQIHHII", len(data), 0, len(data), 0, len(build_id), len(path), 0) + build_id + path
    return chunk(14, head + struct.pack("<Q", wake_reader.checksum(head)) + data)


def independent(path):
    done = native([sys.executable, READER, "--names", path])
    check.equal("the second reader", 0, done.status)
    return [line.split("\t") for line in done.out.decode().splitlines()]


def check_binaries():
    check.about("binaries come out as they went in")
    run = record(COMMAND, "with.wake", ["--embed-binaries"])
    check.equal("exit status", alone, run.status)
    listed = [line.split(None, 2) for line in tool("extract", "--list", "with.wake").out.decode().splitlines()]
    check.holds(any(path == PROGRAM for _, _, path in listed), f"The program is not among {listed}.")
    check.equal("binaries that info counts", len(listed), info("with.wake")["binaries"]["files"])
    check.equal("binaries that the second reader sees", sorted(path for _, _, path in listed),
                sorted(line[1] for line in independent("with.wake") if line[0] == "binary"))
    os.mkdir("out")
    done = tool("extract", "-C", "out", "with.wake")
    check.equal("extract", 0, done.status)
    for length, _, path in listed:
        check.equal(f"length of {path}", int(length), os.path.getsize(path))
        check.holds(read(path) == read("out" + path), f"{path} comes out as something else.")
    write("out" + PROGRAM, b"mine")
    check.equal("extract where there are files", 1, tool("extract", "-C", "out", "with.wake").status)
    check.equal("a file that is there", b"mine", read("out" + PROGRAM))
    check.equal("extract --force", 0, tool("extract", "--force", "-C", "out", "with.wake").status)
    check.holds(read(PROGRAM) == read("out" + PROGRAM), "--force does not replace.")
    check.equal("verify", 0, tool("verify", "with.wake").status)
    os.symlink(PROGRAM, "own")
    record(["./own", *COMMAND[1:]], "own.wake", ["--embed-binaries"])
    os.mkdir("apart")
    check.equal("extract a program that was started from its folder", 0, tool("extract", "-C", "apart", "own.wake").status)
    check.holds(read(PROGRAM) == read("apart" + os.path.realpath(".") + "/own"), "The program itself is not embedded.")
    check.equal("extract without binaries", 1, tool("extract", "without.wake").status)
    check.equal("extract --list without binaries", 1, tool("extract", "--list", "without.wake").status)
    done = tool("symbolize", "--sysroot", "no/such/folder", "without.wake")
    check.holds(done.status == 1 and b"'no/such/folder' is no folder" in done.err, f"No folder: {done}")


def check_bare():
    check.about("without the record command")
    status = native(COMMAND, {"LD_PRELOAD": PROBE, "HEAPWAKE_OUTPUT": "bare.wake", "HEAPWAKE_EMBED_BINARIES": "1"}).status
    check.equal("exit status", alone, status)
    for _ in range(200):
        if glob.glob("bare.wake"):
            break
        time.sleep(0.05)
    facts = info("bare.wake")
    check.holds(facts["complete"] and facts["binaries"]["files"] > 1, f"{facts['complete']}, {facts['binaries']}")


def check_strangers():
    """A recording that was made to do harm."""
    check.about("a recording from a stranger")
    os.makedirs("evil/below/inside")
    os.symlink(os.path.abspath("evil"), "evil/below/link")
    paths = [b"/../outside", b"../outside", b"a/../../outside", b"link/outside", b"/", b"", b"..", b"x" * 300, b"a\0b/../c"]
    write("evil.wake", read("without.wake") + b"".join(binary(path, b"", b"harm") for path in paths) +
          binary(b"/good", b"", b"fine") + binary(b"/fake", b"\1\2\3", b"no ELF") + binary(b"/good", b"\7", b"no ELF"))
    done = tool("extract", "-C", "evil/below", "evil.wake")
    check.equal("exit status", 1, done.status)
    check.equal("files outside", ["below"], os.listdir("evil"))
    check.equal("what is sound", b"fine", read("evil/below/good"))
    check.holds(not os.path.exists("evil/below/fake"), "A file without its build id is there.")
    for line in done.err.decode().splitlines():
        check.holds(line.startswith("heapwake: ") and line.isprintable(), f"A line is not safe: {line!r}")


def check_names():
    check.about("names that are in a file are shown")
    plain = tool("dump", "--stacks", "without.wake").out.decode()
    place = re.search(rf"^        {PROGRAM}\+0x([0-9a-f]+)$", plain, re.M)
    build_id = subprocess.run(["readelf", "-n", PROGRAM], capture_output=True, text=True).stdout
    build_id = bytes.fromhex(re.search(r"Build ID: ([0-9a-f]+)", build_id).group(1))
    texts = [b"outer", b"inner<int>(\x1b[31m)", b"_Z5innerv", "küche.cc".encode()]
    symbols = number(4) + b"".join(text(t) for t in texts)
    symbols += number(1) + text(text(build_id) + text(PROGRAM.encode()) + number(3) + text(b""))
    symbols += number(1) + number(1) + number(int(place.group(1), 16)) + number(4)
    symbols += number(2) + number(3) + number(4) + number(7 * 2 + 1) + number(1) + number(0) + number(4) + number(9 * 2)
    write("named.wake", read("without.wake") + chunk(13, symbols))
    shown = tool("dump", "--stacks", "named.wake").out.decode()
    check.holds("        inner<int>(\\x1b[31m) küche.cc:7 (inlined)\n        outer küche.cc:9\n" in shown,
                "The names are not shown, or not safely.")
    check.holds(place.group(0) not in shown, "The address is still shown.")
    check.equal("places that info counts", 1, info("named.wake")["symbols"]["places"])
    check.equal("complete", True, info("named.wake")["complete"])
    # Added to with nothing new to say, it keeps them, and becomes a file with an index.
    check.equal("symbolize", 0, tool("symbolize", "named.wake").status)
    check.equal("verify", 0, tool("verify", "named.wake").status)
    check.equal("--check", 0, native([sys.executable, READER, "--check", "named.wake"]).status)
    mine = [line for line in independent("named.wake") if line[1] == "0x" + place.group(1)]
    check.holds(len(mine) >= 1 and mine[0][0] == PROGRAM, f"The second reader sees {mine}.")


def check_killed():
    check.about("killed while adding")
    before = read("without.wake")
    shutil.copy("without.wake", "again.wake")
    check.equal("symbolize --embed-binaries", 0, tool("symbolize", "--embed-binaries", "again.wake").status)
    after = read("again.wake")
    check.holds(after.startswith(before), "What was recorded has been touched.")
    events = tool("dump", "--tsv", "without.wake").out
    step = max(1, (len(after) - len(before)) // 25)
    for end in [*range(len(before), len(after), step), len(before) + 1, len(after) - 1]:
        write("cut.wake", after[:end])
        check.holds(tool("dump", "--tsv", "cut.wake").out == events, f"Cut at {end}: other events.")
        check.equal(f"cut at {end}: symbolize", 0, tool("symbolize", "--embed-binaries", "cut.wake").status)
        check.equal(f"cut at {end}: verify", 0, tool("verify", "cut.wake").status)


def check_full():
    check.about("a full disk")
    before = read("without.wake")
    for room in (1, 100, 5000, 300000):
        shutil.copy("without.wake", "full.wake")
        limit = len(before) + room
        done = native([HEAPWAKE, "symbolize", "--embed-binaries", "full.wake"],
                      preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        check.equal("exit status", 1, done.status)
        check.equal("lines said", 1, done.err.count(b"\n"))
        check.holds(read("full.wake") == before, "The file is not as it was.")
    check.equal("a file that is not there", 1, tool("symbolize", "nowhere.wake").status)
    os.chmod("full.wake", 0o400)
    if os.geteuid() != 0:
        check.equal("a file that cannot be written", 1, tool("symbolize", "full.wake").status)


alone = native(COMMAND).status
run = record(COMMAND, "without.wake", ["--symbols", "no"])
check.equal("exit status", alone, run.status)
check.equal("--symbols no", 0, info("without.wake")["symbols"]["files"])
check.equal("the program's status", 3, record(["sh", "-c", "exit 3"], "sh.wake", ["--embed-binaries"]).status)
check_binaries()
check_bare()
check_strangers()
check_names()
check_killed()
check_full()
check.done()
