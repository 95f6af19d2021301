#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""A library that was rewritten after it was linked, so that its program headers lie in a segment of their own at its
end (llvm-bolt does that, and so are the libraries of rustc), or its unwind data in another than their table: stacks go
through it."""
import json
import os
import struct

from support import Check, native, put, record, tool

LIBRARY = """#include <stdlib.h>
void keep(void *); void *give(int size);
static __attribute__((noinline)) void *deeper(int size) { void *p = malloc(size); keep(p); return p; }
void *give(int size) { void *p = deeper(size); keep(p); return p; }
"""
PROGRAM = """#include <stdio.h>
void *give(int size); void keep(void *p);
void *volatile kept;
void keep(void *p) { kept = p; }
int main(void) { for (int i = 0; i < 10; i++) keep(give(4321)); puts("given"); return 3; }
"""
PAGE = 4096
LOAD, PHDR, READ = 1, 6, 4
check = Check()


def move_headers(data, distance=0):
    """The file with its program headers behind all else, in a segment that lies where it does in the file, or not."""
    at, count = struct.unpack_from("<Q", data, 32)[0], struct.unpack_from("<H", data, 56)[0]
    headers = [list(struct.unpack_from("<IIQQQQQQ", data, at + 56 * i)) for i in range(count)]
    end = max([len(data)] + [h[3] + h[6] for h in headers if h[0] == LOAD])
    start = -(-end // PAGE) * PAGE
    address, size = start + distance, 56 * (count + 1)
    last = max(i for i, h in enumerate(headers) if h[0] == LOAD)
    headers.insert(last + 1, [LOAD, READ, start, address, address, size, size, PAGE])
    for h in headers:
        if h[0] == PHDR:
            h[2:7] = start, address, address, size, size
    out = bytearray(data.ljust(start, b"\0")) + b"".join(struct.pack("<IIQQQQQQ", *h) for h in headers)
    struct.pack_into("<Q", out, 32, start)
    struct.pack_into("<H", out, 56, count + 1)
    return bytes(out)


def stacks(path):
    done = tool("report", "--json", "--allocated", "--where", "size-min=4321", "--where", "size-max=4321", path)
    return [([f["function"] for f in s["frames"]][:3], s["blocks"]) for s in json.loads(done.out)["allocated"]["sites"]]


def build():
    put("library.c", LIBRARY.encode())
    put("program.c", PROGRAM.encode())
    for command in (["gcc", "-O1", "-g", "-fno-optimize-sibling-calls", "-shared", "-fPIC", "-Wl,--build-id", "library.c", "-o", "libgiver.so"],
                    ["gcc", "-O1", "-g", "program.c", "-L.", "-lgiver", "-Wl,-rpath,$ORIGIN", "-rdynamic", "-o", "program"]):
        done = native(command)
        check.equal(" ".join(command), (0, ""), (done.status, done.err.decode()))


def build_apart():
    """The unwind data among the data, and their table where it always is: so is LLVM's libunwind."""
    put("writable.s", b'.section .eh_frame,"aw",@progbits\n.section .note.GNU-stack,"",@progbits\n')
    command = ["gcc", "-O1", "-g", "-fno-optimize-sibling-calls", "-shared", "-fPIC", "writable.s", "library.c", "-o", "libapart.so"]
    check.equal(" ".join(command), 0, native(command).status)
    lines = [line.split() for line in native(["readelf", "-SW", "libapart.so"]).out.decode().replace("[ ", "[").splitlines()]
    flags = [words[7] for words in lines if len(words) > 8 and words[1] == ".eh_frame"]
    check.equal("flags of .eh_frame", ["WA"], flags)
    with open("libapart.so", "rb") as made:
        return made.read()


build()
with open("libgiver.so", "rb") as file:
    linked = file.read()
for name, library, is_cut in (("linked", linked, False), ("moved", move_headers(linked), False),
                              ("elsewhere", move_headers(linked, 16 * PAGE), True), ("apart", build_apart(), False)):
    check.about(name)
    os.remove("libgiver.so")
    put("libgiver.so", library)
    alone = native(["./program"])
    done = record(["./program"], name + ".wake")
    check.equal("alone", (3, b"given\n"), (alone.status, alone.out))
    check.equal("recorded", (3, b"given\n"), (done.status, done.out))
    check.sound(name + ".wake")
    # Where the headers cannot be found stacks end in the library; nothing else may happen.
    check.equal("stacks", [(["deeper"] if is_cut else ["deeper", "give", "main"], 10)], stacks(name + ".wake"))
    if not is_cut:
        check.equal("cut", 0, json.loads(tool("info", "--json", name + ".wake").out)["cut_stacks"])
check.done()
