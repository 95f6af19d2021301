# SPDX-License-Identifier: MIT OR Apache-2.0
"""Viewers that Debian does not have, by name and version from the registries of pip and
npm. They are kept in build/tests/packages, so the registry is asked once. Where one
cannot be had the scenario is skipped, and says why.

    folder = from_pip("gprof2dot", "2025.4.14")            # for PYTHONPATH
    folder = from_npm("speedscope", "1.25.0", "2831f1...")  # the package's own files
"""
import hashlib
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import urllib.request

from support import skip

KEPT = os.path.join(os.environ["BUILD"], "tests/packages")
LIMIT_S = 120


def from_pip(name, version):
    def fill(folder):
        done = subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--only-binary=:all:",
                               "--retries=1", "--target", folder, f"{name}=={version}"],
                              capture_output=True, text=True, timeout=LIMIT_S)
        if done.returncode != 0:
            raise OSError((done.stderr.strip() or "pip says no reason").split("\n")[-1][:160])
    return kept(f"{name}-{version}", fill)


def from_npm(name, version, sha256):
    """Without what the package needs itself: enough for one that is built into one file."""
    def fill(folder):
        with urllib.request.urlopen(f"https://registry.npmjs.org/{name}/-/{name}-{version}.tgz", timeout=LIMIT_S) as answer:
            data = answer.read()
        if hashlib.sha256(data).hexdigest() != sha256:
            raise SystemExit(f"{name} {version} is not what it was.")
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            archive.extractall(folder)
    return os.path.join(kept(f"{name}-{version}", fill), "package")


def kept(name, fill):
    """The folder of a package. It gets its name when all of it is there: scenarios run side by side."""
    final = os.path.join(KEPT, name)
    if os.path.isdir(final):
        return final
    os.makedirs(KEPT, exist_ok=True)
    folder = tempfile.mkdtemp(dir=KEPT)
    try:
        fill(folder)
    except (OSError, subprocess.TimeoutExpired) as trouble:  # a registry that cannot be reached is an OSError too
        shutil.rmtree(folder)
        skip(f"{name} cannot be had: {trouble}")
    try:
        os.rename(folder, final)
    except OSError:  # another was faster
        shutil.rmtree(folder)
    return final
