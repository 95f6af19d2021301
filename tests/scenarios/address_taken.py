#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""A program that is not position independent and takes the address of malloc has a symbol for it that
defines nothing. Its calls come to heapwake as always, and what they are is told as always. Behind a malloc that
somebody loaded before, and in a program with one of its own, it is said that there is another."""
import json
import os
import subprocess
import time

from support import PROBE, Check, events, native, record, tool

PROGRAM = """#include <cstdlib>
int main()
{
    void *(*volatile make)(std::size_t) = std::malloc;
    int *volatile several = new int[1234];
    delete[] several;
    char *volatile one = new char[4321];
    std::free(one);
    std::free(make(7777));
}
"""
ANOTHER = """#include <stddef.h>
void *__libc_malloc(size_t);
void *malloc(size_t size) { return __libc_malloc(size); }
"""
check = Check()


def build(compiler, name, text, *options):
    source = name + (".cc" if compiler == "g++" else ".c")
    with open(source, "w", encoding="ascii") as f:
        f.write(text)
    subprocess.run([compiler, "-w", "-g", "-o", name, source, *options], check=True)


def wait_for(path):
    """A recording without `record` is whole some time after its program has ended."""
    end = time.monotonic() + 60
    while not os.path.exists(path) and time.monotonic() < end:
        time.sleep(0.02)


def names_another(path):
    return "nother malloc" in json.dumps(json.loads(tool("info", "--json", path).out))


for kind, options in (("fixed", ["-no-pie", "-fno-pic"]), ("pie", ["-pie", "-fpie"])):
    check.about(kind)
    build("g++", kind, PROGRAM, *options)
    symbols = subprocess.run(["readelf", "-W", "--dyn-syms", kind], capture_output=True, check=True, text=True).stdout
    taken = [line.split() for line in symbols.splitlines() if " malloc@" in line]
    check.equal("has an address for malloc that defines nothing", kind == "fixed",
                bool(taken) and int(taken[0][1], 16) != 0 and taken[0][6] == "UND")
    record([f"./{kind}"], f"{kind}.wake")
    made = {e.size: e.kind for e in events(f"{kind}.wake") if e.event == "alloc"}
    check.equal("kinds", {4936: "new[]", 4321: "new[]", 7777: "malloc"},
                {size: made.get(size) for size in (4936, 4321, 7777)})
    check.equal("says that there is another", False, names_another(f"{kind}.wake"))
    found = json.loads(tool("report", "--misuse", "--json", f"{kind}.wake").out)["misuse"]
    check.equal("what free released", [4321], [one["block"]["bytes"] for one in found])

check.about("behind another")
build("gcc", "another.so", ANOTHER, "-shared", "-fPIC")
for name in ("fixed", "pie"):
    environment = {**os.environ, "LD_PRELOAD": os.path.abspath("another.so") + ":" + PROBE,
                   "HEAPWAKE_OUTPUT": f"{name}-behind.wake"}
    check.equal("exit status", 0, native([f"./{name}"], environment).status)
    wait_for(f"{name}-behind.wake")
    check.equal(f"{name} says that there is another", True, names_another(f"{name}-behind.wake"))
check.done()
