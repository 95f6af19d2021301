/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * jit_fuzz: arbitrary bytes as what a program announces with __register_frame.
 *
 *     input:  i32 distance of the first pc from BASE, then the bytes, which end at BASE
 *
 * Behind BASE nothing can be read, so a byte too many is a fault. What was learnt is
 * walked from row to row; after withdrawing nothing of it may be left.
 */
#include "probe/jit.h"
#include "probe/life.h"
#include "probe/real.h"
#include "probe/unwind/rule.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#define BASE UINT64_C(0x200000000000)

enum { HEAD = 4, ROOM = 1 << 16, ROWS = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        __builtin_trap();
}

static int no_module(void *pc, void *result)
{
    (void)pc;
    (void)result;
    return -1;
}

static void open_room(void)
{
    static bool is_open;
    uint8_t *at = (uint8_t *)(uintptr_t)BASE - ROOM;
    if (is_open)
        return;
    is_open = true;
    must(mmap(at, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == at);
    real.dl_find_object = no_module;
    life.state = LIFE_ON;
}

static void rows_check(uint64_t pc)
{
    struct cfi_section section;
    struct cfi_row row;
    for (unsigned i = 0; i < ROWS && jit_find(pc, &section); i++) {
        must(section.hdr == NULL && section.eh_frame >= section.lo && section.eh_frame < section.hi);
        if (cfi_find_row(&section, pc, &row) != CFI_OK)
            return;
        must(row.start <= pc && pc < row.end && row.limit == section.hi);
        must(rule_kind(rule_compile(&row)) > RULE_NONE);
        pc = row.end;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int32_t distance;
    struct cfi_section section;
    open_room();
    if (size < HEAD || size - HEAD > ROOM)
        return 0;
    memcpy(&distance, data, sizeof distance);
    uint64_t pc = BASE + (uint64_t)(int64_t)distance;
    uint8_t *at = (uint8_t *)(uintptr_t)BASE - (size - HEAD);
    memcpy(at, data + HEAD, size - HEAD);
    jit_announce(at, at);
    rows_check(pc);
    jit_withdraw(at);
    must(!jit_find(pc, &section));
    return 0;
}
