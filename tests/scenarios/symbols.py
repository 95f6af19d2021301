#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Addresses become functions, inlined functions and lines, however a program was
compiled, stripped and stored. The program knows where it is (tests/symbol/points.cc);
for all its other instructions binutils are asked."""
# timeout: 600
import ctypes.util
import http.server
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

from support import leave_out, native

sys.path.insert(0, os.path.join(os.environ["ROOT"], "tests/symbol"))
from asking import (LINES, NESTED, POINTS, RESOLVE, SYMBOLS, Answer, build_id, check, check_points,  # noqa: E402
                    compile_points, points_of, run, split)

# ------------------------------------------------------------- ways to compile


def check_compilers():
    ways = {"plain": [], "unoptimised": ["-O0"], "dwarf4": ["-gdwarf-4"], "fixed": ["-no-pie"], "compressed": ["-gz"],
            "lto": ["-flto"], "sections": ["-ffunction-sections", "-Wl,--gc-sections"], "no-id": ["-Wl,--build-id=none"],
            "split": ["-gsplit-dwarf"], "split4": ["-gsplit-dwarf", "-gdwarf-4"]}
    for compiler in ["g++"] + (["clang++"] if shutil.which("clang++") else []):
        for way, flags in ways.items():
            if compiler == "clang++" and way == "lto":
                continue
            check.about(f"{compiler}, {way}")
            check_points(compile_points(f"{way}-{compiler}", *flags, compiler=compiler))
    check.about("a function inside a function")
    check_points(compile_points("nested", compiler="gcc", source=NESTED), source=NESTED)


def check_instructions():
    """Every instruction, against addr2line: depth, file and line of the innermost frame, function of the outermost.
    Padding is left out: addr2line says of it what the code before it is."""
    check.about("addr2line")
    program = os.path.abspath("plain-g++")
    code = run("objdump", "-d", "-j", ".text", "--no-show-raw-insn", program)
    addresses = re.findall(r"^ +([0-9a-f]+):\s+(?!nop|xchg|data16|cs nop|int3)", code, re.M)
    answer = Answer(program, *addresses, exact=True)
    with_lines = 0
    for address in addresses:
        theirs = run("addr2line", "-i", "-f", "-C", "-e", program, address).splitlines()
        frames = answer.frames[int(address, 16)]
        file, _, line = re.sub(r" \(discriminator.*", "", theirs[1]).rpartition(":")
        check.holds(len(frames) == len(theirs) // 2 and theirs[-2] in frames[-1][1], f"{address}: {theirs}, here {frames}.")
        if line.isdigit():
            with_lines += 1
            check.equal(address, (os.path.normpath(file), int(line)), frames[0][3:] if frames else None)
    check.holds(with_lines > 100, f"addr2line has lines for {with_lines} instructions only.")


def check_parts():
    """A function without a linkage name whose unlikely part lies elsewhere is called as one in a single piece is: with
    its parameters, and lambdas of one function with their numbers."""
    check.about("parts")
    with open("parts.cc", "w", encoding="ascii") as f:
        f.write("#include <cstdio>\n#define ALONE __attribute__((noipa))\n"
                "__attribute__((cold, noipa)) static void rare() { std::puts(\"rare\"); }\n"
                "static ALONE int halves(int x) { if (x > 99) rare(); return x * 3; }\n"
                "int main(int c, char **) {\n"
                " auto one = [](int x) ALONE { if (x > 99) rare(); return x * 5; };\n"
                " auto two = [](long x) ALONE { if (x > 99) rare(); return x * 7; };\n"
                " return halves(c) + one(c) + static_cast<int>(two(c)); }\n")
    run("g++", "-g", "-O2", "parts.cc", "-o", "parts")
    symbols = {name: address for address, _, name in (line.split() for line in run("nm", "parts").splitlines() if len(line.split()) == 3)}
    parts = {name: address for name, address in symbols.items() if ".cold" in name and name.startswith("_Z")}
    check.equal("functions in two parts", 3, len(parts))
    for name, address in parts.items():
        whole = name.partition(".")[0]
        wanted = run("c++filt", whole).strip()
        for where in (symbols.get(whole), address):
            frames = Answer(os.path.abspath("parts"), where, exact=True).frames[int(where, 16)]
            check.equal(f"{name} at {where}", wanted, frames[-1][1])


def check_inlined_lambdas():
    """A lambda that was inlined is called by the whole name of the function around it, wherever its class is."""
    check.about("inlined lambdas")
    with open("lambdas.cc", "w", encoding="ascii") as f:
        f.write("#include <cstdlib>\nnamespace deep { struct shelf { int width; void *fill(int); }; }\n"
                "void *deep::shelf::fill(int x) { auto take = [this](int y) { return malloc(y * width); }; return take(x + 1); }\n"
                "int main(int c, char **) { deep::shelf s{c}; return s.fill(c) == nullptr; }\n")
    for compiler in ("g++", "clang++"):
        run(compiler, "-g", "-O2", "lambdas.cc", "-o", "lambdas")
        start = next(int(line.split()[0], 16) for line in run("nm", "lambdas").splitlines() if line.endswith("fillEi"))
        answer = Answer(os.path.abspath("lambdas"), *(hex(start + i) for i in range(12)), exact=True)
        names = {frames[0][1] for frames in answer.frames.values() if len(frames) > 1}
        check.holds(names and all(re.match(r"deep::shelf::fill\(int\)::.*::operator\(\)", n) for n in names),
                    f"{compiler}: inlined are {names}.")


def check_generic_lambdas():
    """A lambda whose arguments are auto is a lambda."""
    check.about("generic lambdas")
    with open("generic.cc", "w", encoding="ascii") as f:
        f.write("#include <cstdlib>\nint main(int c, char **) { auto take = [](auto x, auto y) { return malloc(x + y); };\n"
                "return take(c, 2) == take(2L, c); }\n")
    run("g++", "-g", "-O2", "generic.cc", "-o", "generic")
    start = next(int(line.split()[0], 16) for line in run("nm", "generic").splitlines() if line.endswith(" main"))
    answer = Answer(os.path.abspath("generic"), *(hex(start + i) for i in range(24)), exact=True)
    names = {frames[0][1] for frames in answer.frames.values() if len(frames) > 1}
    check.holds(names and all(re.match(r"main::{lambda}::operator\(\)<", n) for n in names), f"Inlined are {names}.")


def check_nameless():
    """Code without symbols at the beginning of a program is not called like the start files before it."""
    check.about("nameless")
    with open("nameless.S", "w", encoding="ascii") as f:
        f.write('.text\n.skip 256, 0x90\nret\n.section .note.GNU-stack, "", @progbits\n')
    with open("named.c", "w", encoding="ascii") as f:
        f.write("int main(void) { return 0; }\n")
    run("gcc", "nameless.S", "named.c", "-o", "nameless")
    symbols = dict(reversed(line.split()[::2]) for line in run("nm", "nameless").splitlines() if len(line.split()) == 3)
    start = int(symbols["frame_dummy"], 16)
    answer = Answer(os.path.abspath("nameless"), hex(start), hex(start + 100), exact=True)
    check.equal("frame_dummy", ["frame_dummy"], [frame[1] for frame in answer.frames[start]])
    check.equal("behind it", [], [frame[1] for frame in answer.frames.get(start + 100, []) if frame[1] != ""])


def check_dropped():
    """A function that the linker dropped says that it is at 0: what is there without debugging information has not its name."""
    check.about("dropped")
    body = "".join(f"p[{i}] = x * {i} + p[{i * 13 % 200}];\n" for i in range(900))
    with open("dropped.c", "w", encoding="ascii") as f:
        f.write(f"int dropped(volatile int *p, int x) {{\n{body}return p[3]; }}\nint kept(volatile int *p, int x) {{\n{body}{body}return p[4]; }}\n"
                "int main(void) { static volatile int p[900]; return kept(p, 3); }\n")
    for version in ("4", "5"):
        run("gcc", "-g", f"-gdwarf-{version}", "-O1", "-ffunction-sections", "-Wl,--gc-sections,-z,noseparate-code", "dropped.c", "-o", "dropped")
        symbols = dict(reversed(line.split()[::2]) for line in run("nm", "dropped").splitlines() if len(line.split()) == 3)
        start = int(symbols["_start"], 16)
        run("objcopy", "--only-keep-debug", "dropped", "dropped.debug")
        run("strip", "--strip-debug", "-o", "bare", "dropped")
        run("objcopy", "--add-gnu-debuglink=dropped.debug", "bare")
        for file in ("dropped", "bare"):
            answer = Answer(os.path.abspath(file), hex(start + 1), exact=True)
            check.equal(f"{file}, {version}", [("_start", 0)], [(frame[1], frame[4]) for frame in answer.frames[start + 1]])


def check_dropped_lines():
    """The line table keeps what the linker dropped, from 0 on; it may be longer than the way to the code."""
    check.about("dropped lines")
    with open("dropped.c", encoding="ascii") as f:
        first = next(number for number, line in enumerate(f, 1) if line.startswith("int kept"))
    for compiler in ["gcc"] + (["clang"] if shutil.which("clang") else []):
        for flags in ("-gdwarf-4",), ("-gdwarf-5",), ("-gdwarf-5", "-gz"), ("-gdwarf-5", "-Wl,-z,noseparate-code"), ("-gdwarf-5", "-gsplit-dwarf"):
            run(compiler, "-g", *flags, "-O1", "-ffunction-sections", "-Wl,--gc-sections", "dropped.c", "-o", "dropped")
            start, size = next((int(line.split()[0], 16), int(line.split()[1], 16)) for line in run("nm", "-S", "dropped").splitlines() if line.endswith(" kept"))
            answer = Answer(os.path.abspath("dropped"), *(hex(start + i) for i in range(0, size, 5)), exact=True)
            wrong = {hex(a): frames for a, frames in answer.frames.items() if [frame[1] for frame in frames] != ["kept"] or not first <= frames[0][4] <= first + 1801}
            lines = [answer.frames[a][0][4] for a in sorted(answer.frames)]
            check.equal(f"{compiler} {flags}", {}, dict(list(wrong.items())[:3]))
            check.holds(len(set(lines)) > 1000, f"{compiler} {flags}: {len(set(lines))} lines.")


def check_stubs():
    check.about("stubs")
    program = os.path.abspath("plain-g++")
    wanted = {int(a, 16): n for a, n in re.findall(r"^([0-9a-f]+) <(.*@plt)>:", run("objdump", "-d", "-j", ".plt", program), re.M)}
    wanted = {a: n for a, n in wanted.items() if "*ABS*" not in n}
    answer = Answer(program, *(hex(a) for a in wanted), exact=True)
    check.holds(len(wanted) > 0, "objdump sees no stubs.")
    check.equal("stubs", wanted, {a: frames[0][1] if frames else None for a, frames in answer.frames.items()})


# ---------------------------------------------------- separate debugging information


def check_separate():
    check.about("debug file")
    points = points_of("./plain-g++")
    shutil.copy("plain-g++", "app")
    program, id_ = os.path.abspath("app"), build_id("app")
    split(program, "app.debug")
    stripped = Answer(program, *points.values())
    check.equal("source without it", SYMBOLS, stripped.source)
    check.equal("remark", f"There is no debugging information for {program} (build id {id_}): lines and inlined functions "
                "are not known.", stripped.remark)

    places = {"beside": "app.debug", "in .debug": ".debug/app.debug", "under a folder, by path": f"far{os.getcwd()}/app.debug",
              "in a folder": "near/app.debug", "by build id": f"ids/.build-id/{id_[:2]}/{id_[2:]}.debug"}
    os.rename("app.debug", "kept.debug")
    shutil.copy("app", "linked")
    shutil.copy("kept.debug", "app.debug")
    run("objcopy", "--add-gnu-debuglink=app.debug", "linked")
    os.unlink("app.debug")
    for place, path in places.items():
        check.about(f"debug file {place}")
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        shutil.copy("kept.debug", path)
        options = ["--debug-path", f"nowhere:{path.split('/')[0]}"] if "/" in path and not path.startswith(".") else []
        answer = check_points(os.path.abspath("linked"), options, points=points)
        check.holds(answer.debug is not None and answer.debug.endswith(path), f"It was taken from {answer.debug}.")
        os.unlink(path)

    check.about("compressed debug file")
    run("objcopy", "--compress-debug-sections", "kept.debug", "app.debug")
    check_points(os.path.abspath("linked"), points=points)
    check.about("debug file of another build")
    shutil.copy(compile_points("other", "-DOTHER", "-O1"), "app.debug")
    refused = Answer(os.path.abspath("linked"), *points.values())
    check.equal("source", SYMBOLS, refused.source)
    check.holds(refused.remark.endswith(f" are not known. {os.path.abspath('app.debug')} belongs to another build: its build id is "
                                        f"{build_id('app.debug')}."), f"The debug file is not named: {refused.remark}")
    os.unlink("app.debug")


def check_packed():
    """Debugging information that this libelf cannot unpack is not said to be missing."""
    check.about("packed")
    done = subprocess.run(["objcopy", "--compress-debug-sections=zstd", "plain-g++", "packed"], capture_output=True, check=False)
    if done.returncode != 0:
        leave_out("packed with zstd: objcopy cannot")
        return
    answer = Answer(os.path.abspath("packed"), points_of("./plain-g++")["secret"])
    check.holds(answer.source == LINES or "packed in a way" in answer.remark, f"It says {answer.remark!r}.")


def check_checksum():
    """Without build ids the checksum decides."""
    check.about("checksum")
    program = compile_points("sum", "-Wl,--build-id=none")
    points = points_of(program)
    split(program, "sum.debug")
    run("objcopy", "--add-gnu-debuglink=sum.debug", program)
    check_points(program, points=points)
    with open("sum.debug", "ab") as f:
        f.write(b"x")
    check.equal("source with a wrong checksum", SYMBOLS, Answer(program, *points.values()).source)


def check_shared():
    if not shutil.which("dwz"):
        leave_out("dwz is not installed.")
        return
    check.about("dwz")
    programs = [compile_points("dwz1"), compile_points("dwz2", "-O1")]
    points = [points_of(p) for p in programs]
    run("dwz", "-m", "common.dwz", *programs)
    with open(programs[0], "rb") as f:
        check.holds(b".gnu_debugaltlink" in f.read(), "dwz has moved nothing.")
    check_points(programs[0], points=points[0])
    os.mkdir("moved")
    os.rename("common.dwz", "moved/common.dwz")
    check.about("dwz, moved")
    answer = check_points(programs[0], ["--debug-path", "moved"], points=points[0])
    check.equal("remark", "", answer.remark)
    check.about("dwz, gone")
    answer = Answer(programs[0], *points[0].values())
    check.equal("source", LINES, answer.source)
    check.holds(f"of {programs[0]} is in common.dwz (build id {build_id('moved/common.dwz')}), which is not there" in answer.remark,
                f"The remark is {answer.remark!r}.")


def check_minidebug():
    check.about("minidebuginfo")
    points = points_of("./plain-g++")
    run("strip", "--strip-debug", "-o", "mini.syms", "plain-g++")
    run("xz", "-kf", "mini.syms")
    run("strip", "-o", "mini", "plain-g++")
    run("objcopy", "--add-section", ".gnu_debugdata=mini.syms.xz", "mini")
    answer = Answer(os.path.abspath("mini"), points["secret"])
    check.equal("source", SYMBOLS, answer.source)
    check.equal("function", "inn::(anonymous namespace)::secret(int)", answer.frames[int(points["secret"], 16)][0][1])


def check_few_symbols():
    """A table with a few symbols hides no other: strip -K keeps those that it names."""
    check.about("few symbols")
    points = points_of("./plain-g++")
    run("strip", "-K", "_init", "-o", "few.mini", "plain-g++")
    run("objcopy", "--add-section", ".gnu_debugdata=mini.syms.xz", "few.mini")
    with open("few.c", "w", encoding="ascii") as f:
        f.write("int seen(int x) { return x + 1; }\n")
    run("gcc", "-shared", "-fPIC", "few.c", "-o", "few.so")
    seen = next(hex(int(line.split()[0], 16) + 1) for line in run("nm", "few.so").splitlines() if line.endswith(" seen"))
    run("strip", "-K", "_init", "few.so")
    for file, address, name in (("few.so", seen, "seen"), ("few.mini", points["secret"], "inn::(anonymous namespace)::secret(int)")):
        answer = Answer(os.path.abspath(file), address)
        check.equal(file, [name], [frame[1] for frame in answer.frames[int(address, 16)]])


# ----------------------------------------------------------------- finding programs


def check_finding():
    program = os.path.abspath("plain-g++")
    points, id_ = points_of(program), build_id(program)
    for way in (["--memory"], ["--fd"], ["--id", id_]):
        check.about(" ".join(way))
        check_points(program, way, points=points)
    check.about("sysroot")
    os.makedirs("target/usr/bin")
    shutil.copy(program, "target/usr/bin/app")
    check_points(program, ["--sysroot", "target/", "--id", id_], file="/usr/bin/app", points=points)
    check.about("debug path")
    os.makedirs("flat", exist_ok=True)
    shutil.copy(program, "flat/app")
    check_points(program, ["--debug-path", "flat", "--id", id_], file="/gone/app", points=points)
    check_points(program, ["--debug-path", "target", "--id", id_], file="/usr/bin/app", points=points)
    check.about("deleted")
    check_points(program, ["--id", id_], file=program + " (deleted)", points=points)

    check.about("refused")
    other = "00112233445566778899aabbccddeeff00112233"
    answer = Answer("--id", other, program, "0")
    check.equal("status", 1, answer.status)
    check.equal("sentence", f"{program} has been replaced: its build id is {id_}, that of the recorded file is {other}.", answer.head)
    check.equal("missing", "/gone/app is not there.", Answer("/gone/app", "0").head)
    with open("text", "w", encoding="ascii") as f:
        f.write("no program\n")
    text = os.path.abspath("text")
    check.equal("no program", f"{text} is not an ELF file.", Answer("--id", other, text, "0").head)
    check.equal("a folder", "/usr is a directory; a file is needed.", Answer("/usr", "0").head)
    check.equal("memory", "/memfd:jit (deleted) never was a file.", Answer("--id", other, "/memfd:jit (deleted)", "0").head)
    for path in ("/proc/self/fd/3", "/dev/fd/3"):
        check.equal("a descriptor", f"{path} was the recorded process's own: what it stood for is not known.", Answer(path, "0").head)
    check.equal("another kernel", "[vdso] is that of another kernel.", Answer("--id", other, "[vdso]", "0").head)
    check.equal("not ELF", f"{POINTS} is not an ELF file.", Answer("--fd", POINTS, "0").head)
    check.about("vdso")
    check.equal("source", SYMBOLS, Answer("[vdso]", "0").source)


# ------------------------------------------------------------------------ servers


def serve(files):
    """A debuginfod server for these paths; gives its address."""
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = files.get(self.path)
            self.send_response(200 if body else 404)
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"


def check_servers():
    if ctypes.util.find_library("debuginfod") is None:
        leave_out("libdebuginfod is not installed: no server was asked.")
        return
    program = compile_points("served")
    points, id_ = points_of(program), build_id(program)
    split(program, "served.debug")
    with open("served.debug", "rb") as f, open(program, "rb") as g:
        url = serve({f"/buildid/{id_}/debuginfo": f.read(), f"/buildid/{id_}/executable": g.read()})
    os.unlink("served.debug")

    def environment(address, cache):
        return {"DEBUGINFOD_URLS": address, "DEBUGINFOD_CACHE_PATH": os.path.abspath(cache)}

    check.about("server, not asked")
    check.equal("source", SYMBOLS, Answer(program, *points.values(), env=environment(url, "cache1")).source)
    check.about("server")
    os.environ.update(environment(url, "cache2"))
    check_points(program, ["--debuginfod"], points=points)
    check.about("server, program gone")
    check_points(program, ["--debuginfod", "--id", id_], file="/gone/served", points=points)

    check.about("server that does not answer")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        os.environ.update(environment(f"http://127.0.0.1:{silent.getsockname()[1]}", "cache3"))
        start = time.monotonic()
        check.equal("source", SYMBOLS, Answer("--debuginfod", "--patience", "500", program, *points.values()).source)
        took = time.monotonic() - start  # libdebuginfod itself would wait for 90 seconds
        check.holds(took < 60, f"That took {took:.0f} seconds.")
    check.about("interrupted")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        os.environ.update(environment(f"http://127.0.0.1:{silent.getsockname()[1]}", "cache4"))
        process = subprocess.Popen([RESOLVE, "--debuginfod", "--patience", "60000", program, points["main"]],
                                   stdout=subprocess.PIPE, text=True)
        silent.accept()
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=50)[0]  # before its patience ends
        check.holds(said.startswith(f"source {SYMBOLS} "), f"It said {said!r}.")


def check_rust():
    if not shutil.which("rustc") or native(["rustc", "--version"]).status != 0:
        leave_out("rustc is not installed: names of Rust are those of demangler_test alone.")
        return
    check.about("Rust")
    with open("rusty.rs", "w", encoding="ascii") as f:
        f.write("mod oven { pub struct Pan<T>(pub T);\n impl<T: Copy> Pan<T> {\n  #[inline(never)] pub fn fry(&self) -> T {\n"
                "   std::hint::black_box(self.0)\n  } } }\nfn main() { println!(\"{}\", oven::Pan(7u8).fry()); }\n")
    run("rustc", "-g", "-O", "rusty.rs")
    symbol = [line.split() for line in run("nm", "rusty").splitlines() if "fry" in line and "oven" in line]
    check.holds(len(symbol) > 0, "rustc has made no function of it.")
    for address, _, name in symbol:
        frame = Answer(os.path.abspath("rusty"), address, exact=True).frames[int(address, 16)][-1]
        check.holds("oven::Pan" in frame[1] and frame[1].endswith("fry"), f"{name} is called {frame[1]}.")
        check.equal("line", ("rusty.rs", 4), (os.path.basename(frame[3]), frame[4]))


check_compilers()
check_instructions()
check_parts()
check_inlined_lambdas()
check_generic_lambdas()
check_nameless()
check_dropped()
check_dropped_lines()
check_stubs()
check_separate()
check_packed()
check_checksum()
check_shared()
check_minidebug()
check_few_symbols()
check_finding()
check_servers()
check_rust()
check.done()
