#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""`heapwake export -f speedscope`, opened by speedscope itself (from npm) in a browser.
What it made of the file is read back through its own Export button: every profile
with its name, unit and total, and every stack with its weight."""
import base64
import collections
import json
import os
import shutil

from browser import Browser, browser_path
from packages import from_npm
from support import Check, record, skip, tool, workload

if browser_path() is None:
    skip("There is no chromium here.")
PACKAGE = from_npm("speedscope", "1.25.0", "2831f1e0d26df914b477e522d78b8485511495a6af81a0b88158f8b48f9e0d03")
PAGE = os.path.join(PACKAGE, "dist/release/index.html")

BUTTON = "[...document.querySelectorAll('div')].find((d) => d.childElementCount === 1 && d.textContent.endsWith('Export'))"
# The button offers a file; its text is kept instead.
EXPORT = """(async () => {
  let blob;
  URL.createObjectURL = (b) => { blob = b; return '#'; };
  %s.click();
  return await blob.text();
})()""" % BUTTON

check = Check()


def show(browser, path):
    """Opens a profile as the program `speedscope FILE` does; what speedscope holds then."""
    with open(path, "rb") as f:
        text = base64.b64encode(f.read()).decode()
    with open("load.js", "w", encoding="utf-8") as f:
        f.write(f"speedscope.loadFileFromBase64({json.dumps(path)}, {json.dumps(text)})")
    browser.open("about:blank")
    browser.open(f"file://{PAGE}#localProfilePath={os.path.abspath('load.js')}")
    browser.wait(BUTTON + " || /went wrong/.test(document.body.innerText)")
    check.holds("went wrong" not in browser.ask("document.body.innerText"), "speedscope refuses the file.")
    return json.loads(browser.ask(EXPORT))


def stacks_of_samples(data, profile):
    """(names and lines from the outermost in) -> weight, of a profile as we write it."""
    frames, found = data["shared"]["frames"], collections.Counter()
    for sample, weight in zip(profile["samples"], profile["weights"], strict=True):
        found[tuple((frames[f]["name"], frames[f].get("line")) for f in sample)] += weight
    return found


def stacks_of_events(data, profile):
    """The same of a profile as speedscope writes it: frames opened and closed. A stack's own
    weight is what passes while it is the innermost one."""
    frames, found, stack, at = data["shared"]["frames"], collections.Counter(), [], profile["startValue"]
    for event in profile["events"]:
        if event["at"] > at:
            found[tuple(stack)] += event["at"] - at
            at = event["at"]
        if event["type"] == "O":
            frame = frames[event["frame"]]
            stack.append((frame["name"], frame.get("line")))
        else:
            stack.pop()
    check.equal("frames left open", [], stack)
    return found


def path_of_opened(data, profile):
    """Where each box of the drawing stands: the frames below it and itself."""
    stack = []
    for event in profile["events"]:
        if event["type"] == "O":
            stack.append(event["frame"])
            yield tuple(stack)
        else:
            stack.pop()


def check_profile(browser, recording, *options):
    check.about(f"{recording} {options}")
    done = tool("export", "-f", "speedscope", "-o", "out.speedscope.json", *options, recording)
    check.equal("exit status", 0, done.status)
    with open("out.speedscope.json", encoding="utf-8") as f:
        ours = json.load(f)
    theirs = show(browser, "out.speedscope.json")
    check.equal("name", ours["name"], theirs["name"])
    check.equal("the profile that is shown", ours["activeProfileIndex"], theirs["activeProfileIndex"])
    check.equal("profiles", [(p["name"], p["unit"], p["endValue"]) for p in ours["profiles"]],
                [(p["name"], p["unit"], p["endValue"]) for p in theirs["profiles"]])
    for mine, its in zip(ours["profiles"], theirs["profiles"]):
        check.equal(f"stacks of {mine['name']}", stacks_of_samples(ours, mine), stacks_of_events(theirs, its))
        opened = collections.Counter(path_of_opened(theirs, its))
        check.equal(f"{mine['name']}: stacks that are drawn twice", [], [p for p, n in opened.items() if n > 1])
    check.equal("complaints of the page", [], browser.complaints)
    return theirs


def check_totals(theirs, recording):
    report = json.loads(tool("report", "--json", "--no-built-in-suppressions", recording).out)
    totals = {p["name"]: p["endValue"] for p in theirs["profiles"]}
    check.equal("totals", [report["peak"]["total_bytes"], report["leaks"]["total_bytes"], report["calls"]["total_bytes"],
                           report["calls"]["total_blocks"], report["temporary"]["total_blocks"]], list(totals.values()))


evil = os.path.abspath('ev"il\\,\n<b>é#;&\x1b[1m$(x)')
shutil.copy(workload("blame"), evil)
record([workload("blame")], "blame.wake")
record([workload("stacks_cxx")], "cxx.wake")
record([workload("family"), "fork", "2"], "family.wake")
record([evil, 'a"b\\\nc,</script>'], "evil.wake")
with Browser() as browser:
    check_totals(check_profile(browser, "blame.wake"), "blame.wake")
    for recording in ("cxx.wake", "family.wake", "evil.wake"):
        check_profile(browser, recording)
    check_profile(browser, "blame.wake", "--where", "size-min=1G")
check.done()
