/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * arch (x86-64): system calls without libc, the cycle counter, the registers.
 */
#ifndef HW_PROBE_ARCH_X86_64_H
#define HW_PROBE_ARCH_X86_64_H

#include "probe/unwind/cfi.h"

#include <cpuid.h>
#include <stdbool.h>
#include <stdint.h>

/* What an ELF file of this CPU says it is for (EM_X86_64). */
enum { ARCH_ELF_MACHINE = 62 };

/* Is this the relocation of a place that holds the address of a symbol, and nothing else?  (R_X86_64_64, GLOB_DAT and
 * JUMP_SLOT.) */
static inline bool arch_is_address(uint32_t relocation)
{
    return relocation == 1 || relocation == 6 || relocation == 7;
}

/* The kernel's own answer: a result, or -errno.  errno is not touched and no
 * cancellation point is passed. */
static inline long arch_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    long result;
    register long r10 __asm__("r10");
    register long r8 __asm__("r8");
    register long r9 __asm__("r9");
    r10 = d;
    r8 = e;
    r9 = f;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

static inline uint64_t arch_counter(void)
{
    return __builtin_ia32_rdtsc();
}

/* Does the counter run at one rate on all CPUs, asleep or awake?  (CPUID
 * 0x80000007, EDX bit 8.) */
static inline bool arch_counter_is_invariant(void)
{
    unsigned a, b, c, d = 0;
    return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & 1u << 8) != 0;
}

static inline void arch_pause(void)
{
    __builtin_ia32_pause();
}

/* One value a thread, without TLS relocations: usable before we are relocated. */
static inline uintptr_t arch_thread_pointer(void)
{
    uintptr_t self;
    __asm__("mov %%fs:0, %0" : "=r"(self));
    return self;
}

/* A word of the thread's own memory, by its distance from the thread pointer: without the GOT, which is not there
 * before we are relocated, in one instruction. */
static inline uint64_t arch_thread_word(intptr_t distance)
{
    uint64_t word;
    __asm__ volatile("movq %%fs:(%1), %0" : "=r"(word) : "r"(distance));
    return word;
}

static inline void arch_thread_set_word(intptr_t distance, uint64_t word)
{
    __asm__ volatile("movq %1, %%fs:(%0)" : : "r"(distance), "r"(word) : "memory");
}

/* The address of the caller's next instruction and its stack pointer, seen from
 * the frame address of a function that keeps a frame pointer. */
static inline uint64_t arch_return_address(const uint64_t *frame)
{
    return frame[1];
}

static inline uint64_t arch_caller_sp(const uint64_t *frame)
{
    return (uint64_t)(uintptr_t)(frame + 2);
}

static inline uint64_t arch_caller_fp(const uint64_t *frame)
{
    return frame[0];
}

/* All that can be followed from frame to frame, as it is right here. */
static inline __attribute__((always_inline)) void arch_registers(struct cfi_registers *r)
{
    __asm__ volatile("movq %%rbx, %0\n\t"
                     "movq %%rbp, %1\n\t"
                     "movq %%rsp, %2\n\t"
                     "movq %%r12, %3\n\t"
                     "movq %%r13, %4\n\t"
                     "movq %%r14, %5\n\t"
                     "movq %%r15, %6\n\t"
                     "leaq 0(%%rip), %%rax\n\t"
                     "movq %%rax, %7"
                     : "=m"(r->value[ARCH_SLOT_RBX]), "=m"(r->value[ARCH_SLOT_FP]),
                       "=m"(r->value[ARCH_SLOT_SP]), "=m"(r->value[ARCH_SLOT_R12]),
                       "=m"(r->value[ARCH_SLOT_R13]), "=m"(r->value[ARCH_SLOT_R14]),
                       "=m"(r->value[ARCH_SLOT_R15]), "=m"(r->value[ARCH_SLOT_RA])
                     :
                     : "rax");
    r->known = (1u << ARCH_SLOT_COUNT) - 1;
}

/* The function syscall(): shows SYS_prctl (157) and SYS_seccomp (317) to `note`, then
 * jumps to the real one with every register as it came; before that is known, asks
 * the kernel itself. */
/* clang-format off */
#define ARCH_SYSCALL_STUB(real, note)                                                              \
    __asm__(".pushsection .text\n"                                                                 \
            ".globl syscall\n"                                                                     \
            ".type syscall, @function\n"                                                           \
            "syscall:\n"                                                                           \
            ".cfi_startproc\n"                                                                     \
            "    endbr64\n"                                                                        \
            "    cmpl $317, %edi\n"                                                                \
            "    je 3f\n"                                                                          \
            "    cmpl $157, %edi\n"                                                                \
            "    je 3f\n"                                                                          \
            "1:  movq " #real "(%rip), %rax\n"                                                     \
            "    testq %rax, %rax\n"                                                               \
            "    jz 2f\n"                                                                          \
            "    jmp *%rax\n"                                                                      \
            "2:  movq %rdi, %rax\n"                                                                \
            "    movq %rsi, %rdi\n"                                                                \
            "    movq %rdx, %rsi\n"                                                                \
            "    movq %rcx, %rdx\n"                                                                \
            "    movq %r8, %r10\n"                                                                 \
            "    movq %r9, %r8\n"                                                                  \
            "    movq 8(%rsp), %r9\n"                                                              \
            "    syscall\n"                                                                        \
            "    ret\n"                                                                            \
            "3:\n"                                                                                 \
            ARCH_PUSH("%rdi") ARCH_PUSH("%rsi") ARCH_PUSH("%rdx") ARCH_PUSH("%rcx")                \
            ARCH_PUSH("%r8") ARCH_PUSH("%r9") ARCH_PUSH("%rax")                                    \
            "    call " #note "\n"                                                                 \
            ARCH_POP("%rax") ARCH_POP("%r9") ARCH_POP("%r8")                                       \
            ARCH_POP("%rcx") ARCH_POP("%rdx") ARCH_POP("%rsi") ARCH_POP("%rdi")                    \
            "    jmp 1b\n"                                                                         \
            ".cfi_endproc\n"                                                                       \
            ".size syscall, . - syscall\n"                                                         \
            ".popsection\n");

/* The function `name` of two arguments: jumps to where choose(first, second) says, so that it sees the caller as its own. */
#define ARCH_JUMP_STUB(name, choose)                                                               \
    __asm__(".pushsection .text\n"                                                                 \
            ".globl " #name "\n"                                                                   \
            ".type " #name ", @function\n"                                                         \
            #name ":\n"                                                                            \
            ".cfi_startproc\n"                                                                     \
            "    endbr64\n"                                                                        \
            ARCH_PUSH("%rdi") ARCH_PUSH("%rsi") ARCH_PUSH("%rax")                                  \
            "    call " #choose "\n"                                                               \
            ARCH_POP("%rsi") ARCH_POP("%rsi") ARCH_POP("%rdi")                                     \
            "    testq %rax, %rax\n"                                                               \
            "    jz 1f\n"                                                                          \
            "    jmp *%rax\n"                                                                      \
            "1:  ret\n"                                                                            \
            ".cfi_endproc\n"                                                                       \
            ".size " #name ", . - " #name "\n"                                                     \
            ".popsection\n");
/* clang-format on */
#define ARCH_PUSH(register) "pushq " register "\n.cfi_adjust_cfa_offset 8\n"
#define ARCH_POP(register) "popq " register "\n.cfi_adjust_cfa_offset -8\n"

#endif
