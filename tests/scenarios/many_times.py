# SPDX-License-Identifier: MIT OR Apache-2.0
"""Cases that are no programs, each REPEAT times (20 unless the environment says
otherwise), every time another: a case gets a source of chance that follows from
SEED, its name and the number of the time, which stand before whatever is wrong.

    many_times({"cut": cut, "flips": flips})      def cut(check, chance): ...

    REPEAT=100 SEED=7 CASES='cut flips' tests/run hard_files

A case runs in a folder of its own, the same one each time. Which entries of the
catalogue it stands for says tests/hostile/cases.txt.
"""
import json
import os
import random
import resource
import subprocess

from support import HEAPWAKE, TIMEOUT_S, Check, Run

REPEAT = int(os.environ.get("REPEAT", "20"))
SEED = os.environ.get("SEED", "1")
PATIENCE_S = 10  # of the CPU
MEMORY = 1 << 30  # addresses that an answer may take, whatever the file says
SUMS = ("processes", "allocations", "frees", "allocated_bytes", "peak_bytes", "leaked_blocks", "leaked_bytes", "threads")


def limits():
    resource.setrlimit(resource.RLIMIT_CPU, (PATIENCE_S, PATIENCE_S + 1))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def ask(check, *words, **options):
    """A command of heapwake's, within limits: it does not crash or hang, and where it fails it says one sentence."""
    try:
        done = subprocess.run([HEAPWAKE, *words], capture_output=True, timeout=TIMEOUT_S, preexec_fn=limits,
                              **{"stdin": subprocess.DEVNULL, **options})
    except subprocess.TimeoutExpired:
        check.holds(False, f"{words[0]} hangs.")
        return Run("hangs", b"", b"")
    check.holds(done.returncode in (0, 1, 2), f"{words[0]} ended with {done.returncode}: {done.stderr[-300:]}")
    if done.returncode != 0 and words[0] != "verify":
        check.holds(done.stderr.startswith(b"heapwake") and done.stderr.count(b"\n") == 1,
                    f"{words[0]} fails and says {done.stderr[:300]!r}.")
    return Run(done.returncode, done.stdout, done.stderr)


def answer(check, *words):
    """The JSON of a command; None where it refused."""
    done = ask(check, *words)
    if done.status != 0:
        return None
    try:
        return json.loads(done.out)
    except ValueError as error:
        check.holds(False, f"{words[0]} prints what is no JSON: {error}.")
        return None


def sums_of(facts):
    facts = facts.get("summary", facts)
    return {key: facts[key] for key in SUMS}


def is_said(facts):
    """Whether it is said that something is missing or damaged."""
    summary = facts.get("summary", facts)
    return not summary["complete"] or summary["lost_events"] != 0 or bool(facts.get("damages"))


def judge(check, path, truth):
    """No wrong total without a word: what is told is the truth, or the damage is. What info says, or None."""
    facts = answer(check, "info", "--json", path)
    for told in (facts, answer(check, "report", "--json", path)):
        if told is not None:
            check.holds(is_said(told) or sums_of(told) == truth, f"said is {sums_of(told)}, the truth is {truth}.")
    check.holds(ask(check, "verify", path).status != 0 or facts is not None and not is_said(facts),
                "verify finds nothing where info does.")
    return facts


def agree(check, path):
    """Of a file that nobody can know to be wrong: all say the same, soon, and with little memory."""
    facts, report = answer(check, "info", "--json", path), answer(check, "report", "--json", path)
    if facts is not None and report is not None:
        check.equal("info and report", sums_of(facts), sums_of(report))
    for words in (("report",), ("verify",), ("dump", "--tsv"), ("export", "-f", "massif", "-o", os.devnull)):
        ask(check, *words, path)
    return facts


def many_times(cases):
    words, check, home = os.environ.get("CASES", "").split(), Check(), os.getcwd()
    chosen = {name: case for name, case in cases.items() if not words or any(word in name for word in words)}
    for name, case in chosen.items():
        os.mkdir(name)
        os.chdir(name)
        for number in range(1, REPEAT + 1):
            check.about(f"{name}, SEED={SEED}, time {number}")
            case(check, random.Random(f"{SEED} {name} {number}"))
        os.chdir(home)
    print(f"{len(chosen)} cases, {REPEAT} times each, SEED={SEED}: {check.count} checks")
    check.about("")
    check.done()
