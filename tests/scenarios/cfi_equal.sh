#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# The rules read from .eh_frame are those that libdw reads, at every row of every ELF
# file under /usr/lib. CFI_EVERY=20 looks at one FDE of twenty, CFI_FOLDERS at
# other folders.
# timeout: 1200
set -eu
if ! pkg-config --exists libdw libelf; then
    echo "libdw-dev is not installed."
    exit 77
fi
unwind="$ROOT/src/probe/unwind"
"${CC:-cc}" -O2 -g -D_GNU_SOURCE= -I"$ROOT/src" -I"$ROOT/tests/unwind" -o "$TMPDIR/cfi_diff" \
    "$ROOT/tests/unwind/cfi_diff.c" "$ROOT/tests/unwind/cfi_meaning.c" "$ROOT/tests/unwind/cfi_file.c" "$unwind/rule.c" "$unwind/cfi.c" \
    "$unwind/cfi_entry.c" "$unwind/cfi_eval.c" "$unwind/cfi_pointer.c" "$unwind/cfi_step.c" "$unwind/cfi_table.c" \
    $(pkg-config --cflags --libs libdw libelf)
exec "$TMPDIR/cfi_diff" --every "${CFI_EVERY:-1}" ${CFI_FOLDERS:-/usr/lib}
