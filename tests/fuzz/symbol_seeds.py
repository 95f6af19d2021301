#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Seeds for symbol_fuzz: small libraries with debugging information of several kinds, compressed,
in part, stripped; mangled names; maps of a process."""
import os
import subprocess
import sys

SOURCE = """
struct pot { int n; static inline int twice(int x) { return x * step(x) + 1; } static int step(int x); };
template <class T> static inline T stir(T a, T b) { return a > b ? pot::twice(a) + b : b / (a + 1); }
namespace kitchen { int cook(int a, int b) { int s = 0; for (int i = 0; i < b; i++) s += stir(a, i); return s; } }
int pot::step(int x) { return kitchen::cook(x, 3) & 7; }
__attribute__((visibility("hidden"))) int spill(int n) { for (int i = 0; i < n; i++) n += i ^ (n >> 3); return n; }
extern "C" int serve(int n) { return kitchen::cook(n, n + 1) + pot::twice(n); }
"""
BUILDS = {"plain": ["-g", "-gdwarf-5"], "older": ["-g", "-gdwarf-4"], "lines": ["-g1"], "packed": ["-g", "-gz"],
          "types": ["-g", "-fdebug-types-section"], "stripped": ["-s"], "parts": ["-g", "-ffunction-sections", "-O3"],
          "dropped": ["-g", "-ffunction-sections", "-Wl,--gc-sections"]}
TEXTS = ["_ZN7kitchen4cookEii", "_ZZN3potC4EvENKUlvE_clEv", "_RNvC7kitchen4cook", "_Z" + "N1a" * 300,
         "55d0c000-55d0e000 r--p 00000000 08:01 1048602    /usr/bin/app\n"
         "55d0e000-55d12000 r-xp 00002000 08:01 1048602    /usr/bin/app\n"
         "7ffc0000-7ffc2000 r-xp 00000000 00:00 0    [vdso]\n", "5000-4000 r-xp 0 0:0 1 /x\n"]


def put(name, data):
    for number, (addresses, start) in enumerate(((63, 1), (20, 16))):
        with open(os.path.join(sys.argv[1], f"{name}{number}"), "wb") as f:
            f.write(bytes((addresses, start)) + data)


for title, options in BUILDS.items():
    path = os.path.join(sys.argv[1], title)
    subprocess.run(["g++", "-O1", "-shared", "-fPIC", "-nostdlib", "-x", "c++", *options, "-o", path, "-"], input=SOURCE.encode(),
                   check=True)
    with open(path, "rb") as library:
        put(title, library.read())
    os.unlink(path)
for index, text in enumerate(TEXTS):
    put(f"text{index}-", text.encode())
