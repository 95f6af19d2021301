#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""What heapwake cannot record, or should not: sanitizers, programs of another user,
static ones without the probe; two of it at once, and it under itself. Each is one
clear line, the program runs as it would alone, and nothing hangs."""
import os
import pwd
import shutil

from scenarios.support import HEAPWAKE, PROBE, Check, info, native, record, truth, workload

check = Check()
LIMIT = ["timeout", "-s", "KILL", "120"]


def refused(what, argv, words):
    check.about(what)
    alone = native(argv)
    run = native([*LIMIT, HEAPWAKE, "record", "-o", "refused.wake", "--", *argv])
    check.equal("status and output", (alone.status, alone.out), (run.status, run.out))
    said = run.err.decode()[len(alone.err.decode()):].splitlines()
    check.holds(len(said) == 1 and all(word in said[0] for word in words), f"It is said: {said}")
    check.about("")


def write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


write("small.c", "#include <stdio.h>\n#include <stdlib.h>\n"
                 "int main(void) { char *p = malloc(10); p[0] = 3; puts(\"done\"); int r = p[0]; free(p); return r; }\n")
for compiler, option, name in (("gcc", "address", "AddressSanitizer"), ("clang", "address", "AddressSanitizer"),
                               ("clang", "thread", "ThreadSanitizer")):
    program = f"./{compiler}-{option}"
    if shutil.which(compiler) and native([compiler, f"-fsanitize={option}", "small.c", "-o", program]).status == 0 and \
            native([program]).status == 3:
        refused(f"{compiler} -fsanitize={option}", [program], (program, name))
native(["gcc", "-static", "small.c", "-o", "static"])
refused("a static program", ["./static"], ("./static", "statically linked", "@heapwake.ld"))
if os.geteuid() == 0:
    native(["gcc", "small.c", "-o", "other-user"])
    os.chown("other-user", pwd.getpwnam("nobody").pw_uid, -1)
    os.chmod("other-user", 0o4755)
    refused("set-user-ID", ["./other-user"], ("./other-user", "set-user-ID"))

# A second library of ours, of another name: one of the two records, the program does not notice.
shutil.copy(PROBE, "libtwin.so")
alone = truth(native([workload("turnover"), "2000"]))
both = native([*LIMIT, workload("turnover"), "2000"],
              {"LD_PRELOAD": f"{PROBE} {os.path.abspath('libtwin.so')}", "HEAPWAKE_OUTPUT": "both.wake",
               "HEAPWAKE_COLLECTOR": HEAPWAKE})
check.equal("two preloads: what the program says", alone, truth(both))
check.equal("the same library twice", alone, truth(record([workload("turnover"), "2000"], "twice.wake", env={"LD_PRELOAD": PROBE})))
check.sound("twice.wake")

# Under itself: the inner one records the program, the outer one the inner one.
run = native([*LIMIT, HEAPWAKE, "record", "-q", "-o", "outer.wake", HEAPWAKE, "record", "-q", "-o", "inner.wake",
              workload("turnover"), "2000"])
check.equal("under itself", alone, truth(run))
made = sum(account["blocks"] for account in alone.values())
check.holds(made <= info("inner.wake")["allocations"] < made + 1000, "The inner recording is of something else.")
check.sound("outer.wake")
check.done()
