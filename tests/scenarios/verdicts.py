#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Verdicts on sites that live in known ways: growing steadily, with noise, in bursts;
caches that turn over, fill late or fill up slowly; made once; freed at exit; come
and gone. Of a program that exits and of one that is killed, and of a server whose requests pause. And that they are the same whether the collector's levels
are there or the events have to be read."""
import json
import os
import re
import sys

from support import Check, record, tool, truth, workload

sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests/format"))
from wake_reader import Recording  # noqa: E402

check = Check()


LEVELS, INDEX, END, EVENTS = 20, 11, 12, 5


def judge(*paths):
    """The verdict on each function of the program, in the leaks and at the peak."""
    done = tool("report", "--json", "--verdict", "-n", "0", *paths)
    check.equal("exit status", 0, done.status)
    found = {}
    for measure in ("peak", "leaks"):
        for site in json.loads(done.out)[measure]["sites"]:
            found[site["frames"][0]["function"]] = site["verdict"]
    return found


def judge_nameless(path):
    """How many sites have which verdict, of any recording."""
    lists = json.loads(tool("report", "--json", "--peak", "--leaks", "-n", "0", path).out)
    return sorted((measure, site["bytes"], json.dumps(site.get("verdict"))) for measure in ("peak", "leaks")
                  for site in lists[measure]["sites"])


def rewrite(path, to, change):
    """A copy with each chunk as `change` gives it: None leaves it out."""
    recording = Recording(path)
    data = bytearray(recording.data[:recording.chunks[0].offset])
    for chunk in recording.chunks:
        data += change(chunk, recording.data[chunk.offset:chunk.end]) or b""
    with open(to, "wb") as f:
        f.write(data)


def check_sources(path):
    """Levels from the file or from the events; and with them the events are not touched."""
    check.about("sources")
    kinds = [chunk.type for chunk in Recording(path).chunks]
    check.equal("chunks with levels", 1, kinds.count(LEVELS))
    rewrite(path, "bare.wake", lambda chunk, data: None if chunk.type in (LEVELS, INDEX, END) else data)
    check.equal("verdicts without levels", judge(path), judge("bare.wake"))
    rewrite(path, "spoilt.wake", lambda chunk, data: data[:-20] + b"\0" * 20 if chunk.type == EVENTS else data)
    check.equal("verdicts with spoilt events", judge_nameless(path), judge_nameless("spoilt.wake"))
    check.holds("is damaged" not in tool("report", "--leaks", "spoilt.wake").err.decode(), "Events were read.")
    check.holds(tool("verify", "spoilt.wake").status != 0, "Nobody noticed that events are spoilt.")
    rewrite(path, "crooked.wake", lambda chunk, data: data[:-9] + b"\0" * 9 if chunk.type == LEVELS else data)
    check.equal("verdicts with spoilt levels", judge(path), judge("crooked.wake"))
    check.holds(tool("verify", "crooked.wake").status != 0, "Nobody noticed that levels are spoilt.")
    check.about("")


def check_copies(path):
    """New recordings from old ones have the levels too."""
    check.about("copies")
    known = judge_nameless(path)
    for command in (["merge", "-o", "copy.wake", path], ["anonymize", "-o", "copy.wake", path],
                    ["strip", "--threshold", "100ms", "-o", "copy.wake", path]):
        check.equal(f"{command[0]}: status", 0, tool(*command).status)
        check.equal(f"{command[0]}: levels", 1, [chunk.type for chunk in Recording("copy.wake").chunks].count(LEVELS))
        check.equal(f"{command[0]}: verdicts", known, judge_nameless("copy.wake"))
        check.equal(f"{command[0]}: verify", 0, tool("verify", "copy.wake").status)
    check.about("")


def check_series():
    """Each file of a series says how it was so far, and all together what one file would have said."""
    check.about("series")
    record([workload("lives"), "exit"], "series.wake", ["--rotate", "300ms"])
    parts = sorted((name for name in os.listdir(".") if name.startswith("series.wake.")), key=lambda n: int(n.split(".")[2]))
    if not check.holds(len(parts) > 2, f"There are just {parts}."):
        return
    for part in parts:
        check.equal(f"{part}: levels", 1, [chunk.type for chunk in Recording(part).chunks].count(LEVELS))
        check.equal(f"{part}: verify", 0, tool("verify", part).status)
    whole = judge(*parts)
    check.holds(len(whole) > 5, f"There are verdicts on {sorted(whole)} only.")
    check.equal("verdicts of the last file alone", whole, judge(parts[-1]))
    last = f"{parts[-1]}.bare"
    rewrite(parts[-1], last, lambda chunk, data: None if chunk.type in (LEVELS, INDEX, END) else data)
    check.equal("verdicts without levels", whole, judge(*parts[:-1], last))
    check.about("")


def check_run(how):
    check.about(how)
    for _ in range(10):
        told = truth(record([workload("lives"), how], f"{how}.wake"))
        if told["longest_step"] < 0.1:  # where the machine stood still the sites did not live as they meant to
            break
    found = judge(f"{how}.wake")
    for name, (kind, slope) in told["sites"].items():
        if name not in found:
            check.holds(kind == "passing", f"{name}: nothing is said about it.")
            continue
        verdict = found[name]
        if not check.equal(f"verdict on {name}", kind, verdict["kind"]) or kind != "grows":
            continue
        check.holds(0.7 * slope < verdict["bytes_per_minute"] < 1.4 * slope,
                    f"{name} grows by {slope:.0f} a minute, said is {verdict['bytes_per_minute']}.")
        check.holds(verdict["confidence"] >= 0.5, f"{name}: confidence {verdict['confidence']}.")
        check.equal(f"{name} is freed at exit", name == "grow_and_free" and how == "exit", verdict["freed_at_exit"])
    check.about("")


def check_load(schedule, how, options=()):
    """A load that pauses: what leaks with each request grows, or has stopped with the requests; caches, pools and tables do neither."""
    path = f"load.{schedule}.{how}{''.join(options)}.wake"
    check.about(path)
    for _ in range(10):
        told = truth(record([workload("pauses"), schedule, how], path, list(options)))
        if told["longest_step"] < 0.05:
            break
    found = judge(path)
    for name, kinds in told["sites"].items():
        if "--sample" in options and not name.startswith("leak"):
            continue  # too few blocks of it are samples
        if not check.holds(found.get(name, {}).get("kind") in kinds, f"{name}: {found.get(name)}, should be one of {kinds}."):
            continue
        if found[name]["kind"] == "stopped":
            until = found[name]["until_ns"] / 1e9
            check.holds(abs(until - told["last_request"]) < 0.1,
                        f"{name}: stopped at {until}, the last request was at {told['last_request']}.")
        if found[name]["kind"] in ("stopped", "grows"):
            check.equal(f"{name} is freed at exit", name == "leak_in_list" and how == "exit", found[name]["freed_at_exit"])
    check.about("")
    return path


def check_loads():
    for schedule in ("steady", "start", "middle", "twice", "bursts"):
        check_load(schedule, "exit")
    check_load("bursts", "kill")
    check_load("end", "exit", ["--cull", "--cull-ms", "20"])
    check_load("end", "exit", ["--sample", "128"])
    for how in ("exit", "kill"):
        path = check_load("end", how)
    check_sources(path)
    check_copies(path)
    text = " ".join(tool("report", "--leaks", "--verdict", path).out.decode().split())
    check.holds(re.search(r"stopped: grew with its calls until \d+ ms; no calls since <", text), f"The page has no sentence:\n{text}")
    text = tool("report", path).out.decode()
    check.holds("(stopped)" in text, f"The screen has no verdict:\n{text}")


def check_page():
    text = tool("report", "exit.wake").out.decode()
    check.holds("(grows)" in text, f"The screen has no verdict:\n{text}")
    check.holds(all(len(line) <= 80 for line in text.splitlines()), "A line has more than 80 columns.")
    text = tool("report", "--verdict", "--leaks", "exit.wake").out.decode()
    check.holds("a minute, " in text and "% sure" in text, f"The growth has no figures:\n{text}")
    check.holds("(grows)" not in text, "The word is there beside the sentence.")
    text = tool("report", "--calls", "exit.wake").out.decode()
    check.holds("(grows)" not in text, "A list of calls has verdicts.")


check_run("exit")
check_run("kill")
check_page()
check_sources("exit.wake")
check_copies("exit.wake")
check_loads()
check_series()
check.done()
