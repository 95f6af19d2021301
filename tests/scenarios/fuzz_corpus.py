#!/usr/bin/python3
# SPDX-License-Identifier: MIT OR Apache-2.0
# timeout: 1800
"""Every tests/fuzz/x_fuzz.c survives some thousand mutations of its seeds, the same
ones each time, under the address and undefined-behaviour sanitizers. Seeds come
from tests/fuzz/x_seeds.py; a target without gets the golden files and noise."""
import concurrent.futures
import glob
import os
import random
import shutil
import subprocess
import sys

ROOT = os.environ["ROOT"]
RUNS = int(os.environ.get("RUNS", "2000"))


def must(argv, **options):
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(argv)}: exit {done.returncode}\n{done.stdout[-4000:]}")
    return done.stdout


def make_seeds(name, folder):
    os.makedirs(folder)
    script = f"{ROOT}/tests/fuzz/{name}_seeds.py"
    if os.path.exists(script):
        must([script, folder])
    else:
        for path in glob.glob(f"{ROOT}/tests/golden/*"):
            shutil.copy(path, folder)
    noise = random.Random(name)
    for size in (1, 100, 5000):
        with open(f"{folder}/noise{size}", "wb") as f:
            f.write(noise.randbytes(size))
    return sorted(glob.glob(f"{folder}/*"))


def try_target(name):
    """A sentence when it fails."""
    seeds = make_seeds(name, f"seeds-{name}")
    if len(seeds) < 4:
        return f"{name}: its script made no seeds."
    env = {**os.environ, "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1:abort_on_error=1",
           "ASAN_OPTIONS": "abort_on_error=1:handle_segv=0:handle_abort=0:hard_rss_limit_mb=3000"}
    done = subprocess.run([f"{build}/tests/fuzz/{name}_fuzz", "0", str(RUNS), *seeds], env=env, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    if done.returncode != 0:
        return f"{name}: exit {done.returncode}\n{done.stdout[-3000:]}"
    print(f"{name}: {RUNS} mutations of {len(seeds)} seeds")
    return None


names = sorted(os.path.basename(path)[:-len("_fuzz.c")] for path in glob.glob(f"{ROOT}/tests/fuzz/*_fuzz.c"))
build = must([f"{ROOT}/scripts/build-sanitized", "fuzz"]).strip()
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    wrong = [sentence for sentence in pool.map(try_target, names) if sentence]
print("\n".join(wrong))
sys.exit(1 if wrong or not names else 0)
