#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""scripts/bootstrap does nothing where all is there; otherwise it says what it installs, asks nothing, and goes through
sudo where it is not root. The system is played by commands of our own: nothing is installed here."""
import os
import subprocess

from support import Check

SCRIPT = os.path.join(os.environ["ROOT"], "scripts/bootstrap")
PLAYED = {
    "dpkg-query": 'for p in "$@"; do case $p in -*|$MISSING|*{*) ;; *) printf "ii %s\\n" "$p" ;; esac; done',
    "apt-get": 'echo "apt-get $*" >>"$LOG"; [ ! -e "$STALE" ] || { rm "$STALE"; exit 100; }',
    "sudo": 'echo "sudo $*" >>"$LOG"; case $1 in env|apt-get) exec "$@" ;; esac; cat >/dev/null',
    "id": 'echo "$USER_ID"',
}
check = Check()


def bootstrap(purpose="build", missing="", user=1000, played=tuple(PLAYED), stale=False):
    """Status, what it says, and the commands that would have changed the system."""
    folder, log, lists = (os.path.abspath(name) for name in ("played", "log", "stale"))
    os.makedirs(folder, exist_ok=True)
    for name, text in PLAYED.items():
        path = os.path.join(folder, name)
        with open(path, "w", encoding="ascii") as f:
            f.write(f"#!/bin/sh\n{text}\n")
        os.chmod(path, 0o755 if name in played else 0o644)
    for name in ("sh", "sed", "tr", "grep", "env", "printf", "cat", "rm", "fmt"):  # and nothing else of the system's
        if not os.path.lexists(os.path.join(folder, name)):
            os.symlink(f"/usr/bin/{name}", os.path.join(folder, name))
    open(log, "w", encoding="ascii").close()
    if stale:
        open(lists, "w", encoding="ascii").close()
    done = subprocess.run(["/bin/sh", SCRIPT, purpose], capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL,
                          env={"PATH": folder, "LOG": log, "STALE": lists, "MISSING": missing, "USER_ID": str(user)}, check=False)
    with open(log, encoding="ascii") as f:
        return done.returncode, done.stdout + done.stderr, f.read().splitlines()


INSTALL = "apt-get satisfy -y -q --no-install-recommends libdw-dev"
for purpose in ("build", "check", "bench", "distros"):
    check.about(f"{purpose}, all is there")
    for user in (0, 1000):
        check.equal(f"user {user}", (0, "", []), bootstrap(purpose, user=user))
check.about("root")
check.equal("one is missing", (0, "scripts/bootstrap: installing libdw-dev\n", [INSTALL]), bootstrap(missing="libdw-dev", user=0))
check.equal("two are missing", [f"{INSTALL}, libelf-dev"], bootstrap(missing="lib[de][wl]*-dev", user=0)[2])
check.about("names that differ between releases")
names = "libpython3.11-testsuite|libpython3.12-testsuite|libpython3.13-testsuite|libpython3.14-testsuite"
for title, missing, expected in (("none", "libpython3.*-testsuite", [INSTALL.replace("libdw-dev", names)]),
                                 ("one", "libpython3.1[12]-testsuite", [])):
    done = bootstrap("check", missing=missing)[2]  # not as root: it would really tell the system to start no servers
    check.equal(f"{title} is there", expected, [line for line in done if line.startswith("apt-get")])
check.about("a user with sudo")
installed = [f"sudo env DEBIAN_FRONTEND=noninteractive {INSTALL}", INSTALL]
check.equal("one is missing", (0, "scripts/bootstrap: installing libdw-dev\n", installed), bootstrap(missing="libdw-dev"))
check.equal("the lists are old", (0, [*installed, "sudo apt-get update -q", "apt-get update -q", *installed]),
            bootstrap(missing="libdw-dev", stale=True)[::2])
check.about("a user without sudo")
status, said, done = bootstrap(missing="libdw-dev", played=("dpkg-query", "apt-get", "id"))
check.equal("status, commands", (1, []), (status, done))
check.holds("takes root or sudo" in said and "apt-get satisfy 'libdw-dev'" in said, f"It says {said!r}.")
check.about("another system")
status, said, done = bootstrap("check", played=("id",))
check.equal("status, commands", (1, []), (status, done))
check.holds("not a Debian system" in said and "libdw-dev" in said, f"It says {said!r}.")
check.done()
