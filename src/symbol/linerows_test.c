/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Tests of linerows: tables written by hand, of which every row is known.
 */
#include "symbol/linerows.h"

#include <dwarf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    LOW = 0x1000, /* where the code is */
    HIGH = 0x9000,
    LINE_BASE = -3,
    LINE_RANGE = 12,
    OPCODE_BASE = 14, /* one more than DWARF knows, with two operands */
    UNKNOWN = 13,
    TABLE_MAX = 256,
};

struct table {
    uint8_t bytes[TABLE_MAX];
    size_t length;
};

static void put(struct table *t, const void *bytes, size_t length)
{
    assert_true(t->length + length <= TABLE_MAX);
    memcpy(t->bytes + t->length, bytes, length);
    t->length += length;
}

static void put_number(struct table *t, uint64_t value, size_t width)
{
    put(t, &value, width); /* a little-endian table, and tests run on such machines */
}

#define PROGRAM(t, ...)                        \
    do {                                       \
        const uint8_t codes[] = {__VA_ARGS__}; \
        put(t, codes, sizeof codes);           \
    } while (0)

/* Adds a header with what no program needs behind it; its lengths are known later. */
static void begin(struct table *t, unsigned version, unsigned step, unsigned operations)
{
    t->length = 0;
    put_number(t, 0, 4);
    put_number(t, version, 2);
    if (version >= 5)
        PROGRAM(t, 8, 0);
    put_number(t, 0, 4);
    PROGRAM(t, (uint8_t)step);
    if (version >= 4)
        PROGRAM(t, (uint8_t)operations);
    PROGRAM(t, 1, (uint8_t)LINE_BASE, LINE_RANGE, OPCODE_BASE);
    PROGRAM(t, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 2);
    PROGRAM(t, 0x77, 0x77, 0x77); /* folders and files */
    size_t at = version >= 5 ? 8 : 6;
    uint32_t rest = (uint32_t)(t->length - at - 4);
    memcpy(t->bytes + at, &rest, 4);
}

static void end(struct table *t)
{
    uint32_t length = (uint32_t)t->length - 4;
    memcpy(t->bytes, &length, 4);
}

static void put_address(struct table *t, uint64_t address)
{
    PROGRAM(t, 0, 9, DW_LNE_set_address);
    put_number(t, address, 8);
}

static void put_end(struct table *t)
{
    PROGRAM(t, 0, 1, DW_LNE_end_sequence);
}

/* An operation that moves both, and makes a row. */
static uint8_t special(unsigned operations, int lines)
{
    return (uint8_t)(OPCODE_BASE + operations * LINE_RANGE + (unsigned)(lines - LINE_BASE));
}

static struct die_limits limits(uint64_t steps)
{
    return (struct die_limits){.steps = steps, .text_low = LOW, .text_high = HIGH};
}

static void read_table(struct linerows *r, const struct table *t, size_t length)
{
    struct die_limits l = limits(1000);
    uint8_t *copy = malloc(length); /* so that sanitizers see what is read behind it */
    assert_true(copy != NULL || length == 0);
    if (length > 0)
        memcpy(copy, t->bytes, length);
    *r = (struct linerows){0};
    linerows_parse(r, copy, length, &l);
    free(copy);
}

static void expect(const struct linerows *r, uint64_t address, uint32_t line, uint32_t file)
{
    const struct linerow *row = linerows_find(r, address);
    if (row == NULL)
        fail_msg("0x%llx has no row", (unsigned long long)address);
    assert_int_equal(row->line, line);
    assert_int_equal(row->file, file);
}

/* Two stretches, the second in front of the first, and a dropped one that reaches into both. */
static void put_stretches(struct table *t)
{
    put_address(t, 0x2000);
    PROGRAM(t, DW_LNS_advance_line, 9, DW_LNS_copy); /* 2000: line 10 */
    PROGRAM(t, special(4, 2));                       /* 4 steps on: line 12 */
    PROGRAM(t, DW_LNS_set_file, 3, DW_LNS_set_column, 0x85, 0x01, DW_LNS_negate_stmt); /* nothing of ours */
    PROGRAM(t, UNKNOWN, 0xff, 0x01, 0x7f, DW_LNS_set_prologue_end, DW_LNS_set_isa, 5); /* nor this */
    PROGRAM(t, 0, 3, DW_LNE_set_discriminator, 0x81, 0x01, 0, 4, DW_LNE_lo_user, 1, 2, 3); /* nor that */
    PROGRAM(t, DW_LNS_advance_pc, 0x90, 0x01, DW_LNS_advance_line, 0x7e,
            DW_LNS_copy);                            /* 144 steps: line 10 of 3 */
    PROGRAM(t, DW_LNS_const_add_pc, DW_LNS_copy);    /* 20 steps */
    PROGRAM(t, DW_LNS_fixed_advance_pc, 0x00, 0x01); /* 0x100 bytes */
    put_end(t);
    put_address(t, 0);
    PROGRAM(t, DW_LNS_copy, DW_LNS_advance_pc, 0x80, 0x80, 0x01,
            special(1, 7)); /* up to the code, and in it */
    PROGRAM(t, special(1, 1), special(1, 1));
    put_end(t);
    put_address(t, 0x1ff0);
    PROGRAM(t, DW_LNS_copy, DW_LNS_fixed_advance_pc, 0x10, 0x00);
    put_end(t);
}

static void check_stretches(const struct linerows *r, unsigned step)
{
    assert_null(linerows_find(r, 0));
    assert_null(linerows_find(r, 0x1fef));
    expect(r, 0x1ff0, 1, 1);
    expect(r, 0x1fff, 1, 1);
    expect(r, 0x2000, 10, 1);
    uint64_t at = 0x2000 + UINT64_C(4) * step;
    expect(r, at - 1, 10, 1);
    expect(r, at, 12, 1);
    at += UINT64_C(144) * step;
    expect(r, at - 1, 12, 1);
    expect(r, at, 10, 3);
    at += UINT64_C(20) * step + 0x100;
    expect(r, at - 1, 10, 3);
    assert_null(linerows_find(r, at));
    assert_null(linerows_find(r, 0x4000));
    assert_null(linerows_find(r, UINT64_MAX));
}

static void rows_are_where_the_program_puts_them(void **state)
{
    (void)state;
    for (unsigned version = 2; version <= 5; version++) {
        for (unsigned step = 1; step <= 4; step += 3) {
            struct table t;
            struct linerows r;
            begin(&t, version, step, 1);
            put_stretches(&t);
            end(&t);
            read_table(&r, &t, t.length);
            check_stretches(&r, step);
            linerows_release(&r);
        }
    }
}

/* Machines with several operations in an instruction count these, and move at every one that is full. */
static void operations_make_instructions(void **state)
{
    struct table t;
    struct linerows r;
    (void)state;
    begin(&t, 4, 16, 3);
    put_address(&t, 0x2000);
    PROGRAM(&t, DW_LNS_copy, special(2, 1), special(2, 1), DW_LNS_advance_pc, 4);
    put_end(&t);
    end(&t);
    read_table(&r, &t, t.length);
    expect(&r, 0x2000, 2, 1); /* 2 of 3 operations are in it */
    expect(&r, 0x2010, 3, 1); /* 4 of them */
    expect(&r, 0x201f, 3, 1);
    assert_null(linerows_find(&r, 0x2020)); /* 8 */
    linerows_release(&r);
}

static void long_lengths_are_read(void **state)
{
    struct table t, wide = {.length = 0};
    struct linerows r;
    (void)state;
    begin(&t, 3, 1, 1);
    put_stretches(&t);
    put_number(&wide, UINT32_MAX, 4);
    put_number(&wide, t.length - 4 + 4, 8);
    put_number(&wide, 3, 2);
    uint32_t rest;
    memcpy(&rest, t.bytes + 6, 4);
    put_number(&wide, rest, 8);
    put(&wide, t.bytes + 10, t.length - 10);
    read_table(&r, &wide, wide.length);
    check_stretches(&r, 1);
    linerows_release(&r);
}

/* What is cut off is missing, and nothing else changes: a stretch is there when its end is. */
static void cut_tables_have_what_is_whole(void **state)
{
    struct table t;
    (void)state;
    begin(&t, 5, 1, 1);
    size_t head = t.length;
    put_stretches(&t);
    end(&t);
    for (size_t length = 0; length < t.length; length++) {
        struct table cut = t;
        struct linerows r;
        if (length >= 4) {
            uint32_t size = (uint32_t)length - 4;
            memcpy(cut.bytes, &size, 4);
        }
        read_table(&r, &cut, length);
        const struct linerow *row = linerows_find(&r, 0x2000);
        assert_true(row == NULL || (row->line == 10 && row->file == 1));
        assert_true(length > head + 20 || r.list.count == 0);
        assert_null(linerows_find(&r, 0x1ff0)); /* that stretch is the last */
        linerows_release(&r);
        read_table(&r, &t, length); /* and the length that the whole had */
        assert_int_equal(r.list.count, 0);
        linerows_release(&r);
    }
}

static void tables_that_make_no_sense_are_empty(void **state)
{
    /* Offsets in a header of version 4. */
    const struct {
        size_t at;
        uint8_t value;
    } faults[] = {{4, 1}, {4, 6}, {9, 0x7f}, {11, 0}, {14, 0}, {15, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct table t;
        struct linerows r;
        begin(&t, 4, 1, 1);
        put_stretches(&t);
        end(&t);
        t.bytes[faults[i].at] = faults[i].value;
        read_table(&r, &t, t.length);
        assert_int_equal(r.list.count, 0);
        linerows_release(&r);
    }
}

static void limits_are_kept(void **state)
{
    struct table t;
    struct linerows r = {0};
    struct die_limits l = limits(5);
    (void)state;
    begin(&t, 4, 1, 1);
    for (unsigned i = 0; i < 3; i++) {
        put_address(&t, 0x2000 + i * UINT64_C(0x100));
        PROGRAM(&t, DW_LNS_copy, DW_LNS_advance_pc, 8);
        put_end(&t);
    }
    end(&t);
    linerows_parse(&r, t.bytes, t.length, &l);
    assert_int_equal(l.steps, 0);
    expect(&r, 0x2007, 1, 1);
    assert_null(linerows_find(&r, 0x2100));
    linerows_release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_where_the_program_puts_them),
        cmocka_unit_test(operations_make_instructions),
        cmocka_unit_test(long_lengths_are_read),
        cmocka_unit_test(cut_tables_have_what_is_whole),
        cmocka_unit_test(tables_that_make_no_sense_are_empty),
        cmocka_unit_test(limits_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
