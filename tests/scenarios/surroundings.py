#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Bad surroundings: the program goes on as if alone, what was written stays
readable, every event is in it or counted as lost, and beside the closing line one
sentence at most, of heapwake's own, says what is wrong, where there is a stderr."""
import glob
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests/format"))
from wake_reader import Recording
from support import HEAPWAKE, PROBE, Check, Ledger, events, info, leave_out, native, tool, truth, workload

check = Check()
BLOCKS = 20000
CLOSING = re.compile(r"heapwake: [\d,]+ events, peak ")
steady = [workload("steady"), str(BLOCKS)]
alone = native(steady)
assert alone.status == 8, "The program does not work alone."


def run_and_compare(what, expected=alone, argv=(*steady,), output="out.wake", accounts=True, **options):
    """Runs under record, not quiet: the program as alone, one sentence, sound accounts."""
    check.about(what)
    for old in glob.glob("*.wake*"):
        os.unlink(old)
    run = native([HEAPWAKE, "record", "-o", output, "--", *argv], **options)
    check.equal("exit status", expected.status, run.status)
    check.equal("stdout", expected.out, run.out)
    said = [line for line in run.err.decode(errors="replace").splitlines() if line.startswith("heapwake: ")]
    check.equal("lines on stderr that are not heapwake's", len(run.err.splitlines()), len(said))
    complaints = [line for line in said if not CLOSING.match(line)]
    check.holds(said and len(complaints) <= 1 and len(said) - len(complaints) <= 1,
                f"the closing line, a complaint, or both are expected: {said}")
    for path in glob.glob("*.wake*") if accounts else ():
        check_accounts(path, truth(expected))
    check.holds(glob.glob("*.wake*") or "othing " in said[0], f"there is no recording, and it is not said: {said}")
    return " ".join(said)


def check_missed(path, count):
    """Everybody who reads the file is told how many processes are not in it."""
    said = f"{count} more process{' is' if count == 1 else 'es are'} not in the recording"
    check.equal(f"{path}: unrecorded processes", (count, count), (info(path)["unrecorded_processes"], Recording(path).unrecorded()))
    for command in ("info", "report", "verify"):
        run = tool(command, path)
        check.holds(run.status == 0 and said in run.out.decode(), f"{command} {path} ends with {run.status}, says {run.out!r}")
    check.equal(f"{path}: report --json", count, json.loads(tool("report", "--json", path).out)["summary"]["unrecorded_processes"])


def check_accounts(path, told):
    """Every event of the program is recorded or counted as lost, and nothing else is."""
    facts, ledger = check.honest(path), Ledger(events(path))
    check.pairs(ledger)
    made, freed = ledger.made[7069], ledger.freed[7069]
    missing = told["made"] + told["freed"] - made - freed
    check.holds(made <= told["made"] and freed <= told["freed"], f"{made} made and {freed} released are too many.")
    check.holds(missing <= facts["lost_events"] <= (missing + 100 if missing else 0),
                f"{missing} events are missing, {facts['lost_events']} are counted as lost.")
    check.holds(missing == 0 or not facts["complete"] or facts["lost_events"] != 0, "what is missing is called complete.")


def limited(which, amount):
    return lambda: resource.setrlimit(which, (amount, amount))


def check_whole(path="out.wake"):
    ledger = Ledger(events(path))
    check.pairs(ledger)
    told = truth(alone)
    check.equal("made and released", (told["made"], told["freed"]), (ledger.made[7069], ledger.freed[7069]))
    check.sound(path)


# ------------------------------------------------------------------- the output
said = run_and_compare("output folder missing", output="missing/out.wake")
check.holds("missing" in said, f"the sentence does not name the folder: {said}")
os.mkdir("locked")
os.chmod("locked", 0o555)
if os.geteuid() != 0:
    said = run_and_compare("output folder read-only", output="locked/out.wake")
    check.holds("locked" in said, f"the sentence does not name the folder: {said}")

if os.geteuid() == 0 and subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode == 0:
    os.mkdir("small")
    full = native(["unshare", "-m", "sh", "-c", "mount -t tmpfs -o size=512k none small && "
                   f"'{HEAPWAKE}' record -o small/out.wake -- '{workload('order')}' 4 100000; s=$?; "
                   "cp small/* full.wake; exit $s"])
    check.about("disk full half way")
    check.equal("exit status", 0, full.status)
    check.holds(b"space" in full.err, f"the reason is not said: {full.err.decode()}")
    facts, told, ledger = info("full.wake"), truth(full), Ledger(events("full.wake"))
    check.equal("complete", False, facts["complete"])
    missing = sum(told["made"].values()) + sum(told["freed"].values())
    missing -= sum(ledger.made[int(size)] + ledger.freed[int(size)] for size in told["made"])
    check.holds(0 < missing <= facts["lost_events"] <= missing + 100,
                f"{missing} events are missing, {facts['lost_events']} are counted as lost.")
    check.holds(facts["allocations"] > 1000, "next to nothing is readable.")
    ro = native(["unshare", "-m", "sh", "-c", "mount -t tmpfs -o ro none locked && "
                 f"'{HEAPWAKE}' record -o locked/out.wake -- '{steady[0]}' {BLOCKS}"])
    check.about("output folder read-only")
    check.equal("exit status", alone.status, ro.status)
    check.equal("stdout", alone.out, ro.out)
    check.holds(b"locked" in ro.err, f"the sentence does not name the folder: {ro.err.decode()}")
    gone = native(["unshare", "-m", "sh", "-c", "mount -t tmpfs none /proc && "
                   f"HEAPWAKE_PROBE='{PROBE}' '{HEAPWAKE}' record -o no-proc.wake -- '{steady[0]}' {BLOCKS}"])
    check.about("no /proc")
    check.equal("exit status", alone.status, gone.status)
    check.equal("stdout", alone.out, gone.out)
    check_whole("no-proc.wake")
else:
    leave_out("Disks cannot be mounted here: none was full or read-only, and /proc was there.")

# ------------------------------------------------------------------- the limits
said = run_and_compare("RLIMIT_FSIZE of 16 KiB", preexec_fn=limited(resource.RLIMIT_FSIZE, 16384))
for size in (1 << 20, 64 << 10, 0):
    said = run_and_compare(f"RLIMIT_FSIZE of {size}", preexec_fn=limited(resource.RLIMIT_FSIZE, size))
    check.holds("ulimit -f" in said, f"the limit is not named: {said}")
check.about("a child that may make no file")
lost = native([HEAPWAKE, "record", "--symbols", "no", "-o", "child.wake", "--", "sh", "-c", "ulimit -f 0; (:); :"])
check.equal("exit status", 0, lost.status)
check.holds(b"; 1 more process could not be recorded" in lost.err, f"the child is not missed: {lost.err!r}")
check_missed("child.wake", 1)
shutil.copy("child.wake", "again.wake")
check.equal("merge", 0, tool("merge", "child.wake", "again.wake", "-o", "twice.wake").status)
check_missed("twice.wake", 2)
check.equal("anonymize", 0, tool("anonymize", "child.wake", "-o", "nobody.wake").status)
check_missed("nobody.wake", 1)
check.equal("symbolize", 0, tool("symbolize", "child.wake").status)
check_missed("child.wake", 1)
check.equal("strip", 0, tool("strip", "--threshold", "1ns", "child.wake", "-o", "bare.wake").status)
check_missed("bare.wake", 1)
check.about("children that may make no file, a file for each process")
lost = native([HEAPWAKE, "record", "--symbols", "no", "-o", "each-%p.wake", "--", "sh", "-c", "(:); ulimit -f 0; (:); (:); :"])
check.equal("exit status", 0, lost.status)
each = glob.glob("each-*.wake")
check.equal("files, missed processes in all of them", (2, 2), (len(each), sum(info(path)["unrecorded_processes"] for path in each)))
check.equal("report, of all together", 2, json.loads(tool("report", "--json", *each).out)["summary"]["unrecorded_processes"])
for megabytes in (16, 40, 100, 300):
    tight = {"preexec_fn": limited(resource.RLIMIT_AS, megabytes << 20)}
    run_and_compare(f"RLIMIT_AS of {megabytes} MiB", native(steady, **tight), **tight)
few = ("sh", "-c", f"exec <&-; ulimit -n 3; exec '{steady[0]}' {BLOCKS}")  # the loader needs one
check.about("RLIMIT_NOFILE of 3, preloaded")
check.equal("alone", (alone.status, alone.out), native(few)[:2])
check.equal("exit status and stdout", (alone.status, alone.out), native(few, {"LD_PRELOAD": PROBE})[:2])
run_and_compare("RLIMIT_NOFILE of 3", argv=few, accounts=False)  # the shell is recorded, what it becomes is not
check.equal("end of the shell", "went on as another program", info("out.wake")["processes_list"][0]["end"])
for soft, hard in [(n, n) for n in range(4, 12)] + [(n, 1024) for n in (4, 5, 6, 8)]:  # 4: the loader's own needs
    tight = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))}
    said = run_and_compare(f"RLIMIT_NOFILE of {soft}, at most {hard}, for record itself", native(steady, **tight), **tight)
    check.equal("recorded", hard >= 9 and soft > 4, os.path.exists("out.wake"))
show = ("sh", "-c", f"ulimit -n; ulimit -Hn; exec '{steady[0]}' 10")
tight = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (50, 1000))}
check.about("RLIMIT_NOFILE of 50, at most 1000")
check.equal("limits as the program sees them", native(show, **tight).out, native([HEAPWAKE, "record", *show], **tight).out)

# -------------------------------------------------------------- the descriptors
for closed in ("0<&-", "2>&-", "0<&- 2>&-", "0<&- 1>&- 2>&-"):
    check.about(f"closed {closed}")
    shell = f"exec '{HEAPWAKE}' record -o closed.wake -- '{steady[0]}' {BLOCKS} {closed}"
    expected = native(["sh", "-c", f"exec '{steady[0]}' {BLOCKS} {closed}"])
    run = native(["sh", "-c", shell])
    check.equal("exit status and stdout", (expected.status, expected.out), (run.status, run.out))
    check_whole("closed.wake")
    os.unlink("closed.wake")

# ---------------------------------------------------------------- the collector
for what, blocks in (("killed", 400000), ("stopped", 400000)):
    check.about(f"collector {what} half way")
    argv = [steady[0], str(blocks), "wait"]
    expected = native(argv, stdin=None, input=b"\n")
    process = subprocess.Popen([HEAPWAKE, "record", "-q", "-o", f"{what}.wake", "--", *argv], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    check.equal("first line", b"half\n", process.stdout.readline())
    if what == "killed":
        for _ in range(200):  # until something is written
            left = glob.glob("killed.wake*")
            if left and tool("info", left[0]).status == 0 and info(left[0])["allocations"] > 0:
                break
            time.sleep(0.05)
        process.kill()
    else:
        process.send_signal(signal.SIGSTOP)
    process.stdin.write(b"\n")
    process.stdin.flush()
    if what == "stopped":
        time.sleep(1)
        process.send_signal(signal.SIGCONT)
    rest = process.stdout.read()  # until the program has ended
    status = process.wait()
    check.equal("stdout", expected.out, b"half\n" + rest)
    if what == "stopped":
        check.equal("exit status", expected.status, status)
        told = truth(expected._replace(out=rest))
        ledger = Ledger(events("stopped.wake"))
        check.equal("made and released", (told["made"], told["freed"]), (ledger.made[7069], ledger.freed[7069]))
        check.sound("stopped.wake")
    else:
        left = glob.glob("killed.wake*")
        check.equal("files", 1, len(left))
        check.holds(left and info(left[0])["allocations"] > 0, "nothing is readable.")
        check.holds(left and not info(left[0])["complete"], "what was cut is called complete.")

# ------------------------------------------------------------------- a sandbox
argv = [steady[0], "200000", "seccomp"]
expected = native(argv)
assert expected.status == 8, "The filter kills the program alone."
run_and_compare("seccomp", expected, argv)
facts, ledger = info("out.wake"), Ledger(events("out.wake"))
told = truth(expected)
missing = told["made"] - ledger.made[7069] + told["freed"] - ledger.freed[7069]
check.equal("events that are neither recorded nor counted as lost", 0, missing - facts["lost_events"])
check.equal("verify", 0, tool("verify", "out.wake").status)
run = native(argv, {"LD_PRELOAD": PROBE})
check.about("seccomp, preloaded")
check.equal("exit status and stdout", (expected.status, expected.out), (run.status, run.out))
for way in ("become", "alone"):  # what comes after is not recorded: the filter would kill it
    check.about(f"a filter, then another program, {way}")
    expected = native([*steady, way])
    check.equal("without heapwake", (alone.status, alone.out), (expected.status, expected.out))
    run = native([HEAPWAKE, "record", "-q", "-o", "become.wake", "--", *steady, way])
    check.equal("exit status, stdout, stderr", (alone.status, alone.out, b""), (run.status, run.out, run.err))
    check.sound("become.wake", complete=False)
    check.equal("complete", False, info("become.wake")["complete"])
    check_missed("become.wake", 1)
    ledger = Ledger(events("become.wake"))
    check.equal("made and released before", (BLOCKS, BLOCKS), (ledger.made[7069], ledger.freed[7069]))
check.done()
