#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""The recipes of docs/ci.md work: each lets a program without leaks pass and stops
one that leaks. Of GitHub's and GitLab's, which need a server, the shell lines are run."""
import os
import re
import shutil
import subprocess

from support import HEAPWAKE, Check, leave_out

check = Check()
FINE = "#include <stdlib.h>\nint main(void) { free(malloc(100)); return 0; }\n"
LEAKY = "#include <stdlib.h>\nint main(void) { volatile char *p = malloc(100); *p = 1; p = 0; return 0; }\n"

recipes = {}
for heading, language, body in re.findall(r"^## ([^\n]+)\n+```(\w+)\n(.*?)^```", open(
        os.path.join(os.environ["ROOT"], "docs/ci.md"), encoding="utf-8").read(), re.M | re.S):
    recipes[heading] = body

os.mkdir("bin")
os.symlink(HEAPWAKE, "bin/heapwake")
ENV = {**os.environ, "PATH": f"{os.getcwd()}/bin:{os.environ['PATH']}"}


def run(command, folder, **env):
    return subprocess.run(command, cwd=folder, env={**ENV, **env}, shell=isinstance(command, str), text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)


def prepare(name, source):
    folder = f"{name}-{'fine' if source is FINE else 'leaky'}"
    os.mkdir(folder)
    with open(f"{folder}/program.c", "w", encoding="utf-8") as f:
        f.write(source)
    return folder


def compile_program(folder):
    done = run(["gcc", "-g", "-O0", "-fno-builtin", "-o", "program", "program.c"], folder)
    check.equal("exit status of the compiler", 0, done.returncode)


def expect(name, source, done):
    passed = done.returncode == 0
    check.holds(passed == (source is FINE),
                f"{name}: exit {done.returncode} for a program that {'is fine' if source is FINE else 'leaks'}: "
                f"{done.stdout[-600:]}")


def try_shell(name, heading):
    """The lines that a shell would run, but `make`."""
    lines = re.findall(r"^ +(?:- run|run|-): ?(.*)$|^ +- (heapwake .*|make)$", recipes[heading], re.M)
    commands = [a or b for a, b in lines if (a or b) not in ("make", "")]
    check.holds(any(c.startswith("heapwake check") for c in commands), f"{name}: no line runs heapwake check.")
    for source in (FINE, LEAKY):
        folder = prepare(name, source)
        compile_program(folder)
        first = run(commands[0], folder)
        expect(name, source, first)
        for command in commands[1:]:
            more = run(command, folder, GITHUB_STEP_SUMMARY=f"{os.getcwd()}/{folder}/summary.md")
            check.equal(f"{name}: {command}", 0, more.returncode)
        check.holds(os.path.getsize(f"{folder}/heap.xml") > 0, f"{name}: there is no heap.xml.")


def write(folder, name, text):
    with open(f"{folder}/{name}", "w", encoding="utf-8") as f:
        f.write(text)


def try_ctest(source):
    folder = prepare("ctest", source)
    write(folder, "CMakeLists.txt", recipes["CTest"])
    done = run("cmake -S . -B build -DCMAKE_C_FLAGS='-g -O0 -fno-builtin' && cmake --build build", folder)
    check.equal("exit status of cmake", 0, done.returncode)
    expect("ctest", source, run("ctest --test-dir build --output-on-failure", folder))


def try_meson(source):
    folder = prepare("meson", source)
    write(folder, "meson.build", recipes["Meson"])
    done = run("meson setup -Dc_args=-fno-builtin build", folder)
    check.equal("exit status of meson setup", 0, done.returncode)
    expect("meson", source, run("meson test -C build", folder))


def try_pytest(source):
    folder = prepare("pytest", source)
    compile_program(folder)
    write(folder, "test_heap.py", recipes["pytest"])
    expect("pytest", source, run([shutil.which("pytest") or shutil.which("pytest-3"), "-q", "-p", "no:cacheprovider"], folder))


check.equal("recipes", ["GitHub Actions", "GitLab", "CTest", "Meson", "pytest"], list(recipes))
try_shell("github", "GitHub Actions")
try_shell("gitlab", "GitLab")
for needed, attempt in (("ctest", try_ctest), ("meson", try_meson), ("pytest", try_pytest)):
    if not shutil.which(needed) and not shutil.which(needed + "-3"):
        leave_out(f"{needed} is not installed: its recipe was not run.")
        continue
    for program in (FINE, LEAKY):
        attempt(program)
check.done()
