/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * libwitness: preloaded in front of libheapwake.so, walks the stacks of the same
 * allocations with libunwind, step by step, and writes them down (witness.h).
 *
 *     program -> malloc here -> malloc of libheapwake.so -> the real one
 *                            -> libunwind -> WITNESS_FILE
 *
 *     WITNESS_FILE    written by the first process that has it; made new, or nothing is done
 *     WITNESS_EVERY   of so many allocations one is watched (1)
 *     WITNESS_COUNT   after so many records the rest only passes (100000)
 *
 * libunwind.so defines the _Unwind_ functions of libgcc_s as well. It is opened with a
 * scope of its own, so that the exceptions of the program go the way they always go.
 * It is opened before any other constructor runs (initfirst): constructors of
 * libraries, whose stacks end in the loader, are watched too.
 *
 * build: -fPIC -foptimize-sibling-calls -Wl,-z,initfirst -Wl,-z,now
 */
#define UNW_LOCAL_ONLY
#include "witness.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <libunwind.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WATCHED __attribute__((section("watched"), noinline))
#define PASSING __attribute__((section("passing"), noinline, visibility("default")))

#define TEXT(x) TEXT_(x)
#define TEXT_(x) #x

enum { SLOT_COUNT = 64 };

/* Room for one record; a thread holds one only while it walks. */
struct slot {
    bool is_taken;
    struct witness_record record;
    uint64_t frames[WITNESS_DEPTH_MAX];
};

extern const char __start_watched[], __stop_watched[], __start_passing[], __stop_passing[];

static struct slot slots[SLOT_COUNT];
static __thread bool is_walking __attribute__((tls_model("initial-exec")));

static int file = -1;
static long own_pid;
static unsigned long every = 1, most = 100000, seen, taken;

static __typeof__(&unw_tdep_getcontext) find_context;
static __typeof__(&unw_init_local) init_cursor;
static __typeof__(&unw_step) step;
static __typeof__(&unw_get_reg) get_register;

/* ------------------------------------------------------------------ the walk */

static bool is_between(uint64_t pc, const char *start, const char *stop)
{
    return pc - (uint64_t)(uintptr_t)start <= (uint64_t)(stop - start);
}

static bool is_own(uint64_t pc)
{
    return is_between(pc, __start_watched, __stop_watched) || is_between(pc, __start_passing, __stop_passing);
}

/* Fills in the slot, from the caller of the hook outwards. */
static __attribute__((noinline)) void walk(struct slot *slot)
{
    unw_context_t context;
    unw_cursor_t cursor;
    unw_word_t pc;
    bool was_own = false, is_kept = false;
    int end;
    slot->record.count = 0;
    find_context(&context);
    end = init_cursor(&cursor, &context);
    while (end == 0) {
        if ((end = get_register(&cursor, UNW_REG_IP, &pc)) < 0)
            break;
        if (!is_kept) {
            is_kept = was_own && !is_own(pc);
            was_own = is_own(pc);
        }
        if (is_kept) {
            if (slot->record.count == WITNESS_DEPTH_MAX) {
                end = WITNESS_END_DEPTH;
                break;
            }
            slot->frames[slot->record.count++] = pc;
        }
        if ((end = step(&cursor)) <= 0)
            break;
        end = 0;
    }
    slot->record.end = end;
}

static struct slot *slot_take(void)
{
    for (unsigned i = 0; i < SLOT_COUNT; i++) {
        if (!__atomic_exchange_n(&slots[i].is_taken, true, __ATOMIC_ACQUIRE))
            return &slots[i];
    }
    return NULL;
}

/* A whole record or none, in one piece: the file is open for appending. */
static __attribute__((noinline)) void tell(const void *block, size_t size)
{
    int saved = errno;
    is_walking = true;
    struct slot *slot = slot_take();
    if (slot != NULL) {
        __atomic_fetch_add(&taken, 1, __ATOMIC_RELAXED);
        walk(slot);
        slot->record.tid = (uint32_t)syscall(SYS_gettid);
        slot->record.address = (uint64_t)(uintptr_t)block;
        slot->record.size = size;
        size_t length = sizeof slot->record + slot->record.count * sizeof slot->frames[0];
        if (syscall(SYS_write, file, &slot->record, length) != (long)length)
            _exit(3);
        __atomic_store_n(&slot->is_taken, false, __ATOMIC_RELEASE);
    }
    is_walking = false;
    errno = saved;
}

/* Is this call one to be watched? */
static inline bool is_due(void)
{
    if (__builtin_expect(file < 0 || is_walking, 0))
        return false;
    if (__atomic_fetch_add(&seen, 1, __ATOMIC_RELAXED) % every != 0)
        return false;
    return __atomic_load_n(&taken, __ATOMIC_RELAXED) < most && syscall(SYS_getpid) == own_pid;
}

/* ----------------------------------------------------------------- the hooks */

/* Calls that come while the next definitions are being looked for get nothing: only
 * dlsym can make them, and it lives with that. */
static void *next_find(void **next, const char *name)
{
    static bool is_finding;
    if (*next == NULL && !is_finding) {
        is_finding = true;
        __atomic_store_n(next, dlsym(RTLD_NEXT, name), __ATOMIC_RELEASE);
        is_finding = false;
    }
    return *next;
}

/* A function that gives a block: what it takes, how it is called, the size asked for.
 * Both calls of the next one are told apart by where they return to. */
#define HOOK(name, PARAMETERS, PASSED, size)                          \
    void *name PARAMETERS;                                            \
    static void *(*next_##name)PARAMETERS;                            \
    WATCHED static void *watched_##name PARAMETERS                    \
    {                                                                 \
        void *block = next_##name PASSED;                             \
        if (block != NULL)                                            \
            tell(block, size);                                        \
        return block;                                                 \
    }                                                                 \
    PASSING void *name PARAMETERS                                     \
    {                                                                 \
        if (__builtin_expect(next_##name == NULL, 0) &&               \
            next_find((void **)&next_##name, TEXT(name)) == NULL)     \
            return NULL;                                              \
        return is_due() ? watched_##name PASSED : next_##name PASSED; \
    }

#define S size_t size
#define C size_t count
#define A size_t align
#define B void *old

/* operator new is seen where it calls malloc: with us in front of it the probe leaves
 * the operators alone (src/probe/cxx.h). */
/* clang-format off */
HOOK(malloc,                             (S),       (size),                 size)
HOOK(calloc,                             (C, S),    (count, size),          count * size)
HOOK(realloc,                            (B, S),    (old, size),            size)
HOOK(reallocarray,                       (B, C, S), (old, count, size),     count * size)
HOOK(memalign,                           (A, S),    (align, size),          size)
HOOK(aligned_alloc,                      (A, S),    (align, size),          size)
/* clang-format on */

/* ----------------------------------------------------------------- the start */

static const char *find_variable(char **list, const char *name)
{
    size_t length = strlen(name);
    for (; *list != NULL; list++) {
        if (strncmp(*list, name, length) == 0 && (*list)[length] == '=')
            return *list + length + 1;
    }
    return NULL;
}

static unsigned long find_number(char **list, const char *name, unsigned long otherwise)
{
    const char *text = find_variable(list, name);
    unsigned long number = text == NULL ? 0 : strtoul(text, NULL, 10);
    return number != 0 ? number : otherwise;
}

static bool open_libunwind(void)
{
    void *library = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return false;
    *(void **)&find_context = dlsym(library, TEXT(unw_tdep_getcontext));
    *(void **)&init_cursor = dlsym(library, TEXT(unw_init_local));
    *(void **)&step = dlsym(library, TEXT(unw_step));
    *(void **)&get_register = dlsym(library, TEXT(unw_get_reg));
    return find_context != NULL && init_cursor != NULL && step != NULL && get_register != NULL;
}

static __attribute__((constructor)) void start(int argc, char **argv, char **environment)
{
    (void)argc;
    (void)argv;
    const char *path = find_variable(environment, "WITNESS_FILE");
    if (path == NULL || !open_libunwind())
        return;
    every = find_number(environment, "WITNESS_EVERY", every);
    most = find_number(environment, "WITNESS_COUNT", most);
    own_pid = syscall(SYS_getpid);
    long fd = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0)
        return;
    long high = syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 500); /* out of the way of the program */
    syscall(SYS_close, fd);
    const struct witness_head head = {
        WITNESS_MAGIC,
        (uint64_t)own_pid,
        (uint64_t)(uintptr_t)__start_watched,
        (uint64_t)(uintptr_t)__stop_watched,
        (uint64_t)(uintptr_t)__start_passing,
        (uint64_t)(uintptr_t)__stop_passing,
    };
    if (high >= 0 && syscall(SYS_write, high, &head, sizeof head) == (long)sizeof head)
        file = (int)high;
}
