#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Recordings as disks, networks and strangers leave them, every time otherwise
(many_times.py): cut, flipped, with sizes and counts that are none, packed bombs,
chunks that are gone or there twice, impossible times, other versions, no recordings at
all, several in one. Each is answered with the truth, or with what is wrong."""
# timeout: 1200
import ctypes
import json
import os
import struct

from format.protowrite import number
from format.wake_bytes import Chunk, checksum, zstd
from format.wake_reader import Prelude
from many_times import agree, answer, ask, is_said, judge, many_times, sums_of
from support import put, record, tool, workload

HEADER = 64
EVENTS, INDEX, END = 5, 11, 12
HUGE = ((1 << 64) - 1, 1 << 63, (1 << 63) - 1, 1 << 62, 1 << 32, (1 << 32) - 1, 1 << 31)
WORDS = (("info", "--json"), ("info",), ("report",), ("report", "--json"), ("verify",), ("dump", "--tsv"), ("symbolize",),
         ("export", "-f", "folded"), ("history", "1000"), ("extract",))
zstd.ZSTD_compress.restype = ctypes.c_size_t


def read(path):
    with open(path, "rb") as f:
        return f.read()


def chunks_of(data):
    found, at = [], HEADER
    while at < len(data):
        found.append(Chunk(data, at))
        at = found[-1].end
    return found


def chunk(kind, process, payload, flags=0, raw=None, stored=None):
    """A chunk whose checksums are right, whatever else is."""
    head = struct.pack("<4sHHIIIIQ", b"WKCH", kind, flags, process, len(payload) if raw is None else raw,
                       len(payload) if stored is None else stored, 0, checksum(payload))
    return head + struct.pack("<Q", checksum(head)) + payload


def header(data, **changes):
    """The header of a file with other values in some places, vouched for."""
    places = {"magic": (0, "8s"), "major": (8, "<H"), "minor": (10, "<H"), "length": (12, "<I"), "needs": (16, "<Q"),
              "offers": (24, "<Q")}
    head = bytearray(data[:HEADER])
    for name, value in changes.items():
        struct.pack_into(places[name][1], head, places[name][0], value)
    struct.pack_into("<Q", head, 56, checksum(bytes(head[:56])))
    return bytes(head) + data[HEADER:]


def instead(data, old, new):
    return data[:old.offset] + new + data[old.end:]


# ------------------------------------------------------------------- the cases


def cut(check, chance):
    """All chunks that are whole are used."""
    at = chance.randrange(HEADER, len(DATA))
    facts = judge(check, put("cut.wake", DATA[:at]), TRUTH)
    whole = sum(Prelude(c.data).events for c in CHUNKS if c.type == EVENTS and c.end <= at)
    if check.equal("it can be read", True, facts is not None):
        check.equal(f"events before byte {at}", whole, len(ask(check, "dump", "--tsv", "cut.wake").out.splitlines()) - 1)
        check.holds(not facts["complete"], "it is called complete.")


def flips(check, chance):
    data = bytearray(DATA)
    for bit in chance.sample(range(len(data) * 8), chance.randint(1, 5)):
        data[bit // 8] ^= 1 << bit % 8
    judge(check, put("flips.wake", bytes(data)), TRUTH)


def sizes(check, chance):
    """A header that vouches for lengths that cannot be."""
    old = chance.choice(CHUNKS)
    lengths = (0, 1, len(old.data) + 1, (16 << 20) + 1, 1 << 31, (1 << 32) - 1, len(DATA) - old.offset)
    raw, stored = chance.choice(((None, chance.choice(lengths)), (chance.choice(lengths), None), (chance.choice(lengths),) * 2))
    new = chunk(old.type, old.process, old.data, old.flags, old.raw if raw is None else raw, stored)
    judge(check, put("sizes.wake", instead(DATA, old, new)), TRUTH)


def bomb(check, chance):
    """A few bytes that unpack to very many; the header tells the truth about it, or not."""
    size = chance.choice((64 << 20, 256 << 20, (16 << 20) + 1))
    if size not in BOMBS:
        room = ctypes.create_string_buffer(1 << 20)
        packed = zstd.ZSTD_compress(room, ctypes.c_size_t(1 << 20), bytes(size), ctypes.c_size_t(size), 9)
        BOMBS[size] = room.raw[:packed]
        check.holds(0 < packed <= 1 << 20 and BOMBS[size].startswith(b"\x28\xb5\x2f\xfd"), "the bomb is no zstd frame.")
    old = chance.choice(CHUNKS)
    raw = chance.choice((size, 16 << 20, 100, 0))
    judge(check, put("bomb.wake", instead(DATA, old, chunk(old.type, old.process, BOMBS[size], 1, raw))), TRUTH)


def counts(check, chance):
    """A number of a vouched payload is another one: very many of something, or something very far away."""
    old = chance.choice([c for c in CHUNKS if c.type not in (EVENTS, END)])
    payload = old.payload().data
    ends = [i for i, byte in enumerate(payload) if byte < 128]
    for place in sorted(chance.sample(ends, min(len(ends), chance.randint(1, 3))), reverse=True):
        payload = payload[:place] + number(chance.choice(HUGE)) + payload[place + 1:]
    data = instead(DATA, old, chunk(old.type, old.process, payload))
    if chance.random() < 0.5:  # otherwise the index tells that something has moved
        data = b"".join([DATA[:HEADER], *(data[c.offset:c.end] for c in chunks_of(data) if c.type not in (INDEX, END))])
    agree(check, put("counts.wake", data))


def ids(check, chance):
    """Chunks that are gone, there twice, or in another order: ids that nobody defined, or two did."""
    order, way = list(CHUNKS), chance.randrange(3)
    at, other = chance.randrange(len(order)), chance.randrange(len(order))
    if way == 0:
        del order[at]
    elif way == 1:
        order.insert(other, order[at])
    else:
        order[at], order[other] = order[other], order[at]
    data = DATA[:HEADER] + b"".join(DATA[c.offset:c.end] for c in order)
    judge(check, put("ids.wake", data), TRUTH)


def times(check, chance):
    """Times, numbers and levels of an events chunk that cannot be, and are vouched for."""
    old = chance.choice([c for c in CHUNKS if c.type == EVENTS])
    payload = bytearray(old.data)
    for place in chance.sample((0, 8, 16, 24, 48, 56, 64, 72, 80), chance.randint(1, 3)):
        struct.pack_into("<Q", payload, place, chance.choice((*HUGE, 0, 1)))
    struct.pack_into("<Q", payload, 88, checksum(bytes(payload[:88])))
    data = instead(DATA, old, chunk(EVENTS, old.process, bytes(payload), old.flags, old.raw))
    if chance.random() < 0.5:
        data = data[:CHUNKS[-2].offset]  # no index, no end
    agree(check, put("times.wake", data))


def versions(check, chance):
    """A newer minor version and what is only offered are read, a newer major and what is needed are not. A header that is
    another's does not keep the chunks behind it from being read; the damage is said."""
    later, unknown, magic = chance.randint(2, 65000), 1 << chance.randrange(64), chance.randbytes(8)
    swapped = b"".join(DATA[i:i + 8][::-1] for i in range(0, len(DATA), 8))
    judge(check, put("other.wake", header(DATA, magic=magic)), TRUTH)
    for what, data, is_read in (
            ("a newer minor version", header(DATA, minor=later + 2), True), ("another feature", header(DATA, offers=unknown), True),
            ("a newer major version", header(DATA, major=later), False), ("version 0", header(DATA, major=0), False),
            ("a feature that is needed", header(DATA, needs=unknown), False),
            ("another product", magic + DATA[8:].replace(b"WKCH", magic[:4]), False), ("the other endian", swapped, False)):
        facts = answer(check, chance.choice(("info", "report")), "--json", put("other.wake", data))
        check.equal(f"{what}: it is read", is_read, facts is not None)
        if facts is not None:
            check.equal(what, TRUTH, sums_of(facts))
    golden = os.path.join(os.environ["ROOT"], "tests/golden", chance.choice(("example-1.0.wake", "example-1.1.wake", "example-1.3.wake")))
    check.holds(answer(check, "report", "--json", golden) is not None, f"{golden} is not read.")


def no_recording(check, chance):
    os.makedirs("folder", exist_ok=True)
    if not os.path.exists("pipe"):
        os.mkfifo("pipe")
        os.symlink("loop", "loop")
        os.symlink("/dev/null", "null")
    path = chance.choice(("folder", "pipe", "loop", "null", "/dev/zero", "/nowhere", "x" * 300, "empty", "text", "noise", "short", "huge"))
    put("empty", b"")
    put("text", b"some words\n" * chance.randint(1, 100000))
    put("noise", chance.randbytes(chance.randint(1, 300000)))
    put("short", DATA[:chance.randrange(1, HEADER)])
    with open("huge", "wb") as f:
        f.truncate(1 << chance.randint(30, 42))  # of which nothing is there
    words = chance.choice(WORDS)
    done = ask(check, *words, *([path] if words[0] != "history" else []), *(["0x10", path] if words[0] == "history" else []))
    check.holds(done.status in (1, 2) and done.out == b"", f"{words} of {path}: status {done.status}, {done.out[:100]!r}")


def together(check, chance):
    """Several recordings, merged or asked together, in any order, count as many; put into one file by hand they are none."""
    paths = [os.path.join("..", name) for name in chance.sample(OTHERS, chance.randint(2, len(OTHERS)))]
    single = [sums_of(answer(check, "info", "--json", path)) for path in paths]
    done = ask(check, "merge", "-o", "merged.wake", *paths)
    check.equal("merge", 0, done.status)
    check.equal("verify", 0, ask(check, "verify", "merged.wake").status)
    for told in (answer(check, "report", "--json", *paths), answer(check, "report", "--json", "merged.wake")):
        for key in ("processes", "allocations", "frees", "allocated_bytes", "leaked_blocks", "leaked_bytes"):
            check.equal(key, sum(one[key] for one in single), sums_of(told)[key])
    facts = answer(check, "info", "--json", put("joined.wake", b"".join(read(path) for path in paths)))
    check.holds(facts is None or is_said(facts), "files put one behind the other are a recording, and nothing is said.")
    os.unlink("merged.wake")


BOMBS = {}
OTHERS = ["data.wake", "threads.wake", "one.wake"]
record([workload("family"), "fork"], "data.wake")
record([workload("threads"), "keys"], "threads.wake")
record([workload("ends"), "return", "2", "500"], "one.wake", ["--symbols", "no"])
DATA = read("data.wake")
CHUNKS = chunks_of(DATA)
TRUTH = sums_of(json.loads(tool("info", "--json", "data.wake").out))
if __name__ == "__main__":
    many_times({"cut": cut, "flips": flips, "sizes": sizes, "bomb": bomb, "counts": counts, "ids": ids, "times": times,
                "versions": versions, "no_recording": no_recording, "together": together})
