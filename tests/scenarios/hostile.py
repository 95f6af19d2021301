#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""The hard cases of tests/hostile/cases.txt, each REPEAT times (20 unless the
environment says otherwise): the program ends as it does alone, with the same
output, and what it says about its blocks is what dump, info and report say.

    tests/run hostile                        all of them
    make check-hard REPEAT=1000              so many times each
    HOSTILE='clone fork' tests/run hostile   those whose name holds one of the words

A case runs once under `record` itself, and the other times one after the other
in one recording, as children of a program that does nothing else (again.c); with
the notes `apart` and `gone` each in a recording of its own.
"""
# timeout: 1500
import collections
import concurrent.futures
import glob
import json
import os
import re
import shutil
import signal
import sys
import time

from stack_truth import blocks_with_stacks
from support import HEAPWAKE, PROBE, TIMEOUT_S, Check, Ledger, events, leave_out, native, tool

ROOT, BUILD = os.environ["ROOT"], os.environ["BUILD"]
PROGRAMS = os.path.join(BUILD, "tests/hostile")
AGAIN = os.path.join(PROGRAMS, "again")
TABLE = os.path.join(ROOT, "tests/hostile/cases.txt")
REPEAT = int(os.environ.get("REPEAT", "20"))
BATCH = 19  # runs in one recording
LEAST = 120  # entries of the catalogue
LEAST_OFTEN = 120  # of them have a case that runs REPEAT times
NOTES = {"env", "end", "times", "root", "loose", "needs", "stderr", "file", "partly", "whole", "apart", "gone", "noted", "repeats"}
ALLOCATORS = {name: next(iter(glob.glob(f"/usr/lib/*/{file}") + glob.glob(f"/usr/lib*/{file}")), "/nowhere") for name, file in
              (("jemalloc", "libjemalloc.so.2"), ("tcmalloc", "libtcmalloc_minimal.so.4"), ("mimalloc", "libmimalloc.so.[0-9]*"))}


class Case:
    """A line of the table: what runs, and what is asked of it."""

    def __init__(self, name, entries, words, notes):
        self.name, self.entries = name, [e for e in entries.split() if e != "-"]
        self.argv = [self.fill(word) for word in split(words)]
        self.seen = words[4:].strip() if words.startswith("see ") else None
        self.notes = collections.defaultdict(list)
        for note in split(notes):
            key, _, value = note.partition("=")
            if key not in NOTES:
                raise SystemExit(f"{TABLE}: {name}: there is no note '{key}'.")
            self.notes[key].append(self.fill(value))
        self.env = dict(value.split("=", 1) for value in self.notes["env"])
        self.end = self.notes["end"][0] if "end" in self.notes else "0"
        self.times = min(int(self.notes["times"][0]), REPEAT) if "times" in self.notes else REPEAT

    @staticmethod
    def fill(word):
        places = {"probe": PROBE, "heapwake": HEAPWAKE, "folder": PROGRAMS, "root": ROOT, **ALLOCATORS}
        return re.sub(r"\{(\w+)\}", lambda m: places.get(m[1], os.path.join(PROGRAMS, m[1])), word)

    def reason_not_to_run(self):
        if "root" in self.notes and os.geteuid() != 0:
            return "it takes root"
        for need in self.notes["needs"]:
            if shutil.which(need) is None and not os.path.exists(need):
                return f"there is no {need}"
        return None


def split(text):
    return [a or b for a, b in re.findall(r"'([^']*)'|(\S+)", text)]


def read_table():
    cases = []
    with open(TABLE, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            columns = [column.strip() for column in line.split("|")]
            if not line.strip() or line.startswith("#"):
                continue
            if len(columns) not in (3, 4):
                raise SystemExit(f"{TABLE}:{number}: three or four columns are expected.")
            cases.append(Case(*columns, *([""] if len(columns) == 3 else [])))
    return cases


# ------------------------------------------------------------------ one case


def lines_of(run):
    """What the processes told of themselves, what `again` says of them, the rest."""
    told, ends, rest = [], [], []
    for line in run.out.decode(errors="replace").splitlines():
        if line.startswith('{"pid"'):
            told.append(json.loads(line))
        elif line.startswith('{"child"'):
            ends.append(json.loads(line)["status"])
        else:
            rest.append(without_numbers(line.encode()))
    return told, ends, rest


def end_of(status):
    """The end as the table writes it."""
    if not isinstance(status, int):
        return status
    if os.WIFSIGNALED(status):
        return signal.Signals(os.WTERMSIG(status)).name
    return str(os.WEXITSTATUS(status))


def end_alone(status):
    return signal.Signals(-status).name if isinstance(status, int) and status < 0 else str(status)


def without_numbers(data):
    """Process numbers and addresses differ from run to run."""
    return re.sub(rb"0x[0-9a-f]+|\b\d{2,}\b", b"N", data)


def blocks_of(told):
    """(pid, size) -> made and released, over all images of a process."""
    sums = collections.Counter()
    for line in told:
        for size, (made, freed) in line["blocks"].items():
            sums[line["pid"], int(size), "made"] += made
            sums[line["pid"], int(size), "released"] += freed
    return +sums


def own_functions(frames):
    """Of frames as dump shows them, the functions that stand in a case's own source."""
    return " ".join(frame.split()[0] for frame in frames if re.search(r"/tests/hostile/\w+\.c:\d+", frame))


def check_names_and_stacks(check, path, told):
    """Of what the cases say about names of threads and about stacks, what the recording shows."""
    if not any(line["names"] or line["stacks"] for line in told):
        return
    check.equal("status of symbolize", 0, tool("symbolize", path).status)
    names, stacks = {}, collections.defaultdict(set)
    for pid, tid, name, size, frames in blocks_with_stacks(path):
        names[pid, tid] = name
        stacks[pid, size].add((own_functions(frames), " ".join(frame for frame in frames if frame.startswith("("))))
    for line in told:
        for tid, name in line["names"].items():
            check.equal(f"name of {tid}", name, names.get((line["pid"], int(tid))))
        for size, functions in line["stacks"].items():
            check.equal(f"stacks of {size}", {(functions, "")}, stacks[line["pid"], int(size)])


def seen_in(ledger):
    """The same of a recording."""
    seen = collections.Counter()
    for pid, (made, freed) in ledger.by_pid.items():
        seen.update({(pid, size, "made"): n for size, n in made.items()})
        seen.update({(pid, size, "released"): n for size, n in freed.items()})
    return seen


def check_recording(check, case, path, told):
    ledger = Ledger(events(path))
    facts = check.honest(path) if "loose" in case.notes else check.sound(path, complete="partly" not in case.notes)
    if "whole" in case.notes:
        check.equal("cut stacks", 0, facts["cut_stacks"])
    check.equal("says that another malloc stands before", "noted" in case.notes, "another malloc" in str(facts["notes"]).lower())
    seen = seen_in(ledger)
    for spool in glob.glob(os.path.join(os.path.dirname(path), "*.spool")):
        seen += seen_in(Ledger(events(spool)))
        os.unlink(spool)
    recorded = {pid for pid, _, _ in seen}
    for key, count in blocks_of(told).items():
        if "partly" in case.notes and key[0] not in recorded and key[0] != told[-1]["pid"]:
            continue
        if "loose" in case.notes:  # it goes on after it has told
            check.holds(seen[key] >= count, f"{key}: told {count}, recorded {seen[key]}.")
        else:
            check.equal(str(key), count, seen[key])
    check_names_and_stacks(check, path, told)
    done = tool("report", "--json", path)
    if check.equal("status of report", 0, done.status):
        summary = json.loads(done.out)["summary"]
        check.equal("report: allocations", sum(ledger.made.values()), summary["allocations"])
        check.equal("report: frees", sum(ledger.freed.values()), summary["frees"])
        for key in ("allocations", "frees", "leaked_blocks", "leaked_bytes", "allocated_bytes", "processes"):
            check.equal(f"info and report: {key}", facts[key], summary[key])


def is_somebody_in(folder):
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if (os.readlink(f"/proc/{pid}/cwd") + "/").startswith(folder + "/"):
                return True
        except OSError:
            continue
    return False


def wait_for_recorders(folder):
    """Without theirs, programs may have started others, which end after them."""
    until = time.monotonic() + TIMEOUT_S
    while is_somebody_in(folder):
        if time.monotonic() > until:
            raise SystemExit("somebody writes for ever.")
        time.sleep(0.02)


def check_left(check, folder, told):
    """What is left where the recorder was killed: all of what was told before that, nothing that was not, and
    what calls itself whole is."""
    first, all_told, seen = blocks_of(told[:1]), blocks_of(told), collections.Counter()
    for path in glob.glob(os.path.join(folder, "*.wake*")):
        facts, here = check.honest(path, torn=True), seen_in(Ledger(events(path, torn=True)))
        pids = {pid for pid, _, _ in here}
        if facts["complete"] and facts["lost_events"] == 0:
            check.equal(path, {key: n for key, n in all_told.items() if key[0] in pids},
                        {key: here[key] for key in all_told if key[0] in pids})
        seen += here
    for key, count in all_told.items():
        check.holds(seen[key] == count if key in first else seen[key] <= count,
                    f"{key}: told {count}, recorded {seen[key]}.")


def check_program(check, case, alone, run, times, ends):
    """The program as alone, so many times: what it says, and the ends that `again` tells of."""
    told, seen_ends, rest = lines_of(run)
    told_alone, _, rest_alone = lines_of(alone)
    check.equal("ends", ends, [end_of(status) for status in seen_ends])
    check.equal("processes that told", len(told_alone) * times, len(told))
    check.equal("complaints", [], [line["complaints"] for line in told if line["complaints"]])
    check.equal("other lines", sorted(rest_alone * times), sorted(rest))
    if "stderr" not in case.notes:
        check.equal("stderr", without_numbers(alone.err) * times, without_numbers(run.err))
    return told


def record(case, folder, argv):
    path = os.path.join(folder, "out.wake")
    return native([HEAPWAKE, "record", "-q", "--symbols", "no", "-o", path, "--", *argv], case.env, cwd=folder)


def check_run(check, case, folder, way, times, alone):
    """One recording: of the program itself, or of several runs of it."""
    check.about(f"{case.name}, {way}")
    run = record(case, folder, case.argv if way == "once" else [AGAIN, times, *case.argv])
    if way == "once":
        check.holds(end_alone(run.status) == case.end or (case.end.startswith("SIG") and
                    run.status == 128 + signal.Signals[case.end]), f"it ended with {run.status}.")
    else:
        check.equal("status", 0, run.status)
    told = check_program(check, case, alone, run, times, [] if way == "once" else [case.end] * times)
    name = case.notes["file"][0] if "file" in case.notes else "out.wake"
    if name == "none":
        return
    try:
        check_recording(check, case, os.path.join(folder, name), told)
    except SystemExit as error:  # the tool did not answer
        check.holds(False, str(error))


def check_runs_without(check, case, folder, alone):
    """A program that kills its recorder: each run has its own."""
    told = []
    for number in range(case.times):
        check.about(f"{case.name}, run {number}")
        where = os.path.join(folder, str(number))
        os.mkdir(where)
        run = record(case, where, [AGAIN, 1, *case.argv])
        check.equal("end of the recorder", -signal.SIGKILL, run.status)
        told.append(check_program(check, case, alone, run, 1, [case.end]))
    wait_for_recorders(folder)
    for number in range(case.times):
        check.about(f"{case.name}, run {number}")
        check_left(check, os.path.join(folder, str(number)), told[number])


def check_case(case):
    check = Check()
    check.about(case.name)
    folder = os.path.abspath(case.name)
    os.mkdir(folder)
    alone = native(case.argv, case.env, cwd=folder)
    told_alone, _, _ = lines_of(alone)
    if not check.equal("end, alone", case.end, end_alone(alone.status)):
        print(alone.out.decode(errors="replace") + alone.err.decode(errors="replace"))
        return check
    check.holds(all(not line["complaints"] for line in told_alone), f"alone it complains: {told_alone}")
    if "gone" in case.notes:
        check_runs_without(check, case, folder, alone)
        shutil.rmtree(folder)
        return check
    apart = case.times if "apart" in case.notes else 1
    for _ in range(apart):
        check_run(check, case, folder, "once", 1, alone)
    for first in range(apart, case.times, BATCH):
        check_run(check, case, folder, f"again from {first}", min(BATCH, case.times - first), alone)
    shutil.rmtree(folder)
    return check


def entries_of(cases):
    return {entry for case in cases for entry in case.entries}


def is_often(case):
    """Whether it runs REPEAT times: here, or in a scenario that repeats it."""
    return "repeats" in case.notes or (not case.seen and case.times == REPEAT)


def is_in_scenario(case):
    """Whether the scenario that it is to be seen in has a case of this name (many_times.py)."""
    with open(os.path.join(ROOT, "tests", case.seen), encoding="utf-8") as f:
        return f'"{case.name}": {case.name}' in f.read()


def main():
    cases = read_table()
    words = os.environ.get("HOSTILE", "").split()
    chosen = [c for c in cases if not words or any(word in c.name for word in words)]
    entries = entries_of(cases)
    wrong = [f"{c.name}: there is no tests/{c.seen.split()[0]}." for c in cases
             if c.seen and not os.path.exists(os.path.join(ROOT, "tests", c.seen.split()[0]))]
    wrong += [f"{c.name}: tests/{c.seen} has no such case." for c in cases if "repeats" in c.notes and not is_in_scenario(c)]
    often = entries_of(c for c in cases if is_often(c))
    if len(entries) < LEAST:
        wrong.append(f"The table covers {len(entries)} entries of the catalogue, {LEAST} are promised.")
    if len(often) < LEAST_OFTEN:
        wrong.append(f"{len(often)} entries have a case that runs {REPEAT} times, {LEAST_OFTEN} are promised.")
    to_run = [c for c in chosen if not c.seen]
    for case in to_run:
        if case.reason_not_to_run():
            leave_out(f"{case.name}, {case.reason_not_to_run()}.")
    to_run = [c for c in to_run if not c.reason_not_to_run()]
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS", "2"))) as pool:
        for check in pool.map(check_case, to_run):
            wrong += check.wrong
    print("\n".join(wrong[:60]))
    ran = entries_of(c for c in to_run if is_often(c))
    print(f"{len(cases)} cases for {len(entries)} entries of the catalogue; {len(to_run)} run {REPEAT} times or as noted.")
    print(f"Entries with a case of {REPEAT} runs: {len(often)} in the table, {len(ran)} of them run here and now.")
    sys.exit(1 if wrong or not to_run else 0)


if __name__ == "__main__":
    main()
