/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * store_fuzz: the reader over arbitrary bytes.
 *
 * Checksums would keep a fuzzer from ever getting past them, so unless the
 * first byte says otherwise they are put right before the bytes are read, and
 * payloads are marked as not compressed. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mend.h"
#include "store/annex.h"
#include "store/level_table.h"
#include "store/live.h"
#include "store/names.h"
#include "store/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int visit(const struct wake_block *b, void *context)
{
    struct wake_live *live = context;
    for (uint32_t i = 0; i < b->count; i++) {
        struct wake_live_block was;
        if (i > 0 && b->time_ns[i] < b->time_ns[i - 1])
            abort();
        if (b->event[i] == WAKE_ALLOC && !wake_live_add(live, b, i))
            abort();
        if (b->event[i] == WAKE_FREE)
            (void)wake_live_take(live, b->number[i], &was);
    }
    return 0;
}

static void walk_stacks(const struct wake_process *p)
{
    for (uint32_t i = 0; i < p->stacks.count; i++) {
        uint32_t depth = 0;
        for (uint32_t node = p->stacks.data[i].leaf; node != 0; node = p->nodes.data[node].parent)
            depth++;
        if (depth != p->stacks.data[i].depth)
            abort();
    }
}

/* Rows for stacks that are there and for one that is not; floors are never above what they were. */
static void read_levels(struct wake_reader *r)
{
    static const uint32_t stacks[] = {0, 1, 2, 7, UINT32_MAX};
    for (uint32_t i = 0; i < wake_reader_process_count(r); i++) {
        struct level_table l;
        level_table_init(&l);
        if (level_table_read(&l, r, i, stacks, 5) == 0)
            for (size_t k = 0; k < l.rows.count; k++)
                for (size_t t = l.rows.data[k].first_tick; t < LEVEL_TABLE_TICKS; t++)
                    if (t > 0 && l.rows.data[k].floor[t] > l.rows.data[k].level[t - 1])
                        abort();
        level_table_release(&l);
    }
}

static int count_bytes(const uint8_t *bytes, size_t length, void *context)
{
    *(uint64_t *)context += length + (length > 0 ? bytes[length - 1] & 0 : 0);
    return 0;
}

/* Every name and every binary; names that were read can be written. */
static void walk_names(struct wake_reader *r, const char *path)
{
    struct names *n = wake_reader_names(r);
    struct wake_annex *a;
    for (size_t i = 0; i < wake_reader_process_count(r); i++) {
        const struct wake_process *p = wake_reader_process(r, i);
        for (size_t k = 0; k < p->nodes.count; k++) {
            const struct name_place *place = wake_reader_name(r, i, &p->nodes.data[k]);
            if (place != NULL && (place->count == 0 || place->frames[place->count - 1].function == NULL))
                abort();
        }
    }
    for (size_t i = 0; i < wake_reader_binary_count(r); i++) {
        uint64_t length = 0;
        int code = wake_reader_copy_binary(r, i, count_bytes, &length, NULL);
        if (code == 0 && length != wake_reader_binary(r, i)->length)
            abort();
    }
    if (wake_annex_open(&a, path, NULL) != 0)
        return;
    size_t places = names_count(n);
    wake_annex_add_names(a, n);
    struct wake_reader *again;
    if (wake_annex_close(a, NULL) != 0 || wake_reader_open(&again, path, NULL) != 0)
        abort();
    if (names_count(wake_reader_names(again)) < places)
        abort();
    wake_reader_close(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    char path[64];
    struct wake_reader *r;
    struct err err;
    if (size < 1)
        return 0;
    uint8_t *bytes = malloc(size);
    memcpy(bytes, data + 1, size - 1);
    if (data[0] != 0)
        mend(bytes, size - 1);
    if (fd < 0)
        fd = memfd_create("store_fuzz", MFD_CLOEXEC);
    if (ftruncate(fd, 0) != 0 || pwrite(fd, bytes, size - 1, 0) < 0)
        abort();
    free(bytes);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (wake_reader_open(&r, path, &err) != 0)
        return 0;
    for (size_t i = 0; i < wake_reader_process_count(r); i++) {
        struct wake_live live;
        wake_live_init(&live);
        walk_stacks(wake_reader_process(r, i));
        (void)wake_reader_visit(r, i, 0, UINT64_MAX, visit, &live, &err);
        (void)wake_reader_visit(r, i, 1000, 2000, visit, &live, &err);
        wake_live_release(&live);
    }
    read_levels(r);
    (void)wake_reader_verify(r, &err);
    walk_names(r, path);
    wake_reader_close(r);
    return 0;
}
