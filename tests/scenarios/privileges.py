#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""A program that runs with more rights than its caller (set-user-ID, set-group-ID, file
capabilities) and has the probe linked in, by the library or by the archive: the caller's
variables have no effect. No collector is started, no socket is connected to, no file is written,
`ctl` finds nothing. The same program without those rights obeys all of them."""
import atexit
import os
import shutil
import socket
import struct
import subprocess
import tempfile

from support import HEAPWAKE, PROBE, Check, leave_out, native, skip

BUILD = os.environ["BUILD"]
OTHER = 65534  # a user and a group without any rights
SOURCE = """#include <heapwake.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    (void)argv;
    void *volatile block = malloc(7103);
    int is_secure = (int)getauxval(AT_SECURE), answer = heapwake_flush();
    printf("secure %d, enabled %d, flush %d\\n", is_secure, heapwake_is_enabled(), answer);
    fflush(stdout);
    if (argc > 1)
        (void)!read(0, argv[0], 1);
    block = realloc(block, 7105);
    free(block);
    return 0;
}
"""
COLLECTOR = """#!/bin/sh
id -u >> {folder}/open/started
exit 1
"""

check = Check()
if os.geteuid() != 0:
    skip("Left out: only root can make set-user-ID programs for another user.")

folder = tempfile.mkdtemp(dir="/tmp")
atexit.register(shutil.rmtree, folder)
os.chmod(folder, 0o755)
if os.statvfs(folder).f_flag & os.ST_NOSUID:
    skip("Left out: /tmp is mounted nosuid.")
for name, mode in (("lib", 0o755), ("evil", 0o755), ("open", 0o1777), ("closed", 0o755)):
    os.mkdir(f"{folder}/{name}")
    os.chmod(f"{folder}/{name}", mode)
shutil.copy(PROBE, f"{folder}/lib/libheapwake.so")
with open(f"{folder}/evil/heapwake", "w", encoding="ascii") as f:
    f.write(COLLECTOR.format(folder=folder))
os.chmod(f"{folder}/evil/heapwake", 0o755)
with open("app.c", "w", encoding="ascii") as f:
    f.write(SOURCE)
COMPILE = ["gcc", "-O1", "-fno-builtin", "-I" + os.path.join(os.environ["ROOT"], "include"), "-DHEAPWAKE_API=", "app.c"]
subprocess.run([*COMPILE, "-o", f"{folder}/library", f"-L{folder}/lib", "-lheapwake", f"-Wl,-rpath,{folder}/lib"], check=True)
subprocess.run([*COMPILE, "-static", "-o", f"{folder}/archive", "-L" + BUILD, "@" + os.path.join(BUILD, "heapwake.ld")], check=True)


def set_owner(path, mode):
    os.chown(path, 0, 0)
    os.chmod(path, mode)


def set_capability(path):
    """cap_net_raw, permitted and effective: struct vfs_cap_data, revision 2."""
    os.chmod(path, 0o755)
    os.setxattr(path, "security.capability", struct.pack("<5I", 0x02000001, 1 << 13, 0, 0, 0))


RIGHTS = {
    "none": lambda path: set_owner(path, 0o755),
    "set-user-ID": lambda path: set_owner(path, 0o4755),
    "set-group-ID": lambda path: set_owner(path, 0o2755),
    "file capabilities": set_capability,
}


def files():
    return sorted(os.path.join(place, name)[len(folder):] for place, _, names in os.walk(folder) for name in names)


def run(program, env):
    """As another user, in a folder where that one may write."""
    return native([program], {"HEAPWAKE_LOG": "trace", "HEAPWAKE_CHILDREN": "yes", **env},
                  user=OTHER, group=OTHER, extra_groups=[], cwd=f"{folder}/open")


def listener():
    """An address that the caller listens at: whoever connects hands its memory to the caller."""
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.bind("\0heapwake-privileges-%d-%x" % (os.getpid(), os.stat("/proc/self/ns/net").st_ino))
    s.listen()
    s.setblocking(False)
    return s


def has_caller(s):
    count = 0
    try:
        while True:
            s.accept()[0].close()
            count += 1
    except BlockingIOError:
        return count != 0


victim = f"{folder}/closed/victim"
with listener() as door:
    address = door.getsockname()[1:].decode() + ":" + "00" * 16
    WAYS = {
        "HEAPWAKE_COLLECTOR": {"HEAPWAKE_COLLECTOR": f"{folder}/evil/heapwake"},
        "PATH": {"PATH": f"{folder}/evil:" + os.environ["PATH"]},
        "HEAPWAKE_OUTPUT": {"PATH": "/nonexistent", "HEAPWAKE_OUTPUT": f"{folder}/open/written"},
        "HEAPWAKE_OUTPUT of root": {"PATH": "/nonexistent", "HEAPWAKE_OUTPUT": f"{folder}/closed/written"},
        "HEAPWAKE_LOGFILE": {"HEAPWAKE_COLLECTOR": HEAPWAKE, "HEAPWAKE_LOGFILE": victim},
        "HEAPWAKE_SOCKET": {"PATH": "/nonexistent", "HEAPWAKE_SOCKET": address},
        "HEAPWAKE_TRACE": {"PATH": "/nonexistent", "HEAPWAKE_TRACE": "life:9"},
    }
    obeyed = set()
    for program in ("library", "archive"):
        for rights, give in RIGHTS.items():
            give(f"{folder}/{program}")
            for way, env in WAYS.items():
                if rights == "none" and way == "HEAPWAKE_LOGFILE":
                    continue  # a real collector, which would still be writing during the next run
                check.about(f"{program}, {rights}, {way}")
                with open(victim, "w", encoding="ascii") as f:
                    f.write("as it was\n")
                os.chmod(victim, 0o600)
                before = files()
                done = run(f"{folder}/{program}", env)
                check.equal("exit status", 0, done.status)
                secure = done.out.startswith(b"secure 1")
                changes = sorted(set(files()) - set(before))
                with open(victim, encoding="ascii") as f:
                    is_whole = f.read() == "as it was\n"
                called = has_caller(door)
                if rights == "none":
                    check.equal("no rights", False, secure)
                    if changes or called:
                        obeyed.add((program, way))
                elif not secure:
                    leave_out(f"{rights} give a program nothing on this machine")
                else:
                    check.equal("output", (b"secure 1, enabled 0, flush -1\n", b""), (done.out, done.err))
                    check.equal("files", [], changes)
                    check.holds(is_whole, "A file of root's was written to.")
                    check.holds(not called, "The program connected to an address of its caller's.")
                for path in changes:
                    os.unlink(folder + path)

check.about("the same without rights")
for program in ("library", "archive"):
    for way in ("HEAPWAKE_COLLECTOR", "PATH", "HEAPWAKE_OUTPUT", "HEAPWAKE_SOCKET"):
        check.holds((program, way) in obeyed, f"{way} changes nothing for {program}: this scenario sees nothing.")

for program in ("library", "archive"):
    check.about(f"ctl, {program}")
    RIGHTS["set-user-ID"](f"{folder}/{program}")
    with subprocess.Popen([f"{folder}/{program}", "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, user=OTHER, group=OTHER, extra_groups=[],
                          cwd=f"{folder}/open", env={**os.environ, "HEAPWAKE_COLLECTOR": HEAPWAKE}) as running:
        running.stdout.readline()
        asked = native([HEAPWAKE, "ctl", running.pid, "status"])
        check.equal("status of ctl", 1, asked.status)
        check.holds(b"not" in asked.err, f"ctl says: {asked.err.decode()}")
        running.stdin.close()
    check.equal("files", [], [path for path in files() if path.startswith("/open")])
check.done()
