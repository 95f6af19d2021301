/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Rows, expressions, steps and rules from CFI made by hand.
 *
 * An image is .eh_frame_hdr and then .eh_frame with one CIE and one FDE, which the
 * program sees at BASE; the FDE covers [CODE, CODE + 0x100).
 */
#include "probe/unwind/cfi.h"

#include "probe/unwind/cfi_opcode.h"
#include "probe/unwind/rule.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BASE UINT64_C(0x7f0000400000)
#define CODE (BASE + 0x1000)
#define SIZE 0x100

struct bytes {
    uint8_t data[512];
    size_t length;
};

#define BYTES(...) \
    (&(struct bytes){.data = {__VA_ARGS__}, .length = sizeof((uint8_t[]){__VA_ARGS__}) / sizeof(uint8_t)})

/* How an image is to differ from the common one. */
struct shape {
    uint8_t version;             /* 1 */
    const char *letters;         /* "zR" */
    const struct bytes *data;    /* augmentation data of the CIE */
    uint8_t ra_column;           /* 16 */
    uint8_t encoding;            /* of the FDE's addresses */
    uint8_t table;               /* encoding of the search table */
    const struct bytes *initial; /* def_cfa rsp, 8; offset ra, -8 */
    const struct bytes *program; /* of the FDE */
    bool has_long_lengths, has_no_hdr;
};

struct image {
    struct bytes bytes;
    struct cfi_section section;
    uint8_t *exact; /* a copy with nothing readable after it */
};

static void put(struct bytes *b, uint64_t value, unsigned width)
{
    assert_true(b->length + width <= sizeof(b->data));
    for (unsigned i = 0; i < width; i++)
        b->data[b->length++] = (uint8_t)(value >> (8 * i));
}

static void put_bytes(struct bytes *b, const struct bytes *more)
{
    for (size_t i = 0; i < more->length; i++)
        put(b, more->data[i], 1);
}

static void put_at(struct bytes *b, size_t at, uint64_t value, unsigned width)
{
    size_t length = b->length;
    b->length = at;
    put(b, value, width);
    b->length = length;
}

static void put_pointer(struct bytes *b, uint64_t value, uint8_t encoding)
{
    unsigned width = (encoding & 7) == DW_EH_PE_udata2 ? 2 : (encoding & 7) == DW_EH_PE_udata4 ? 4 : 8;
    if ((encoding & DW_EH_PE_base) == DW_EH_PE_pcrel)
        value -= BASE + b->length;
    if ((encoding & DW_EH_PE_base) == DW_EH_PE_datarel)
        value -= BASE;
    put(b, value, width);
}

/* Begins a record; gives where its id is. */
static size_t record_begin(struct bytes *b, bool is_long)
{
    if (is_long)
        put(b, UINT32_MAX, 4);
    put(b, 0, is_long ? 8 : 4);
    return b->length;
}

static void record_end(struct bytes *b, size_t id, bool is_long)
{
    put_at(b, id - (is_long ? 8 : 4), b->length - id, is_long ? 8 : 4);
}

static void put_cie(struct bytes *b, const struct shape *s)
{
    size_t id = record_begin(b, s->has_long_lengths);
    put(b, 0, 4);
    put(b, s->version, 1);
    for (const char *letter = s->letters; *letter != '\0'; letter++)
        put(b, (uint8_t)*letter, 1);
    put(b, 0, 1);
    put(b, 1, 1);    /* code alignment 1 */
    put(b, 0x78, 1); /* data alignment -8 */
    put(b, s->ra_column, 1);
    if (s->letters[0] == 'z') {
        put(b, s->data->length, 1);
        put_bytes(b, s->data);
    }
    put_bytes(b, s->initial);
    record_end(b, id, s->has_long_lengths);
}

static void put_fde(struct bytes *b, const struct shape *s, size_t cie)
{
    size_t id = record_begin(b, s->has_long_lengths);
    put(b, id - cie, 4);
    put_pointer(b, CODE, s->encoding);
    put_pointer(b, SIZE, s->encoding & 7);
    if (s->letters[0] == 'z')
        put(b, 0, 1);
    put_bytes(b, s->program);
    record_end(b, id, s->has_long_lengths);
}

static void shape_complete(struct shape *s)
{
    s->version = s->version != 0 ? s->version : 1;
    s->letters = s->letters != NULL ? s->letters : "zR";
    s->encoding = s->encoding != 0 || s->data != NULL ? s->encoding : DW_EH_PE_pcrel | DW_EH_PE_sdata4;
    s->table = s->table != 0 ? s->table : DW_EH_PE_datarel | DW_EH_PE_sdata4;
    s->ra_column = s->ra_column != 0 ? s->ra_column : ARCH_COLUMN_RA;
}

static struct image image_make(struct shape s)
{
    struct image image = {.bytes.length = 0};
    struct bytes *b = &image.bytes;
    shape_complete(&s);
    const struct bytes *data = BYTES(s.encoding);
    const struct bytes *initial = BYTES(DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1);
    const struct bytes *program = BYTES(DW_CFA_nop);
    s.data = s.data != NULL ? s.data : data;
    s.initial = s.initial != NULL ? s.initial : initial;
    s.program = s.program != NULL ? s.program : program;
    put(b, 1, 1);
    put(b, DW_EH_PE_pcrel | DW_EH_PE_sdata4, 1);
    put(b, s.table == DW_EH_PE_omit ? DW_EH_PE_omit : DW_EH_PE_udata4, 1);
    put(b, s.table, 1);
    put(b, 0, 4);
    size_t fde_field = 0;
    if (s.table != DW_EH_PE_omit) {
        put(b, 2, 4);
        put_pointer(b, CODE, s.table);
        fde_field = b->length;
        put_pointer(b, 0, s.table);
        put_pointer(b, CODE + 2 * SIZE, s.table); /* somebody else's, whose FDE is not here */
        put_pointer(b, BASE, s.table);
    }
    size_t cie = b->length;
    put_at(b, 4, cie - 4, 4);
    put_cie(b, &s);
    size_t fde = b->length;
    put_fde(b, &s, cie);
    put(b, 0, 4);
    if (fde_field != 0) {
        size_t length = b->length;
        b->length = fde_field;
        put_pointer(b, BASE + fde, s.table);
        b->length = length;
    }
    image.exact = malloc(b->length);
    memcpy(image.exact, b->data, b->length);
    image.section = (struct cfi_section){
        .hdr = s.has_no_hdr ? NULL : image.exact,
        .hdr_size = s.has_no_hdr ? 0 : cie,
        .eh_frame = s.has_no_hdr ? image.exact + cie : NULL,
        .lo = image.exact,
        .hi = image.exact + b->length,
        .bias = (intptr_t)(BASE - (uint64_t)(uintptr_t)image.exact),
    };
    return image;
}

/* The row of this shape at CODE + offset. The image is left for the test's end. */
static enum cfi_status find(struct shape s, uint64_t offset, struct cfi_row *row)
{
    static uint8_t *last;
    struct image image = image_make(s);
    free(last);
    last = image.exact;
    return cfi_find_row(&image.section, CODE + offset, row);
}

#define FIND(row, offset, ...) \
    assert_int_equal(find((struct shape){.program = BYTES(__VA_ARGS__)}, (offset), (row)), CFI_OK)
#define REFUSE(status, ...)                                                                            \
    do {                                                                                               \
        struct cfi_row refused_;                                                                       \
        assert_int_equal(find((struct shape){.program = BYTES(__VA_ARGS__)}, 0, &refused_), (status)); \
    } while (0)

static void assert_slot(const struct cfi_row *row, unsigned slot, enum cfi_kind kind, int32_t value)
{
    assert_int_equal(cfi_slot_kind(row->state.slot[slot]), kind);
    assert_int_equal(cfi_slot_value(row->state.slot[slot]), value);
}

static void assert_cfa(const struct cfi_row *row, unsigned column, int32_t offset)
{
    assert_int_equal(row->state.cfa.kind, CFI_CFA_REGISTER);
    assert_int_equal(row->state.cfa.column, column);
    assert_int_equal(row->state.cfa.offset, offset);
}

static void assert_range(const struct cfi_row *row, uint64_t from, uint64_t to)
{
    assert_int_equal(row->start, CODE + from);
    assert_int_equal(row->end, CODE + to);
}

/* ------------------------------------------------------------ finding the FDE */

static void pc_is_found_in_its_range_and_nowhere_else(void **state)
{
    (void)state;
    struct cfi_row row;
    struct shape shape = {0};
    assert_int_equal(find(shape, 0, &row), CFI_OK);
    assert_int_equal(row.fde_start, CODE);
    assert_int_equal(row.fde_end, CODE + SIZE);
    assert_range(&row, 0, SIZE);
    assert_false(row.is_signal_frame);
    assert_int_equal(find(shape, SIZE - 1, &row), CFI_OK);
    assert_int_equal(find(shape, SIZE, &row), CFI_ABSENT);
    assert_int_equal(find(shape, UINT64_MAX, &row), CFI_ABSENT);
}

static void every_kind_of_table_is_searched(void **state)
{
    (void)state;
    static const uint8_t tables[] = {
        DW_EH_PE_datarel | DW_EH_PE_sdata4,
        DW_EH_PE_datarel | DW_EH_PE_udata4,
        DW_EH_PE_datarel | DW_EH_PE_sdata8,
        DW_EH_PE_pcrel | DW_EH_PE_sdata4,
        DW_EH_PE_pcrel | DW_EH_PE_sdata8,
        DW_EH_PE_udata8,
        DW_EH_PE_omit,
    };
    for (size_t i = 0; i < sizeof(tables); i++) {
        struct cfi_row row;
        struct shape shape = {.table = tables[i]};
        assert_int_equal(find(shape, 5, &row), CFI_OK);
        assert_cfa(&row, 7, 8);
        assert_int_equal(find(shape, SIZE, &row), CFI_ABSENT);
        assert_int_equal(find(shape, UINT64_MAX, &row), CFI_ABSENT);
        shape.has_no_hdr = true;
        assert_int_equal(find(shape, 5, &row), CFI_OK);
        assert_int_equal(find(shape, SIZE, &row), CFI_ABSENT);
    }
}

static void module_without_cfi_has_no_rows(void **state)
{
    (void)state;
    static const uint8_t bytes[16];
    struct cfi_section section = {.lo = bytes, .hi = bytes + sizeof(bytes)};
    struct cfi_row row;
    assert_int_equal(cfi_find_row(&section, CODE, &row), CFI_ABSENT);
}

static void every_encoding_of_addresses_is_read(void **state)
{
    (void)state;
    static const uint8_t encodings[] = {
        DW_EH_PE_pcrel | DW_EH_PE_sdata4,
        DW_EH_PE_pcrel | DW_EH_PE_udata4,
        DW_EH_PE_pcrel | DW_EH_PE_sdata8,
        DW_EH_PE_pcrel | DW_EH_PE_absptr,
        DW_EH_PE_udata8,
        DW_EH_PE_pcrel | DW_EH_PE_udata2,
    };
    for (size_t i = 0; i < sizeof(encodings); i++) {
        struct cfi_row row;
        assert_int_equal(find((struct shape){.encoding = encodings[i]}, 5, &row), CFI_OK);
        assert_int_equal(row.fde_end, CODE + SIZE);
    }
    struct cfi_row row;
    struct shape plain = {.letters = "", .encoding = DW_EH_PE_udata8};
    assert_int_equal(find(plain, 5, &row), CFI_OK);
    struct shape indirect = {.encoding = DW_EH_PE_indirect | DW_EH_PE_pcrel | DW_EH_PE_sdata4};
    assert_int_equal(find(indirect, 5, &row), CFI_UNSUPPORTED);
    struct shape data = {.encoding = DW_EH_PE_datarel | DW_EH_PE_sdata4};
    assert_int_equal(find(data, 5, &row), CFI_UNSUPPORTED);
}

static void records_with_long_lengths_are_read(void **state)
{
    (void)state;
    struct cfi_row row;
    assert_int_equal(find((struct shape){.has_long_lengths = true}, 5, &row), CFI_OK);
    assert_int_equal(find((struct shape){.has_long_lengths = true, .table = DW_EH_PE_omit}, 5, &row), CFI_OK);
}

static void augmentations_are_read_or_refused(void **state)
{
    (void)state;
    const uint8_t R = DW_EH_PE_pcrel | DW_EH_PE_sdata4;
    struct cfi_row row;
    struct shape s = {.encoding = R, .version = 3, .letters = "zPLR"};
    s.data = BYTES(0x9b, 1, 2, 3, 4, 0x1b, R); /* personality: indirect, pcrel, sdata4 */
    assert_int_equal(find(s, 5, &row), CFI_OK);
    s.letters = "zRS";
    s.data = BYTES(R);
    assert_int_equal(find(s, 5, &row), CFI_OK);
    assert_true(row.is_signal_frame);
    s.letters = "zRB?";
    s.data = BYTES(R, 1, 2, 3);
    assert_int_equal(find(s, 5, &row), CFI_OK);
    s.letters = "z?R";
    assert_int_equal(find(s, 5, &row), CFI_UNSUPPORTED);
    s.letters = "zLLLLLR";
    assert_int_equal(find(s, 5, &row), CFI_BAD);
    s.letters = "zPR";
    s.data = BYTES(0x50, 0, 0, 0, R); /* aligned */
    assert_int_equal(find(s, 5, &row), CFI_UNSUPPORTED);
    s.letters = "eh";
    assert_int_equal(find(s, 5, &row), CFI_UNSUPPORTED);
    assert_int_equal(find((struct shape){.version = 4}, 5, &row), CFI_UNSUPPORTED);
    assert_int_equal(find((struct shape){.ra_column = 15}, 5, &row), CFI_UNSUPPORTED);
}

static void bytes_cut_anywhere_give_a_status(void **state)
{
    (void)state;
    static const uint8_t tables[] = {DW_EH_PE_datarel | DW_EH_PE_sdata4, DW_EH_PE_omit};
    for (size_t i = 0; i < sizeof(tables); i++) {
        struct image image = image_make((struct shape){.table = tables[i]});
        size_t whole = image.bytes.length;
        for (size_t length = 0; length < whole - 4; length++) {
            uint8_t *cut = malloc(length + 1);
            struct cfi_section section = {.hdr = cut, .hdr_size = whole, .lo = cut, .hi = cut + length};
            struct cfi_row row;
            memcpy(cut, image.exact, length);
            section.bias = (intptr_t)(BASE - (uint64_t)(uintptr_t)cut);
            assert_int_equal(cfi_find_row(&section, CODE + 5, &row), CFI_BAD);
            free(cut);
        }
        free(image.exact);
    }
}

/* ---------------------------------------------------------- the instructions */

static void advances_of_all_widths_bound_the_row(void **state)
{
    (void)state;
    struct cfi_row row;
    const struct shape s = {
        .program = BYTES(DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16, DW_CFA_advance_loc1, 2,
                         DW_CFA_def_cfa_offset, 24, DW_CFA_advance_loc2, 4, 0, DW_CFA_def_cfa_offset, 32,
                         DW_CFA_advance_loc4, 8, 0, 0, 0, DW_CFA_def_cfa_offset, 40, DW_CFA_MIPS_advance_loc8,
                         16, 0, 0, 0, 0, 0, 0, 0, DW_CFA_def_cfa_offset, 48),
    };
    static const unsigned starts[] = {0, 1, 3, 7, 15, 31, SIZE};
    for (unsigned i = 0; i < 6; i++) {
        for (unsigned pc = starts[i]; pc < starts[i + 1]; pc++) {
            assert_int_equal(find(s, pc, &row), CFI_OK);
            assert_range(&row, starts[i], starts[i + 1]);
            assert_cfa(&row, 7, (int32_t)(8 + 8 * i));
        }
    }
    FIND(&row, 9, DW_CFA_advance_loc2, 0xff, 0xff, DW_CFA_def_cfa_offset, 16);
    assert_range(&row, 0, SIZE);
    FIND(&row, 9, DW_CFA_MIPS_advance_loc8, 255, 255, 255, 255, 255, 255, 255, 255);
    assert_range(&row, 0, SIZE);
}

static void set_loc_names_an_address_and_cannot_go_back(void **state)
{
    (void)state;
    struct cfi_row row;
    struct shape s = {.encoding = DW_EH_PE_udata8};
    struct bytes program = {.length = 0};
    put(&program, DW_CFA_set_loc, 1);
    put(&program, CODE + 0x20, 8);
    put(&program, DW_CFA_def_cfa_offset | 16 << 8, 2);
    s.program = &program;
    assert_int_equal(find(s, 0x1f, &row), CFI_OK);
    assert_range(&row, 0, 0x20);
    assert_int_equal(find(s, 0x20, &row), CFI_OK);
    assert_range(&row, 0x20, SIZE);
    assert_cfa(&row, 7, 16);
    put(&program, DW_CFA_set_loc, 1);
    put(&program, CODE + 0x10, 8);
    assert_int_equal(find(s, 0x30, &row), CFI_BAD);
}

static void each_register_instruction_sets_its_rule(void **state)
{
    (void)state;
    struct cfi_row row;
    FIND(&row, 0, DW_CFA_offset | 3, 2, DW_CFA_offset_extended, 6, 3, DW_CFA_offset_extended_sf, 12, 4,
         DW_CFA_GNU_negative_offset_extended, 13, 5, DW_CFA_val_offset, 14, 6, DW_CFA_val_offset_sf, 15,
         0x7f);
    assert_slot(&row, ARCH_SLOT_RBX, CFI_OFFSET, -16);
    assert_slot(&row, ARCH_SLOT_FP, CFI_OFFSET, -24);
    assert_slot(&row, ARCH_SLOT_R12, CFI_OFFSET, -32);
    assert_slot(&row, ARCH_SLOT_R13, CFI_OFFSET, 40);
    assert_slot(&row, ARCH_SLOT_R14, CFI_VAL_OFFSET, -48);
    assert_slot(&row, ARCH_SLOT_R15, CFI_VAL_OFFSET, 8);
    assert_slot(&row, ARCH_SLOT_SP, CFI_VAL_OFFSET, 0);
    assert_slot(&row, ARCH_SLOT_RA, CFI_OFFSET, -8);
    FIND(&row, 0, DW_CFA_undefined, 16, DW_CFA_register, 3, 11, DW_CFA_same_value, 7, DW_CFA_GNU_args_size,
         16, DW_CFA_expression, 6, 2, DW_OP_breg0 + 6, 0, DW_CFA_val_expression, 12, 1, DW_OP_lit0);
    assert_slot(&row, ARCH_SLOT_RA, CFI_UNDEFINED, 0);
    assert_slot(&row, ARCH_SLOT_RBX, CFI_REGISTER, 11);
    assert_slot(&row, ARCH_SLOT_SP, CFI_SAME, 0);
    assert_int_equal(cfi_slot_kind(row.state.slot[ARCH_SLOT_FP]), CFI_EXPRESSION);
    struct cfi_expr expr = cfi_row_expr(&row, cfi_slot_value(row.state.slot[ARCH_SLOT_FP]));
    assert_int_equal(expr.length, 2);
    assert_int_equal(expr.bytes[0], DW_OP_breg0 + 6);
    assert_int_equal(cfi_slot_kind(row.state.slot[ARCH_SLOT_R12]), CFI_VAL_EXPRESSION);
}

static void registers_that_calls_clobber_are_passed_over(void **state)
{
    (void)state;
    struct cfi_row row;
    FIND(&row, 0, DW_CFA_offset | 0, 2, DW_CFA_offset | 11, 2, DW_CFA_expression, 5, 1, DW_OP_lit0,
         DW_CFA_offset_extended, 0xff, 0xff, 3, 9, DW_CFA_undefined, 17, DW_CFA_restore | 1);
    for (unsigned slot = 0; slot < ARCH_SLOT_COUNT; slot++)
        if (slot != ARCH_SLOT_SP && slot != ARCH_SLOT_RA)
            assert_slot(&row, slot, CFI_SAME, 0);
}

static void restore_gives_back_what_the_cie_said(void **state)
{
    (void)state;
    struct cfi_row row;
    struct shape s = {.initial = BYTES(DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1, DW_CFA_offset | 3, 5)};
    s.program = BYTES(DW_CFA_offset | 3, 2, DW_CFA_offset | 6, 3, DW_CFA_undefined, 16, DW_CFA_restore | 3,
                      DW_CFA_restore | 6, DW_CFA_restore_extended, 16);
    assert_int_equal(find(s, 0, &row), CFI_OK);
    assert_slot(&row, ARCH_SLOT_RBX, CFI_OFFSET, -40);
    assert_slot(&row, ARCH_SLOT_FP, CFI_SAME, 0);
    assert_slot(&row, ARCH_SLOT_RA, CFI_OFFSET, -8);
}

static void states_nest_four_deep(void **state)
{
    (void)state;
    struct cfi_row row;
    FIND(&row, 0, DW_CFA_remember_state, DW_CFA_def_cfa_offset, 16, DW_CFA_remember_state, DW_CFA_offset | 3,
         2, DW_CFA_remember_state, DW_CFA_remember_state, DW_CFA_undefined, 16, DW_CFA_restore_state,
         DW_CFA_restore_state);
    assert_cfa(&row, 7, 16);
    assert_slot(&row, ARCH_SLOT_RBX, CFI_OFFSET, -16);
    assert_slot(&row, ARCH_SLOT_RA, CFI_OFFSET, -8);
    FIND(&row, 0, DW_CFA_remember_state, DW_CFA_def_cfa, 6, 16, DW_CFA_offset | 6, 2, DW_CFA_restore_state);
    assert_cfa(&row, 7, 8);
    assert_slot(&row, ARCH_SLOT_FP, CFI_SAME, 0);
    REFUSE(CFI_UNSUPPORTED, DW_CFA_remember_state, DW_CFA_remember_state, DW_CFA_remember_state,
           DW_CFA_remember_state, DW_CFA_remember_state);
    REFUSE(CFI_BAD, DW_CFA_restore_state);
}

static void cfa_instructions_define_it_whole_or_by_halves(void **state)
{
    (void)state;
    struct cfi_row row;
    FIND(&row, 0, DW_CFA_def_cfa_register, 6);
    assert_cfa(&row, 6, 8);
    FIND(&row, 0, DW_CFA_def_cfa_offset_sf, 0x7e);
    assert_cfa(&row, 7, 16);
    FIND(&row, 0, DW_CFA_def_cfa_sf, 10, 0x7f);
    assert_cfa(&row, 10, 8);
    FIND(&row, 0, DW_CFA_def_cfa_expression, 3, DW_OP_breg0 + 6, 0x78, DW_OP_deref);
    assert_int_equal(row.state.cfa.kind, CFI_CFA_EXPRESSION);
    assert_int_equal(cfi_row_expr(&row, row.state.cfa.expression).length, 3);
    FIND(&row, 0, DW_CFA_def_cfa_expression, 1, DW_OP_lit0, DW_CFA_def_cfa_offset, 24);
    assert_int_equal(row.state.cfa.kind, CFI_CFA_EXPRESSION);
    FIND(&row, 0, DW_CFA_def_cfa_expression, 1, DW_OP_lit0, DW_CFA_def_cfa_offset, 24,
         DW_CFA_def_cfa_register, 7);
    assert_cfa(&row, 7, 24);
}

static void instructions_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    struct cfi_row row;
    REFUSE(CFI_UNSUPPORTED, 0x3f);
    REFUSE(CFI_BAD, DW_CFA_def_cfa, 7);
    REFUSE(CFI_BAD, DW_CFA_def_cfa_expression, 5, DW_OP_lit0);
    REFUSE(CFI_BAD, DW_CFA_expression, 6, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1);
    REFUSE(CFI_UNSUPPORTED, DW_CFA_def_cfa_offset, 0xff, 0xff, 0xff, 0xff, 0x7f);
    REFUSE(CFI_UNSUPPORTED, DW_CFA_offset | 3, 0xff, 0xff, 0xff, 0xff, 0x7f);
    REFUSE(CFI_UNSUPPORTED, DW_CFA_def_cfa_register, 0xff, 0xff, 0x7f);
    assert_int_equal(find((struct shape){.initial = BYTES(DW_CFA_nop)}, 0, &row), CFI_BAD);
    assert_int_equal(find((struct shape){.initial = BYTES(DW_CFA_def_cfa_offset, 8)}, 0, &row), CFI_BAD);
    assert_int_equal(find((struct shape){.initial = BYTES(DW_CFA_advance_loc | 1)}, 0, &row), CFI_BAD);
    assert_int_equal(find((struct shape){.initial = BYTES(DW_CFA_restore | 3)}, 0, &row), CFI_BAD);
}

/* Past pc nothing is looked at, so that damage there does no harm. */
static void instructions_after_the_row_do_not_matter(void **state)
{
    (void)state;
    struct cfi_row row;
    FIND(&row, 3, DW_CFA_advance_loc | 4, 0x3f, DW_CFA_restore_state);
    assert_range(&row, 0, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pc_is_found_in_its_range_and_nowhere_else),
        cmocka_unit_test(every_kind_of_table_is_searched),
        cmocka_unit_test(module_without_cfi_has_no_rows),
        cmocka_unit_test(every_encoding_of_addresses_is_read),
        cmocka_unit_test(records_with_long_lengths_are_read),
        cmocka_unit_test(augmentations_are_read_or_refused),
        cmocka_unit_test(bytes_cut_anywhere_give_a_status),
        cmocka_unit_test(advances_of_all_widths_bound_the_row),
        cmocka_unit_test(set_loc_names_an_address_and_cannot_go_back),
        cmocka_unit_test(each_register_instruction_sets_its_rule),
        cmocka_unit_test(registers_that_calls_clobber_are_passed_over),
        cmocka_unit_test(restore_gives_back_what_the_cie_said),
        cmocka_unit_test(states_nest_four_deep),
        cmocka_unit_test(cfa_instructions_define_it_whole_or_by_halves),
        cmocka_unit_test(instructions_that_make_no_sense_are_refused),
        cmocka_unit_test(instructions_after_the_row_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
