#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""`heapwake check` against a program that knows what it leaks: limits one byte
above and below, exit codes, files of limits, JUnit, Markdown, JSON, and what it
says when it is used wrongly."""
import json
import os
import re
import shutil
import xml.dom.minidom
import xml.etree.ElementTree

from support import HEAPWAKE, Check, info, leave_out, native, record, tool, truth, workload

check = Check()
DRIFT = workload("drift")


def expect(status, *argv):
    done = tool("check", *argv)
    check.equal(f"exit status of check {argv}", status, done.status)
    return done.out.decode()


def toml(text, name="limits.toml"):
    with open(name, "w", encoding="utf-8") as f:
        f.write(text)
    return name


def check_edges(told):
    facts, leaked = info("one.wake"), sum(v[0] for v in told.values())
    largest = max(v[0] for v in told.values())
    for option, value in (("--max-peak", facts["peak_bytes"]), ("--max-leak", leaked),
                          ("--max-leak-per-site", largest), ("--max-allocations", facts["allocations"])):
        text = expect(0, option, str(value), "one.wake")
        check.holds(text.lstrip().startswith("ok"), f"{option} {value}: {text}")
        text = expect(1, option, str(value - 1), "one.wake")
        check.holds(text.lstrip().startswith("over") and "growing  drift.c" in text and "< main" in text,
                    f"{option} {value - 1} blames nobody: {text}")
        check.holds(all(len(line) <= 80 for line in text.splitlines()), f"{option}: a line is too long.")
    text = expect(1, "--max-leak-per-site", str(largest - 1), "one.wake")
    check.equal("sites to blame", 1, text.count("drift.c:") - text.count("< main"))


PACKS = """#include <memory>
#include <vector>
int main()
{
    auto *v = new std::vector<std::unique_ptr<char[]>>;
    for (int i = 0; i < 100; i++) { v->push_back(std::make_unique<char[]>(64)); }
    return 0;
}
"""


def check_rows():
    """A site is a row of the report: blocks and their vector, which come from one line of the program, are one."""
    with open("packs.cc", "w", encoding="utf-8") as f:
        f.write(PACKS)
    native(["g++", "-g", "-O0", "-o", "packs", "packs.cc"])
    record(["./packs"], "packs.wake")
    sizes = [64] * 100 + [128 * 8]
    expect(0, "--max-leak-per-site", str(sum(sizes)), "packs.wake")
    text = expect(1, "--max-leak-per-site", str(sum(sizes) - 1), "packs.wake")
    check.holds("101x  main  packs.cc:6" in text, f"The site over the limit: {text}")
    shown = tool("report", "--leaks", "packs.wake").out.decode()
    check.holds("101x  main  packs.cc:6" in shown, f"The same in the report: {shown}")


def check_growth():
    expect(0, "--max-growth-vs", "one.wake", "0%", "one.wake")
    expect(0, "--max-growth-vs", "one.wake", "1000%", "grown.wake")
    text = expect(1, "--max-growth-vs", "one.wake", "5%", "grown.wake")
    check.equal("limits of growth", 3, text.count("of at most"))
    check.holds("+100x" in text and "growing  drift.c" in text, f"The growth is blamed on nobody: {text}")
    check.holds("steady" not in text, "What did not grow is blamed.")


def check_programs():
    left = set(os.listdir())
    check.equal("a fine program", 0, native([HEAPWAKE, "check", "--max-leak", "0", "--", "/bin/true"]).status)
    done = native([HEAPWAKE, "check", "--max-leak", "0", "--", DRIFT, 1])
    check.equal("a leaky program", 1, done.status)
    check.holds(b'{"steady": [64, 1]' in done.out, "The program's own output is lost.")
    check.equal("files that are left behind", left, set(os.listdir()))
    done = native([HEAPWAKE, "check", "--max-leak", "1G", "--", "/bin/false"])
    check.equal("a program that fails", 1, done.status)
    check.holds(b"exit code 1" in done.out, f"It is not said how the program ended: {done.out!r}")
    done = native([HEAPWAKE, "check", "--max-leak", "1G", "--", "/bin/sh", "-c", "kill -SEGV $$"])
    check.holds(done.status == 1 and b"SIGSEGV" in done.out, f"{done.status}: {done.out!r}")
    done = native([HEAPWAKE, "check", "--max-leak", "0", "--", "./none"])
    check.equal("no such program", (2, b"", 1), (done.status, done.out, done.err.count(b"\n")))
    shutil.copy("one.wake", "old.wake")
    done = native([HEAPWAKE, "check", "--max-leak", "1G", "-o", "old.wake", "--", "./none"])
    check.equal("no such program, and an old recording", (2, b""), (done.status, done.out))
    check.equal("a kept recording", 1, native([HEAPWAKE, "check", "--max-leak", "0", "-o", "kept.wake", "--", DRIFT, 1]).status)
    expect(1, "--max-leak", "0", "kept.wake")


def check_blame():
    """Who has shrunk is not to blame for growth."""
    check.about("blame")
    record([DRIFT, 60, 20, 5, 7], "other.wake")  # twice has fewer calls in grown.wake, growing more
    for options in ([], ["--json"]):
        done = tool("check", *options, "--max-growth-vs", "other.wake", "0%", "grown.wake")
        check.equal("exit status", 1, done.status)
        if options:
            over = [limit for limit in json.loads(done.out)["limits"] if not limit["kept"]]
            changes = [site["change_blocks" if "allocations" in limit["limit"] else "change_bytes"]
                       for limit in over for site in limit["sites"]]
            check.holds(changes and all(change > 0 for change in changes), f"Blamed are {changes}.")
        else:
            check.holds(b"  -" not in done.out and b"  +0 " not in done.out, f"The page says {done.out.decode()}")
    check.about("")


def check_files(told):
    leaked = sum(v[0] for v in told.values())
    expect(1, "--max-leak", "0", "--max-peak", "1G", "--junit", "out.xml", "--markdown", "out.md", "one.wake")
    suite = xml.dom.minidom.parse("out.xml").getElementsByTagName("testsuite")[0]
    check.equal("JUnit: tests and failures", ("2", "1"), (suite.getAttribute("tests"), suite.getAttribute("failures")))
    cases = {c.getAttribute("name"): c for c in suite.getElementsByTagName("testcase")}
    check.equal("JUnit: names", ["max-peak", "max-leak"], list(cases))
    failure = cases["max-leak"].getElementsByTagName("failure")[0]
    check.holds("growing" in failure.firstChild.data and "< main" in failure.firstChild.data, "JUnit: no stacks.")
    check.holds(not cases["max-peak"].getElementsByTagName("failure"), "JUnit: a limit that was kept has failed.")
    text = open("out.md", encoding="utf-8").read()
    check.holds("| **over** | max-leak |" in text and "| ok | max-peak |" in text, f"Markdown: {text}")
    done = json.loads(tool("check", "--json", "--max-leak", "0", "--max-peak", "1G", "one.wake").out)
    check.equal("JSON: kept", [False, True, False], [done["kept"], *(o["kept"] for o in done["limits"])])
    check.equal("JSON: what was seen", (0, leaked), (done["limits"][1]["allowed"], done["limits"][1]["seen"]))
    check.equal("JSON: blame", "growing", done["limits"][1]["sites"][0]["frames"][0]["function"])


def check_limits_in_files():
    limits = toml('# limits\n[check]\nmax-leak = 0\nmax-peak = "1G"   # plenty\n')
    check.equal("limits of the file", 2, expect(1, "--config", limits, "one.wake").count("of at most"))
    expect(0, "--config", limits, "--max-leak", "1G", "one.wake")
    toml('leak:growing\nleak:twice\nleak:steady\n', "known.txt")
    expect(0, "--config", toml('[check]\nmax-leak = 0\nsuppressions = ["known.txt"]\n'), "one.wake")
    os.mkdir("sub")
    toml("leak:growing\nleak:twice\nleak:steady\n", "sub/known.txt")
    expect(0, "--config", toml('[check]\nmax-leak = 0\nsuppressions = ["known.txt"]\n', "sub/l.toml"), "one.wake")
    expect(1, "--config", toml('[check]\nmax-growth = "5%"\nbase = "one.wake"\n'), "grown.wake")
    toml("[check]\nmax-leak = 0\n", ".heapwake.toml")
    expect(1, "one.wake")
    os.unlink(".heapwake.toml")
    for text, sentence in [
            ("[check]\nmax-laek = 0\n", "line 2: There is no key 'max-laek'"),
            ("max-leak = 0\n", "line 1: max-leak stands before [check]"),
            ("[check]\n\nmax-leak = \"lots\"\n", "line 3: max-leak takes a size"),
            ("[check]\nmax-leak = 0\nmax-leak = 1\n", "line 3: max-leak is there already"),
            ("[check]\nmax-leak = 0 x\n", "line 2: Behind the value"),
            ("[check]\nmax-leak = \"0\n", "line 2: A string has no end"),
            ("[chekc]\n", "line 1: There is no table"),
            ("[check]\nmax-leak\n", "line 2: A line is KEY = VALUE"),
            ("[check]\nmax-growth = \"5%\"\n", "needs a base")]:
        done = tool("check", "--config", toml(text), "one.wake")
        check.equal(f"exit status with {text!r}", 2, done.status)
        check.holds(sentence in done.err.decode(), f"{text!r} gives {done.err.decode()!r}")


def check_misuse():
    for argv, sentence in [
            (["one.wake"], "No limit is given"),
            (["--max-leak", "0"], "A recording or a program"),
            (["--max-leak", "0", "one.wake", "--", "true"], "A recording or a program"),
            (["--max-leak", "x", "one.wake"], "max-leak takes a size"),
            (["--max-growth-vs", "one.wake"], "takes a recording and a percentage"),
            (["--max-growth-vs", "one.wake", "5", "one.wake"], "takes a percentage"),
            (["--colour", "one.wake"], "has no option '--colour'"),
            (["--max-leak", "0", "none.wake"], "none.wake"),
            (["--max-leak", "0", "--config", "none.toml", "one.wake"], "none.toml")]:
        done = tool("check", *argv)
        check.equal(f"exit status of check {argv}", 2, done.status)
        check.holds(sentence in done.err.decode(), f"check {argv} says {done.err.decode()!r}")
    whole = open("one.wake", "rb").read()
    with open("cut.wake", "wb") as f:
        f.write(whole[:len(whole) // 2])
    damaged = bytearray(whole)
    for at in range(len(whole) // 2, len(whole) // 2 + 8):
        damaged[at] ^= 0x55
    with open("damaged.wake", "wb") as f:
        f.write(damaged)
    record([DRIFT, 10, 20, 5, 7], "sampled.wake", ["--sample", "4K"])
    for name, words in (("cut", "is not complete"), ("damaged", "is not complete"), ("sampled", "has samples only")):
        for limits, status in ((["--max-leak", "1G"], 2), (["--max-leak", "0"], 2),
                               (["--max-peak", "1"], 2 if name == "sampled" else 1),
                               (["--max-leak", "1G", "--max-growth-vs", "one.wake", "900%"], 2)):
            done = tool("check", *limits, "--junit", "unsure.xml", "--markdown", "unsure.md", "--json", f"{name}.wake")
            check.equal(f"exit status of {limits} with {name}", status, done.status)
            check.holds(f"{name}.wake {words}" in done.err.decode(), f"{name}: {done.err!r}")
            check.equal(f"{name} is sure", False, json.loads(done.out)["sure"])
            suite = xml.etree.ElementTree.parse("unsure.xml").getroot()[0]
            check.equal(f"errors of {name}", ("1", 1), (suite.get("errors"), len(suite.findall("testcase/error"))))
            check.holds("**not sure**" in open("unsure.md", encoding="utf-8").read(), "The table says nothing.")
    done = tool("check", "--max-growth-vs", "cut.wake", "1000%", "one.wake")
    check.equal("exit status with a base that is cut", 2, done.status)
    check.equal("a whole one is sure", True, json.loads(tool("check", "--max-leak", "1G", "--json", "one.wake").out)["sure"])


def check_switched():
    """What was switched off for a while is judged as far as it goes; every face says how far."""
    record([workload("switched"), 200], "switched.wake")
    off_ns = info("switched.wake")["off_ns"]
    check.holds(off_ns > 0, "It was never off.")
    for limits, status in ((["--max-peak", "1G"], 0), (["--max-peak", "1"], 1)):
        done = tool("check", *limits, "--junit", "part.xml", "--markdown", "part.md", "--json", "switched.wake")
        check.equal(f"exit status of {limits} where it was off for a while", status, done.status)
        answer = json.loads(done.out)
        check.equal("sure, and for how long it was off", (True, off_ns), (answer["sure"], answer["off_ns"]))
        said = re.search(rb"switched\.wake was switched off for [\d.]+ [a-z]+: limits are held against what was recorded\.", done.err)
        check.holds(said, f"It says {done.err!r}.")
        sentence = said.group().decode() if said else "?"
        suite = xml.etree.ElementTree.parse("part.xml").getroot()[0]
        check.equal("errors, and the remark of JUnit", ("0", sentence), (suite.get("errors"), suite.findtext("system-out")))
        check.holds(f"| in part | recording | | `{sentence}` |" in open("part.md", encoding="utf-8").read(), "The table says nothing.")
    check.equal("off for", 0, json.loads(tool("check", "--max-leak", "1G", "--json", "one.wake").out)["off_ns"])


def check_verdicts():
    """Limits on what grows, and on what grew until its calls ended: each counts where it is asked for."""
    record([workload("pauses"), "end", "kill"], "ended.wake")
    record([workload("pauses"), "steady", "kill"], "steady.wake")
    sites = {path: [(site["verdict"]["kind"], site["bytes"], site["frames"][0]["function"]) for site in
                    json.loads(tool("report", "--json", "--leaks", "--verdict", "-n", "0", path).out)["leaks"]["sites"]]
             for path in ("ended.wake", "steady.wake")}
    for path, option, kind, other in (("ended.wake", "stopped", "stopped", "growing"), ("steady.wake", "growing", "grows", "stopped")):
        check.about(option)
        total = sum(size for verdict, size, _ in sites[path] if verdict == kind)
        names = sorted(name for verdict, _, name in sites[path] if verdict == kind)
        check.holds("leak_per_request" in names and "cache_of_keys" not in names, f"The sites are {sites[path]}.")
        expect(0, f"--max-leak-{other}", "0", path)
        expect(0, f"--max-leak-{option}", str(total), path)
        text = expect(1, f"--max-leak-{option}", str(total - 1), path)
        check.holds("leak_per_request" in text and "cache_of_keys" not in text and f"{kind}: " in text, f"Blamed are {text}")
        answer = json.loads(expect(1, "--json", "--max-leak", "1G", f"--max-leak-{option}", "0", path))["limits"]
        check.equal("JSON", [("max-leak", True), (f"max-leak-{option}", False)], [(o["limit"], o["kept"]) for o in answer])
        check.equal("JSON: seen, and to blame", (total, names),
                    (answer[1]["seen"], sorted(site["frames"][0]["function"] for site in answer[1]["sites"])))
        check.equal("in a file", 1, expect(1, "--config", toml(f"[check]\nmax-leak-{option} = 0\n"), path).count("  over"))
    native(["valgrind", "--tool=dhat", "--dhat-out-file=sums.dhat", "/bin/true"])
    tool("import", "-o", "sums.wake", "sums.dhat")
    done = tool("check", "--max-leak-growing", "0", "sums.wake")
    check.equal("exit status with sums", (2, b"", True), (done.status, done.out, b"without the time of each call" in done.err))
    check.about("")


PATIENT = """#define _GNU_SOURCE
#include <libintl.h>
#include <locale.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
/* Calls what libc keeps something for (not what jumps on to functions that have no name), and leaks so many bytes itself, through libc too. */
int main(int argc, char **argv)
{
    setlocale(LC_ALL, "");
    bindtextdomain("patient", "/nowhere");
    textdomain("patient");
    printf("%s %d\\n", "hello", getpwuid(getuid()) != NULL);
    tzset();
    return argc > 1 ? (int)strlen(strdup(argv[1])) - 7 : 0;
}
"""


def check_what_libc_keeps():
    """What libc keeps is no leak, whether its debug information is installed or not: a limit must not depend on that."""
    with open("patient.c", "w", encoding="utf-8") as f:
        f.write(PATIENT)
    check.equal("compiled", 0, native(["gcc", "-g", "-o", "patient", "patient.c"]).status)
    ways = {"as it is": []}
    if os.geteuid() == 0 and native(["unshare", "-m", "mount", "-t", "tmpfs", "none", "."]).status == 0 and os.path.isdir("/usr/lib/debug"):
        ways["without debug information"] = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /usr/lib/debug && exec "$@"', "sh"]
    else:
        leave_out("libc without debug information: /usr/lib/debug cannot be covered here.")
    for about, around in ways.items():
        check.about(about)
        done = native([*around, HEAPWAKE, "check", "--max-leak", "0", "--", "./patient"])
        check.equal("exit status", (0, ""), (done.status, "" if done.status == 0 else done.out.decode()))
        check.holds(b"suppressed" in done.out, f"Nothing is suppressed: this tests too little. {done.out}")
        done = native([*around, HEAPWAKE, "check", "--max-leak", "7", "--", "./patient", "sevenup"])
        check.equal("exit status with a leak of 8 bytes", 1, done.status)
        check.holds(b"patient.c:18" in done.out, f"It is blamed on {done.out}")
    check.about(None)


told = truth(record([DRIFT, 10, 20, 5, 7], "one.wake"))
record([DRIFT, 10, 120, 5, 7], "grown.wake")
check_edges(told)
check_rows()
check_growth()
check_programs()
check_blame()
check_files(told)
check_limits_in_files()
check_misuse()
check_switched()
check_verdicts()
check_what_libc_keeps()
check.done()
