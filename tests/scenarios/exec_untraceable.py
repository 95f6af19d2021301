#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""A program that becomes one which cannot be recorded (linked statically, or
set-user-ID): its own recording ends at that moment, says so, and counts as left
what was there then; the status is that of what it became. And children that become such programs are counted."""
import os
import pwd
import shutil

from support import HEAPWAKE, Check, Ledger, events, native, workload

check = Check()
still = workload("still")
shutil.copy("/bin/true", "other-user")
targets = {"static": still}
if os.geteuid() == 0:
    os.chown("other-user", pwd.getpwnam("nobody").pw_uid, -1)
    os.chmod("other-user", 0o4755)
    targets["set-user-ID"] = os.path.abspath("other-user")

for what, target in targets.items():
    for way in ("exec", "path", "refused", "vfork"):
        check.about(f"{what}, {way}")
        argv = [workload("become"), way, target]
        alone = native(argv)
        run = native([HEAPWAKE, "record", "-o", "out.wake", "--", *argv])
        check.equal("exit status", alone.status, run.status)
        becomes = way in ("exec", "path")
        facts = check.sound("out.wake")
        ledger = Ledger(events("out.wake"))
        check.equal("made and left", (100, 25), (ledger.made[7069], ledger.left(7069)))
        check.equal("leaked_blocks", len(ledger.live), facts["leaked_blocks"])
        process = facts["processes_list"][0]
        notes = ["1 process went on as a program that cannot be recorded: statically linked, set-user-ID, of another kind of "
                 "machine, or built with a sanitizer."] if way != "refused" else []
        check.equal("notes", notes, facts["notes"])
        check.equal("processes", 1, facts["processes"])
        check.equal("its end", "went on as another program" if becomes else "exit code 5", process["end"])
        if becomes and what == "static":  # which sleeps for 300 ms
            check.holds(process["end_ns"] < 250e6, f"it ended after {process['end_ns'] / 1e6:.0f} ms.")
        check.holds(f"leaked {facts['leaked_bytes'] / 1024:.1f} KiB in {facts['leaked_blocks']} blocks" in run.err.decode(),
                    f"the closing line tells of other leaks: {run.err.decode()}")

# Children that a shell (dash: vfork) or posix_spawn starts, beside some that come, and some that are not there.
check.about("children")
with open("watched.c", "w") as f:
    f.write("int main(void) { return 0; }\n")
check.equal("watched is built", 0, native(["gcc", "-fsanitize=address", "watched.c", "-o", "watched"]).status)
script = f"{still}; true; /bin/true; ./nosuch; ./watched; (exit 3); sh -c true; true"
for words in (["sh", "-c", script], ["bash", "-c", script], ["make", "-s", "-f", "goals"],
              ["python3", "-c", "import os, subprocess, sys\nfor i in range(40): subprocess.run(['true'])\n"
               "for name in ('./watched', sys.argv[1]):\n subprocess.run([name])\n os.waitpid(os.posix_spawn('/bin/true', ['true'], os.environ), 0)\n"
               "for name in ('nosuch', './nosuch'):\n try: subprocess.run([name])\n except FileNotFoundError: pass\n", still]):
    with open("goals", "w") as f:
        f.write(f"all:\n\t-{still}\n\ttrue\n\t-./nosuch\n\t./watched\n\tsh -c true; true\n")
    run = native([HEAPWAKE, "record", "-o", "out.wake", "--", *words])
    check.equal(f"{words[0]}: exit status", native(words).status, run.status)
    facts = check.sound("out.wake")
    check.holds(b"; 2 processes went on as programs that cannot be recorded" in run.err, f"The closing line is {run.err.decode()}")
    check.equal(f"{words[0]}: notes", ["2 processes went on as programs that cannot be recorded: statically linked, set-user-ID, "
                                       "of another kind of machine, or built with a sanitizer."], facts["notes"])
    checked = native([HEAPWAKE, "check", "--max-leak", "1G", "--", *words])
    check.holds(b"2 processes went on as programs" in checked.err, f"{words[0]}: check says {checked.err.decode()}")
check.done()
