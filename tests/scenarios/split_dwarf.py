#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""What -gsplit-dwarf put into other files: from packages of them (.dwp) every instruction has the functions, inlined
functions and lines that it has from the .dwo files, whoever compiled and packed; and what is wrong with a package is said."""
# timeout: 600
import os
import random
import re
import shutil
import struct
import subprocess
import sys

from support import native

sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests/symbol"))
import package  # noqa: E402
from asking import RESOLVE, Answer, build_id, check, check_points, compile_points, points_of, run, split  # noqa: E402

# Another unit, which shares strings with points.cc and has inlined functions of its own.
SECOND = """#include <map>
#include <string>
namespace inn { struct Shelf { std::map<std::string, int> jars; int put(int x); }; }
int inn::Shelf::put(int x) { jars["salt"] += x; return static_cast<int>(jars.size()); }
int second(int x) { inn::Shelf shelf; return shelf.put(x) + shelf.put(x + 1); }
"""
# GNU's packager came with gold: Debian 13 no longer has it. It knows no DWARF 5.
PACKAGERS = {4: "dwp" if shutil.which("dwp") else "llvm-dwp", 5: "llvm-dwp"}
TAIL = "inlined functions are not known."


class Split:
    """A program of two units, each with a half of its own, and what is known of all its instructions through these."""

    def __init__(self, compiler, version, *flags):
        self.program = compile_points(f"half{version}-{compiler}", "-gsplit-dwarf", f"-gdwarf-{version}", *flags, "second.cc",
                                      compiler=compiler)
        self.package = self.program + ".dwp"
        self.points, self.halves = points_of(self.program), package.halves_of(self.program)
        code = run("objdump", "-d", "-j", ".text", "--no-show-raw-insn", self.program)
        self.addresses = re.findall(r"^ +([0-9a-f]+):", code, re.M)
        answer = self.ask()
        self.frames = answer.frames
        self.inlined = sum(frame[0] == "in" for frames in self.frames.values() for frame in frames)
        check.equal("halves", 2, len(self.halves))
        check.holds(self.inlined > 100, f"{self.inlined} inlined frames.")
        check.equal("remark", "", answer.remark)

    def ask(self, *options):
        answer = Answer(*options, self.program, *self.addresses, exact=True)
        check.equal("status", 0, answer.status)
        return answer

    def pack(self, packager):
        """Makes the package; what LLVM 14 does with some files of gcc has no end."""
        if packager is None:
            package.make(self.package, [(id_, path + ".hidden") for id_, path in self.halves])
            return True
        self.show()
        try:
            return subprocess.run([packager, "-e", self.program, "-o", self.package], timeout=60, check=False).returncode == 0
        except subprocess.TimeoutExpired:
            return False
        finally:
            self.hide()

    def hide(self):
        for _, path in self.halves:
            os.rename(path, path + ".hidden")

    def show(self):
        for _, path in self.halves:
            os.rename(path + ".hidden", path)

    def check_same(self, *options):
        answer = self.ask(*options)
        check.equal("remark", "", answer.remark)
        wrong = [hex(a) for a in self.frames if self.frames[a] != answer.frames.get(a)]
        check.holds(not wrong, f"{len(wrong)} of {len(self.frames)} are not as with .dwo files, {wrong[:3]} among them.")

    def check_without(self, remark):
        """Functions and lines are known, and why that is all is said."""
        answer = self.ask()
        check.equal("remark", remark, answer.remark)
        for name in ("plain", "main"):
            frames = answer.frames[int(self.points[name], 16)]
            check.holds(bool(frames) and frames[-1][1].startswith(name) and frames[-1][4] > 0, f"{name} is {frames}.")


def check_packages():
    with open("second.cc", "w", encoding="ascii") as f:
        f.write(SECOND)
    for compiler in ["g++"] + (["clang++"] if shutil.which("clang++") else []):
        for version in (4, 5):
            check.about(f"{compiler}, split, DWARF {version}")
            split_ = Split(compiler, version)
            split_.hide()
            for packager in (None, PACKAGERS[version]):
                check.about(f"{compiler}, DWARF {version}, package by {packager or 'tests/symbol/package.py'}")
                if not split_.pack(packager):
                    check.holds(compiler == "g++" and version == 5, "There is no package.")
                    continue
                split_.check_same()
                check_points(split_.program, points=split_.points)
            if compiler == "g++":
                check_package_places(split_)
                check_bad_packages(split_)
            split_.show()
        # Here the line table in the .dwo file is that of the types, and not of the functions.
        check.about(f"{compiler}, split, types in units of their own")
        split_ = Split(compiler, 4, "-fdebug-types-section")
        check_points(split_.program, points=split_.points)
        split_.hide()
        split_.pack(PACKAGERS[4])
        split_.check_same()
        split_.show()


def check_package_places(split_):
    check.about("package, packed")
    split_.pack(None)
    os.rename(split_.package, "kept.dwp")
    run("objcopy", "--compress-debug-sections", "kept.dwp", split_.package)
    check.holds(os.path.getsize(split_.package) < os.path.getsize("kept.dwp"), "objcopy has packed nothing.")
    split_.check_same()
    os.unlink(split_.package)
    id_, name = build_id(split_.program), os.path.basename(split_.program)
    for place, path, options in (("by path", f"trees{split_.program}.dwp", ["--debug-path", "nowhere:trees"]),
                                 ("by name", f"names/{name}.dwp", ["--debug-path", "names"]),
                                 ("by id", f"numbers/.build-id/{id_[:2]}/{id_[2:]}.dwp", ["--debug-path", "numbers"])):
        check.about(f"package {place}")
        os.makedirs(os.path.dirname(path))
        os.rename("kept.dwp", path)
        split_.check_same(*options)
        os.rename(path, "kept.dwp")
        shutil.rmtree(path.split("/")[0])
    check.about("package, of a program found by its sysroot")
    os.makedirs("root/usr/bin")
    shutil.copy(split_.program, "root/usr/bin/app")
    shutil.copy("kept.dwp", "root/usr/bin/app.dwp")
    check_points(split_.program, ["--sysroot", "root"], file="/usr/bin/app", points=split_.points)
    shutil.rmtree("root")
    check.about("package, beside the debug file")
    os.makedirs("apart")
    shutil.copy(split_.program, "apart/app")
    split("apart/app", "apart/app.debug")
    run("objcopy", "--add-gnu-debuglink=apart/app.debug", "apart/app")
    os.rename("kept.dwp", "apart/app.debug.dwp")
    check_points(os.path.abspath("apart/app"), points=split_.points)
    shutil.rmtree("apart")


def check_bad_packages(split_):
    program, name = split_.program, split_.package
    check.about("no package")
    first = split_.halves[0][1]
    split_.check_without(f"Part of the debugging information of {program} is in {first}, which is not there, nor is it in "
                         f"a package (.dwp): {TAIL}")
    check.about("a package of another program")
    package.make(name, [(id_ ^ 1, path + ".hidden") for id_, path in split_.halves])
    split_.check_without(f"{name} belongs to another build: it has no unit of {program}. Inlined functions of {program} "
                         "are not known.")
    check.about("a package of some units")
    package.make(name, [(id_, path + ".hidden") for id_, path in split_.halves[1:]])
    split_.check_without(f"Part of the debugging information of {program} is in {first}, which is not there, nor is it in "
                         f"{name}: {TAIL}")
    check.about("a unit that is not what the index says")
    swapped = [(split_.halves[0][0], split_.halves[1][1] + ".hidden"), (split_.halves[1][0], split_.halves[0][1] + ".hidden")]
    package.make(name, swapped)
    remark = split_.ask().remark
    check.holds(re.fullmatch(f"{re.escape(name)} is damaged: unit [0-9a-f]{{16}} in it cannot be read. Inlined functions of "
                             f"{re.escape(program)} are not known.", remark) is not None, f"The remark is {remark!r}.")
    index = package.make(name, [(id_, path + ".hidden") for id_, path in split_.halves])
    with open(name, "rb") as f:
        whole = f.read()
    at = whole.index(index)
    end = at + len(index)
    for what, sentence, data in (
            ("cut", "it has no index of units", whole[:len(whole) // 2]),
            ("index cut", "its index is cut", whole[:at + 8] + struct.pack("<II", 8192, 8192) + whole[at + 16:]),
            ("index wild", "its index makes no sense", whole[:at + 12] + b"\x03" + whole[at + 13:]),
            ("offsets", "a unit lies outside its section", whole[:end - 16] + b"\xff" * 16 + whole[end:])):
        check.about(f"a damaged package: {what}")
        with open(name, "wb") as f:
            f.write(data)
        split_.check_without(f"{name} is damaged: {sentence}. Inlined functions of {program} are not known.")
    check.about("packages that are damaged at random")
    numbers = random.Random(len(whole))
    for _ in range(30):
        data = bytearray(whole[:numbers.choice((len(whole), numbers.randrange(len(whole))))])
        for _ in range(numbers.randrange(40)):
            data[numbers.randrange(len(data))] = numbers.randrange(256)
        with open(name, "wb") as f:
            f.write(data)
        check.equal("status", 0, native([RESOLVE, "--exact", program, *split_.addresses]).status)
    os.unlink(name)


def check_many_halves():
    """More than is kept open: halves are closed and opened again, and names stay right."""
    check.about("many halves")
    count, length = 40, 2 << 20
    parts = []
    for i in range(count):
        with open(f"part{i}.c", "w", encoding="ascii") as f:
            f.write(f"static inline __attribute__((always_inline)) int inner{i}(int *x) {{ return *x += {i + 1}; }}\n"
                    f"int outer{i}(int *x);\nint outer{i}(int *x) {{ return inner{i}(x) + 1; }}\nint v{'x' * length}{i};\n")
        parts.append(f"part{i}.c")
    run("gcc", "-g", "-O1", "-gdwarf-5", "-gsplit-dwarf", "-shared", "-fPIC", *parts, "-o", "many.so")
    code = run("nm", "many.so")
    addresses = [int(re.search(rf"^([0-9a-f]+) T outer{i}$", code, re.M).group(1), 16) for i in range(count)]
    package.make("many.so.dwp", package.halves_of("many.so"))
    for name in os.listdir():
        if name.startswith("many.so-") and name.endswith(".dwo"):
            os.unlink(name)
    for order in (list(range(count)), list(range(count))[::-1], [0, 39, 1, 38, 0, 39]):
        answer = Answer(os.path.abspath("many.so"), *(hex(addresses[i]) for i in order), exact=True)
        check.equal("remark", "", answer.remark)
        for i in order:
            check.equal(f"function {i}", [f"inner{i}", f"outer{i}"], [frame[1] for frame in answer.frames[addresses[i]]])


check_packages()
check_many_halves()
check.done()
