#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Stripped programs: the one screen names the nearest function that has a name, and how many without
one are below it; the head says which files lack lines, by bytes, and what helps."""
import json
import re
import subprocess

from support import HEAPWAKE, Check, native, record, tool

PROGRAM = """#include <stdlib.h>
void *volatile kept[64];
static int count;
#define APART static __attribute__((noinline))
APART void deepest(int size) { kept[count++] = malloc(size); }
APART void deeper(int size) { deepest(size); __asm__(""); }
APART void deep(int size) { deeper(size); __asm__(""); }
__attribute__((noinline)) void makeFunction(int size) { deep(size); __asm__(""); }
APART void twice(int size) { makeFunction(size); makeFunction(size); __asm__(""); }
__attribute__((noinline)) void runScript(void) { twice(100000); __asm__(""); }
#ifdef WITH_MAIN
int main(void) { runScript(); deepest(5000); return 0; }
#endif
"""
check = Check()
with open("program.c", "w", encoding="ascii") as f:
    f.write(PROGRAM)


def build(name, *flags):
    subprocess.run(["gcc", "-O1", "-DWITH_MAIN", "-fno-optimize-sibling-calls", "-o", name, "program.c", *flags], check=True)
    record([f"./{name}"], f"{name}.wake")


def page(name, *options):
    return native([HEAPWAKE, "report", *options, f"{name}.wake"], env={"LC_ALL": "C.UTF-8"}).out.decode()


build("named", "-rdynamic", "-s")  # what it exports has names, what is static has none
build("bare", "-s")
build("whole", "-g")

check.about("rows")
text = page("named")
rows = re.findall(r"^ .*195\.3 KiB .*\n.*$", text, re.M)
check.holds(rows, f"There is no row of the leak:\n{text}")
for row in rows:
    first, second = row.splitlines()
    check.holds("makeFunction" in first, f"The nearest name does not lead: {row}")
    check.holds("2 unnamed" in first and re.search(r"named\+0x[0-9a-f]+", first), f"The row does not say what is below it: {row}")
    check.holds(re.match(r" +< runScript \(1 unnamed skipped\) < main", second), f"The callers do not begin with a name: {row}")
check.holds(not re.search(r"< named\+0x", text), f"Addresses among the callers:\n{text}")
depths = json.loads(tool("report", "--json", "--leaks", "named.wake").out)["leaks"]["sites"][0]["frames"]
check.equal("JSON has the frames as they are", ["", "", "", "makeFunction", "", "runScript", "main"], [f["function"] for f in depths[:7]])
check.holds("named+0x" in page("named", "--leaks").split("Leaked", 1)[1], "The list in depth leaves out frames.")
text = page("bare")
check.holds(re.search(r" 97\.7 KiB .*bare\+0x[0-9a-f]+", text) and re.search(r"< bare\+0x[0-9a-f]+", text) and "unnamed" not in text,
            f"Without any name addresses stay:\n{text}")
check.holds("unnamed" not in page("whole") and "no lines" not in page("whole"), "With lines nothing is skipped.")

check.about("the line about lines")
for name in ("named", "bare"):
    head = " ".join(page(name).split("\n\n")[0].split())
    check.holds(re.search(rf"no lines 100\.0 % of the bytes: {name} \(build it with -g\)", head), f"{name}: {head}")
with open("library.c", "w", encoding="ascii") as f:
    f.write('#include <stdlib.h>\nvoid *volatile stock;\nvoid from_library(void) { stock = malloc(300000); __asm__(""); }\n')
subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-s", "-o", "libstore.so", "library.c"], check=True)
with open("user.c", "w", encoding="ascii") as f:
    f.write('#include <stdlib.h>\nvoid from_library(void);\nvoid *volatile own, *volatile more;\nint main(void) { own = malloc(100000); from_library(); return 0; }\n')
subprocess.run(["gcc", "-O1", "-s", "-o", "user", "user.c", "-L.", "-lstore", "-Wl,-rpath,$ORIGIN"], check=True)
record(["./user"], "user.wake")
head = " ".join(page("user").split("\n\n")[0].split())
check.holds("100.0 % of the bytes: 75 % libstore.so, 25 % user (build them with -g)" in head, f"Not ranked by bytes: {head}")

# What the system installs is not built by the user.
record(["ls", "/"], "ls.wake")
text = " ".join(page("ls").split("\n\n")[0].split())
if "no lines" in text:
    check.holds("debug package" in text and "symbolize --debuginfod" in text and "build" not in text, f"ls: {text}")
else:
    check.holds(any(f["line"] for s in json.loads(tool("report", "--json", "--allocated", "ls.wake").out)["allocated"]["sites"] for f in s["frames"]),
                "ls has no lines, and nothing is said.")
check.done()
