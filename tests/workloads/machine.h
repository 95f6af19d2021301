/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * machine: machine code made at run time, and unwind tables that tell the truth
 * about it.
 *
 *     f(callback, n):  callback(n, f's own return address)
 *
 * in one of several shapes of frame, each with a frame of a chosen size, so that the
 * same return addresses can mean frames of different sizes.
 */
#ifndef MACHINE_H
#define MACHINE_H

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#ifdef __cplusplus
extern "C" {
#endif
void __register_frame(void *begin);
void __deregister_frame(void *begin);
void __register_frame_info(const void *begin, void *object);
void *__deregister_frame_info(const void *begin);
void __register_frame_table(void *begin);
void __register_frame_info_bases(const void *begin, void *object, void *text, void *data);
void *__deregister_frame_info_bases(const void *begin);
void __register_frame_info_table(void *begin, void *object);
void __register_frame_info_table_bases(void *begin, void *object, void *text, void *data);
#ifdef __cplusplus
}
#endif

typedef void machine_callback(int n, uintptr_t caller);
typedef void machine_function(machine_callback *callback, int n);

enum machine_shape {
    MACHINE_SP,      /* the frame ends relative to SP; rbp holds no frame */
    MACHINE_FP,      /* relative to rbp */
    MACHINE_ALIGNED, /* relative to rbx, SP is aligned by 64 */
    MACHINE_TRAP,    /* as MACHINE_SP, and stops at an int3 instead of calling */
    MACHINE_SHAPES,
};

struct machine {
    uint8_t *at;
    unsigned length;
};

static inline void machine_put(struct machine *m, const void *bytes, unsigned length)
{
    memcpy(m->at + m->length, bytes, length);
    m->length += length;
}

#define MACHINE(m, ...)                        \
    do {                                       \
        const uint8_t these[] = {__VA_ARGS__}; \
        machine_put((m), these, sizeof these); \
    } while (0)

static inline void machine_u32(struct machine *m, uint32_t value)
{
    machine_put(m, &value, sizeof value);
}

/* With the callback in rdi and n in esi: callback(n, the word at rsp + depth). */
static inline void machine_call(struct machine *m, uint32_t depth)
{
    MACHINE(m, 0x48, 0x89, 0xf8);       /* mov %rdi, %rax */
    MACHINE(m, 0x89, 0xf7);             /* mov %esi, %edi */
    MACHINE(m, 0x48, 0x8b, 0xb4, 0x24); /* mov depth(%rsp), %rsi */
    machine_u32(m, depth);
    MACHINE(m, 0xff, 0xd0); /* call *%rax */
}

/* Writes the code; size is that of its frame, a multiple of 16. Gives its length. */
static inline unsigned machine_make(uint8_t *at, enum machine_shape shape, uint32_t size)
{
    struct machine m = {at, 0};
    switch (shape) {
    case MACHINE_SP:
    case MACHINE_TRAP:
        MACHINE(&m, 0x55, 0x53, 0x48, 0x81, 0xec); /* push %rbp; push %rbx; sub size + 8, %rsp */
        machine_u32(&m, size + 8);
        MACHINE(&m, 0x48, 0xc7, 0xc5, 0x67, 0x45, 0x23, 0x01); /* mov $0x1234567, %rbp */
        if (shape == MACHINE_TRAP)
            MACHINE(&m, 0xcc);
        else
            machine_call(&m, size + 24);
        MACHINE(&m, 0x48, 0x81, 0xc4); /* add size + 8, %rsp */
        machine_u32(&m, size + 8);
        MACHINE(&m, 0x5b, 0x5d, 0xc3); /* pop %rbx; pop %rbp; ret */
        break;
    case MACHINE_FP:
        MACHINE(&m, 0x55, 0x48, 0x89, 0xe5, 0x48, 0x81, 0xec); /* push %rbp; mov %rsp, %rbp; sub size, %rsp */
        machine_u32(&m, size);
        machine_call(&m, size + 8);
        MACHINE(&m, 0xc9, 0xc3); /* leave; ret */
        break;
    default:
        MACHINE(&m, 0x53, 0x48, 0x89, 0xe3, 0x48, 0x81, 0xec); /* push %rbx; mov %rsp, %rbx; sub size, %rsp */
        machine_u32(&m, size);
        MACHINE(&m, 0x48, 0x8b, 0x43, 0x08); /* mov 8(%rbx), %rax */
        MACHINE(&m, 0x48, 0x83, 0xe4, 0xc0); /* and $-64, %rsp */
        MACHINE(&m, 0x48, 0x83, 0xec, 0x40); /* sub $64, %rsp */
        MACHINE(&m, 0x48, 0x89, 0x04, 0x24); /* mov %rax, (%rsp) */
        machine_call(&m, 0);
        MACHINE(&m, 0x48, 0x89, 0xdc, 0x5b, 0xc3); /* mov %rbx, %rsp; pop %rbx; ret */
    }
    return m.length;
}

static inline void machine_uleb(struct machine *m, uint32_t value)
{
    do {
        MACHINE(m, (uint8_t)((value & 0x7f) | (value > 0x7f ? 0x80 : 0)));
        value >>= 7;
    } while (value != 0);
}

static inline void machine_instructions(struct machine *m, enum machine_shape shape, uint32_t size)
{
    switch (shape) {
    case MACHINE_SP:
    case MACHINE_TRAP:
        MACHINE(m, 0x41, 0x0e, 16, 0x86, 2, 0x41, 0x0e, 24, 0x83, 3, 0x47, 0x0e);
        machine_uleb(m, size + 32); /* def_cfa_offset */
        break;
    case MACHINE_FP:
        MACHINE(m, 0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6); /* def_cfa_register rbp */
        break;
    default:
        MACHINE(m, 0x41, 0x0e, 16, 0x83, 2, 0x43, 0x0d, 3); /* def_cfa_register rbx */
    }
}

/* Ends the record that begins at `start`. */
static inline void machine_close(struct machine *m, unsigned start)
{
    while ((m->length - start) % 8 != 4)
        MACHINE(m, 0); /* nop */
    uint32_t length = m->length - start - 4;
    memcpy(m->at + start, &length, sizeof length);
}

/* A CIE with pc-relative addresses; gives where it begins. */
static inline unsigned machine_cie(struct machine *m)
{
    unsigned start = m->length;
    machine_u32(m, 0);
    machine_u32(m, 0);
    MACHINE(m, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b); /* pcrel | sdata4 */
    MACHINE(m, 0x0c, 7, 8, 0x90, 1);                  /* CFA = rsp + 8, return address at CFA - 8 */
    machine_close(m, start);
    return start;
}

static inline void machine_fde(struct machine *m, unsigned cie, const uint8_t *code, unsigned length,
                               enum machine_shape shape, uint32_t size)
{
    unsigned start = m->length;
    machine_u32(m, 0);
    machine_u32(m, m->length - cie);
    machine_u32(m, (uint32_t)(code - (m->at + m->length)));
    machine_u32(m, length);
    MACHINE(m, 0);
    machine_instructions(m, shape, size);
    machine_close(m, start);
}

/* The unwind tables of one function, terminated. */
static inline void machine_describe(uint8_t *at, const uint8_t *code, unsigned length,
                                    enum machine_shape shape, uint32_t size)
{
    struct machine m = {at, 0};
    machine_fde(&m, machine_cie(&m), code, length, shape, size);
    machine_u32(&m, 0);
}

/* Pages for code in their first half and for tables in the second. */
static inline uint8_t *machine_pages(unsigned pages)
{
    void *at = mmap(NULL, (size_t)pages * 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return at == MAP_FAILED ? NULL : (uint8_t *)at;
}

#endif
