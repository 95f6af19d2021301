#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""`heapwake ctl` finds the collector of a process, also of one that was started with
LD_PRELOAD alone, and acts at once although the program sits idle; who may not, and
what makes no sense, gets one clear line."""
import glob
import json
import os
import re
import socket
import struct
import subprocess
import time

from support import HEAPWAKE, PROBE, Check, Ledger, events, info, lonely, native, tool, truth, workload


class Idle:
    """A program that does one thing for each line it is told."""

    def __init__(self, recorder, env=None):
        self.process = subprocess.Popen([*recorder, workload("told"), "idle"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, env={**os.environ, **(env or {})})
        self.process.stdout.readline()
        self.pid = self.process.pid
        if recorder:
            children = f"/proc/{self.pid}/task/{self.pid}/children"
            with open(children, encoding="ascii") as f:
                self.pid = int(f.read().split()[0])

    def tell(self, *sizes):
        for size in sizes:
            self.process.stdin.write(f"{size}\n".encode())
            self.process.stdin.flush()
            self.process.stdout.readline()

    def end(self):
        self.process.stdin.close()
        return self.process.wait(60)


def ctl(*words):
    return tool("ctl", *words)


def wait_for(path):
    for _ in range(300):
        if os.path.exists(path):
            return True
        time.sleep(0.1)
    return False


def check_commands(check, program):
    pid = program.pid
    program.tell(7301, 7302)
    said = ctl(pid, "status")
    check.holds(said.status == 0 and b"Recording is on" in said.out and str(pid).encode() in said.out,
                f"status: {said}")
    program.tell(3 << 20)  # sizes as people read them, and none of the digits of bytes
    check.holds(re.search(rb" Recording is on\. [\d,]+ allocations and [\d,]+ frees? so far; "
                          rb"3\.0 MiB in [\d,]+ blocks live, 3\.0 MiB at the peak\.\n$", ctl(pid, "status").out),
                f"status with figures: {ctl(pid, 'status')}")
    program.tell(-(3 << 20))
    for name, word in (("disable", b"is off"), ("disable", b"already off"), ("toggle", b"is on"),
                       ("disable", b"is off")):
        done = ctl(pid, name)
        check.holds(done.status == 0 and word in done.out, f"{name}: {done}")
    program.tell(7303, -7301)
    check.holds(b"Recording is off" in ctl(pid, "status").out, "status does not know that it is off.")
    time.sleep(1.5)  # the collector has made its list of what may pass
    program.tell(7304, -7302, -7304, 7305)
    check.equal("enable", 0, ctl(pid, "enable").status)
    program.tell(-7303, 7306)
    check.equal("tag", 0, ctl(pid, "tag", "from outside").status)
    program.tell(7307)
    done = ctl(pid, "report", "given.memlog")
    check.holds(done.status == 0 and os.path.abspath("given.memlog").encode() in done.out, f"report FILE: {done}")
    partial = glob.glob("*.partial")
    check.holds(len(partial) == 1 and 7307 in Ledger(events(partial[0])).made, f"After a report {partial} lacks what came before it.")
    program.tell(7308, -7306)
    check.equal("report FILE.json", 0, ctl(pid, "report", "--depth", "1", "given.json").status)
    check.equal("report", 0, ctl(pid, "report").status)
    with open("given.memlog", encoding="utf-8") as f:
        check.equal("the first report", f"Outanding bytes: {7306 + 7307} (+{7306 + 7307})\n", f.readline())
    with open("given.json", encoding="utf-8") as f:
        second = json.load(f)
    check.equal("the second report", 7308 - 7306, second["change"]["total_bytes"])
    check.equal("its name", "report-2", second["name"])
    check.equal("its depth", {1}, {len(site["frames"]) for site in second["change"]["sites"]})


def check_file(check, path, unfinished=False):
    if not unfinished:
        check.sound(path)
    ledger = Ledger(events(path))
    check.pairs(ledger)
    expected = {7301: (1, 1), 7302: (1, 1), 7303: (0, 0), 7304: (0, 0), 7305: (0, 0), 7306: (1, 1), 7307: (1, 0), 7308: (1, 0)}
    check.equal("made and freed", expected, {size: (ledger.made[size], ledger.freed[size]) for size in expected})
    tags = [e.kind for e in ledger.others if e.event == "tag"]
    check.equal("tags", ["recording off", "recording on", "recording off", "recording on", "from outside",
                         "report-1", "report-2", "report-3"], tags)
    for mark, live in (("from outside", 7306), ("report-1", 7306 + 7307), ("report-2", 7307 + 7308)):
        seen = json.loads(tool("report", "--json", "--at", mark, path).out)["live"]
        check.equal(f"live at {mark}", live, seen["total_bytes"])


def check_wrong(check):
    check.about("wrong")
    gone = subprocess.Popen(["true"])
    gone.wait()
    alone = subprocess.Popen(["sleep", "60"])
    for words, status, text in (((), 2, "Usage"), (("x", "status"), 2, "no process id"), (("1", "dance"), 2, "no command 'dance'"),
                                (("1", "tag"), 2, "Usage"), (("1", "tag", ""), 2, "Usage"), (("1", "report", ""), 2, "Usage"), (("1", "status", "more"), 2, "Usage"),
                                (("1", "report", "--depth", "no"), 2, "--depth takes"),
                                (("1", "tag", "x" * 300), 2, "too long"),
                                ((str(gone.pid), "status"), 1, "There is no process"),
                                ((str(alone.pid), "status"), 1, "is not being recorded")):
        done = ctl(*words)
        check.holds(done.status == status and text in done.err.decode() and done.err.count(b"\n") == 1, f"ctl {words}: {done}")
    alone.kill()
    alone.wait()


def check_silent_others(check):
    """Sockets that are called like those of collectors, and take calls that nobody answers."""
    check.about("silent others")
    sockets = []
    for number in range(25):
        one = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        one.bind(f"\0heapwake-silent-{os.getpid()}-{number}")
        one.listen()
        sockets.append(one)
    program = Idle([HEAPWAKE, "record", "-q", "-o", "silent.wake", "--"])
    alone = subprocess.Popen(["sleep", "600"])
    said = ctl(program.pid, "status")
    check.holds(said.status == 0 and b"Recording is on" in said.out, f"status: {said}")
    said = ctl(alone.pid, "status")
    check.holds(said.status == 1 and b"is not being recorded" in said.err, f"status of one without heapwake: {said}")
    alone.kill()
    alone.wait()
    check.equal("exit status", 0, program.end())
    for one in sockets:
        one.close()


def ask(name, message):
    """What the socket answers to these bytes; b"" when it hangs up or does not take the call."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as one:
        one.settimeout(10)
        try:
            one.connect("\0" + name)
            one.send(message)
            return one.recv(8192)
        except OSError:
            return b""


def check_other_versions(check):
    """A ctl of another version is told so; what is no request at all does no harm."""
    check.about("other versions")
    program = Idle([HEAPWAKE, "record", "-q", "-o", "version.wake", "--"])
    magic, find, status, unheard = 0x4C525443, 1, 7, 99

    def request(version, op):
        return struct.pack("<6I4096s", magic, version, op, program.pid, 0, 0, b"")

    with open("/proc/net/unix", encoding="utf-8", errors="replace") as f:
        names = [line.split("@", 1)[1].rstrip("\n") for line in f if " @heapwake-" in line]
    ours = [name for name in dict.fromkeys(names) if ask(name, request(99, find))[4:8] == bytes(4)]
    check.equal("collectors of the process", 1, len(ours))
    for name in ours:
        check.holds(b"another version" in ask(name, request(99, status)), "Another version is not told.")
        check.holds(b"does not know" in ask(name, request(1, unheard)), "A command that is not one is not told.")
        for nonsense in (b"x", b"\xff" * 4120, request(1, status)[:-1], b"CTRL" + b"\xff" * 4116):
            check.equal("an answer to nonsense", b"", ask(name, nonsense))
    check.holds(b"Recording is on" in ctl(program.pid, "status").out, "The collector has suffered.")
    check.equal("exit status", 0, program.end())


def check_spool(check):
    """Without a collector there is nobody to tell; the program's own calls end all the same."""
    check.about("spool")
    program = Idle([], lonely())
    done = ctl(program.pid, "disable")
    check.holds(done.status == 1 and b"writes a spool by itself" in done.err and done.err.count(b"\n") == 1, f"disable: {done}")
    check.equal("exit status", 0, program.end())
    told = truth(native([workload("told"), "calls"], lonely()))
    check.equal("answers", {"report": -1, "again": -1, "snapshot": -1, "flush": -1, "off": 0, "on": 1, "errno": 77}, told)
    spools = [path for path in glob.glob("*.spool") if Ledger(events(path)).made[7103] == 1]
    check.equal("spools with what it made", 1, len(spools))


def check_other_user(check):
    check.about("another user")
    if os.geteuid() != 0:
        return
    program = Idle([HEAPWAKE, "record", "-q", "-o", "other.wake", "--"])
    done = native([HEAPWAKE, "ctl", program.pid, "disable"], user=65534)
    check.holds(done.status == 1 and b"another user" in done.err, f"disable by nobody: {done}")
    check.holds(b"Recording is on" in ctl(program.pid, "status").out, "nobody has switched it off.")
    program.end()


if __name__ == "__main__":
    check = Check()
    check.about("record")
    program = Idle([HEAPWAKE, "record", "-q", "-o", "idle.wake", "--"])
    check_commands(check, program)
    check.equal("exit status", 0, program.end())
    check_file(check, "idle.wake")

    check.about("LD_PRELOAD")
    program = Idle([], {"LD_PRELOAD": PROBE, "HEAPWAKE_OUTPUT": os.path.abspath("bare.wake")})
    check_commands(check, program)
    check.equal("stop", 0, ctl(program.pid, "stop").status)
    check.holds(wait_for("bare.wake"), "stop leaves no recording.")
    program.tell(7309, 7310)
    said = ctl(program.pid, "status")
    nobody = (b"is not being recorded", b"not all of them answer")  # collectors of other tests may be stopped
    check.holds(said.status == 1 and any(text in said.err for text in nobody), f"after stop: {said}")
    check.equal("exit status", 0, program.end())
    check_file(check, "bare.wake")
    check.equal("made after stop", 0, Ledger(events("bare.wake")).made[7309])
    stopped = f"The recording of process {program.pid} was stopped at "
    for face in ("info", "report"):
        check.holds(stopped.encode() in b" ".join(tool(face, "bare.wake").out.split()), f"{face} does not say that it was stopped.")
    check.holds(stopped not in str(info("idle.wake")["notes"]), "One that was not stopped says that it was.")

    check.about("HEAPWAKE_ENABLED=0")
    program = Idle([HEAPWAKE, "record", "-q", "--enabled", "no", "-o", "late.wake", "--"])
    program.tell(7311, 7312)
    check.equal("enable", 0, ctl(program.pid, "enable").status)
    program.tell(7313, -7311)
    program.end()
    facts = check.sound("late.wake")
    ledger = Ledger(events("late.wake"))
    check.equal("made", {7311: 0, 7312: 0, 7313: 1}, {size: ledger.made[size] for size in (7311, 7312, 7313)})
    check.equal("frees of blocks never seen", 0, facts["unknown_frees"])

    check_wrong(check)
    check_silent_others(check)
    check_other_versions(check)
    check_spool(check)
    check_other_user(check)
    check.done()
