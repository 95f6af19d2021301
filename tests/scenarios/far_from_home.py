#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""A stripped program recorded on one machine is read on another: nothing is named at first, and `symbolize` finds names and
lines in a debug path or below a sysroot, refuses the file of another build, and the report then blames the line."""
import json
import os
import shutil
import subprocess

from support import HEAPWAKE, Check, native, record, tool

SOURCE = """#include <stdlib.h>
__attribute__((noinline)) static void *forget(size_t n) { return malloc(n); }
int main(void) { for (int i = 0; i < 50; i++) *(volatile char *)forget(4321) = 1; return 0; }
"""
check = Check()


def build(name, *options):
    with open(f"{name}.c", "w") as f:
        f.write(SOURCE)
    subprocess.run(["gcc", "-O1", "-g", "-Wl,--build-id", *options, f"{name}.c", "-o", name], check=True)


def blamed(path):
    """Function and line of the program's own frame in the only large leak."""
    done = subprocess.run([HEAPWAKE, "report", "--json", "--leaks", path], capture_output=True, check=True)
    sites = [s for s in json.loads(done.stdout)["leaks"]["sites"] if s["bytes"] == 50 * 4321]
    check.equal(f"{path}: leaking sites", 1, len(sites))
    return [(f["function"], os.path.basename(f["file"]), f["line"]) for f in sites[0]["frames"][:2]]


def fresh(name):
    shutil.copy("plain.wake", name)
    return name


build("app")
os.makedirs("there/usr/bin")
shutil.copy("app", "full")
subprocess.run(["strip", "app"], check=True)
path = os.path.abspath("app")
record([path], output="plain.wake", env={"HEAPWAKE_SYMBOLS": "0"})
record([path], output="looked.wake")  # the target has looked at what it has
os.remove("app")  # the target's file is not here



def is_said(sentence, path_):
    """On the first screen, wherever its lines end: a path that does not fit goes on in the next."""
    page = tool("report", "--leaks", path_).out.decode()
    check.holds("".join(sentence.split()) in "".join(page.split()), f"The report does not say {sentence}: {page}")


check.equal("without any file", [("", "", 0), ("", "", 0)], blamed(fresh("none.wake")))
is_said(f"of the bytes: app {path} is not there.", "none.wake")
# A function without a name is asked for by its place, in which the offset has to match: the module has a key of its own.
for expression, blocks in (("^app", 0), ("^app[+]", 50), ("app.0x", 50), ("0x[0-9a-f]+$", 50), (".", 50), ("^main$", 0), ("x", 0), ("[0-9a-f]$", 0)):
    found = json.loads(tool("report", "--json", "--allocated", "--where", f"function={expression}", "none.wake").out)
    check.equal(f"blocks with function={expression}", blocks, found["allocated"]["total_blocks"])
    rest = json.loads(tool("report", "--json", "--allocated", "--where", f"not-function={expression}", "none.wake").out)
    check.equal(f"blocks with not-function={expression}", 50 - blocks, rest["allocated"]["total_blocks"])
build("app", "-DANOTHER", "-O2")
check.equal("with another file in its place", [("", "", 0), ("", "", 0)], blamed(fresh("none.wake")))
is_said(f"{path} has been replaced: its build id is ", "none.wake")
os.remove("app")

os.makedirs("debug")
shutil.copy("full", "debug/app")
done = tool("symbolize", "--debug-path", "nowhere:debug", fresh("debug.wake"))
check.equal("symbolize --debug-path: exit status", 0, done.status)
want = [("forget", "app.c", 2), ("main", "app.c", 3)]
check.equal("names from a debug path", want, blamed("debug.wake"))

below = "there" + path
os.makedirs(os.path.dirname(below))
shutil.copy("full", below)
check.equal("symbolize --sysroot: exit status", 0, tool("symbolize", "--sysroot", "there", fresh("sysroot.wake")).status)
check.equal("names from a sysroot", want, blamed("sysroot.wake"))

build("other", "-DOTHER=1", "-Wl,-z,now", "-O2")
shutil.copy("other", below)
done = tool("symbolize", "--sysroot", "there", fresh("other.wake"))
check.holds(b"build" in done.out and b"app" in done.out, f"A file of another build is not named: {done.out!r}")
check.equal("names from another build", [("", "", 0), ("", "", 0)], blamed("other.wake"))

# The same where something is known already, which stays.
refused = f"{below} has been replaced: its build id is "
for name, names in (("looked.wake", [("", "", 0), ("", "", 0)]), ("debug.wake", want)):
    done = tool("symbolize", "--sysroot", "there", name)
    check.holds(refused in done.out.decode(), f"{name}: the file of another build is not named: {done.out.decode()}")
    check.equal(f"{name}: names beside another build", names, blamed(name))

# Whoever asks for servers is told when there are none.
done = native([HEAPWAKE, "symbolize", "--debuginfod", fresh("servers.wake")], {"DEBUGINFOD_URLS": ""})
check.equal("symbolize --debuginfod: exit status", 0, done.status)
check.equal("without servers", "heapwake: DEBUGINFOD_URLS names no servers: debug files of this machine were looked for.\n",
            done.err.decode())

# A plugin that is loaded by a name for the folder that the program is in by then, which is not where it began.
os.makedirs("plugins")
with open("plugin.c", "w") as f:
    f.write("#include <stdlib.h>\nvoid *bloom(size_t n) { return malloc(n); }\n")
with open("garden.c", "w") as f:
    f.write("#include <dlfcn.h>\n#include <stddef.h>\n#include <unistd.h>\nint main(void) {\n"
            " void *p = chdir(\"plugins\") == 0 ? dlopen(\"./plugin.so\", RTLD_NOW) : NULL;\n if (p == NULL) return 1;\n"
            " for (int i = 0; i < 50; i++) ((void *(*)(size_t))dlsym(p, \"bloom\"))(4321);\n return chdir(\"/\") + sleep(2); }\n")
subprocess.run(["gcc", "-g", "-fPIC", "-shared", "-Wl,--build-id", "plugin.c", "-o", "plugins/plugin.so"], check=True)
subprocess.run(["gcc", "-g", "garden.c", "-o", "garden"], check=True)
record([os.path.abspath("garden")], output="garden.wake")
check.equal("names of a plugin", [("bloom", "plugin.c", 2), ("main", "garden.c", 7)], blamed("garden.wake"))
listed = tool("symbolize", "garden.wake").out.decode()
check.holds(os.path.abspath("plugins/plugin.so") in listed, f"The path of the plugin is not whole: {listed}")

# Plugins that are loaded through a descriptor of the program: the number is that of another file here.
with open("pipes.c", "w") as f:
    f.write("#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <fcntl.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <sys/mman.h>\n"
            "#include <unistd.h>\nint main(int argc, char **argv) {\n char text[1 << 16], name[64];\n"
            " int from = open(argv[1], O_RDONLY), to = argc > 2 ? memfd_create(\"seed\", 0) : from;\n"
            " if (argc > 2 && write(to, text, (size_t)read(from, text, sizeof text)) < 0) return 2;\n"
            " snprintf(name, sizeof name, \"/proc/self/fd/%d\", to);\n void *p = dlopen(name, RTLD_NOW);\n if (p == NULL) return 1;\n"
            " for (int i = 0; i < 50; i++) ((void *(*)(size_t))dlsym(p, \"bloom\"))(4321);\n return (int)sleep(2); }\n")
with open("weed.c", "w") as f:
    f.write("#include <stdlib.h>\nint pad(void) { return 3; }\nvoid *weed(size_t n) { return n == 1 ? NULL : malloc(n + 1); }\nint more(void) { return 4; }\n")
for source, target in (("plugin.c", "sprout.so"), ("weed.c", "weed.so")):
    subprocess.run(["gcc", "-g", "-fPIC", "-shared", "-Wl,--build-id=none", source, "-o", target], check=True)
subprocess.run(["gcc", "-g", "pipes.c", "-o", "pipes"], check=True)
for kind, extra in (("file", []), ("memory", ["x"])):
    record([os.path.abspath("pipes"), "sprout.so", *extra], output="pipes.wake")
    for number in (3, 4):
        with open("weed.so", "rb") as weed:
            listed = native(["sh", "-c", f'exec "$0" symbolize pipes.wake {number}<&0', HEAPWAKE], stdin=weed).out.decode()
        check.equal(f"{kind}, {number}: names of a plugin behind a descriptor", "bloom" if kind == "file" else "", blamed("pipes.wake")[0][0])
        where = os.path.abspath("sprout.so") if kind == "file" else "/memfd:seed (deleted) never was a file."
        check.holds(where in listed and "weed" not in listed, f"{kind}: {listed}")

check.equal("verify", 0, tool("verify", "debug.wake").status)
for bad, word in ((["--maps", "absent"], b"absent"), (["--nonsense"], b"--nonsense")):
    done = tool("symbolize", *bad, "debug.wake")
    check.holds(done.status != 0 and word in done.err, f"{bad}: {done.err!r}")
check.done()
