#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""A slow, independent reader of .wake files, written from docs/format.md alone.

    wake_reader.py FILE            the events, as `heapwake dump --tsv FILE` prints them
    wake_reader.py --chunks FILE   the chunks: offset, type, process, raw and stored length
    wake_reader.py --names FILE    what addresses are called, a frame a line, tab-separated: path, place ("!" behind it: the
                                   very instruction), function, linkage name, file, line, "inlined" or "-"; then
                                   binaries: "binary", path, build id, length, checksum
    wake_reader.py --usage FILE    how ranges of addresses were used, a range a line, tab-separated: time in ns, pid, "anew" (nothing
                                   told before counts), "gone" or "-", first and last address + 1, rights, resident,
                                   anonymous and swapped KiB, name or "-"
    wake_reader.py --levels FILE   what stacks held over time, a row a line, tab-separated: pid, stack, time of the first and of the last
                                   allocation in ns, most bytes, then "tick:floor:level:freed" of each tick in which something
                                   happened; before them, with "-" as stack, a line "tick:end:made:freed" of all stacks
    wake_reader.py --arenas FILE   the arena of each allocation, tab-separated: time in ns, pid, address, size, "main", "other" or
                                   "-" (not known)
    wake_reader.py --weights FILE  what each allocation stands for, tab-separated: pid, its number in the file and as it was made, size,
                                   stack, blocks
    wake_reader.py --check FILE    reads everything, compares chunks with the index; silent when all is well

It stops at the first thing that is not as the document says. Tests compare it
with heapwake's own reader.
"""
import os
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from wake_bytes import CAP, MASK, Bad, Bytes, Chunk, checksum, demand, unpack
from wake_guesses import Arenas, Expect
from wake_weights import Weights

TYPES = {1: 'process', 2: 'threads', 3: 'modules', 4: 'stacks', 5: 'events', 6: 'samples', 7: 'marks',
         8: 'process-end', 9: 'totals', 10: 'live', 11: 'index', 12: 'end', 13: 'symbols', 14: 'binary',
         15: 'pools', 16: 'omissions', 17: 'carried-blocks', 18: 'notes', 19: 'usage', 20: 'levels',
         21: 'gaps'}
KINDS = {1: 'malloc', 2: 'calloc', 3: 'realloc', 4: 'memalign', 5: 'aligned_alloc', 6: 'posix_memalign',
         7: 'valloc', 8: 'pvalloc', 9: 'new', 10: 'new[]', 11: 'new-aligned', 12: 'new[]-aligned'}
HOWS = {1: 'free', 2: 'realloc', 3: 'delete', 4: 'delete[]', 5: 'free_sized', 6: 'ignore'}
LOSSES = {1: 'nested', 2: 'collector', 3: 'memory', 4: 'sandbox'}
NONE = 0xffffffff


PRELUDE = struct.Struct('<QQQQIIIIQQQQQQ')


class Prelude:
    def __init__(self, data):
        demand(len(data) >= 96, 'an events chunk is too short')
        (self.first_event, self.first_allocation, self.first_ns, self.last_ns, self.events, self.allocations,
         self.frees, self.columns, self.live_first, self.live_last, self.live_max, self.blocks_first,
         self.blocks_last, total) = PRELUDE.unpack(data[:96])
        demand(checksum(data[:88]) == total, 'prelude checksum')


def columns_of(chunk, prelude):
    columns = {}
    at, data = 96, 96 + 12 * prelude.columns
    raw_sum = data
    for _ in range(prelude.columns):
        number, codec, raw, stored = struct.unpack('<HHII', chunk.data[at:at + 12])
        demand(number not in columns, 'a column is there twice')
        columns[number] = Bytes(unpack(codec, chunk.data[data:data + stored], raw))
        at, data, raw_sum = at + 12, data + stored, raw_sum + raw
    demand(data == len(chunk.data), 'columns do not fill their chunk')
    demand(raw_sum == chunk.raw, 'raw length of an events chunk')
    return columns


class Process:
    def __init__(self, number):
        self.number = number
        self.pid, self.exe, self.tids, self.marks, self.live = 0, b'', {}, [], {}
        self.knows_arenas = False
        self.next_event = self.next_allocation = 0
        self.allocations = self.frees = self.live_bytes = 0
        self.end = None
        self.samples, self.totals, self.weights = [], [], Weights()
        self.start, self.ticks, self.levels = 0, [], []
        self.modules = [None]  # (bias, build id, path)
        self.stacks = [[]]     # [(module, address, exact)], innermost first
        self.pools = {}
        self.usage = []        # (time, flags, [(start, end, state, resident, anonymous, swapped, name)])
        self.omitted, self.culled = [0] * 11, {}

    def add_process(self, p):
        self.pid = p.varint()
        for _ in range(2):
            p.varint()
        self.knows_arenas = p.varint() & 2 != 0
        self.start = p.varint()
        self.exe = p.text()
        p.text()

    def add_threads(self, p):
        while p.left():
            record = Bytes(p.text())
            kind, thread, _ = record.varint(), record.varint(), record.varint()
            if kind == 1:
                self.tids[thread] = record.varint()
            elif kind == 2:
                self.tids.setdefault(thread, 0)
                record.text()

    def add_modules(self, p):
        demand(p.varint() == len(self.modules), 'modules are not in order')
        while p.left():
            record = Bytes(p.text())
            _, _, bias = record.varint(), record.varint(), record.varint()
            self.modules.append((bias, record.text(), record.text()))

    def add_stacks(self, p):
        demand(p.varint() == len(self.stacks), 'stacks are not in order')
        path, latest = [], {}
        while p.left():
            _, _, shared, fresh = p.varint(), p.varint(), p.varint(), p.varint()
            demand(shared <= len(path), 'a stack shares more than there is')
            path = path[:shared]
            for _ in range(fresh):
                head, step = p.varint(), p.signed()
                address = (latest.get((head >> 1) % 64, 0) + step) & MASK
                latest[(head >> 1) % 64] = address
                path.append((head >> 1, address, head & 1))
            self.stacks.append(path[::-1])

    def add_samples(self, p):
        time = rss = 0
        while p.left():
            time, rss = time + p.signed(), rss + p.signed()
            self.samples.append((time, rss))

    def add_marks(self, p):
        demand(p.varint() == len(self.marks), 'marks are not in order')
        while p.left():
            record = Bytes(p.text())
            record.varint(), record.varint()
            self.marks.append(record.text())

    def add_pools(self, p):
        while p.left():
            record = Bytes(p.text())
            number = record.varint()
            self.pools[number] = record.text().decode('utf-8', 'replace')
            record.text()

    def add_end(self, p):
        self.end = [p.varint() for _ in range(19)]

    def add_totals(self, p):
        first, count = p.varint(), p.varint()
        demand(first == len(self.totals), 'totals are not in order')
        for _ in range(count):
            self.totals.append([p.varint() for _ in range(8)])

    def add_omissions(self, p):
        record = Bytes(p.text())
        self.omitted = [record.varint() for _ in range(11)]
        stack = 0
        while p.left():
            stack += p.varint()
            demand(stack < len(self.stacks), 'culled blocks of an unknown stack')
            self.culled[stack] = p.varint(), p.varint()
            p.varint(), p.varint()

    def add_carried(self, p, out):
        time, self.next_event, self.next_allocation = p.varint(), p.varint(), p.varint()
        number = address = 0
        for _ in range(p.varint()):
            number, address = number + p.signed(), address + p.signed()
            size, stack = p.varint(), p.varint()
            demand(number < self.next_allocation and number not in self.live, 'a carried block of a later number')
            self.live[number] = (address, size)
            self.weights.made[number] = (size, stack)
            self.live_bytes += size
            out(self, (time, 0, 'alloc', address, size, stack, '-', size, 0))

    def check_sums(self):
        """What the end counts is in the events, or was left out on purpose."""
        if self.end is None:
            return
        _, _, blocks, size, _, allocations, frees, _, rate, samples, freed = self.omitted
        demand(sum(b for b, _ in self.culled.values()) == blocks, 'culled blocks')
        demand(sum(s for _, s in self.culled.values()) == size, 'culled bytes')
        made, released = (samples, freed) if rate else (self.end[3], self.end[4])
        demand(made == self.allocations + blocks + allocations, 'allocations in all')
        demand(released == self.frees + blocks + frees, 'frees in all')
        if self.knows_weights() and not self.omitted[0] & 2:
            self.weights.check_totals(rate, self.totals, self.culled)

    def knows_weights(self):
        """It is sampled, and what the numbers of its blocks were is known."""
        return self.omitted[8] != 0 and self.omitted[0] & 9 != 1

    def check_live(self):
        if self.end is not None and self.knows_weights():
            self.weights.check_live(self.omitted[8], self.end[10])

    def add_usage(self, p):
        while p.left():
            record = Bytes(p.text())
            time, took, flags, last = record.varint(), record.varint(), record.varint(), 0
            demand(took <= time and flags <= 1, 'an unknown flag of usage')
            demand(not self.usage or time >= self.usage[-1][0], 'usage goes back in time')
            ranges = []
            while record.left():
                start = (last + record.signed()) & MASK
                last = start + record.varint()
                state = record.varint()
                demand(start < last <= MASK and state <= 16, 'a range of usage')
                numbers = (0, 0, 0, b'') if state == 16 else (record.varint(), record.varint(), record.varint(), record.text())
                demand(max(numbers[0], numbers[2]) <= (last - start) // 1024, 'more is resident or swapped than there is')
                ranges.append((start, last, state) + numbers)
            self.usage.append((time, flags, ranges))

    def add_levels(self, p):
        """ticks: (end, made, freed); levels: (stack, first, last, highest, [(tick, floor, level, freed)])."""
        head, end, stack = Bytes(p.text()), self.start, 0
        self.ticks, self.levels = [], []
        for _ in range(head.varint()):
            end += head.varint()
            self.ticks.append((end, head.varint(), head.varint()))
        while p.left():
            record = Bytes(p.text())
            step = record.varint()
            demand(step > 0 or not self.levels, 'rows of levels are not in order')
            stack += step
            demand(stack < len(self.stacks), 'levels of an unknown stack')
            first = self.start + record.varint()
            last, highest, tick, level, entries = first + record.varint(), record.varint(), 0, 0, []
            while record.left():
                step = record.varint()
                demand(step > 0 or not entries, 'ticks of a row are not in order')
                tick += step
                floor = level - record.varint()
                level += record.signed()
                demand(tick < len(self.ticks) and floor >= 0 and level >= 0, 'a level that cannot be')
                entries.append((tick, floor, level, record.varint()))
            demand(entries, 'a row of levels without ticks')
            self.levels.append((stack, first, last, highest, entries))

    def check_levels(self):
        """Rows end with what the totals say, and ticks with what the end says."""
        if not self.ticks or self.end is None:
            return
        demand(sum(t[1] for t in self.ticks) == self.end[3], 'allocations in all ticks')
        demand(sum(t[2] for t in self.ticks) == self.end[4], 'frees in all ticks')
        demand(self.ticks[-1][0] == max(self.end[0], self.start), 'the end of the last tick')
        for stack, first, last, highest, entries in self.levels:
            _, made, freed, freed_bytes = self.totals[stack][:4]
            demand(entries[-1][2] == made - freed_bytes, 'the last level of stack %d' % stack)
            demand(sum(e[3] for e in entries) == freed, 'frees in all ticks of stack %d' % stack)
            demand(max(e[2] for e in entries) <= highest, 'the highest level of stack %d' % stack)
            demand(self.start <= first <= last <= self.ticks[-1][0], 'times of stack %d' % stack)

    def add_live(self, p):
        number = 0
        for _ in range(p.varint()):
            number = (number + p.signed()) & MASK
            p.signed()
            self.weights.live.append((number, p.varint()))
            p.varint()

    def add_events(self, chunk, out):
        prelude = Prelude(chunk.data)
        demand(prelude.first_event == self.next_event, 'events are missing')
        demand(prelude.first_allocation == self.next_allocation, 'allocations are missing')
        demand(prelude.live_first == self.live_bytes & MASK, 'live bytes at the beginning of a chunk')
        demand(prelude.blocks_first == len(self.live), 'live blocks at the beginning of a chunk')
        before = (self.allocations, self.frees)
        columns = columns_of(chunk, prelude)
        replay = Replay(self, columns, prelude.first_ns, self.live_bytes)
        for op in columns[1].data:
            out(self, replay.event(op))
        columns[1].at = len(columns[1].data)
        demand(len(columns[1].data) == prelude.events, 'number of events')
        demand(self.allocations - before[0] == prelude.allocations, 'number of allocations')
        demand(self.frees - before[1] == prelude.frees, 'number of frees')
        demand(replay.time == prelude.last_ns, 'time of the last event')
        demand(prelude.live_last == self.live_bytes & MASK, 'live bytes at the end of a chunk')
        demand(prelude.live_max == replay.live_max & MASK or self.live_bytes > MASK, 'most live bytes in a chunk')
        demand(prelude.blocks_last == len(self.live), 'live blocks at the end of a chunk')
        demand(all(c.left() == 0 for c in columns.values()) and replay.arenas.listed is None, 'a column is too long')
        self.next_event += prelude.events


class Replay:
    """The events of one chunk: event(op) gives (time, thread, event, address, size, stack, kind, usable, arena).
    The arena is 0 or 1; whether that means anything, the process knows."""

    def __init__(self, process, columns, time, live):
        self.process, self.columns, self.time, self.live_max = process, columns, time, live
        self.thread = self.stack = self.address = 0
        self.expect = Expect()
        self.arenas = Arenas(columns.get(14))

    def get(self, column):
        return self.columns[column].varint()

    def event(self, op):
        if op & 0x20:
            self.time += self.get(2)
        if op & 0x40:
            self.thread = (self.thread + self.columns[3].signed()) & 0xffffffff
        code = op & 0x1f
        if 1 <= code <= 15:
            return (self.time, self.thread) + self.alloc(op, code)
        if 16 <= code <= 23:
            return (self.time, self.thread) + self.free(op, code - 16) + (0, 0)
        demand(code == 24, 'unknown op %d' % code)
        kind, record = self.get(12), Bytes(self.columns[12].text())
        return (self.time, self.thread) + self.rare(kind, record) + (0, 0)

    def alloc(self, op, kind):
        p = self.process
        if op & 0x80:
            self.stack = self.get(4)
        size, odd = self.get(5), self.get(6)
        usable = self.expect.guess(size)
        if odd:
            odd -= 1
            usable = (size + (odd >> 1 if odd & 1 == 0 else -(odd >> 1) - 1)) & MASK
            self.expect.learn(size, usable)
        value = self.columns[7].take(1)[0] | self.get(8) << 8
        if value == 0:
            self.address = (self.address + self.columns[9].signed()) & MASK
        else:
            value -= 1
            difference = value >> 1 if value & 1 == 0 else -(value >> 1) - 1
            self.address = (((self.address >> 4) + difference) << 4) & MASK
        number = p.next_allocation
        if kind == 3:
            demand(self.get(11) <= number, 'a realloc of a block from before the beginning')
        p.next_allocation += 1
        p.allocations += 1
        p.live[number] = (self.address, size)
        p.weights.made[number] = (size, self.stack)
        p.live_bytes += size
        self.live_max = max(self.live_max, p.live_bytes)
        return 'alloc', self.address, size, self.stack, KINDS.get(kind, '-'), usable, self.arenas.take(self.address)

    def free(self, op, how):
        p = self.process
        number = p.next_allocation - 1 - self.get(10)
        demand(number in p.live, 'a free of allocation %d, which is not live' % number)
        address, size = p.live.pop(number)
        p.weights.freed.append(number)
        p.frees += 1
        p.live_bytes -= size
        return 'free', address, size, self.get(13) if op & 0x80 else 0, HOWS.get(how, '-')

    def rare(self, kind, record):
        if kind == 1:
            how = record.varint()
            address = record.varint()
            return 'free', address, 0, record.varint() if record.left() else 0, HOWS.get(how, '-')
        if kind in (2, 3):
            stack, address, length = record.varint(), record.varint(), record.varint()
            return 'mmap' if kind == 2 else 'munmap', address, length, stack, '-'
        if kind == 4:
            stack, old, new = record.varint(), record.varint(), record.varint()
            return 'brk', new, max(new - old, 0), stack, '-'
        if kind == 5:
            number = record.varint()
            demand(number < len(self.process.marks), 'a mark without a name')
            return 'tag', 0, 0, 0, self.process.marks[number].decode('utf-8', 'replace')
        if kind == 6:
            reason = record.varint()
            return 'lost', 0, record.varint(), 0, LOSSES.get(reason, '-')
        if kind in (7, 8):
            pool, stack, address, size = (record.varint() for _ in range(4))
            return 'pool_alloc' if kind == 7 else 'pool_free', address, size, stack, self.process.pools.get(pool, '-')
        return 'other', 0, 0, 0, '-'


class Recording:
    def __init__(self, path):
        with open(path, 'rb') as f:
            self.data = f.read()
        head = self.data[:64]
        demand(len(head) == 64 and head[:8] == b'HEAPWAKE', 'not a recording')
        self.major, self.minor, length, needs = struct.unpack('<HHIQ', head[8:24])
        demand(struct.unpack('<Q', head[56:])[0] == checksum(head[:56]), 'checksum of the file header')
        demand(self.major == 1 and needs == 0, 'a newer version')
        self.series, self.part = struct.unpack('<QI', head[40:52])
        self.chunks, at = [], length
        while at < len(self.data):
            self.chunks.append(Chunk(self.data, at))
            at = self.chunks[-1].end

    def replay(self, out):
        processes = {}
        for chunk in self.chunks:
            if chunk.process == NONE or chunk.type not in TYPES:
                continue
            p = processes.setdefault(chunk.process, Process(chunk.process))
            if chunk.type == 5:
                p.add_events(chunk, out)
                continue
            if chunk.type == 17:
                p.add_carried(chunk.payload(), out)
                continue
            {1: p.add_process, 2: p.add_threads, 3: p.add_modules, 4: p.add_stacks, 6: p.add_samples,
             7: p.add_marks, 8: p.add_end, 9: p.add_totals, 10: p.add_live,
             15: p.add_pools, 16: p.add_omissions, 19: p.add_usage, 20: p.add_levels,
             21: p.weights.add_gaps}[chunk.type](chunk.payload())
        return processes

    def unrecorded(self):
        """Processes that could not be recorded, as the end says."""
        demand(self.chunks and self.chunks[-1].type == 12, 'there is no end')
        return struct.unpack('<Q', self.chunks[-1].data[48:56])[0]

    def check_notes(self):
        for chunk in self.chunks:
            if chunk.type == 18:
                demand(chunk.process == NONE, 'a note of a process')
                payload = chunk.payload()
                while payload.left():
                    demand(payload.text().decode('utf-8').endswith('.'), 'a note that is no sentence')

    def check_index(self):
        demand(self.chunks and self.chunks[-1].type == 12, 'there is no end')
        end = self.chunks[-1]
        demand(end.stored == 56 and end.flags == 0, 'the end has another size')
        offset, pieces, _, count = struct.unpack('<QIIQ', end.data[:24])
        index = [c for c in self.chunks if c.offset >= offset and c is not end]
        demand(len(index) == pieces and all(c.type == 11 for c in index), 'number of index chunks')
        demand(not index or index[0].offset == offset, 'place of the index')
        listed = []
        for piece in index:
            p, at = piece.payload(), 0
            for _ in range(p.varint()):
                at += p.varint()
                kind, process, stored = p.varint(), p.varint(), p.varint()
                if kind == 5:
                    for _ in range(13):
                        p.varint()
                listed.append((at, kind, NONE if process == 0 else process - 1, stored))
                at += 40 + stored
        there = [(c.offset, c.type, c.process, c.stored) for c in self.chunks if c.offset < offset]
        demand(listed == there and count == len(there), 'the index does not list the chunks')


class Names:
    """What symbols and binary chunks say."""

    def __init__(self, chunks):
        self.images, self.places, self.binaries = {}, {}, {}
        for chunk in chunks:
            if chunk.type == 13:
                self.add_symbols(chunk.payload())
            elif chunk.type == 14:
                self.add_binary(chunk)

    def add_symbols(self, p):
        texts = [b''] + [p.text() for _ in range(p.varint())]
        images = [None]
        for _ in range(p.varint()):
            record = Bytes(p.text())
            image = record.text(), record.text()
            source, remark = record.varint(), record.text()
            demand(source <= 3, 'an unknown source of names')
            self.images[image] = source, remark
            images.append(image)
        while p.left():
            image, place = images[p.varint()], 0
            count = p.varint()
            demand(image is not None and count > 0, 'a group of places without an image, or of none')
            for n in range(count):
                step, head = p.varint(), p.varint()
                demand(n == 0 or step > 0 or head & 1, 'places do not rise')
                demand(1 <= head >> 1 <= 255, 'number of frames')
                place += step
                frames = []
                for _ in range(head >> 1):
                    function, linkage, file, line = texts[p.varint()], texts[p.varint()], texts[p.varint()], p.varint()
                    frames.append((function, linkage, file, line >> 1, line & 1))
                self.places[image, place & MASK, head & 1] = frames

    def add_binary(self, chunk):
        total, offset, length, flags, id_length, path_length, zero = struct.unpack('<QQIHHII', chunk.data[:32])
        head = 32 + id_length + path_length
        demand(struct.unpack('<Q', chunk.data[head:head + 8])[0] == checksum(chunk.data[:head]), 'a binary: checksum')
        demand(zero == 0 and length <= 4 << 20 and chunk.flags == 0, 'a binary: reserved bytes or lengths')
        demand(chunk.raw == head + 8 + length, 'raw length of a binary chunk')
        name = chunk.data[32:32 + id_length], chunk.data[32 + id_length:head]
        if offset == 0:
            self.binaries[name] = total, b''
        known = self.binaries.get(name, (0, b''))
        demand(known[0] == total and len(known[1]) == offset, 'pieces of a binary are missing')
        self.binaries[name] = total, known[1] + unpack(flags, chunk.data[head + 8:], length)

    def check(self):
        demand(all(total == len(data) for total, data in self.binaries.values()), 'a binary is not whole')

    def print(self):
        def text(data):
            return data.decode('utf-8', 'backslashreplace')

        for (image, place, exact), frames in sorted(self.places.items()):
            for function, linkage, file, line, inlined in frames:
                print('%s\t0x%x%s\t%s\t%s\t%s\t%d\t%s' % (text(image[1]), place, '!' if exact else '', text(function),
                                                         text(linkage), text(file), line, 'inlined' if inlined else '-'))
        for (build_id, path), (total, data) in sorted(self.binaries.items()):
            print('binary\t%s\t%s\t%d\t%016x' % (text(path), build_id.hex(), total, checksum(data)))


def dump(recording):
    # By process, as heapwake does: what is known of a thread only later counts from the start.
    known = recording.replay(lambda p, e: None)
    lines = {}

    def out(p, event):
        lines.setdefault(id(p), (p, []))[1].append(event)

    again = recording.replay(out)
    print('time_ns\tpid\ttid\tevent\taddress\tsize\tstack\tkind\tusable')
    for number in sorted(again):
        p = known[number]
        for time, thread, name, address, size, stack, kind, usable, _ in lines.get(id(again[number]), (None, []))[1]:
            print('%d\t%d\t%d\t%s\t0x%x\t%d\t%d\t%s\t%d' %
                  (time, p.pid, p.tids.get(thread, 0), name, address, size, stack, kind, usable))


def print_arenas(recording):
    def out(p, event):
        time, thread, name, address, size, _, kind, _, arena = event
        if name == 'alloc':
            print('%d\t%d\t0x%x\t%d\t%s' % (time, p.pid, address, size,
                                            '-' if not p.knows_arenas or thread == 0 and kind == '-' else 'other' if arena else 'main'))

    recording.replay(out)


def print_usage(recording):
    processes = recording.replay(lambda p, e: None)
    for number in sorted(processes):
        p = processes[number]
        for time, flags, ranges in p.usage:
            for start, end, state, rss, anonymous, swap, name in ranges:
                rights = ''.join(letter if state >> bit & 1 else '-' for bit, letter in enumerate('rwxs'))
                print('%d\t%d\t%s\t%s\t0x%x\t0x%x\t%s\t%d\t%d\t%d\t%s' %
                      (time, p.pid, 'anew' if flags & 1 else '-', 'gone' if state == 16 else '-', start, end, rights,
                       rss, anonymous, swap, name.decode('utf-8', 'backslashreplace') or '-'))


def print_levels(recording):
    processes = recording.replay(lambda p, e: None)
    for number in sorted(processes):
        p = processes[number]
        ticks = ['%d:%d:%d:%d' % (i, *t) for i, t in enumerate(p.ticks) if t[1] or t[2] or i + 1 == len(p.ticks)]
        print('\t'.join(['%d' % p.pid, '-', *ticks]))
        for stack, first, last, highest, entries in p.levels:
            print('\t'.join(['%d\t%d\t%d\t%d\t%d' % (p.pid, stack, first, last, highest),
                             *('%d:%d:%d:%d' % e for e in entries)]))


def main(args):
    mode = args.pop(0) if len(args) == 2 else ''
    if len(args) != 1 or mode not in ('', '--chunks', '--names', '--usage', '--levels', '--arenas', '--weights', '--check'):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        recording = Recording(args[0])
        if mode == '--chunks':
            for c in recording.chunks:
                process = '-' if c.process == NONE else str(c.process)
                print('%d\t%s\t%s\t%d\t%d' % (c.offset, TYPES.get(c.type, str(c.type)), process, c.raw, c.stored))
        elif mode == '--check':
            for process in recording.replay(lambda p, e: None).values():
                if recording.series == 0:
                    process.check_sums()
                process.check_levels()
                process.check_live()
            recording.check_index()
            Names(recording.chunks).check()
            recording.check_notes()
        elif mode == '--names':
            Names(recording.chunks).print()
        elif mode == '--usage':
            print_usage(recording)
        elif mode == '--levels':
            print_levels(recording)
        elif mode == '--arenas':
            print_arenas(recording)
        elif mode == '--weights':
            for _, process in sorted(recording.replay(lambda p, e: None).items()):
                process.weights.print(process.omitted[8], process.pid)
        else:
            dump(recording)
    except Bad as bad:
        print('wake_reader.py: %s: %s.' % (args[0], bad), file=sys.stderr)
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
