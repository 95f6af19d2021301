#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
# timeout: 1800
"""A collector that is killed, or stopped for a while, at any instant: the program
ends as if alone, what was written is readable and claims nothing that was not,
and a recording that is not whole says so. REPEAT=8 does everything eight times."""
import glob
import os
import random
import signal
import subprocess
import time

from support import HEAPWAKE, PROBE, TIMEOUT_S, Check, Ledger, events, native, truth, workload, writers

KILLS, STOPS = 40, 10
BLOCKS = 30000
REPEAT = int(os.environ.get("REPEAT", "1"))
check = Check()
random.seed(20)
program = [workload("steady"), str(BLOCKS)]
alone = native(program)
told = truth(alone)
with open("collector", "w", encoding="utf-8") as f:
    f.write(f"#!/bin/sh\necho $$ >pid.new; mv pid.new pid; exec '{HEAPWAKE}' \"$@\"\n")
os.chmod("collector", 0o755)


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as f:
            return f.read()
    except OSError:
        return ""


def start(way):
    """The program and, once it is known, the pid of its collector."""
    if way == "record":  # the shell tells how the program ended, whatever becomes of us
        argv = [HEAPWAKE, "record", "-q", "-o", "out.wake", "--", "sh", "-c", '"$@"; echo $?', "sh", *program]
        process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
        while process.poll() is None and not children(process.pid):
            time.sleep(0.0005)  # before that there is no program
        return process, process.pid
    env = {**os.environ, "LD_PRELOAD": PROBE, "HEAPWAKE_COLLECTOR": os.path.abspath("collector"),
           "HEAPWAKE_OUTPUT": "out.wake"}
    process = subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, env=env)
    while not os.path.exists("pid"):
        time.sleep(0.0005)
    with open("pid", encoding="utf-8") as pid:
        return process, int(pid.read())


def send(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass  # it was done before


def check_program(way, process):
    try:
        out, err = process.communicate(timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        subprocess.run(["sh", "-c", "ps -ef | tail -20"], check=False)
        process.kill()
        raise SystemExit(f"{check.where}the program hangs.")
    expected = alone.out + b"%d\n" % alone.status if way == "record" else alone.out
    check.equal("stdout and stderr", (expected, b""), (out, err))
    if way == "bare":
        check.equal("exit status", alone.status, process.returncode)


def tear():
    """The kernel ends a write of somebody killed after any page, but seldom: here it does so each time."""
    for path in glob.glob("*.wake.partial"):
        size = os.path.getsize(path)
        os.truncate(path, random.randint(min(size, 64), size))


def check_files(torn):
    """What is left behind; True where a whole recording is among it."""
    whole = False
    for path in glob.glob("*.wake*"):
        if os.path.getsize(path) < 64:  # killed before the first write
            continue
        facts = check.honest(path, torn)
        ledger = Ledger(events(path, torn))
        check.pairs(ledger)
        made, freed = ledger.made[7069], ledger.freed[7069]
        check.holds(made <= told["made"] and freed <= told["freed"], f"{path} has {made} made, {freed} released.")
        if facts["complete"] and facts["lost_events"] == 0 and made != 0:
            check.equal(f"{path} calls itself whole, made and released", (told["made"], told["freed"]), (made, freed))
            whole = True
    return whole


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
            return f.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def settle(collector):
    """Waits until nobody writes any more, or will: the collector may have been stopped before it had
    begun, and the program may have ended since. Where one was killed before the program knew of it,
    the program has started one of its own."""
    last = time.monotonic() + TIMEOUT_S
    while is_running(collector) or writers("*.wake.partial*"):
        if time.monotonic() > last:
            raise SystemExit(f"{check.where}somebody writes for ever.")
        time.sleep(0.02)


def clear():
    for path in glob.glob("*.wake*") + glob.glob("pid"):
        os.unlink(path)


def one_run(way, stop):
    """Whether the recording is whole."""
    process, collector = start(way)
    time.sleep(random.random() * span[way])
    send(collector, signal.SIGSTOP if stop else signal.SIGKILL)
    if stop:
        time.sleep(random.random() * 0.3)
        send(collector, signal.SIGCONT)
    check_program(way, process)
    settle(collector)
    whole = check_files(torn=not stop)
    if stop:
        check.equal("a whole recording", True, whole)
        check.equal("exit status of record", 0 if way == "record" else alone.status, process.returncode)
    else:
        tear()
        check_files(torn=True)
    clear()
    return whole


span = {}  # how long a run takes, and a little more
for way in ("record", "bare"):
    begun = time.monotonic()
    first, its_collector = start(way)
    check_program(way, first)
    span[way] = 1.1 * (time.monotonic() - begun)
    settle(its_collector)
    clear()
cut = 0
for number in range((KILLS + STOPS) * REPEAT):
    stop = number % (KILLS + STOPS) >= KILLS
    way = ("record", "bare")[number % 2]
    check.about(f"run {number}, {way}, {'stopped' if stop else 'killed'}")
    cut += not one_run(way, stop)
print(f"{KILLS * REPEAT} kills and {STOPS * REPEAT} stops; {cut} recordings were cut")
check.about("")
check.holds(cut > 0, "No kill came in time.")  # how many do depends on how busy the machine is
check.done()
