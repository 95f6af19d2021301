/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * part CASE: libraries that come and go.
 *
 * build: -rdynamic -L{build}/tests/hostile -Wl,-rpath,{build}/tests/hostile
 */
#include "hostile.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>

extern char **environ;

typedef void *make_fn(size_t size);

static void *open_or_complain(const char *name, int flags)
{
    void *library = dlopen(name, flags);
    expect(library != NULL, "a library cannot be opened");
    return library;
}

static void make_in(void *library, size_t size)
{
    make_fn *in_library = (make_fn *)dlsym(library, "plain_make");
    free(truth_keep(in_library(size)));
    truth_keep(in_library(size));
    count_made(size);
    count_made(size);
    count_freed(size);
}

/* Its constructor and destructor make and release a block each time. */
static void come_and_go(void)
{
    for (int i = 0; i < 100; i++) {
        void *library = open_or_complain("libplain.so", RTLD_NOW);
        make_in(library, 9851);
        dlclose(library);
        count_made(9341);
        count_freed(9341);
    }
}

/* One thread loads and unloads, others allocate with stacks that are always new. */
static int stop;

static NOINLINE void spread(unsigned random, int depth)
{
    volatile unsigned here = random;
    if (depth == 0)
        drop(make(9857), 9857);
    else if (random % 2 == 0)
        spread(random / 2, depth - 1);
    else
        spread(random / 2 + 1, depth - 1);
    here = here + 1;
}

static void *spreading(void *argument)
{
    for (unsigned i = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED) && i < 3000; i++)
        spread(i * 2654435761u + (unsigned)(uintptr_t)argument, 12);
    return NULL;
}

static void loader_lock(void)
{
    pthread_t threads[3];
    for (uintptr_t i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, spreading, (void *)i);
    for (int i = 0; i < 50; i++)
        dlclose(open_or_complain("libplain.so", RTLD_NOW));
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}

/* A library that finds another one by its own search path alone. */
static void caller_path(void)
{
    char here[4096];
    snprintf(here, sizeof here, "%s", hostile_argv[0]);
    *strrchr(here, '/') = '\0';
    strcat(here, "/libseeker.so");
    void *library = open_or_complain(here, RTLD_NOW);
    void *(*seek)(void) = (void *(*)(void))dlsym(library, "seek_plain");
    void *found = seek();
    expect(found != NULL, "the library's own path was not searched");
    make_in(found, 9859);
}

static void deep_binding(void)
{
    void *library = open_or_complain("libplain.so", RTLD_NOW | RTLD_DEEPBIND);
    make_fn *in_library = (make_fn *)dlsym(library, "plain_make");
    for (int i = 0; i < 20; i++) {
        free(truth_keep(in_library(9871))); /* bound to libc itself: made past the probe */
        work(9883, 2);
    }
    void *mine = malloc(9883);
    count_made(9883);
    count_freed(9883);
    free(mine);
    dlclose(library);
}

static void other_namespace(void)
{
    void *library = dlmopen(LM_ID_NEWLM, "libplain.so", RTLD_NOW);
    expect(library != NULL, "no second namespace");
    make_fn *in_library = (make_fn *)dlsym(library, "plain_make");
    for (int i = 0; i < 10; i++) {
        truth_keep(in_library(9887)); /* the other libc's block */
        work(9901, 2);
    }
    dlclose(library);
}

static void copy_to(const char *from, int to)
{
    static char text[65536];
    int fd = open(from, O_RDONLY | O_CLOEXEC);
    for (ssize_t n; (n = read(fd, text, sizeof text)) > 0;)
        expect(write(to, text, (size_t)n) == n, "a copy failed");
    close(fd);
}

/* The file of a loaded library is replaced by another one, then removed. */
static void replaced(void)
{
    char here[4096];
    snprintf(here, sizeof here, "%s", hostile_argv[0]);
    *strrchr(here, '/') = '\0';
    strcat(here, "/libplain.so");
    int fd = open("./libmoving.so", O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0755);
    copy_to(here, fd);
    close(fd);
    void *library = open_or_complain("./libmoving.so", RTLD_NOW);
    make_in(library, 9907);
    fd = open("./libother.so", O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0755);
    expect(write(fd, "not a library", 13) == 13, "no file");
    close(fd);
    rename("./libother.so", "./libmoving.so");
    make_in(library, 9907);
    unlink("./libmoving.so");
    make_in(library, 9907);
    dlclose(library);
}

static void leaf(void)
{
    work(9923, 20);
}

/* A program that has no file: it runs from memory. */
static void from_memory(void)
{
    char *arguments[] = {hostile_argv[0], "leaf", NULL};
    int fd = memfd_create("a program", MFD_CLOEXEC);
    copy_to(hostile_argv[0], fd);
    tell();
    fexecve(fd, arguments, environ);
}

/* A program whose file is removed while it runs. */
static void removed(void)
{
    char name[64], *arguments[] = {name, "gone", NULL};
    snprintf(name, sizeof name, "./copy-%d", (int)getpid());
    int fd = open(name, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0755);
    copy_to(hostile_argv[0], fd);
    close(fd);
    tell();
    execve(name, arguments, environ);
}

static void gone(void)
{
    work(9929, 3);
    unlink(hostile_argv[0]);
    for (int i = 0; i < 10; i++)
        spread((unsigned)i, 5);
}

/* A program whose file has no section headers, as packers leave them. */
static void no_sections(void)
{
    char name[64], *arguments[] = {name, "leaf", NULL};
    snprintf(name, sizeof name, "./bare-%d", (int)getpid());
    int fd = open(name, O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0755);
    copy_to(hostile_argv[0], fd);
    ElfW(Ehdr) head;
    expect(pread(fd, &head, sizeof head, 0) == (ssize_t)sizeof head, "no header");
    head.e_shoff = 0;
    head.e_shnum = head.e_shstrndx = 0;
    expect(pwrite(fd, &head, sizeof head, 0) == (ssize_t)sizeof head, "no header");
    close(fd);
    tell();
    execve(name, arguments, environ);
}

static int visit(struct dl_phdr_info *info, size_t size, void *argument)
{
    (void)info;
    (void)size;
    drop(make(9931), 9931); /* under the loader's lock */
    ++*(int *)argument;
    return 0;
}

static void while_visiting(void)
{
    int count = 0;
    for (int i = 0; i < 10; i++)
        dl_iterate_phdr(visit, &count);
    expect(count >= 30, "too few libraries");
}

HOSTILE_CASES({"come_and_go", come_and_go}, {"loader_lock", loader_lock}, {"caller_path", caller_path},
              {"deep_binding", deep_binding}, {"other_namespace", other_namespace}, {"replaced", replaced},
              {"leaf", leaf}, {"from_memory", from_memory}, {"removed", removed}, {"gone", gone},
              {"while_visiting", while_visiting}, {"no_sections", no_sections})
