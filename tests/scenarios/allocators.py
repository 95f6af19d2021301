#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Over jemalloc, tcmalloc and mimalloc, preloaded before or after the probe, all
hooks work as over glibc's allocator, and the program gets the other allocator's
blocks. In front of the probe, or in the program itself, they are not seen, and
work as if it were not there."""
import os

from hooks import check_blocks
from support import PROBE, Check, allocators, native, record, skip, truth, workload

there = allocators()
if not there:
    skip("None of jemalloc, tcmalloc and mimalloc is installed.")
check = Check()
for library in there:
    for name in ("hooks", "hooks_cxx"):
        program = [workload(name), "portable"]
        alone = native(program, {"LD_PRELOAD": library})
        if alone.status != 0:  # mimalloc 2.0 lacks some forms of delete and aborts by itself
            check.about(f"{name} over {os.path.basename(library)}, which fails alone")
            check.equal("exit status", alone.status, record(program, env={"LD_PRELOAD": library}).status)
            continue
        usable = [block["usable"] for block in truth(alone)["blocks"]]
        said = truth(alone)["complaints"]  # what this allocator does in its own way
        check.about(f"{name} over {os.path.basename(library)}")
        run = record(program, env={"LD_PRELOAD": library})
        check.equal("exit status", alone.status, run.status)
        check.equal("usable sizes", usable, [block["usable"] for block in truth(run)["blocks"]])
        check_blocks(check, run, "out.wake", complaints=said)
        check.sound("out.wake")

        check.about(f"{name} with {os.path.basename(library)} in front of the probe")
        run = record(["env", f"LD_PRELOAD={library}:{PROBE}", *program])
        check.equal("exit status", alone.status, run.status)
        if run.status == alone.status:
            check.equal("complaints", said, truth(run)["complaints"])
            check.equal("usable sizes", usable, [block["usable"] for block in truth(run)["blocks"]])
check.about("a program with a malloc of its own")
alone, run = native([workload("own_malloc")]), record([workload("own_malloc")])
check.equal("alone", b"1 7069\n", alone.out)
check.equal("output", alone.out, run.out)
check.equal("exit status", alone.status, run.status)
check.done()
