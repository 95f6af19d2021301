#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""What cannot be recorded, or is asked for twice, gets one clear line and never hangs: programs
with a sanitizer, two copies of the probe, heapwake under itself, set-user-ID programs. A child
with a sanitizer runs as if alone."""
import glob
import os
import shutil
import subprocess
import sys
import time

from support import HEAPWAKE, PROBE, Check, Ledger, events, leave_out, native, record, tool

SOURCE = """#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    char *volatile block = malloc(7401);
    free(block);
    puts("ran");
    return 3;
}
"""


def build(name, *options, compiler="gcc"):
    """Whether there is such a compiler and it can do that."""
    with open("small.c", "w", encoding="ascii") as f:
        f.write(SOURCE)
    if shutil.which(compiler) is None:
        return False
    return subprocess.run([compiler, "-o", name, *options, "small.c"], capture_output=True, check=False).returncode == 0


def check_sanitizers(check):
    built = 0
    for compiler, option, more, name in (("gcc", "address", [], "AddressSanitizer"),
                                         ("gcc", "address", ["-static-libasan"], "AddressSanitizer"),
                                         ("gcc", "thread", [], "ThreadSanitizer"), ("gcc", "leak", [], "LeakSanitizer"),
                                         ("clang", "address", [], "AddressSanitizer"),
                                         ("clang", "memory", [], "MemorySanitizer")):
        check.about(f"{compiler} -fsanitize={option} {' '.join(more)}")
        if not build("sanitized", f"-fsanitize={option}", *more, compiler=compiler):
            continue
        built += 1
        done = native([HEAPWAKE, "record", "-o", "never.wake", "--", "./sanitized"])
        check.equal("exit status", 1, done.status)
        check.equal("output of the program", b"", done.out)
        check.holds(f"is built with {name}".encode() in done.err and done.err.count(b"\n") == 1, f"It says {done.err}.")
        check.holds(not os.path.exists("never.wake"), "There is a recording.")
    check.about("gcc -fsanitize=undefined, which has no allocator")
    if build("harmless", "-fsanitize=undefined"):
        check.equal("exit status", 3, record(["./harmless"]).status)
        check.equal("made", 1, Ledger(events("out.wake")).made[7401])
    return built


def starts_alone(name):
    """Whether what was built can run here: a sanitizer's own library may be missing."""
    return native([f"./{name}"]).status == 3


def is_fit_for_sanitizers():
    """Where the system scatters addresses over more than 28 bits, runtimes of some age fail
    now and then by themselves: they find their own place taken."""
    try:
        with open("/proc/sys/vm/mmap_rnd_bits", encoding="ascii") as f:
            return int(f.read()) <= 28
    except OSError:
        return False


def check_sanitized_children(check):
    """The runtime of a sanitizer may be a library, in front of which nothing may be loaded; it
    may be in the program. Neither notices that its parent is recorded, however it is started."""
    if not is_fit_for_sanitizers():
        leave_out("Children with sanitizers are not tried: here those do not even start alone each time.")
        return 1
    built = 0
    with open("spawner.py", "w", encoding="ascii") as f:
        f.write("""import os, sys
way, path = sys.argv[1:]
child = os.posix_spawn(path, [path], os.environ) if way == "spawn" else os.fork()
if child == 0:
    if way == "own":
        os.execve(path, [path], {"LD_PRELOAD": os.environ["LD_PRELOAD"], "KEPT": "1"})
    elif way == "descriptor":
        os.execve(os.open(path, os.O_RDONLY), [path], os.environ)
    elif way == "preloaded":
        os.execve(path, [path], {**os.environ, "LD_PRELOAD": os.environ["RUNTIME"]})
    elif way == "search":
        os.execlp(os.path.basename(path), path)
    os.execv(path, [path])
print("status", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
""")
    for compiler, option, more in (("gcc", "address", []), ("gcc", "address", ["-static-libasan"]), ("gcc", "thread", []),
                                   ("gcc", "leak", []), ("gcc", "address,undefined", ["-no-pie"]), ("clang", "address", []),
                                   ("clang", "memory", [])):
        if not build("sanitized", f"-fsanitize={option}", *more, compiler=compiler) or not starts_alone("sanitized"):
            continue
        built += 1
        with open("script", "w", encoding="ascii") as f:
            f.write(f"#!{os.path.abspath('sanitized')}\n")
        os.chmod("script", 0o755)
        if more == ["-no-pie"]:  # a program without a sanitizer, and the runtime in front of it
            where = subprocess.run(["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True).stdout.strip()
            run = record([sys.executable, "spawner.py", "preloaded", os.path.abspath("small")], env={"RUNTIME": os.path.realpath(where)})
            check.about("a child, the runtime preloaded")
            check.equal("exit status and output", (0, b"ran\nstatus 3\n"), (run.status, run.out))
        for way in ("exec", "spawn", "own", "descriptor", "search", "script")[:2 if built > 1 else None]:
            check.about(f"a child, {way}, {compiler} -fsanitize={option} {' '.join(more)}")
            path = os.path.abspath("script" if way == "script" else "sanitized")
            run = record([sys.executable, "spawner.py", way, path], env={"PATH": os.getcwd() + ":" + os.environ["PATH"]})
            check.equal("exit status and output", (0, b"ran\nstatus 3\n"), (run.status, run.out))
            check.sound("out.wake")
    return built


def check_two_probes(check):
    check.about("two copies, preloaded")
    shutil.copy(PROBE, "libheapwake.so.2")
    other = os.path.abspath("libheapwake.so.2")
    for number, pair in enumerate((f"{PROBE} {other}", f"{other}:{PROBE}")):
        folder = f"two{number}"
        os.mkdir(folder)
        done = native(["./small"], {"LD_PRELOAD": pair, "HEAPWAKE_COLLECTOR": HEAPWAKE,
                                    "HEAPWAKE_OUTPUT": os.path.abspath(f"{folder}/%e.wake")})
        check.equal("exit status and output", (3, b"ran\n", b""), (done.status, done.out, done.err))
        path = f"{folder}/small.wake"
        for _ in range(300):
            if os.path.exists(path):
                break
            time.sleep(0.1)
        check.equal("recordings", [path], glob.glob(f"{folder}/*"))
        ledger = Ledger(events(path))
        check.pairs(ledger)
        check.equal("made and freed", (1, 1), (ledger.made[7401], ledger.freed[7401]))
    check.about("two copies, record")
    done = native([HEAPWAKE, "record", "-o", "both.wake", "--", "./small"], {"LD_PRELOAD": other})
    check.equal("exit status and output", (3, b"ran\n"), (done.status, done.out))
    check.holds(f"LD_PRELOAD names '{other}' too".encode() in done.err, f"It says {done.err}.")
    check.equal("made", 1, Ledger(events("both.wake")).made[7401])
    check.about("the same copy twice")
    done = native([HEAPWAKE, "record", "-o", "same.wake", "--", "./small"], {"LD_PRELOAD": PROBE})
    check.holds(b"LD_PRELOAD names" not in done.err, f"It says {done.err}.")
    check.equal("made", 1, Ledger(events("same.wake")).made[7401])


def check_itself(check):
    check.about("record under record")
    done = native([HEAPWAKE, "record", "-o", "outer.wake", "--", HEAPWAKE, "record", "-o", "inner.wake", "--", "./small"])
    check.equal("exit status and output", (3, b"ran\n"), (done.status, done.out))
    check.equal("lines", 2, done.err.count(b"\n"))
    for path in ("outer.wake", "inner.wake"):
        check.sound(path)
    check.equal("made, in the inner one", 1, Ledger(events("inner.wake")).made[7401])
    check.equal("made, in the outer one", 0, Ledger(events("outer.wake")).made[7401])
    check.about("report under record")
    plain = tool("report", "inner.wake")
    done = native([HEAPWAKE, "record", "-q", "-o", "reader.wake", "--", HEAPWAKE, "report", "inner.wake"])
    check.equal("exit status and output", (0, plain.out), (done.status, done.out))
    check.sound("reader.wake")


def check_set_user(check):
    check.about("set-user-ID")
    if os.geteuid() != 0 or os.statvfs(".").f_flag & os.ST_NOSUID:
        return
    shutil.copy("small", "other-user")
    os.chown("other-user", 65534, 65534)
    os.chmod("other-user", 0o4755)
    os.chmod(".", 0o755)
    done = native([HEAPWAKE, "record", "-o", "su.wake", "--", "./other-user"])
    check.equal("exit status and output", (3, b"ran\n"), (done.status, done.out))
    check.holds(b"is set-user-ID" in done.err and done.err.count(b"\n") == 1, f"It says {done.err}.")


if __name__ == "__main__":
    check = Check()
    check.about("small")
    check.holds(build("small"), "The compiler cannot build a small program.")
    check.holds(check_sanitizers(check) > 0, "No sanitizer could be tried.")
    check.holds(check_sanitized_children(check) > 0, "No sanitized child could be tried.")
    check_two_probes(check)
    check_itself(check)
    check_set_user(check)
    check.done()
