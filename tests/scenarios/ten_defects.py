#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Ten defects that were confirmed in another heap profiler, each as a test that
heapwake passes. Number 5 is about an export to massif and stands with the
exports."""
import glob
import json
import os

from support import HEAPWAKE, Check, Ledger, events, info, leave_out, native, record, tool, truth, truths, workload

check = Check()
DEFECTS = workload("defects")


def report(*argv):
    done = tool("report", "--json", *argv)
    check.equal(f"exit status of report {argv}", 0, done.status)
    return json.loads(done.out)


def of_program(section, program=DEFECTS):
    """Sites with the program among their frames."""
    return [s for s in section["sites"] if any(os.path.realpath(f["module"]) == os.path.realpath(program) for f in s["frames"])]


def defect_1_the_last_events_of_a_sudden_end_are_there():
    for way in ("kill", "segv", "_exit", "quick_exit", "exec"):
        told = truths(record([workload("ends"), way, 1, 1001], "end.wake"))
        ledger, sites = Ledger(events("end.wake")), of_program(report("end.wake")["leaks"], workload("ends"))
        for line in told:
            check.equal(f"{way}: blocks made", line["made"], ledger.made[line["size"]])
        left = sum(line["made"] - line["freed"] for line in told)
        check.equal(f"{way}: leaked blocks in the report", left, sum(s["blocks"] for s in sites))


def temporary_of(way):
    told = truth(record([DEFECTS, way], f"{way}.wake"))
    whole = report(f"{way}.wake")
    check.equal(f"{way}: calls", told["made"], sum(s["blocks"] for s in of_program(whole["calls"])))
    check.equal(f"{way}: temporary", told["temporary"], sum(s["blocks"] for s in of_program(whole["temporary"])))
    check.equal(f"{way}: temporary in the summary", told["temporary"], whole["summary"]["temporary_blocks"])


def defect_2_a_rolling_pattern_is_not_temporary():
    temporary_of("rolling")


def defect_3_the_first_block_is_not_temporary_because_it_is_the_first():
    temporary_of("first")


def defect_4_suppressions_work_with_this_format():
    record([DEFECTS, "deep"], "deep.wake")
    with open("lsan.txt", "w") as f:
        f.write("# of a program that we ship\nleak:defects\n")
    before = report("--leaks", "deep.wake")["leaks"]
    after = report("--leaks", "--suppressions", "lsan.txt", "deep.wake")["leaks"]
    check.equal("leaked without the file", 7069, sum(s["bytes"] for s in of_program(before)))
    check.equal("leaked with the file", 0, sum(s["bytes"] for s in of_program(after)))
    check.equal("suppressed", [("defects", 7069)],
                [(r["pattern"], r["bytes"]) for r in after["suppressed"]["rules"] if not r["built_in"]])


def defect_6_deep_stacks_keep_their_root():
    record([DEFECTS, "deep"], "deep.wake")
    site, = of_program(report("--leaks", "deep.wake")["leaks"])
    check.holds(len(site["frames"]) >= 503, f"500 calls give {len(site['frames'])} frames.")
    entry = int([line.split()[-1] for line in native(["readelf", "-h", DEFECTS]).out.decode().splitlines()
                 if "Entry point" in line][0], 16)
    root = site["frames"][-1]
    check.holds(entry <= int(root["address"], 16) < entry + 64, f"the outermost frame is not the entry: {root}")
    nodes = report("--leaks", "--top-down", "deep.wake")["leaks"]["nodes"]
    check.equal("root of the tree", root["address"], next(n for n in nodes if n["bytes"] == 7069)["address"])


def defect_7_realloc_hands_addresses_over_in_order():
    told = truth(record([DEFECTS, "realloc"], "realloc.wake"))
    facts = check.sound("realloc.wake")
    check.pairs(Ledger(events("realloc.wake")))
    check.equal("frees of unknown blocks", 0, facts["unknown_frees"] + facts["implied_frees"])
    whole = report("realloc.wake")
    check.equal("calls", told["reallocs"], sum(s["blocks"] for s in of_program(whole["calls"]) if s["blocks"] > 100))
    check.equal("leaks of the program", [], of_program(whole["leaks"]))


def defect_8_the_file_has_the_pid_of_the_program():
    run = native([HEAPWAKE, "record", "-q", "--", DEFECTS, "family"], env={"HEAPWAKE_CHILDREN": "no"})
    pid = truth(run)["pid"]
    check.equal("name of the file", [f"defects.{pid}.wake"], glob.glob("defects.*.wake"))
    check.equal("pid in the file", pid, info(f"defects.{pid}.wake")["pid"])


def defect_9_a_failing_write_is_counted_and_said():
    """On a disk of 100 KiB, where the system lets us make one."""
    os.makedirs("small", exist_ok=True)
    script = (f"mount -t tmpfs -o size=100k none small && '{HEAPWAKE}' record -o small/noise.wake -- '{DEFECTS}' noise;"
              " status=$?; cp small/noise.wake noise.wake; exit $status")
    spaces = [words for words in (["unshare", "-m"], ["unshare", "-rm"])
              if native([*words, "mount", "-t", "tmpfs", "none", "small"]).status == 0]
    if not spaces:
        leave_out("A small disk cannot be made here: defect 9 is not tested.")
        return
    run = native([*spaces[0], "sh", "-c", script])
    check.equal("exit status of the program", 0, run.status)
    check.holds(b"No space left" in run.err, f"record does not say that writing failed: {run.err}")
    summary = report("noise.wake")["summary"]
    check.equal("complete", False, summary["complete"])
    check.holds(summary["lost_events"] > 0, "no event is counted as lost.")
    check.holds(b"events lost" in tool("report", "noise.wake").out, "the page does not say that events are lost.")


def defect_10_children_and_programs_after_exec_are_recorded():
    told = truth(record([DEFECTS, "family"], "family.wake"))
    whole = report("--leaks", "family.wake")["leaks"]
    check.equal("leaks of three images", [1009, 2003, 4001], sorted(s["bytes"] for s in of_program(whole)))
    groups = report("--leaks", "--by", "process", "family.wake")["leaks"]["groups"]
    check.equal("processes", sorted([told["pid"], told["child"], told["child"]]), sorted(g["pid"] for g in groups))


for name, test in sorted(globals().items()):
    if name.startswith("defect_"):
        check.about(name)
        test()
check.done()
