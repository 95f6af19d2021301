#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""`heapwake report` against programs that know what they did: every function's
bytes and blocks in every list, group and tree; the page; hostile names;
suppressions; several recordings; what it says when it is used wrongly."""
import collections
import json
import os
import pty
import re
import shutil
import subprocess

from support import HEAPWAKE, Check, info, native, record, tool, truth, workload

check = Check()
LEAKY = "leaky.wake"
BLAME = workload("blame")


def report(*argv):
    done = tool("report", "--json", *argv)
    check.equal(f"exit status of report {argv}", 0, done.status)
    return json.loads(done.out)


def page(*argv, **env):
    done = native([HEAPWAKE, "report", *argv], env={"LC_ALL": "C.UTF-8", **env})
    check.equal(f"exit status of report {argv}", 0, done.status)
    return done.out.decode()


class Symbols:
    """Functions of a program by address, as nm tells them."""

    def __init__(self, path):
        listed = subprocess.run(["nm", "-S", "--defined-only", path], capture_output=True, text=True, check=True)
        self.path, self.ranges = os.path.realpath(path), []
        for words in map(str.split, listed.stdout.splitlines()):
            if len(words) == 4 and words[2] in "tT":
                self.ranges.append((int(words[0], 16), int(words[0], 16) + int(words[1], 16), words[3]))

    def name(self, frame):
        at = int(frame["address"], 16) - 1
        if os.path.realpath(frame["module"]) != self.path:
            return None
        found = [name for low, high, name in self.ranges if low <= at < high]
        return found[0] if found else None


SYMBOLS = Symbols(BLAME)
FRAME_KEYS = ["function", "file", "line", "module", "address", "inlined"]


def check_shape(name, section):
    """The documented shape, and sites that add up."""
    check.equal(f"{name}: sum of bytes", section["total_bytes"], sum(s["bytes"] for s in section["sites"]))
    check.equal(f"{name}: sum of blocks", section["total_blocks"], sum(s["blocks"] for s in section["sites"]))
    for site in section["sites"]:
        keys = ["bytes", "blocks", "frames"] + (["verdict"] if name in ("peak", "leaks") else [])
        check.equal(f"{name}: keys of a site", keys, list(site))
        for frame in site["frames"]:
            check.equal(f"{name}: keys of a frame", FRAME_KEYS, list(frame))


def by_function(section):
    """bytes and blocks of each function of the program that called malloc."""
    found = collections.defaultdict(lambda: [0, 0])
    for site in section["sites"]:
        name = next((SYMBOLS.name(f) for f in site["frames"] if SYMBOLS.name(f)), "-")
        found[name][0] += site["bytes"]
        found[name][1] += site["blocks"]
    return found


def check_truth(told, whole, facts):
    for name in ("peak", "leaks", "calls", "temporary"):
        check_shape(name, whole[name])
    allocated = report("--allocated", "blame.wake")["allocated"]
    check_shape("allocated", allocated)
    check_shape("live", report("--at", "end", "blame.wake")["live"])
    check_shape("change", report("--since", "0%", "blame.wake")["change"])
    for function, account in told["functions"].items():
        for name in ("peak", "leaks"):
            check.equal(f"{name} of {function}", account[name], by_function(whole[name])[function])
        check.equal(f"allocated by {function}", account["allocated"], by_function(allocated)[function])
        check.equal(f"calls of {function}", account["allocated"][1], by_function(whole["calls"])[function][1])
        check.equal(f"temporary of {function}", account["temporary"], by_function(whole["temporary"])[function][1])
    check.equal("peak", facts["peak_bytes"], whole["peak"]["total_bytes"])
    check.equal("leaked and suppressed", facts["leaked_bytes"],
                whole["leaks"]["total_bytes"] + whole["leaks"]["suppressed"]["total_bytes"])
    known = report("--leaks", LEAKY)["leaks"]["suppressed"]
    check.holds(known["total_blocks"] > 0, "Nothing is suppressed: this tests too little.")
    for shape in (["--by", "function"], ["--by", "thread"], ["--tree"], ["--top-down"]):
        check.equal(f"suppressed, with {shape}", known, report("--leaks", *shape, LEAKY)["leaks"].get("suppressed"))
        check.holds("suppressed" not in report("--peak", *shape, LEAKY)["peak"], f"{shape}: of the peak something is suppressed.")
    check.equal("calls", facts["allocations"], whole["calls"]["total_blocks"])
    check.equal("allocated", facts["allocated_bytes"], allocated["total_bytes"])
    for key in ("allocations", "frees", "peak_bytes", "peak_time_ns", "leaked_bytes", "lost_events", "cut_stacks"):
        check.equal(f"summary: {key}", facts[key], whole["summary"][key])
    dug = [s for s in whole["leaks"]["sites"] if "dig" in map(SYMBOLS.name, s["frames"])]
    check.equal("sites of dig", 1, len(dug))
    check.equal("frames of dig", 201, [SYMBOLS.name(f) for f in dug[0]["frames"]].count("dig"))
    check.equal("outermost frame", "_start", SYMBOLS.name(dug[0]["frames"][-1]))


def check_groups(told):
    for by in ("function", "line", "module", "file", "process"):
        groups = report("--leaks", "--by", by, "blame.wake")["leaks"]
        check.equal(f"by {by}: self values add up", groups["total_bytes"], sum(g["self_bytes"] for g in groups["groups"]))
        check.holds(all(g["self_bytes"] <= g["bytes"] <= groups["total_bytes"] for g in groups["groups"]),
                    f"by {by}: a group is larger than the total.")
    leaked = sum(a["leaks"][0] for a in told["functions"].values())
    modules = report("--leaks", "--by", "module", "blame.wake")["leaks"]["groups"]
    own = [g["self_bytes"] for g in modules if os.path.realpath(g["name"]) == SYMBOLS.path]
    check.equal("leaks of the program's module", [leaked], own)
    processes = report("--calls", "--by", "process", "blame.wake")["calls"]
    check.equal("processes", [info("blame.wake")["pid"]], [g["pid"] for g in processes["groups"]])


def check_tree(way, option, threshold):
    tree = report("--peak", *option, "--threshold", threshold, "blame.wake")["peak"]
    nodes, below = tree["nodes"], collections.Counter()
    for i, node in enumerate(nodes):
        check.holds(node["parent"] is None or node["parent"] < i, f"{way}: a child comes before its parent.")
        below[node["parent"]] += node["bytes"]
        large = node["bytes"] >= tree["total_bytes"] * threshold / 100
        check.holds(large or node["places"] > 0, f"{way}: a node below the threshold is there.")
    check.equal(f"{way}: roots add up", tree["total_bytes"], below[None])
    for i, node in enumerate(nodes):
        check.equal(f"{way}: node {i} adds up", node["bytes"], node["self_bytes"] + below[i])
    return nodes


def check_trees():
    for threshold in (0, 1, 50):
        roots = [n for n in check_tree("tree", ["--tree"], threshold) if n["parent"] is None and not n["places"]]
        check.equal("largest root of the tree", "hold", SYMBOLS.name(roots[0]))
        roots = [n for n in check_tree("top-down", ["--top-down"], threshold) if n["parent"] is None]
        check.equal("largest root top-down", "_start", SYMBOLS.name(roots[0]))
    check.equal("a function that is not there", [],
                report("--leaks", "--callers", "no_such_function", "blame.wake")["leaks"]["nodes"])
    text = tool("report", "--leaks", "--callers", "no_such_function", "blame.wake").out.decode()
    check.holds("has a function called no_such_function." in text, f"it does not say that there is none:\n{text}")


def check_names(whole, told):
    """With names the options about functions can be held against the truth too."""
    named = any(f["function"] for s in whole["leaks"]["sites"] for f in s["frames"])
    text = page("--leaks", "blame.wake")
    if not named:
        check.holds("blame+0x" in text, "without names, a frame is not shown as module+0xoffset.")
        return
    check.holds(re.search(r"leak_large +blame\.c:\d+", text), "the text does not name leak_large with its line.")
    leaks = {name: account["leaks"][0] for name, account in told["functions"].items()}
    groups = {g["name"]: g for g in report("--leaks", "--by", "function", "blame.wake")["leaks"]["groups"]}
    check.equal("self of dig", leaks["dig"], groups["dig"]["self_bytes"])
    check.equal("dig, with callees", leaks["dig"], groups["dig"]["bytes"])
    nodes = report("--leaks", "--callers", "leak_small", "blame.wake")["leaks"]["nodes"]
    check.equal("callers of leak_small", ["leak_small", "main"], [n["function"] for n in nodes[:2]])
    check.equal("bytes of leak_small", leaks["leak_small"], nodes[0]["bytes"])
    nodes = report("--leaks", "--callees", "main", "blame.wake")["leaks"]["nodes"]
    check.equal("leaks below main", sum(leaks.values()), nodes[0]["bytes"])
    kept = report("--leaks", "--include", "^leak_", "--exclude", "large", "blame.wake")["leaks"]
    check.equal("only leak_small", leaks["leak_small"], kept["total_bytes"])


def check_filters(told):
    leaked = sum(a["leaks"][0] for a in told["functions"].values())
    check.equal("--include of a module", leaked, report("--leaks", "--include", "/blame$", "blame.wake")["leaks"]["total_bytes"])
    check.equal("--exclude of everything", 0, report("--leaks", "--exclude", ".", "blame.wake")["leaks"]["total_bytes"])
    few = report("--leaks", "-n", "2", "blame.wake")["leaks"]
    check.equal("sites with -n 2", 2, len(few["sites"]))
    check.equal("total with -n 2", leaked, few["total_bytes"])


def check_suppressions(told):
    leaked = sum(a["leaks"][0] for a in told["functions"].values())
    with open("known.txt", "w") as f:
        f.write("# known\n\nleak:never_there\nleak:*/blame$\n")
    leaks = report("--leaks", "--suppressions", "known.txt", "blame.wake")["leaks"]
    check.equal("leaks that are left", 0, leaks["total_bytes"])
    check.equal("suppressed by the file", [("*/blame$", leaked)],
                [(r["pattern"], r["bytes"]) for r in leaks["suppressed"]["rules"] if not r["built_in"]])
    check.holds("*/blame$" in page("--leaks", "--suppressions", "known.txt", "blame.wake"),
                "the text does not say what was suppressed.")
    with open("wrong.txt", "w") as f:
        f.write("leak:a\nthread:b\n")
    done = tool("report", "--suppressions", "wrong.txt", "blame.wake")
    check.equal("exit status with a wrong file", 1, done.status)
    check.holds(b"wrong.txt, line 2:" in done.err, f"it does not say where the file is wrong: {done.err}")


def check_pages(*files):
    modes = [[], ["--leaks"], ["--peak"], ["--allocated"], ["--calls"], ["--temporary"], ["--by", "function"],
             ["--by", "module"], ["--by", "line"], ["--by", "process"], ["--tree"], ["--top-down"],
             ["--leaks", "--tree", "--threshold", "0"]]
    for mode in modes:
        for locale in ("C.UTF-8", "C"):
            text = page(*mode, *files, LC_ALL=locale)
            long = [line for line in text.splitlines() if len(line) > 80]
            check.holds(not long, f"{mode}: lines of more than 80 columns: {long[:2]}")
            harm = re.findall(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", text)
            check.holds(not harm, f"{mode}: control characters reach the page: {harm[:3]}")
            check.holds(text.count("\n") < 60 or mode, f"the default screen has {text.count(chr(10))} lines.")
            check.holds(locale != "C" or text.isascii(), f"{mode}: not ASCII in the C locale.")


def on_terminal(**env):
    """What the report prints on a terminal."""
    pid, fd = pty.fork()
    if pid == 0:
        os.execve(HEAPWAKE, [HEAPWAKE, "report", "blame.wake"], {"TERM": "xterm", "LC_ALL": "C.UTF-8", **env})
    text = b""
    while True:
        try:
            piece = os.read(fd, 65536)
        except OSError:
            break
        if not piece:
            break
        text += piece
    os.waitpid(pid, 0)
    os.close(fd)
    return text


def check_colour():
    check.holds(b"\x1b[1m" in on_terminal(), "there is no colour on a terminal.")
    check.holds(b"\x1b" not in on_terminal(NO_COLOR="1"), "NO_COLOR is not heard.")
    check.holds(b"\x1b" not in on_terminal(TERM="dumb"), "TERM=dumb is not heard.")


def check_hostile():
    """A file name, a thread name and arguments with escape sequences."""
    evil = "bl\x1b]0;owned\x07\x1b[31mame"
    shutil.copy(BLAME, evil)
    record([os.path.abspath(evil), "\x1b[2Jthread"], "evil.wake")
    check_pages("evil.wake")
    done = tool("report", "--json", "evil.wake")
    check.holds(b"\x1b" not in done.out and b"\x07" not in done.out, "control characters reach the JSON as they are.")
    modules = {os.path.basename(f["module"]) for s in json.loads(done.out)["leaks"]["sites"] for f in s["frames"]}
    check.holds(evil in modules, f"the module is not in the JSON: {modules}")


def check_several(told):
    record([BLAME], "second.wake")
    both, one = report("blame.wake", "second.wake"), report("blame.wake")
    check.equal("sites of two recordings", len(one["leaks"]["sites"]), len(both["leaks"]["sites"]))
    check.equal("leaks of two recordings", 2 * one["leaks"]["total_bytes"], both["leaks"]["total_bytes"])
    check.equal("peak of two recordings", one["peak"]["total_bytes"], both["peak"]["total_bytes"])
    check.equal("processes", 2, both["summary"]["processes"])
    check.equal("sum of peaks", told["peak_bytes"], sum(v[0] for v in by_function(both["peak"]).values()))


def check_cut():
    """A recording that was cut is reported as far as it goes, and called what it is."""
    whole = open("blame.wake", "rb").read()
    for part in (0.3, 0.6, 0.95):
        with open("cut.wake", "wb") as f:
            f.write(whole[:int(len(whole) * part)])
        done = tool("report", "--json", "cut.wake")
        check.equal(f"exit status with {part} of the file", 0, done.status)
        check.equal(f"complete with {part} of the file", False, json.loads(done.out)["summary"]["complete"])


def check_head():
    """The head is about the whole recording, whatever was asked for."""
    told = json.loads(tool("report", "--json", LEAKY).out)["summary"]
    check.holds(told["suppressed_bytes"] > 0, "Nothing is suppressed: this tests too little.")
    for asked in (["--where", "size-min=1M"], ["--leaks", "--to", "1ns"], ["--include", "^nobody$"], ["--at", "0%"]):
        check.equal(f"summary with {asked}", told, json.loads(tool("report", "--json", *asked, LEAKY).out)["summary"])


def kib(n):
    return f"{n / 1024:.1f} KiB"


def check_faces():
    """What was never freed is the same figure everywhere, and what is suppressed is said beside it."""
    said = tool("record", "-o", "faces.wake", workload("../../examples/kitchen")).err.decode()
    told = json.loads(tool("report", "--json", "faces.wake").out)["summary"]
    leaked, known = told["leaked_bytes"], told["suppressed_bytes"]
    rest = kib(leaked - known)
    check.holds(0 < known < leaked, "Nothing is suppressed, or all: this tests too little.")
    check.holds(f"leaked {kib(leaked)} in {told['leaked_blocks']:,} blocks" in said, f"record says {said!r}")
    check.equal("info", leaked, json.loads(tool("info", "--json", "faces.wake").out)["leaked_bytes"])
    side = json.loads(tool("diff", "--json", "faces.wake", "faces.wake").out)["after"]
    check.equal("diff", (leaked, known), (side["leaked_bytes"], side["suppressed_bytes"]))
    limits = json.loads(tool("check", "--json", "--max-leak", "1G", "faces.wake").out)
    check.equal("check", (leaked - known, known), (limits["limits"][0]["seen"], limits["suppressed_bytes"]))
    without = f"without {kib(known)} suppressed"
    for argv, words in [
            (["report"], f"leaked {kib(leaked)} in {told['leaked_blocks']:,} blocks; {kib(known)} of it suppressed"),
            (["report"], f"Leaked: {rest} in {told['leaked_blocks'] - told['suppressed_blocks']:,} blocks, {without}"),
            (["report", "--leaks", "--by", "module"], f"Leaked by module, {without}"),
            (["report", "--leaks", "--tree"], f"Leaked: {rest} in "),
            (["report", "--leaks", "--tree"], without),
            (["report", "--no-built-in-suppressions"], f"Leaked: {kib(leaked)} in {told['leaked_blocks']:,} blocks "),
            (["diff", "faces.wake"], f"({rest}, then {rest}), no site differs without {kib(known)}, then {kib(known)} suppressed"),
            (["check", "--max-leak", "1G"], f"{rest} of at most 1.0 GiB; {without}")]:
        text = " ".join(tool(*argv, "faces.wake").out.decode().split())
        check.holds(words in text, f"{argv} does not say {words!r}: {text}")


def check_misuse():
    for argv, sentence in [
            (["--colour", "blame.wake"], "'heapwake report' has no option '--colour'"),
            (["--by", "colour", "blame.wake"], "--by takes"),
            (["-n", "many", "blame.wake"], "-n takes a number"),
            (["--threshold", "101", "blame.wake"], "--threshold takes a percentage"),
            (["--at", "101%", "blame.wake"], "\"101%\" is no value"),
            (["--include", "(", "blame.wake"], "'(' is not a regular expression: a parenthesis has no other half."),
            (["--where", "function=[a", "blame.wake"], "'[a' is not a regular expression: a [ has no ]."),
            (["--tree", "--by", "line", "blame.wake"], "mutually exclusive"),
            (["--since", "1ms", "--maps", "blame.wake"], "make a list of their own"),
            (["blame.wake", "--callers"], "--callers needs a value")]:
        done = tool("report", *argv)
        check.equal(f"exit status of report {argv}", 2, done.status)
        check.holds(sentence in done.err.decode(), f"report {argv} says {done.err.decode()!r}")
    done = tool("report", "not_there.wake")
    check.equal("exit status without a file", 1, done.status)
    check.equal("lines about a missing file", 1, len(done.err.splitlines()))


record([workload("exceptions")], LEAKY)  # C++: its library keeps a pool
told = truth(record([BLAME], "blame.wake"))
facts = check.sound("blame.wake")
whole = report("blame.wake")
check_truth(told, whole, facts)
check_groups(told)
check_trees()
check_names(whole, told)
check_filters(told)
check_suppressions(told)
check_pages("blame.wake")
check_colour()
check_hostile()
check_several(told)
check_cut()
check_head()
check_faces()
check_misuse()
check.done()
