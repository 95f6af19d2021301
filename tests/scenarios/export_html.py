#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""`heapwake export -f html` in a real browser: the tables say what the program
tells of itself, names of the program do nothing but show, nothing is loaded."""
import html.parser
import json
import os
import re

from browser import browser_path, browser_profile
from support import Check, native, record, skip, tool, truth, workload

BROWSER = browser_path()
if BROWSER is None:
    skip("There is no chromium here.")

check = Check()
HOSTILE = '</script><img src=x onerror="document.title=1"><b>&amp;'


class Page(html.parser.HTMLParser):
    """Texts of the cells of each row, tags and the texts by id."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.tags, self.ids, self.inside = [], [], {}, []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.inside.append((tag, dict(attributes).get("id")))
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag in ("meta", "input", "img", "br"):
            self.inside.pop()

    def handle_endtag(self, tag):
        while self.inside and self.inside.pop()[0] != tag:
            pass

    def handle_data(self, text):
        names = [name for name, _ in self.inside]
        if self.rows and ("td" in names or "th" in names):
            self.rows[-1][-1] += text
        for _, key in self.inside:
            if key:
                self.ids[key] = self.ids.get(key, "") + text


def show(path, view=""):
    done = native([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--v=0",
                   f"--user-data-dir={browser_profile()}", "--virtual-time-budget=4000", "--dump-dom",
                   f"file://{os.path.abspath(path)}#{view}"])
    check.equal("exit status of the browser", 0, done.status)
    said = [line for line in done.err.decode(errors="replace").splitlines() if "CONSOLE" in line]
    check.equal(f"what the console says of {path}", [], said)
    return Page(done.out.decode())


def size(n):
    """As the page writes it."""
    return f"{n} B" if n < 1024 else f"{n / 1024:.1f} KiB" if n < 1024 * 1023.95 else f"{n / 1024**2:.1f} MiB"


def row_of(page, name):
    return next((r[:1] + r[2:] for r in page.rows if re.match(rf"{name} ", r[0])), None)


def check_sites(told):
    for measure, key in (("peak", "peak"), ("leaks", "leaks"), ("allocated", "allocated")):
        page = show("blame.html", f"measure={measure}")
        for function, account in told["functions"].items():
            bytes_, blocks = account[key]
            row = row_of(page, function)
            if function == "grow" or bytes_ == 0:  # several sites; and sizes of nothing are no row
                continue
            check.holds(row is not None, f"{measure}: {function} has no row.")
            if row:
                check.equal(f"{measure} of {function}", [size(bytes_), f"{blocks:,}"], row[1:])


def check_functions(told):
    page = show("blame.html", "measure=calls&list=functions&search=churn")
    rows = [r for r in page.rows if len(r) == 4][1:]
    check.equal("functions that are called churn", 1, len(rows))
    check.equal("self calls of churn", f"{told['functions']['churn']['allocated'][1]:,}", rows[0][2] if rows else None)
    check.holds("% matches" in page.ids.get("found", ""), f"The search finds: {page.ids.get('found')}")


def check_hostile():
    page = show("hostile.html")
    check.equal("images", 0, page.tags.count("img"))
    check.equal("scripts", 2, page.tags.count("script"))
    text = open("hostile.html", encoding="utf-8").read()
    check.holds("&lt;/script&gt;&lt;img src=x" in text, "The command line is not there as text.")
    check.holds("<img" not in text, "A name is markup.")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    check.holds("default-src 'none'" in policy and "unsafe" not in policy, f"The policy is {policy}")
    loads = re.findall(r'(?:src|href|url)\s*[=(]\s*["\']?\s*(?:https?:)?//', text)
    check.equal("what is loaded from elsewhere", [], loads)


def check_odd():
    """Functions are called as in reports, whatever is in their names; the heap's axis is round."""
    page = show("odd.html", "measure=allocated")
    names = {r[0].split(" odd.cc")[0].split(" a \"b")[0] for r in page.rows}
    below = " ".join(r[0] for r in page.rows)
    for name in ("< quoted", "< größe", "< comma::operator,", "< box<>::operator<< <>", "< main::{lambda}::operator()"):
        check.holds(name in below, f"{name} is not in the table: {below[:600]}")
    check.holds("keep" in names, f"keep is not in the table: {names}")
    axis = re.findall(r"(\d+(?:\.\d+)?) (?:B|KiB|MiB)", page.ids.get("plot", ""))
    check.holds(len(axis) > 2 and all((float(a) * 2).is_integer() for a in axis), f"The axis has {axis}")


def check_many():
    """More sites than a page holds: the flame graph is one of all, and says how much of it is blank."""
    sizes = [1000 + i for i in range(3000)]
    with open("many.heap", "w", encoding="utf-8") as f:
        f.write(f"heap profile: {len(sizes)}: {sum(sizes)} [{len(sizes)}: {sum(sizes)}] @ heapprofile\n")
        f.writelines(f"1: {n} [1: {n}] @ 0x{0x400000 + 16 * n:x}\n" for n in sizes)
        f.write("\nMAPPED_LIBRARIES:\n")
    check.equal("import", 0, tool("import", "-q", "-o", "many.wake", "many.heap").status)
    check.equal("export", 0, tool("export", "-f", "html", "-o", "many.html", "many.wake").status)
    data = json.loads(re.search(r'<script[^>]* id="data">(.*?)</script>', open("many.html", encoding="utf-8").read(), re.S)[1])
    missing = sum(sizes) - sum(site[1][0][0] for site in data["sites"])
    check.holds(missing > 0, "All sites are in the page: this tests too little.")
    hint = show("many.html", "measure=peak").ids.get("hint", "")
    check.holds(f"The blank is what is not in this page: {size(missing)}." in hint, f"The hint is {hint!r}, missing are {missing} bytes.")
    check.holds("blank" not in show("blame.html").ids.get("hint", ""), "A page that has all speaks of a blank.")


told = truth(record([workload("blame")], "blame.wake"))
check.equal("export", 0, tool("export", "-f", "html", "-o", "blame.html", "blame.wake").status)
check_sites(told)
check_functions(told)
check_many()
record([workload("blame"), HOSTILE], "hostile.wake")
check.equal("export", 0, tool("export", "-f", "html", "-o", "hostile.html", "hostile.wake").status)
check_hostile()
record([workload("odd")], "odd.wake")
check.equal("export", 0, tool("export", "-f", "html", "-o", "odd.html", "odd.wake").status)
check_odd()
for level in ("partial", "full"):
    done = tool("export", "-f", "html", "--anonymize", level, "blame.wake")
    left = [s for s in ("leak_large", "churn", os.path.dirname(workload("blame"))) if s.encode() in done.out]
    check.equal(f"{level}: names that are left", [], left)
# The leaked figure says how it goes with the one in reports. C++: its library keeps a pool.
record([workload("exceptions")], "pool.wake")
told = json.loads(tool("report", "--json", "pool.wake").out)["summary"]
tool("export", "-f", "html", "-o", "pool.html", "pool.wake")
card = re.search(r"leaked in[^<]*", open("pool.html", encoding="utf-8").read())
check.holds(told["suppressed_bytes"] > 0, "Nothing is suppressed: this tests too little.")
count = told["leaked_blocks"] - told["suppressed_blocks"]
check.equal("the card", f"leaked in {count} block{'' if count == 1 else 's'}, without {size(told['suppressed_bytes'])} suppressed",
            card and card.group(0))
check.done()
