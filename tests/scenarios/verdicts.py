#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Verdicts on sites that live in known ways: growing steadily, with noise, in bursts;
caches that turn over, fill late or fill up slowly; made once; freed at exit; come
and gone. Of a program that exits and of one that is killed."""
import json

from support import Check, record, tool, truth, workload

check = Check()


def judge(path):
    """The verdict on each function of the program, in the leaks and at the peak."""
    done = tool("report", "--json", "--verdict", "-n", "0", path)
    check.equal("exit status", 0, done.status)
    found = {}
    for measure in ("peak", "leaks"):
        for site in json.loads(done.out)[measure]["sites"]:
            found[site["frames"][0]["function"]] = site["verdict"]
    return found


def check_run(how):
    check.about(how)
    told = truth(record([workload("lives"), how], f"{how}.wake"))
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
check.done()
