/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * fuzz_main: tries a target with mutations of some files, the same ones every
 * time: no coverage, no clock, so that a failure comes again.
 *
 *     x_fuzz FIRST COUNT FILE...     runs FIRST .. FIRST + COUNT - 1
 *
 * First each file is given as it is, then cut at many places; after that run
 * number n is a mutation that depends on n and the files alone. Bytes that are
 * not zero are changed more often than those that are: formats are mostly gaps.
 * When a run fails, or takes longer than RUN_SECONDS, its number is told.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RUN_SECONDS = 20, CUTS = 100, SIZE_MAX_BYTES = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seed {
    uint8_t *bytes;
    size_t size;
};

static const char *program;
static volatile uint64_t current;
static uint64_t state;

static uint64_t next(void)
{
    state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = state;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static size_t below(size_t limit)
{
    return limit == 0 ? 0 : (size_t)(next() % limit);
}

static void tell(int number)
{
    char text[160];
    int length = snprintf(text, sizeof text, "%s: run %llu %s\n", program, (unsigned long long)current,
                          number == SIGALRM ? "takes too long" : "fails");
    if (length > 0 && write(2, text, (size_t)length) < 0)
        _exit(3);
    signal(number, SIG_DFL);
    if (number == SIGALRM)
        _exit(4);
    raise(number);
}

/* An exact copy on the heap, so that a read past its end is seen. */
static void run(const uint8_t *bytes, size_t size)
{
    uint8_t *copy = malloc(size == 0 ? 1 : size);
    if (copy == NULL)
        exit(5);
    memcpy(copy, bytes, size);
    alarm(RUN_SECONDS);
    (void)LLVMFuzzerTestOneInput(copy, size);
    alarm(0);
    free(copy);
}

/* A place in the bytes, mostly one where something is. */
static size_t place(const uint8_t *bytes, size_t size)
{
    size_t at = below(size);
    for (int i = 0; i < 16 && next() % 4 != 0 && bytes[at] == 0; i++)
        at = below(size);
    return at;
}

static size_t splice(uint8_t *bytes, size_t size, const struct seed *other)
{
    size_t from = below(other->size), length = 1 + below(other->size - from);
    size_t at = below(size + 1);
    if (next() % 2 == 0 && length > 64)
        length = 1 + below(64);
    if (length > SIZE_MAX_BYTES - at)
        length = SIZE_MAX_BYTES - at;
    memcpy(bytes + at, other->bytes + from, length);
    return at + length > size ? at + length : size;
}

static void set_number(uint8_t *bytes, size_t size)
{
    static const uint64_t odd[] = {0,
                                   1,
                                   2,
                                   7,
                                   8,
                                   0x7f,
                                   0x80,
                                   0xff,
                                   0x7fff,
                                   0x8000,
                                   0xffff,
                                   0x10000,
                                   0x7fffffff,
                                   0x80000000,
                                   0xffffffff,
                                   UINT64_MAX,
                                   UINT64_MAX / 2,
                                   UINT64_C(1) << 63};
    uint64_t value = odd[below(sizeof odd / sizeof *odd)];
    size_t width = (size_t)1 << below(4), at = place(bytes, size);
    if (width <= size - at)
        memcpy(bytes + at, &value, width);
}

static size_t mutate(uint8_t *bytes, size_t size, const struct seed *seeds, size_t count)
{
    for (size_t steps = 1 + below(8); steps > 0 && size > 0; steps--) {
        size_t at = place(bytes, size), length;
        switch (next() % 8) {
        case 0:
        case 1:
            bytes[at] ^= (uint8_t)(1u << below(8));
            break;
        case 2:
            bytes[at] = (uint8_t)next();
            break;
        case 3:
            bytes[at] = (uint8_t)(bytes[at] + below(9) - 4);
            break;
        case 4:
            set_number(bytes, size);
            break;
        case 5:
            size = splice(bytes, size, &seeds[below(count)]);
            break;
        case 6: /* a piece goes */
            length = 1 + below(size - at < 64 ? size - at : 64);
            memmove(bytes + at, bytes + at + length, size - at - length);
            size -= length;
            break;
        default:
            size = next() % 4 == 0 ? below(size + 1) : size;
            break;
        }
    }
    return size;
}

static struct seed read_seed(const char *path)
{
    struct seed s = {malloc(SIZE_MAX_BYTES), 0};
    FILE *f = fopen(path, "rb");
    if (s.bytes == NULL || f == NULL) {
        fprintf(stderr, "%s: %s cannot be read.\n", program, path);
        exit(2);
    }
    s.size = fread(s.bytes, 1, SIZE_MAX_BYTES, f);
    fclose(f);
    return s;
}

/* Every file whole, then cut at places that are spread over it. */
static void run_plain(const struct seed *s)
{
    for (size_t i = 0; i <= CUTS; i++)
        run(s->bytes, s->size * (CUTS - i) / CUTS);
}

int main(int argc, char **argv)
{
    program = argv[0];
    if (argc < 4) {
        fprintf(stderr, "usage: %s FIRST COUNT FILE...\n", program);
        return 2;
    }
    static const int fatal[] = {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGALRM};
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
        signal(fatal[i], tell);
    uint64_t first = strtoull(argv[1], NULL, 10), count = strtoull(argv[2], NULL, 10);
    size_t seed_count = (size_t)argc - 3;
    struct seed *seeds = calloc(seed_count, sizeof *seeds);
    uint8_t *bytes = malloc(SIZE_MAX_BYTES);
    if (seeds == NULL || bytes == NULL)
        return 5;
    for (size_t i = 0; i < seed_count; i++)
        seeds[i] = read_seed(argv[3 + i]);
    for (size_t i = 0; first == 0 && i < seed_count; i++)
        run_plain(&seeds[i]);
    for (current = first; current < first + count; current++) {
        state = current;
        const struct seed *s = &seeds[below(seed_count)];
        memcpy(bytes, s->bytes, s->size);
        run(bytes, mutate(bytes, s->size, seeds, seed_count));
    }
    for (size_t i = 0; i < seed_count; i++)
        free(seeds[i].bytes);
    free(seeds);
    free(bytes);
    return 0;
}
