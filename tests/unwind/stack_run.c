/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * stack_run: see stack_run.h. Above, how the segment is read; below, how the program is
 * run and handed its surroundings.
 */
#include "stack_run.h"

#include "wire/record.h"
#include "wire/segment.h"

#include <inttypes.h>
#include <poll.h>
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

static void *grow(void *list, size_t count, size_t size)
{
    if ((count & (count - 1)) == 0) { /* at each power of two: twice the room */
        list = realloc(list, (count == 0 ? 1 : 2 * count) * size);
        TRY(list != NULL, "There is no more memory.");
    }
    return list;
}

struct lane_reader {
    uint32_t chunk;
    uint32_t word; /* 0: not begun */
    uint32_t tid;
    uint32_t stack; /* the latest STACK */
};

static struct segment_head *head;
static uint8_t *base;
static struct lane_reader *lanes;
static struct stack_run *run;

struct stack *stack_at(struct stack_run *r, uint32_t id)
{
    run = r;
    if (id >= run->stack_count) {
        uint32_t count = id + id / 2 + 1024;
        run->stacks = realloc(run->stacks, count * sizeof *run->stacks);
        TRY(run->stacks != NULL, "There is no more memory.");
        memset(run->stacks + run->stack_count, 0, (count - run->stack_count) * sizeof *run->stacks);
        run->stack_count = count;
    }
    return &run->stacks[id];
}

static struct queue *queue_of(uint32_t tid, uint32_t lane)
{
    for (size_t i = run->queue_count; i-- > 0;) {
        if (run->queues[i].tid == tid && run->queues[i].lane == lane)
            return &run->queues[i];
    }
    run->queues = grow(run->queues, run->queue_count, sizeof *run->queues);
    run->queues[run->queue_count] = (struct queue){.tid = tid, .lane = lane};
    return &run->queues[run->queue_count++];
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
    run->modules = grow(run->modules, run->module_count, sizeof *run->modules);
    run->modules[run->module_count++] =
        (struct module){w[1], w[2], w[3], strndup((const char *)(w + 5) + id_length, path_length)};
}

static void take_record(uint32_t lane, const uint64_t *w)
{
    struct stack *s;
    unsigned op = w[0] & 0xff;
    uint32_t high = (uint32_t)(w[0] >> 32);
    if ((op & RECORD_ALLOC) != 0) {
        run->alloc_count++;
        add_alloc(lane, w[1] & ((UINT64_C(1) << RECORD_ADDRESS_BITS) - 1), w[0] >> 8 & 0xffffff, high);
        return;
    }
    switch (op) {
    case RECORD_ALLOC_LONG:
        run->alloc_count++;
        add_alloc(lane, w[1], w[2], high);
        break;
    case RECORD_THREAD:
        lanes[lane].tid = high;
        break;
    case RECORD_STACK:
        s = stack_at(run, lanes[lane].stack = high);
        TRY(s->frames == NULL, "Stack %u is defined twice.", high);
        *s = (struct stack){
            .room = (uint32_t)w[1], .omitted = (uint32_t)(w[1] >> 32), .cut = w[0] >> 8 & 0xff};
        s->frames = calloc(s->room + 1, sizeof *s->frames);
        break;
    case RECORD_FRAMES:
        s = stack_at(run, lanes[lane].stack);
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
    snprintf(preload, sizeof preload, "%s:%s", run->witness, run->probe);
    setenv("HEAPWAKE_SOCKET", socket_text, 1);
    setenv("HEAPWAKE_CHILDREN", "no", 1);
    setenv("WITNESS_FILE", run->witness_path, 1);
    setenv("WITNESS_EVERY", run->every, 1);
    setenv("WITNESS_COUNT", run->count, 1);
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

int stack_run(struct stack_run *r, char **arguments)
{
    run = r;
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
    run->lost_count = head->lost_events;
    return status;
}
