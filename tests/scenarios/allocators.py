#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Over jemalloc, tcmalloc and mimalloc, preloaded before or after the probe, all
hooks work as over glibc's allocator, and the program gets the other allocator's
blocks."""
import glob
import os

from hooks import check_blocks
from support import PROBE, Check, native, record, skip, truth, workload

LIBRARIES = ("libjemalloc.so.2", "libtcmalloc_minimal.so.4", "libmimalloc.so.2*")


def find(pattern):
    found = sorted(path for folder in ("/usr/lib/*", "/usr/lib", "/usr/lib64", "/lib")
                   for path in glob.glob(f"{folder}/{pattern}"))
    return found[0] if found else None


there = [path for path in map(find, LIBRARIES) if path]
if not there:
    skip("None of jemalloc, tcmalloc and mimalloc is installed.")
check = Check()
for library in there:
    for name in ("hooks", "hooks_cxx"):
        alone = native([workload(name), "portable"], {"LD_PRELOAD": library})
        said = truth(alone)["complaints"]  # what this allocator does in its own way
        usable = [block["usable"] for block in truth(alone)["blocks"]]
        for how, preload in (("after", library), ("before", f"{library}:{PROBE}")):
            check.about(f"{name} with {os.path.basename(library)} {how} the probe")
            run = record([workload(name), "portable"], env={"LD_PRELOAD": preload})
            told = truth(run)
            check.equal("complaints", said, told["complaints"])
            check.equal("usable sizes", usable, [block["usable"] for block in told["blocks"]])
            check.equal("exit status", alone.status, run.status)
            check_blocks(check, run, "out.wake", complaints=said)
            check.sound("out.wake")
check.done()
