#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# The unit tests pass under the address and undefined-behaviour sanitizers.
# timeout: 900
set -eu
tests=$("$ROOT/scripts/sources" --tests src)
if [ -z "$tests" ]; then
    echo "There are no unit tests."
    exit 77
fi
build=$("$ROOT/scripts/build-sanitized" unit)
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
failed=0
for test in $tests; do
    name=$(basename "$test" .c)
    "$build/tests/unit/$name" >"$TMPDIR/log" 2>&1 || { echo "$name:"; tail -40 "$TMPDIR/log"; failed=1; }
done
exit $failed
