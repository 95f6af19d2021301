/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * step CASE: it is stopped after each instruction of what is hard to walk, and
 * its handler allocates there: in stubs and trampolines, in returns; or it plays the
 * CPU that watches where calls return to and jumps arrive.
 *
 * The CPU's own single step (the trap flag) is used, so it is in no wise a
 * matter of chance which instructions are met.
 *
 * build: -fcf-protection=full -Wl,-z,lazy -Wl,-z,ibt -Wl,-z,shstk
 */
#include "hostile.h"

#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>

enum { PAGE = 4096, SPARE = 65536 };

/* From the next instruction of the caller on, and until there. */
void steps_on(void);
void steps_off(void);
__asm__(".text\n"
        ".type steps_on, @function\n"
        "steps_on:\n .cfi_startproc\n endbr64\n pushfq\n .cfi_adjust_cfa_offset 8\n orl $0x100, (%rsp)\n"
        " popfq\n .cfi_adjust_cfa_offset -8\n ret\n .cfi_endproc\n"
        ".type steps_off, @function\n"
        "steps_off:\n .cfi_startproc\n endbr64\n pushfq\n .cfi_adjust_cfa_offset 8\n andl $~0x100, (%rsp)\n"
        " popfq\n .cfi_adjust_cfa_offset -8\n ret\n .cfi_endproc\n");

static long steps, stride = 1;
static char spare[SPARE];

static void on_step(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    (void)context;
    if (steps++ % stride == 0)
        drop(make(10111), 10111);
}

static void handle_steps(void (*handler)(int, siginfo_t *, void *), int flags)
{
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | flags};
    sigaltstack(&(stack_t){.ss_sp = spare, .ss_size = sizeof spare}, NULL);
    if (sigaction(SIGTRAP, &action, NULL) != 0)
        _exit(97);
}

/* ---------------------------------------------------- stubs and trampolines */

static int seven(void)
{
    return 7;
}

static volatile int resolved;

/* What decides which function is called is called by the loader, in the middle of a first call. */
static int (*resolve_chosen(void))(void)
{
    resolved = resolved + 1;
    return seven;
}

int chosen(void) __attribute__((ifunc("resolve_chosen")));

/* From here to where it was: over the end of a handler. */
static void on_urgent(int number)
{
    (void)number;
    steps_on();
}

/* Calls by way of the PLT, the first of each through the loader; some into the vDSO. */
static NOINLINE void call_chosen(void)
{
    expect(chosen() == 7, "another function was chosen");
}

static NOINLINE void call_clock(void)
{
    struct timespec now;
    expect(clock_gettime(CLOCK_MONOTONIC, &now) == 0, "clock_gettime");
}

static NOINLINE void call_day(void)
{
    struct timeval day;
    expect(gettimeofday(&day, NULL) == 0, "gettimeofday");
}

static NOINLINE void call_cpu(void)
{
    unsigned cpu;
    expect(getcpu(&cpu, NULL) == 0, "getcpu");
}

static NOINLINE void call_text(void)
{
    char text[40];
    expect(strlen(strcpy(text, (char *)truth_keep("some words"))) == 10, "strlen");
}

static void (*const called[])(void) = {call_chosen, call_clock, call_day, call_cpu, call_text};
enum { CALLED = sizeof called / sizeof *called };

static NOINLINE void stepped(void (*function)(void))
{
    steps_on();
    function();
    steps_off();
}

static void stubs(int flags)
{
    handle_steps(on_step, flags);
    signal(SIGURG, on_urgent);
    stride = 7; /* the loader's search for a name is long */
    steps = getpid() % stride;
    stepped(called[getpid() % CALLED]);
    stride = 1;
    for (int i = 0; i < CALLED; i++) {
        called[i](); /* now the name is bound */
        stepped(called[i]);
    }
    raise(SIGURG);
    steps_off();
    expect(resolved > 0 && steps > 100, "nothing was stepped through");
}

static void stubs_here(void)
{
    stubs(0);
}

static void stubs_elsewhere(void)
{
    stubs(SA_ONSTACK);
}

/* ------------------------------------------------------------------ returns */

/* What compilers make: nobody says of a register that has been popped where it is now, so by the
 * table it is still where the stack no longer reaches. The red zone is written below the stack. */
long pops(long n);
long leaves(long n);
long red_zone(long n);
long jumps_away(long n);
void call_on(void *top, long (*target)(long), long n);
__asm__(
    ".text\n"
    ".type pops, @function\n"
    "pops:\n .cfi_startproc\n endbr64\n push %rbp\n .cfi_adjust_cfa_offset 8\n .cfi_rel_offset %rbp, 0\n"
    " push %rbx\n .cfi_adjust_cfa_offset 8\n .cfi_rel_offset %rbx, 0\n"
    " mov %rdi, %rbx\n lea 1(%rbx), %rax\n xor %ebp, %ebp\n"
    " pop %rbx\n .cfi_adjust_cfa_offset -8\n pop %rbp\n .cfi_adjust_cfa_offset -8\n ret\n .cfi_endproc\n"
    ".type leaves, @function\n"
    "leaves:\n .cfi_startproc\n endbr64\n push %rbp\n .cfi_adjust_cfa_offset 8\n .cfi_rel_offset %rbp, 0\n"
    " mov %rsp, %rbp\n .cfi_def_cfa_register %rbp\n sub $512, %rsp\n lea 1(%rdi), %rax\n"
    " leave\n .cfi_def_cfa %rsp, 8\n ret\n .cfi_endproc\n"
    ".type red_zone, @function\n"
    "red_zone:\n .cfi_startproc\n endbr64\n mov %rdi, -8(%rsp)\n mov %rdi, -64(%rsp)\n mov %rdi, -128(%rsp)\n"
    " nop\n nop\n mov -8(%rsp), %rax\n sub -64(%rsp), %rax\n add -128(%rsp), %rax\n inc %rax\n ret\n"
    " .cfi_endproc\n"
    ".type jumps_away, @function\n"
    "jumps_away:\n .cfi_startproc\n endbr64\n push %rbx\n .cfi_adjust_cfa_offset 8\n .cfi_rel_offset %rbx, "
    "0\n"
    " mov %rdi, %rbx\n pop %rbx\n .cfi_adjust_cfa_offset -8\n jmp pops\n .cfi_endproc\n"
    ".type call_on, @function\n"
    "call_on:\n .cfi_startproc\n endbr64\n push %rbp\n .cfi_adjust_cfa_offset 8\n .cfi_rel_offset %rbp, 0\n"
    " mov %rsp, %rbp\n .cfi_def_cfa_register %rbp\n mov %rdi, %rsp\n mov %rdx, %rdi\n call *%rsi\n"
    " mov %rbp, %rsp\n pop %rbp\n .cfi_def_cfa %rsp, 8\n ret\n .cfi_endproc\n");

static long (*const returning[])(long) = {pops, leaves, red_zone, jumps_away};
enum { RETURNING = sizeof returning / sizeof *returning };

static NOINLINE void step_through(long (*target)(long), long n)
{
    steps_on();
    long got = target(n);
    steps_off();
    expect(got == n + 1, "a register or the red zone was changed");
}

static void returns_here(void)
{
    for (int way = 0; way < 2; way++) {
        handle_steps(on_step, way == 0 ? 0 : SA_ONSTACK);
        for (long i = 0; i < 5 * RETURNING; i++)
            step_through(returning[i % RETURNING], i);
    }
    expect(steps > 400, "nothing was stepped through");
}

/* On a stack of two pages, so that the stack pointer passes the edge between them: what is below it
 * is another page, which is taken away while nothing of the program is there. */
static char *pages;
static long edges;

static void on_edge(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    const ucontext_t *c = context;
    uintptr_t sp = (uintptr_t)c->uc_mcontext.gregs[REG_RSP];
    steps++;
    if (sp == (uintptr_t)pages + PAGE || sp == (uintptr_t)pages + PAGE + 8) {
        mprotect(pages, PAGE, PROT_NONE);
        drop(make(10133), 10133);
        mprotect(pages, PAGE, PROT_READ | PROT_WRITE);
        edges++;
    } else {
        drop(make(10139), 10139);
    }
}

static NOINLINE void step_on(char *top, long (*target)(long), long n)
{
    steps_on();
    call_on(top, target, n);
    steps_off();
}

static void returns_at_an_edge(void)
{
    static long (*const careful[])(long) = {pops, leaves, jumps_away}; /* none that uses the red zone */
    handle_steps(on_edge, SA_ONSTACK);
    pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (long i = 0; i < 12; i++)
        step_on(pages + PAGE + 8 * (1 + i % 4), careful[i % 3], i);
    expect(edges > 20, "the stack pointer did not pass the edge");
}

/* ------------------------------------------------------------- a watchful CPU */

/* Shadow stack and indirect branch tracking, as the CPU would do it, over the instructions from here on: a
 * call notes where it returns to, a return must go there; an indirect jump into code that says that it
 * takes part must arrive at endbr64. */
enum { SHADOW_MAX = 512 };
static uintptr_t shadow[SHADOW_MAX];
static unsigned shadow_depth;
static long calls, arrivals;
static int was_call, was_indirect;
static struct {
    uintptr_t low, high;
} marked[4];
static unsigned marked_count;

struct instruction {
    int is_call, is_return, is_indirect;
};

static struct instruction look_at(const unsigned char *code)
{
    struct instruction i = {0};
    int is_tracked = 1;
    for (;; code++) {
        is_tracked &= *code != 0x3e; /* notrack */
        if (*code != 0x3e && *code != 0xf2 && *code != 0xf3 && *code != 0x66 && (*code & 0xf0) != 0x40)
            break;
    }
    unsigned form = code[1] >> 3 & 7;
    i.is_return = *code == 0xc3 || *code == 0xc2;
    i.is_call = *code == 0xe8 || (*code == 0xff && form == 2);
    i.is_indirect = *code == 0xff && (form == 2 || form == 4) && is_tracked;
    return i;
}

static int is_marked(uintptr_t address)
{
    for (unsigned i = 0; i < marked_count; i++)
        if (address >= marked[i].low && address < marked[i].high)
            return 1;
    return 0;
}

static void watch(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    const greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    const uintptr_t *sp = (const uintptr_t *)(uintptr_t)registers[REG_RSP];
    uintptr_t pc = (uintptr_t)registers[REG_RIP];
    steps++;
    if (was_call && shadow_depth < SHADOW_MAX) {
        shadow[shadow_depth++] = *sp;
        calls++;
    }
    if (was_indirect && is_marked(pc)) {
        expect(memcmp((const void *)pc, "\xf3\x0f\x1e\xfa", 4) == 0, "a jump arrives where none may");
        arrivals++;
    }
    struct instruction next = look_at((const unsigned char *)pc);
    if (next.is_return && shadow_depth > 0)
        expect(shadow[--shadow_depth] == *sp, "a return address was changed");
    was_call = next.is_call;
    was_indirect = next.is_indirect;
}

static unsigned features_of(const struct dl_phdr_info *o)
{
    for (unsigned i = 0; i < o->dlpi_phnum; i++) {
        if (o->dlpi_phdr[i].p_type != PT_GNU_PROPERTY)
            continue;
        const uint32_t *note = (const uint32_t *)(o->dlpi_addr + o->dlpi_phdr[i].p_vaddr);
        for (unsigned at = 4; at + 2 < 4 + note[1] / 4; at += 2 + (note[at + 1] + 7) / 8 * 2)
            if (note[at] == GNU_PROPERTY_X86_FEATURE_1_AND)
                return note[at + 2];
    }
    return 0;
}

/* One library without the marks, and the loader gives both up for the whole process. */
static int look_at_marks(struct dl_phdr_info *o, size_t size, void *argument)
{
    static const char *const system[] = {"libc.so", "ld-linux", "vdso"};
    (void)size;
    (void)argument;
    for (unsigned i = 0; i < sizeof system / sizeof *system; i++)
        if (strstr(o->dlpi_name, system[i]) != NULL)
            return 0;
    unsigned both = GNU_PROPERTY_X86_FEATURE_1_IBT | GNU_PROPERTY_X86_FEATURE_1_SHSTK;
    expect((features_of(o) & both) == both, "a library came along that takes no part");
    for (unsigned i = 0; i < o->dlpi_phnum && marked_count < 4; i++) {
        if (o->dlpi_phdr[i].p_type == PT_LOAD && (o->dlpi_phdr[i].p_flags & PF_X) != 0) {
            marked[marked_count].low = o->dlpi_addr + o->dlpi_phdr[i].p_vaddr;
            marked[marked_count].high = marked[marked_count].low + o->dlpi_phdr[i].p_memsz;
            marked_count++;
        }
    }
    return 0;
}

/* The same calls from the same places, twice unwatched before they are watched; or a first one. */
static NOINLINE void allocate_watched(int rounds)
{
    for (int i = 1; i <= rounds; i++) {
        shadow_depth = 0;
        was_call = was_indirect = 0;
        if (i == rounds)
            steps_on();
        unsigned char *block = truth_keep(malloc(1709));
        unsigned char *other = truth_keep(calloc(1, 1721));
        block = truth_keep(realloc(block, 1747));
        free(other);
        steps_off();
        block[0] = block[1746] = (unsigned char)(1747 * 7);
        count_made(1747);
        drop(block, 1747);
        count_made(1709);
        count_freed(1709);
        count_made(1721);
        count_freed(1721);
    }
}

static NOINLINE void *first_of_thread(void *argument)
{
    char own[SPARE];
    sigaltstack(&(stack_t){.ss_sp = own, .ss_size = sizeof own}, NULL);
    steps_on();
    void *block = truth_keep(malloc(1753));
    steps_off();
    count_made(1753);
    free(block);
    count_freed(1753);
    return argument;
}

static void watched(void)
{
    pthread_t thread;
    dl_iterate_phdr(look_at_marks, NULL);
    handle_steps(watch, SA_ONSTACK);
    allocate_watched(3);
    if (getpid() % 8 == 0) { /* the first call of a thread takes long to step through */
        pthread_create(&thread, NULL, first_of_thread, NULL);
        pthread_join(thread, NULL);
    }
    expect(calls >= 5, "nothing was watched");
}

HOSTILE_CASES({"stubs_here", stubs_here}, {"stubs_elsewhere", stubs_elsewhere},
              {"returns_here", returns_here}, {"returns_at_an_edge", returns_at_an_edge},
              {"watched", watched})
