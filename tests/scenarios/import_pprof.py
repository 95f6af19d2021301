#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""`heapwake import` of pprof's heap profiles: our own export comes back the same,
function by function; a profile that `go tool pprof` has written is read too."""
import gzip
import json

from format.protowrite import field, number
from imports import by_function, refuse, same_figures, take, works_everywhere
from support import Check, info, native, record, tool, workload

check = Check()
LEGACY = """heap profile: 5: 500 [15: 2500] @ heapprofile
2: 200 [10: 2000] @ 0x401010 0x401020
3: 300 [5: 500] @ 0x401030

MAPPED_LIBRARIES:
00400000-00500000 r-xp 00000000 08:01 77 /nowhere/app
"""


def profile(types, values, texts=(), location=1):
    """The smallest profile: one sample of one function."""
    words = [b"", *types, *texts]
    out = b"".join(field(1, field(1, i + 1)) for i in range(len(types)))
    out += field(2, field(1, number(location)) + field(2, b"".join(map(number, values))))
    out += field(4, field(1, 1) + field(3, 4096) + field(4, field(1, 1) + field(2, 7)))
    out += field(5, field(1, 1) + field(2, words.index(b"make_it") if b"make_it" in words else 0))
    return out + b"".join(field(6, word) for word in words)


def whole(path):
    return json.loads(tool("export", "-f", "json", path).out)


def check_round_trip(name, *argv):
    check.about(f"{name} and back")
    record([workload(name), *argv], "own.wake")
    check.equal("export", 0, tool("export", "-f", "pprof", "-o", "own.pb.gz", "own.wake").status)
    facts = take(check, "own.pb.gz", "back.wake", notes=["no times", "made up"])
    same_figures(check, info("own.wake"), facts,
                 ("allocations", "frees", "allocated_bytes", "peak_bytes", "leaked_bytes", "leaked_blocks"))
    for measure in ("leaks", "allocated"):
        check.equal(measure, by_function("own.wake", measure), by_function("back.wake", measure))
    peaks = [{k: v[0] for k, v in by_function(path, "peak").items() if v[0] > 0} for path in ("own.wake", "back.wake")]
    check.equal("peak", *peaks)
    works_everywhere(check, "back.wake")
    ids = [{module["path"]: module["build_id"] for process in whole(path)["processes"] for module in process["modules"]}
           for path in ("own.wake", "back.wake")]
    for path, build_id in ids[1].items():
        check.equal(f"build id of {path}", ids[0].get(path), build_id)
    check.about("")


def check_go():
    """What go tool pprof makes of a legacy profile is what we make of it."""
    with open("legacy.heap", "w", encoding="utf-8") as f:
        f.write(LEGACY)
    done = native(["go", "tool", "pprof", "-symbolize=none", "-proto", "-output", "go.pb.gz", "legacy.heap"])
    check.equal("exit status of go tool pprof", 0, done.status)
    same_figures(check, take(check, "legacy.heap", "legacy.wake"), take(check, "go.pb.gz", "go.wake"))


def check_kinds():
    with open("own.pb", "wb") as f:
        f.write(profile([b"inuse_objects", b"inuse_space"], [3, 300], [b"make_it"]))
    facts = take(check, "own.pb", "use.wake", notes=["what was freed before"])
    check.equal("sums", (3, 300, 3, 300), tuple(facts[key] for key in
                                                ("allocations", "allocated_bytes", "leaked_blocks", "leaked_bytes")))
    check.equal("function", {"make_it": [300, 3]}, by_function("use.wake", "leaks"))
    for values in ([3, 349957, 0, 0, 323630], [2, 14375, 0, 0, 12330], [3, 3548, 2, 3390, 3210], [6, 5122, 2, 109, 5057]):
        with open("own.pb", "wb") as f:
            f.write(profile([b"alloc_objects", b"alloc_space", b"inuse_objects", b"inuse_space", b"peak_space"], values))
        facts = take(check, "own.pb", "peak.wake", notes=["how many blocks"])
        keys = ("allocations", "allocated_bytes", "leaked_blocks", "leaked_bytes", "peak_bytes")
        check.equal("sums", [*values[:4], max(values[3:])], [facts[key] for key in keys])
        check.holds(not any("more live" in note for note in facts["notes"]), f"{values} are said to be odd.")
    many = profile([b"alloc_objects", b"alloc_space", b"inuse_objects", b"inuse_space"], [10**12, 10**14, 10**9, 10**11])
    with open("many.pb.gz", "wb") as f:
        f.write(gzip.compress(many))
    facts = take(check, "many.pb.gz", "many.wake", "--max-blocks", "10000", notes=["tells of 1000000000000 blocks"])
    check.equal("bytes", (10**14, 10**11), (facts["allocated_bytes"], facts["leaked_bytes"]))
    check.holds(facts["allocations"] <= 10001, f"--max-blocks 10000 made {facts['allocations']} blocks.")


def check_refusals():
    cpu = profile([b"samples", b"cpu"], [3, 300])
    refuse(check, cpu, "no profile of a heap: it has 'cpu'", "-f", "pprof")
    heap = profile([b"inuse_space"], [300])
    refuse(check, heap[:-3], "byte ", "-f", "pprof")
    refuse(check, profile([b"inuse_space"], [300], location=9), "byte ", "-f", "pprof")
    refuse(check, profile([b"inuse_space"], [2**64 - 5]), "byte ", "-f", "pprof")
    refuse(check, profile([b"inuse_space"], [2**62]), "2^60", "-f", "pprof")
    refuse(check, gzip.compress(heap)[:-9], "ends in the middle", "-f", "pprof")


check_round_trip("blame")
check_round_trip("lives")
check_kinds()
check_refusals()
if native(["go", "version"]).status == 0:
    check_go()
check.done()
