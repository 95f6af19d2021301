#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""The flame graph: a well-formed picture whose boxes are the tree of the report,
safe whatever the names are; and, where there is a browser, zoom and search at work."""
import collections
import json
import os
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree

from browser import browser_path, browser_profile
from support import Check, leave_out, record, tool, truth, workload

SVG = "{http://www.w3.org/2000/svg}"
check = Check()
told = truth(record([workload("blame")], "blame.wake"))

Box = collections.namedtuple("Box", "start value depth name")


def picture(path, *argv):
    done = tool("export", "-f", "flamegraph", "-o", "out.svg", *argv, path)
    check.equal(f"exit status of export {argv}", 0, done.status)
    return ElementTree.parse("out.svg").getroot()


def boxes_of(root):
    for g in root.iter(SVG + "g"):
        yield Box(int(g.get("data-from")), int(g.get("data-value")), int(g.get("data-depth")),
                  g.find(SVG + "title").text.split("\n")[0])


def check_boxes(option, key):
    """Boxes lie in the box above them, and a function has what the report says."""
    root = picture("blame.wake", option)
    boxes = list(boxes_of(root))
    report = json.loads(tool("report", "--json", "--no-built-in-suppressions", option, "blame.wake").out)[option[2:]]
    total = int(root.get("data-total"))
    check.equal(f"{option}: total", report[key], total)
    check.equal(f"{option}: outermost boxes", total, sum(b.value for b in boxes if b.depth == 0))
    for depth in range(1, 10):
        above = [b for b in boxes if b.depth == depth - 1]
        for b in boxes:
            if b.depth == depth:
                check.holds(any(a.start <= b.start and b.start + b.value <= a.start + a.value for a in above),
                            f"{option}: {b} lies in no box above it.")
    return boxes


def check_truth(boxes, measure, part):
    for function, account in told["functions"].items():
        if account[measure][part] > 0 and function not in ("dig", "grow"):
            seen = sum(b.value for b in boxes if b.name == function)
            check.equal(f"{measure} of {function}", account[measure][part], seen)


def check_hostile():
    evil = os.path.abspath("<script>alert(1)<!--]]>&\"'\x1b")
    shutil.copy(workload("blame"), evil)
    record([evil, "</svg><script>alert(2)</script>"], "evil.wake")
    root = picture("evil.wake")
    check.equal("scripts", 1, sum(1 for e in root.iter() if e.tag.endswith("script")))
    check.holds(any("<script>alert(1)" in (t.text or "") for t in root.iter(SVG + "title")), "The name is not there.")
    with open("out.svg", encoding="utf-8") as f:
        text = f.read()
    check.holds("\x1b" not in text and "<script>alert" not in text, "A name is markup.")
    check.equal("references to the outside", ["http://www.w3.org/1999/xhtml", "http://www.w3.org/2000/svg"],
                sorted(set(re.findall(r"https?://[^\"' ]+", text))))


# Clicks on the second-largest own function, reads what is shown, goes back, searches.
PLAY = """<script><![CDATA[
const shown = function () { return boxes.filter(function (b) { return b.g.style.display !== 'none'; }).length; };
const box = boxes.find(function (b) { return b.name === 'hold'; });
const before = shown();
box.g.dispatchEvent(new MouseEvent('click'));
const width = box.rect.getAttribute('width'), during = shown();
document.getElementById('reset').dispatchEvent(new MouseEvent('click'));
search.value = 'HOLD';
search.dispatchEvent(new Event('input'));
root.setAttribute('data-played', [before, during, shown(), width, box.g.classList.contains('hit'),
  found.textContent, root.getScreenCTM().a].join('|'));
]]></script></svg>"""


def check_browser():
    browser = browser_path()
    if browser is None:
        leave_out("There is no browser: zoom and search were not tried.")
        return
    root = picture("blame.wake")
    total, own = int(root.get("data-total")), told["functions"]["hold"]["peak"][0]
    with open("out.svg", encoding="utf-8") as f:
        text = f.read()
    with open("play.svg", "w", encoding="utf-8") as f:
        f.write(text.replace("</svg>", PLAY))
    done = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={browser_profile()}",
                           "--dump-dom", "file://" + os.path.abspath("play.svg")], capture_output=True, text=True,
                          timeout=120)
    played = re.search(r'data-played="([^"]*)"', done.stdout)
    check.holds(played is not None, f"The script did not run: {done.stderr[-500:]}")
    if played:
        before, during, after, width, hit, found, scale = played.group(1).split("|")
        check.equal("boxes at first", sum(1 for _ in boxes_of(root)), int(before))
        check.holds(0 < int(during) < int(before) or own == total, "Zooming hides nothing.")
        check.equal("boxes after going back", before, after)
        check.equal("width of the box that was clicked", "1199.5", width)
        check.equal("scale of the picture in a small window", "1", scale)
        check.equal("search", ("true", f"{100 * own / total:.2f} % has it"), (hit, found))


check_truth(check_boxes("--peak", "total_bytes"), "peak", 0)
check_truth(check_boxes("--leaks", "total_bytes"), "leaks", 0)
check_truth(check_boxes("--calls", "total_blocks"), "allocated", 1)
check.equal("nothing at all", [], list(boxes_of(picture("blame.wake", "--where", "size-min=1G"))))
check_hostile()
check_browser()
check.done()
