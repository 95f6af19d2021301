# SPDX-License-Identifier: MIT OR Apache-2.0
"""What the scenarios share: running a program alone and recorded, reading what
the recording says, and comparing that with what the program says about itself.

    check = Check()
    run = record([workload("ends"), "exit", "4", "2000"], "ends.wake")
    check.equal("exit status", 3, run.status)
    ledger = Ledger(events("ends.wake"))
    check.equal("blocks made", 2000, ledger.made[7069])
    check.done()
"""
import collections
import fnmatch
import glob
import gzip
import json
import os
import random
import shutil
import struct
import subprocess
import sys

from format import wake_bytes

HEAPWAKE = os.environ["HEAPWAKE"]
PROBE = os.environ["PROBE"]
WORKLOADS = os.environ["WORKLOADS"]
PATIENCE = int(os.environ.get("PATIENCE", "1"))  # of tests/run
TIMEOUT_S = 60 * PATIENCE  # a hang becomes a failure with a name

# What verify says of a recording that was cut off, and of no other.
UNFINISHED = ("sound: ", "its end is not in the file.", "events are missing from the file.",
              "not everything that it published was read.", "The recorder did not close the file.",
              "Writing stopped (", "note: ")
# Also what a write leaves behind that SIGKILL broke off: the kernel ends it after any page.
TORN = ("The file ends inside the ", "are not a whole chunk and are left out.")

Run = collections.namedtuple("Run", "status out err")
Event = collections.namedtuple("Event", "time pid tid event address size stack kind usable")


def workload(name):
    return os.path.join(WORKLOADS, name)


def allocators():
    """Those that are installed, as libraries to preload."""
    found = {}
    for name in ("libjemalloc.so.2", "libtcmalloc_minimal.so.4", "libmimalloc.so.[0-9]*"):
        paths = sorted(path for folder in ("/usr/lib/*", "/usr/lib", "/usr/lib64", "/lib") for path in glob.glob(f"{folder}/{name}"))
        found.update({name: paths[0]} if paths else {})
    return list(found.values())


def skip(reason):
    print(reason)
    sys.exit(77)


def leave_out(sentence):
    """A part of a scenario cannot be tried here: tests/run says so beside its name."""
    print(f"Left out: {sentence}")


def native(argv, env=None, **options):
    """Runs a program as it is. A negative status is the number of the signal;
    "hangs" when it had to be ended."""
    argv = [str(word) for word in argv]
    try:
        done = subprocess.run(argv, capture_output=True, timeout=TIMEOUT_S, env={**os.environ, **(env or {})},
                              **{"stdin": subprocess.DEVNULL, **options})
    except subprocess.TimeoutExpired:
        return Run("hangs", b"", b"")
    return Run(done.returncode, done.stdout, done.stderr)


def record(argv, output="out.wake", options=(), env=None, **more):
    """Runs a program under `heapwake record -q`."""
    return native([HEAPWAKE, "record", "-q", "-o", output, *options, "--", *argv], env, **more)


def lonely():
    """The environment of a program that is recorded and finds no collector, not even one that is installed."""
    if not os.path.exists("lonely"):
        os.mkdir("lonely")
        shutil.copy(PROBE, "lonely/libheapwake.so")
    return {"LD_PRELOAD": os.path.abspath("lonely/libheapwake.so"), "PATH": "/nonexistent"}


def died_alike(alone, recorded):
    """Whether a program that ran alone and one under record ended the same way: the
    tool dies of the same signal, or says 128 and its number as a shell does."""
    return recorded.status == alone.status or (alone.status < 0 and recorded.status == 128 - alone.status)


def tool(*argv):
    return native([HEAPWAKE, *argv])


def ask(*argv):
    """A command of heapwake's as people see it: what it says is text."""
    return subprocess.run([HEAPWAKE, *argv], capture_output=True, text=True, timeout=TIMEOUT_S, errors="replace", check=False)


def put(name, data):
    """Makes a file of these bytes."""
    with open(name, "wb") as f:
        f.write(data)
    return name


def later_format():
    """The header of a recording of version 9.0, as docs/format.md has it."""
    head = struct.pack("<8sHHI", b"HEAPWAKE", 9, 0, 64).ljust(56, b"\0")
    return head + struct.pack("<Q", wake_bytes.checksum(head)) + bytes(64)


def no_recordings():
    """Paths that are none: what is there, the path, and what a refusal says."""
    os.mkdir("folder")
    os.mkfifo("pipe")
    return [("empty", put("empty.wake", b""), "is empty"),
            ("a heaptrack file", put("heaptrack.txt", b"v 10400 3\nX ./app\nI 1000 400\n"),
             "not a heapwake recording, but seems to be a file of heaptrack, which 'heapwake import' makes a recording of"),
            ("a packed heaptrack file", put("heaptrack.gz", gzip.compress(b"v 10400 3\nX ./app\nI 1000 400\n")),
             "not a heapwake recording, but seems to be a file of heaptrack, which 'heapwake import' makes a recording of"),
            ("a text", put("notes.txt", b"# What is to be done\n\nFind the leak.\n" * 99), "not a heapwake recording."),
            ("a later format", put("later.wake", later_format()), "was written by a newer heapwake (format 9.0"),
            ("noise", put("noise.wake", random.Random(4).randbytes(50000)), "not a heapwake recording."),
            ("a directory", "folder", "is a directory"),
            ("nothing there", "absent.wake", "No such file"),
            ("no name", "", "name of the file to read is empty"),
            ("a FIFO", "pipe", "pipe")]


def writers(pattern):
    """Who has a file of this folder open whose name matches: the collectors at work."""
    found = set()
    for link in glob.glob("/proc/[0-9]*/fd/*"):
        try:
            folder, name = os.path.split(os.readlink(link))
        except OSError:
            continue
        if folder == os.getcwd() and fnmatch.fnmatch(name, pattern):
            found.add(int(link.split("/")[2]))
    return found


def info(path):
    done = tool("info", "--json", path)
    if done.status != 0:
        raise SystemExit(f"heapwake info --json {path}: exit {done.status}\n{done.err.decode()}")
    return json.loads(done.out)


def events(path, torn=False):
    """Every event of a recording, in its order. `torn`: its last chunk may be a part of one."""
    process = subprocess.Popen([HEAPWAKE, "dump", "--tsv", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    names = process.stdout.readline().rstrip("\n").split("\t")
    wanted = ("time_ns", "pid", "tid", "event", "address", "size", "stack", "kind", "usable")
    missing = [name for name in wanted if name not in names]
    if missing:
        raise SystemExit(f"heapwake dump --tsv {path} has no column {', '.join(missing)}: {names}")
    at = [names.index(name) for name in wanted]
    for line in process.stdout:
        words = line.rstrip("\n").split("\t")
        time, pid, tid, event, address, size, stack, kind, usable = (words[i] for i in at)
        yield Event(int(time), int(pid), int(tid), event, int(address or "0", 16), int(size or 0), stack, kind,
                    int(usable))
    said = process.stderr.read().splitlines()
    if process.wait() == 1 and torn and said and all(any(words in line for words in TORN) for line in said):
        return
    if process.returncode != 0:
        raise SystemExit(f"heapwake dump --tsv {path}: exit {process.returncode} {said[:4]}")


class Ledger:
    """Accounts of a stream of events: how many blocks of each size were made and
    released, which are left, and every break of the rule that for one address
    allocation and release take turns. Per process with `pid`."""

    def __init__(self, stream, pid=None):
        self.made, self.freed = collections.Counter(), collections.Counter()
        self.by_pid = collections.defaultdict(lambda: (collections.Counter(), collections.Counter()))
        self.kinds, self.usable = collections.defaultdict(list), collections.defaultdict(list)
        self.live = {}
        self.strays = []  # an address made twice, or released without having been made
        self.others = []
        for e in stream:
            if pid is not None and e.pid != pid:
                continue
            key = (e.pid, e.address)
            if e.event == "alloc":
                if key in self.live:
                    self.strays.append(f"{e.address:#x} was made twice, sizes {self.live[key].size} and {e.size}")
                self.live[key] = e
                self.made[e.size] += 1
                self.by_pid[e.pid][0][e.size] += 1
                self.kinds[e.size].append(e.kind)
                self.usable[e.size].append(e.usable)
            elif e.event == "free":
                old = self.live.pop(key, None)
                if old is None:
                    self.strays.append(f"{e.address:#x} was released and never made")
                else:
                    self.freed[old.size] += 1
                    self.by_pid[e.pid][1][old.size] += 1
            else:
                self.others.append(e)

    def left(self, size):
        return self.made[size] - self.freed[size]


def truths(run):
    """The JSON lines that a test program printed."""
    return [json.loads(line) for line in run.out.decode().splitlines() if line.startswith("{")]


def truth(run):
    """The one JSON object that a test program printed."""
    try:
        return json.loads(run.out)
    except ValueError:
        raise SystemExit(f"The program told no truth: status {run.status}\n{run.out.decode()}{run.err.decode()}")


# What caveats and the summary of a report both have.
CAVEATS = {("lost-events", "events"): "lost_events", ("unrecorded-processes", "processes"): "unrecorded_processes",
           ("switched-off", "off_ns"): "off_ns", ("cut-stacks", "stacks"): "cut_stacks", ("sampled", "samples"): "samples",
           ("sampled", "sample_rate"): "sample_rate", ("culled", "blocks"): "culled_blocks", ("culled", "bytes"): "culled_bytes",
           ("culled", "threshold_ns"): "cull_threshold_ns", ("limited", "events"): "limited_events", ("limited", "limit_ns"): "limit_ns",
           ("omitted-blocks", "blocks"): "omitted_blocks", ("timeline-omitted-blocks", "blocks"): "timeline_omitted_blocks",
           ("releases-without-stack", "releases"): "releases_without_stack"}


class Check:
    """Collects what is wrong; a scenario says all of it before it fails."""

    def __init__(self):
        self.wrong, self.count, self.where = [], 0, ""

    def about(self, where):
        self.where = where + ": " if where else ""

    def equal(self, what, expected, seen):
        self.holds(expected == seen, f"{what}: expected {shorten(expected)}, seen {shorten(seen)}.")
        return expected == seen

    def holds(self, condition, sentence):
        self.count += 1
        if not condition:
            self.wrong.append(self.where + sentence)

    def sound(self, path, complete=True):
        """verify accepts the file, and nothing is lost."""
        done = tool("verify", path)
        self.holds(done.status == 0, f"verify {path} fails: {(done.err + done.out).decode().strip()[:600]}")
        facts = info(path)
        self.equal("lost_events", 0, facts["lost_events"])
        if complete:
            self.equal("complete", True, facts["complete"])
        return facts

    def honest(self, path, torn=False):
        """verify finds nothing but that the recording stops before the program did, and where it may be
        `torn`, a part of a chunk at its end."""
        done = tool("verify", path)
        said = (done.err + done.out).decode().splitlines()
        wrong = [line for line in said if not any(words in line for words in UNFINISHED + (TORN if torn else ()))]
        self.holds(not wrong and done.status in (0, 1), f"verify {path}: {done.status} {wrong[:4]}")
        facts = info(path)
        self.holds(done.status == 1 or facts["complete"], f"{path} is not complete, and verify does not say so.")
        return facts

    def pairs(self, ledger):
        """Allocation and release take turns everywhere."""
        self.holds(not ledger.strays, f"{len(ledger.strays)} events do not pair: {ledger.strays[:3]}")

    def caveats(self, answer):
        """The caveats of a report's JSON by kind; where the summary has the same figures, they are equal."""
        found = {one["kind"]: one for one in answer["caveats"]}
        for (kind, key), figure in CAVEATS.items():
            seen = found.get(kind, {}).get(key, 0)
            if seen is not None:
                self.equal(f"{key} of the caveat {kind}", answer["summary"][figure], seen)
        self.equal("whether the caveats say that it is whole", answer["summary"]["complete"],
                   not {"damaged", "not-closed", "lost-events", "unrecorded-processes"} & set(found))
        return found

    def done(self):
        if self.count == 0:
            self.wrong.append("Nothing was checked.")
        for sentence in self.wrong[:40]:
            print(sentence)
        if len(self.wrong) > 40:
            print(f"... and {len(self.wrong) - 40} more.")
        sys.exit(1 if self.wrong else 0)


def shorten(value):
    text = repr(value)
    return text if len(text) < 300 else text[:300] + "..."
