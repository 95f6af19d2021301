/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * stacks_now: the same chains, called without a PLT and bound at the start, in
 * code for the fixed address.
 *
 * build: -fomit-frame-pointer -O3 -fno-plt -no-pie -rdynamic -Wl,-z,now -L{build}/tests/workloads -ldeep
 * build: -Wl,-rpath,{build}/tests/workloads
 */
#include "stacks.c"
