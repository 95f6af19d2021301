#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# What `make install` leaves works from where it lies.
set -eu
meson install -C "$BUILD" --no-rebuild --destdir "$TMPDIR/root" >log 2>&1 || { cat log; exit 1; }
prefix=$(dirname "$(dirname "$(find "$TMPDIR/root" -path '*/bin/heapwake')")")
for file in bin/heapwake lib/libheapwake.so lib/libheapwake.a share/man/man1/heapwake.1 \
    libexec/heapwake/heapwake-player share/bash-completion/completions/heapwake; do
    [ -f "$prefix/$file" ] || { echo "$file is not installed."; exit 1; }
done
"$prefix/bin/heapwake" record -q -o record.wake -- true
"$prefix/bin/heapwake" verify record.wake
"$prefix/bin/heapwake" record -q -o sort.wake -- sort /dev/null
"$prefix/bin/heapwake" replay --allocators glibc sort.wake
HEAPWAKE_OUTPUT="$TMPDIR/preload.wake" LD_PRELOAD="$prefix/lib/libheapwake.so" sort /dev/null
for i in 1 2 3 4 5 6 7 8 9 10; do
    [ -s preload.wake ] && "$prefix/bin/heapwake" verify preload.wake >/dev/null 2>&1 && exit 0
    sleep 1
done
echo "LD_PRELOAD of the installed library left no sound recording within ten seconds."
exit 1
