#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Seeds for package_fuzz: small libraries with split debugging information of both versions, each behind its length,
and the packages of their other halves."""
import os
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../symbol"))
import package  # noqa: E402

SOURCES = {"pot": """
struct pot { int n; static inline int twice(int x) { return x * step(x) + 1; } static int step(int x); };
template <class T> static inline T stir(T a, T b) { return a > b ? pot::twice(a) + b : b / (a + 1); }
namespace kitchen { int cook(int a, int b) { int s = 0; for (int i = 0; i < b; i++) s += stir(a, i); return s; } }
int pot::step(int x) { return kitchen::cook(x, 3) & 7; }
""", "plate": """
namespace kitchen { int cook(int a, int b); static inline int twice(int n) { return cook(n, n) + 1; } }
extern "C" int serve(int n) { return kitchen::twice(n) > 3 ? kitchen::twice(n + 1) : n; }
"""}

os.chdir(sys.argv[1])
for name, text in SOURCES.items():
    with open(name + ".cc", "w", encoding="ascii") as f:
        f.write(text)
for version in (4, 5):
    for title, flags in {"plain": [], "parts": ["-ffunction-sections", "-O3"]}.items():
        subprocess.run(["g++", "-O1", "-g", f"-gdwarf-{version}", "-gsplit-dwarf", "-shared", "-fPIC", "-nostdlib", *flags,
                        "pot.cc", "plate.cc", "-o", "lib.so"], check=True)
        halves = package.halves_of("lib.so")
        package.make("lib.dwp", halves)
        with open("lib.so", "rb") as program, open("lib.dwp", "rb") as packed, open(f"{title}{version}", "wb") as f:
            code = program.read()
            f.write(struct.pack("<I", len(code)) + code + packed.read())
        for path in [path for _, path in halves] + ["lib.so", "lib.dwp"]:
            os.unlink(path)
for name in SOURCES:
    os.unlink(name + ".cc")
