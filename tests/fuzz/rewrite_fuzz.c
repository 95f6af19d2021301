/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * rewrite_fuzz: new recordings and scores made of recordings that make no sense.
 * What becomes of one can be read again and has no more events than it had; a
 * score can be played to its end.
 *
 * Input: as that of store_fuzz. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/anonymize_recording.h"
#include "analysis/fake_player.h"
#include "analysis/replay_script.h"
#include "mend.h"
#include "store/rewrite.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whatever fails says why. */
static bool expect(int code, const struct err *err)
{
    if (code != 0 && err->text[0] == '\0')
        abort();
    return code == 0;
}

static int add_count(const struct wake_block *b, void *context)
{
    *(uint64_t *)context += b->count;
    return 0;
}

/* Events that can be read, whatever the index says. */
static uint64_t count_events(struct wake_reader *r)
{
    uint64_t count = 0;
    for (size_t i = 0; i < wake_reader_process_count(r); i++)
        (void)wake_reader_visit(r, i, 0, UINT64_MAX, add_count, &count, NULL);
    return count;
}

static void rewrite_it(struct wake_reader *r, const struct rewrite_mask *mask,
                       const struct wake_cull_options *cull, unsigned times, const char *path)
{
    struct wake_rewrite *s;
    struct wake_reader *again;
    struct err err;
    err_init(&err);
    uint64_t events = count_events(r) * times;
    const struct rewrite_options options = {.wall_ns = wake_rewrite_earliest(&r, 1), .cull = cull};
    if (!expect(wake_rewrite_open(&s, path, &options, &err), &err))
        abort();
    bool done = true;
    for (unsigned i = 0; i < times && done; i++)
        done = expect(wake_rewrite_add(s, r, mask, &err), &err);
    if (!expect(wake_rewrite_close(s, done, &err), &err) || !done)
        return;
    if (!expect(wake_reader_open(&again, path, &err), &err)) {
        unlink(path);
        return;
    }
    if (count_events(again) > events)
        abort();
    (void)wake_reader_verify(again, &err);
    wake_reader_close(again);
    unlink(path);
}

static void compose(struct wake_reader *r, size_t process)
{
    struct replay_script c;
    struct err err;
    err_init(&err);
    replay_script_init(&c);
    if (expect(replay_script_read(&c, r, process, &err), &err)) {
        void *memory = calloc(1, c.bytes);
        if (memory == NULL)
            abort();
        if (expect(replay_script_write(&c, r, memory, &err), &err)) {
            (void)fake_player(memory, SCORE_LEAD_FREE);
            (void)fake_player(memory, SCORE_LEAD_TOGETHER);
        }
        free(memory);
    }
    replay_script_release(&c);
}

static void rewrite(struct wake_reader *r, const char *path)
{
    struct anonymize_recording d;
    struct err err;
    err_init(&err);
    for (size_t i = 0; i < wake_reader_process_count(r); i++)
        compose(r, i);
    rewrite_it(r, NULL, NULL, 2, path);
    rewrite_it(r, NULL, &(struct wake_cull_options){.threshold_ns = 1000, .pending = 1 << 10}, 1, path);
    for (int level = ANONYMIZE_PARTIAL; level <= ANONYMIZE_FULL; level++) {
        if (expect(anonymize_recording_init(&d, r, (enum anonymize_level)level, &err), &err))
            rewrite_it(r, &d.mask, NULL, 1, path);
        anonymize_recording_release(&d);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[2][64];
    struct wake_reader *r;
    struct err err;
    if (size < 1)
        return 0;
    for (int i = 0; i < 2; i++)
        snprintf(path[i], sizeof path[i], "/dev/shm/rewrite_fuzz.%d.%d", (int)getpid(), i);
    uint8_t *bytes = malloc(size);
    memcpy(bytes, data + 1, size - 1);
    if (data[0] != 0)
        mend(bytes, size - 1);
    FILE *f = fopen(path[0], "w");
    if (f == NULL || fwrite(bytes, 1, size - 1, f) != size - 1 || fclose(f) != 0)
        abort();
    free(bytes);
    if (wake_reader_open(&r, path[0], &err) == 0) {
        rewrite(r, path[1]);
        wake_reader_close(r);
    }
    unlink(path[0]);
    return 0;
}
