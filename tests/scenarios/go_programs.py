#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
# timeout: 600
"""Programs of Go have an allocator of their own: who records one is pointed to importing
the heap profiles that Go writes, which works."""
import json
import os

from support import Check, native, record, skip, tool

if native(["go", "version"]).status != 0:
    skip("There is no go here.")

GO = """package main

%s
import (
    "os"
    "runtime"
    "runtime/pprof"
)

var kept [][]byte

//go:noinline
func hold() {
    for i := 0; i < 100; i++ {
        kept = append(kept, make([]byte, 10000))
    }
}

func main() {
    runtime.MemProfileRate = 1
    hold()
    %s
    f, _ := os.Create("heap.pb.gz")
    pprof.WriteHeapProfile(f)
    f.Close()
}
"""
check = Check()


def build(name, *forms, flags=()):
    os.makedirs(f"src-{name}", exist_ok=True)
    with open(f"src-{name}/main.go", "w", encoding="utf-8") as f:
        f.write(GO % forms)
    done = native(["go", "build", *flags, "-o", os.path.abspath(name), "main.go"], cwd=f"src-{name}",
                  env={"GO111MODULE": "off", "HOME": os.getcwd(), "GOCACHE": os.path.abspath("cache"), "GOFLAGS": ""})
    check.equal(f"{name} builds: {done.err.decode()}", 0, done.status)


build("plain", "", "")
build("stripped", "", "", flags=["-ldflags=-s -w"])
for name in ("plain", "stripped"):
    done = tool("record", "-o", f"{name}.wake", f"./{name}")
    check.equal(f"{name}: exit status", 0, done.status)
    said = done.err.decode()
    check.holds("is a Go program" in said and "'heapwake import'" in said and "pprof" in said and "heapwake.ld" not in said, f"{name}: {said}")
build("mixed", "// #include <stdlib.h>\nimport \"C\"", "C.malloc(12345)")
done = tool("record", "-o", "mixed.wake", "./mixed")
check.holds("is a Go program" in done.err.decode(), f"It is not said of one with C inside: {done.err}")
check.holds(any("is a Go program" in note for note in json.loads(tool("info", "--json", "mixed.wake").out)["notes"]), "The recording has no note.")
check.equal("its C is recorded", 1, sum(b["size"] == 12345 for b in json.loads(tool("report", "--blocks", "-n", "0", "--json", "mixed.wake").out)["leaks"]["blocks"]))
record(["true"], "true.wake")
check.holds(not any("Go program" in note for note in json.loads(tool("info", "--json", "true.wake").out)["notes"]), "A program of C is called one of Go.")

# What is advised works.
check.equal("import", 0, tool("import", "-q", "-o", "heap.wake", "heap.pb.gz").status)
groups = json.loads(tool("report", "--json", "--allocated", "--by", "function", "heap.wake").out)["allocated"]["groups"]
held = [g["self_bytes"] for g in groups if g["name"].endswith("main.hold")]
check.holds(held and held[0] >= 1000000, f"hold has {held} bytes.")
check.done()
