# SPDX-License-Identifier: MIT OR Apache-2.0
"""What the scenarios of `heapwake import` share."""
import collections
import json
import os
import re
import sys

from support import native, tool

EXPORTS = ["callgrind", "csv", "dhat", "dot", "flamegraph", "folded", "gprof2dot", "heaptrack", "html", "json", "massif",
           "perfetto", "pprof", "speedscope", "sqlite"]


def take(check, path, output, *options, notes=()):
    """Imports a file: it is sound, says what it could not tell, and keeps that. Gives what info says."""
    done = tool("import", "-o", output, *options, path)
    said = done.err.decode()
    check.equal(f"exit status of import {path}", 0, done.status)
    if done.status != 0:
        raise SystemExit(said)
    facts = check.sound(output)
    reader = os.path.join(os.environ["ROOT"], "tests/format/wake_reader.py")
    second = native([sys.executable, reader, "--check", output])
    check.equal(f"{output} in the second reader: {second.err.decode()}", 0, second.status)
    kept = facts["notes"]
    check.holds(len(kept) >= 2 and kept[0].startswith("Imported from "), f"{output} has no notes: {kept}")
    for note in kept[1:]:
        check.equal(f"how often is said: {note}", 1, said.count(note))
    for words in notes:
        check.holds(any(words in note for note in kept), f"Nothing is said about {words}: {kept}")
    return facts


def refuse(check, text, words, *options, name="bad.txt"):
    """A file with this text is refused with a sentence that has these words, and leaves nothing behind."""
    with open(name, "wb") as f:
        f.write(text if isinstance(text, bytes) else text.encode())
    done = tool("import", "-o", "bad.wake", *options, name)
    said = done.err.decode()
    check.equal(f"exit status for {text[:40]!r}", 1, done.status)
    check.holds(words in said, f"{text[:60]!r}: expected '{words}', said is '{said.strip()}'.")
    check.equal(f"sentences about {text[:40]!r}", 1, len(said.splitlines()))
    check.holds(tool("info", "bad.wake").status != 0, f"{text[:40]!r} leaves a recording behind.")


def by_function(path, measure, *options):
    """function -> [bytes, blocks] of the sites' first frames that are not an allocator's."""
    done = tool("report", "--json", "--" + measure, "-n", "0", "--no-built-in-suppressions", *options, path)
    found = collections.defaultdict(lambda: [0, 0])
    for site in json.loads(done.out)[measure]["sites"]:
        frames = [frame for frame in site["frames"] if not re.search("libjemalloc|libtcmalloc|vgpreload", frame["module"])]
        if frames:
            row = found[frames[0]["function"]]
            row[0] += site["bytes"]
            row[1] += site["blocks"]
    return dict(found)


def judged(path):
    """Whether the report takes the blocks as made up, and whether it judges the lives of any."""
    report = json.loads(tool("report", "--json", "--peak", "--verdict", path).out)
    return report["summary"]["made_up"], any("verdict" in site for site in report["peak"]["sites"])


def works_everywhere(check, path):
    """Report, diff, check and every export take it."""
    for argv in (["report", path], ["report", "--verdict", "--advice", "--misuse", path], ["diff", path, path],
                 ["check", "--max-peak", "1T", path], ["dump", "--stacks", path]):
        check.equal(f"exit status of {argv}", 0, tool(*argv).status)
    made_up, has_verdicts = judged(path)
    check.holds(not (made_up and has_verdicts), "Blocks that are made up have verdicts.")
    for argv in ([], ["--temporary"], ["--temporary", "--by", "line"], ["--temporary", "--tree"]):
        text = tool("report", *argv, path).out.decode()
        check.equal(f"temporary blocks are not known, {argv}", made_up, "Temporary: not known of an import from sums" in text)
    for form in EXPORTS:
        done = tool("export", "-f", form, "-o", "export." + form, path)
        check.equal(f"exit status of export {form}: {done.err.decode()}", 0, done.status)


SAME = ("allocations", "frees", "allocated_bytes", "peak_bytes", "peak_blocks", "leaked_bytes", "leaked_blocks")


def same_figures(check, expected, seen, keys=SAME):
    for key in keys:
        check.equal(key, expected[key], seen[key])
