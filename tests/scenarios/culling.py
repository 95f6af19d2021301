#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
# timeout: 900
"""Culling: blocks and realloc chains that live shorter than the threshold are
not among the events, whichever thread frees them; all totals stay what they are
without culling, site by site. Recorded so, or stripped afterwards."""
import contextlib
import json
import os
import re
import shutil
import sqlite3
import subprocess
import time

from scenarios.support import HEAPWAKE, PROBE, Check, Ledger, events, info, native, record, tool, truth, workload

check = Check()
ROUNDS = """#include <stdlib.h>
#include <unistd.h>
__attribute__((noinline)) void *keep(size_t n) { void *p = malloc(n); asm volatile("" ::"r"(p) : "memory"); return p; }
__attribute__((noinline)) void *quick(size_t n) { void *p = malloc(n); asm volatile("" ::"r"(p) : "memory"); return p; }
int main(void)
{
    for (int i = 0; i < 120; i++) {
        void *k = keep(100000), *a = quick(10), *b = quick(20);
        free(a);
        free(b);
        usleep(20000);
        free(k);
    }
}
"""
SUMS = ("allocations", "frees", "allocated_bytes", "leaked_blocks", "leaked_bytes")


def sites(path, *options):
    """Bytes and blocks of every site, by its frames."""
    done = tool("report", "--json", "-n", "0", "--no-built-in-suppressions", *options, path)
    check.equal(f"report {' '.join(options)} {path}", 0, done.status)
    answer = json.loads(done.out)
    check.caveats(answer)
    return answer


def rows(report):
    found = {}
    for name, section in report.items():
        for site in section["sites"] if isinstance(section, dict) and "sites" in section else ():
            found[name, json.dumps(site["frames"])] = site["bytes"], site["blocks"]
    check.holds(found, "The report has no sites.")
    return found


def readers_agree(path):
    """The slow reader written from the document sees the same."""
    reader = os.path.join(os.environ["ROOT"], "tests/format/wake_reader.py")
    slow = subprocess.run([reader, path], capture_output=True, check=False)
    check.equal(f"{path}: what the other reader says", b"", slow.stderr)
    check.holds(slow.stdout == tool("dump", "--tsv", path).out, f"{path}: the two readers differ.")
    check.equal(f"{path}: the other reader's check", 0, native([reader, "--check", path]).status)


def none_was_short(path, sizes):
    """Blocks that the program frees at once are not there, but for those that it could not free in time: when the
    machine is busy, a program may stand still for longer than the threshold."""
    born, spans = {}, {}
    for e in events(path):
        if e.event == "alloc":
            born[e.address] = e.time
        elif e.event == "free" and e.address in born:
            spans.setdefault(e.size, []).append((born.pop(e.address), e.time))
    lives = [span for size in sizes if not size.startswith("300") for span in spans.get(int(size), ())]
    chains = zip(spans.get(3001, ()), spans.get(3003, ()))  # 3001 -> 3002 -> 3003 is one life
    lives += [(first[0], last[1]) for first, last in chains]
    check.holds(all(end - begin >= 200e6 for begin, end in lives), f"{len(lives)} short lives are there: {lives[:3]}")
    check.holds(len(lives) < 20, f"{len(lives)} blocks were not freed in time.")


def see_lives(path, told, exact=True):
    """Long lives are there, short ones are not."""
    check.about(path)
    ledger = Ledger(events(path))
    check.pairs(ledger)
    for size, count in told["long"].items():
        check.equal(f"blocks of {size}", count, ledger.made[int(size)])
    check.equal("blocks never freed", 3, ledger.left(1003))
    if exact:
        none_was_short(path, told["short"])
    check.sound(path)
    readers_agree(path)
    check.about("")


def same_totals(whole, part):
    check.about(part)
    a, b = info(whole), info(part)
    for key in SUMS:
        check.equal(key, a[key], b[key])
    left = b["culled_blocks"]
    check.equal("events, and culled ones", a["events"], b["events"] + 2 * left)
    measures = ("--allocated", "--calls", "--temporary", "--peak", "--leaks")
    for measure in measures:
        x, y = sites(whole, measure), sites(part, measure)
        check.equal(f"{measure}: what is not shown", 0, y["summary"]["omitted_blocks"])
        check.equal(measure, rows(x), rows(y))
        check.equal(f"{measure}: peak", x["summary"]["peak_bytes"], y["summary"]["peak_bytes"])
    first = tool("report", part)
    check.holds(b" culled " in first.out, "the report does not say that blocks were culled.")
    check.holds(b"not shown" not in first.out, "the first screen has no totals.")
    check.about("")


def stripped():
    """The very same run, with everything and without the short lives."""
    run = record([workload("spans")], "whole.wake")
    told = truth(run)
    done = tool("strip", "--threshold", "200ms", "whole.wake", "-o", "stripped.wake")
    check.equal("strip", 0, done.status)
    see_lives("stripped.wake", told)
    same_totals("whole.wake", "stripped.wake")
    check.holds(os.path.getsize("stripped.wake") < os.path.getsize("whole.wake"), "The stripped file is not smaller.")
    # A window cannot be had from totals: what is missing is said.
    part = sites("stripped.wake", "--allocated", "--from", "0.1s")
    check.equal("what is not shown of a window", info("stripped.wake")["culled_blocks"],
                part["summary"]["omitted_blocks"])
    culled = info("stripped.wake")["culled_blocks"]
    for words, lacks in ((["whole.wake", "stripped.wake"], (0, 0)), (["--calls", "--where", "size-min=1", "whole.wake", "stripped.wake"], (0, culled)),
                         (["stripped.wake@0.1s", "stripped.wake@end"], (culled, None))):
        answer = json.loads(tool("diff", "--json", *words).out)
        seen = tuple(answer[side]["omitted_blocks"] for side in ("before", "after"))
        check.equal(f"what diff {words} lacks", lacks, tuple(None if want is None else it for want, it in zip(lacks, seen)))
        said = re.findall(r"^(before|after) is made of single events: ([\d,]+) blocks", tool("diff", *words).out.decode(), re.M)
        check.equal(f"caveats of diff {words}", list(seen), [sum(c["blocks"] for c in answer[side]["caveats"] if c["kind"] == "omitted-blocks")
                                                             for side in ("before", "after")])
        check.equal(f"what diff {words} says to lack", [(side, f"{count:,}") for side, count in zip(("before", "after"), seen) if count], said)
    check.equal("what a change lacks", culled, sites("stripped.wake", "--since", "0.1s")["summary"]["omitted_blocks"])
    again = tool("strip", "--threshold", "200ms", "stripped.wake", "-o", "again.wake")
    check.equal("strip again", 0, again.status)
    same_totals("whole.wake", "again.wake")
    check.equal("names survive", names("whole.wake"), names("stripped.wake"))
    for words in (["--threshold", "soon", "whole.wake", "-o", "x"], ["whole.wake", "-o", "x"],
                  ["--threshold", "1s", "whole.wake"], ["--threshold", "1s", "-o", "x"],
                  ["--threshold", "1s", "whole.wake", "-o", "whole.wake"]):
        done = tool("strip", *words)
        check.equal(f"strip {' '.join(words)}", 2, done.status)
        check.equal("lines said", 1, done.err.count(b"\n"))
    check.holds(tool("verify", "whole.wake").status == 0, "whole.wake was touched.")


def names(path):
    return info(path)["symbols"]["places"]


def recorded():
    """Culled while it runs; of the sums only those of the one run can be known."""
    for name, options, env in (("option.wake", ["--cull", "--cull-ms", "200"], {}),
                               ("variable.wake", [], {"HEAPWAKE_CULL": "1", "HEAPWAKE_CULL_MS": "200"})):
        told = truth(record([workload("spans")], name, options, env))
        see_lives(name, told)
        facts = info(name)
        check.equal("threshold", 200000000, facts["cull_threshold_ns"])
        check.holds(facts["allocations"] >= sum(told["long"].values()) + sum(told["short"].values()),
                    f"{name}: allocations are missing from the totals.")
        check.holds(facts["peak_bytes"] >= 9000000, f"{name}: the peak is {facts['peak_bytes']}.")
        check.equal("leaked", True, facts["leaked_bytes"] >= 3 * 1003)
    told = truth(native([workload("spans")], {"LD_PRELOAD": PROBE, "HEAPWAKE_CULL": "1", "HEAPWAKE_CULL_MS": "200",
                                              "HEAPWAKE_OUTPUT": "bare.wake"}))
    wait_for("bare.wake")
    see_lives("bare.wake", told)
    # A threshold that nothing reaches, and one that all pass; few may wait.
    told = truth(record([workload("spans")], "all.wake", ["--cull", "--cull-ms", "1", "--cull-pending", "1024"]))
    see_lives("all.wake", told, exact=False)


def wait_for(path):
    import time
    for _ in range(200):
        if os.path.exists(path):
            return
        time.sleep(0.05)
    raise SystemExit(f"{path} does not come.")


def temporary():
    """Which blocks are temporary, totals know; what is left of the events does not tell."""
    with open("rounds.c", "w", encoding="ascii") as f:
        f.write(ROUNDS)
    check.equal("gcc", 0, native(["gcc", "-g", "-O1", "-o", "rounds", "rounds.c"]).status)
    record(["./rounds"], "rounds.wake")
    record(["./rounds"], "culled.wake", ["--cull", "--cull-ms", "10"])
    check.equal("strip", 0, tool("strip", "--threshold", "10ms", "rounds.wake", "-o", "short.wake").status)
    for path in ("culled.wake", "short.wake"):
        check.about(path)
        check.holds(info(path)["culled_blocks"] > 120, "Nothing was culled.")
        check.equal("temporary in all", {"quick": 120}, makers(path))
        for words in (["--from", "1ns"], ["--where", "size-min=1"], ["--where", "lifetime-min=1ns"]):
            check.equal(f"temporary, {words}", {}, makers(path, *words))
        for words in (["--from", "1ns"], ["--by", "thread"], ["--by", "kind"], ["--tree", "--from", "1ns"]):
            page = tool("report", "--temporary", *words, path).out.decode()
            check.holds("Temporary: not known from the events of a culled recording" in page, f"{words} does not say so: {page}")
        for words in (["state=temporary"], ["state=temporary", "--where", "temporary=3"]):
            done = tool("report", "--allocated", "--where", *words, path)
            check.equal(f"{words}", 1, done.status)
            check.holds(b"were temporary is not known, as blocks of it were culled" in done.err, f"{words}: {done.err.decode()}")
        check.equal("temporary by time", 120, makers(path, "--where", "temporary=1h").get("keep"))
        check.equal("all that are so by time", 0, tool("report", "--where", "state=temporary", "--where", "temporary=1h", path).status)
        advice = json.loads(tool("report", "--advice", "--json", "-n", "0", path).out)["advice"]
        check.equal("advice to reuse", [], [a["frames"][0]["function"] for a in advice if a["kind"] == "reuse"])
        check.equal("sqlite", 0, tool("export", "-f", "sqlite", "-o", f"{path}.db", path).status)
        with contextlib.closing(sqlite3.connect(f"{path}.db")) as db:
            check.equal("sqlite: temporary", 0, db.execute("SELECT sum(temporary_blocks) FROM site").fetchone()[0])
        for words, is_known in (([], True), (["--from", "1ns"], False)):
            page = tool("export", "-f", "html", *words, path).out
            check.equal(f"html {words} knows temporary blocks", is_known, b"calls are temporary" in page)
        check.about("")
    for words in ([], ["--from", "1ns"], ["--where", "state=temporary"]):
        check.equal(f"without culling, {words}", {"quick": 120}, makers("rounds.wake", *words))


def makers(path, *words):
    """Temporary blocks by the function that made them, of the program's own."""
    found = {}
    for site in sites(path, "--temporary", *words)["temporary"]["sites"]:
        maker = site["frames"][0]["function"]
        if maker in ("keep", "quick") and site["blocks"]:
            found[maker] = found.get(maker, 0) + site["blocks"]
    return found


RELEASES = """#include <stdlib.h>
#include <unistd.h>
enum { KEPT = 1000, ROUNDS = 400 };
static void *kept[KEPT], *last[200000];
int main(void)
{
    for (int r = 0; r < ROUNDS; r++) /* the file is full of these, unless that takes too few */
        for (int i = 0; i < KEPT; i++) {
            free(kept[i]);
            kept[i] = malloc((size_t)(r * 7919 + i * 104729) % 4000 + 1);
        }
    for (int i = 0; i < 200000; i++)
        last[i] = malloc((size_t)i % 100 + 1);
    usleep(50000);
    for (int i = 0; i < KEPT; i++)
        free(kept[i]);
    for (int i = 0; i < 200000; i++)
        free(last[i]);
    usleep(50000);
    return 0;
}
"""


def releases_behind():
    """What is released when the file is full counts as live at later moments: that is said, of all who ask for it."""
    check.about("releases behind the end of a full file")
    with open("releases.c", "w", encoding="utf-8") as f:
        f.write(RELEASES)
    native(["gcc", "-O1", "-g", "-o", "releases", "releases.c"])
    with open("waits.c", "w", encoding="utf-8") as f:
        f.write("#include <stdlib.h>\n#include <unistd.h>\nint main(void) { void *p = malloc(10); sleep(1); return p == NULL; }\n")
    native(["gcc", "-O1", "-g", "-o", "waits", "waits.c"])
    record(["./releases"], "releases.wake", ["--max-size", "1M"])
    check.holds(info("releases.wake")["limited_events"] > 100000, "It was not full.")
    sentence = b"The file was full at "
    for words in (["--at", "99%"], ["--allocated", "--where", "lifetime-min=1ms"],
                  ["--to", "1ns", "--allocated", "--where", "alive-at=99%"]):
        check.holds(sentence in tool("report", *words, "releases.wake").err, f"report {words} does not say that it was full.")
    check.holds(sentence in tool("diff", "releases.wake@1%", "releases.wake@99%").err, "diff does not say that it was full.")
    check.holds(b"known up to " in tool("report", "releases.wake").out, "The plot does not say up to when it is known.")
    for words, kinds in ((["--at", "99%"], {"moment-after-limit"}), (["--at", "1us"], set())):
        told = set(check.caveats(json.loads(tool("report", "--json", *words, "releases.wake").out)))
        check.equal(f"{words}: caveats of moments", kinds, {kind for kind in told if kind.startswith("moment-")})
    for words, is_lacking in ((["--since", "1us", "--until", "2us"], False), (["--at", "1us"], False), (["--at", "1us", "--where", "freed=inside"], True),
                              (["--at", "1us", "--where", "group-interval-min=1ns"], True), (["--at", "99%"], True),
                              (["--allocated", "--to", "1us"], False), (["--allocated", "--where", "allocated-to=1us"], False),
                              (["--allocated", "--where", "allocated-to=1us", "--where", "freed=inside"], True),
                              (["--allocated", "--to", "1us", "--where", "freed-from=90%"], True)):
        lacks = json.loads(tool("report", "--json", *words, "releases.wake").out)["summary"]["omitted_blocks"]
        check.equal(f"{words}: something is lacking", is_lacking, lacks != 0)
    for words, is_lacking in (([], True), (["--to", "1us"], False)):
        done = tool("export", "-f", "csv", "-o", "releases.csv", *words, "releases.wake")
        check.equal(f"export {words}: something is lacking", is_lacking, b"by count alone" in done.err)
    # Another process, which had no event when the file was full, changes nothing.
    record(["sh", "-c", "./releases & sleep 0.01; exec ./waits"], "waits.wake", ["--max-size", "1M"])
    check.holds(len(info("waits.wake")["processes_list"]) >= 2, "There is one process.")
    check.holds(sentence in tool("report", "--at", "99%", "waits.wake").err, "Beside a process that waits it is not said.")
    check.holds(b"known up to " in tool("report", "waits.wake").out, "Nor in the plot.")


def limited():
    """A file that is full takes no more events; the totals go on."""
    told = truth(record([workload("turnover"), "300000"], "limited.wake", ["--max-size", "1M"]))
    facts = info("limited.wake")
    check.holds(facts["limited_events"] > 1000 and facts["allocations"] >= 300000, f"Not limited: {facts}")
    check.holds(os.path.getsize("limited.wake") < 2 << 20, "The file is larger than its limit lets expect.")
    leaks = sites("limited.wake", "--leaks")["leaks"]["sites"]
    for maker, account in told.items():
        seen = [(s["blocks"], s["bytes"]) for s in leaks if s["frames"][0]["function"] == maker]
        check.equal(f"left by {maker}", [(account["left_blocks"], account["left_bytes"])], seen)
    check.sound("limited.wake")
    readers_agree("limited.wake")
    done = tool("export", "-f", "massif", "limited.wake")
    check.holds(done.status == 0 and b"blocks that the recording knows by count alone are not in it" in done.err,
                f"export does not say what it lacks: {done.err.decode()}")
    for form, words, sentence in (("massif", [], "massif is made of single events: "), ("perfetto", [], "perfetto is made of single events: "),
                                  ("html", [], "The timeline of html is made of single events: "), ("folded", [], None),
                                  ("folded", ["--where", "size-min=1"], "folded is made of single events: "),
                                  ("html", ["--where", "size-min=1"], "html is made of single events: ")):
        done = tool("export", "-f", form, "-o", "lacking", *words, "limited.wake")
        told_of = re.findall(r"((?:The timeline of )?[a-z]+ is made of single events: )([\d,]+) blocks that", done.err.decode())
        lacking = [(sentence, told_of[0][1])] if sentence and told_of else []
        check.equal(f"what {form} {words} lacks", lacking if sentence else [], told_of)
        check.holds(sentence is None or told_of, f"{form} {words} does not say what it lacks: {done.err.decode()}")
        if form == "html":
            where = "this page" if words else "what it shows over time"
            count = told_of[0][1] if told_of else "?"
            check.holds(f"; {where} is made of single events: {count} blocks that the recording knows by count alone are not in it" in open("lacking", encoding="utf-8").read(),
                        "The page does not say what it lacks.")
    # What is live behind the last event is known of the end alone, and without conditions.
    sentence = b"The file was full at "
    for words, is_said in ((["--at", "end"], False), (["--at", "1ms", "--where", "size-min=1"], False), (["--at", "end", "--where", "size-min=1"], True),
                           (["--since", "1ms", "--where", "size-min=1"], True), (["--allocated", "--where", "alive-at=end"], True)):
        done = tool("report", *words, "limited.wake")
        check.equal(f"{words}: what is said of moments behind", is_said, sentence in done.err)
    for words, sentence in ((["--where", "size-min=1"], True), (["--by", "thread"], True), (["--tree", "--where", "size-min=1"], True),
                            (["--to", "1ms"], False), ([], False)):
        shown = tool("report", "--leaks", *words, "limited.wake").out
        known = "Leaked: not known from the events of a file that was full".encode() not in shown
        some = json.loads(tool("report", "--json", "--leaks", *words, "limited.wake").out)["summary"]["omitted_blocks"]
        check.equal(f"--leaks {words}: events are lacking", sentence, some != 0)
        check.holds(known or sentence, f"--leaks {words} are not known: {shown.decode()}")
    # A block that is a chain of its own cannot be freed and leaked at once.
    for words in (["state=chain-leaked,freed", "chain-length-max=1"], ["state=leaked,chain-leaked"]):
        conditions = [w for word in words for w in ("--where", word)]
        found = sites("limited.wake", "--allocated", *conditions)["allocated"]["total_blocks"]
        live = sites("limited.wake", "--allocated", "--where", "state=leaked")["allocated"]["total_blocks"]
        check.equal(f"blocks with {words}", 0 if len(words) == 2 else live, found)
    before_it = sites("limited.wake", "--at", "1ms", "--where", "size-min=1")["summary"]
    check.equal("what a moment before it lacks", 0, before_it["omitted_blocks"])
    timeline = json.loads(tool("report", "--json", "limited.wake").out)
    check.equal("allocations of the timeline", facts["allocations"] - timeline["summary"]["timeline_omitted_blocks"],
                sum(tick["allocations"] for tick in timeline["timeline"]))
    compared = tool("diff", "limited.wake@1ms", "limited.wake@90%").out.decode()
    check.holds("after is made of" in compared and "before is made of" not in compared, f"The comparison says {compared}")
    check.holds(all(len(line) <= 80 for line in compared.splitlines()), f"A line is too long: {compared}")
    report = tool("report", "limited.wake")
    check.holds(b" known up to " in report.out, "The plot does not say what it lacks.")
    check.holds(b" limited " in report.out, "The report does not say that the file was full.")
    check.equal("allocations in the report", facts["allocations"],
                sites("limited.wake", "--calls")["summary"]["allocations"])
    for value in ("", "banana", "7"):
        done = native([HEAPWAKE, "record", f"--max-size={value}", "true"])
        check.equal(f"--max-size={value}", 2, done.status)


ONGOING = """#include <poll.h>
#include <stdlib.h>
int main(void)
{
    struct pollfd end = {0, POLLIN, 0};
    do {
        void *volatile kept = malloc(1000), *volatile quick = malloc(10);
        free(quick);
        (void)kept;
    } while (poll(&end, 1, 5) == 0);
    return 0;
}
"""


def unfinished():
    """While it is being recorded, a recording says that its latest events wait for culling."""
    check.about("while it is being recorded")
    with open("ongoing.c", "w", encoding="ascii") as f:
        f.write(ONGOING)
    subprocess.run(["gcc", "-O1", "-o", "ongoing", "ongoing.c"], check=True)
    said = "last 1500 ms"
    for options, is_held_back in ((["--cull", "--cull-ms=1500"], True), ([], False)):
        recorder = subprocess.Popen([HEAPWAKE, "record", "-q", "-o", "ongoing.wake", *options, "./ongoing"], stdin=subprocess.PIPE)
        for _ in range(600):
            if os.path.exists("ongoing.wake.partial") and json.loads(tool("info", "--json", "ongoing.wake.partial").out or "{}").get("allocations"):
                break
            time.sleep(0.1)
        shutil.copy("ongoing.wake.partial", "cut.wake")
        recorder.stdin.close()
        check.equal("exit status", 0, recorder.wait(60))
        check.equal("notes", is_held_back, any(said in note for note in info("cut.wake")["notes"]))
        for command in ("report", "info", "verify"):
            done = tool(command, "cut.wake")
            text = " ".join((done.out + done.err).decode().split())
            check.equal(f"{command}: {text}", is_held_back, said in text)
            check.equal(f"{command}: what is culled", is_held_back and command != "verify", " not known " in text)
        check.equal("notes at the end", [], info("ongoing.wake")["notes"])
        check.holds(b"not known" not in tool("info", "ongoing.wake").out, "The whole file lacks what was culled.")


stripped()
recorded()
unfinished()
temporary()
limited()
releases_behind()
check.done()
