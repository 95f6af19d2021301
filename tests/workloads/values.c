/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * values: what functions hold in registers and return is what it was, whichever of
 * the hooked functions they call in between: integers in two registers, structures in
 * registers of both kinds, floating point in SSE, x87 and vector registers; and the
 * modes of both floating point units. Prints how many calls it made, or which one
 * changed what.
 *
 * build: -O2 -rdynamic -frounding-math -Wno-psabi
 */
#include "truth.h"

#include <complex.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define APART __attribute__((noinline, noclone))

typedef double vector2 __attribute__((vector_size(16)));
typedef float vector8 __attribute__((vector_size(32)));
typedef unsigned __int128 wide;

struct pair {
    long first;
    long second;
};
struct mixed {
    double first;
    long second;
};

/* ------------------------------------------------------------- hooked functions */

static void do_malloc(void)
{
    free(truth_keep(malloc(100)));
}

static void do_calloc(void)
{
    free(truth_keep(calloc(3, 100)));
}

static void do_realloc(void)
{
    void *block = truth_keep(realloc(NULL, 10));
    block = truth_keep(realloc(block, 100000));
    block = truth_keep(reallocarray(block, 10, 10));
    free(block);
}

static void do_aligned(void)
{
    void *block = NULL;
    free(truth_keep(memalign(64, 100)));
    free(truth_keep(aligned_alloc(64, 128)));
    free(truth_keep(valloc(10)));
    free(truth_keep(pvalloc(10)));
    if (posix_memalign(&block, 64, 100) == 0)
        free(truth_keep(block));
}

static void do_size(void)
{
    void *block = truth_keep(malloc(30));
    if (malloc_usable_size(block) < 30)
        _exit(96);
    free(block);
}

static void do_map(void)
{
    void *at = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    at = mremap(at, 8192, 16384, MREMAP_MAYMOVE);
    munmap(at, 16384);
    truth_keep(sbrk(0));
}

static void do_thread(void)
{
    pthread_setname_np(pthread_self(), "values");
    prctl(PR_SET_NAME, "values");
    syscall(SYS_getppid);
}

static void do_signal(void)
{
    struct sigaction action = {.sa_handler = SIG_IGN};
    sigaction(SIGUSR2, &action, NULL);
    signal(SIGUSR2, SIG_DFL);
}

static void do_library(void)
{
    void *handle = dlopen("libm.so.6", RTLD_NOW);
    if (handle == NULL || dlclose(handle) != 0)
        _exit(95);
}

static void do_fork(void)
{
    pid_t child = fork();
    if (child == 0) {
        free(truth_keep(malloc(50)));
        _exit(0);
    }
    int status = 1;
    if (waitpid(child, &status, 0) != child || status != 0)
        _exit(94);
}

static const struct {
    const char *name;
    void (*call)(void);
    int rounds;
} hooks[] = {{"malloc", do_malloc, 50},    {"calloc", do_calloc, 50},           {"realloc", do_realloc, 50},
             {"memalign", do_aligned, 50}, {"malloc_usable_size", do_size, 50}, {"mmap", do_map, 20},
             {"prctl", do_thread, 20},     {"sigaction", do_signal, 20},        {"dlclose", do_library, 5},
             {"fork", do_fork, 2}};

/* -------------------------------------------------------------- values in flight */

/* Each holds a value while the hook runs and returns it. */
#define HOLDER(name, type)                                         \
    APART static type hold_##name(void (*call)(void), type value)  \
    {                                                              \
        call();                                                    \
        return value;                                              \
    }                                                              \
    APART static type relay_##name(void (*call)(void), type value) \
    {                                                              \
        type result = hold_##name(call, value);                    \
        call();                                                    \
        return result;                                             \
    }

HOLDER(wide, wide)
HOLDER(pair, struct pair)
HOLDER(mixed, struct mixed)
HOLDER(double, double)
HOLDER(extended, long double)
HOLDER(complex, double complex)
HOLDER(vector2, vector2)
HOLDER(vector8, vector8)

static int wrong(const char *name, const char *what)
{
    truth_add("{\"hook\": \"%s\", \"changed\": \"%s\"}\n", name, what);
    truth_tell(1);
    return 1;
}

static int integers(const char *name, void (*call)(void), unsigned long seed)
{
    wide w = (wide)seed << 64 | ~seed;
    struct pair p = {(long)seed, (long)(seed * 3)};
    wide w2 = relay_wide(call, w);
    struct pair p2 = relay_pair(call, p);
    if (w2 != w)
        return wrong(name, "an integer of 128 bits");
    return p2.first != p.first || p2.second != p.second ? wrong(name, "a structure in two registers") : 0;
}

static int floats(const char *name, void (*call)(void), double seed)
{
    struct mixed m = relay_mixed(call, (struct mixed){seed, 77});
    if (m.first != seed || m.second != 77)
        return wrong(name, "a structure in registers of both kinds");
    if (relay_double(call, seed) != seed)
        return wrong(name, "a double");
    long double e = (long double)seed + 0x1p-62L;
    if (relay_extended(call, e) != e)
        return wrong(name, "a long double");
    double complex c = relay_complex(call, seed + 2.5 * I);
    return creal(c) != seed || cimag(c) != 2.5 ? wrong(name, "a complex number") : 0;
}

static int vectors(const char *name, void (*call)(void), double seed)
{
    vector2 v = {seed, -seed}, v2 = relay_vector2(call, v);
    if (memcmp(&v, &v2, sizeof v) != 0)
        return wrong(name, "a vector of two doubles");
    vector8 f = {1, 2, 3, 4, 5, 6, 7, (float)seed}, f2 = relay_vector8(call, f);
    return memcmp(&f, &f2, sizeof f) != 0 ? wrong(name, "a vector of eight floats") : 0;
}

/* Callee-saved registers, straight: the compiler may not have had any in use. Calls with a
 * pattern in each and tells what they hold afterwards. */
void call_with_patterns(void (*call)(void), uint64_t seen[5]);
__asm__(".text\n"
        ".type call_with_patterns, @function\n"
        "call_with_patterns:\n"
        ".cfi_startproc\n"
        "push %rbp\n"
        ".cfi_def_cfa_offset 16\n"
        ".cfi_offset rbp, -16\n"
        "mov %rsp, %rbp\n"
        ".cfi_def_cfa_register rbp\n"
        "push %rbx\n"
        "push %r12\n"
        "push %r13\n"
        "push %r14\n"
        "push %r15\n"
        "push %rsi\n"
        ".cfi_offset rbx, -24\n"
        ".cfi_offset r12, -32\n"
        ".cfi_offset r13, -40\n"
        ".cfi_offset r14, -48\n"
        ".cfi_offset r15, -56\n"
        "mov $0x1111, %ebx\n"
        "mov $0x2222, %r12d\n"
        "mov $0x3333, %r13d\n"
        "mov $0x4444, %r14d\n"
        "mov $0x5555, %r15d\n"
        "call *%rdi\n"
        "pop %rax\n"
        "mov %rbx, (%rax)\n"
        "mov %r12, 8(%rax)\n"
        "mov %r13, 16(%rax)\n"
        "mov %r14, 24(%rax)\n"
        "mov %r15, 32(%rax)\n"
        "pop %r15\n"
        "pop %r14\n"
        "pop %r13\n"
        "pop %r12\n"
        "pop %rbx\n"
        "pop %rbp\n"
        ".cfi_def_cfa rsp, 8\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size call_with_patterns, . - call_with_patterns\n");

static int registers(const char *name, void (*call)(void))
{
    uint64_t seen[5];
    call_with_patterns(call, seen);
    for (unsigned i = 0; i < 5; i++) {
        if (seen[i] != 0x1111 * (i + 1))
            return wrong(name, "a register that callees preserve");
    }
    return 0;
}

/* Rounding up, with precision and masks that nobody else has. */
static int modes(const char *name, void (*call)(void))
{
    uint32_t mxcsr, mxcsr_set = 0x1f80 | 0x4000 | 0x8000, mxcsr_seen;
    uint16_t control, control_set = 0x0b7f, control_seen;
    __asm__ volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(mxcsr), "=m"(control));
    __asm__ volatile("ldmxcsr %0\n\tfldcw %1" : : "m"(mxcsr_set), "m"(control_set));
    call();
    __asm__ volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(mxcsr_seen), "=m"(control_seen));
    __asm__ volatile("ldmxcsr %0\n\tfldcw %1" : : "m"(mxcsr), "m"(control));
    return (mxcsr_seen & ~0x3fu) != mxcsr_set || control_seen != control_set
               ? wrong(name, "a mode of floating point")
               : 0;
}

int main(void)
{
    unsigned calls = 0;
    for (unsigned i = 0; i < sizeof hooks / sizeof *hooks; i++) {
        for (int round = 0; round < hooks[i].rounds; round++, calls++) {
            unsigned long seed = 0x9e3779b97f4a7c15ul * (calls + 1);
            double number = 1.0 / 3 + calls;
            if (integers(hooks[i].name, hooks[i].call, seed) != 0 ||
                floats(hooks[i].name, hooks[i].call, number) != 0 ||
                vectors(hooks[i].name, hooks[i].call, number) != 0 ||
                modes(hooks[i].name, hooks[i].call) != 0 || registers(hooks[i].name, hooks[i].call) != 0)
                return 1;
        }
    }
    truth_add("{\"calls\": %u}\n", calls);
    truth_tell(1);
    return 0;
}
