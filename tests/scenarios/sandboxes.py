#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Programs in another network namespace, where the collector's abstract socket is not visible: bwrap, unshare -n.
They reach it by its path and are in the recording. Where that is hidden too, or another user's, they are
counted, and the recording is not called complete."""
# timeout: 600
import os

from support import HEAPWAKE, PROBE, Check, Ledger, events, info, leave_out, native, record, tool, truth, workload

RUNS = int(os.environ.get("REPEAT", "20"))
OTHER = 65534
ENDS = [workload("ends"), "return", 4, 2000]

VISIBLE = ["bwrap", "--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev"]
HIDDEN = [*VISIBLE, "--tmpfs", "/tmp"]

check = Check()


def files():
    return sorted(name for name in os.listdir(".") if ".wake" in name)


def clean():
    for name in files():
        os.unlink(name)


def holds_all(run, path="out.wake"):
    told = truth(run)
    ledger = Ledger(events(path))
    check.equal("made", told["made"], ledger.made[told["size"]])
    check.equal("released", told["freed"], ledger.freed[told["size"]])
    return ledger.made[told["size"]] == told["made"]


def is_missed(command, count=1):
    """It runs as alone, and the recording says that it is not in there."""
    clean()
    run = native([HEAPWAKE, "record", "-o", "out.wake", "--", *command])
    check.equal("exit status", native(command).status, run.status)
    facts = info("out.wake")
    check.equal("complete", False, facts["complete"])
    check.holds(facts["unrecorded_processes"] >= count, f"{facts['unrecorded_processes']} processes are counted.")
    check.holds(b"could not reach the recorder" in run.err, f"The closing line: {run.err.decode()}")
    said = b" ".join(tool("info", "out.wake").out.split())
    check.holds(b"could not reach the recorder" in said and b"complete no" in said, f"info: {said.decode()}")
    check.holds(b"cannot be recorded" not in said and b"could not be recorded" not in said, f"info: {said.decode()}")
    check.equal("status of check", 2, tool("check", "--max-leak", "1G", "out.wake").status)
    check.sound("out.wake", complete=False)


if native([*VISIBLE, "true"]).status == 0:
    kept = 0
    for i in range(RUNS):
        check.about(f"bwrap, run {i}")
        clean()
        run = record([*VISIBLE, *ENDS])
        check.equal("exit status", 6, run.status)
        kept += holds_all(run)
        check.equal("files", ["out.wake"], files())
        check.equal("complete", True, info("out.wake")["complete"])
    check.sound("out.wake")
    print(f"bwrap: {kept} of {RUNS} recordings hold the program")
    check.about("bwrap without /tmp")
    is_missed([*HIDDEN, *ENDS])
    check.about("bwrap of another user")
    os.mkdir("theirs")
    os.chmod("theirs", 0o777)
    reaches = native(["ls", "theirs"], user=OTHER, group=OTHER, extra_groups=[]).status == 0 if os.geteuid() == 0 else False
    if reaches and native([*VISIBLE, "true"], user=OTHER, group=OTHER, extra_groups=[]).status == 0:
        run = record([*VISIBLE, *ENDS], "theirs/out.wake", user=OTHER, group=OTHER, extra_groups=[])
        check.equal("exit status", 6, run.status)
        holds_all(run, "theirs/out.wake")
        check.equal("complete", True, info("theirs/out.wake")["complete"])
    else:
        leave_out("a user without rights may not make user namespaces here, or not read the build folder")
else:
    leave_out("bwrap is not installed or may make no namespaces here")

if os.geteuid() != 0 or native(["unshare", "-n", "true"]).status != 0:
    leave_out("only root may make a network namespace")
else:
    check.about("unshare -n")
    clean()
    run = record(["unshare", "-n", *ENDS])
    check.equal("exit status", 6, run.status)
    holds_all(run)
    check.equal("files", ["out.wake"], files())
    check.equal("complete", True, info("out.wake")["complete"])
    for way, options in (("by exec", []), ("forked", ["-f"])):
        check.about(f"another user in another namespace, {way}")
        is_missed(["unshare", "-n", *options, "setpriv", "--reuid", OTHER, *ENDS])

check.about("programs that vfork and posix_spawn start, apart and recorded by themselves")
if PROBE.startswith("/tmp/"):
    print("Left out: programs that record themselves while /tmp is hidden: the library is below /tmp.")
elif os.geteuid() == 0 and native(["unshare", "-mn", "mount", "-t", "tmpfs", "none", "/tmp"]).status == 0:
    script = f"mount -t tmpfs none /tmp; {' '.join(str(word) for word in ENDS)}; ./nosuch; /usr/bin/env true; true"
    spawner = "import os; os.system('mount -t tmpfs none /tmp'); os.waitpid(os.posix_spawn('/bin/true', ['true'], os.environ), 0)"
    for command, count in ((["sh", "-c", script], 2), (["python3", "-c", spawner], 1)):
        is_missed(["unshare", "-mn", *command])
        facts = info("out.wake")
        check.equal(f"{command[0]}: counted", count, facts["unrecorded_processes"])
        check.holds(len(facts["notes"]) == 1 and "recordings of their own" in facts["notes"][0], f"notes: {facts['notes']}")
        check.holds(any(name != "out.wake" for name in files()), f"nothing is recorded apart: {files()}")
else:
    leave_out("only root may mount a folder in a namespace")

check.about("the folder of the socket")
script = 'echo "$HEAPWAKE_SOCKET"; stat -c %a "/tmp/${HEAPWAKE_SOCKET%%:*}"; ls "/tmp/${HEAPWAKE_SOCKET%%:*}"'
run = record(["sh", "-c", script])
address, mode, name = run.out.decode().split()
check.equal("its mode and what is in it", ("700", "socket"), (mode, name))
check.holds(not os.path.exists("/tmp/" + address.split(":")[0]), "It stays behind.")
if os.geteuid() == 0 and native(["unshare", "-m", "mount", "-t", "tmpfs", "none", "/tmp"]).status == 0:
    check.about("no folder stays behind")
    for way in ("record -q true", "record ./nonexistent", "record /etc/passwd", "record -q -o /dev/null true", "record"):
        script = f'mount -t tmpfs none /tmp && cd /tmp && mkdir here && cd here; "$0" {way}; sleep 0.1; ls /tmp'
        check.equal(way, b"here\n", native(["unshare", "-m", "sh", "-c", script, HEAPWAKE]).out)
    script = f'mount -t tmpfs none /tmp && cd /tmp && mkdir here && cd here; LD_PRELOAD={PROBE} true; while ls *.partial; do sleep 0.05; done; sleep 0.2; ls /tmp'
    check.equal("LD_PRELOAD", b"here", native(["unshare", "-m", "sh", "-c", script]).out.split()[-1])
check.done()
