#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# What `make install` leaves works from where it lies.
set -eu
meson install -C "$BUILD" --no-rebuild --destdir "$TMPDIR/root" >log 2>&1 || { cat log; exit 1; }
prefix=$(dirname "$(dirname "$(find "$TMPDIR/root" -path '*/bin/heapwake')")")
for file in bin/heapwake lib/libheapwake.so lib/libheapwake.a lib/heapwake.ld share/man/man1/heapwake.1 \
    share/bash-completion/completions/heapwake include/heapwake.h lib/pkgconfig/heapwake.pc \
    lib/cmake/heapwake/heapwakeConfig.cmake libexec/heapwake/heapwake-player; do
    [ -f "$prefix/$file" ] || { echo "$file is not installed."; exit 1; }
done
# What the manual pages refer to.
for file in $(grep -ho 'docs/[a-z-]*\.[a-z]*' "$prefix"/share/man/man1/*.1 | sort -u); do
    [ -f "$prefix/share/doc/heapwake/${file#docs/}" ] || { echo "$file, which a manual page names, is not installed."; exit 1; }
done
"$prefix/bin/heapwake" record -q -o record.wake -- true
"$prefix/bin/heapwake" verify record.wake

# A program finds the header, and the calls it makes through it, by pkg-config.
cat >told.c <<'END'
#include <heapwake.h>
int main(void)
{
    HEAPWAKE_TAG("installed");
    return HEAPWAKE_FLUSH() == 0 ? 3 : 4;
}
END
flags=$(PKG_CONFIG_PATH="$prefix/lib/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$TMPDIR/root" pkg-config --cflags heapwake)
cc -Wall -Werror -Wpedantic $flags -o told told.c
status=0; ./told || status=$?
[ $status = 4 ] || { echo "Alone, the program ends with $status."; exit 1; }
status=0; "$prefix/bin/heapwake" record -q -o told.wake ./told || status=$?
[ $status = 3 ] || { echo "Recorded, the program ends with $status."; exit 1; }
"$prefix/bin/heapwake" dump told.wake | grep -q installed || { echo "The tag is not in the recording."; exit 1; }
if command -v cmake >/dev/null; then
    printf '%s\n' 'cmake_minimum_required(VERSION 3.13)' 'project(told C)' 'find_package(heapwake REQUIRED)' \
        'add_executable(told told.c)' 'target_link_libraries(told PRIVATE heapwake::heapwake)' >CMakeLists.txt
    cmake -B cmake "-DCMAKE_PREFIX_PATH=$prefix" >log 2>&1 && cmake --build cmake >>log 2>&1 || { cat log; exit 1; }
    status=0; cmake/told || status=$?
    [ $status = 4 ] || { echo "Built by cmake, the program ends with $status."; exit 1; }
fi
"$prefix/bin/heapwake" record -q -o sort.wake -- sort /dev/null
"$prefix/bin/heapwake" replay --allocators glibc sort.wake
HEAPWAKE_OUTPUT="$TMPDIR/preload.wake" LD_PRELOAD="$prefix/lib/libheapwake.so" sort /dev/null
for i in 1 2 3 4 5 6 7 8 9 10; do
    [ -s preload.wake ] && "$prefix/bin/heapwake" verify preload.wake >/dev/null 2>&1 && exit 0
    sleep 1
done
echo "LD_PRELOAD of the installed library left no sound recording within ten seconds."
exit 1
