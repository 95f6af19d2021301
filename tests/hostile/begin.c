/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * begin CASE: the first calls of a program, and those of its loader.
 *
 * build: -rdynamic
 */
#include "hostile.h"

#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static void *early_blocks[3];
static const char *wanted;

/* In .preinit_array, before any constructor. */
static void before_all(int argc, char **argv, char **environment)
{
    (void)environment;
    wanted = argc > 1 ? argv[1] : "";
    if (strcmp(wanted, "early_realloc") == 0) {
        for (int i = 0; i < 3; i++)
            early_blocks[i] = make(9001);
    } else if (strcmp(wanted, "early_exit") == 0) {
        tell();
        _exit(9);
    } else if (strcmp(wanted, "early_first_exit") == 0) {
        make(9001);
        tell();
        syscall(SYS_exit_group, 9);
    } else if (strcmp(wanted, "early_fork") == 0) {
        int status;
        pid_t pid = fork(); /* before the first allocation of the program */
        if (pid == 0) {
            work(9007, 10);
            tell();
            _exit(3);
        }
        expect(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 3, "the child failed");
    }
}

__attribute__((section(".preinit_array"), used)) static void (*const preinit)(int, char **,
                                                                              char **) = before_all;

__attribute__((constructor(101))) static void first_constructor(void)
{
    if (strcmp(wanted, "dlsym_missing") == 0) {
        for (int i = 0; i < 50; i++) {
            expect(dlsym(RTLD_DEFAULT, "no_such_name_at_all") == NULL, "a name that is not there was found");
            expect(dlerror() != NULL, "dlerror has nothing to say");
            drop(make(9011), 9011);
            make(9011);
        }
    }
}

static void dlsym_missing(void)
{
    expect(dlsym(RTLD_DEFAULT, "malloc") != NULL, "malloc was not found");
    work(9011, 4);
}

static void early_realloc(void)
{
    for (int i = 0; i < 3; i++)
        expect(malloc_usable_size(early_blocks[i]) >= 9001, "an early block is too small");
    expect(*(unsigned char *)early_blocks[0] == (unsigned char)(9001 * 7), "an early block lost its content");
    unsigned char *grown = truth_keep(realloc(early_blocks[0], 9013));
    count_freed(9001);
    count_made(9013);
    expect(grown[0] == (unsigned char)(9001 * 7), "a moved early block lost its content");
    free(grown);
    count_freed(9013);
    drop(early_blocks[1], 9001);
}

static void early_fork(void)
{
    work(9007, 20);
}

/* libc keeps room for 32 handlers; for more it allocates under its own lock. */
static int handlers_run;

static void at_exit_handler(void)
{
    drop(make(9029), 9029);
    if (++handlers_run == 200)
        tell();
}

static void atexit_many(void)
{
    for (int i = 0; i < 200; i++)
        expect(atexit(at_exit_handler) == 0, "atexit failed");
    exit(0);
}

/* malloc taken by name, by pointer and from the libc handle itself. */
static void by_pointer(void)
{
    static void *(*volatile pointer)(size_t) = malloc;
    void *(*named)(size_t) = (void *(*)(size_t))dlsym(RTLD_DEFAULT, "malloc");
    void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
    void (*direct_free)(void *) = (void (*)(void *))dlsym(libc, "free");
    void *(*direct_malloc)(size_t) = (void *(*)(size_t))dlsym(libc, "malloc");
    expect(named == (void *(*)(size_t))malloc, "two different mallocs");
    for (int i = 0; i < 10; i++) {
        truth_keep(pointer(9041));
        count_made(9041);
        truth_keep(named(9041));
        count_made(9041);
        free(truth_keep(direct_malloc(9043))); /* made past the probe, released through it: no record */
        direct_free(truth_keep(malloc(9049))); /* the reverse: a block that seems to live */
        count_made(9049);
    }
}

static void nothing(void)
{
}

HOSTILE_CASES({"dlsym_missing", dlsym_missing}, {"early_realloc", early_realloc}, {"early_fork", early_fork},
              {"atexit_many", atexit_many}, {"by_pointer", by_pointer}, {"nothing", nothing})
