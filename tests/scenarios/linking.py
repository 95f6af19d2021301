#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Every way to link it in: -lheapwake with an rpath, patchelf --add-needed, and
libheapwake.a with @heapwake.ld into programs that are fully static, of glibc and
of musl. What is recorded is what the program says, site by site."""
import json
import os
import shutil

from scenarios.support import Check, Ledger, ask, events, info, native, record, tool, truth, workload

ROOT, BUILD = os.environ["ROOT"], os.environ["BUILD"]
TURNOVER = os.path.join(ROOT, "tests/workloads/turnover.c")
TOLD = os.path.join(ROOT, "tests/workloads/told.c")
SPANS = os.path.join(ROOT, "tests/workloads/spans.c")
PLAIN = ["-I" + os.path.join(ROOT, "include"), "-O2", "-g", "-D_GNU_SOURCE=", "-fno-builtin-malloc", "-fno-builtin-realloc", "-fno-builtin-free"]
STATIC = ["-L" + BUILD, "@" + os.path.join(BUILD, "heapwake.ld")]
check = Check()


def build(*command):
    done = native(command)
    check.equal(" ".join(map(str, command))[:200], (0, ""), (done.status, done.err.decode()))
    return done.status == 0


def exact(path, told):
    """Of each function all that it made, and all that is left of it."""
    check.about(path)
    check.sound(path)
    for measure, blocks, size in (("allocated", "blocks", "bytes"), ("leaks", "left_blocks", "left_bytes")):
        done = tool("report", "--json", "-n", "0", "--" + measure, path)
        seen = {}
        for site in json.loads(done.out)[measure]["sites"]:
            maker = site["frames"][0]["function"] if site["frames"] else ""
            before = seen.get(maker, (0, 0))
            seen[maker] = before[0] + site["blocks"], before[1] + site["bytes"]
        for maker, account in told.items():
            check.equal(f"{measure} by {maker}", (account[blocks], account[size]), seen.get(maker))
    check.about("")


def static_programs():
    kinds = {"glibc": ["gcc", "-static"], "pie": ["gcc", "-static-pie"]}
    if shutil.which("musl-gcc"):
        kinds["musl"] = ["musl-gcc", "-static"]
    for name, compiler in kinds.items():
        if not build(*compiler, *PLAIN, TURNOVER, "-pthread", "-o", name, *STATIC):
            continue
        exact(f"{name}.wake", truth(record([f"./{name}", "20000", "3"], f"{name}.wake")))
        # realloc, threads that hand over: no address is made twice.
        if build(*compiler, *PLAIN, SPANS, "-pthread", "-o", name + "-spans", *STATIC):
            told = truth(record([f"./{name}-spans"], "spans.wake"))
            ledger = Ledger(events("spans.wake"))
            check.pairs(ledger)
            for size, count in {**told["short"], **told["long"]}.items():
                check.equal(f"{name}: blocks of {size}", count, ledger.made[int(size)])
            check.sound("spans.wake")
        static_calls(name, compiler)
        # Without record: the collector is found by its name, or in PATH.
        for variables in ({"HEAPWAKE_COLLECTOR": os.path.join(BUILD, "heapwake")},
                          {"PATH": BUILD + ":" + os.environ["PATH"]}):
            run = native([f"./{name}", "1000"], {**variables, "HEAPWAKE_OUTPUT": f"{name}-alone.wake"})
            wait_for(f"{name}-alone.wake")
            exact(f"{name}-alone.wake", truth(run))
            os.unlink(f"{name}-alone.wake")


def static_calls(name, compiler):
    """The calls of heapwake.h are in the library."""
    without = ["-Dmallopt(name, value)=((void)0)"] if compiler[0] == "musl-gcc" else []  # glibc's own
    if not build(*compiler, *PLAIN, *without, TOLD, "-pthread", "-o", name + "-told", *STATIC):
        return
    said = truth(record([f"./{name}-told", "calls"], "told.wake"))
    check.equal(f"{name}: answers", {"report": 0, "again": 0, "snapshot": 0, "flush": 0, "off": 0, "on": 1, "errno": 77}, said)
    ledger = Ledger(events("told.wake"))
    check.pairs(ledger)
    for size, made, freed in ((7101, 1, 1), (7103, 1, 0), (7104, 0, 0), (7105, 0, 0), (7106, 1, 1), (7109, 0, 0), (7110, 1, 0)):
        check.equal(f"{name}: blocks of {size}", (made, freed), (ledger.made[size], ledger.freed[size]))
    tags = [e.kind for e in events("told.wake") if e.event == "tag" and not e.kind.startswith("recording ")]
    check.equal(f"{name}: tags", ["begun", "one", "snapped", "two"], tags)
    check.sound("told.wake")


def wait_for(path):
    import time
    for _ in range(200):
        if os.path.exists(path):
            return
        time.sleep(0.05)
    raise SystemExit(f"{path} does not come.")


def write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def static_corners():
    """Names as ours in the program, memory that only libc asks for, operators, children, all allocating calls."""
    write("names.c", """
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
int life = 1, real = 2, share = 3, handover = 4, sample_rate = 5;
void event_alloc(void) { life++; }
int main(void)
{
    event_alloc();
    void *a = calloc(77, 101), *b = memalign(64, 7703), *c = aligned_alloc(64, 6400), *d = NULL;
    if (posix_memalign(&d, 128, 7707) != 0)
        return 1;
    for (int i = 0; i < 77 * 101; i++)
        if (((char *)a)[i] != 0)
            return 2;
    a = realloc(reallocarray(a, 10, 991), 12345);
    free(a), free(b), free(c), free(d);
    if (fork() == 0) {
        free(malloc(5551));
        _exit(0);
    }
    wait(NULL);
    return life + real + share + handover + sample_rate == 16 ? 0 : 3;
}
""")
    write("quiet.c", '#include <stdio.h>\nint main(void) { FILE *f = fopen("/dev/null", "r"); fclose(f); return 0; }\n')
    write("new.cc", """
#include <vector>
struct big { char bytes[3333]; };
int main() { std::vector<big *> all; for (int i = 0; i < 10; i++) all.push_back(new big); for (auto b : all) delete b; }
""")
    compilers = [["gcc", "-static"]] + ([["musl-gcc", "-static"]] if shutil.which("musl-gcc") else [])
    for compiler in compilers:
        if build(*compiler, *PLAIN, "names.c", "-o", "names", *STATIC):
            check.equal(f"{compiler[0]}: names of its own", 0, record(["./names"], "names.wake").status)
            ledger = Ledger(events("names.wake"))
            check.pairs(ledger)
            for size in (7777, 7703, 6400, 7707, 9910, 12345, 5551):
                check.equal(f"{compiler[0]}: blocks of {size}", (1, 1), (ledger.made[size], ledger.freed[size]))
            check.equal("processes", 2, info("names.wake")["processes"])
        if build(*compiler, *PLAIN, "quiet.c", "-o", "quiet", *STATIC):
            check.equal(f"{compiler[0]}: libc alone allocates", 0, record(["./quiet"], "quiet.wake").status)
            check.holds(sum(Ledger(events("quiet.wake")).made.values()) > 0, "What libc allocates is not recorded.")
    if build("g++", "-static", "-O2", "-g", "new.cc", "-o", "new", *STATIC):
        check.equal("C++", 0, record(["./new"], "new.wake").status)
        check.equal("blocks of 3333", 10, Ledger(events("new.wake")).made[3333])


def names_of_libc():
    """What libc keeps is suppressed as in a dynamic program, and strdup is not to blame."""
    write("libc.c", """
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char *keep[10];
__attribute__((noinline)) static void copy_names(void)
{
    for (int i = 0; i < 10; i++)
        keep[i] = strdup("a name that is kept");
}
__attribute__((noinline)) static void leak(void)
{
    for (int i = 0; i < 10; i++)
        keep[i] = malloc(1000);
}
int main(void)
{
    copy_names();
    leak();
    printf("%d\\n", setlocale(LC_ALL, "C.UTF-8") != NULL);
    return keep[0] == NULL;
}
""")
    kinds = {"dynamic": ["gcc"], "glibc": ["gcc", "-static"], "pie": ["gcc", "-static-pie"], "lines": ["gcc", "-static", "-g0"]}
    if shutil.which("musl-gcc"):
        kinds["musl"] = ["musl-gcc", "-static"]
    for kind, compiler in kinds.items():
        options = [] if kind == "dynamic" else STATIC
        if not build(*compiler, "-O1", *([] if "-g0" in compiler else ["-g"]), "-fno-builtin-malloc", "libc.c", "-o", "libc", *options):
            continue
        record(["./libc"], "libc.wake")
        said = json.loads(tool("report", "--json", "--leaks", "-n", "0", "libc.wake").out)["leaks"]
        sites = [(site["blocks"], site["bytes"], site["frames"][0]["function"].lstrip("_")) for site in said["sites"]]
        check.equal(f"{kind}: leaks", [(10, 10000, "leak"), (10, 200, "strdup")], sites)
        heads = ask("report", "--leaks", "libc.wake").stdout
        # musl has no unwind tables: a stack ends where it is met.
        check.holds(("10x  copy_names" in heads or kind == "musl") and "10x  leak" in heads, f"{kind}: rows begin otherwise: {heads}")
        check.sound("libc.wake")


def wrong_line():
    """Options as memlog gives them are too few: one sentence of the linker's says what is missing."""
    functions = ("malloc", "free", "calloc", "realloc", "valloc", "memalign", "posix_memalign", "aligned_alloc", "mmap", "munmap")
    wrap = "-Wl," + ",".join(f"--wrap,{name}" for name in functions)
    for static in ("-static", "-static-pie"):
        done = native(["gcc", static, *PLAIN, TURNOVER, "-pthread", wrap, os.path.join(BUILD, "libheapwake.a"), "-o", "wrong"])
        said = [line for line in done.err.decode().splitlines() if "undefined reference" in line]
        check.equal(f"{static}: exit status", 1, done.status)
        check.equal(f"{static}: complaints", 1, len(said))
        check.holds(said and "options_of_heapwake.ld" in said[0], f"The linker says {done.err.decode()[:600]}")


def lines_of_the_manual():
    with open(os.path.join(ROOT, "man/heapwake.1"), encoding="utf-8") as f:
        lines = [line[2:].strip() for line in f if line.startswith("$ ") and "heapwake.ld" in line]
    check.holds(len(lines) >= 2, f"The manual has only {lines}.")
    shutil.copy(TURNOVER, "app.c")
    for line in lines:
        if shutil.which(line.split()[0]) is not None:
            words = line.replace("/usr/local/lib", BUILD).split()
            if build(*words, *(word for word in PLAIN if not word.startswith("-fno")), "-I" + os.path.dirname(TURNOVER), "-pthread", "-o", "manual"):
                exact("manual.wake", truth(record(["./manual", "2000"], "manual.wake")))


def dynamic_programs():
    if build("gcc", *PLAIN, TURNOVER, "-pthread", "-o", "linked", "-L" + BUILD, "-Wl,--no-as-needed", "-lheapwake",
             "-Wl,-rpath," + BUILD):
        run = native(["./linked", "5000"], {"HEAPWAKE_OUTPUT": "linked.wake"})
        wait_for("linked.wake")
        exact("linked.wake", truth(run))
        exact("record.wake", truth(record(["./linked", "5000"], "record.wake")))
    if shutil.which("patchelf"):
        shutil.copy(workload("turnover"), "patched")
        build("patchelf", "--add-needed", "libheapwake.so", "patched")
        build("patchelf", "--set-rpath", BUILD, "patched")  # apart: some versions confuse the two
        run = native(["./patched", "5000"], {"HEAPWAKE_OUTPUT": "patched.wake"})
        wait_for("patched.wake")
        exact("patched.wake", truth(run))


static_programs()
static_corners()
names_of_libc()
wrong_line()
lines_of_the_manual()
dynamic_programs()
check.done()
