#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""What jemalloc, tcmalloc and mimalloc have under names of their own is recorded where a shared one of them is preloaded
or linked; where none is, these names stay undefined: programs find out so which allocator they have."""
import os
import re

from support import PROBE, Check, Ledger, allocators, events, info, native, record, skip, truth, workload

ROOT, BUILD = os.environ["ROOT"], os.environ["BUILD"]
SOURCES = [os.path.join(ROOT, "tests/workloads", name + ".c") for name in ("allocator_names", "liballocator_names")]
PROGRAM = workload("allocator_names")
WAYS = ("table", "code", "dlsym", "next")
COUNTS = {"jemalloc": 10, "tcmalloc": 37, "mimalloc": 72}  # of blocks; by `code` a few
there = {re.search("jemalloc|tcmalloc|mimalloc", os.path.basename(path)).group(): path for path in allocators()}
if not there:
    skip("None of jemalloc, tcmalloc and mimalloc is installed.")
check = Check()


def build(name, *options):
    done = native(["cc", "-O1", "-g", "-D_GNU_SOURCE=", "-fno-builtin-malloc", "-fno-builtin-free", *SOURCES, "-o", name, *options])
    check.equal(f"cc {' '.join(options)}", (0, b""), (done.status, done.err))
    return f"./{name}"


def agree(run, path, count):
    """Each block was made once, as what it is, and released once."""
    blocks = truth(run)["blocks"]
    check.holds(len(blocks) >= count, f"Only {len(blocks)} blocks.")
    ledger = Ledger(events(path))
    check.pairs(ledger)
    for block in blocks:
        size, name = block["size"], block["name"]
        check.equal(f"{name}: blocks of {size}", (1, 0 if block["lives"] else 1), (ledger.made[size], ledger.freed[size]))
        check.equal(f"{name}: kind of {size}", [block["kind"]], ledger.kinds[size])
    check.sound(path)


def same(alone, run):
    """Which names there are, whether dlsym has left an error, and what the program says of all that."""
    check.equal("exit status", (0, 0), (alone.status, run.status))
    check.equal("stderr", alone.err, run.err)
    for key in ("there", "error"):
        check.equal(key, truth(alone)[key], truth(run)[key])


def compare(title, program, count, env=None):
    check.about(title)
    alone, run = native(program, env), record(program, env=env)
    same(alone, run)
    agree(run, "out.wake", count)


def of(way, family):
    return min(3 if family == "jemalloc" else 1, COUNTS[family]) if way == "code" else COUNTS[family]


def preloaded(family, library):
    for way in WAYS[:3]:  # what is preloaded does not come next
        for title, env in (("", {}), (", bound at the start", {"LD_BIND_NOW": "1"})):
            compare(f"{family}, {way}{title}", [PROGRAM, way], of(way, family), {"LD_PRELOAD": library, **env})
    check.about(f"{family}, zeroed")
    run = record([PROGRAM], env={"LD_PRELOAD": library, "HEAPWAKE_ZERO_MEMORY": "1"})
    check.equal("not zero", [], [block["name"] for block in truth(run)["blocks"]
                                 if block["kind"] != "realloc" and not block["zero"] and "dup" not in block["name"]])
    agree(run, "out.wake", COUNTS[family])


def linked(family, library):
    """Position-independent or not, bound lazily or at the start, the allocator before and after the probe."""
    for title, options in (("lazy", ["-Wl,-z,lazy"]), ("now", ["-Wl,-z,now"]), ("no-pie", ["-no-pie", "-fno-pie"])):
        program = build(f"{family}-{title}", *options, library)
        for way in WAYS:
            compare(f"{family}, linked, {title}, {way}", [program, way], of(way, family))
    probe = ["-L" + BUILD, "-Wl,--no-as-needed", "-lheapwake", "-Wl,-rpath," + BUILD]
    program = build(f"{family}-before", *probe, library)
    for way in WAYS:
        compare(f"{family}, linked after the probe, {way}", [program, way], of(way, family))
    program = build(f"{family}-after", library, *probe)
    for way in WAYS:
        check.about(f"{family}, linked before the probe, {way}")
        env = {"HEAPWAKE_OUTPUT": "after.wake", "HEAPWAKE_COLLECTOR": "/nonexistent", "PATH": "/nonexistent"}
        same(native([f"./{family}-lazy", way]), native([program, way], env))


# Under the names of mimalloc, beside libc's malloc; and functions that get their memory from malloc.
LIBRARY = """
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#ifdef SHIM
void *mallocx(size_t size, int flags) { (void)flags; return malloc(size); }
void dallocx(void *block, int flags) { (void)flags; free(block); }
#else
static char *arena;
static size_t used;
void *_mi_malloc_generic(size_t size)
{
    if (arena == NULL)
        arena = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    used += (size + 15) & ~(size_t)15;
    return arena + used - ((size + 15) & ~(size_t)15);
}
void *mi_malloc(size_t size) { return _mi_malloc_generic(size); }
void *mi_realloc(void *old, size_t size) { void *made = _mi_malloc_generic(size); return made == NULL ? NULL : memcpy(made, old, size); }
void mi_free(void *block) { (void)block; }
#endif
"""
USER = """
#include <stddef.h>
#include <stdlib.h>
#ifdef SHIM
void *mallocx(size_t size, int flags), dallocx(void *block, int flags);
int main(void) { for (int i = 0; i < 100; i++) dallocx(mallocx(5003, 0), 0); return mallocx(5009, 0) == NULL; }
#else
void *mi_malloc(size_t size), *mi_realloc(void *old, size_t size), mi_free(void *block);
int main(void)
{
    for (int i = 0; i < 100; i++) mi_free(mi_malloc(5003));
    free(malloc(5011));
    return mi_realloc(mi_malloc(5005), 5009) == NULL;
}
#endif
"""


def others():
    for name, text in (("library.c", LIBRARY), ("user.c", USER)):
        with open(name, "w", encoding="ascii") as f:
            f.write(text)
    for name, options in (("foreign", []), ("shim", ["-DSHIM"])):
        for command in (["-fPIC", "-shared", "library.c", "-o", f"./lib{name}.so"], ["user.c", "-o", f"./{name}", f"./lib{name}.so", "-Wl,-rpath,$ORIGIN"]):
            done = native(["cc", "-O1", "-fno-builtin-malloc", "-fno-builtin-free", *options, *command])
            check.equal(f"cc {' '.join(command)}", (0, b""), (done.status, done.err))
        check.about(name)
        check.equal("exit status", 0, record([f"./{name}"]).status)
        ledger = Ledger(events("out.wake"))
        check.pairs(ledger)
        check.equal("blocks of 5003", (100, 100), (ledger.made[5003], ledger.freed[5003]))
        check.equal("blocks of 5009", (1, 1), (ledger.made[5009], ledger.left(5009)))
        if name == "foreign":
            check.equal("usable size, which is not known", [5009], ledger.usable[5009])
            check.equal("kinds", (["malloc"], ["realloc"]), (ledger.kinds[5005], ledger.kinds[5009]))
        check.equal("notes", [], info("out.wake")["notes"])
        check.sound("out.wake")


compare("none of them", [PROGRAM], 0)
check.equal("names", [], [name for name in truth(record([PROGRAM]))["there"] if not name.endswith(" 0 0")])
compare("none of them, bound at the start", [PROGRAM], 0, {"LD_BIND_NOW": "1"})
check.about("static")
same(native([build("static-alone", "-static"), "code"]),
     record([build("static", "-static", "-L" + BUILD, "@" + os.path.join(BUILD, "heapwake.ld")), "code"]))
others()
for one, path in there.items():
    preloaded(one, path)
    linked(one, path)
    check.about(f"{one} in front of the probe")
    for each in WAYS:
        same(native([PROGRAM, each], {"LD_PRELOAD": path}),
             record(["env", f"LD_PRELOAD={path}:{PROBE}", PROGRAM, each]))
check.done()
