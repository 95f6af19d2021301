#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""`heapwake export -f perfetto`: the counters of every process against what the
recording says. What Perfetto makes of it: export_perfetto_ui.py."""
import collections
import json

from support import Check, events as events_of, record, tool, workload

check = Check()


def export(recording, *options):
    done = tool("export", "-f", "perfetto", *options, recording)
    check.equal(f"exit status of {options}", 0, done.status)
    return json.loads(done.out)["traceEvents"]


def counters(events):
    found = collections.defaultdict(list)
    for e in events:
        if e["ph"] == "C":
            found[e["pid"], e["name"]].append((e["ts"], *e["args"].values()))
    return found


def check_counters(events, recording):
    facts = json.loads(tool("report", "--json", recording).out)["summary"]
    found = counters(events)
    for (pid, name), values in found.items():
        times = [t for t, _ in values]
        check.holds(times == sorted(times), f"{name} of {pid} goes back in time.")
        check.holds(0 <= times[0] and times[-1] <= facts["runtime_ns"] / 1000, f"{name} of {pid} is outside the run.")
    highest = max(v for (_, name), values in found.items() if name == "heap" for _, v in values)
    check.equal("highest heap", facts["peak_bytes"], highest)
    return facts


def check_threads(recording, at_least):
    """The highest level of every thread is that of its blocks, as dump prints them."""
    level, highest, born = collections.Counter(), collections.Counter(), {}
    for e in events_of(recording):
        if e.event == "alloc":
            born[e.address] = e
            level[e.tid] += e.size
            highest[e.tid] = max(highest[e.tid], level[e.tid])
        elif e.event == "free" and e.address in born:
            old = born.pop(e.address)
            level[old.tid] -= old.size
    found = counters(export(recording))
    seen = {int(name.split()[-1]): values for (_, name), values in found.items() if name.startswith("heap of thread")}
    check.holds(len(seen) >= at_least, f"There are only {len(seen)} threads.")
    check.equal("highest of every thread", {t: n for t, n in highest.items() if n},
                {t: max(v for _, v in values) for t, values in seen.items() if max(v for _, v in values)})
    check.equal("last of every thread", {t: level[t] for t in seen}, {t: values[-1][1] for t, values in seen.items()})


check.equal("record", 0, record([workload("blame"), "a<b>\"c"], "blame.wake").status)
events = export("blame.wake")
facts = check_counters(events, "blame.wake")
names = {(e["name"], e["args"]["name"]) for e in events if e["ph"] == "M"}
check.holds(("thread_name", "a<b>\"c") in names, f"The thread's name is not there: {names}")
check.equal("process", [facts["peak_pid"]], sorted({e["pid"] for e in events}))
full = tool("export", "-f", "perfetto", "--anonymize", "full", "blame.wake").out
check.equal("names that are left", [], [s for s in (b"blame", b"a<b>") if s in full])

record([workload("family"), "fork", 2], "family.wake")
events = export("family.wake")
check_counters(events, "family.wake")
check.holds(len({e["pid"] for e in events}) > 1, "A family has one process.")
one = sorted({e["pid"] for e in events})[0]
check.equal("one process alone", {one}, {e["pid"] for e in export("family.wake", "--pid", str(one))})

record([workload("threads"), "live", 20], "threads.wake")
check_counters(export("threads.wake"), "threads.wake")
check_threads("threads.wake", 20)

check.done()
