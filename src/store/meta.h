/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * meta: what is known of a process beside its events, as it gathers for the
 * next chunks: threads, modules, stacks, samples, marks, pools, usage, gaps.  Encoding only; the
 * opposite is in store/meta_decoder.c.
 */
#ifndef HW_STORE_META_H
#define HW_STORE_META_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/weight.h"
#include "store/writer.h"
#include "tool/strbuf.h"

enum {
    META_MODULE_SLOTS = 64,
    META_TEXT_MAX = 4096, /* bytes of a path or a name; more is cut */
    META_ARGS_MAX = 1 << 20,
    META_FRAMES_MAX = 1000000, /* of a stack; of a longer one both ends are kept */
    META_ENOUGH = 256 << 10,   /* gathered bytes that are worth a chunk */
    META_USAGE_STEP = 2048,    /* ranges in a record of usage: with META_ENOUGH it stays below a chunk */
};

struct meta {
    struct strbuf threads, modules, stacks, samples, marks, pools, usage, gaps;
    struct strbuf scratch;
    uint32_t module_count, stack_count;
    uint64_t mark_count;
    uint64_t sample_ns, sample_rss; /* the latest sample of this chunk */
    struct weight_gap gap;          /* the latest gap of this chunk */
    struct wake_frame *last;        /* the latest stack of this chunk, outermost first */
    uint32_t last_count, last_capacity;
    uint64_t last_address[META_MODULE_SLOTS]; /* latest address by module number */
};

void meta_init(struct meta *m);
void meta_release(struct meta *m);

void meta_add_thread(struct meta *m, uint32_t thread, uint32_t tid, uint64_t time_ns);
void meta_name_thread(struct meta *m, uint32_t thread, const char *name, size_t length, uint64_t time_ns);
uint32_t meta_add_module(struct meta *m, const struct wake_module_info *info);
uint32_t meta_add_stack(struct meta *m, const struct wake_frame *frames, uint32_t count, uint32_t omitted,
                        unsigned cut);
void meta_add_sample(struct meta *m, uint64_t time_ns, uint64_t rss_bytes);
/* At most META_USAGE_STEP of them. */
void meta_add_usage(struct meta *m, uint64_t time_ns, uint64_t took_ns, bool anew,
                    const struct wake_usage *ranges, size_t count);
void meta_add_pool(struct meta *m, uint32_t pool, const char *name, const char *unit);
void meta_add_mark(struct meta *m, uint64_t time_ns, uint32_t thread, const char *name, size_t length);

/* Ignored unless its number is higher than those in this chunk. */
void meta_add_gap(struct meta *m, uint64_t number, uint64_t skipped);

/* Something has gathered that is worth a chunk of its own. */
bool meta_is_full(const struct meta *m);
/* The buffers have been written: begin new ones. */
void meta_restart(struct meta *m);

/* Payloads that are made in one go. */
void meta_encode_process(struct strbuf *to, const struct wake_process_info *info);
void meta_encode_end(struct strbuf *to, const struct wake_process_end *end);
void meta_encode_totals(struct strbuf *to, const struct wake_stack_totals *totals, uint32_t first,
                        uint32_t count);
/* Rows of the stacks first .. first + count - 1; those without culled blocks are left out. */
void meta_encode_omissions(struct strbuf *to, const struct wake_omissions *o,
                           const struct wake_culled_stack *rows, size_t first, size_t count);
void meta_encode_live(struct strbuf *to, const struct wake_live_block *live, size_t count);

#endif
