#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""A script that starts dozens of processes: the leaks of the program whose process leaks most are listed, those
of the shell and its helpers are summed, and all of it adds up to what the title says."""
import collections
import json
import os
import re

from support import Check, record, skip, tool, truth, workload

check = Check()
UNITS = {"bytes": 1, "KiB": 1 << 10, "MiB": 1 << 20}
SHELL = next((path for path in ("/bin/bash", "/bin/dash", "/bin/sh") if os.path.exists(path)), None) or skip("There is no shell.")


def wrapper(name, before):
    with open(name, "w", encoding="utf-8") as f:
        f.write(f"#!{SHELL}\n{before}\n{workload('drift')} 100 100 5 7\n")
    os.chmod(name, 0o755)
    told = truth(record([f"./{name}"], f"{name}.wake"))
    return f"{name}.wake", told


def amount(number, unit):
    return float(number) * UNITS[unit]


def leaked(path, *options):
    text = tool("report", "--leaks", *options, path).out.decode()
    return text[text.index("\nLeaked"):]


path, told = wrapper("many.sh", "for i in $(seq 30); do x=$(echo a$i | sed s/a/b/); done")
answer = json.loads(tool("report", "--json", "--leaks", "--by", "process", "-n", "0", path).out)
own = sum(size for size, _ in told.values())
total = sum(group["self_bytes"] if "self_bytes" in group else group["bytes"] for group in answer["leaks"]["groups"])
check.holds(total > 4 * own, f"The shells leak just {total - own} bytes: this tests too little.")
for options in ([], ["-n", "3"]):
    check.about(str(options))
    text = leaked(path, *options)
    rows = re.findall(r"^ +([\d.]+) (bytes|KiB|MiB) +[\d.]+ % +[\d,]+x  (\S+)  drift\.c:\d+", text, re.M)
    check.equal("the first row", "growing", rows[0][2] if rows else text)
    check.holds(not re.search(r"x  (\S+ in )?(sed|bash|dash|sh|xmalloc)\b", text), f"A shell or sed has a row: {text}")
    sums = re.findall(r"^  and ([\d.]+) (bytes|KiB|MiB) from ([\d,]+) process(?:es)? of (.+)$", text, re.M)
    check.holds(any(who == "sed" and int(count) == 30 for _, _, count, who in sums), f"sed's 30 processes are not summed: {text}")
    rest = re.findall(r"^  and ([\d.]+) (bytes|KiB|MiB) from [\d,]+ other site", text, re.M)
    added = sum(amount(*row[:2]) for row in rows + sums + rest)
    check.holds(abs(added - total) < 0.01 * total, f"Rows and sums add up to {added}, leaked were {total}:\n{text}")
screen = tool("report", path).out.decode()
check.holds(re.search(r"Leaked: .*\n.*x  growing  drift\.c", screen), f"The screen begins with another leak:\n{screen}")
check.about("all sites")
text = leaked(path, "-n", "0")
check.holds(" processes of " not in text and re.search(r"x  .*(sed|bash|dash)\b", text), "-n 0 leaves sites out.")
sites = json.loads(tool("report", "--json", "--leaks", "-n", "0", path).out)["leaks"]
check.equal("JSON: bytes of all sites", (total, total), (sites["total_bytes"], sum(site["bytes"] for site in sites["sites"])))
check.about("few processes")
text = leaked(wrapper("few.sh", "echo a | sed s/a/b/ > few.txt")[0])
check.holds(" of sed" not in text and re.search(r"x  .*sed", text), f"Processes are summed though they are few: {text}")
check.about("many processes of one program")
with open("forks.sh", "w", encoding="utf-8") as f:
    f.write("#!/bin/sh\n" + f"{workload('drift')} 1 2 3 4 > /dev/null\n" * 12)
os.chmod("forks.sh", 0o755)
record(["./forks.sh"], "forks.wake")
text = leaked("forks.wake")
counts = collections.Counter(re.findall(r"([\d,]+)x  growing", text))
check.equal("blocks of twelve processes of a program", {"24": 1}, dict(counts))
check.done()
