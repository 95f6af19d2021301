/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * sqlite: everything that a recording holds about the blocks that match, as
 * tables; docs/sqlite.md is the law.
 *
 * Blocks are written when they are freed, and at the end those that are left, so
 * that only live ones are kept.  Frames and traces come after them: a block may
 * have a stack that no row of the answer has.
 */
#include "export/export.h"

#include "engine/follow.h"
#include "export/database.h"
#include "present/labels.h"

static const char sqlite_schema[] =
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;"
    "CREATE TABLE note (note INTEGER PRIMARY KEY, text TEXT);"
    "CREATE TABLE process (process INTEGER PRIMARY KEY, pid INTEGER, ppid INTEGER, parent INTEGER,"
    " command TEXT, start_ns INTEGER, end_ns INTEGER, peak_rss_bytes INTEGER);"
    "CREATE TABLE thread (process INTEGER, thread INTEGER, tid INTEGER, name TEXT, start_ns INTEGER,"
    " PRIMARY KEY (process, thread)) WITHOUT ROWID;"
    "CREATE TABLE module (process INTEGER, module INTEGER, path TEXT, build_id TEXT, start INTEGER,"
    " end INTEGER, bias INTEGER, PRIMARY KEY (process, module)) WITHOUT ROWID;"
    "CREATE TABLE sample (process INTEGER, time_ns INTEGER, rss_bytes INTEGER);"
    "CREATE TABLE mark (process INTEGER, time_ns INTEGER, thread INTEGER, name TEXT);"
    "CREATE TABLE timeline (from_ns INTEGER, live_bytes INTEGER, live_blocks INTEGER, rss_bytes INTEGER,"
    " allocations INTEGER, frees INTEGER, allocated_bytes INTEGER);"
    "CREATE TABLE frame (frame INTEGER PRIMARY KEY, function TEXT, linkage TEXT, file TEXT, line INTEGER,"
    " module TEXT, address INTEGER, inlined INTEGER, role TEXT);"
    "CREATE TABLE trace (trace INTEGER PRIMARY KEY, caller INTEGER, frame INTEGER, depth INTEGER,"
    " own INTEGER);"
    "CREATE TABLE site (trace INTEGER PRIMARY KEY, allocated_blocks INTEGER, allocated_bytes INTEGER,"
    " freed_blocks INTEGER, freed_bytes INTEGER, peak_blocks INTEGER, peak_bytes INTEGER,"
    " live_blocks INTEGER, live_bytes INTEGER, leaked_blocks INTEGER, leaked_bytes INTEGER,"
    " temporary_blocks INTEGER, slack_bytes INTEGER, lifetime_min_ns INTEGER, lifetime_max_ns INTEGER,"
    " first_ns INTEGER, last_ns INTEGER);"
    "CREATE TABLE block (process INTEGER, number INTEGER, trace INTEGER, thread INTEGER, kind TEXT,"
    " address INTEGER, size INTEGER, usable INTEGER, born_ns INTEGER, died_ns INTEGER,"
    " freeing_thread INTEGER, previous INTEGER, leaked INTEGER, blocks INTEGER, bytes INTEGER)";

/* Made when the tables are full: that is quicker. */
static const char sqlite_views[] =
    "CREATE INDEX block_trace ON block (trace);"
    "CREATE INDEX block_born ON block (born_ns);"
    "CREATE VIEW named_site AS SELECT f.function, f.file, f.line, f.module, s.*"
    " FROM site s LEFT JOIN trace t USING (trace) LEFT JOIN trace o ON o.trace = t.own"
    " LEFT JOIN frame f ON f.frame = o.frame;"
    "CREATE VIEW named_block AS SELECT p.pid, h.tid, h.name AS thread_name, f.function, f.file, f.line, b.*,"
    " b.died_ns - b.born_ns AS lifetime_ns"
    " FROM block b JOIN process p USING (process) LEFT JOIN thread h USING (process, thread)"
    " LEFT JOIN trace t USING (trace) LEFT JOIN trace o ON o.trace = t.own"
    " LEFT JOIN frame f ON f.frame = o.frame";

struct sqlite {
    const struct export_job *job;
    struct database db;
    struct err *err;
    struct query_range window;
    uint32_t process; /* whose blocks come */
    int blocks;       /* statement */
};

/* --------------------------------------------------------------------- blocks */

static int sqlite_begin(void *context, uint32_t process)
{
    struct sqlite *s = context;
    s->process = process;
    return 0;
}

/* A block keeps its trace from its birth on. */
static int sqlite_alloc(void *context, struct follow_block *block, bool is_earlier)
{
    struct sqlite *s = context;
    (void)is_earlier;
    return traces_find(s->job->traces, s->process, block->stack, &block->tag, s->err);
}

static int sqlite_put_block(struct sqlite *s, const struct follow_block *b, uint64_t died_ns, uint64_t freer)
{
    database_insert(&s->db, s->blocks, "iiiitiiiioooiii", (uint64_t)s->process, b->number, (uint64_t)b->tag,
                    (uint64_t)b->thread, labels_kind(b->kind), b->address, b->size, b->usable, b->born_ns,
                    died_ns, freer, b->previous == 0 ? UINT64_MAX : b->previous - 1, (uint64_t)b->is_leaked,
                    b->blocks, b->bytes);
    return database_has_failed(&s->db) ? ERR_IO : 0;
}

static int sqlite_release(void *context, const struct follow_block *block, const struct follow_end *end)
{
    return sqlite_put_block(context, block, end->time_ns, end->thread);
}

static int sqlite_left(void *context, const struct follow_block *block)
{
    return sqlite_put_block(context, block, UINT64_MAX, UINT64_MAX);
}

static int sqlite_put_blocks(struct sqlite *s)
{
    static const struct follow_calls calls = {sqlite_begin, sqlite_alloc, sqlite_release, sqlite_left};
    s->blocks = database_prepare(&s->db, "INSERT INTO block VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
    int code = follow_run(s->job->query, s->job->reader, FOLLOW_ALL, WAKE_EVERYTHING, &calls, s, s->err);
    return database_has_failed(&s->db) ? 0 : code; /* what failed there is told when it is closed */
}

/* ------------------------------------------------------------------ processes */

static bool sqlite_put_modules(struct sqlite *s, size_t process, int modules)
{
    const struct wake_process *p = wake_reader_process(s->job->reader, process);
    for (size_t i = 0; i < p->modules.count; i++) {
        const struct wake_module *m = &p->modules.data[i];
        const char *path = anonymize_text(s->job->veil, ANONYMIZE_MODULE, wake_process_module_path(p, m));
        struct strbuf build_id;
        strbuf_init(&build_id);
        for (size_t k = 0; s->job->veil->level != ANONYMIZE_FULL && k < m->build_id_length; k++)
            strbuf_addf(&build_id, "%02x", m->build_id[k]);
        if (path != NULL)
            database_insert(&s->db, modules, "iittiii", (uint64_t)process, (uint64_t)i + 1, path,
                            strbuf_get(&build_id), m->start, m->end, m->bias);
        bool ok = path != NULL && !build_id.failed;
        strbuf_release(&build_id);
        if (!ok)
            return false;
    }
    return true;
}

static bool sqlite_put_moments(struct sqlite *s, size_t process, int samples, int marks)
{
    const struct wake_process *p = wake_reader_process(s->job->reader, process);
    const struct query_range window = s->window;
    for (size_t i = 0; i < p->samples.count; i++) {
        const struct wake_sample *at = &p->samples.data[i];
        if (at->time_ns >= window.min && at->time_ns <= window.max)
            database_insert(&s->db, samples, "iii", (uint64_t)process, at->time_ns, at->rss_bytes);
    }
    for (size_t i = 0; i < p->marks.count; i++) {
        const struct wake_mark *m = &p->marks.data[i];
        const char *name = m->name == NULL ? "" : anonymize_text(s->job->veil, ANONYMIZE_MARK, m->name);
        if (name == NULL)
            return false;
        if (m->name != NULL && m->time_ns >= window.min && m->time_ns <= window.max)
            database_insert(&s->db, marks, "iiit", (uint64_t)process, m->time_ns, (uint64_t)m->thread, name);
    }
    return true;
}

static bool sqlite_put_processes(struct sqlite *s)
{
    struct database *d = &s->db;
    int processes = database_prepare(d, "INSERT INTO process VALUES (?,?,?,?,?,?,?,?)");
    int threads = database_prepare(d, "INSERT OR REPLACE INTO thread VALUES (?,?,?,?,?)");
    int modules = database_prepare(d, "INSERT INTO module VALUES (?,?,?,?,?,?,?)");
    int samples = database_prepare(d, "INSERT INTO sample VALUES (?,?,?)");
    int marks = database_prepare(d, "INSERT INTO mark VALUES (?,?,?,?)");
    bool ok = true;
    for (size_t i = 0; i < wake_reader_process_count(s->job->reader) && ok; i++) {
        const struct wake_process *p = wake_reader_process(s->job->reader, i);
        struct strbuf command;
        if (!export_has_process(s->job, i))
            continue;
        strbuf_init(&command);
        ok = export_add_command(s->job, i, &command);
        if (ok)
            database_insert(d, processes, "iiiotiii", (uint64_t)i, (uint64_t)p->info.pid,
                            (uint64_t)p->info.ppid,
                            p->info.parent == 0 ? UINT64_MAX : (uint64_t)p->info.parent - 1,
                            strbuf_get(&command), p->info.start_ns, p->end.end_ns, p->end.peak_rss_bytes);
        strbuf_release(&command);
        for (size_t k = 0; k < p->threads.count && ok; k++) {
            const struct wake_thread *t = &p->threads.data[k];
            const char *name = anonymize_text(s->job->veil, ANONYMIZE_THREAD, t->name);
            ok = name != NULL;
            if (ok)
                database_insert(d, threads, "iiiti", (uint64_t)i, (uint64_t)t->number, (uint64_t)t->tid, name,
                                t->start_ns);
        }
        ok = ok && sqlite_put_modules(s, i, modules) && sqlite_put_moments(s, i, samples, marks);
    }
    return ok;
}

/* --------------------------------------------------------------------- stacks */

static void sqlite_put_traces(struct sqlite *s)
{
    static const char *const roles[] = {"own", "library", "allocator", "gap"};
    const struct traces *c = s->job->traces;
    int frames = database_prepare(&s->db, "INSERT INTO frame VALUES (?,?,?,?,?,?,?,?,?)");
    int traces = database_prepare(&s->db, "INSERT INTO trace VALUES (?,?,?,?,?)");
    for (size_t i = 0; i < c->frames.count; i++) {
        const struct frame *f = &c->frames.data[i];
        database_insert(&s->db, frames, "itttitiit", (uint64_t)i, f->function, f->linkage, f->file,
                        (uint64_t)f->line, f->module, f->address, (uint64_t)f->inlined, roles[f->role]);
    }
    for (uint32_t i = 1; i < c->traces.count; i++) {
        const struct trace *t = &c->traces.data[i];
        database_insert(&s->db, traces, "ioiii", (uint64_t)i,
                        t->parent == 0 ? UINT64_MAX : (uint64_t)t->parent, (uint64_t)t->frame,
                        (uint64_t)t->depth, (uint64_t)traces_find_own(c, i));
    }
}

static void sqlite_put_sites(struct sqlite *s)
{
    int sites = database_prepare(&s->db, "INSERT INTO site VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
    int ticks = database_prepare(&s->db, "INSERT INTO timeline VALUES (?,?,?,?,?,?,?)");
    for (size_t i = 0; i < s->job->sites->list.count; i++) {
        const struct site *site = &s->job->sites->list.data[i];
        const struct metrics *m = &site->m;
        database_insert(&s->db, sites, "iiiiiiiiiiiiiiiii", (uint64_t)site->trace, m->allocated_blocks,
                        m->allocated_bytes, m->freed_blocks, m->freed_bytes, m->peak_blocks, m->peak_bytes,
                        m->live_blocks, m->live_bytes, m->leaked_blocks, m->leaked_bytes, m->temporary_blocks,
                        m->slack_bytes, m->lifetime_min_ns, m->lifetime_max_ns, m->first_ns, m->last_ns);
    }
    for (size_t i = 0; i < s->job->result->timeline.count; i++) {
        const struct query_tick *t = &s->job->result->timeline.data[i];
        database_insert(&s->db, ticks, "iiiiiii", t->from_ns, t->live_bytes, t->live_blocks, t->rss_bytes,
                        t->allocations, t->frees, t->allocated_bytes);
    }
}

static void sqlite_put_meta(struct sqlite *s)
{
    const struct query_range window = s->window;
    const struct wake_summary *summary = wake_reader_summary(s->job->reader);
    char made_up[WAKE_VEILED_NOTE];
    const char *note;
    int texts = database_prepare(&s->db, "INSERT INTO meta VALUES (?, ?)");
    int notes = database_prepare(&s->db, "INSERT INTO note VALUES (?, ?)");
    database_insert(&s->db, texts, "tt", "heapwake", HEAPWAKE_VERSION);
    database_insert(&s->db, texts, "ti", "schema", UINT64_C(1));
    database_insert(&s->db, texts, "ti", "wall_ns", summary->wall_ns);
    database_insert(&s->db, texts, "ti", "from_ns", window.min);
    database_insert(&s->db, texts, "ti", "to_ns", window.max);
    database_insert(&s->db, texts, "ti", "peak_ns", s->job->result->peak_time_ns);
    database_insert(&s->db, texts, "ti", "peak_process", (uint64_t)s->job->result->peak_process);
    database_insert(&s->db, texts, "ti", "suppressed_blocks", suppress_blocks(s->job->suppress));
    database_insert(&s->db, texts, "ti", "suppressed_bytes", suppress_bytes(s->job->suppress));
    database_insert(&s->db, texts, "ti", "complete",
                    (uint64_t)(summary->complete && summary->unrecorded == 0));
    database_insert(&s->db, texts, "ti", "unrecorded_processes", summary->unrecorded);
    for (uint64_t i = 0; (note = export_note(s->job, i, made_up)) != NULL; i++)
        database_insert(&s->db, notes, "it", i + 1, note);
}

int export_sqlite(const struct export_job *job, struct err *err)
{
    struct sqlite s = {.job = job, .err = err, .window = export_window(job)};
    database_open(&s.db, job->path);
    database_run(&s.db, sqlite_schema);
    sqlite_put_meta(&s);
    int code = sqlite_put_processes(&s) ? sqlite_put_blocks(&s) : err_no_memory(err);
    sqlite_put_traces(&s);
    sqlite_put_sites(&s);
    database_run(&s.db, sqlite_views);
    int closed = database_close(&s.db, job->name, code == 0 ? err : NULL);
    return code == 0 ? closed : code;
}
