#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""`heapwake export -f pprof`, read by `go tool pprof`: every function's bytes and
blocks are those that the program tells of itself; inlined functions, mappings
with build ids, what is left with --anonymize."""
import os
import re
import subprocess

from support import HEAPWAKE, Check, native, record, skip, tool, truth, workload

if native(["go", "version"]).status != 0:
    skip("There is no Go here, so no go tool pprof.")

check = Check()


def pprof(*argv):
    done = native(["go", "tool", "pprof", *argv], env={"PPROF_BINARY_PATH": "/nowhere", "PPROF_TMPDIR": os.getcwd()})
    check.equal(f"exit status of pprof {argv}", 0, done.status)
    return done.out.decode()


def top(sample, path):
    """function -> (flat, cumulative), exact."""
    unit = "B" if sample.endswith("space") else "count"
    text = pprof("-top", f"-sample_index={sample}", f"-unit={unit}", "-trim=false", path)
    check.holds(f"Type: {sample}" in text, f"pprof does not show {sample}: {text[:300]}")
    found = {}
    for line in text.splitlines():
        match = re.match(r"\s*(\d+)B?\s+\S+%\s+\S+%\s+(\d+)B?\s+\S+%\s+(.+)$", line)
        if match:
            found[re.sub(r" \(inline\)$", "", match[3])] = (int(match[1]), int(match[2]))
    return found


def export(output, *options):
    done = tool("export", "-f", "pprof", "-o", output, *options)
    check.equal(f"exit status of export {options}", 0, done.status)
    check.equal("sentences on stderr", 1, len([line for line in done.err.splitlines() if b"suppressed" not in line]))


def check_truth(told):
    values = {name: top(name, "all.pb.gz") for name in
              ("alloc_objects", "alloc_space", "inuse_objects", "inuse_space", "peak_space", "leaked_space")}
    for function, account in told["functions"].items():
        for sample, expected in (("alloc_space", account["allocated"][0]), ("alloc_objects", account["allocated"][1]),
                                 ("inuse_space", account["leaks"][0]), ("inuse_objects", account["leaks"][1]),
                                 ("leaked_space", account["leaks"][0]), ("peak_space", account["peak"][0])):
            seen = values[sample].get(function, (0, 0))[0]
            check.equal(f"{sample} of {function}", expected, seen)
    whole = pprof("-top", "all.pb.gz")
    check.holds("Type: peak_space" in whole, "The peak is not what pprof shows first.")
    check.holds("File: blame" in whole, f"The program is not the first mapping: {whole[:200]}")


def check_raw():
    raw = pprof("-raw", "all.pb.gz")
    listed = subprocess.run(["readelf", "-n", workload("blame")], capture_output=True, text=True, check=True).stdout
    build_id = re.search(r"Build ID: (\w+)", listed)
    mapping = re.search(r"^\d+: 0x\w+/0x\w+/0x\w+ (\S*blame) (\w*)", raw, re.M)
    check.holds(mapping is not None, "There is no mapping of the program.")
    if mapping and build_id:
        check.equal("build id", build_id[1], mapping[2])
    check.holds(re.search(r"^PeriodType: space bytes$", raw, re.M), "The period is not in bytes.")


def check_window(told):
    """A filter and a moment: what lives at the end of the window is in use."""
    export("leaks.pb.gz", "--where", "state=leaked", "--where", "size-min=100000", "blame.wake")
    seen = top("alloc_space", "leaks.pb.gz")
    check.equal("large leaks", told["functions"]["leak_large"]["leaks"][0], seen["leak_large"][0])
    check.holds("hold" not in seen and "churn" not in seen, f"The filter does not hold: {sorted(seen)}")


def check_inlines():
    """Inlined functions are lines of one location, with the function they are in as the last."""
    record([workload("../../examples/kitchen")], "kitchen.wake")
    export("kitchen.pb.gz", "kitchen.wake")
    raw = pprof("-raw", "kitchen.pb.gz")
    place = re.search(r"open_for_a_day.*\n\s+main ", raw)
    check.holds(place is not None, "open_for_a_day is not inlined into main in one location.")


def check_veil():
    for level, kept in (("partial", True), ("full", False)):
        export("veiled.pb.gz", "--anonymize", level, "blame.wake")
        raw = pprof("-raw", "veiled.pb.gz")
        for secret in ("leak_small", "leak_large", "nothing_at_all", "blame.c", os.getcwd()):
            check.holds(secret not in raw, f"{level}: {secret} is still there.")
        check.equal(f"{level}: libc has its name", kept, "libc.so.6" in raw)
        values = sorted(flat for flat, _ in top("leaked_space", "veiled.pb.gz").values())
        check.equal(f"{level}: values", sorted(flat for flat, _ in top("leaked_space", "all.pb.gz").values()), values)


told = truth(record([workload("blame")], "blame.wake"))
export("all.pb.gz", "blame.wake")
check_truth(told)
check_raw()
check_window(told)
check_inlines()
check_veil()
piped = subprocess.run([HEAPWAKE, "export", "-f", "pprof", "blame.wake"], capture_output=True)
check.equal("what a pipe gets", open("all.pb.gz", "rb").read(), piped.stdout)
check.done()
