#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""The n-th block of memory that heapwake asks for is refused, or all from the n-th on
(tests/hostile/libscarce.c), for n over the whole run of every command. The answer is
the one it gives with memory enough, or a sentence and a failure, and then no file is
left; recordings that exist stay sound. Under `record` the program ends as if alone,
and what is not recorded is said.

SCARCE=all tries every n, SCARCE=100 so many of each command; the sample is the same each time.
SCARCE_ONLY='report diff' picks commands.
"""
# timeout: 1200
import concurrent.futures
import os
import random
import shutil
import sys

from support import HEAPWAKE, Check, Ledger, events, info, native, record, truth, workload

WANTED = os.environ.get("SCARCE", "5")
SAMPLE = sys.maxsize if WANTED == "all" else int(WANTED)
ONLY = os.environ.get("SCARCE_ONLY", "").split()
LIBRARY = os.path.join(os.environ["BUILD"], "tests/hostile/libscarce.so")
KITCHEN = os.path.join(os.environ["BUILD"], "examples/kitchen")
FORMATS = ("callgrind csv dhat dot flamegraph folded gprof2dot heaptrack html json massif perfetto pprof speedscope"
           " sqlite").split()
OLD, NEW, WITH_BINARIES, NONE = (os.path.abspath(name) for name in ("old.wake", "new.wake", "binaries.wake", "none.supp"))


class Command:
    """What is run, in a folder of its own; it fails with the status `failure`. `edits` names a recording that it
    adds to, of which it gets a copy."""

    def __init__(self, name, *argv, failure=1, edits=None):
        self.name, self.argv, self.failure, self.edits = name, argv, failure, edits

    def run(self, folder, settings):
        os.mkdir(folder)
        if self.edits:
            shutil.copy(self.edits, os.path.join(folder, "edited.wake"))
        return native([HEAPWAKE, *self.argv], cwd=folder,
                      env={"LD_PRELOAD": LIBRARY, "SCARCE_FROM": "own", "SOURCE_DATE_EPOCH": "0", **settings})


def commands(address):
    yield Command("info", "info", OLD)
    yield Command("info --json", "info", "--json", OLD)
    yield Command("report", "report", OLD)
    yield Command("report, two files", "report", "--leaks", "--peak", "--calls", "-n", "0", OLD, NEW)
    yield Command("report --verdict", "report", "--verdict", "--misuse", "--advice", "--histogram", OLD)
    yield Command("report --tree", "report", "--tree", "--temporary", OLD)
    yield Command("report --top-down", "report", "--top-down", "--at", "50%", OLD)
    yield Command("report --by", "report", "--by", "function", "--where", "size-min=48", OLD)
    yield Command("report --without", "report", "--without", "function~feast", OLD)
    yield Command("report --json", "report", "--json", OLD)
    yield Command("report --include", "report", "--include", "main", "--exclude", "chop", "--suppressions", NONE, OLD)
    yield Command("diff", "diff", "--svg", "diff.svg", OLD, NEW)
    yield Command("diff --json", "diff", "--json", OLD, OLD + "@50%")
    yield Command("check", "check", "--max-peak", "1G", "--max-leak", "1G", "--max-growth-vs", OLD, "900%", "--junit", "j.xml",
                  "--markdown", "m.md", NEW, failure=2)
    yield Command("check --json", "check", "--json", "--max-allocations", "1", "--max-leak-per-site", "1", NEW, failure=2)
    yield Command("history", "history", OLD, address)
    yield Command("history --json", "history", "--json", OLD, address)
    yield Command("dump", "dump", "--tsv", NEW)
    yield Command("dump --stacks", "dump", "--stacks", NEW)
    yield Command("verify", "verify", OLD)
    yield Command("symbolize", "symbolize", "edited.wake", edits=NEW)
    yield Command("symbolize --embed", "symbolize", "--embed-binaries", "edited.wake", edits=NEW)
    yield Command("extract", "extract", WITH_BINARIES)
    yield Command("extract --list", "extract", "--list", WITH_BINARIES)
    for format in FORMATS:
        yield Command(f"export {format}", "export", "-f", format, "-o", "exported", OLD)
    yield Command("export --anonymize", "export", "-f", "folded", "--anonymize", "full", OLD)


def contents(folder):
    """Every file below, as bytes."""
    found = {}
    for where, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(where, name)
            with open(path, "rb") as f:
                found[os.path.relpath(path, folder)] = f.read()
    return found


def is_sentence(text, run):
    lines = text.decode().strip().splitlines()
    return bool(lines) and lines[-1].startswith("heapwake") and lines[-1].endswith(".")


def judge(check, command, folder, run, expected, files):
    """Whether the answer is the whole one, or a failure that is said."""
    left = contents(folder)
    if run.status == expected.status:
        same = run.out == expected.out and left == files
        said = run.err != expected.err and is_sentence(run.err, run)
        check.holds(same or (command.edits and said), f"it ends well, and its answer is another one: {run.err!r}")
    elif run.status == command.failure:
        check.holds(is_sentence(run.err, run) and b"memory" in run.err, f"it fails with no word of memory: {run.err!r}")
        wrong = [name for name in left if left[name] != files.get(name) and name != "edited.wake"]
        check.holds(not wrong, f"it leaves {wrong} behind.")
    else:
        check.holds(False, f"it ends with {run.status}, not {expected.status} or {command.failure}: {run.err!r}")
    if command.edits:
        recording = os.path.join(folder, "edited.wake")
        sound = native([HEAPWAKE, "verify", recording])
        check.holds(sound.status == 0, f"the recording is no longer sound: {sound.err!r}")


def plan(count, name):
    """Which n to refuse."""
    if count <= SAMPLE:
        return range(1, count + 1)
    return sorted(random.Random(name).sample(range(1, count + 1), SAMPLE))


def count_calls(name, run):
    """How many blocks a run asks for; it gets the settings for that."""
    path = os.path.abspath(f"{name}.count")
    outcome = run({"SCARCE_COUNT": path})
    with open(path, encoding="ascii") as f:
        return outcome, sum(int(line) for line in f)


def try_command(job):
    number, command = job
    base = f"{number}"
    expected, count = count_calls(base, lambda settings: command.run(base, settings))
    files = contents(base)
    check = Check()
    check.about(command.name)
    check.holds(expected.status in (0, 1) and (expected.status == 0 or "check" in command.name),
                f"it ends with {expected.status}: {expected.err!r}")
    tried = 0
    for n in plan(count, command.name):
        for for_ever in ({}, {"SCARCE_FOR_EVER": "1"}):
            check.about(f"{command.name}: block {n} of {count}{', and all after it,' if for_ever else ''} refused")
            folder = f"{base}-{n}-{len(for_ever)}"
            run = command.run(folder, {"SCARCE_NTH": str(n), **for_ever})
            judge(check, command, folder, run, expected, files)
            shutil.rmtree(folder)
            tried += 1
    return check, tried


PROGRAM = [workload("family"), "fork"]


def run_record(folder, settings):
    os.mkdir(folder)
    return native([HEAPWAKE, "record", "-o", "out.wake", "--", *PROGRAM], cwd=folder,
                  env={"LD_PRELOAD": LIBRARY, "SCARCE_FROM": "own", **settings})


def told_by(run):
    """What the processes of the program say, without their numbers."""
    lines = [line for line in run.out.decode().splitlines() if line.startswith("{")]
    return sorted(line.split(",", 1)[1] for line in lines)


def judge_record(check, folder, run, expected):
    check.equal("exit status", expected.status, run.status)
    check.equal("told", told_by(expected), told_by(run))
    path = os.path.join(folder, "out.wake")
    said = is_sentence(run.err, run)
    if not os.path.exists(path):
        check.holds(said or b"memory" in run.err, f"there is no recording, and it is not said: {run.err!r}")
        return
    try:
        facts = check.honest(path)
        made = Ledger(events(path)).made[7069]
    except SystemExit as wrong:
        check.holds(False, str(wrong))
        return
    whole = sum(int(line.split('"made": ')[1].split(",")[0]) for line in told_by(run))
    check.holds(made <= whole, f"{made} blocks are recorded, {whole} were made.")
    check.holds(made == whole or facts["lost_events"] > 0 or not facts["complete"] or facts["unrecorded_processes"] > 0,
                f"{made} blocks of {whole} are recorded, and the recording does not say so: {run.err!r}")


def try_record():
    expected, count = count_calls("record", lambda settings: run_record("record", settings))
    check = Check()
    jobs = [(n, for_ever) for n in plan(count, "record") for for_ever in ({}, {"SCARCE_FOR_EVER": "1"})]
    for n, for_ever in jobs:
        check.about(f"record: block {n} of {count}{', and all after it,' if for_ever else ''} refused")
        folder = f"record-{n}-{len(for_ever)}"
        judge_record(check, folder, run_record(folder, {"SCARCE_NTH": str(n), **for_ever}), expected)
        shutil.rmtree(folder)
    return check, len(jobs)


def main():
    for path, argv in ((OLD, [KITCHEN]), (NEW, PROGRAM)):
        if record(argv, path).status != 0:
            sys.exit(f"{path} cannot be recorded.")
    with open(NONE, "w", encoding="ascii") as f:
        f.write("leak:nobody\n")
    record([workload("steady"), "10"], WITH_BINARIES, ["--embed-binaries"])
    address = next(f"{e.address:#x}" for e in events(OLD) if e.event == "alloc" and e.size == 120)
    wanted = [c for c in commands(address) if not ONLY or c.name in ONLY or c.name.split()[0] in ONLY]
    wrong, tried = [], 0
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS", "2"))) as pool:
        results = [pool.submit(try_command, job) for job in enumerate(wanted)]
        if not ONLY or "record" in ONLY:
            results.insert(0, pool.submit(try_record))
        for check, count in (result.result() for result in results):
            wrong += check.wrong
            tried += count
    print("\n".join(wrong[:200]))
    print(f"{tried} runs with too little memory, {len(wrong)} wrong.")
    sys.exit(1 if wrong else 0)


main()
