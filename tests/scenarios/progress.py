#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""What takes longer than a second says how far it has come: on standard error, if that is a terminal, in one line that
is gone at the end. Reading is made slow (strace --inject), so that a small recording takes long."""
import fcntl
import os
import pty
import shutil
import struct
import subprocess
import termios

from support import HEAPWAKE, Check, leave_out, record, tool, workload

CLEAR = b"\r\x1b[K"
# What is run, and what is said to be done.
COMMANDS = (
    (["report", "--calls", "--where", "size-min=1", "out.wake"], b"Reading events"),
    (["export", "-f", "csv", "-o", "out.csv", "out.wake"], b"Reading events"),
    (["dump", "--tsv", "out.wake"], b"Reading events"),
    (["verify", "out.wake"], b"Checking"),
    (["strip", "--threshold", "1us", "out.wake", "-o", "thin.wake"], b"Copying"),
    (["anonymize", "out.wake", "-o", "nobody.wake"], b"Copying"),
    (["merge", "out.wake", "copy.wake", "-o", "twice.wake"], b"Copying"),
    (["import", "-f", "heaptrack", "out.heaptrack", "-o", "again.wake"], b"Importing"),
)
# A clock that runs so many times as fast: what takes a moment takes long.
CLOCK = """#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t clock, struct timespec *t)
{
    int done = (int)syscall(SYS_clock_gettime, clock == CLOCK_MONOTONIC_COARSE ? CLOCK_MONOTONIC : clock, t);
    unsigned long long ns = (t->tv_sec % 100000 * 1000000000ull + t->tv_nsec) * atoi(getenv("TIMES"));
    if (clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_COARSE)
        *t = (struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    return done;
}
"""
FUNCTIONS = 4000
check = Check()


def run(argv, is_slow=True, is_terminal=True, is_shown=False, term="xterm", columns=0, env=None):
    """Its status and what it says on standard error, if that is a terminal or not; is_shown: there it prints too."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # one CPU: nothing is read ahead by another thread
    slow = ["strace", "-qq", "-o", "log", "-e", "trace=pread64", "-e", "inject=pread64:delay_enter=40000"]
    ours, theirs = pty.openpty() if is_terminal else os.pipe()
    if columns != 0:
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen([*(slow if is_slow else []), HEAPWAKE, *argv], stdin=subprocess.DEVNULL, stderr=theirs,
                               stdout=theirs if is_shown else subprocess.DEVNULL, env={**os.environ, "TERM": term, **(env or {})})
    os.close(theirs)
    said = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # what a terminal gives at its end
            break
        if not piece:
            break
        said += piece
    os.close(ours)
    return process.wait(60), said


def check_command(argv, what):
    check.about(argv[0])
    status, said = run(argv)
    check.equal("exit status", 0, status)
    bars = [line for line in said.split(CLEAR) if line.startswith(what + b" [")]
    check.holds(bars, f"It says {said[:300]!r}.")
    shares = [int(line.rsplit(b"]", 1)[1].split(b"%")[0]) for line in bars if line.rstrip().endswith(b"%")]
    check.holds(len(shares) == len(bars) and all(share <= 100 for share in shares), f"It goes through {shares}.")
    check.holds(shares == sorted(shares) or argv[0] == "merge", f"It goes back: {shares}.")  # merge: one file, then the next
    check.holds(b"]" not in said.rsplit(CLEAR, 1)[-1], f"The line is still there: {said[-100:]!r}.")
    if argv[0] in ("report", "verify", "import"):
        check_silent("no terminal", argv, {"is_terminal": False})


def check_names():
    """What record says while it looks up names does not stand behind the line, whenever it says it."""
    many = "".join(f"void f{i}(void) {{ kept = malloc({i + 1}); }}\n" for i in range(FUNCTIONS))
    calls = "".join(f"f{i}();" for i in range(FUNCTIONS))
    with open("many.c", "w", encoding="ascii") as f:
        f.write(f"#include <stdlib.h>\nvoid *volatile kept;\n{many}int main(void) {{ {calls} return 0; }}\n")
    with open("clock.c", "w", encoding="ascii") as f:
        f.write(CLOCK)
    subprocess.run(["gcc", "-g", "-O0", "-o", "many", "many.c"], check=True)
    subprocess.run(["gcc", "-O1", "-w", "-D_GNU_SOURCE", "-shared", "-fPIC", "-o", "clock.so", "clock.c"], check=True)
    seen = 0
    for times in (20, 50, 100, 200, 400):
        status, said = run(["record", "-o", "many.wake", "./many"], is_slow=False,
                           env={"LD_PRELOAD": os.path.abspath("clock.so"), "TIMES": str(times)})
        check.equal("exit status", 0, status)
        seen += b"] " in said.split(b"heapwake: Looking", 1)[0] and b"heapwake: Looking" in said
        lines = [line.rsplit(CLEAR, 1)[-1] for line in said.replace(b"\r\n", b"\n").split(b"\n")]
        check.holds(all(line.startswith(b"heapwake: ") or line == b"" for line in lines), f"A sentence stands behind the line: {said!r}")
    if seen == 0:
        leave_out("a sentence of record's behind the line of progress: it came before it each time.")


def check_narrow(argv, what):
    """A line that went on in the next row would stay there."""
    for columns in (40, 20, 5):
        status, said = run(argv, columns=columns)
        check.equal(f"{columns} columns: exit status", 0, status)
        lines = said.split(CLEAR)[1:]
        check.holds(lines and all(len(line) < columns for line in lines), f"{columns} columns: It says {lines[:2]}.")
        check.holds(columns < 20 or any(line.startswith(what[:4]) for line in lines), f"{columns} columns: It says {lines[:2]}.")


def check_silent(how, argv, options):
    status, said = run(argv, **options)
    check.equal(f"{how}: exit status", 0, status)
    check.holds(b" [" not in said and b"\x1b" not in said, f"{how}: {said[:300]!r}")


if check.equal("status of record", 0, record([workload("order"), "4", "300000"]).status):
    shutil.copy("out.wake", "copy.wake")
    check.equal("export", 0, tool("export", "-f", "heaptrack", "-o", "out.heaptrack", "out.wake").status)
    for argv, what in COMMANDS:
        check_command(argv, what)
    check.about("names")
    check_names()
    check.about("narrow terminals")
    check_narrow(*COMMANDS[3])
    check.about("report")
    check_silent("a simple terminal", COMMANDS[0][0], {"term": "dumb"})
    record([workload("ends"), "return", "1", "200"], "few.wake")
    for command in ("report", "dump", "verify"):
        check.about(command)
        check_silent("quick", [command, "few.wake"], {"is_slow": False})
    check.about("dump to a terminal")  # whose lines say enough
    check.holds(b"\x1b" not in run(["dump", "few.wake"], is_shown=True)[1], "A line of progress is among what it prints.")
    check.about("verify that finds something")
    with open("out.wake", "r+b") as f:
        f.seek(os.path.getsize("out.wake") // 2)
        f.write(b"something else")
    status, said = run(["verify", "out.wake"])
    check.equal("exit status", 1, status)
    lines = [line.rsplit(CLEAR, 1)[-1] for line in said.replace(b"\r\n", b"\n").split(b"\n") if line]
    check.holds(all(line.startswith(b"heapwake: ") or line == b"" for line in lines), f"A sentence stands behind the line: {said!r}")
check.done()
