#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""A second witness, which shares nothing with the probe, counts below it what
reaches the allocator (tests/hostile/libcount.c): blocks made, bytes asked for and
blocks released are the same in the recording, for the hard cases and for programs
that people use, in each of their processes."""
# timeout: 1800
import collections
import glob
import os
import shutil
import struct

from hostile import PROGRAMS, read_table
from support import PROBE, Check, info, record

COUNTER = os.path.join(PROGRAMS, "libcount.so")
# Their blocks cannot be counted by both: they go past one of the two, or the second
# witness cannot make its file.
APART = {"by_pointer", "deep_binding", "other_namespace", "static_program", "other_libc", "audit", "tunables_check",
         "record_in_record", "early_exit", "nothing", "spawn_own_env", "empty_environment", "drop_root", "new_root",
         "namespaces", "no_proc"}
# It forbids itself what the second witness asks for.
APART |= {"borrowed_cage"}
# They allocate before the probe is there, from what it has for that, or where no malloc but their own may be called.
APART |= {"relocation", "constructors", "all_first", "own_heap"}
SHARED = {"clone_vm", "clone_vm_vfork", "clone_files", "vfork_threads", "pid_namespace"}
check = Check()


def counted(folder):
    """pid -> (made, bytes, released), over its images."""
    sums = collections.defaultdict(lambda: (0, 0, 0))
    for path in glob.glob(os.path.join(folder, "*.*")):
        with open(path, "rb") as f:
            seen = struct.unpack("<3Q", f.read(24))
        pid = int(os.path.basename(path).split(".")[0])
        sums[pid] = tuple(a + b for a, b in zip(sums[pid], seen))
    return sums


def recorded(path):
    """The same in the recording, but for its first image, which is env."""
    sums = collections.defaultdict(lambda: (0, 0, 0))
    for p in info(path)["processes_list"][1:]:
        seen = (p["allocations"], p["allocated_bytes"], p["frees"] + p["unknown_frees"] + p["inherited_frees"])
        sums[p["pid"]] = tuple(a + b for a, b in zip(sums[p["pid"]], seen))
    return sums


def witness(argv, env):
    """What both saw of one run, and how many threads each process had."""
    for folder in ("counts", "place"):
        shutil.rmtree(folder, ignore_errors=True)
        os.mkdir(folder)
    path = os.path.abspath("out.wake")
    libraries = ":".join(filter(None, (PROBE, COUNTER, env.get("LD_PRELOAD"))))
    words = [f"{key}={value}" for key, value in {**env, "LD_PRELOAD": libraries}.items()]
    record(["env", *words, "COUNT_FOLDER=" + os.path.abspath("counts"), *argv], path, ["--symbols", "no"], cwd="place")
    threads = collections.Counter()
    for p in info(path)["processes_list"][1:]:
        threads[p["pid"]] += p["threads"]
    return counted("counts"), recorded(path), threads


def is_under_way(truth, seen, threads):
    """A thread that the end of its process interrupts has made a block that is not told, or told of a
    release that is not made: one at most."""
    made, released = truth[0] - seen[0], seen[2] - truth[2]
    return threads > 1 and made >= 0 and released >= 0 and 0 < made + released < threads


def compare(name, argv, env):
    check.about(name)
    for _ in range(3):
        truth, seen, threads = witness(argv, env)
        pids = sorted(set(truth) | {p for p in seen if seen[p][0]})
        differ = [pid for pid in pids if truth[pid] != seen[pid]]
        if not differ or not all(is_under_way(truth[pid], seen[pid], threads[pid]) for pid in differ):
            break
    check.holds(truth, "the witness saw nothing.")
    if name in SHARED:  # processes that share their memory
        check.equal("made, bytes, released", add(truth), add(seen))
    else:
        for pid in pids:
            check.equal(f"made, bytes, released by {pid}", truth[pid], seen[pid])
    return add(truth)[0]


def add(sums):
    return tuple(map(sum, zip((0, 0, 0), *sums.values())))


blocks = programs = 0
for case in read_table():
    if case.seen or case.reason_not_to_run() or case.name in APART or any(n in case.notes for n in ("loose", "partly", "gone")):
        continue
    if case.argv[0] in ("gdb", "strace"):
        continue
    blocks += compare(case.name, case.argv, case.env)
    programs += 1

with open("program.cc", "w", encoding="utf-8") as f:
    f.write("#include <map>\n#include <string>\nint main() { std::map<std::string, int> m; return (int)m.size(); }\n")
LARGE = {
    "python3": ["/usr/bin/python3", "-c", "import json, subprocess\nprint(len(json.dumps([{str(i): [i] * 9} for i in range(9999)])))\n"
                "subprocess.run(['ls', '/'])"],
    "perl": ["perl", "-e", "my %h; $h{$_ % 977} .= 'x' for 1..20000; print scalar keys %h"],
    "sqlite3": ["sqlite3", ":memory:", "create table t(a,b); with recursive n(i) as (select 1 union all select i+1 from n "
                "where i<5000) insert into t select i, hex(i) from n; select count(*) from t;"],
    "bash": ["bash", "-c", "for i in {1..50}; do echo $i | tr 0-9 a-j; done | sort | uniq -c"],
    "g++": ["g++", "-O1", "-c", os.path.abspath("program.cc"), "-o", "program.o"],
    "git": ["git", "--version"],
}
for name, argv in LARGE.items():
    if shutil.which(argv[0]):
        blocks += compare(name, argv, {})
        programs += 1
print(f"{blocks} blocks of {programs} programs counted twice.")
check.done()
