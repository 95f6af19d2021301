# SPDX-License-Identifier: MIT OR Apache-2.0
"""What wake_reader.py expects of an allocation where its chunk does not say otherwise; from docs/format.md alone."""
from wake_bytes import MASK


class Expect:
    """Guesses usable sizes."""

    def __init__(self):
        self.slots = {}

    @staticmethod
    def glibc(size):
        return max(24, (((size + 23) & ~15) - 8) & MASK)

    def guess(self, size):
        slack, sure = self.slots.get(size % 1024, (0, False))
        return (size + slack) & MASK if sure else self.glibc(size)

    def learn(self, size, usable):
        slot, slack = size % 1024, usable - size
        if usable == self.glibc(size) or not -1 < slack + 1 < 0x8000:
            self.slots.pop(slot, None)
        elif self.slots.get(slot, (None, False))[0] == slack:
            self.slots[slot] = (slack, True)
        else:
            self.slots[slot] = (slack, False)


class Arenas:
    """Guesses arenas, and reads column 14 (None: there is none)."""

    def __init__(self, column):
        self.column, self.slots, self.unlisted = column, {}, 0
        self.listed = self.next()

    def next(self):
        """How many allocations stand before the one that is listed next; None: there are no more."""
        return self.column.varint() if self.column and self.column.left() else None

    def take(self, address):
        """Of the next allocation: 0 main, 1 other."""
        slot = (address >> 26) % 4096
        if self.unlisted == self.listed:
            self.slots[slot] = 1 - self.slots.get(slot, 0)
            self.unlisted, self.listed = 0, self.next()
        else:
            self.unlisted += 1
        return self.slots.get(slot, 0)
