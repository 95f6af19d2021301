/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * stack_diff: are the stacks that the probe records those that libunwind finds?
 *
 *     stack_diff [options] -- PROGRAM ARGUMENTS
 *       --probe FILE     libheapwake.so          --witness FILE   libwitness.so
 *       --every N        of N allocations one is compared (1)
 *       --count N        compare so many (100000)
 *       --show N         print so many differing stacks, and one of each kind of cut (3)
 *
 * Runs the program with both libraries, is the collector of the probe (a small one that
 * shares no code with the real one, only src/wire/), and at the end pairs the records of
 * the witness with the recorded allocations: same thread, same address, same size, same
 * order (but for handlers). Of each pair the frames must be the same, innermost to outermost.
 *
 *   equal      all frames, and neither side gave up
 *   cut        ours says that it could not go on, and has the same frames up to there
 *   short      libunwind gave up with an error, ours has the same frames up to there
 *   different  all else
 *   missing    records of the witness that no recorded allocation answers
 *
 * A signal frame is one frame for both, its address the interrupted instruction.
 *
 * Prints one line of numbers. Exit: 0 none different or missing, 1 some, 2 used wrongly
 * or the program could not be run or failed.
 *
 * build: -I{root}/src
 */
#include "wire/record.h"
#include "wire/segment.h"
#include "witness.h"

#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#define TRY(x, ...) ((x) ? (void)0 : errx(2, __VA_ARGS__))

static void *grow(void *list, size_t count, size_t size)
{
    if ((count & (count - 1)) == 0) { /* at each power of two: twice the room */
        list = realloc(list, (count == 0 ? 1 : 2 * count) * size);
        TRY(list != NULL, "There is no more memory.");
    }
    return list;
}

/* ------------------------------------------------- what has been recorded */

struct stack {
    uint64_t *frames; /* innermost first; NULL: not seen */
    uint32_t count;
    uint32_t room;
    uint32_t omitted;
    uint8_t cut;
    bool is_compared;
};

struct alloc {
    uint64_t address;
    uint64_t size;
    uint32_t stack;
    bool is_paired; /* with a record of the witness */
};

/* The allocations of one thread in one lane; most threads have one lane. */
struct queue {
    uint32_t tid;
    uint32_t lane;
    struct alloc *allocs;
    size_t count;
    size_t next;
};

struct lane_reader {
    uint32_t chunk;
    uint32_t word; /* 0: not begun */
    uint32_t tid;
    uint32_t stack; /* the latest STACK */
};

struct module {
    uint64_t start, end, bias;
    char *path;
};

static struct segment_head *head;
static uint8_t *base;
static struct lane_reader *lanes;
static struct stack *stacks;
static uint32_t stack_count;
static struct queue *queues;
static size_t queue_count;
static struct module *modules;
static size_t module_count;
static uint64_t event_count;

static struct stack *stack_at(uint32_t id)
{
    if (id >= stack_count) {
        uint32_t count = id + id / 2 + 1024;
        stacks = realloc(stacks, count * sizeof *stacks);
        TRY(stacks != NULL, "There is no more memory.");
        memset(stacks + stack_count, 0, (count - stack_count) * sizeof *stacks);
        stack_count = count;
    }
    return &stacks[id];
}

static struct queue *queue_of(uint32_t tid, uint32_t lane)
{
    for (size_t i = queue_count; i-- > 0;) {
        if (queues[i].tid == tid && queues[i].lane == lane)
            return &queues[i];
    }
    queues = grow(queues, queue_count, sizeof *queues);
    queues[queue_count] = (struct queue){.tid = tid, .lane = lane};
    return &queues[queue_count++];
}

static void add_alloc(uint32_t lane, uint64_t address, uint64_t size, uint32_t stack)
{
    struct queue *q = queue_of(lanes[lane].tid, lane);
    q->allocs = grow(q->allocs, q->count, sizeof *q->allocs);
    q->allocs[q->count++] = (struct alloc){address, size, stack, false};
}

static void add_module(const uint64_t *w)
{
    unsigned id_length = w[0] >> 8 & 0xff, path_length = w[0] >> 16 & 0xffff;
    modules = grow(modules, module_count, sizeof *modules);
    modules[module_count++] =
        (struct module){w[1], w[2], w[3], strndup((const char *)(w + 5) + id_length, path_length)};
}

static void take_record(uint32_t lane, const uint64_t *w)
{
    struct stack *s;
    unsigned op = w[0] & 0xff;
    uint32_t high = (uint32_t)(w[0] >> 32);
    if ((op & RECORD_ALLOC) != 0) {
        event_count++;
        add_alloc(lane, w[1] & ((UINT64_C(1) << RECORD_ADDRESS_BITS) - 1), w[0] >> 8 & 0xffffff, high);
        return;
    }
    switch (op) {
    case RECORD_ALLOC_LONG:
        event_count++;
        add_alloc(lane, w[1], w[2], high);
        break;
    case RECORD_THREAD:
        lanes[lane].tid = high;
        break;
    case RECORD_STACK:
        s = stack_at(lanes[lane].stack = high);
        TRY(s->frames == NULL, "Stack %u is defined twice.", high);
        *s = (struct stack){
            .room = (uint32_t)w[1], .omitted = (uint32_t)(w[1] >> 32), .cut = w[0] >> 8 & 0xff};
        s->frames = calloc(s->room + 1, sizeof *s->frames);
        break;
    case RECORD_FRAMES:
        s = stack_at(lanes[lane].stack);
        TRY(s->count + high <= s->room, "Stack %u has more frames than it said.", lanes[lane].stack);
        memcpy(s->frames + s->count, w + 1, high * sizeof *w);
        s->count += high;
        break;
    case RECORD_MODULE:
        add_module(w);
        break;
    default:
        break;
    }
}

static void give_back(uint32_t chunk)
{
    uint32_t *next = (uint32_t *)(void *)(base + head->next_offset);
    uint64_t old = __atomic_load_n(&head->free_list, __ATOMIC_RELAXED), new;
    memset(base + head->chunk_offset + (size_t)chunk * SEGMENT_CHUNK_SIZE, 0, SEGMENT_CHUNK_SIZE);
    do {
        __atomic_store_n(&next[chunk], (uint32_t)old, __ATOMIC_RELAXED);
        new = ((old >> 32) + 1) << 32 | (chunk + 1);
    } while (
        !__atomic_compare_exchange_n(&head->free_list, &old, new, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
}

/* Reads what a lane has; true when there was something. */
static bool read_lane(uint32_t index)
{
    struct lane_reader *lane = &lanes[index];
    const uint32_t *table = (const uint32_t *)(const void *)(base + head->lane_offset);
    bool had_any = false;
    if (lane->word == 0) {
        uint32_t first = __atomic_load_n(&table[index], __ATOMIC_ACQUIRE);
        if (first == 0)
            return false;
        lane->chunk = first - 1;
    }
    for (;;) {
        const uint64_t *words =
            (const void *)(base + head->chunk_offset + (size_t)lane->chunk * SEGMENT_CHUNK_SIZE);
        uint64_t first =
            lane->word < SEGMENT_CHUNK_WORDS ? __atomic_load_n(&words[lane->word], __ATOMIC_ACQUIRE) : 0;
        if (first == 0)
            return had_any;
        had_any = true;
        if ((first & 0xff) == RECORD_LINK) {
            uint32_t done = lane->chunk;
            lane->chunk = (uint32_t)(first >> 32);
            lane->word = 0;
            give_back(done);
            continue;
        }
        unsigned length = record_words(first);
        TRY(length != 0, "Lane %u holds the unknown record %#" PRIx64 ".", index, first);
        take_record(index, words + lane->word);
        lane->word += length;
    }
}

static bool read_lanes(void)
{
    bool had_any = false;
    head->clock = __rdtsc();
    uint32_t count = __atomic_load_n(&head->lane_count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count && i < head->lane_max; i++)
        had_any |= read_lane(i);
    return had_any;
}

/* ------------------------------------------------------ running the program */

static const char *option_probe, *option_witness;
static const char *option_every = "1", *option_count = "100000";
static unsigned option_show = 3;
static char witness_path[4096];

static int start_listening(char *socket_text, size_t room)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int n = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "stack_diff-%d", getpid());
    int s = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
    if (s < 0 || bind(s, (struct sockaddr *)&address, length) < 0 || listen(s, 100) < 0)
        err(2, "The socket cannot be made");
    snprintf(socket_text, room, "%s:%032d", address.sun_path + 1, 0);
    return s;
}

static pid_t start_program(char **arguments, const char *socket_text)
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    char preload[8192];
    snprintf(preload, sizeof preload, "%s:%s", option_witness, option_probe);
    setenv("HEAPWAKE_SOCKET", socket_text, 1);
    setenv("HEAPWAKE_CHILDREN", "no", 1);
    setenv("WITNESS_FILE", witness_path, 1);
    setenv("WITNESS_EVERY", option_every, 1);
    setenv("WITNESS_COUNT", option_count, 1);
    setenv("LD_PRELOAD", preload, 1);
    execvp(arguments[0], arguments);
    err(127, "%s", arguments[0]);
}

/* Somebody introduces himself. The first is the program; children of it, which inherit
 * the surroundings, are told that nobody reads them. */
static void accept_one(int listener, pid_t pid)
{
    struct hello hello = {0};
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
    struct iovec part = {&hello, sizeof hello};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct stat status;
    int fd = -1, connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    ssize_t got = recvmsg(connection, &message, MSG_CMSG_CLOEXEC);
    close(connection);
    if (got != (ssize_t)sizeof hello || hello.magic != HELLO_MAGIC || CMSG_FIRSTHDR(&message) == NULL)
        return;
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
    if (fstat(fd, &status) < 0)
        err(2, "The segment cannot be used");
    uint8_t *mapped = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (mapped == MAP_FAILED)
        err(2, "The segment cannot be mapped");
    struct segment_head *h = (void *)mapped;
    if (base != NULL || hello.pid != (uint32_t)pid) {
        __atomic_store_n(&h->collector, SEGMENT_CLOSED, __ATOMIC_RELEASE);
        munmap(mapped, (size_t)status.st_size);
        return;
    }
    base = mapped;
    head = h;
    lanes = calloc(h->lane_max, sizeof *lanes);
    h->may_wait = 1;
    __atomic_store_n(&h->collector, SEGMENT_ATTACHED, __ATOMIC_RELEASE);
}

/* Runs it to its end and reads all it records; gives its wait status. */
static int run_program(char **arguments)
{
    char socket_text[200];
    int status = 0;
    bool is_dead = false, had_any = false;
    int listener = start_listening(socket_text, sizeof socket_text);
    pid_t pid = start_program(arguments, socket_text);
    while (!is_dead || had_any) {
        struct pollfd p = {.fd = listener, .events = POLLIN};
        if (poll(&p, 1, 0) > 0)
            accept_one(listener, pid);
        if (!is_dead && waitpid(pid, &status, WNOHANG) == pid)
            is_dead = true;
        had_any = head != NULL && read_lanes();
        if (!had_any && !is_dead)
            nanosleep(&(struct timespec){0, 200000}, NULL);
    }
    TRY(head != NULL, "The program did not load the probe.");
    return status;
}

/* -------------------------------------------------------------- comparing */

enum { PAIRING_REACH = 16 };

enum verdict { EQUAL, CUT, SHORT, DIFFERENT, MISSING, VERDICT_COUNT };
static const char *const verdict_words[] = {"equal", "cut", "short", "different", "missing"};
static const char *const cut_words[CUT_COUNT] = {"", "no CFI", "unreadable", "bad CFI", "depth", "early"};

static struct witness_head place;
static uint64_t counts[VERDICT_COUNT], cut_counts[CUT_COUNT], frame_count, distinct_count, signal_count;
static uint32_t deepest;

static bool is_own(uint64_t pc)
{
    return (pc >= place.watched_lo && pc <= place.watched_hi) ||
           (pc >= place.passing_lo && pc <= place.passing_hi);
}

/* Frames of the witness itself, innermost; 0: the call was not watched. */
static uint32_t own_frames(const struct stack *s)
{
    uint32_t n = 0;
    if (s->count == 0 || s->frames[0] < place.watched_lo || s->frames[0] > place.watched_hi)
        return 0;
    while (n < s->count && is_own(s->frames[n]))
        n++;
    return n;
}

/* The calls that were not watched are not to be found. */
static void keep_watched(void)
{
    for (size_t i = 0; i < queue_count; i++) {
        struct queue *q = &queues[i];
        size_t kept = 0;
        for (size_t j = 0; j < q->count; j++) {
            if (own_frames(stack_at(q->allocs[j].stack)) > 0)
                q->allocs[kept++] = q->allocs[j];
        }
        q->count = kept;
    }
}

static void print_frame(uint64_t pc)
{
    uint64_t address = pc & ~RECORD_FRAME_EXACT;
    for (size_t i = module_count; i-- > 0;) {
        if (address >= modules[i].start && address < modules[i].end) {
            const char *slash = strrchr(modules[i].path, '/');
            printf(" %s+%#" PRIx64, slash != NULL ? slash + 1 : modules[i].path, address - modules[i].bias);
            break;
        }
    }
    printf(" %#" PRIx64 "%s\n", address, pc != address ? " (interrupted)" : "");
}

static void print_pair(const struct witness_record *r, const uint64_t *theirs, const struct stack *s)
{
    uint32_t own = own_frames(s), count = s->count - own, more = r->count > count ? r->count : count;
    printf("block %#" PRIx64 ", %" PRIu64 " bytes, thread %u: libunwind %u frames (end %" PRId64
           "), heapwake %u frames%s%s\n",
           r->address, r->size, r->tid, r->count, r->end, count, s->cut != 0 ? ", cut: " : "",
           cut_words[s->cut]);
    for (uint32_t i = 0; i < more; i++) {
        uint64_t ours = i < count ? s->frames[own + i] : 0, other = i < r->count ? theirs[i] : 0;
        if (ours != 0 && (ours & ~RECORD_FRAME_EXACT) == other) {
            printf("  both     ");
            print_frame(ours);
            continue;
        }
        if (other != 0) {
            printf("  libunwind");
            print_frame(other);
        }
        if (ours != 0) {
            printf("  heapwake ");
            print_frame(ours);
        }
    }
}

static enum verdict judge(const struct witness_record *r, const uint64_t *theirs, const struct stack *s)
{
    uint32_t own = own_frames(s), count = s->count - own, n = 0;
    while (n < count && n < r->count && (s->frames[own + n] & ~RECORD_FRAME_EXACT) == theirs[n])
        n++;
    if (s->omitted != 0)
        return DIFFERENT;
    if (n == count && s->cut != CUT_NOT)
        return CUT;
    if (n == r->count && r->end != 0)
        return SHORT;
    return n == count && n == r->count ? EQUAL : DIFFERENT;
}

/* The recorded allocation that the record tells of: among the next of its thread's. A
 * handler may allocate between both notes of the same call, so that order is not all; of
 * several that fit, one with the same stack is taken. */
static struct alloc *find_alloc(const struct witness_record *r, const uint64_t *frames)
{
    struct alloc *found = NULL;
    for (size_t i = 0; i < queue_count; i++) {
        struct queue *q = &queues[i];
        if (q->tid != r->tid)
            continue;
        while (q->next < q->count && q->allocs[q->next].is_paired)
            q->next++;
        for (size_t j = q->next; j < q->count && j < q->next + PAIRING_REACH; j++) {
            struct alloc *a = &q->allocs[j];
            if (a->is_paired || a->address != r->address || a->size != r->size)
                continue;
            if (judge(r, frames, stack_at(a->stack)) == EQUAL)
                return a;
            if (found == NULL)
                found = a;
        }
    }
    return found;
}

static void compare_one(const struct witness_record *r, const uint64_t *frames)
{
    struct alloc *a = find_alloc(r, frames);
    if (a == NULL) {
        if (counts[MISSING]++ < option_show)
            printf("No recorded allocation is the one of %" PRIu64 " bytes at %#" PRIx64 " in thread %u.\n",
                   r->size, r->address, r->tid);
        return;
    }
    a->is_paired = true;
    struct stack *s = stack_at(a->stack);
    enum verdict verdict = judge(r, frames, s);
    counts[verdict]++;
    frame_count += r->count;
    distinct_count += !s->is_compared;
    s->is_compared = true;
    deepest = r->count > deepest ? r->count : deepest;
    for (uint32_t i = 0; i < s->count; i++) {
        if ((s->frames[i] & RECORD_FRAME_EXACT) != 0) {
            signal_count++;
            break;
        }
    }
    bool is_shown = (verdict == DIFFERENT || verdict == SHORT) && counts[verdict] <= option_show;
    if (verdict == CUT && cut_counts[s->cut]++ == 0)
        is_shown = option_show > 0;
    if (is_shown) {
        printf("%s: ", verdict_words[verdict]);
        print_pair(r, frames, s);
    }
}

static void compare_all(void)
{
    static uint64_t frames[WITNESS_DEPTH_MAX];
    struct witness_record r;
    FILE *f = fopen(witness_path, "rb");
    TRY(f != NULL && fread(&place, sizeof place, 1, f) == 1 && place.magic == WITNESS_MAGIC,
        "The witness has written nothing.");
    keep_watched();
    while (fread(&r, sizeof r, 1, f) == 1) {
        TRY(r.count <= WITNESS_DEPTH_MAX && fread(frames, sizeof *frames, r.count, f) == r.count,
            "The file of the witness is cut.");
        compare_one(&r, frames);
    }
    fclose(f);
}

static void print_counts(void)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < MISSING; i++)
        sum += counts[i];
    printf("stacks %" PRIu64, sum);
    for (unsigned i = 0; i < VERDICT_COUNT; i++)
        printf(" %s %" PRIu64, verdict_words[i], counts[i]);
    printf(" distinct %" PRIu64 " with_signal %" PRIu64 " frames %" PRIu64 " deepest %u lost %" PRIu64
           " allocations %" PRIu64 "\n",
           distinct_count, signal_count, frame_count, deepest, head->lost_events, event_count);
}

static void read_options(int argc, char **argv)
{
    static const struct option options[] = {
        {"probe", 1, 0, 'p'}, {"witness", 1, 0, 'w'}, {"every", 1, 0, 'e'},
        {"count", 1, 0, 'c'}, {"show", 1, 0, 's'},    {0},
    };
    for (int c; (c = getopt_long(argc, argv, "+", options, NULL)) != -1;) {
        switch (c) {
        case 'p':
            option_probe = optarg;
            break;
        case 'w':
            option_witness = optarg;
            break;
        case 'e':
            option_every = optarg;
            break;
        case 'c':
            option_count = optarg;
            break;
        case 's':
            option_show = (unsigned)atoi(optarg);
            break;
        default:
            exit(2);
        }
    }
    TRY(option_probe != NULL && option_witness != NULL && optind < argc,
        "Used as: stack_diff --probe FILE --witness FILE [--every N] [--count N] [--show N] -- PROGRAM ...");
}

int main(int argc, char **argv)
{
    read_options(argc, argv);
    const char *folder = getenv("TMPDIR");
    snprintf(witness_path, sizeof witness_path, "%s/witness.%d", folder != NULL ? folder : "/tmp", getpid());
    int status = run_program(argv + optind);
    compare_all();
    unlink(witness_path);
    print_counts();
    TRY(status == 0, "The program ended with wait status %#x.", status);
    return counts[DIFFERENT] + counts[SHORT] + counts[MISSING] == 0 ? 0 : 1;
}
