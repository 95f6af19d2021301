/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * level_table: see level_table.h.
 *
 * The chunk (docs/format.md) has the ticks and then the rows, by rising stack.  A row names the
 * ticks in which something happened; in the others the level stays what it was.
 */
#include "store/level_table.h"

#include <string.h>
#include <sys/wait.h>

#include "base/cursor.h"
#include "base/varint.h"
#include "store/format.h"
#include "store/recording.h"
#include "tool/map.h"

void level_table_init(struct level_table *l)
{
    memset(l, 0, sizeof *l);
}

void level_table_release(struct level_table *l)
{
    vec_release(&l->rows);
}

/* ---------------------------------------------------------------- from a course */

/* Which of the levels' ticks each of the course's becomes a part of: that in which it ends, so that
 * a shutdown never spreads to the tick before it. */
struct level_table_map {
    uint8_t to[LEVEL_SAMPLER_TICKS_MAX + 1];
    double a_ns, an_allocation; /* ticks */
};

static double level_table_position(const struct level_table_map *m, const struct level_sampler *c,
                                   const struct level_sampler_tick *t)
{
    uint64_t past = t->end_ns > c->from_ns ? t->end_ns - c->from_ns : 0;
    return (double)past * m->a_ns + (double)t->allocations * m->an_allocation;
}

static struct level_sampler_tick level_table_tick(const struct level_sampler *c,
                                                  const struct level_table_end *end, uint32_t i)
{
    return i < c->tick ? c->ticks[i] : (struct level_sampler_tick){end->end_ns, end->allocations, end->frees};
}

/* The ticks up to (not with) `next` are over; the course's tick that ends at `position` went through
 * all their ends, evenly. */
static void level_table_pass(struct level_table *l, size_t *tick, size_t next,
                             const struct level_sampler_tick *begin, double begin_position,
                             const struct level_sampler_tick *end, double position)
{
    for (; *tick < next; ++*tick) {
        double whole = position - begin_position, part = (double)(*tick + 1) - begin_position;
        uint64_t length = end->end_ns > begin->end_ns ? end->end_ns - begin->end_ns : 0;
        uint64_t past = part <= 0 ? 0 : part >= whole ? length : (uint64_t)(part / whole * (double)length);
        l->until_ns[*tick] = begin->end_ns + (past < length ? past : length);
    }
}

static void level_table_fold(struct level_table *l, struct level_table_map *m, const struct level_sampler *c,
                             const struct level_table_end *end)
{
    uint64_t life = end->end_ns > c->from_ns ? end->end_ns - c->from_ns : 0;
    double half = life > 0 ? LEVEL_TABLE_TICKS / 2.0 : LEVEL_TABLE_TICKS;
    m->a_ns = life > 0 ? half / (double)life : 0;
    m->an_allocation = half / (double)(end->allocations > 0 ? end->allocations : 1);
    l->from_ns = c->from_ns;
    l->to_ns = c->from_ns + life;
    struct level_sampler_tick before = {.end_ns = c->from_ns};
    double position_before = 0;
    size_t tick = 0;
    for (uint32_t i = 0; i <= c->tick; i++) {
        struct level_sampler_tick now = level_table_tick(c, end, i);
        double position = level_table_position(m, c, &now);
        size_t at = position < LEVEL_TABLE_TICKS - 1 ? (size_t)position : LEVEL_TABLE_TICKS - 1;
        if (i == c->tick)
            at = LEVEL_TABLE_TICKS - 1;
        level_table_pass(l, &tick, at, &before, position_before, &now, position);
        m->to[i] = (uint8_t)at;
        l->made[at] += now.allocations - before.allocations;
        l->freed[at] += now.frees - before.frees;
        before = now;
        position_before = position;
    }
    l->until_ns[LEVEL_TABLE_TICKS - 1] = l->to_ns;
}

static void level_table_fold_row(struct level_table_row *to, const struct level_table_map *m,
                                 const struct level_sampler *c, const struct level_sampler_row *r)
{
    uint64_t level = 0, freed = 0;
    size_t i = 0;
    memset(to, 0, sizeof *to);
    to->stack = r->stack;
    to->highest = r->highest;
    to->blocks = r->made;
    to->first_ns = r->first_ns;
    to->last_ns = r->last_made == 0 ? r->first_ns : c->ticks[r->last_made - 1].end_ns;
    if (to->last_ns < to->first_ns)
        to->last_ns = to->first_ns;
    if (r->entries.count > 0)
        to->first_tick = m->to[r->entries.data[0].tick];
    for (size_t tick = 0; tick < LEVEL_TABLE_TICKS; tick++) {
        to->floor[tick] = level;
        for (; i < r->entries.count && m->to[r->entries.data[i].tick] == tick; i++) {
            const struct level_sampler_entry *e = &r->entries.data[i];
            to->floor[tick] = e->floor < to->floor[tick] ? e->floor : to->floor[tick];
            to->freed[tick] += e->freed - freed;
            level = e->level;
            freed = e->freed;
        }
        to->level[tick] = level;
    }
    to->left = level;
}

/* -------------------------------------------------------------------- encoding */

static void level_table_encode_row(struct strbuf *record, const struct level_table_row *r, uint64_t from_ns,
                                   uint32_t stack_before)
{
    uint64_t level = 0;
    size_t last = 0;
    strbuf_clear(record);
    strbuf_add_varint(record, r->stack - stack_before);
    strbuf_add_varint(record, r->first_ns > from_ns ? r->first_ns - from_ns : 0);
    strbuf_add_varint(record, r->last_ns - r->first_ns);
    strbuf_add_varint(record, r->highest);
    for (size_t i = r->first_tick; i < LEVEL_TABLE_TICKS; i++) {
        bool is_quiet = r->floor[i] == level && r->level[i] == level && r->freed[i] == 0;
        if (is_quiet && i != r->first_tick)
            continue;
        strbuf_add_varint(record, i - last);
        strbuf_add_varint(record, level - r->floor[i]);
        strbuf_add_varint(record, varint_zigzag(r->level[i] - level));
        strbuf_add_varint(record, r->freed[i]);
        level = r->level[i];
        last = i;
    }
}

static void level_table_add_record(struct strbuf *to, const struct strbuf *record)
{
    strbuf_add_varint(to, record->length);
    strbuf_add(to, record->text, record->length);
    to->failed |= record->failed;
}

void level_table_encode(struct strbuf *to, const struct level_sampler *c, const struct level_table_end *end)
{
    struct level_table l;
    struct level_table_map map;
    struct strbuf record;
    level_table_init(&l);
    strbuf_init(&record);
    level_table_fold(&l, &map, c, end);
    strbuf_add_varint(&record, LEVEL_TABLE_TICKS);
    for (size_t i = 0; i < LEVEL_TABLE_TICKS; i++) {
        strbuf_add_varint(&record, l.until_ns[i] - (i == 0 ? l.from_ns : l.until_ns[i - 1]));
        strbuf_add_varint(&record, l.made[i]);
        strbuf_add_varint(&record, l.freed[i]);
    }
    level_table_add_record(to, &record);
    uint32_t before = 0;
    for (size_t i = 0; i < c->numbers.count; i++) {
        const struct level_sampler_row *from = level_sampler_find(c, (uint32_t)i);
        struct level_table_row row;
        if (from == NULL)
            continue;
        level_table_fold_row(&row, &map, c, from);
        level_table_encode_row(&record, &row, c->from_ns, before);
        level_table_add_record(to, &record);
        before = row.stack;
    }
    strbuf_release(&record);
}

/* -------------------------------------------------------------------- decoding */

/* 0; ERR_ABSENT: of another kind than this build knows; ERR_INPUT. */
static int level_table_decode_ticks(struct level_table *l, struct cursor *c)
{
    uint64_t at = l->from_ns, count = cursor_uleb(c);
    if (count != LEVEL_TABLE_TICKS)
        return cursor_is_bad(c) ? ERR_INPUT : ERR_ABSENT;
    for (size_t i = 0; i < LEVEL_TABLE_TICKS; i++) {
        uint64_t length = cursor_uleb(c);
        if (length > UINT64_MAX - at)
            return ERR_INPUT;
        l->until_ns[i] = at += length;
        l->made[i] = cursor_uleb(c);
        l->freed[i] = cursor_uleb(c);
    }
    return cursor_is_bad(c) ? ERR_INPUT : 0;
}

/* A row behind its stack. */
static int level_table_decode_row(struct level_table_row *r, struct cursor *c, uint64_t from_ns)
{
    uint64_t level = 0, tick = 0, first = cursor_uleb(c), length = cursor_uleb(c);
    r->highest = cursor_uleb(c);
    if (first > UINT64_MAX - from_ns || length > UINT64_MAX - from_ns - first)
        return ERR_INPUT;
    r->first_ns = from_ns + first;
    r->last_ns = r->first_ns + length;
    for (bool is_first = true; cursor_left(c) > 0; is_first = false) {
        uint64_t step = cursor_uleb(c), fall = cursor_uleb(c);
        if (step >= LEVEL_TABLE_TICKS - tick || (step == 0 && !is_first) || fall > level)
            return ERR_INPUT;
        if (is_first)
            r->first_tick = step;
        for (uint64_t i = tick + 1; i < tick + step && !is_first; i++)
            r->floor[i] = r->level[i] = level;
        tick += step;
        r->floor[tick] = level - fall;
        r->level[tick] = level += varint_unzigzag(cursor_uleb(c));
        r->freed[tick] = cursor_uleb(c);
    }
    for (uint64_t i = tick + 1; i < LEVEL_TABLE_TICKS; i++)
        r->floor[i] = r->level[i] = level;
    r->left = level;
    return cursor_is_bad(c) ? ERR_INPUT : 0;
}

/* ----------------------------------------------------------------------- reading */

static void level_table_begin(struct level_table *l, const struct wake_process *p)
{
    bool was_killed = p->end.wait_status >= 0 && WIFSIGNALED(p->end.wait_status);
    l->from_ns = p->info.start_ns;
    l->to_ns = p->end.end_ns > p->info.start_ns ? p->end.end_ns : p->info.start_ns;
    l->exited = p->ended && !p->end.execed && !was_killed;
}

/* The peak of the process is between the ends of ticks. */
static void level_table_add_peak(struct level_table_row *r, const struct wake_process *p)
{
    uint64_t peak = r->stack < p->totals.count ? p->totals.data[r->stack].peak_bytes : 0;
    r->highest = peak > r->highest ? peak : r->highest;
}

bool level_table_add_course(struct level_table *l, const struct wake_process *p,
                            const struct level_sampler *c, const uint32_t *stacks, size_t count)
{
    const struct level_table_end end = {p->end.end_ns, p->end.allocations, p->end.frees};
    struct level_table_map map;
    level_table_fold(l, &map, c, &end);
    level_table_begin(l, p);
    for (size_t i = 0; i < count; i++) {
        const struct level_sampler_row *from = level_sampler_find(c, stacks[i]);
        struct level_table_row row = {.stack = stacks[i]};
        if (from != NULL)
            level_table_fold_row(&row, &map, c, from);
        level_table_add_peak(&row, p);
        if (!vec_push(&l->rows, row))
            return false;
    }
    return true;
}

/* What is done with a row, whose record goes on behind the stack. */
typedef int level_table_row_fn(void *of, uint32_t stack, struct cursor *record);

static int level_table_visit(struct level_table *l, const struct wake_process *p, struct cursor *c,
                             level_table_row_fn *visit, void *of)
{
    struct cursor record;
    uint64_t stack = 0;
    int code = cursor_take_record(c, &record) ? level_table_decode_ticks(l, &record) : ERR_INPUT;
    for (bool is_first = true; code == 0 && cursor_left(c) > 0; is_first = false) {
        uint64_t step = cursor_take_record(c, &record) ? cursor_uleb(&record) : 0;
        if (cursor_is_bad(c) || cursor_is_bad(&record) || step >= p->stacks.count - stack ||
            (step == 0 && !is_first))
            return ERR_INPUT;
        stack += step;
        code = visit(of, (uint32_t)stack, &record);
    }
    return cursor_is_bad(c) ? ERR_INPUT : code;
}

/* The chunk of a process; of one whose end is not there it would be of another life. */
static int level_table_find_chunk(struct wake_reader *r, uint32_t process, struct cursor *c)
{
    const struct wake_process *p = wake_reader_process(r, process);
    struct payload payload;
    int code = p->ended && !p->derived ? recording_read_levels(r, process, &payload) : ERR_ABSENT;
    if (code == 0)
        cursor_init(c, payload.bytes, payload.length);
    return code == ERR_INPUT ? ERR_ABSENT : code;
}

struct level_table_reading {
    struct level_table *levels;
    const struct wake_process *process;
    struct map rows; /* stack -> which */
};

static int level_table_take_row(void *of, uint32_t stack, struct cursor *record)
{
    struct level_table_reading *w = of;
    const uint64_t *at = map_find(&w->rows, stack);
    if (at == NULL)
        return 0;
    struct level_table_row *row = &w->levels->rows.data[*at];
    int code = level_table_decode_row(row, record, w->levels->from_ns);
    row->blocks = stack < w->process->totals.count ? w->process->totals.data[stack].allocations : 0;
    level_table_add_peak(row, w->process);
    return code;
}

int level_table_read(struct level_table *l, struct wake_reader *r, uint32_t process, const uint32_t *stacks,
                     size_t count)
{
    struct level_table_reading w = {.levels = l, .process = wake_reader_process(r, process)};
    struct cursor c;
    int code = level_table_find_chunk(r, process, &c);
    if (code != 0)
        return code;
    map_init(&w.rows);
    level_table_begin(l, w.process);
    for (size_t i = 0; i < count && code == 0; i++)
        if (!vec_push(&l->rows, (struct level_table_row){.stack = stacks[i]}) ||
            !map_set(&w.rows, stacks[i], i))
            code = ERR_MEMORY;
    if (code == 0)
        code = level_table_visit(l, w.process, &c, level_table_take_row, &w);
    map_release(&w.rows);
    if (code == ERR_INPUT)
        recording_damage_levels(r, process);
    return code == ERR_INPUT ? ERR_ABSENT : code;
}

/* ---------------------------------------------------------------------- checking */

/* The row is about the same blocks as the totals of its stack. */
static int level_table_check_row(void *of, uint32_t stack, struct cursor *record)
{
    const struct level_table_reading *w = of;
    struct level_table_row row = {.stack = stack};
    int code = level_table_decode_row(&row, record, w->levels->from_ns);
    if (code != 0 || stack >= w->process->totals.count)
        return ERR_INPUT;
    const struct wake_stack_totals *t = &w->process->totals.data[stack];
    uint64_t freed = 0;
    for (size_t i = 0; i < LEVEL_TABLE_TICKS; i++)
        freed += row.freed[i];
    return row.left == t->allocated_bytes - t->freed_bytes && freed == t->freed ? 0 : ERR_INPUT;
}

int level_table_verify(struct wake_reader *r, size_t process, struct err *err)
{
    struct level_table l;
    struct level_table_reading w = {.levels = &l, .process = wake_reader_process(r, process)};
    const struct wake_process_end *end = &w.process->end;
    struct cursor c;
    int code = level_table_find_chunk(r, (uint32_t)process, &c);
    level_table_init(&l);
    level_table_begin(&l, w.process);
    if (code == 0)
        code = level_table_visit(&l, w.process, &c, level_table_check_row, &w);
    uint64_t made = 0, freed = 0;
    for (size_t i = 0; i < LEVEL_TABLE_TICKS; i++) {
        made += l.made[i];
        freed += l.freed[i];
    }
    if (code == 0 &&
        (made != end->allocations || freed != end->frees || l.until_ns[LEVEL_TABLE_TICKS - 1] != l.to_ns))
        code = ERR_INPUT;
    if (code == ERR_INPUT)
        recording_damage_levels(r, process);
    return code == ERR_MEMORY ? err_no_memory(err) : 0;
}
