/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * hooks [portable]: calls every function of the malloc family once, each with a size of
 * its own, and the corner cases of each.  Tells per size what was asked, what
 * the block can hold, and whether it lives on; what went wrong inside is told
 * as a complaint.  `portable` leaves out the two functions, pvalloc and cfree,
 * that not every allocator replaces.
 *
 * build: -Wno-alloc-size-larger-than
 */
#include "truth.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdint.h>

static int portable;
static char complaints[8192];
static const char *comma = "";

static size_t hidden(size_t n)
{
    __asm__ volatile("" : "+r"(n));
    return n;
}

static void expect(int holds, const char *what)
{
    if (!holds) {
        strcat(complaints, complaints[0] == '\0' ? "\"" : ", \"");
        strcat(complaints, what);
        strcat(complaints, "\"");
    }
}

/* The block is aligned, has room for what was asked, keeps what is put in. */
static void *made(const char *kind, void *block, size_t size, size_t alignment, int lives)
{
    int kept_errno = errno;
    size_t usable = malloc_usable_size(block);
    expect(block != NULL, kind);
    expect((uintptr_t)block % alignment == 0, "alignment");
    expect(usable >= size, "usable size");
    memset(block, 0x5a, usable);
    truth_add("%s{\"kind\": \"%s\", \"size\": %zu, \"usable\": %zu, \"address\": %lu, \"lives\": %s}", comma,
              kind, size, usable, (unsigned long)(uintptr_t)block, lives ? "true" : "false");
    comma = ",\n ";
    expect(kept_errno == 4711, kind);
    errno = 4711;
    return block;
}

static void release(void *block)
{
    errno = 4711;
    free(block);
    expect(errno == 4711, "errno after free");
}

static void plain(void)
{
    void *block = NULL;
    errno = 4711;
    release(made("malloc", malloc(7001), 7001, 16, 0));
    release(made("calloc", calloc(7, 1001), 7007, 16, 0));
    release(made("malloc", realloc(NULL, 7013), 7013, 16, 0));
    release(made("malloc", reallocarray(NULL, 1, 7019), 7019, 16, 0));
    release(made("memalign", memalign(64, 7027), 7027, 64, 0));
    release(made("aligned_alloc", aligned_alloc(128, 7039), 7039, 128, 0));
    expect(posix_memalign(&block, 256, 7043) == 0, "posix_memalign");
    release(made("posix_memalign", block, 7043, 256, 0));
    release(made("valloc", valloc(7057), 7057, 4096, 0));
    if (portable)
        return;
    block = pvalloc(7069);
    expect(malloc_usable_size(block) >= 8192, "pvalloc rounds up to pages");
    release(made("pvalloc", block, 7069, 4096, 0));
    truth_keep(made("malloc", malloc(hidden(0)), 0, 16, 1));
}

static void reallocs(void)
{
    void *block = made("malloc", malloc(7079), 7079, 16, 0), *same;
    block = made("realloc", realloc(block, 17093), 17093, 16, 0);
    block = made("realloc", realloc(block, 7103), 7103, 16, 0);
    release(made("realloc", reallocarray(block, 3, 2371), 7113, 16, 0));
    block = made("malloc", malloc(7121), 7121, 16, 1);
    same = truth_keep(block);
    expect(realloc(block, hidden(PTRDIFF_MAX)) == NULL && errno == ENOMEM, "realloc of PTRDIFF_MAX");
    expect(reallocarray(block, hidden(SIZE_MAX / 2), 3) == NULL && errno == ENOMEM,
           "reallocarray that overflows");
    expect(((unsigned char *)same)[7120] == 0x5a, "a failed realloc leaves the block");
    errno = 4711;
    block = made("malloc", malloc(7127), 7127, 16, 0);
    truth_keep(realloc(block, 0)); /* NULL with glibc; a small block with others */
    errno = 4711;
    block = made("malloc", malloc(7129), 7129, 16, 0);
    for (size_t size = 20011; size < 20016; size++)
        block = made("realloc", realloc(block, size), size, 16, size == 20015);
}

static void failures(void)
{
    void *block = (void *)(uintptr_t)0x1234;
    expect(truth_keep(calloc(hidden(SIZE_MAX / 2), 3)) == NULL && errno == ENOMEM, "calloc that overflows");
    errno = 4711;
    expect(truth_keep(malloc(hidden(PTRDIFF_MAX))) == NULL && errno == ENOMEM, "malloc of PTRDIFF_MAX");
    errno = 4711;
    expect(posix_memalign(&block, 24, 7151) == EINVAL, "posix_memalign with a wrong alignment");
    expect(block == (void *)(uintptr_t)0x1234, "a failed posix_memalign leaves the pointer");
    errno = 4711;
    expect(truth_keep(malloc((size_t)1 << 60)) == NULL && errno == ENOMEM, "malloc of 2^60");
    errno = 4711;
    free(NULL);
    expect(errno == 4711, "free of NULL");
}

static void releases(void)
{
    void (*sized)(void *, size_t), (*aligned)(void *, size_t, size_t);
    errno = 4711;
    *(void **)&sized = dlsym(RTLD_DEFAULT, "free_sized");
    *(void **)&aligned = dlsym(RTLD_DEFAULT, "free_aligned_sized");
    errno = 4711;
    void *block = made("malloc", malloc(7159), 7159, 16, 0);
    if (sized != NULL)
        sized(block, 7159);
    else
        free(block);
    expect(errno == 4711, "errno after free_sized");
    block = made("aligned_alloc", aligned_alloc(512, 7177), 7177, 512, 0);
    if (aligned != NULL)
        aligned(block, 512, 7177);
    else
        free(block);
    expect(errno == 4711, "errno after free_aligned_sized");
    block = made("malloc", malloc(7187), 7187, 16, 0);
    void (*old)(void *);
    *(void **)&old = dlsym(RTLD_DEFAULT, "cfree");
    errno = 4711;
    if (old != NULL && !portable)
        old(block);
    else
        free(block);
    expect(errno == 4711, "errno after cfree");
}

/* What libc allocates in the name of the program. */
static void in_libc(void)
{
    static char text[7194];
    memset(text, 'x', 7192);
    errno = 4711;
    release(made("malloc", strdup(text), 7193, 16, 0));
    release(made("malloc", strndup(text, 7206 - 21), 7186, 16, 0));
    char *line = NULL, *read_back = NULL;
    size_t room = 0;
    int tube[2];
    if (asprintf(&line, "%.*s", 6991, text) != 6991 || pipe(tube) != 0 || write(tube[1], line, 6991) != 6991)
        expect(0, "asprintf");
    close(tube[1]);
    FILE *file = fdopen(tube[0], "r");
    expect(getline(&read_back, &room, file) == 6991 && memcmp(line, read_back, 6991) == 0, "getline");
    fclose(file);
    errno = 4711;
    made("any", line, 6992, 16, 1);
    made("any", read_back, room, 16, 1);
}

int main(int argc, char **argv)
{
    portable = argc > 1 && strcmp(argv[1], "portable") == 0;
    truth_add("{\"blocks\": [");
    plain();
    reallocs();
    failures();
    releases();
    in_libc();
    truth_add("], \"complaints\": [%s]}\n", complaints);
    truth_tell(1);
    return 0;
}
