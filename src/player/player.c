/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * player: plays a score (wire/score.h) to the allocator that was loaded before
 * libc's, and says what it cost.  Started by `heapwake replay`:
 *
 *     heapwake-player SCORE RESULT TOUCH LEAD [NAME]
 *
 * SCORE and RESULT are descriptors, TOUCH is an enum score_touch, LEAD an enum
 * score_lead, NAME the file that should have been preloaded.
 *
 * Before it is played in earnest every call goes to functions that do nothing:
 * what that costs is the player's own and is taken off.  It also brings in
 * whatever memory the player will ever use (slots, stacks of threads, its code),
 * so that what the kernel counts on top of it is the allocator's.  This is done
 * twice, since the first time finds cold caches; the less counts.  The player
 * itself never calls malloc.
 *
 * Parts become threads that live as the recorded ones did: one begins when those
 * that had ended before it have ended.  The first part is played by the main
 * thread, since allocators treat that one differently; the others are started by a
 * thread of their own, the conductor.
 */
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "player/gauge.h"
#include "player/part.h"

enum { PLAYER_STACK = 128 << 10 };

struct player {
    struct play play;
    const struct score_head *head;
    const struct score_part *parts;
    const struct score_window *windows;
    pthread_t *threads; /* by part */
    sem_t first_ended;
    int result;
    int error;
};

struct player_seat {
    struct player *player;
    uint32_t part;
};

/* ----------------------------------------------------------------- outcome */

static void player_tell(int fd, const struct score_result *result)
{
    ssize_t done = write(fd, result, sizeof *result);
    (void)done; /* who started us sees that there is nothing */
}

static _Noreturn void player_give_up(int fd, enum score_outcome outcome, int error)
{
    struct score_result result = {.magic = SCORE_MAGIC, .outcome = outcome, .error = error};
    player_tell(fd, &result);
    _exit(1);
}

/* ----------------------------------------------------- doing nothing at all */

static void *nothing_make(size_t size)
{
    (void)size;
    return (void *)16;
}

static void *nothing_make_zeroed(size_t count, size_t size)
{
    (void)count;
    return nothing_make(size);
}

static int nothing_make_aligned(void **block, size_t align, size_t size)
{
    (void)align;
    *block = nothing_make(size);
    return 0;
}

static void *nothing_change(void *block, size_t size)
{
    (void)block;
    return nothing_make(size);
}

static void nothing_release(void *block)
{
    (void)block;
}

/* ----------------------------------------------------------------- playing */

static void *player_part_main(void *of)
{
    const struct player_seat *seat = of;
    part_play(&seat->player->play, &seat->player->parts[seat->part]);
    return NULL;
}

static void player_join(struct player *p, uint32_t part)
{
    if (part == 0)
        while (sem_wait(&p->first_ended) != 0)
            continue;
    else
        pthread_join(p->threads[part], NULL);
}

/* Starts all parts but the first, each when its time has come, and waits for all. */
static void *player_conduct(void *of)
{
    struct player *p = of;
    struct player_seat *seats = (struct player_seat *)(p->threads + p->head->parts);
    uint32_t joined = 0;
    pthread_attr_t how;
    pthread_attr_init(&how);
    pthread_attr_setstacksize(&how, PLAYER_STACK);
    for (uint32_t i = 1; i < p->head->parts; i++) {
        for (; joined < p->parts[i].after; joined++)
            player_join(p, p->parts[joined].ends);
        seats[i] = (struct player_seat){p, i};
        int error = pthread_create(&p->threads[i], &how, player_part_main, &seats[i]);
        if (error != 0)
            player_give_up(p->result, SCORE_NO_THREAD, error);
    }
    for (; joined < p->head->parts; joined++)
        player_join(p, p->parts[joined].ends);
    pthread_attr_destroy(&how);
    return NULL;
}

static void player_play(struct player *p, const struct part_allocator *allocator, enum score_touch touch)
{
    pthread_t conductor;
    p->play.allocator = *allocator;
    p->play.touch = touch;
    p->play.cpu_ns = p->play.calls = p->play.failed = 0;
    if (p->head->parts > 1) {
        int error = pthread_create(&conductor, NULL, player_conduct, p);
        if (error != 0)
            player_give_up(p->result, SCORE_NO_THREAD, error);
    }
    part_play(&p->play, &p->parts[0]);
    sem_post(&p->first_ended);
    if (p->head->parts > 1)
        pthread_join(conductor, NULL);
    else
        sem_wait(&p->first_ended);
}

static void *player_map(int fd, size_t bytes)
{
    int flags = fd >= 0 ? MAP_PRIVATE : MAP_PRIVATE | MAP_ANONYMOUS;
    void *at = mmap(NULL, bytes, fd >= 0 ? PROT_READ : PROT_READ | PROT_WRITE, flags, fd, 0);
    return at == MAP_FAILED ? NULL : at;
}

/* Threads keep together from now on. */
static void player_hold(struct player *p, enum score_lead lead)
{
    if (p->head->windows == 0)
        return;
    _Atomic uint32_t *windows = player_map(-1, p->head->windows * sizeof *windows);
    if (windows == NULL)
        player_give_up(p->result, SCORE_NO_MEMORY, errno);
    for (uint64_t i = 0; i < p->head->windows; i++)
        windows[i] = p->windows[i].parts;
    p->play.lead = (uint64_t)lead;
    p->play.window_count = p->head->windows;
    p->play.windows = windows;
}

static void player_measure(struct player *p, enum score_touch touch, enum score_lead lead,
                           struct score_result *result)
{
    static const struct part_allocator nothing = {nothing_make, nothing_make_zeroed, nothing_make_aligned,
                                                  nothing_change, nothing_release};
    static const struct part_allocator real = {malloc, calloc, posix_memalign, realloc, free};
    struct gauge_memory before, after;
    for (unsigned i = 0; i < 2; i++) {
        player_play(p, &nothing, SCORE_TOUCH_NONE);
        if (i == 0 || p->play.cpu_ns < result->own_cpu_ns)
            result->own_cpu_ns = p->play.cpu_ns;
        memset((void *)p->play.slots, 0, p->play.slot_count * sizeof *p->play.slots);
    }
    player_hold(p, lead);
    if (!gauge_forget_peak() || !gauge_read_memory(&before))
        player_give_up(p->result, SCORE_NO_RSS, errno);
    uint64_t from = gauge_now_ns();
    player_play(p, &real, touch);
    result->elapsed_ns = gauge_now_ns() - from;
    if (!gauge_read_memory(&after))
        player_give_up(p->result, SCORE_NO_RSS, errno);
    uint64_t cpu_ns = p->play.cpu_ns;
    result->cpu_ns = cpu_ns > result->own_cpu_ns ? cpu_ns - result->own_cpu_ns : 0;
    result->calls = p->play.calls;
    result->failed = p->play.failed;
    result->own_rss_bytes = before.rss_bytes;
    result->peak_rss_bytes =
        after.peak_rss_bytes > before.rss_bytes ? after.peak_rss_bytes - before.rss_bytes : 0;
}

/* ----------------------------------------------------------------- opening */

/* Maps head and parts, and makes the slots. */
static void player_open(struct player *p, int score)
{
    struct score_head head;
    struct stat st;
    if (pread(score, &head, sizeof head, 0) != sizeof head || head.magic != SCORE_MAGIC || head.parts == 0 ||
        fstat(score, &st) != 0)
        player_give_up(p->result, SCORE_BAD, 0);
    uint64_t offset = sizeof head + (uint64_t)head.parts * sizeof *p->parts, size = (uint64_t)st.st_size;
    if (offset > size || head.windows > (size - offset) / sizeof *p->windows)
        player_give_up(p->result, SCORE_BAD, 0);
    offset = (offset + head.windows * sizeof *p->windows + 15) & ~UINT64_C(15);
    if (offset > size || head.calls > (size - offset) / sizeof(struct score_call))
        player_give_up(p->result, SCORE_BAD, 0);
    p->head = player_map(score, offset);
    p->parts = (const struct score_part *)(p->head + 1);
    p->windows = (const struct score_window *)(p->parts + head.parts);
    p->threads = player_map(-1, (sizeof *p->threads + sizeof(struct player_seat)) * head.parts);
    p->play.slots = player_map(-1, ((size_t)head.slots + 1) * sizeof *p->play.slots);
    if (p->head == NULL || p->threads == NULL || p->play.slots == NULL)
        player_give_up(p->result, SCORE_NO_MEMORY, errno);
    p->play.slot_count = head.slots;
    p->play.score = score;
    p->play.calls_offset = offset;
    for (uint32_t i = 0; i < head.parts; i++) {
        const struct score_part *part = &p->parts[i];
        if (part->first > head.calls || part->count > head.calls - part->first || part->after > i ||
            part->ends >= head.parts)
            player_give_up(p->result, SCORE_BAD, 0);
    }
    sem_init(&p->first_ended, 0, 0);
}

struct player_search {
    const char *name;
    struct score_result *result;
};

static int player_find(struct dl_phdr_info *info, size_t size, void *of)
{
    const struct player_search *search = of;
    const char *slash = strrchr(info->dlpi_name, '/');
    (void)size;
    if (strcmp(slash == NULL ? info->dlpi_name : slash + 1, search->name) != 0)
        return 0;
    strncpy(search->result->path, info->dlpi_name, sizeof search->result->path - 1);
    return 1;
}

/* We end with who started us, and before any other program when memory runs out. */
static void player_be_modest(void)
{
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    ssize_t done = fd < 0 ? 0 : write(fd, "1000", 4);
    (void)done; /* it is a courtesy */
    if (fd >= 0)
        close(fd);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
}

int main(int argc, char **argv)
{
    static struct player player;
    static struct score_result result;
    if (argc < 5 || argc > 6)
        return 2;
    player_be_modest();
    player.result = atoi(argv[2]);
    result.magic = SCORE_MAGIC;
    result.outcome = SCORE_PLAYED;
    if (argc == 6) {
        const char *slash = strrchr(argv[5], '/');
        struct player_search search = {slash == NULL ? argv[5] : slash + 1, &result};
        if (dl_iterate_phdr(player_find, &search) == 0)
            player_give_up(player.result, SCORE_NOT_LOADED, 0);
    }
    player_open(&player, atoi(argv[1]));
    player_measure(&player, (enum score_touch)atoi(argv[3]), (enum score_lead)atoi(argv[4]), &result);
    if (player.play.is_bad)
        player_give_up(player.result, SCORE_BAD, 0);
    player_tell(player.result, &result);
    return 0;
}
