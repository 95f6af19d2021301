#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# The unit tests pass under the address and undefined-behaviour sanitizers, and under the
# one for threads. It sees one process alone, so that what two agree on through shared
# memory looks like a race to it: collector_test is left out. So is jit_test, whose
# reader may read what is being replaced, and throws it away when it sees that. lane_test stops
# after every instruction, of which there are ten times as many.
# timeout: 1500
set -eu
tests=$("$ROOT/scripts/sources" --tests src)
if [ -z "$tests" ]; then
    echo "There are no unit tests."
    exit 77
fi
export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
export ASAN_OPTIONS=allocator_may_return_null=1
export TSAN_OPTIONS=allocator_may_return_null=1:halt_on_error=1
failed=0
for kind in address thread; do
    build=$("$ROOT/scripts/build-sanitized" unit $kind)
    for test in $tests; do
        name=$(basename "$test" .c)
        case $kind-$name in thread-collector_test | thread-jit_test | thread-lane_test) continue ;; esac
        "$build/tests/unit/$name" >"$TMPDIR/log" 2>&1 || { echo "$kind: $name:"; tail -40 "$TMPDIR/log"; failed=1; }
    done
done
exit $failed
