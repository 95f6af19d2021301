#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""A question that makes no sense, or of which a part would be passed over, is refused in one sentence with exit
status 2; and an answer that is empty because nothing meets the conditions says so."""
import json
import subprocess

from support import Check, record, tool

check = Check()
with open("small.c", "w", encoding="ascii") as f:
    f.write("""#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
void *volatile kept;
int main(void)
{
    for (int i = 0; i < 100; i++) {
        kept = malloc(1000);
        kept = malloc(10);
        free(kept);
        usleep(1000);
    }
    mmap(NULL, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return 0;
}
""")
subprocess.run(["gcc", "-g", "-o", "small", "small.c"], check=True)
record(["./small"], "x.wake")
record(["./small"], "y.wake")


def refused(argv, sentence):
    done = tool(*argv)
    check.about(" ".join(argv))
    check.equal("exit status", 2, done.status)
    check.equal("standard output", b"", done.out)
    check.equal("standard error", f"heapwake: {sentence}\n", done.err.decode())


def accepted(argv, said=""):
    done = tool(*argv)
    check.about(" ".join(argv))
    check.equal("exit status", 0, done.status)
    check.equal("standard error", said and f"heapwake: {said}\n", done.err.decode())
    return done.out.decode()


# One value, given twice.
for command, option, values, files in (
        ("check", "--max-peak", ("1", "200M"), ["x.wake"]), ("check", "--max-leak", ("1", "1"), ["x.wake"]),
        ("check", "--max-leak-per-site", ("1", "2"), ["x.wake"]), ("check", "--max-allocations", ("1", "2"), ["x.wake"]),
        ("check", "--max-leak-growing", ("1", "2"), ["x.wake"]), ("check", "--max-leak-stopped", ("1", "2"), ["x.wake"]),
        ("check", "--config", ("a", "b"), ["x.wake"]), ("check", "--junit", ("a", "b"), ["x.wake"]),
        ("check", "--markdown", ("a", "b"), ["x.wake"]),
        ("export", "--output", ("x1", "x2"), ["x.wake"]), ("export", "--format", ("csv", "json"), ["x.wake"]),
        ("export", "--anonymize", ("full", "partial"), ["x.wake"]),
        ("diff", "--svg", ("a", "b"), ["x.wake", "y.wake"]), ("diff", "-n", ("1", "2"), ["x.wake", "y.wake"]),
        ("report", "-n", ("1", "2"), ["x.wake"]), ("report", "--threshold", ("1", "2"), ["x.wake"]),
        ("report", "--sort", ("size", "time"), ["x.wake"]), ("report", "--worst", ("rss", "peak"), ["x.wake"]),
        ("report", "--depth", ("1", "2"), ["x.wake"]), ("report", "--earlier", ("1s", "2s"), ["x.wake"]),
        ("report", "--since", ("1%", "2%"), ["x.wake"]), ("report", "--until", ("1%", "2%"), ["x.wake"]),
        ("report", "--by", ("line", "file"), ["x.wake"]), ("report", "--callers", ("main", "f"), ["x.wake"])):
    refused([command, option, values[0], option, values[1], *files], f"'{option}' is given twice; it takes one value.")
refused(["export", "-o", "x1", "--output=x2", "x.wake"], "'--output' is given twice; it takes one value.")
refused(["check", "--max-growth-vs", "x.wake", "1%", "--max-growth-vs", "y.wake", "2%", "x.wake"],
        "'--max-growth-vs' is given twice; it takes one value.")
with open("known", "w", encoding="ascii") as f:
    f.write("leak:nobody\n")
accepted(["report", "--include", "main", "--include", "small", "--exclude", "nobody", "--exclude", "nobody", "x.wake"])
accepted(["check", "--max-leak", "1G", "--suppressions", "known", "--suppressions", "known", "x.wake"])

# Export.
for measures in (("--peak", "--leaks"), ("--peak", "--leaks", "--leaks"), ("--leaks", "--leaks", "--peak")):
    refused(["export", "-f", "folded", *measures, "x.wake"], "folded shows one measure; two are given.")
accepted(["export", "-f", "folded", "--leaks", "--leaks", "x.wake"], "folded has one number a stack: no times, threads and lifetimes.")
for argv in (["report", "x.wake"], ["export", "-f", "json", "x.wake"], ["diff", "x.wake", "y.wake"]):
    check.equal(f"{argv}, a window that ends before it begins", 2, tool(*argv, "--from", "5ms", "--to", "1ms").status)

# Nothing meets the conditions.
calls = json.loads(tool("info", "--json", "x.wake").out)["allocations"]
both = 2 * calls
for argv, sentence in ((["report", "--leaks", "x.wake"], f"None of the {calls} allocations"), (["report", "--since", "10%", "x.wake"], f"None of the {calls} allocations"),
                       (["report", "--tree", "x.wake"], f"None of the {calls} allocations"), (["report", "--at", "10%", "x.wake"], f"None of the {calls} allocations"),
                       (["report", "--maps", "x.wake"], "The only mapping"), (["diff", "--leaks", "x.wake", "y.wake"], f"None of the {both} allocations"),
                       (["diff", "x.wake@10%", "x.wake@20%"], f"None of the {calls} allocations")):
    for condition in ("function=typo", "thread=typo"):
        accepted([*argv, "--where", condition], sentence + (" does not meet" if "only" in sentence else " meets") + " the conditions that were given.")
for name in ("folded", "json", "csv", "html"):
    said = tool("export", "-f", name, "--where", "function=typo", "x.wake").err.decode()
    check.equal(f"export -f {name}", 1, said.count(f"heapwake: None of the {calls} allocations meets the conditions that were given.\n"))
for argv in (["report", "--since", "10%", "x.wake"], ["diff", "x.wake", "y.wake"], ["report", "--maps", "x.wake"]):
    accepted([*argv, "--where", "size-min=20"])

# A window beside a moment, which it does not change.
for key, words, files in (("--from", "allocated-from=TIME' leaves what was allocated since", ["x.wake"]),
                          ("--to", "allocated-to=TIME' leaves what was allocated until", ["x.wake"])):
    for asked in (["--at", "50%"], ["--at", "50%", "--tree"], ["--at", "50%", "--by", "thread"], ["--where", "at=50%"], ["--until", "50%"],
                  ["--since", "10%", "--until", "50%"], *([["--since", "10%"]] if key == "--from" else [])):
        refused(["report", *asked, key, "30%", "x.wake"],
                f"What is live at a moment does not depend on {key}; '--where {words} then.")
    for pair in (["x.wake@10%", "x.wake@50%"],) + ((["x.wake@10%", "x.wake"],) if key == "--from" else ()):
        refused(["diff", key, "30%", *pair], f"What is live at a moment does not depend on {key}; '--where {words} then.")
for argv in (["report", "--at", "50%", "--peak", "--from", "30%", "x.wake"], ["report", "--at", "50%", "--histogram", "--from", "30%", "x.wake"],
             ["report", "--at", "50%", "--maps", "--from", "30%", "x.wake"], ["report", "--at", "50%", "--details", "--to", "30%", "x.wake"],
             ["report", "--at", "50%", "--from", "30%", "--where", "allocated=inside", "x.wake"],
             ["report", "--since", "10%", "--until", "50%", "--to", "30%", "--where", "freed=outside", "x.wake"],
             ["report", "--since", "10%", "--to", "30%", "x.wake"], ["diff", "x.wake@10%", "x.wake", "--to", "30%"],
             ["diff", "x.wake@10%", "x.wake@20%", "--from", "50%", "--where", "allocated=outside"],
             ["diff", "x.wake@peak-rss", "x.wake@20%", "--from", "0ns"], ["diff", "x.wake@20%", "x.wake@peak-rss", "--from", "0ns"]):
    accepted(argv)
refused(["report", "--since", "60%", "--to", "20%", "x.wake"], "--to lies before --since.")
refused(["report", "--since", "60%", "--until", "20%", "x.wake"], "--until lies before --since.")

# Numbers and patterns.
for value in ("0x10", "1e1", " 5", "+5", "5 %", "%", "nan", "-1", "5%%"):
    refused(["report", "--leaks", "--threshold", value, "x.wake"], f"--threshold takes a percentage from 0 to 100, not '{value}'.")
for value in ("5", "5%", "0.5", "100%"):
    accepted(["report", "--leaks", "--threshold", value, "x.wake"])
refused(["report", "--where", "size-min=1.5", "x.wake"], '"1.5" is no value for size-min, which takes SIZE (at least: size asked for).')
refused(["check", "--max-leak", "1.5", "x.wake"], "max-leak takes a size such as 200M, not '1.5'.")
accepted(["report", "--where", "size-min=0.5K", "x.wake"])
refused(["report", "--where", "function=", "x.wake"], '"" is no value for function, which takes REGEX '
        "(a function on its stack matches; without a name it is MODULE+0xADDRESS, of which more than MODULE or digits has to match).")
for key in ("not-function", "source", "module", "freed-function"):
    check.equal(f"{key} without a pattern", 2, tool("report", "--where", f"{key}=", "x.wake").status)
check.equal("--without without a pattern", 2, tool("report", "--without", "function~", "x.wake").status)

# Every kind that is shown can be asked for; new stands for both of its own.
with open("kinds.cc", "w", encoding="ascii") as f:
    f.write("""#include <new>
struct alignas(64) wide { char bytes[128]; };
void *volatile kept;
int main()
{
    kept = new wide;
    kept = new wide[2];
    kept = new char[1001];
    kept = new int;
}
""")
subprocess.run(["g++", "-std=c++17", "-O0", "-o", "kinds", "kinds.cc"], check=True)
record(["./kinds"], "kinds.wake")


def calls_of(*options):
    return json.loads(accepted(["report", "--json", "--calls", *options, "kinds.wake"]))["calls"]


groups = {group["name"]: group["blocks"] for group in calls_of("--by", "kind")["groups"]}
check.holds({"new", "new[]", "new-aligned", "new[]-aligned"} <= groups.keys(), f"The kinds are {groups}.")
for kind, count in groups.items():
    both = count + groups.get(f"{kind}-aligned", 0)
    check.equal(f"blocks of kind {kind}", both, calls_of("--where", f"kind={kind}")["total_blocks"])
check.holds("new-aligned and new[]-aligned" in " ".join(accepted(["help", "where"]).split()), "The help does not name them.")

# What counts as temporary, where nothing is said of that.
for argv in (["report", "--peak", "x.wake"], ["report", "--leaks", "--tree", "x.wake"], ["report", "--by", "thread", "x.wake"],
             ["report", "--maps", "x.wake"], ["report", "--histogram", "x.wake"], ["report", "--since", "10%", "x.wake"],
             ["report", "--advice", "x.wake"], ["diff", "--leaks", "x.wake", "y.wake"], ["diff", "x.wake", "y.wake"],
             ["export", "-f", "folded", "x.wake"], ["export", "-f", "folded", "--leaks", "x.wake"]):
    refused([*argv, "--where", "temporary=2ms"], "'temporary' says what counts as temporary, of which nothing is shown here; it goes with "
            "--temporary or '--where state=temporary'.")
for argv in (["report", "x.wake"], ["report", "--peak", "--temporary", "x.wake"], ["report", "--peak", "--where", "state=temporary", "x.wake"],
             ["report", "--by", "thread", "--temporary", "x.wake"], ["diff", "--temporary", "x.wake", "y.wake"],
             ["export", "-f", "sqlite", "-o", "x.db", "x.wake"], ["export", "-f", "json", "x.wake"],
             ["report", "--maps", "--where", "state=temporary", "--where", "thread=small", "x.wake"]):
    check.equal(f"{argv} with temporaries", 0, tool(*argv, "--where", "temporary=1h").status)
check.done()
