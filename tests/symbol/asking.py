# SPDX-License-Identifier: MIT OR Apache-2.0
"""For scenarios that ask src/symbol about programs: the question (tests/symbol/resolve.c), and the truth (points.cc)."""
import os
import re
import subprocess

from support import Check, native

ROOT, BUILD = os.environ["ROOT"], os.environ["BUILD"]
RESOLVE = os.path.join(BUILD, "tests/symbol/resolve")
POINTS = os.path.join(ROOT, "tests/symbol/points.cc")
NESTED = os.path.join(ROOT, "tests/symbol/nested.c")
NOTHING, SYMBOLS, LINES = 0, 1, 2
check = Check()


def run(*argv, **options):
    done = subprocess.run([str(word) for word in argv], capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, argv))}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


class Answer:
    """What src/symbol says: source, files, and frames (kind, function, linkage, file, line) by address."""

    def __init__(self, *argv, exact=False, env=None):
        done = native([RESOLVE, *(["--exact"] if exact else []), *argv], env)
        self.status, self.error = done.status, done.err.decode()
        lines = done.out.decode().splitlines()
        self.head = lines[0] if lines else ""
        words = self.head.split(" ")
        self.source = int(words[1]) if words[0] == "source" else None
        self.debug = words[3] if self.source is not None else None
        self.frames, self.remark, at = {}, "", None
        for line in lines[1:]:
            if line.startswith("- "):
                self.remark = line[2:]
            elif line.startswith("= "):
                at = int(line[2:], 16)
                self.frames[at] = []
            else:
                kind, function, linkage, file, number = line.split("\t")
                self.frames[at].append((kind, function, linkage, file, int(number)))


def truth_of(source):
    """point -> chain of functions, and (function -> line it is called in), from the comments."""
    chains, lines, calls = {}, {}, {}
    with open(source, encoding="utf-8") as f:
        for number, text in enumerate(f, 1):
            point = re.search(r";.*//@ (\w+): (.*)", text)
            call = re.search(r";.*//= (.*)", text)
            if point:
                chains[point.group(1)] = point.group(2).split(" < ")
                lines[point.group(1)] = number
            if call:
                calls[call.group(1)] = number
    return chains, lines, calls


def points_of(program):
    """name of a point -> address, as the program says itself."""
    return {name: address for address, name in (line.split() for line in run(program).splitlines())}


def is_called(function, expected):
    """With its parameters, or without."""
    return function == expected or function.startswith(expected + "(")


def check_points(program, options=(), file=None, source=POINTS, points=None):
    """All that the program knows about itself."""
    chains, lines, calls = truth_of(source)
    points = points or points_of(program)
    check.equal("points", sorted(chains), sorted(points))
    answer = Answer(*options, file or program, *points.values())
    if not check.equal("source of names", LINES, answer.source):
        check.holds(False, answer.head + answer.error)
        return answer
    for name, address in points.items():
        frames = answer.frames[int(address, 16)]
        chain = chains[name]
        check.holds(len(frames) == len(chain) and all(is_called(f[1], c) for f, c in zip(frames, chain)),
                    f"{name}: expected {chain}, seen {[f[1] for f in frames]}.")
        wanted = [lines[name]] + [calls[function] for function in chain[:-1]]
        check.equal(f"{name}: lines", [(source, n) for n in wanted], [(f[3], f[4]) for f in frames])
        check.equal(f"{name}: inlined", ["in"] * (len(chain) - 1) + ["fn"], [f[0] for f in frames])
    return answer


def compile_points(name, *flags, compiler="g++", source=POINTS):
    program = os.path.abspath(name)
    run(compiler, "-g", "-O2", "-D_GNU_SOURCE=", source, "-o", program, *flags)
    return program


def build_id(program):
    return re.search(r"Build ID: ([0-9a-f]+)", run("readelf", "-n", program)).group(1)


def split(program, debug, *flags):
    run("objcopy", "--only-keep-debug", *flags, program, debug)
    run("strip", program)
