#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Law 5: a hooked call uses at most 2 KiB of the program's stack, more than
without us or not."""
import os
import subprocess
import sys

LIMIT = 2048
program = os.path.join(os.environ["WORKLOADS"], "stack_use")
record = [os.environ["HEAPWAKE"], "record", "-q", "-o", os.path.join(os.environ["TMPDIR"], "s.wake"), "--"]


def bytes_used(command):
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [int(word) for word in out.split()]


native, recorded = bytes_used([program]), bytes_used(record + [program])
print("native  ", native)
print("recorded", recorded)
if len(recorded) < 8 or len(recorded) != len(native):
    sys.exit("the program did not report all its calls")
if max(recorded) <= max(native[2:]):
    sys.exit("the hooks seem not to have run: no call used more stack than without them")
if max(recorded) > LIMIT:
    sys.exit(f"a call used {max(recorded)} bytes of stack; the law allows {LIMIT}")
