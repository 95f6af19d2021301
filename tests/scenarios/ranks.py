#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""A job of several ranks: %j and %r in the name of the recording, from the
environment of each process; `report --worst` finds the one that stands out."""
import glob
import json
import os
import resource
import shutil

from scenarios.support import HEAPWAKE, Check, native, record, tool, workload

check = Check()

for rank, blocks in (("0", "2000"), ("1", "30000"), ("2", "3000")):
    run = record([workload("turnover"), blocks], "job%j-%r.wake", env={"SLURM_JOB_ID": "17", "SLURM_PROCID": rank})
    check.equal(f"rank {rank}", 0, run.status)
names = sorted(name for name in os.listdir(".") if name.startswith("job"))
check.equal("recordings", ["job17-0.wake", "job17-1.wake", "job17-2.wake"], names)

done = tool("report", "--json", "--worst", "peak", "job17-*.wake")
report = json.loads(done.out)
peaks = {name: json.loads(tool("info", "--json", name).out)["peak_bytes"] for name in names}
check.equal("the worst", [max(peaks, key=peaks.get)], report["files"])
check.equal("its peak", max(peaks.values()), report["summary"]["peak_bytes"])
check.equal("files in the summary", 1, report["summary"]["files"])
resident = {name: json.loads(tool("info", "--json", name).out)["peak_rss_bytes"] for name in names}
chosen = json.loads(tool("report", "--json", "--worst", "rss", *names).out)["files"][0]
check.equal("the largest resident set", max(resident.values()), resident[chosen])
text = tool("report", "--worst", "rss", "job17-?.wake").out.decode()
check.holds(text.startswith("job17-") and "has the largest resident set of 3 recordings" in text.splitlines()[0],
            f"The report does not say which it is: {text[:200]}")
together = json.loads(tool("report", "--json", "job17-*.wake").out)
check.equal("all together", 3, together["summary"]["files"])

# One launcher, several ranks below it: a file each, named by their own environment.
launcher = ("for r in 0 1; do OMPI_COMM_WORLD_RANK=$r PBS_JOBID=9.head %s 1000 & done; wait" % workload("turnover"))
check.equal("launcher", 0, record(["sh", "-c", launcher], "many-%j-%r.wake").status)
seen = {name for name in os.listdir(".") if name.startswith("many")}
check.holds({"many-9.head-0.wake", "many-9.head-1.wake"} <= seen, f"Files of the ranks: {seen}")

# More ranks than files may be open as a rule; and than may be at all.


def few_files(most, *words):
    return native([HEAPWAKE, *words], preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, most)))


os.mkdir("crowd")
for i in range(300):
    shutil.copy("job17-0.wake", f"crowd/{i}.wake")
leaks = json.loads(tool("report", "--json", "--leaks", "--no-built-in-suppressions", "job17-0.wake").out)["leaks"]["total_blocks"]
done = few_files(4096, "report", "--json", "--leaks", "--no-built-in-suppressions", "crowd/*.wake")
check.equal("leaks of 300 ranks", (0, 300 * leaks), (done.status, json.loads(done.out or b'{"leaks": {}}')["leaks"].get("total_blocks")))
done = few_files(4096, "merge", *glob.glob("crowd/*.wake"), "-o", "crowd.wake")
check.equal("merge of 300 ranks", (0, b""), (done.status, done.err))
done = few_files(64, "report", "crowd/*.wake")
check.holds(done.status == 1 and b"'ulimit -n'" in done.err and done.err.count(b"\n") == 1, f"More than may be: {done.status} {done.err}")

# Two steps of a job, one after the other: a rank is one file all the same.
steps = "for step in 1 2; do for r in 0 1 2; do OMPI_COMM_WORLD_RANK=$r %s 1000 & done; wait; done" % workload("turnover")
check.equal("steps", 0, record(["sh", "-c", steps], "steps-%r.wake").status)
seen = sorted(name for name in os.listdir(".") if name.startswith("steps"))
check.equal("a file for each rank", ["steps-0.wake", "steps-1.wake", "steps-2.wake"], seen)
for name in seen[1:]:
    programs = [p["command"] for p in json.loads(tool("info", "--json", name).out)["processes_list"]]
    check.equal(f"{name}: programs", 2, sum(command.endswith(" 1000") for command in programs))
    check.sound(name)

# Without a cluster both are 0; nothing in a variable leads out of the folder.
record([workload("turnover"), "100"], "alone-%j-%r.wake", env={"PMI_RANK": "../../x"})
check.holds(os.path.exists("alone-0-_._.._x.wake"), f"A name out of hand: {os.listdir('.')}")
record([workload("turnover"), "100"], "bare-%j-%r.wake")
check.holds(os.path.exists("bare-0-0.wake"), f"No cluster: {os.listdir('.')}")
for system in ("PBS_JOBID", "LSB_JOBID", "JOB_ID", "COBALT_JOBID", "FLUX_JOB_ID"):
    record([workload("turnover"), "100"], "job-%j.wake", env={system: system.lower()})
    check.holds(os.path.exists(f"job-{system.lower()}.wake"), f"{system} is not known.")
for system in ("OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "MV2_COMM_WORLD_RANK", "PALS_RANKID", "FLUX_TASK_RANK"):
    record([workload("turnover"), "100"], "rank-%r.wake", env={system: str(len(system)), "SLURM_PROCID": "999"}
           if system != "FLUX_TASK_RANK" else {system: str(len(system))})
    check.holds(os.path.exists(f"rank-{len(system)}.wake"), f"{system} is not known, or SLURM_PROCID counts more.")
for words, status in ((["--worst", "all", "job17-0.wake"], 2), (["nothing*.wake"], 1)):
    done = tool("report", *words)
    check.equal(" ".join(words), (status, 1), (done.status, done.err.count(b"\n")))
check.done()
