/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * form CASE: the interface of malloc at its edges, and libc's own users of it.
 *
 * build: -Wno-alloc-size-larger-than -Wno-use-after-free
 */
#include "hostile.h"

#include <aio.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <glob.h>
#include <iconv.h>
#include <ifaddrs.h>
#include <locale.h>
#include <malloc.h>
#include <netdb.h>
#include <obstack.h>
#include <pthread.h>
#include <pwd.h>
#include <regex.h>
#include <search.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <wordexp.h>

#define obstack_chunk_alloc malloc
#define obstack_chunk_free free

static size_t hidden(size_t n)
{
    __asm__ volatile("" : "+r"(n));
    return n;
}

static void zero_sizes(void)
{
    for (int i = 0; i < 20; i++) {
        void *one = truth_keep(malloc(hidden(0))), *two = truth_keep(calloc(hidden(0), 7));
        expect(one != NULL && two != NULL && one != two, "nothing was given for nothing");
        one = truth_keep(realloc(one, 9941));
        count_made(9941);
        expect(realloc(one, hidden(0)) == NULL, "realloc to nothing");
        count_freed(9941);
        free(two);
        free(NULL);
        errno = 77;
        free(truth_keep(malloc(hidden(0))));
        expect(errno == 77, "errno was changed");
    }
}

static void too_large(void)
{
    void *kept = make(9949);
    for (int i = 0; i < 20; i++) {
        errno = 0;
        expect(malloc(hidden(PTRDIFF_MAX) + 1) == NULL && errno == ENOMEM, "malloc");
        errno = 0;
        expect(calloc(hidden(SIZE_MAX / 2), 4) == NULL && errno == ENOMEM, "calloc");
        errno = 0;
        expect(reallocarray(kept, hidden(SIZE_MAX / 2), 4) == NULL && errno == ENOMEM, "reallocarray");
        expect(realloc(kept, hidden(SIZE_MAX / 2)) == NULL, "realloc");
        void *block = kept;
        expect(posix_memalign(&block, 3, 10) == EINVAL && block == kept, "posix_memalign 3");
        expect(posix_memalign(&block, 64, hidden(SIZE_MAX / 2)) == ENOMEM, "posix_memalign");
        expect(memalign(hidden(SIZE_MAX / 2 + 1), 64) == NULL, "memalign");
    }
    drop(kept, 9949);
}

static void alignments(void)
{
    for (size_t alignment = 8; alignment <= (size_t)1 << 22; alignment *= 2) {
        void *blocks[4] = {memalign(alignment, 9967), aligned_alloc(alignment, 9967)};
        expect(posix_memalign(&blocks[2], alignment, 9967) == 0, "posix_memalign");
        blocks[3] = valloc(9967);
        for (int i = 0; i < 4; i++) {
            count_made(9967);
            expect(blocks[i] != NULL && ((uintptr_t)blocks[i] & ((i < 3 ? alignment : 4096) - 1)) == 0,
                   "alignment");
            expect(malloc_usable_size(blocks[i]) >= 9967, "usable size");
        }
        for (int i = 0; i < 4; i += 2) {
            free(blocks[i]);
            count_freed(9967);
        }
    }
}

/* A block that grows and shrinks through all the ways that realloc has. */
static void realloc_walk(void)
{
    size_t size = 9973;
    unsigned char *block = make(9973);
    for (int i = 0; i < 60; i++) {
        size_t next = i % 3 == 0 ? size * 2 + 1 : i % 3 == 1 ? size - size / 3 : size + 1;
        if (next > 3000000)
            next = 101;
        block[0] = 7;
        block = truth_keep(realloc(block, next));
        expect(block[0] == 7, "content was lost");
        size = next;
    }
    count_freed(9973);
    free(block);
}

/* Uses every byte that malloc_usable_size grants. */
static void usable(void)
{
    for (size_t size = 10007; size < 10007 + 8 * 1000; size += 1000) {
        unsigned char *block = make(size);
        memset(block, (int)(size * 7), malloc_usable_size(block));
        drop(block, size);
    }
}

static int compare(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* Functions of libc that allocate, each judged by its result. */
static void text_functions(void)
{
    char *line = NULL, *text = NULL;
    size_t room = 0, length = 0;
    FILE *stream = open_memstream(&text, &length);
    for (int i = 0; i < 3000; i++)
        fputs("some words in a line", stream);
    fputc('\n', stream);
    fclose(stream);
    expect(length == 60001, "open_memstream");
    stream = fmemopen(text, length, "r");
    expect(getline(&line, &room, stream) == 60001, "getline");
    rewind(stream);
    expect(getdelim(&line, &room, ' ', stream) == 5, "getdelim");
    fclose(stream);
    free(line);
    free(text);
    expect(asprintf(&text, "%d %s %.40f", 5, "five", 0.1) > 40, "asprintf");
    free(text);
    free(strdup("a copy"));
    free(strndup("a copy", 3));
    free(realpath("/usr/../usr/.", NULL));
    free(getcwd(NULL, 0));
    char *parts;
    expect(sscanf("some words", "%ms", &parts) == 1 && strcmp(parts, "some") == 0, "scanf");
    free(parts);
}

static void folder_functions(void)
{
    struct dirent **names;
    glob_t found;
    wordexp_t words;
    int count = scandir("/", &names, NULL, alphasort);
    for (int i = 0; i < count; i++)
        free(names[i]);
    free(names);
    expect(glob("/etc/pass*", 0, NULL, &found) == 0 && found.gl_pathc >= 1, "glob");
    globfree(&found);
    expect(wordexp("a b $((1+2))", &words, 0) == 0 && words.we_wordc == 3, "wordexp");
    wordfree(&words);
    DIR *folder = opendir("/");
    expect(folder != NULL && readdir(folder) != NULL, "opendir");
    closedir(folder);
}

static void search_functions(void)
{
    regex_t pattern;
    static char words[5000][8];
    void *tree = NULL;
    expect(regcomp(&pattern, "(a|b)+c{2,5}[[:digit:]]*$", REG_EXTENDED) == 0, "regcomp");
    expect(regexec(&pattern, "ababccc12", 0, NULL, 0) == 0, "regexec");
    regfree(&pattern);
    for (int i = 0; i < 5000; i++)
        snprintf(words[i], sizeof words[i], "%07d", i * 7919 % 100003);
    qsort(words, 5000, sizeof *words, compare);
    expect(strcmp(words[0], words[1]) < 0, "qsort");
    for (int i = 0; i < 100; i++)
        tsearch(words[i], &tree, compare);
    for (int i = 0; i < 100; i++)
        tdelete(words[i], &tree, compare);
    expect(hcreate(100) != 0, "hcreate");
    hdestroy();
}

static void world_functions(void)
{
    struct addrinfo *found = NULL, hints = {.ai_flags = AI_NUMERICHOST};
    struct ifaddrs *interfaces = NULL;
    expect(getaddrinfo("127.0.0.1", "80", &hints, &found) == 0, "getaddrinfo");
    freeaddrinfo(found);
    if (getifaddrs(&interfaces) == 0)
        freeifaddrs(interfaces);
    expect(getpwuid(0) != NULL, "getpwuid");
    iconv_t converter = iconv_open("UTF-16", "ISO-8859-15");
    expect(converter != (iconv_t)-1, "iconv");
    iconv_close(converter);
    for (int i = 0; i < 50; i++) {
        char name[32];
        snprintf(name, sizeof name, "SOME_NAME_%d", i);
        setenv(name, "a value", 1);
    }
    expect(getenv("SOME_NAME_49") != NULL, "setenv");
    clearenv();
    locale_t other = newlocale(LC_ALL_MASK, "C.UTF-8", NULL);
    if (other != NULL)
        freelocale(other);
}

static void libc_functions(void)
{
    for (int i = 0; i < 3; i++) {
        text_functions();
        folder_functions();
        search_functions();
        world_functions();
        work(10009, 4);
    }
}

/* stdio on descriptors that are closed underneath it. */
static void stdio_closed(void)
{
    FILE *file = fopen("written", "w");
    fputs("text", file);
    close(fileno(file));
    work(10037, 4);
    expect(fclose(file) == EOF, "a closed file took text");
    fclose(stdin);
    fclose(stderr);
    work(10037, 4);
}

static void obstacks(void)
{
    struct obstack stack;
    obstack_init(&stack);
    for (int i = 0; i < 1000; i++)
        memset(obstack_alloc(&stack, 100), i, 100);
    obstack_free(&stack, NULL);
    work(10039, 4);
}

/* libc helps with its own thread. */
static void asynchronous(void)
{
    static char text[100] = "some text";
    struct aiocb request = {.aio_buf = text, .aio_nbytes = sizeof text};
    request.aio_fildes = open("aio", O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600);
    for (int i = 0; i < 10; i++) {
        const struct aiocb *all[1] = {&request};
        expect(aio_write(&request) == 0, "aio_write");
        while (aio_error(&request) == EINPROGRESS)
            aio_suspend(all, 1, NULL);
        expect(aio_return(&request) == (ssize_t)sizeof text, "aio_return");
        work(10061, 2);
    }
}

static void tunings(void)
{
    mallopt(M_MMAP_THRESHOLD, 4096);
    work(10067, 10);
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_TRIM_THRESHOLD, 0);
    work(10067, 10);
    malloc_trim(0);
    expect(mallinfo2().uordblks >= 10 * 10067, "mallinfo2 sees too little");
}

/* errno: kept by what succeeds and by every release, ENOMEM after what asks for too much. */
enum { UNTOUCHED = 4242 };
#define KEEPS_ERRNO(call)                                      \
    do {                                                       \
        errno = UNTOUCHED;                                     \
        call;                                                  \
        expect(errno == UNTOUCHED, "errno changed by " #call); \
    } while (0)
#define SETS_ERRNO(call)                                                            \
    do {                                                                            \
        errno = UNTOUCHED;                                                          \
        expect((call) == NULL && errno == ENOMEM, "errno is another after " #call); \
    } while (0)

static void use_with_errno(size_t size)
{
    void *a, *b, *c, *d = NULL;
    KEEPS_ERRNO(a = malloc(size));
    KEEPS_ERRNO(b = calloc(1, size));
    KEEPS_ERRNO(c = aligned_alloc(64, size));
    KEEPS_ERRNO(expect(posix_memalign(&d, 128, size) == 0, "posix_memalign"));
    KEEPS_ERRNO(malloc_usable_size(a));
    SETS_ERRNO(realloc(a, hidden(PTRDIFF_MAX) + 1));
    SETS_ERRNO(malloc(hidden(PTRDIFF_MAX) + 1));
    SETS_ERRNO(calloc(hidden(SIZE_MAX / 2), 4));
    SETS_ERRNO(reallocarray(a, hidden(SIZE_MAX / 2), 4));
    KEEPS_ERRNO(a = realloc(a, size + 6));
    KEEPS_ERRNO(free(a));
    KEEPS_ERRNO(free(b));
    KEEPS_ERRNO(free(c));
    KEEPS_ERRNO(free(d));
    KEEPS_ERRNO(free(NULL));
    for (int i = 0; i < 4; i++) {
        count_made(size);
        count_freed(size);
    }
    count_made(size + 6);
    count_freed(size + 6);
}

/* The first calls of a thread, of a forked child, in a handler; small blocks, and mappings of their own. */
static void *use_in_thread(void *argument)
{
    use_with_errno(10093);
    return argument;
}

static void use_in_handler(int number)
{
    (void)number;
    use_with_errno(10093);
}

static void errno_kept(void)
{
    pthread_t thread;
    int status;
    use_with_errno(10093);
    use_with_errno(1000081);
    pthread_create(&thread, NULL, use_in_thread, NULL);
    pthread_join(thread, NULL);
    signal(SIGUSR1, use_in_handler);
    raise(SIGUSR1);
    pid_t child = fork();
    if (child == 0) {
        become_child();
        use_with_errno(10093);
        tell();
        _exit(hostile_complaints[0] != NULL);
    }
    expect(waitpid(child, &status, 0) == child && status == 0, "the child");
    for (int i = 0; i < 100; i++)
        use_with_errno(10093);
}

HOSTILE_CASES({"zero_sizes", zero_sizes}, {"too_large", too_large}, {"alignments", alignments},
              {"realloc_walk", realloc_walk}, {"usable", usable}, {"libc_functions", libc_functions},
              {"stdio_closed", stdio_closed}, {"obstacks", obstacks}, {"asynchronous", asynchronous},
              {"tunings", tunings}, {"errno_kept", errno_kept})
