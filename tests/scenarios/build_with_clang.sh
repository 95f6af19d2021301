#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# All of it builds with clang too, without a warning, and the library stays as clean.
# timeout: 900
set -eu
if ! command -v clang >/dev/null; then
    echo "clang is not installed."
    exit 77
fi
cd "$ROOT"
CC=clang CXX=clang++ meson setup "$TMPDIR/build" >"$TMPDIR/log" 2>&1 || { cat "$TMPDIR/log"; exit 1; }
ninja -C "$TMPDIR/build" >"$TMPDIR/log" 2>&1 || { tail -40 "$TMPDIR/log"; exit 1; }
scripts/check-symbols "$TMPDIR/build/libheapwake.so"
cd "$TMPDIR"
build/heapwake record -q -o true.wake -- true
build/heapwake verify true.wake
