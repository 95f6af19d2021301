#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
# timeout: 600
"""HEAPWAKE_TRACE in a build that has it says what the probe does, class by class; an
ordinary build has nothing of it."""
import os
import re

from scenarios.support import HEAPWAKE, PROBE, Check, native, workload

check = Check()
with open(PROBE, "rb") as f:
    check.holds(b"HEAPWAKE_TRACE" not in f.read(), "The ordinary library has traces in it.")

UNTRACED = "HEAPWAKE_TRACE is set, but this build of heapwake's library has no traces"


def complaints(probe, trace):
    """of a program with a child"""
    run = native([HEAPWAKE, "record", "-q", "-o", "u.wake", "sh", "-c", "true; /bin/true; echo done"],
                 {"HEAPWAKE_PROBE": probe, "HEAPWAKE_TRACE": trace})
    check.equal(f"what the program says with {trace!r}", (0, b"done\n"), (run.status, run.out))
    return run.err.decode().count(UNTRACED)


check.equal("an ordinary build says that it does not trace, once", 1, complaints(PROBE, "hooks:2"))
check.equal("nothing was asked for", 0, complaints(PROBE, ""))
done = native(["meson", "setup", "-Dtraces=true", "-Dunit_tests=disabled", "traced", os.environ["ROOT"]])
check.equal("meson setup", 0, done.status)
done = native(["ninja", "-C", "traced", "libheapwake.so"])
check.equal("ninja", 0, done.status)
probe = os.path.abspath("traced/libheapwake.so")
check.equal("a build with traces", 0, complaints(probe, "life:1"))


def said(trace):
    run = native([HEAPWAKE, "record", "-q", "-o", "t.wake", workload("turnover"), "300", "2"],
                 {"HEAPWAKE_PROBE": probe, "HEAPWAKE_TRACE": trace})
    check.equal(f"{trace}: status", 0, run.status)
    return [line for line in run.err.decode().splitlines() if re.match(r"heapwake \d+ \w+: ", line)]


check.equal("without a class", [], said(""))
check.equal("an unknown class", [], said("banana:3,hooks,hooks:x"))
life = said("life:1")
check.holds(len(life) == 1 and "born, recording 1" in life[0], f"life: {life[:3]}")
threads = said("hooks:1")
check.equal("two threads", 2, sum("has lane" in line for line in threads))
every = said("hooks:2,unwind:3")
check.holds(sum(" alloc 0x" in line for line in every) >= 600, f"{len(every)} lines for 600 blocks.")
check.holds(any(" free 0x" in line for line in every), "No free is told.")
check.holds(any(" frames, cut 0" in line for line in every), "No new stack is told.")
check.holds(any(" ends at 0x" in line for line in every), "No frame is told.")
check.holds(any(" segment at 0x" in line for line in said("share:2")), "No segment is told.")
check.done()
