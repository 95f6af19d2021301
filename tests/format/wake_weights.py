# SPDX-License-Identifier: MIT OR Apache-2.0
"""How many blocks those of a sampled process stand for, as wake_reader.py works it out; from docs/format.md alone."""
import math

from wake_bytes import MASK, demand


def mix(value):
    for _ in range(2):
        value = ((value ^ value >> 32) * 0xd6e8feb86659fd93) & MASK
    return value ^ value >> 32


def blocks_of(rate, made, size):
    """rate 0: it is not sampled. made: the number of the allocation as it was made."""
    if rate == 0:
        return 1
    weight = -1 / math.expm1(-max(size, 1) / rate)
    return int(weight) + ((mix((made + 1) & MASK) >> 11) / (1 << 53) < weight - int(weight))


class Weights:
    """Of one process."""

    def __init__(self):
        self.gaps = []                       # (number in the file, how many were taken out before it)
        self.made, self.freed, self.live = {}, [], []  # number in the file -> (size, stack); numbers; (number, size)

    def add_gaps(self, p):
        number = skipped = 0
        first = True
        while p.left():
            step = p.varint()
            demand(step > 0 or first, 'gaps are not in order')
            number, skipped, first = (number + step) & MASK, (skipped + p.varint()) & MASK, False
            while self.gaps and self.gaps[-1][0] >= number:
                self.gaps.pop()
            self.gaps.append((number, skipped))

    def number(self, number):
        """As it was made."""
        low, high = 0, len(self.gaps)
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if self.gaps[middle][0] <= number else (low, middle)
        return (number + self.gaps[low - 1][1]) & MASK if low else number

    def count(self, rate, number, size):
        return blocks_of(rate, self.number(number), size)

    def check_live(self, rate, leaked):
        demand(sum(self.count(rate, *block) for block in self.live) == leaked, 'how many the live blocks stand for')

    def check_totals(self, rate, totals, culled):
        """What culled ones stand for is in the totals alone, but each was made and freed."""
        made, freed = {}, {}
        for number, (size, stack) in self.made.items():
            made[stack] = made.get(stack, 0) + self.count(rate, number, size)
        for number in self.freed:
            size, stack = self.made[number]
            freed[stack] = freed.get(stack, 0) + self.count(rate, number, size)
        for stack, total in enumerate(totals):
            more = total[0] - made.get(stack, 0), total[2] - freed.get(stack, 0)
            least = culled[stack][0] if stack in culled else 0
            demand(more[0] == more[1] >= least and (more[0] == 0 or least), 'how many the blocks of stack %d stand for' % stack)

    def print(self, rate, pid):
        for number, (size, stack) in self.made.items():
            print('%d\t%d\t%d\t%d\t%d\t%d' % (pid, number, self.number(number), size, stack, self.count(rate, number, size)))
