/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Tests of jit: what is learnt from announcements, good and bad. Tables lie at the end
 * of pages around which nothing can be read, so that a read too many is a fault.
 */
#include "probe/jit.h"

#include "probe/life.h"
#include "probe/module.h"
#include "probe/real.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

enum { PAGE = 4096, ROOM = 16 * PAGE }; /* holds 600 FDEs */
static const uint64_t CODE = UINT64_C(0x123456789000);

/* Tables, being written. */
struct table {
    uint8_t bytes[ROOM];
    unsigned length;
};

static void put(struct table *t, const void *bytes, unsigned length)
{
    memcpy(t->bytes + t->length, bytes, length);
    t->length += length;
}

static void put_byte(struct table *t, unsigned byte)
{
    t->bytes[t->length++] = (uint8_t)byte;
}

static void put_word(struct table *t, uint64_t word, unsigned width)
{
    put(t, &word, width);
}

static void put_uleb(struct table *t, unsigned value)
{
    for (; value > 0x7f; value >>= 7)
        put_byte(t, (value & 0x7f) | 0x80);
    put_byte(t, value);
}

static void close_record(struct table *t, unsigned start)
{
    while ((t->length - start) % 4 != 0)
        put_byte(t, 0);
    uint32_t length = t->length - start - 4;
    memcpy(t->bytes + start, &length, sizeof length);
}

/* Absolute addresses, so that a table means the same wherever it lies. */
static unsigned put_cie(struct table *t, bool has_cfa)
{
    unsigned start = t->length;
    put_word(t, 0, 8);
    put(t, "\1zR\0\1\x78\x10\1\0", 9);
    if (has_cfa)
        put(t, "\x0c\7\x08\x90\1", 5);
    close_record(t, start);
    return start;
}

/* The frame ends at SP + size, and FP is saved at its lower end. */
static void put_fde(struct table *t, unsigned cie, uint64_t start, uint64_t length, unsigned size,
                    unsigned nops)
{
    unsigned begin = t->length;
    put_word(t, 0, 4);
    put_word(t, t->length - cie, 4);
    put_word(t, start, 8);
    put_word(t, length, 8);
    put_byte(t, 0);
    if (size != 0) {
        put_byte(t, 0x0e);
        put_uleb(t, size);
        put_byte(t, 0x86);
        put_uleb(t, size / 8);
    }
    for (unsigned i = 0; i < nops; i++)
        put_byte(t, 0);
    close_record(t, begin);
}

static void put_end(struct table *t)
{
    put_word(t, 0, 4);
}

static struct table one(uint64_t start, unsigned size)
{
    struct table t = {.length = 0};
    put_fde(&t, put_cie(&t, true), start, 0x100, size, 0);
    put_end(&t);
    return t;
}

/* A copy of the first `length` bytes that ends where nothing can be read any more. */
static uint8_t *place(const struct table *t, unsigned length)
{
    static uint8_t *pages;
    if (pages == NULL) {
        pages = mmap(NULL, ROOM + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_true(pages != MAP_FAILED);
        pages += PAGE;
        assert_int_equal(mprotect(pages, ROOM, PROT_READ | PROT_WRITE), 0);
    }
    memcpy(pages + ROOM - length, t->bytes, length);
    return pages + ROOM - length;
}

/* Where the frame of pc ends, relative to SP; 0: nothing was announced. */
static int frame_size(uint64_t pc)
{
    struct cfi_section section;
    struct cfi_row row;
    if (!jit_find(pc, &section))
        return 0;
    assert_int_equal(cfi_find_row(&section, pc, &row), CFI_OK);
    return row.state.cfa.offset;
}

static int no_module(void *pc, void *result)
{
    (void)pc;
    (void)result;
    return -1;
}

/* A module from CODE on, with unwind data at module_lo. */
static uint8_t *module_lo;

static int a_module(void *pc, void *result)
{
    struct module_object *o = result;
    *o = (struct module_object){
        .map_start = module_lo, .map_end = (void *)((uintptr_t)module_lo + PAGE), .eh_frame = module_lo};
    return (uint64_t)(uintptr_t)pc >= CODE ? 0 : -1;
}

static int set_up(void **state)
{
    (void)state;
    real.dl_find_object = no_module;
    life.state = LIFE_ON;
    life_sandbox = 0;
    return 0;
}

static void what_is_announced_is_found_until_it_is_withdrawn(void **state)
{
    (void)state;
    struct table t = one(CODE, 64);
    uint8_t *at = place(&t, t.length);
    jit_announce(at, at);
    memset(at, 0xff, t.length); /* the program's bytes are not needed any more */
    assert_int_equal(frame_size(CODE), 64);
    assert_int_equal(frame_size(CODE + 0xff), 64);
    assert_int_equal(frame_size(CODE - 1), 0);
    assert_int_equal(frame_size(CODE + 0x100), 0);
    jit_withdraw(at + 1);
    assert_int_equal(frame_size(CODE), 64);
    jit_withdraw(at);
    assert_int_equal(frame_size(CODE), 0);
    jit_withdraw(at);
    jit_withdraw(NULL);
}

static void the_generation_advances_when_what_was_used_goes(void **state)
{
    (void)state;
    struct table t = one(CODE, 64);
    uint8_t *at = place(&t, t.length);
    uint64_t before = module_generation;
    jit_announce(at, at);
    jit_withdraw(at);
    assert_int_equal(module_generation, before);
    jit_announce(at, at);
    assert_int_equal(frame_size(CODE), 64);
    assert_int_equal(module_generation, before);
    jit_withdraw(at);
    assert_true(module_generation > before);
}

static void other_code_in_the_same_place_has_its_own(void **state)
{
    (void)state;
    for (unsigned size = 16; size < 2000; size += 16) {
        struct table t = one(CODE, size);
        uint8_t *at = place(&t, t.length);
        jit_announce(at, at);
        assert_int_equal(frame_size(CODE + 3), size);
        if (size % 64 != 0)
            jit_withdraw(at);
    }
    /* Some were never withdrawn, but what is newer counts. */
    uint64_t before = module_generation;
    struct table t = one(CODE + 0xff, 4000);
    uint8_t *at = place(&t, t.length);
    jit_announce(at, at);
    assert_int_equal(frame_size(CODE + 3), 0);
    assert_int_equal(frame_size(CODE + 0xff), 4000);
    assert_true(module_generation > before);
    jit_withdraw(at);
    assert_int_equal(frame_size(CODE + 0xff), 0);
}

static void sequences_and_lists_are_read_to_their_end(void **state)
{
    (void)state;
    struct table t = {.length = 0};
    unsigned cie = put_cie(&t, true);
    put_fde(&t, cie, CODE, 16, 32, 0);
    put_fde(&t, cie, CODE + 16, 16, 48, 0);
    cie = put_cie(&t, true);
    put_fde(&t, cie, CODE + 32, 16, 64, 500);  /* a long one */
    put_fde(&t, cie, CODE + 48, 16, 80, 9000); /* too long */
    put_fde(&t, cie, CODE + 64, 16, 96, 0);
    put_end(&t);
    put_fde(&t, cie, CODE + 80, 16, 112, 0); /* behind the end */
    uint8_t *at = place(&t, t.length);
    void *list[] = {at, NULL, at};
    for (unsigned way = 0; way < 2; way++) {
        const void *owner = way == 0 ? (const void *)at : list;
        if (way == 0)
            jit_announce(at, at);
        else
            jit_announce_list(list);
        static const int sizes[] = {32, 48, 64, 0, 96, 0};
        for (unsigned i = 0; i < 6; i++)
            assert_int_equal(frame_size(CODE + 16 * i), sizes[i]);
        jit_withdraw(owner);
        for (unsigned i = 0; i < 6; i++)
            assert_int_equal(frame_size(CODE + 16 * i), 0);
    }
    jit_announce_list(NULL);
    jit_announce(at, NULL);
}

static void what_says_nothing_of_the_frame_is_not_learnt(void **state)
{
    (void)state;
    struct table t = {.length = 0};
    put_fde(&t, put_cie(&t, false), CODE, 0x100, 0, 0);
    put_end(&t);
    uint8_t *at = place(&t, t.length);
    jit_announce(at, at);
    assert_int_equal(frame_size(CODE), 0);
}

static void what_a_module_knows_is_not_learnt(void **state)
{
    (void)state;
    struct table t = {.length = 0};
    unsigned cie = put_cie(&t, true);
    put_fde(&t, cie, CODE, 16, 64, 0);
    put_fde(&t, cie, CODE - 16, 16, 80, 0);
    put_end(&t);
    uint8_t *at = place(&t, t.length);
    real.dl_find_object = a_module;
    module_lo = NULL; /* it has no unwind data */
    jit_announce(at, at);
    assert_int_equal(frame_size(CODE), 64);
    jit_withdraw(at);
    module_lo = at + PAGE;
    jit_announce(at, at);
    assert_int_equal(frame_size(CODE), 0);
    assert_int_equal(frame_size(CODE - 16), 80);
    jit_withdraw(at);
    module_lo = at; /* it announces its own table: the rest is not even looked at */
    jit_announce(at, at);
    assert_int_equal(frame_size(CODE), 0);
    assert_int_equal(frame_size(CODE - 16), 0);
}

static void in_a_sandbox_nothing_is_learnt(void **state)
{
    (void)state;
    struct table t = one(CODE, 64);
    uint8_t *at = place(&t, t.length);
    life_sandbox = 1;
    jit_announce(at, at);
    jit_announce_list((void *[]){at, NULL});
    assert_int_equal(frame_size(CODE), 0);
}

/* A record of a gigabyte that is not there, a CIE far away. */
static void distances_that_cannot_be_are_not_believed(void **state)
{
    (void)state;
    static const uint32_t lengths[] = {1u << 30, 1u << 24, 0xfffffff0, ROOM};
    for (unsigned i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        for (unsigned field = 0; field < 2; field++) {
            struct table t = {.length = 0};
            unsigned cie = put_cie(&t, true), fde = t.length;
            put_fde(&t, cie, CODE, 0x100, 64, 0);
            memcpy(t.bytes + fde + 4 * field, &lengths[i], sizeof *lengths);
            put_end(&t);
            uint8_t *at = place(&t, t.length);
            jit_announce(at, at);
            assert_int_equal(frame_size(CODE), 0);
        }
    }
}

static void tables_that_are_cut_anywhere_do_no_harm(void **state)
{
    (void)state;
    struct table t = one(CODE, 64);
    unsigned whole = t.length - 4;
    for (unsigned length = 0; length <= t.length; length++) {
        uint8_t *at = place(&t, length);
        jit_announce(at, at);
        assert_int_equal(frame_size(CODE), length >= whole ? 64 : 0);
        jit_withdraw(at);
    }
}

/* Whatever was learnt of them can be looked up. */
static void look_everywhere(void)
{
    struct cfi_section section;
    struct cfi_row row;
    for (uint64_t pc = CODE - 0x200; pc < CODE + 0x400; pc += 0x10) {
        if (jit_find(pc, &section))
            (void)cfi_find_row(&section, pc, &row);
    }
}

static void bytes_that_make_no_sense_do_no_harm(void **state)
{
    (void)state;
    static const uint8_t values[] = {0,    1,    2,    0x0c, 0x0f, 0x10, 0x1b, 0x30,
                                     0x40, 0x7f, 0x80, 0x9b, 0xc7, 0xfe, 0xff};
    struct table good = {.length = 0};
    unsigned cie = put_cie(&good, true);
    put_fde(&good, cie, CODE, 0x100, 64, 0);
    put_fde(&good, cie, CODE + 0x100, 0x100, 640, 3);
    put_end(&good);
    for (unsigned i = 0; i < good.length; i++) {
        for (unsigned k = 0; k < sizeof values; k++) {
            struct table t = good;
            t.bytes[i] = values[k];
            uint8_t *at = place(&t, t.length);
            jit_announce(at, at);
            look_everywhere();
            jit_withdraw(at);
            assert_int_equal(frame_size(CODE), 0);
            t.bytes[(i * 7 + k) % t.length] = 0xff;
            at = place(&t, t.length);
            jit_announce(at, at);
            look_everywhere();
            jit_withdraw(at);
        }
    }
    srandom(7);
    for (unsigned round = 0; round < 3000; round++) {
        struct table t = {.length = 256};
        for (unsigned i = 0; i < t.length; i++)
            t.bytes[i] = (uint8_t)random();
        memset(t.bytes + 1, 0, 3); /* a length that is not too long */
        uint8_t *at = place(&t, t.length);
        jit_announce(at, at);
        look_everywhere();
        jit_withdraw(at);
    }
}

/* In all, more than there is room for. */
static void room_is_given_back(void **state)
{
    (void)state;
    enum { FUNCTIONS = 600, ROUNDS = 200 };
    static struct table t;
    unsigned cie = put_cie(&t, true);
    for (unsigned i = 0; i < FUNCTIONS; i++)
        put_fde(&t, cie, CODE + i * 2, 1, 64, 0);
    put_end(&t);
    for (unsigned round = 0; round < ROUNDS; round++) {
        jit_announce(t.bytes, t.bytes);
        for (unsigned i = 0; i < FUNCTIONS; i += 97) {
            assert_int_equal(frame_size(CODE + i * 2), 64);
            assert_int_equal(frame_size(CODE + i * 2 + 1), 0);
        }
        jit_withdraw(t.bytes);
        assert_int_equal(frame_size(CODE), 0);
    }
}

static void code_of_any_length_is_found_everywhere(void **state)
{
    (void)state;
    static const uint64_t starts[] = {0, 0x3ff8, 0x4000, 0x7fff, 0x12345};
    static const uint64_t lengths[] = {1, 8, 9, 0x3fff, 0x4000, 0x4001, 0x8000, 0x100000, 0x40000000};
    for (unsigned i = 0; i < sizeof starts / sizeof *starts; i++) {
        for (unsigned k = 0; k < sizeof lengths / sizeof *lengths; k++) {
            uint64_t start = CODE + starts[i], length = lengths[k];
            struct table t = {.length = 0};
            put_fde(&t, put_cie(&t, true), start, length, 64, 0);
            put_end(&t);
            uint8_t *at = place(&t, t.length);
            jit_announce(at, at);
            assert_int_equal(frame_size(start), 64);
            assert_int_equal(frame_size(start + length / 2), 64);
            assert_int_equal(frame_size(start + length - 1), 64);
            assert_int_equal(frame_size(start - 1), 0);
            assert_int_equal(frame_size(start + length), 0);
            /* Something over its last byte, and something over all. */
            struct table over = one(start + length - 1, 96);
            jit_announce(over.bytes, over.bytes);
            assert_int_equal(frame_size(start + length - 1), 96);
            assert_int_equal(frame_size(start), length == 1 ? 96 : 0);
            jit_announce(at, at);
            assert_int_equal(frame_size(start + length - 1), 64);
            assert_int_equal(frame_size(start + length + 5), 0);
            jit_withdraw(at);
            jit_withdraw(over.bytes);
            assert_int_equal(frame_size(start), 0);
        }
    }
}

/* What finds no room is not known, and the rest stays as it is. */
static void more_than_there_is_room_for(void **state)
{
    (void)state;
    enum { TABLES = 120, FUNCTIONS = 600 };
    static struct table tables[TABLES];
    unsigned found = 0;
    for (unsigned n = 0; n < TABLES; n++) {
        unsigned cie = put_cie(&tables[n], true);
        for (unsigned i = 0; i < FUNCTIONS; i++)
            put_fde(&tables[n], cie, CODE + (n * FUNCTIONS + i) * 64, 64, 64 + n * 16, 0);
        put_end(&tables[n]);
        jit_announce(tables[n].bytes, tables[n].bytes);
    }
    for (unsigned i = 0; i < TABLES * FUNCTIONS; i += 7) {
        int size = frame_size(CODE + i * 64 + 3);
        assert_true(size == 0 || size == 64 + (int)(i / FUNCTIONS) * 16);
        found += size != 0;
    }
    assert_in_range(found, 60000 / 7, (65536 + 4096) / 7 + 1);
    for (unsigned n = 0; n < TABLES; n++)
        jit_withdraw(tables[n].bytes);
    for (unsigned i = 0; i < TABLES * FUNCTIONS; i += 7)
        assert_int_equal(frame_size(CODE + i * 64 + 3), 0);
    jit_announce(tables[TABLES - 1].bytes, tables[TABLES - 1].bytes);
    assert_int_equal(frame_size(CODE + (TABLES * FUNCTIONS - 1) * 64), 64 + (TABLES - 1) * 16);
    jit_withdraw(tables[TABLES - 1].bytes);
}

/* ---------------------------------------------------------------- threads */

static uint32_t is_over;

static void *announcer(void *argument)
{
    const unsigned *first = argument;
    static struct table tables[2][8];
    struct table *own = tables[*first];
    for (unsigned i = 0; i < 8; i++)
        own[i] = one(CODE + *first * 0x1000, 160 + 16 * i);
    for (unsigned round = 0; round < 20000; round++) {
        struct table *t = &own[round % 8];
        jit_announce(t->bytes, t->bytes);
        jit_withdraw(t->bytes);
    }
    __atomic_add_fetch(&is_over, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

/* What is found while the generation stands still is of one piece. */
static void what_is_found_is_whole_whatever_others_do(void **state)
{
    (void)state;
    pthread_t threads[2];
    unsigned firsts[2] = {0, 1};
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, announcer, &firsts[i]), 0);
    for (uint64_t n = 0; __atomic_load_n(&is_over, __ATOMIC_SEQ_CST) < 2; n++) {
        struct cfi_section section;
        struct cfi_row row;
        uint64_t generation = __atomic_load_n(&module_generation, __ATOMIC_SEQ_CST);
        uint64_t pc = CODE + n % 2 * 0x1000 + 5;
        if (!jit_find(pc, &section))
            continue;
        enum cfi_status status = cfi_find_row(&section, pc, &row);
        if (__atomic_load_n(&module_generation, __ATOMIC_SEQ_CST) != generation)
            continue;
        assert_int_equal(status, CFI_OK);
        assert_int_equal(row.fde_start, pc - 5);
        assert_in_range(row.state.cfa.offset, 160, 160 + 7 * 16);
        assert_int_equal(cfi_slot_kind(row.state.slot[ARCH_SLOT_FP]), CFI_OFFSET);
        assert_int_equal(cfi_slot_value(row.state.slot[ARCH_SLOT_FP]), -row.state.cfa.offset);
    }
    for (unsigned i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(frame_size(CODE + 5), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(what_is_announced_is_found_until_it_is_withdrawn, set_up),
        cmocka_unit_test_setup(the_generation_advances_when_what_was_used_goes, set_up),
        cmocka_unit_test_setup(other_code_in_the_same_place_has_its_own, set_up),
        cmocka_unit_test_setup(sequences_and_lists_are_read_to_their_end, set_up),
        cmocka_unit_test_setup(what_says_nothing_of_the_frame_is_not_learnt, set_up),
        cmocka_unit_test_setup(what_a_module_knows_is_not_learnt, set_up),
        cmocka_unit_test_setup(in_a_sandbox_nothing_is_learnt, set_up),
        cmocka_unit_test_setup(distances_that_cannot_be_are_not_believed, set_up),
        cmocka_unit_test_setup(tables_that_are_cut_anywhere_do_no_harm, set_up),
        cmocka_unit_test_setup(bytes_that_make_no_sense_do_no_harm, set_up),
        cmocka_unit_test_setup(room_is_given_back, set_up),
        cmocka_unit_test_setup(code_of_any_length_is_found_everywhere, set_up),
        cmocka_unit_test_setup(what_is_found_is_whole_whatever_others_do, set_up),
        cmocka_unit_test_setup(more_than_there_is_room_for, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
