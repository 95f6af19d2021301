/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * view: see view.h.
 */
#include "collect/view.h"

#include "wire/filter.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define VIEW_SIZE_MAX (UINT64_C(1) << 40)
#define VIEW_SIZE_MIN ((size_t)32 << 20)
#define VIEW_SPARE ((size_t)16 << 20)

static bool view_fits(uint64_t offset, uint64_t count, uint64_t each, uint64_t size)
{
    uint64_t bytes;
    return !__builtin_mul_overflow(count, each, &bytes) && offset <= size && bytes <= size - offset;
}

/* Checks the copied head against what is mapped; a spool that was cut keeps what is there. */
static int view_check(struct view *v, uint64_t file_size, struct err *err)
{
    struct segment_head *h = &v->fixed;
    if (h->magic != SEGMENT_MAGIC)
        return err_set(err, ERR_INPUT, "This is not a heapwake segment.");
    if (h->version != SEGMENT_VERSION)
        return err_set(err, ERR_UNSUPPORTED, "The segment has version %u; this heapwake knows version %u.",
                       h->version, SEGMENT_VERSION);
    if ((v->is_spool || v->is_cut) && h->chunk_offset <= file_size) {
        uint64_t there = (file_size - h->chunk_offset) / SEGMENT_CHUNK_SIZE;
        if (h->chunk_max > there)
            h->chunk_max = (uint32_t)there;
    }
    if (h->lane_offset < SEGMENT_HEAD_SIZE || h->lane_offset % 4 != 0 || h->next_offset % 4 != 0 ||
        h->chunk_offset % 4096 != 0 || h->chunk_offset < SEGMENT_HEAD_SIZE + SEGMENT_TEXT_SIZE ||
        h->next_offset < SEGMENT_HEAD_SIZE || !view_fits(h->lane_offset, h->lane_max, 4, file_size) ||
        !view_fits(h->next_offset, h->chunk_max, 4, file_size) ||
        (h->filter_offset != 0 &&
         (h->filter_offset < SEGMENT_HEAD_SIZE + SEGMENT_TEXT_SIZE || h->filter_offset % 8 != 0 ||
          !view_fits(h->filter_offset, 1, sizeof(struct filter), file_size))) ||
        !view_fits(h->chunk_offset, h->chunk_max, SEGMENT_CHUNK_SIZE, file_size))
        return err_set(err, ERR_INPUT, "The segment's head contradicts its size.");
    if (h->pass_offset % 4 != 0 || h->pass_offset < SEGMENT_HEAD_SIZE ||
        !view_fits(h->pass_offset, 1, SEGMENT_PASS_SIZE, file_size))
        return err_set(err, ERR_INPUT, "The segment's pass list lies outside it.");
    if (h->stamp_kind != SEGMENT_STAMP_TSC && h->stamp_kind != SEGMENT_STAMP_SEQUENCE)
        return err_set(err, ERR_UNSUPPORTED, "The segment has stamps of the unknown kind %u.", h->stamp_kind);
    return 0;
}

static void view_copy_text(struct view *v)
{
    size_t exe = v->fixed.exe_length, args = v->fixed.args_length;
    if (exe > SEGMENT_TEXT_SIZE)
        exe = SEGMENT_TEXT_SIZE;
    if (args > SEGMENT_TEXT_SIZE - exe)
        args = SEGMENT_TEXT_SIZE - exe;
    const uint8_t *text = v->base + SEGMENT_HEAD_SIZE;
    memcpy(v->exe, text, exe);
    v->exe[exe] = '\0';
    memcpy(v->args, text + exe, args);
    v->fixed.job[sizeof v->fixed.job - 1] = v->fixed.rank[sizeof v->fixed.rank - 1] = '\0';
    v->args[args] = '\0';
    v->args_length = args;
}

/* What the mapping leaves must do for all the rest of our work. */
static bool view_leaves_room(void)
{
    void *spare = mmap(NULL, VIEW_SPARE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (spare == MAP_FAILED)
        return false;
    munmap(spare, VIEW_SPARE);
    return true;
}

static int view_map(struct view *v, int fd, struct err *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size < SEGMENT_HEAD_SIZE + SEGMENT_TEXT_SIZE ||
        (uint64_t)st.st_size > VIEW_SIZE_MAX)
        return err_set(err, ERR_INPUT, "The segment has an impossible size.");
    int share = v->is_spool ? MAP_PRIVATE | MAP_NORESERVE : MAP_SHARED;
    size_t size = (size_t)st.st_size;
    void *base = mmap(NULL, size, PROT_READ | PROT_WRITE, share, fd, 0);
    /* A limit on our address space: the file is sparse, and its front is what is used first. */
    while ((base == MAP_FAILED || !view_leaves_room()) && size > VIEW_SIZE_MIN) {
        if (base != MAP_FAILED)
            munmap(base, size);
        size = size / 2 & ~(size_t)4095;
        v->is_cut = true;
        base = mmap(NULL, size, PROT_READ | PROT_WRITE, share, fd, 0);
    }
    if (base == MAP_FAILED)
        return err_set(err, ERR_MEMORY, "A segment of %lld bytes cannot be mapped: %s.",
                       (long long)st.st_size, strerror(errno));
    v->base = base;
    v->size = size;
    v->head = base;
    memcpy(&v->fixed, base, sizeof v->fixed);
    int code = view_check(v, v->size, err);
    if (code != 0) {
        view_close(v);
        return code;
    }
    v->lanes = (uint32_t *)(void *)(v->base + v->fixed.lane_offset);
    v->next = (uint32_t *)(void *)(v->base + v->fixed.next_offset);
    v->pass = (uint32_t *)(void *)(v->base + v->fixed.pass_offset);
    v->chunks = v->base + v->fixed.chunk_offset;
    v->filter = v->fixed.filter_offset == 0 ? NULL : (void *)(v->base + v->fixed.filter_offset);
    view_copy_text(v);
    return 0;
}

int view_open(struct view *v, int fd, struct err *err)
{
    memset(v, 0, sizeof *v);
    int sealed = fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK);
    if (sealed != 0) {
        int seals = fcntl(fd, F_GET_SEALS);
        if (seals < 0 || (seals & F_SEAL_SHRINK) == 0)
            return err_set(err, ERR_INPUT, "The segment cannot be kept from shrinking.");
    }
    return view_map(v, fd, err);
}

int view_open_spool(struct view *v, int fd, struct err *err)
{
    memset(v, 0, sizeof *v);
    v->is_spool = true;
    return view_map(v, fd, err);
}

void view_allow(struct view *v, uint32_t chunks)
{
    if (v->fixed.pool != 0)
        return;
    v->fixed.pool = chunks;
    __atomic_store_n(&v->head->pool, chunks, __ATOMIC_RELAXED);
}

void view_close(struct view *v)
{
    if (v->base != NULL)
        munmap(v->base, v->size);
    v->base = NULL;
    v->head = NULL;
}
