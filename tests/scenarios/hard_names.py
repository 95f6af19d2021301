#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Names, paths, programs and readers as nobody wants them, every time otherwise
(many_times.py): outputs that are something else, recorders that share a name, secrets, programs whose
headers, unwind tables and debug data make no sense or are no longer there, names that are bombs,
escape sequences, very long or no text, readers that go away."""
# timeout: 1200
import glob
import json
import os
import re
import shutil
import stat
import struct
import subprocess
import time

from format.wake_bytes import Chunk
from many_times import answer, ask, many_times, sums_of
from support import HEAPWAKE, TIMEOUT_S, Check, Ledger, events, native, put, record, tool, truths, workload

HOSTILE = os.path.join(os.environ["BUILD"], "tests/hostile")
KEEPER, BLAME = os.path.join(HOSTILE, "keeper"), workload("blame")
SIZE = 10243  # of keeper's blocks
NAME_MAX = 16384  # more is not kept of a name
HUGE = (0, 1, (1 << 64) - 1, 1 << 63, 1 << 32, (1 << 32) - 1, 1 << 31, 0xffff)
HARM = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
PIECES = ("\x1b[31m", "\x1b]0;owned\x07", "\x1b]52;c;aGk=\x07", "\x9b2J", "\r", "\n", "\b\b", "\x7f", "\u202e", "\u200b", "\u2066",
          "\ufeff", "\x90q", "%s%n", "<b>&", "'\"", "$(id)", "`", "\\", ";", "|", "\t", "é", "日本", "\udcff\udcfe", " ", "*", "..", "-o")


def read(path):
    with open(path, "rb") as f:
        return f.read()


def truth_of(path):
    return sums_of(json.loads(tool("info", "--json", path).out))


def blocks(path):
    return Ledger(events(path)).made[SIZE]


def copy_of(program, name):
    """A program of our own, as long as this time lasts."""
    if os.path.exists(name):
        os.unlink(name)
    shutil.copy(program, name)
    return os.path.abspath(name)


def no_harm(check, what, out):
    found = HARM.findall(out.decode(errors="surrogateescape"))
    check.holds(not found, f"{what} lets {found[:3]} through.")


# --------------------------------------------------------------------- outputs


def outputs(check, chance):
    """The output is something else already, or cannot be: the program runs, nothing of others is touched, and it is said."""
    shutil.rmtree("place", ignore_errors=True)
    os.makedirs("place/folder")
    os.mkfifo("place/pipe")
    if os.geteuid() == 0:
        os.mknod("place/device", 0o666 | stat.S_IFCHR, os.makedev(1, 7))  # of our own: the system's might be replaced
    put("place/precious", b"precious")
    put("place/old", chance.randbytes(chance.randint(0, 5000)))
    os.symlink("precious", "place/link")
    os.symlink("nothing", "place/dangling")
    os.symlink("folder", "place/way")
    os.symlink("device", "place/to_device")
    name, is_file = chance.choice((("old", True), ("link", True), ("dangling", True), ("way/new", True), ("pipe", False), ("folder", False),
                                   ("nowhere/new", False), ("precious/new", False), ("x" * 300, False),
                                   ("device", False), ("to_device", False)))
    made = chance.randint(10, 300)
    path = os.path.join("place", name)
    before = {entry: os.lstat(os.path.join("place", entry)).st_mode for entry in os.listdir("place")}
    run = native([HEAPWAKE, "record", "--symbols", "no", "-o", path, "--", KEEPER, "only_works", made])
    check.equal(f"{name}: status", 0, run.status)
    check.equal(f"{name}: blocks told", made, truths(run)[0]["blocks"][str(SIZE)][0])
    check.equal(f"{name}: what is not ours", b"precious", read("place/precious"))
    check.holds(run.err.startswith(b"heapwake: ") and run.err.count(b"\n") <= 2, f"{name}: it says {run.err!r}.")
    if is_file:
        check.equal(f"{name}: blocks", made, blocks(path))
        check.holds(not os.path.islink(path), f"{name} is still a link.")
        before.pop(name, None)
    for entry, mode in before.items():
        check.equal(f"{name}: what {entry} is", mode, os.lstat(os.path.join("place", entry)).st_mode)
    for wake in glob.glob("*.wake"):  # where it went instead, as was said
        check.equal(f"{name}: blocks in {wake}", made, blocks(wake))
        os.unlink(wake)


def two_recorders(check, chance):
    """Whoever is first has the name, and replaces what had it before; nobody's file holds anything of another's, and none is lost."""
    made = chance.sample(range(10, 3000), chance.randint(2, 4))
    if chance.randrange(2):
        with open("same.wake", "wb") as f:
            f.write(b"of yesterday")
    command = [HEAPWAKE, "record", "-q", "--symbols", "no", "-o", "same.wake", "--", "sh", "-c", 'read go; exec "$0" "$@"', KEEPER, "only_works"]
    started = [subprocess.Popen([*command, str(n)], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for n in made]
    deadline = time.monotonic() + TIMEOUT_S
    while len(glob.glob("same.wake.partial*")) < len(made) and time.monotonic() < deadline:
        time.sleep(0.01)
    for process in started:
        process.stdin.close()  # all at once, as far as that goes
    for process in started:
        err = process.stderr.read()
        check.equal("status and stderr", (0, b""), (process.wait(60), err))
    names = ["same.wake"] + [f"same.wake.{i}" for i in range(2, len(made) + 1)]
    check.equal("files", names, sorted(os.listdir(".")))
    for name in names:
        check.sound(name)
    check.equal("blocks", sorted(made), sorted(blocks(name) for name in names))
    for name in names:
        os.unlink(name)


def secrets(check, chance):
    """Of the environment nothing is kept; nobody else can read the file; without names there are none."""
    word, other = chance.randbytes(12).hex(), chance.randbytes(12).hex()
    mask = chance.randrange(0o1000)
    run = native([HEAPWAKE, "record", "-q", "-o", "secret.wake", "--", BLAME, other], {"PASSWORD": word}, umask=mask & 0o077)
    check.equal("status", 0, run.status)
    check.equal("mode", 0o600, stat.S_IMODE(os.stat("secret.wake").st_mode))
    ask(check, "anonymize", "secret.wake", "-o", "bare.wake")
    for path, hidden in (("secret.wake", (word,)), ("bare.wake", (word, other, "blame", "leak_small", os.getcwd()))):
        data, at = read(path), 64
        while at < len(data):
            chunk = Chunk(data, at)
            at = chunk.end
            text = chunk.data if chunk.type == 5 else chunk.payload().data
            for secret in hidden:
                check.holds(secret.encode() not in text, f"{path} tells {secret} in a chunk of type {chunk.type}.")
    check.equal("sums", truth_of("secret.wake"), truth_of("bare.wake"))
    os.unlink("bare.wake")


def readers_gone(check, chance):
    """A reader that goes away after a while, and a device that is full."""
    words = chance.choice((("report",), ("info",), ("dump", "--tsv"), ("report", "--json"), ("export", "-f", "folded"), ("verify",),
                           ("dump", "--stacks"), ("export", "-f", "csv")))
    process = subprocess.Popen([HEAPWAKE, *words, "../blame.wake"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.read(chance.choice((0, 1, 100, 5000)))
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()
    check.holds(process.wait(60) in (0, 1, -13, 141), f"{words}: status {process.returncode}")
    check.holds(err.count(b"\n") <= 1, f"{words}: it says {err!r}")
    with open("/dev/full", "wb") as full:
        done = subprocess.run([HEAPWAKE, *words, "../blame.wake"], stdout=full, stderr=subprocess.PIPE, timeout=60)
    check.equal(f"{words} into a full device", 1, done.returncode)
    check.holds(done.stderr.startswith(b"heapwake") and done.stderr.count(b"\n") == 1, f"{words}: it says {done.stderr!r}")


# ----------------------------------------------------------------------- names


def odd(chance, pieces):
    return "".join(chance.choice(PIECES) for _ in range(pieces)).replace("/", "").replace("\0", "")


def odd_paths(check, chance):
    """A program, a folder and a recording with any bytes in their names."""
    name = os.fsdecode(bytes(chance.choice([b for b in range(1, 256) if b != ord("/")]) for _ in range(chance.randint(1, 120))))
    name = "x" + name if name in (".", "..") else name
    folder = os.path.join(os.getcwd(), "odd", name)
    os.makedirs(folder)
    made = chance.randint(5, 30)
    path = os.path.join(folder, "a.wake")
    run = record([copy_of(KEEPER, os.path.join(folder, name)), "only_works", made], path.replace("%", "%%"))
    check.equal("status", 0, run.status)
    check.equal("blocks", made, blocks(path))
    for words in (("info", "--json"), ("report", "--json")):
        check.holds(answer(check, *words, path) is not None, f"{words[0]} refuses it.")
    words = chance.choice((("info",), ("report",), ("dump", "--stacks")))
    no_harm(check, words[0], ask(check, *words, path).out)
    shutil.rmtree("odd")


def escapes(check, chance):
    """Whatever a program, its thread and its arguments are called, a terminal is not told to do anything."""
    name = ("x" + odd(chance, 8))[:60]
    run = record([copy_of(BLAME, name), odd(chance, 3), odd(chance, 20)], "out.wake")
    os.unlink(name)
    check.equal("status", 0, run.status)
    for words in chance.sample((("info",), ("report",), ("report", "--tree"), ("report", "--by", "thread"), ("dump", "--stacks"),
                                ("verify",), ("info", "--json"), ("report", "--json"), ("export", "-f", "folded")), 4):
        done = ask(check, *words, "out.wake")
        check.equal(f"{words}", 0, done.status)
        no_harm(check, " ".join(words), done.out + done.err)


def renamed(program, name, old, new):
    """A copy without debug data in which a function is called otherwise."""
    put("names", f"{old} {new}\n".encode())
    subprocess.run(["objcopy", "--strip-debug", "--redefine-syms=names", program, name], check=True)
    return os.path.abspath(name)


def bomb_of(chance):
    """What makes demanglers recurse, or double what they print again and again."""
    n = chance.randint(20, 34)
    letters = "23456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[:n]
    return chance.choice((
        lambda: "_Z1f1aIiE1cIS0_S0_E" + "".join(f"S1_IS{c}_S{c}_E" for c in letters),
        lambda: "_Z1f" + "P" * chance.randint(1000, 16000) + "i", lambda: "_Z1f" + "i" * chance.randint(1000, 30000),
        lambda: "_ZN" + "1a" * chance.randint(100, 5000) + "E", lambda: "_Z" + "N1aI" * chance.randint(100, 4000) + "i" + "EE" * 100,
        lambda: "_RNvB" + "_" * chance.randint(1, 3), lambda: "_RMC0" + "TTTTTT" * chance.randint(10, 400) + "E" * 300,
        lambda: "_D" + "8demangle" * chance.randint(2, 300) + "FiZv", lambda: "_D1aQ" + "a" * chance.randint(1, 20) + "Z",
        lambda: "_Z1f" + "".join(chance.choice("NISt_E0123aiPRKTLXDpsr") for _ in range(chance.randint(5, 400)))))()


def bomb_names(check, chance):
    bomb = bomb_of(chance)
    run = record([renamed(BLAME, "bomb", "leak_large", bomb)], "bomb.wake", ["--symbols", "no"])
    check.equal("status", 0, run.status)
    truth = truth_of("bomb.wake")
    if chance.random() < 0.5:
        check.equal("symbolize", 0, ask(check, "symbolize", "bomb.wake").status)
    report = answer(check, "report", "--json", "-n", "0", "bomb.wake")
    check.equal("sums", truth, report and sums_of(report))
    names = [f["function"] for s in report["leaks"]["sites"] for f in s["frames"]]
    check.holds(any(name and name not in ("main",) and "leak_large" not in name for name in names), f"there are no names: {names}")


def long_names(check, chance):
    """What is too long for a line is cut, and nothing takes long."""
    name = chance.choice("abcxyz_") * chance.randint(200, 60000)
    run = record([renamed(BLAME, "long", "leak_large", name), "t" * 100, "a" * chance.randint(100, 100000)], "long.wake")
    check.equal("status", 0, run.status)
    for words in chance.sample((("report",), ("report", "--tree"), ("report", "--leaks"), ("report", "--by", "function")), 2):
        done = ask(check, *words, "long.wake")
        lines = done.out.decode(errors="replace").splitlines()
        check.holds(done.status == 0 and all(len(line) <= 80 for line in lines), f"{words}: {[len(line) for line in lines if len(line) > 80][:3]}")
    report = answer(check, "report", "--json", "-n", "0", "long.wake")
    check.holds(name[:NAME_MAX] in json.dumps(report), "the whole name is not in the JSON.")


# -------------------------------------------------------------------- programs


def sections_of(data):
    """Name -> (offset, size) of an ELF file."""
    at, = struct.unpack_from("<Q", data, 40)
    entry, count, names = struct.unpack_from("<HHH", data, 58)
    heads = [struct.unpack_from("<IIQQQQ", data, at + entry * i) for i in range(count)]
    return {data[heads[names][4] + h[0]:].split(b"\0", 1)[0].decode(): (h[4], h[5]) for h in heads}


def spoil(data, chance, start, size, times):
    """Some bytes, or numbers of some width, are others."""
    data = bytearray(data)
    for _ in range(times):
        form = chance.choice(("<B", "<H", "<I", "<Q"))
        width = struct.calcsize(form)
        at = start + chance.randrange(max(1, size - width))
        value = chance.choice((*HUGE, chance.getrandbits(64), 0x80 * 0x0101010101010101))
        struct.pack_into(form, data, at, value & (1 << 8 * width) - 1)
    return bytes(data)


def show(check, chance, truth, recording):
    """Names may be missing or wrong; sums are not, and nobody crashes. Names are looked up for the recording, or for the report."""
    shutil.copy(recording, "shown.wake")
    if chance.random() < 0.5:
        check.holds(ask(check, "symbolize", "shown.wake").status in (0, 1), "symbolize")
    report = answer(check, "report", "--json", "-n", "0", "shown.wake")
    check.equal("sums", truth, report and sums_of(report))
    return report


def own_recording():
    """Of a program of this folder; what it is becomes another each time."""
    program = copy_of(BLAME, "program")
    if not os.path.exists("own.wake"):
        record([program], "own.wake", ["--symbols", "no"])
    return program, truth_of("own.wake"), read(program)


def bad_debug(check, chance):
    program, truth, data = own_recording()
    sections = {name: place for name, place in sections_of(data).items() if name.startswith(".debug_")}
    for start, size in chance.sample(sorted(sections.values()), chance.randint(1, 4)):
        data = spoil(data, chance, start, size, chance.choice((1, 5, 50)))
    put(program, data)
    show(check, chance, truth, "own.wake")


def bad_elf(check, chance):
    """Headers that are nonsense for whoever reads the file; unwind tables that are, for whoever runs in the program."""
    program, truth, data = own_recording()
    at, = struct.unpack_from("<Q", data, 40)
    start, size = chance.choice(((16, 48), (64, 56 * 13), (at, len(data) - at), sections_of(data)[".symtab"], sections_of(data)[".strtab"]))
    put(program, spoil(data, chance, start, size, chance.choice((1, 3, 20))))
    show(check, chance, truth, "own.wake")
    keeper, made = copy_of(KEEPER, "keeper"), chance.randint(100, 300)
    data = read(keeper)
    for name in (".eh_frame", ".eh_frame_hdr"):
        data = spoil(data, chance, *sections_of(data)[name], chance.choice((0, 1, 20, 300)))
    put(keeper, data)
    run = record([keeper, "only_works", made], "tables.wake", ["--symbols", "no"])
    check.equal("a program with bad tables", (0, b""), (run.status, run.err))
    check.equal("blocks", made, blocks("tables.wake"))
    check.sound("tables.wake")


def gone(check, chance):
    """Between the recording and the question the program has become another, or nothing: no names are better than wrong ones."""
    program, truth, data = own_recording()
    os.unlink(program)
    way = chance.choice(("nothing", "another", "cut", "empty", "folder", "text"))
    if way == "another":
        shutil.copy(workload(chance.choice(("ends", "order", "lives", "churn"))), program)
    elif way == "folder":
        os.mkdir(program)
    elif way != "nothing":
        put(program, {"cut": data[:chance.randrange(1, len(data) // 3)], "empty": b"", "text": b"text\n" * chance.randint(1, 1000)}[way])
    report = show(check, chance, truth, "own.wake")
    names = {f["function"] for s in report["leaks"]["sites"] for f in s["frames"] if f["module"] == program}
    check.holds(not [name for name in names if name], f"{way}: names of another file are shown: {names}")
    if way == "folder":
        os.rmdir(program)


if __name__ == "__main__":
    record([BLAME], "blame.wake")
    Check().sound("blame.wake")
    many_times({"outputs": outputs, "two_recorders": two_recorders, "secrets": secrets, "readers_gone": readers_gone,
                "odd_paths": odd_paths, "escapes": escapes, "bomb_names": bomb_names, "long_names": long_names,
                "bad_debug": bad_debug, "bad_elf": bad_elf, "gone": gone})
