/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * definitions: see definitions.h.
 */
#include "collect/definitions.h"

#include "base/hash.h"
#include "collect/procfs.h"
#include "collect/script.h"
#include "tool/file.h"
#include "wire/record.h"

#include <stdlib.h>
#include <string.h>

enum {
    DEFINITIONS_THREADS_MAX = 1 << 24,
    DEFINITIONS_FRAMES_MAX = 1 << 20,
    DEFINITIONS_TEXTS_MAX = 1 << 24,
    DEFINITIONS_NAME_LOOK = 1 << 16, /* threads looked through for a tid */
};

void definitions_init(struct definitions *b, struct wake_writer *writer, uint32_t process)
{
    memset(b, 0, sizeof *b);
    b->writer = writer;
    b->process = process;
    modmap_init(&b->modules);
    map_init(&b->by_content);
    stackbook_init(&b->stacks);
    arena_init(&b->arena);
}

void definitions_release(struct definitions *b)
{
    modmap_release(&b->modules);
    map_release(&b->by_content);
    vec_release(&b->waiting);
    vec_release(&b->waiting_addresses);
    stackbook_release(&b->stacks);
    vec_release(&b->thread_numbers);
    vec_release(&b->tids);
    vec_release(&b->module_list);
    vec_release(&b->texts);
    arena_release(&b->arena);
}

/* dlopen("./plugin.so") is called that wherever the program was by then, and it may have left since; /proc/self/fd/3 is another
 * file for each who asks. The kernel knows where the file is as long as it is mapped.  Later the name has to do. */
static void definitions_complete_path(const struct definitions *b, struct wake_module_info *info,
                                      struct strbuf *whole)
{
    bool is_relative =
        info->path_length > 0 && info->path[0] != '/' && memchr(info->path, '/', info->path_length) != NULL;
    bool is_own = file_is_of_a_process(info->path, info->path_length);
    if ((!is_relative && !is_own) || b->pid == 0 || !procfs_find_mapped(b->pid, info->start, whole))
        return;
    info->path = strbuf_get(whole);
    info->path_length = whole->length;
}

/* The program itself has no path of its own, but that of the process.  If that is a script's, what
 * was loaded is its interpreter. */
static void definitions_find_program(const struct definitions *b, struct wake_module_info *info,
                                     struct strbuf *program)
{
    if (info->path_length != 0 || b->exe == NULL || !script_find_program(b->exe, program))
        return;
    info->path = strbuf_get(program);
    info->path_length = program->length;
}

/* With texts of its own. */
static bool definitions_keep_module(struct definitions *b, const struct wake_module_info *info)
{
    struct wake_module_info kept = *info;
    struct strbuf whole = {0}, program = {0};
    definitions_find_program(b, &kept, &program);
    definitions_complete_path(b, &kept, &whole);
    wake_writer_add_module(b->writer, b->process, &kept);
    kept.path = arena_push_text(&b->arena, kept.path, kept.path_length);
    strbuf_release(&whole);
    strbuf_release(&program);
    kept.build_id =
        (const uint8_t *)arena_push_text(&b->arena, (const char *)info->build_id, info->build_id_length);
    return kept.path != NULL && kept.build_id != NULL && vec_push(&b->module_list, kept);
}

const struct wake_module_info *definitions_module(const struct definitions *b, uint32_t number)
{
    return number == 0 || number > b->module_list.count ? NULL : &b->module_list.data[number - 1];
}

void definitions_add_text(struct definitions *b, const uint64_t *w, uint32_t words)
{
    uint64_t copy[RECORD_TEXT_WORDS_MAX];
    memcpy(copy, w, words * sizeof *w);
    size_t length = copy[0] >> 16 & 0xffff;
    uint64_t number = copy[1];
    if (length > (words - 2) * sizeof *w || number == 0 || number > DEFINITIONS_TEXTS_MAX) {
        b->anomalies++;
        return;
    }
    const char *text = arena_push_text(&b->arena, (const char *)&copy[2], length);
    if (text == NULL || !vec_reserve(&b->texts, number + 1)) {
        b->out_of_memory = true;
        return;
    }
    while (b->texts.count <= number)
        b->texts.data[b->texts.count++] = NULL;
    b->texts.data[number] = text;
}

const char *definitions_text(const struct definitions *b, uint32_t number)
{
    return number < b->texts.count && b->texts.data[number] != NULL ? b->texts.data[number] : "";
}

void definitions_add_pool(struct definitions *b, uint32_t pool, uint32_t name_text, uint32_t unit_text)
{
    if (pool == 0 || pool > DEFINITIONS_POOLS_MAX) {
        b->anomalies++;
        return;
    }
    if (b->pools[pool].name != NULL)
        return;
    const char *name = definitions_text(b, name_text);
    uint32_t first = 1;
    while (first <= DEFINITIONS_POOLS_MAX &&
           (b->pools[first].name == NULL || strcmp(b->pools[first].name, name) != 0))
        first++;
    bool is_new = first > DEFINITIONS_POOLS_MAX;
    b->pools[pool] = (struct definitions_pool){name, is_new ? pool : b->pools[first].number};
    if (is_new)
        wake_writer_add_pool(b->writer, b->process, pool, name, definitions_text(b, unit_text));
}

uint32_t definitions_find_pool(const struct definitions *b, uint64_t pool)
{
    return pool <= DEFINITIONS_POOLS_MAX && b->pools[pool].name != NULL ? b->pools[pool].number : 0;
}

void definitions_add_module(struct definitions *b, const uint64_t *w, uint32_t words)
{
    uint64_t copy[RECORD_MODULE_WORDS_MAX];
    memcpy(copy, w, words * sizeof *w);
    size_t id_length = copy[0] >> 8 & 0xff;
    size_t path_length = copy[0] >> 16 & 0xffff;
    size_t room = (words - 5) * sizeof *w;
    const uint8_t *bytes = (const uint8_t *)&copy[5];
    if (id_length > room || path_length > room - id_length || copy[1] >= copy[2]) {
        b->anomalies++;
        return;
    }
    struct wake_module_info info = {
        .start = copy[1],
        .end = copy[2],
        .bias = copy[3],
        .build_id = bytes,
        .build_id_length = id_length,
        .path = (const char *)bytes + id_length,
        .path_length = path_length,
    };
    uint64_t generation = copy[4];
    copy[4] = 0;
    uint64_t key = 0;
    for (uint32_t i = 0; i < words; i++)
        key = hash_join(key, copy[i]);
    const uint64_t *known = map_find(&b->by_content, key);
    uint32_t number = known != NULL ? (uint32_t)*known : (uint32_t)b->module_list.count + 1;
    if (known == NULL && !definitions_keep_module(b, &info))
        b->out_of_memory = true;
    else if ((known == NULL && !map_set(&b->by_content, key, number)) ||
             !modmap_add(&b->modules, info.start, info.end, generation, number))
        b->out_of_memory = true;
}

void definitions_drop_module(struct definitions *b, uint64_t start, uint64_t end, uint64_t generation)
{
    if (start >= end)
        b->anomalies++;
    else if (!modmap_add(&b->modules, start, end, generation, 0))
        b->out_of_memory = true;
}

uint32_t definitions_find_thread(const struct definitions *b, uint64_t probe_number)
{
    return probe_number < b->thread_numbers.count ? b->thread_numbers.data[probe_number] : 0;
}

static size_t name_length(const char name[16])
{
    return strnlen(name, 16);
}

uint32_t definitions_add_thread(struct definitions *b, uint64_t probe_number, uint32_t tid,
                                const char name[16], uint64_t time_ns)
{
    if (probe_number >= DEFINITIONS_THREADS_MAX) {
        b->anomalies++;
        return 0;
    }
    uint32_t number = definitions_find_thread(b, probe_number);
    if (number != 0)
        return number; /* the nested lane of a thread that is known */
    if (!vec_reserve(&b->thread_numbers, probe_number + 1) || !vec_push(&b->tids, tid)) {
        b->out_of_memory = true;
        return 0;
    }
    while (b->thread_numbers.count <= probe_number)
        b->thread_numbers.data[b->thread_numbers.count++] = 0;
    number = (uint32_t)b->tids.count;
    b->thread_numbers.data[probe_number] = number;
    wake_writer_add_thread(b->writer, b->process, number, tid, time_ns);
    if (name[0] != '\0')
        wake_writer_name_thread(b->writer, b->process, number, name, name_length(name), time_ns);
    return number;
}

void definitions_name_thread(struct definitions *b, uint32_t tid, const char name[16], uint64_t time_ns)
{
    size_t n = b->tids.count;
    size_t stop = n > DEFINITIONS_NAME_LOOK ? n - DEFINITIONS_NAME_LOOK : 0;
    while (n > stop && b->tids.data[n - 1] != tid)
        n--;
    if (n == stop)
        return; /* a thread that never allocated */
    wake_writer_name_thread(b->writer, b->process, (uint32_t)n, name, name_length(name), time_ns);
}

static void definitions_enter_stack(struct definitions *b, const struct stackbook_raw *raw)
{
    bool is_new;
    uint32_t number = stackbook_add(&b->stacks, &b->modules, raw, &is_new);
    if (number == 0)
        b->out_of_memory = true;
    if (is_new)
        wake_writer_add_stack(b->writer, b->process, b->stacks.scratch.data, raw->count, raw->omitted,
                              raw->cut);
}

void definitions_settle(struct definitions *b)
{
    for (size_t i = 0; i < b->waiting.count; i++) {
        struct definitions_waiting *w = &b->waiting.data[i];
        w->raw.addresses = b->waiting_addresses.data + w->first;
        definitions_enter_stack(b, &w->raw);
    }
    b->waiting.count = 0;
    b->waiting_addresses.count = 0;
}

static void definitions_close_stack(struct definitions *b, struct definitions_pending *p)
{
    struct definitions_waiting w = {p->raw, b->waiting_addresses.count};
    w.raw.count = (uint32_t)p->addresses.count;
    p->open = false;
    if (!vec_reserve(&b->waiting_addresses, w.first + w.raw.count) || !vec_push(&b->waiting, w)) {
        b->out_of_memory = true;
        return;
    }
    if (w.raw.count != 0)
        memcpy(b->waiting_addresses.data + w.first, p->addresses.data,
               w.raw.count * sizeof *p->addresses.data);
    b->waiting_addresses.count += w.raw.count;
}

bool definitions_open_stack(struct definitions *b, struct definitions_pending *p, const uint64_t w[3])
{
    p->raw.id = (uint32_t)(w[0] >> 32);
    p->raw.cut = w[0] >> 8 & 0xff;
    p->want = (uint32_t)w[1];
    p->raw.omitted = (uint32_t)(w[1] >> 32);
    p->raw.generation = w[2];
    p->addresses.count = 0;
    p->open = true;
    if (p->want > DEFINITIONS_FRAMES_MAX || p->raw.cut >= CUT_COUNT)
        return false;
    if (p->want == 0)
        definitions_close_stack(b, p);
    return true;
}

bool definitions_add_frames(struct definitions *b, struct definitions_pending *p, const uint64_t *addresses,
                            uint32_t count)
{
    if (!p->open || count > p->want - p->addresses.count)
        return false;
    if (!vec_reserve(&p->addresses, p->addresses.count + count)) {
        b->out_of_memory = true;
        return false;
    }
    memcpy(p->addresses.data + p->addresses.count, addresses, count * sizeof *addresses);
    p->addresses.count += count;
    if (p->addresses.count == p->want)
        definitions_close_stack(b, p);
    return true;
}

void definitions_pending_release(struct definitions_pending *p)
{
    vec_release(&p->addresses);
}
