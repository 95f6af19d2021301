# SPDX-License-Identifier: MIT OR Apache-2.0
"""The stacks of a recording beside those that a program told of itself (workloads/shadow.h)."""
import collections
import re
import subprocess

from support import HEAPWAKE, ask

BLOCK = re.compile(r"^ *[\d.]+ .*  alloc +0x([0-9a-f]+) +(\d+) bytes")
MADE = re.compile(r"^ *[\d.]+  (\d+)/(\d+) \((.*)\)  alloc +0x[0-9a-f]+ +(\d+) bytes")
LEFT_OUT = re.compile(r"\((\d+) frames in the middle left out\)")


def read_stacks(path):
    """(address, size) -> frames as (module, offset), the mark of a cut, frames left out"""
    found, frames = {}, None
    done = subprocess.run([HEAPWAKE, "dump", "--stacks", path], capture_output=True, text=True, check=True)
    for line in done.stdout.splitlines():
        block = BLOCK.match(line)
        if not line.startswith("        ") or block:
            here = {"frames": [], "cut": "", "omitted": 0}
            frames = here["frames"]
            if block:
                found[int(block.group(1), 16), int(block.group(2))] = here
        elif line.strip().startswith("("):
            omitted = LEFT_OUT.search(line)
            here["omitted" if omitted else "cut"] = int(omitted.group(1)) if omitted else line.strip()
        else:
            path, _, offset = line.strip().rpartition("+")
            frames.append((path.rpartition("/")[2], int(offset, 16)) if path else ("", int(offset, 16)))
    return found


def matches(told, seen):
    """Frames as the program told them; None is one or more frames unknown to it."""
    if not told:
        return not seen
    if told[0] is None:
        return any(matches(told[1:], seen[i:]) for i in range(1, min(len(seen), 40) + 1))
    first = told.index(None) if None in told else len(told)
    return told[:first] == seen[:first] and matches(told[first:], seen[first:])


def by_size(path):
    """size -> the frames of every block of this size, as dump shows them"""
    found, frames = collections.defaultdict(list), None
    for line in ask("dump", "--stacks", path).stdout.splitlines():
        if line.startswith("        "):
            if frames is not None:
                frames.append(line.strip())
            continue
        block, frames = BLOCK.match(line), None
        if block:
            frames = []
            found[int(block.group(2))].append(frames)
    return found


def blocks_with_stacks(path):
    """(pid, tid, name of the thread, size, frames as dump shows them) of every block that was made"""
    block = None
    for line in ask("dump", "--stacks", path).stdout.splitlines():
        made = MADE.match(line)
        if block is not None and line.startswith("        ") and not made:
            block[4].append(line.strip())
            continue
        if block is not None:
            yield block
        block = (int(made[1]), int(made[2]), made[3], int(made[4]), []) if made else None
    if block is not None:
        yield block
