#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""What a page shows is what it means: who stands below whom in a tree, where the plot of a window ends, whole
sentences; and what is said about moments in the wrong order and recordings that are not there yet."""
import fcntl
import json
import os
import pty
import re
import shutil
import struct
import subprocess
import termios
import time

from support import HEAPWAKE, Check, native, record, tool, workload

SIBLINGS = """#include <stdlib.h>
#include <unistd.h>
void *volatile kept;
__attribute__((noinline)) void first(void) { kept = malloc(1000); }
__attribute__((noinline)) void second(void) { kept = malloc(1000); }
__attribute__((noinline)) void inner(void) { kept = malloc(1000); __asm__(""); }
__attribute__((noinline)) void last(void) { inner(); __asm__(""); }
int main(void)
{
    first();
    second();
    last();
    for (int i = 0; i < 400; i++) {
        kept = malloc(100);
        usleep(1000);
    }
    return 0;
}
"""
check = Check()
with open("siblings.c", "w", encoding="ascii") as f:
    f.write(SIBLINGS)
subprocess.run(["gcc", "-g", "-O1", "-o", "siblings", "siblings.c"], check=True)
record(["./siblings"], "siblings.wake")


def page(*options):
    done = tool("report", *options, "siblings.wake")
    check.equal(f"exit status of {options}", 0, done.status)
    lines = done.out.decode().splitlines()
    check.holds(all(len(line) <= 80 for line in lines), f"{options}: a line has more than 80 columns.")
    return lines


def depths(lines):
    """Where the arrow of each function stands."""
    found = {}
    for line in lines:
        arrow = re.match(r"^([ |]*)-> .*\): (\w+)", line)
        if arrow:
            found.setdefault(arrow.group(2), len(arrow.group(1)))
    return found


check.about("no names")
subprocess.run(["cp", "siblings", "stripped"], check=True)
subprocess.run(["strip", "stripped"], check=True)
record(["./stripped"], "stripped.wake")
groups = json.loads(tool("report", "--json", "--allocated", "--by", "function", "stripped.wake").out)["allocated"]["groups"]
place = next(g for g in groups if g["name"].startswith("stripped+0x") and g["bytes"] > 0)
for argv in (["--callers", place["name"]], ["--callees", place["name"]], ["--include", "^" + re.escape(place["name"]) + "$"],
             ["--where", "function=^" + re.escape(place["name"]) + "$"]):
    seen = json.loads(tool("report", "--json", "--allocated", *argv, "stripped.wake").out)["allocated"]
    check.equal(f"{argv}", place["bytes"], seen["total_bytes"])

check.about("conditions")
for argv, sentence in [
        (["--where", "size-min=1000", "--where", "size-min=1"], "'size-min' is given twice"),
        (["--at", "10%", "--where", "at=20%"], "'at' is given twice"),
        (["--where", "state=leaked", "--where", "state=freed"], "'state' is given twice"),
        (["--without", "main", "--where", "size-min=1"], "--without is about all blocks of a process: it does not go with size-min"),
        (["--without", "main", "--where", "function=main"], "it does not go with function"),
        (["--misuse", "--where", "thread=1"], "it does not go with thread"),
        (["--advice", "--where", "not-module=x"], "it does not go with not-module"),
        (["--verdict", "--by", "line"], "--verdict is about sites"),
        (["--verdict", "--leaks", "--tree"], "--verdict is about sites"),
        (["--verdict", "--calls"], "--verdict is about what is held at the peak or leaked"),
        (["--details", "--by", "line"], "--details is about sites"),
        (["--since", "5%", "--at", "10%"], "--since and --until make a list of their own"),
        (["--since", "5%", "--since", "10%"], "'--since' is given twice"),
        (["--until", "5%", "--until", "10%"], "'--until' is given twice"),
        (["--misuse", "--include", "main"], "--misuse is about all blocks of a process"),
        (["--advice", "--from", "10%"], "--advice is about all blocks of a process: it does not go with from"),
        (["--tree", "-n", "3"], "-n is about lists; of a tree --threshold"),
        (["--callers", "main", "--leaks", "-n", "3"], "-n is about lists; of a tree --threshold"),
        (["--histogram", "-n", "3"], "-n is about lists; none is asked for"),
        (["--misuse", "-n", "3"], "-n is about lists; none is asked for"),
        (["--without", "main", "-n", "3"], "-n is about lists; none is asked for"),
        (["--histogram", "--threshold", "3"], "--threshold is about sites, groups and trees"),
        (["--maps", "--threshold", "3"], "--threshold is about sites, groups and trees"),
        (["--advice", "--threshold", "3"], "--threshold is about sites, groups and trees"),
        (["--without", "func~main"], "--without knows function~, source~ and module~, not 'func~'"),
        (["--where", "kind=foo"], "posix_memalign, valloc, pvalloc, new or new[]")]:
    done = tool("report", *argv, "siblings.wake")
    check.holds(done.status == 2 and sentence in done.err.decode(), f"{argv} says {done.err.decode()!r}")
for argv in (["--where", "thread=1", "--where", "thread=2"], ["--where", "function=a", "--where", "function=b"],
             ["--until", "90%", "--since", "10%"], ["--misuse", "--pid", "1"], ["--tree", "--advice", "-n", "3"], ["--misuse", "-n", "0"],
             ["--maps", "-n", "3"], ["--histogram", "--leaks", "-n", "3", "--threshold", "3"], ["--tree", "--threshold", "3"]):
    done = tool("report", *argv, "siblings.wake")
    check.holds(not any(words in done.err for words in (b"twice", b"does not go", b"is about")), f"{argv} says {done.err.decode()!r}")
check.holds(b"only what meets" not in tool("report", "--where", "temporary=2", "siblings.wake").out, "temporary=2 is no condition.")
for word in ("ticks=10", "detail=yes", "split=kind", "median=yes", "histograms=yes"):  # nothing that these commands show would change
    for argv in (["report", "--by", "thread"], ["export", "-f", "json"], ["diff", "siblings.wake"]):
        done = tool(*argv, "--where", word, "siblings.wake")
        check.holds(done.status == 2 and b"says nothing of blocks" in done.err, f"{argv} with {word}: {done.status}, {done.err!r}")
    check.holds(word.split("=")[0] + "=" not in tool("help", "where").out.decode(), f"The help of --where has {word}.")
check.equal("a moment, by --where", tool("report", "--at", "50%", "siblings.wake").out, tool("report", "--where", "at=50%", "siblings.wake").out)
done = tool("diff", "--where", "at=50%", "siblings.wake", "siblings.wake")
check.holds(done.status == 2 and b"FILE@TIME" in done.err, f"diff --where at= says {done.err!r}")
done = tool("diff", "siblings.wake@10%", "siblings.wake@50%", "--where", "size-min=1")
check.equal("diff of moments with a condition behind them", 0, done.status)

check.about("switched off")
record(["./siblings"], "off.wake", ["--enabled", "no"])
head = tool("report", "off.wake").out.decode()
check.holds("in part  nothing lost" in head and re.search(r"switched off for [0-9.]+ [mun]?s", head), f"Nothing is said of it:\n{head[:600]}")
check.holds(json.loads(tool("info", "--json", "off.wake").out)["off_ns"] > 300000000, "info does not know.")
done = tool("check", "--max-peak", "1G", "off.wake")
check.holds(done.status == 2 and b"off.wake was switched off and has no blocks: " in done.err, f"check says {done.err}")
record([workload("switched"), "200"], "now_and_then.wake")
done = tool("check", "--max-peak", "1G", "now_and_then.wake")
check.holds(done.status == 0 and b"now_and_then.wake was switched off for " in done.err, f"check says {done.err}")
said = tool("diff", "siblings.wake", "now_and_then.wake").out.decode()
check.equal("what diff says of it", ["after"], re.findall(r"^(before|after) was switched off for [0-9.]+ [mun]?s: what was allocated meanwhile is not in it$", said, re.M))
both = json.loads(tool("diff", "--json", "siblings.wake", "now_and_then.wake").out)
check.equal("caveats of diff", [both["after"]["off_ns"]], [c["off_ns"] for side in ("before", "after") for c in both[side]["caveats"] if c["kind"] == "switched-off"])
check.holds("switched-off" in check.caveats(json.loads(tool("report", "--json", "now_and_then.wake").out)), "The caveats of the report do not have it.")
check.equal("off_ns of diff", [0, json.loads(tool("info", "--json", "now_and_then.wake").out)["off_ns"]], [both["before"]["off_ns"], both["after"]["off_ns"]])
tool("export", "-f", "html", "-o", "off.html", "now_and_then.wake")
check.holds(re.search(r"; the recording was switched off for [0-9.]+ [mun]?s", open("off.html", encoding="utf-8").read()), "The page says nothing of it.")
check.equal("on all the time", 0, json.loads(tool("info", "--json", "siblings.wake").out)["off_ns"])
off = tool("check", "--max-leak", "1000", "siblings.wake")
check.holds(off.status == 1, "The limit is kept.")
leaked = json.loads(tool("report", "--json", "siblings.wake").out)["summary"]["leaked_bytes"]
text = tool("check", "--max-leak", str(leaked - 1), "siblings.wake").out.decode()
check.holds(f"{leaked} bytes" in text and f"of at most {leaked - 1} bytes" in text, f"The limit reads like what was seen:\n{text}")

check.about("conditions")
text = tool("report", "--leaks", "--where", "size-min=500", "--from", "1%", "--exclude", "inner", "siblings.wake").out.decode()
check.holds("\n  shown      below: only what meets --where size-min=500 --from 1% --exclude\n             inner\n" in text,
            f"What is shown is not told:\n{text[:900]}")
check.holds("shown" not in tool("report", "--leaks", "siblings.wake").out.decode(), "There is no condition.")



def on_terminal(columns, *argv):
    """The lines of a command at a terminal of that width."""
    front, back = pty.openpty()
    fcntl.ioctl(back, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen([HEAPWAKE, *argv], stdin=back, stdout=back, stderr=subprocess.DEVNULL, env={**os.environ, "NO_COLOR": "1", "TERM": "xterm", "LC_ALL": "C.UTF-8"})
    os.close(back)
    text = b""
    try:
        while piece := os.read(front, 65536):
            text += piece
    except OSError:
        pass
    os.close(front)
    process.wait()
    return text.decode().splitlines()


check.about("width")
record([workload("told"), "pools"], "pools.wake", ["--map-usage=10"])
record(["sh", "-c", "/bin/true --of-all-words-this-is-one-that-is-as-long-as-it-takes-for-a-line-and-some-more; ls / >/dev/null; ls"], "several.wake")
for argv in (["report", "pools.wake"], ["report", "--pools", "pools.wake"], ["info", "several.wake"], ["info", "pools.wake"],
             ["report", "--leaks", "--where", "function=" + "long_name_" * 12, "pools.wake"], ["report", "--maps", "pools.wake"],
             ["report", "--tree", "--temporary", "--leaks", "siblings.wake"],
             ["report", "siblings.wake"], ["report", "--by", "line", "--peak", "siblings.wake"], ["report", "--misuse", "siblings.wake"],
             ["report", "--advice", "siblings.wake"], ["report", "--verdict", "siblings.wake"], ["report", "--details", "siblings.wake"],
             ["report", "--leaks", "--blocks", "siblings.wake"], ["report", "--bytes", "siblings.wake"], ["report", "--histogram", "siblings.wake"],
             ["report", "--since", "10%", "siblings.wake"], ["report", "--without", "function~first", "siblings.wake"],
             ["report", "several.wake"], ["report", "--top-down", "--threshold", "0", "several.wake"],
             ["check", "--max-leak", "1", "--max-leak-per-site", "1", "--max-growth-vs", "siblings.wake", "0%", "pools.wake"]):
    for columns in (40, 60, 72, 80) if argv[0] == "report" else (72, 80):
        lines = on_terminal(columns, *argv)
        check.holds(len(lines) > 3, f"{argv}: {lines}")
        for line in lines:
            check.holds(len(line) <= columns, f"{argv}: {len(line)} of {columns} columns: {line!r}")

check.about("long command lines")
os.makedirs("a_folder_with_a_long_name/and_another_one", exist_ok=True)
shutil.copy("siblings", "a_folder_with_a_long_name/and_another_one/serve")
record([os.path.abspath("a_folder_with_a_long_name/and_another_one/serve"), "--port", "8080", "--" + "x" * 80], "long.wake")
check.equal("the title", "serve --port 8080 --" + "x" * 58 + "..", native([HEAPWAKE, "report", "long.wake"], env={"LC_ALL": "C"}).out.decode().splitlines()[0])

check.about("exec")
record(["sh", "-c", "exec sh -c 'exec \"$0\"; exit 9' /bin/false"], "became.wake")
head = tool("report", "became.wake").out.decode().splitlines()[1]
check.holds("exit code 1; 3 processes" in head, f"The end is not that of the last program: {head!r}")
check.holds(", exit code 1\n" in tool("info", "became.wake").out.decode(), "info does not know the end.")
record(["true"], "nothing.wake")
check.equal("threads of a program that never allocates", 1, json.loads(tool("info", "--json", "nothing.wake").out)["threads"])

check.about("a moment behind the end")
late, end = tool("report", "--json", "--at", "1000s", "siblings.wake"), tool("report", "--json", "--at", "100%", "siblings.wake")
check.equal("the same as the end", json.loads(end.out)["live"], json.loads(late.out)["live"])
check.holds(re.fullmatch(r"heapwake: The recording ends at [0-9.]+ (ms|s): a later moment is taken as that\.\n", late.err.decode()),
            f"It is not said: {late.err!r}")
check.equal("nothing is said of the end", b"", end.err)
kinds = [{kind for kind in check.caveats(json.loads(run.out)) if kind.startswith("moment-")} for run in (late, end)]
check.equal("nor have the caveats it", [{"moment-after-end"}, set()], kinds)
check.equal("it is said once", 1, tool("report", "--at", "1000s", "--histogram", "--include", "main", "siblings.wake").err.count(b"ends at"))
check.equal("backward, behind the end", 2, tool("report", "--since", "900s", "--until", "800s", "siblings.wake").status)
check.holds(b"ends at" in tool("diff", "siblings.wake@0", "siblings.wake@1000s").err, "diff does not say it.")

check.about("what is asked for")
for argv in (["--pools"], ["--maps"], ["--histogram"], ["--leaks"]):
    check.holds("timeline" not in json.loads(tool("report", "--json", *argv, "siblings.wake").out), f"{argv} has the heap over time.")

check.about("small sites")
with open("small.heap", "w", encoding="utf-8") as f:  # 300, of which each has less than 1 %
    f.write("heap profile: 300: 300000 [300: 300000] @ heapprofile\n")
    f.writelines(f"1: 1000 [1: 1000] @ 0x{0x400000 + 16 * i:x}\n" for i in range(300))
    f.write("\nMAPPED_LIBRARIES:\n")
tool("import", "-q", "-o", "small.wake", "small.heap")
for argv, count in (([], 1), (["-n", "7"], 7), (["-n", "0"], 300), (["-n", "0", "--threshold", "1"], 0), (["--threshold", "1"], 0),
                    (["--leaks", "--threshold", "1"], 0), (["--leaks"], 10)):
    text = tool("report", *argv, "small.wake").out.decode()
    check.equal(f"sites that leaked, {argv}", count, len(re.findall(r" 0\.3 %", text[text.index("\nLeaked"):].split("\n\n")[0])))
check.holds("\nLeaked: 293.0 KiB in 300 blocks\n  and 293.0 KiB from 300 other sites\n" in tool("report", "--leaks", "--threshold", "1", "small.wake").out.decode(),
            "What --threshold leaves out is not told.")
check.equal("sites in JSON above the threshold", [], json.loads(tool("report", "--json", "--leaks", "--threshold", "1", "small.wake").out)["leaks"]["sites"])

check.about("wrappers")
with open("wrapped.c", "w", encoding="ascii") as f:
    f.write("""#include <stdlib.h>
void *volatile kept;
__attribute__((noinline)) void *grab(size_t size) { void *block = malloc(size); if (block == NULL) abort(); return block; }
__attribute__((noinline)) void *xmalloc(size_t size) { void *block = malloc(size); if (block == NULL) abort(); return block; }
__attribute__((noinline)) void *carve(size_t size) { void *block = malloc(size); if (block == NULL) abort(); return block; }
__attribute__((noinline)) void *pool(size_t size) { void *block = carve(size); if (block == NULL) abort(); return block; }
__attribute__((noinline)) void third(void) { kept = pool(3000); }
__attribute__((noinline)) void first(void) { kept = grab(1000); }
__attribute__((noinline)) void second(void) { kept = xmalloc(2000); }
int main(void) { first(); second(); third(); return 0; }
""")
subprocess.run(["gcc", "-g", "-O1", "-o", "wrapped", "wrapped.c"], check=True)
record(["./wrapped"], "wrapped.wake")


def blamed(*options):
    """Who leaked so many bytes by its own doing."""
    done = tool("report", "--json", "--leaks", "--by", "function", *options, "wrapped.wake")
    return {g["self_bytes"]: g["name"] for g in json.loads(done.out)["leaks"]["groups"] if g["self_bytes"] != 0}


check.equal("known wrappers", {2000: "second", 1000: "grab", 3000: "carve"}, blamed())
check.equal("named wrappers", {2000: "second", 1000: "first", 3000: "carve"}, blamed("--wrapper", "grab"))
check.equal("what a named wrapper calls", {2000: "second", 1000: "grab", 3000: "third"}, blamed("--wrapper", "pool"))
text = tool("report", "--wrapper", "grab", "wrapped.wake").out.decode()
check.holds(re.search(r" second  wrapped.c:9 .*\n +in xmalloc < main", text), f"The wrapper is not told:\n{text}")
text = tool("diff", "--leaks", "--wrapper", "grab", "siblings.wake", "wrapped.wake").out.decode()
check.holds(re.search(r"\+1000 bytes .* first  wrapped.c:8\n +in grab  wrapped.c:3\n", text), f"diff does not know it:\n{text}")
check.equal("no name", 2, tool("report", "--wrapper", "", "wrapped.wake").status)
for words in (["report", "wrapped.wake"], ["report", "--json", "wrapped.wake"], ["diff", "siblings.wake", "wrapped.wake"]):
    said = tool(*words, "--wrapper", "grab", "--wrapper", "grabb").err.decode()
    check.equal(f"{words}: a wrapper that nobody is", "heapwake: --wrapper changes nothing: no function in these stacks is called 'grabb'.\n", said)

check.about("damage among the events")
data = bytearray(open("siblings.wake", "rb").read())
at = data.index(b"WKCH\x05") + 200  # behind the header of a chunk of events, its prelude and directory
data[at] ^= 0x55
with open("damaged.wake", "wb") as f:
    f.write(data)
check.equal("exit status of verify", 1, tool("verify", "damaged.wake").status)
text = tool("info", "damaged.wake").out.decode()
check.holds(re.search(r"^complete +(no|yes; the events themselves are checked by 'heapwake verify'$)", text, re.M), f"It is sure of what it has not read:\n{text}")

check.about("one file twice")
once = tool("report", "--json", "wrapped.wake")
os.symlink("wrapped.wake", "link.wake")
for names, sentence in ((["wrapped.wake"], "wrapped.wake is named more than once; it counts once."),
                        (["./wrapped.wake"], "./wrapped.wake is the same file as wrapped.wake; it counts once."),
                        (["link.wake"], "link.wake is the same file as wrapped.wake; it counts once."),
                        (["wrappe[d].wake"], "wrapped.wake is named more than once; it counts once.")):
    done = tool("report", "--json", "wrapped.wake", *names)
    check.equal(f"{names}: the report", once.out, done.out)
    check.equal(f"{names}: standard error", f"heapwake: {sentence}\n", done.err.decode())
shutil.copy("wrapped.wake", "copy.wake")
done = tool("report", "--json", "wrapped.wake", "siblings.wake", "wrapped.wake")
check.equal("of three, two", tool("report", "--json", "wrapped.wake", "siblings.wake").out, done.out)
done = tool("report", "--json", "wrapped.wake", "copy.wake")
check.equal("a copy is another file", b"", done.err)

check.about("recursion")
with open("deep.c", "w", encoding="ascii") as f:
    f.write("""#include <stdlib.h>
void *volatile kept;
__attribute__((noinline)) void even(int n);
__attribute__((noinline)) void odd(int n) { if (n > 0) even(n - 1); else kept = malloc(1000); __asm__(""); }
__attribute__((noinline)) void even(int n) { if (n > 0) odd(n - 1); else kept = malloc(1000); __asm__(""); }
__attribute__((noinline)) void deep(int n) { if (n > 0) deep(n - 1); else odd(20); __asm__(""); }
int main(void) { deep(3000); return 0; }
""")
subprocess.run(["gcc", "-g", "-O1", "-o", "deep", "deep.c"], check=True)
record(["./deep"], "deep.wake")
for options in ([], ["--leaks"], ["--leaks", "--tree"], ["--leaks", "--top-down"]):
    text = tool("report", *options, "deep.wake").out.decode()
    check.holds("(both 10 times)" in text, f"{options}: the round of two is not shown once:\n{text[:3000]}")
    check.holds(not options or (re.search(r"deep .*\(3,00[01] times\)", text) and " main " in text),
                f"{options}: the recursion is not shown once:\n{text[:3000]}")
whole = json.loads(tool("report", "--json", "--leaks", "deep.wake").out)["leaks"]["sites"][0]["frames"]
check.equal("frames in JSON", 3001, sum(frame["function"] == "deep" for frame in whole))

check.about("tree")
below = depths(page("--callees", "main", "--leaks", "--threshold", "0"))
check.holds(below["first"] == below["second"] == below["last"] > below["main"], f"Callees of main: {below}")
check.holds(below["inner"] > below["last"], f"A callee of the last one stands beside it: {below}")
above = depths(page("--tree", "--leaks", "--threshold", "0"))
check.holds(above["last"] > above["inner"], f"A caller of the last one stands beside it: {above}")

check.about("plot")
ran = json.loads(tool("info", "--json", "siblings.wake").out)["runtime_ns"] / 1e6
for options, share in (([], 1), (["--to", "50%"], 0.5), (["--from", "25%", "--to", "75%"], 0.75)):
    ends = [re.search(r" ([\d.]+) (ms|s)$", line) for line in page(*options)[:30] if re.match(r"^ {14}\S+( \w+)? {5}", line)]
    ends = [float(end.group(1)) * (1000 if end.group(2) == "s" else 1) for end in ends if end]
    check.holds(len(ends) == 1 and abs(ends[0] - share * ran) < 0.02 * ran, f"{options}: ends at {ends}, ran {ran} ms")

check.about("moments")
for since, until in (("60%", "10%"), ("300ms", "2ms")):
    done = tool("report", "--since", since, "--until", until, "siblings.wake")
    check.equal("exit status", 2, done.status)
    check.holds(b"--until lies before --since" in done.err, f"It says {done.err}")
check.equal("the other way round", 0, tool("report", "--since", "10%", "--until", "60%", "siblings.wake").status)

check.about("note")
record([workload("own_malloc")], "own.wake")
text = " ".join(tool("report", "own.wake").out.decode().split())
for sentence in json.loads(tool("info", "--json", "own.wake").out)["notes"]:
    check.holds(sentence in text, f"The page has not all of {sentence!r}")
check.holds("Another malloc" in text, "The page has no note.")

check.about("not there yet")
program = subprocess.Popen([os.environ["HEAPWAKE"], "record", "-q", "-o", "live.wake", "sleep", "600"])
for _ in range(600):
    if os.path.exists("live.wake.partial"):
        break
    time.sleep(0.05)
done = tool("report", "live.wake")
check.holds(done.status == 1 and b"live.wake.partial is, which can be read" in done.err, f"It says {done}")
program.terminate()
program.wait()
done = tool("dump", "--tsv", "--stacks", "siblings.wake")
check.equal("dump --tsv --stacks", 2, done.status)
check.done()
