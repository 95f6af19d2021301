#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Seeds for from_memtraq_fuzz: logs of memtraq, text and records."""
import os
import struct
import sys

SEEDS = [
    "timestamp;thread-name;thread-id;event;param1;param2;param3;result;callstack\n1000;app;14;start;1;1;1\n"
    "1010;app;14;malloc;100;void;0x5000;./app(parse+0x1d) [0x401234];./app(main+0x10) [0x401100]\n"
    "1020;w;15;malloc;50;void;0x6000;./app(+0x1300) [0x401300];0x401111\n1030;app;14;tag;ready;1;void\n"
    "1040;app;14;realloc;0x5000;300;0x7000;[0x401250];./app [0x401100]\n1050;w;15;free;0x6000;void;void\n1060;w;15;free;0x9;void;void\n",
    "5;a;0x7f00;malloc;1;void;(nil)\n6;a;0x7f00;realloc;0x1;0;(nil);x\n7;b;2;realloc;(nil);9;0x20;y(\n",
    "1;;1;free;0x1;void;void;a(b+c) [d];(+) []\n",
]
for number, text in enumerate(SEEDS):
    with open(os.path.join(sys.argv[1], f"seed{number}"), "w", encoding="utf-8", newline="") as f:
        f.write(text)


def record(serial, event, us, thread, payload):
    return struct.pack("<IQIQI", 28 + len(payload), serial, event, us, thread) + payload


for width in "IQ":
    with open(os.path.join(sys.argv[1], "records" + width), "wb") as f:
        f.write(record(1, 0, 1000, 7, struct.pack("<I", 1)) +
                record(2, 1, 1010, 7, struct.pack("<I3" + width, 100, 0x5000, 0x401234, 0x401100)) +
                record(3, 4, 1030, 7, b"ready" + struct.pack("<I", 1)) +
                record(7, 3, 1040, 7, struct.pack("<" + width, 0x5000) + struct.pack("<I2" + width, 300, 0x7000, 0x401250)) +
                record(8, 2, 1050, 8, struct.pack("<" + width, 0x7000)) + record(9, 2, 1060, 8, struct.pack("<" + width, 0x9999)))
