# SPDX-License-Identifier: MIT OR Apache-2.0
"""What a report says about a recording, worked out by definition from what wake_reader.py reads: slowly, and with
nothing in common with heapwake's own engine.

answers(path, condition) gives {measure: {frames: (bytes, blocks)}} for the blocks that meet a condition.  A frame is
(function, file, line) where the line is known, else (module, address)."""
import wake_reader


class Block:
    def __init__(self, event, order):
        self.born_ns, self.thread, _, self.address, self.size, self.stack, self.kind, self.usable, self.arena = event
        self.born, self.died, self.died_ns, self.freed_by = order, None, None, None
        self.temporary = False


def blocks_of(events):
    """All blocks of a process, and how many events there were."""
    blocks, live, latest = [], {}, {}
    for order, event in enumerate(events):
        time, thread, name, address = event[:4]
        if name == 'alloc':
            block = live[address] = latest[thread] = Block(event, order)
            blocks.append(block)
        elif name == 'free' and address in live:
            block = live.pop(address)
            block.died, block.died_ns, block.freed_by = order, time, thread
            block.temporary = latest.get(thread) is block
    return blocks


def peak_of(blocks):
    """The highest level of the blocks' bytes, and the first moment at which it was reached."""
    steps = sorted([(b.born, b.size) for b in blocks] + [(b.died, -b.size) for b in blocks if b.died is not None])
    level, highest, moment = 0, 0, None
    for order, change in steps:
        level += change
        if level > highest:
            highest, moment = level, order
    return highest, moment


def frames_of(process, names, number):
    found = []
    for module, address, exact in process.stacks[number]:
        bias, build_id, path = process.modules[module] if module else (0, b'', b'[jit]')
        path = path or process.exe  # the program itself
        place = (address - bias) & wake_reader.MASK
        image = path if path != b'[jit]' or build_id else b'[process %d]' % process.number
        named = names.places.get(((build_id, image), place, exact))
        for function, _, file, line, _ in named or [(b'', b'', b'', 0, 0)]:
            found.append((function, file, line) if line else (path if module else b'', place))
    return tuple(found)


def details(path):
    """{frames: (blocks, freed, slack, first_ns, last_ns, lifetimes in order)} of all blocks."""
    recording = wake_reader.Recording(path)
    names = wake_reader.Names(recording.chunks)
    events, table = {}, {}
    processes = recording.replay(lambda p, e: events.setdefault(id(p), []).append(e))
    for p in processes.values():
        for b in blocks_of(events.get(id(p), [])):
            table.setdefault(frames_of(p, names, b.stack), []).append(b)
    return {key: (len(blocks), sum(b.died is not None for b in blocks), sum(b.usable - b.size for b in blocks),
                  min(b.born_ns for b in blocks), max(b.born_ns for b in blocks),
                  sorted(b.died_ns - b.born_ns for b in blocks if b.died is not None)) for key, blocks in table.items()}


def answers(path, condition=lambda block, process: True):
    recording = wake_reader.Recording(path)
    names = wake_reader.Names(recording.chunks)
    events = {}
    processes = recording.replay(lambda p, e: events.setdefault(id(p), []).append(e))
    tables = {m: {} for m in ('peak', 'leaks', 'allocated', 'calls', 'temporary')}

    def add(measure, process, block):
        table, key = tables[measure], frames_of(process, names, block.stack)
        size, count = table.get(key, (0, 0))
        table[key] = size + block.size, count + 1

    chosen = {p: [b for b in blocks_of(events.get(id(p), [])) if condition(b, p)] for p in processes.values()}
    peaks = {p: peak_of(blocks) for p, blocks in chosen.items()}
    highest = max(processes, key=lambda n: (peaks[processes[n]][0], -n))
    for p, blocks in chosen.items():
        moment = peaks[p][1]
        for b in blocks:
            add('allocated', p, b)
            add('calls', p, b)
            if b.died is None:
                add('leaks', p, b)
            if b.temporary:
                add('temporary', p, b)
            if p is processes[highest] and moment is not None and b.born <= moment and (b.died is None or b.died > moment):
                add('peak', p, b)
    return tables
