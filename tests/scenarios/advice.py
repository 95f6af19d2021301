#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""`heapwake report --advice` and `--without` against a program that knows how it
wastes; what would have been is reckoned again from the events."""
import json
import math
import re

from support import Check, events, info, record, tool, truth, workload

check = Check()


def ask(*argv, path="w.wake"):
    done = tool("report", "--json", *argv, path)
    check.equal(f"exit status of report {argv}", 0, done.status)
    return json.loads(done.out)


def short_lived(path):
    """Large blocks that lived up to 10 ms: all of them, unless the machine was busy elsewhere."""
    born, count = {}, 0
    for e in events(path):
        if e.event == "alloc":
            born[e.address] = e.time
        elif e.event == "free" and e.size == 400000:
            count += e.time - born[e.address] <= 10**7
    return count


def check_advice(told):
    told["large"] = short_lived("w.wake")
    listed = ask("--advice")["advice"]
    found = {(a["kind"], a["frames"][0]["function"]): a for a in listed}
    shares = [a["percent"] for a in listed]
    check.equal("the largest share comes first", sorted(shares, reverse=True), shares)
    peak = info("w.wake")["peak_bytes"]
    for kind, function, count in (("reserve", "grow_by_steps", told["steps"]),
                                  ("reuse", "make_temporaries", told["temporaries"]),
                                  ("pool", "make_tiny", told["tiny"]), ("keep", "make_large", told["large"]),
                                  ("cross", "make_crossed", told["crossed"]),
                                  ("align", "make_aligned", told["aligned"])):
        advice = found.get((kind, function))
        check.holds(advice is not None, f"No advice to {kind} in {function}: {list(found)}")
        if advice is not None:
            check.equal(f"count of {kind}", count, advice["count"])
            check.equal(f"{kind} saves time or memory", kind in ("pool", "align"), advice["saved_bytes"] > 0)
            if advice["saved_bytes"]:
                check.holds(abs(advice["percent"] - 100 * advice["saved_bytes"] / peak) < 0.1, f"share of {kind}")
    reserve = found["reserve", "grow_by_steps"]
    check.equal("bytes copied", told["copied"], reserve["bytes"])
    check.equal("capacity to reserve", told["final"], reserve["size"])
    check.equal("alignment", 4096, found["align", "make_aligned"]["size"])
    check.equal("waste of aligned blocks", told["aligned"] * (4096 - 128), found["align", "make_aligned"]["saved_bytes"])
    # glibc: 24 usable bytes and a header of 8 for 9.
    check.equal("waste of tiny blocks", told["tiny"] * (24 - 9 + 8), found["pool", "make_tiny"]["saved_bytes"])
    check.equal("bytes of large blocks", told["large"] * 400000, found["keep", "make_large"]["bytes"])
    check.holds(not any(f == "hold" for _, f in found), "Advice is given about what is fine.")
    text = tool("report", "--advice", "-n", "0", "w.wake").out.decode()
    check.holds("50 steps of realloc copied" in text and "reserve 49.8 KiB" in text, f"The page says {text}")
    check.holds(all(len(line) <= 80 for line in text.splitlines()), "A line has more than 80 columns.")
    text = tool("report", "--advice", "w.wake").out.decode()
    few = [a for a in listed if a["percent"] >= 0.05][:10]
    if any(abs(a["percent"] - 0.05) < 0.001 for a in listed):
        return  # which side it is on is not to be seen
    check.equal("advice on the page", len(few), len(re.findall(r"^ .* \d+\.\d %  ", text.split("Advice", 1)[1], re.M)))
    check.equal("advice that is left out", len(listed) > len(few), f"and {len(listed) - len(few)} that would save" in text)


def check_sampled():
    """Estimates are near the truth, and what samples cannot tell is not told; so with blocks that were culled."""
    check.about("sampled")
    rate = 1024
    told = truth(record([workload("wasteful")], "sampled.wake", ["--sample", str(rate)]))
    told["large"] = short_lived("sampled.wake")
    found = {(a["kind"], a["frames"][0]["function"]): a for a in ask("--advice", path="sampled.wake")["advice"]}
    check.holds(not any(kind in ("reserve", "reuse") for kind, _ in found), f"Samples tell too much: {list(found)}")
    for kind, function, count, size in (("pool", "make_tiny", told["tiny"], 9), ("keep", "make_large", told["large"], 400000)):
        deviation = math.sqrt(count * rate / size) if size < rate else 0
        seen = found[kind, function]["count"] if (kind, function) in found else 0
        check.holds(abs(seen - count) <= 5 * deviation + 1, f"{kind}: the truth is {count}, the estimate {seen}.")
    check.equal("bytes of large blocks", told["large"] * 400000, found["keep", "make_large"]["bytes"])
    text = tool("report", "--advice", "sampled.wake").out.decode()
    check.holds("cannot tell realloc chains and temporaries" in text, f"The page says {text}")
    check.about("culled")
    check.equal("exit status of strip", 0, tool("strip", "--threshold", "1h", "w.wake", "-o", "culled.wake").status)
    text = tool("report", "--advice", "culled.wake").out.decode()
    check.holds("in the totals only" in text.split("Advice", 1)[1], f"The page says {text}")


def reckon(stream, size, earlier):
    """The peak if blocks of this size had not been made, or freed so much earlier (None: not made).
    Events of one time keep their order; who dies earlier is dead before them."""
    changes, born = [], {}
    for place, e in enumerate(stream):
        if e.event == "alloc":
            born[e.address] = (place, e)
        elif e.event == "free":
            made_at, made = born.pop(e.address)
            end = (e.time, place)
            if made.size == size:
                if earlier is None or e.time - made.time <= earlier:
                    continue
                end = (e.time - earlier, -1)
            changes += [((made.time, made_at), made.size), (end, -made.size)]
    changes += [((e.time, place), e.size) for place, e in born.values() if e.size != size or earlier is not None]
    level = peak = 0
    for _, change in sorted(changes):
        level += change
        peak = max(peak, level)
    return peak


def check_what_if():
    stream = list(events("w.wake"))
    facts = info("w.wake")
    for text, size in (("function~^hold$", 70000), ("make_tiny", 9), ("function~no_such", -1)):
        answer = ask("--without", text)["what_if"]
        check.equal(f"{text}: as it was", (facts["peak_bytes"], facts["peak_time_ns"]),
                    (answer["was"]["peak_bytes"], answer["was"]["peak_time_ns"]))
        page = tool("report", "--without", text, "w.wake").out.decode()
        check.equal(f"{text}: the page says that nothing matches", size < 0, "no block was allocated with such" in page)
        check.equal(f"{text}: as it would be", reckon(stream, size, None), answer["would_be"]["peak_bytes"])
        check.equal(f"{text}: blocks", sum(e.event == "alloc" and e.size == size for e in stream),
                    answer["matched_blocks"])
    for earlier in (0, 5, 20, 60, 500):
        answer = ask("--without", "function~^hold$", "--earlier", f"{earlier}ms")["what_if"]
        expected = reckon(stream, 70000, earlier * 1000000)
        check.equal(f"freed {earlier} ms earlier", expected, answer["would_be"]["peak_bytes"])
    check.equal("earlier by nothing", facts["peak_bytes"],
                ask("--without", "hold", "--earlier", "0s")["what_if"]["would_be"]["peak_bytes"])
    check.equal("all of a module", 0, ask("--without", "module~.")["what_if"]["would_be"]["peak_bytes"])
    by_source = ask("--without", "source~wasteful", "--without", "function~.")["what_if"]
    check.equal("by source or function", 0, by_source["would_be"]["peak_bytes"])
    text = tool("report", "--without", "hold", "w.wake").out.decode()
    check.holds("had not been allocated" in text and "% less" in text, f"The page says {text}")
    for argv, sentence in ((["--earlier", "5s"], "--earlier needs --without"),
                           (["--without", "(", ], "is not a regular expression"),
                           (["--without", "x", "--earlier", "soon"], "--earlier takes a time")):
        done = tool("report", *argv, "w.wake")
        check.equal(f"exit status of report {argv}", 2, done.status)
        check.holds(sentence in done.err.decode(), f"report {argv} says {done.err.decode()!r}")


told = truth(record([workload("wasteful")], "w.wake"))
check_advice(told)
check_what_if()
check_sampled()
check.done()
