/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * resolve: what src/symbol says about addresses of a program.
 *
 *     resolve [options] FILE [ADDRESS...]        addresses (hexadecimal) from the input when none is given
 *
 *     --sysroot FOLDER --debug-path A:B --debuginfod --patience MS     as in symbolizer.h
 *     --id HEX       refuse other build ids
 *     --memory, --fd hand the file over as bytes, or as a descriptor
 *     --exact        addresses of instructions, no return addresses
 *     --quiet        say only how many were resolved and how long it took
 *
 * Prints "source <0|1|2> <file> <debug file>", "- remark" if there is one, then for each address a line "= ADDRESS" and
 * for each frame "<in|fn> TAB function TAB linkage name TAB file TAB line", and "- remark" once more if it has changed.
 *
 * Exit: 0 done, 1 the file was refused (the sentence is printed), 2 used wrongly.
 *
 * build: -I{root}/src {build}/libheapwake-tool.a -ldw -lelf -llzma -liberty
 */
#include "symbol/symbolizer.h"

#include <err.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct request {
    struct symbolizer_options options;
    const char *path;
    uint8_t id[64];
    size_t id_length;
    bool from_memory, from_fd, exact, quiet;
};

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

static void on_progress(const char *text, uint64_t done, uint64_t total, void *context)
{
    (void)context;
    fprintf(stderr, "%s: %" PRIu64 " of %" PRIu64 "\n", text, done, total);
}

static int open_given(struct symbolizer *s, struct binary **b, const struct request *r, struct err *err)
{
    struct stat st;
    int fd = open(r->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0)
        errx(2, "%s cannot be opened", r->path);
    int code;
    if (r->from_fd)
        code = symbolizer_open_fd(s, b, r->path, fd, err);
    else {
        void *bytes = malloc((size_t)st.st_size + 1);
        ssize_t size = bytes != NULL ? read(fd, bytes, (size_t)st.st_size) : -1;
        if (size < 0)
            errx(2, "%s cannot be read", r->path);
        code = symbolizer_open_memory(s, b, r->path, bytes, (size_t)size, err);
        free(bytes);
    }
    close(fd);
    return code;
}

static size_t say(struct binary *b, const struct request *r, uint64_t address)
{
    const struct binary_frame *frames;
    size_t count = binary_resolve(b, address, r->exact, &frames);
    if (r->quiet)
        return count > 0;
    printf("= %#" PRIx64 "\n", address);
    for (size_t i = 0; i < count; i++)
        printf("%s\t%s\t%s\t%s\t%u\n", frames[i].inlined ? "in" : "fn", frames[i].function, frames[i].linkage,
               frames[i].file, frames[i].line);
    return count > 0;
}

static void read_id(struct request *r, const char *hex)
{
    for (; hex[0] != '\0' && hex[1] != '\0' && r->id_length < sizeof r->id; hex += 2) {
        unsigned byte;
        if (sscanf(hex, "%2x", &byte) != 1)
            errx(2, "%s is no build id", hex);
        r->id[r->id_length++] = (uint8_t)byte;
    }
}

static void read_options(struct request *r, int argc, char **argv)
{
    static const struct option known[] = {
        {"sysroot", required_argument, NULL, 's'},
        {"debug-path", required_argument, NULL, 'd'},
        {"debuginfod", no_argument, NULL, 'n'},
        {"patience", required_argument, NULL, 'p'},
        {"id", required_argument, NULL, 'i'},
        {"memory", no_argument, NULL, 'm'},
        {"fd", no_argument, NULL, 'f'},
        {"exact", no_argument, NULL, 'x'},
        {"quiet", no_argument, NULL, 'q'},
        {NULL, 0, NULL, 0},
    };
    for (int c; (c = getopt_long(argc, argv, "", known, NULL)) >= 0;) {
        switch (c) {
        case 's':
            r->options.sysroot = optarg;
            break;
        case 'd':
            r->options.debug_path = optarg;
            break;
        case 'n':
            r->options.debuginfod = true;
            break;
        case 'p':
            r->options.patience_ms = (unsigned)atoi(optarg);
            break;
        case 'i':
            read_id(r, optarg);
            break;
        case 'm':
            r->from_memory = true;
            break;
        case 'f':
            r->from_fd = true;
            break;
        case 'x':
            r->exact = true;
            break;
        case 'q':
            r->quiet = true;
            break;
        default:
            exit(2);
        }
    }
    if (optind >= argc)
        errx(2, "no FILE is given");
    r->path = argv[optind++];
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    struct request r = {.options = {.progress = on_progress, .interrupt = &interrupted}};
    struct err err;
    struct binary *b;
    size_t asked = 0, known = 0;
    signal(SIGINT, on_interrupt);
    read_options(&r, argc, argv);
    struct symbolizer *s = symbolizer_new(&r.options);
    int code = r.from_memory || r.from_fd ? open_given(s, &b, &r, &err)
                                          : symbolizer_open(s, &b, r.path, r.id, r.id_length, &err);
    if (code != 0) {
        printf("%s\n", err.text);
        symbolizer_free(s);
        return 1;
    }
    double start = now();
    int source = binary_get_source(b);
    printf("source %d %s %s\n", source, binary_get_path(b), binary_get_debug_path(b));
    char *remark = strdup(binary_get_remark(b));
    if (remark[0] != '\0')
        printf("- %s\n", remark);
    double opened = now();
    for (int i = optind; i < argc; i++, asked++)
        known += say(b, &r, strtoull(argv[i], NULL, 16));
    char line[64];
    while (optind == argc && fgets(line, sizeof line, stdin) != NULL) {
        asked++;
        known += say(b, &r, strtoull(line, NULL, 16));
    }
    if (strcmp(remark, binary_get_remark(b)) != 0)
        printf("- %s\n", binary_get_remark(b));
    free(remark);
    if (r.quiet)
        printf("%zu of %zu, opened in %.3f s, resolved in %.3f s\n", known, asked, opened - start,
               now() - opened);
    symbolizer_free(s);
    return 0;
}
