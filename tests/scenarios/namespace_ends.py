#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""A container whose first process is a shell: when it ends, the kernel kills everything in its
PID namespace, a collector that LD_PRELOAD alone has started too. The recording of a program that
has ended by itself has its name and all events by then, however it ended; of one that is killed with
the namespace a .partial is left, which every command reads."""
# timeout: 900
import glob
import os
import subprocess

from support import PROBE, Check, Ledger, events, info, native, skip, tool, truth, workload

RUNS = int(os.environ.get("REPEAT", "20"))
WAYS = ("return", "exit", "_exit", "quick_exit", "abort")
APART = ["unshare", "-p", "-f", "--mount-proc"]
SOURCE = """#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
extern void *volatile late_block;
static void *volatile block;
static void at_the_end(void)
{
    free(block);
}
int main(int argc, char **argv)
{
    const char *way = argv[1];
    for (int i = 0; strcmp(way, "forever") == 0; i++) {
        free(malloc(7457));
        usleep(1000);
    }
    late_block = malloc(7411);
    block = malloc(7417);
    atexit(at_the_end);
    at_quick_exit(at_the_end);
    if (strcmp(way, "quick") == 0)
        quick_exit(0);
    if (strcmp(way, "_Exit") == 0)
        _Exit(0);
    if (strcmp(way, "parent") == 0 && fork() == 0) { /* outlives its parent */
        usleep(400000);
        free(malloc(7433));
        fclose(fopen("done", "w"));
        _exit(0);
    }
    if (strcmp(way, "vfork") == 0 && vfork() == 0)
        _exit(0);
    free(malloc(7451));
    return argc - 2;
}
"""
LIBRARY = """#include <stdlib.h>
void *volatile late_block;
static void __attribute__((destructor)) late(void)
{
    free(late_block);
}
"""

check = Check()
if os.geteuid() != 0 or native([*APART, "true"]).status != 0:
    skip("only root may make a PID namespace.")
for name, text in (("late.c", LIBRARY), ("app.c", SOURCE)):
    with open(name, "w", encoding="ascii") as f:
        f.write(text)
subprocess.run(["gcc", "-O0", "-shared", "-fPIC", "-o", "liblate.so", "late.c"], check=True)
subprocess.run(["gcc", "-O0", "-o", "app", "app.c", "-L.", "-llate", "-Wl,-rpath," + os.getcwd()], check=True)


def container(command, output="out.wake"):
    """What a shell does there as the first process, with the probe in `$P`."""
    for path in glob.glob(glob.escape(output) + "*") + glob.glob("done"):
        os.unlink(path)
    script = command.replace("$P", f"LD_PRELOAD={PROBE} HEAPWAKE_OUTPUT={output}")
    return native([*APART, "sh", "-c", script])


def whole(path="out.wake"):
    """The recording, if it has its name and is complete."""
    check.equal("files", [path], sorted(glob.glob(path + "*")))
    if not os.path.exists(path):
        return False
    check.holds(info(path)["complete"], "The recording is not complete.")
    return True


for way in WAYS:
    kept = 0
    for i in range(RUNS):
        check.about(f"{way}, run {i}")
        run = container(f"$P {workload('ends')} {way} 4 2000; true")
        check.equal("exit status", 0, run.status)
        told = truth(run)
        if not whole():
            continue
        ledger = Ledger(events("out.wake"))
        check.equal("made", told["made"], ledger.made[told["size"]])
        check.equal("released", told["freed"], ledger.freed[told["size"]])
        check.pairs(ledger)
        kept += 1
    check.sound("out.wake")
    print(f"{way}: {kept} of {RUNS} recordings have their name")

for way, late, ends, last in (("return", 1, 1, 1), ("quick", 0, 1, 0), ("_Exit", 0, 0, 0), ("vfork", 1, 1, 1), ("parent", 1, 1, 1)):
    check.about(f"destructors and handlers, {way}")
    wait = "while [ ! -e done ]; do sleep 0.05; done; sleep 0.2" if way == "parent" else "true"
    run = container(f"$P ./app {way}; {wait}")
    check.equal("exit status", 0, run.status)
    if whole():
        ledger = Ledger(events("out.wake"))
        check.equal("freed by a library's destructor", (1, late), (ledger.made[7411], ledger.freed[7411]))
        check.equal("freed by a handler", (1, ends), (ledger.made[7417], ledger.freed[7417]))
        check.equal("freed by main", last, ledger.freed[7451])
        check.equal("freed by the child", int(way == "parent"), ledger.freed[7433])
        check.equal("processes", 2 if way == "parent" else 1, info("out.wake")["processes"])
        check.sound("out.wake")

check.about("killed with the namespace")
run = container("$P ./app forever & sleep 3; true")
PARTIAL = "out.wake.partial"
check.equal("files", [PARTIAL], glob.glob("out.wake*"))
said = tool("info", PARTIAL)
check.equal("status of info", 0, said.status)
check.holds(b"the last 1.00 s before its end may be missing" in b" ".join(said.out.split()), f"info: {said.out.decode()}")
check.holds(info(PARTIAL)["complete"] is False, "The recording is called complete.")
made = Ledger(events(PARTIAL, torn=True)).made[7457]
check.holds(made > 100, f"Of 3 s at 1000 blocks a second {made} blocks are in the recording.")
COMMANDS = {"report": [], "report --json": [], "report --leaks": [], "diff": [PARTIAL], "dump": [], "history": ["0x1000"], "replay": [], "symbolize": [],
            "strip --threshold 1ms -o strip.wake": [], "merge -o merge.wake": [], "anonymize -o anonymous.wake": [],
            **{f"export -f {name} -o export.{name}": [] for name in ("heaptrack", "json", "html", "pprof", "sqlite", "perfetto", "speedscope", "massif", "flamegraph")}}
for command, more in COMMANDS.items():
    done = tool(*command.split(), PARTIAL, *more)
    check.equal(f"status of {command}: {done.err.decode()}", 0, done.status)
done = tool("verify", PARTIAL)
check.equal("verify", (1, True), (done.status, b"The recorder did not close the file." in done.err))
done = tool("check", "--max-leak", "1G", PARTIAL)
check.equal("check", (2, True), (done.status, b"not complete" in done.err))
done = tool("extract", PARTIAL)
check.holds(b"no binaries" in done.err, f"extract: {done.err.decode()}")
check.done()
