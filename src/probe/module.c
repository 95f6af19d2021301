/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * module: a list of what has been told of the places that code was seen in.
 *
 *     list[0 .. count)  { start, end, eh_frame, identity }
 *
 * Each place has one entry: what comes to lie over it takes its entry over, so
 * that the list is as long as the program's modules are many, however often
 * they come and go. If it is full all the same the oldest entries are written
 * over, and their modules are told once more when they are met again.
 *
 * An entry is valid while `start` is not zero. Several threads may write at the
 * same time: a reader who finds half of one and half of another recognises
 * neither, and tells again, which the collector takes as one.
 *
 * Code in no module that was announced (jit.h) is told page by page, each page a
 * module of the same name: programs make and drop such code by the function, and
 * pages are few, never shared with a file, and no two of them overlap. A page stays
 * told when its code goes; what has no file there is most likely of the same kind.
 */
#include "probe/module.h"

#include "base/cursor.h"
#include "probe/environment.h"
#include "probe/jit.h"
#include "probe/lane.h"
#include "probe/life.h"
#include "probe/memory.h"
#include "probe/real.h"
#include "probe/share.h"

#include <elf.h>
#include <link.h>

enum {
    MODULE_MAX = 16384,
    MODULE_PATH_MAX = 4096,
    MODULE_BUILD_ID_MAX = 64,
    MODULE_PAGE = 4096,
    MODULE_HEADERS_MAX = 64, /* of a table that is not in the first page */
};

/* The identity of a page of code without a file. */
#define MODULE_JIT UINT64_MAX

struct module {
    uint64_t start;
    uint64_t end;
    uint64_t eh_frame;
    uint64_t identity; /* of the file, by its build id */
    uint32_t epoch;    /* of the process that told of it (life.h) */
};

struct module_bounds {
    uint64_t lo, hi; /* 0: unknown */
};

uint64_t module_generation = 1;
uint32_t module_closing;

static struct module *module_list;
static uint32_t module_count;

struct module_id {
    const uint8_t *bytes;
    uint32_t length;
};

bool module_init(void)
{
    module_list = memory_pages(MODULE_MAX * sizeof *module_list);
    return module_list != NULL;
}

static struct module_id module_note(const uint8_t *at, const uint8_t *end)
{
    struct module_id none = {0};
    struct cursor c;
    cursor_init(&c, at, (size_t)(end - at));
    while (cursor_left(&c) >= sizeof(Elf64_Nhdr)) {
        uint32_t name = cursor_u32(&c), length = cursor_u32(&c), type = cursor_u32(&c);
        const uint8_t *owner = cursor_take(&c, (name + 3u) & ~3u);
        const uint8_t *bytes = cursor_take(&c, (length + 3u) & ~3u);
        if (cursor_is_bad(&c))
            return none;
        if (type == NT_GNU_BUILD_ID && name == 4 && owner[0] == 'G' && length <= MODULE_BUILD_ID_MAX)
            return (struct module_id){bytes, length};
    }
    return none;
}

/* The program headers of a library that was rewritten (llvm-bolt, some packers): in a segment of
 * their own, as far from the ELF header as in the file. Believed if that segment is among them. */
static struct module_headers module_headers_far(const struct module_object *o, const Elf64_Ehdr *ehdr)
{
    struct module_headers none = {0};
    const struct link_map *map = o->link_map;
    uint64_t size = ehdr->e_phnum * sizeof(Elf64_Phdr), at = (uint64_t)(uintptr_t)ehdr + ehdr->e_phoff;
    uint64_t limit = (uint64_t)(uintptr_t)o->map_end;
    if (life_sandbox || ehdr->e_phnum == 0 || ehdr->e_phnum > MODULE_HEADERS_MAX || ehdr->e_phoff % 8 != 0 ||
        at < (uint64_t)(uintptr_t)ehdr || at > limit || limit - at < size || !sys_is_readable(at) ||
        !sys_is_readable(at + size - 8))
        return none;
    const struct module_headers found = {(const void *)(uintptr_t)at, ehdr->e_phnum};
    for (unsigned i = 0; i < found.count; i++) {
        const Elf64_Phdr *p = &found.list[i];
        if (p->p_type == PT_LOAD && p->p_offset <= ehdr->e_phoff && p->p_filesz >= size &&
            ehdr->e_phoff - p->p_offset <= p->p_filesz - size &&
            map->l_addr + p->p_vaddr + (ehdr->e_phoff - p->p_offset) == at)
            return found;
    }
    return none;
}

/* The program headers: for the program itself the kernel says where they are,
 * for a library they follow the ELF header at its start. */
struct module_headers module_headers(const struct module_object *o)
{
    struct module_headers none = {0};
    const struct link_map *map = o->link_map;
    if (map->l_name == NULL || map->l_name[0] == '\0')
        return (struct module_headers){(const void *)(uintptr_t)environment_auxiliary(AT_PHDR),
                                       (unsigned)environment_auxiliary(AT_PHNUM)};
    const Elf64_Ehdr *ehdr = o->map_start;
    if (*(const uint32_t *)(const void *)ehdr != 0x464c457f) {
        ehdr = (const void *)(uintptr_t)map->l_addr;
        if (life_sandbox || !sys_is_readable(map->l_addr) ||
            *(const uint32_t *)(const void *)ehdr != 0x464c457f)
            return none;
    }
    if (ehdr->e_phentsize != sizeof(Elf64_Phdr))
        return none;
    if (ehdr->e_phoff > MODULE_PAGE || ehdr->e_phoff + ehdr->e_phnum * sizeof(Elf64_Phdr) > MODULE_PAGE)
        return module_headers_far(o, ehdr);
    return (struct module_headers){(const void *)((const uint8_t *)ehdr + ehdr->e_phoff), ehdr->e_phnum};
}

/* The readable bytes around an address: the segment it lies in. */
static struct module_bounds module_bounds(struct module_headers h, uint64_t bias, uint64_t address)
{
    struct module_bounds found = {0, 0};
    for (unsigned i = 0; i < h.count; i++) {
        uint64_t start = bias + h.list[i].p_vaddr, end = start + h.list[i].p_filesz;
        if (h.list[i].p_type == PT_LOAD && address >= start && address < end)
            found = (struct module_bounds){start, end};
    }
    return found;
}

/* .eh_frame as its search table has it: nearly always in the same segment, but LLVM's own libunwind has it among the
 * data. in: what can be read around hdr. */
static uint64_t module_frames(uint64_t hdr, struct module_bounds in)
{
    enum { RELATIVE_4 = 0x1b }; /* four bytes, signed, from there: what all linkers write */
    const uint8_t *at = (const uint8_t *)(uintptr_t)hdr;
    int32_t distance;
    if (in.hi - hdr < 8 || at[1] != RELATIVE_4)
        return hdr;
    memory_copy(&distance, at + 4, sizeof distance);
    return hdr + 4 + (uint64_t)(int64_t)distance;
}

static struct module_id module_build_id(struct module_headers h, uint64_t bias)
{
    struct module_id none = {0};
    for (unsigned i = 0; i < h.count; i++) {
        const uint8_t *at = (const uint8_t *)(uintptr_t)(bias + h.list[i].p_vaddr);
        if (h.list[i].p_type != PT_NOTE || h.list[i].p_filesz > 65536)
            continue;
        struct module_id id = module_note(at, at + h.list[i].p_filesz);
        if (id.length != 0)
            return id;
    }
    return none;
}

static void module_tell(struct lane *lane, const struct module *m, const char *path, struct module_id id,
                        uint64_t bias)
{
    size_t length = memory_string_length(path);
    if (length > MODULE_PATH_MAX)
        length = MODULE_PATH_MAX;
    unsigned words = 5 + (unsigned)(id.length + length + 7) / 8;
    if (!lane_reserve(lane, words))
        return;
    uint64_t *at = lane->at;
    at[1] = m->start;
    at[2] = m->end;
    at[3] = bias;
    at[4] = __atomic_load_n(&module_generation, __ATOMIC_ACQUIRE);
    memory_copy(at + 5, id.bytes, id.length);
    memory_copy((uint8_t *)(at + 5) + id.length, path, length);
    lane_publish(lane,
                 RECORD_MODULE | (uint64_t)id.length << 8 | (uint64_t)length << 16 | (uint64_t)words << 32,
                 words);
    share_count_definition();
}

static uint64_t module_identity(struct module_id id)
{
    uint64_t identity = id.length;
    for (uint32_t i = 0; i < id.length; i++)
        identity = (identity ^ id.bytes[i]) * UINT64_C(0x100000001b3);
    return identity;
}

/* Has this very module been told? Otherwise: is it in the place of another one? */
static bool module_is_told(const struct module *now, bool *is_replaced)
{
    uint32_t count = __atomic_load_n(&module_count, __ATOMIC_ACQUIRE);
    *is_replaced = false;
    for (uint32_t i = count < MODULE_MAX ? count : MODULE_MAX; i-- > 0;) {
        const struct module *m = &module_list[i];
        uint64_t start = __atomic_load_n(&m->start, __ATOMIC_ACQUIRE);
        if (start == now->start && m->end == now->end && m->eh_frame == now->eh_frame &&
            m->identity == now->identity && m->epoch == now->epoch)
            return true;
        if (start != 0 && start < now->end && now->start < m->end) {
            *is_replaced = true;
            return false;
        }
    }
    return false;
}

/* The entry for a module: that of what it replaces, or a new one. */
static struct module *module_slot(const struct module *now)
{
    uint32_t count = __atomic_load_n(&module_count, __ATOMIC_ACQUIRE);
    struct module *found = NULL;
    for (uint32_t i = count < MODULE_MAX ? count : MODULE_MAX; i-- > 0;) {
        struct module *m = &module_list[i];
        uint64_t start = __atomic_load_n(&m->start, __ATOMIC_ACQUIRE);
        if (start == 0 || start >= now->end || now->start >= m->end)
            continue;
        __atomic_store_n(&m->start, 0, __ATOMIC_RELEASE);
        found = m;
    }
    if (found == NULL)
        found = &module_list[__atomic_fetch_add(&module_count, 1, __ATOMIC_ACQ_REL) % MODULE_MAX];
    return found;
}

static void module_add(const struct module *now)
{
    struct module *m = module_slot(now);
    __atomic_store_n(&m->start, 0, __ATOMIC_RELEASE);
    m->end = now->end;
    m->eh_frame = now->eh_frame;
    m->identity = now->identity;
    m->epoch = now->epoch;
    __atomic_store_n(&m->start, now->start, __ATOMIC_RELEASE);
}

/* No module has pc now. If one was told to be there, it has gone, and the place
 * may hold code that no file has. */
static void module_tell_gone(struct lane *lane, uint64_t pc)
{
    uint32_t count = __atomic_load_n(&module_count, __ATOMIC_ACQUIRE);
    for (uint32_t i = count < MODULE_MAX ? count : MODULE_MAX; i-- > 0;) {
        const struct module *m = &module_list[i];
        uint64_t start = __atomic_load_n(&m->start, __ATOMIC_ACQUIRE);
        if (start == 0 || pc < start || pc >= m->end)
            continue;
        if (m->eh_frame == 0 || m->identity == MODULE_JIT || !lane_reserve(lane, 4))
            return; /* told already, or nothing to tell */
        struct module hole = {.start = start, .end = m->end, .epoch = lane->epoch};
        lane->at[1] = start;
        lane->at[2] = m->end;
        lane->at[3] = __atomic_add_fetch(&module_generation, 1, __ATOMIC_ACQ_REL);
        lane_publish(lane, RECORD_GONE, 4);
        share_count_definition();
        module_add(&hole);
        return;
    }
}

/* Tells of a module that has been met, unless that has been done. */
static void module_meet(struct lane *lane, struct module *now, const char *path, struct module_id id,
                        uint64_t bias)
{
    bool is_replaced;
    now->epoch = lane->epoch;
    if (module_is_told(now, &is_replaced))
        return;
    if (is_replaced)
        module_advance();
    module_tell(lane, now, path, id, bias);
    module_add(now);
}

/* pc is in no module. */
static bool module_find_jit(struct lane *lane, uint64_t pc, struct cfi_section *section)
{
    const struct module_id none = {0};
    uint64_t page = pc & ~(uint64_t)(MODULE_PAGE - 1);
    struct module now = {.start = page, .end = page + MODULE_PAGE, .eh_frame = page, .identity = MODULE_JIT};
    bool is_announced = jit_find(pc, section);
    if (lane != NULL) {
        module_tell_gone(lane, pc);
        if (is_announced)
            module_meet(lane, &now, RECORD_MODULE_JIT, none, 0);
    }
    return is_announced;
}

bool module_find(struct lane *lane, uint64_t pc, struct cfi_section *section)
{
    struct module_object o;
    if (real.dl_find_object((void *)(uintptr_t)pc, &o) != 0)
        return module_find_jit(lane, pc, section);
    const struct link_map *map = o.link_map;
    uint64_t bias = map->l_addr;
    struct module_headers headers = module_headers(&o);
    struct module_id id = module_build_id(headers, bias);
    struct module now = {.start = (uint64_t)(uintptr_t)o.map_start,
                         .end = (uint64_t)(uintptr_t)o.map_end,
                         .eh_frame = (uint64_t)(uintptr_t)o.eh_frame,
                         .identity = module_identity(id)};
    if (lane != NULL)
        module_meet(lane, &now, map->l_name != NULL ? map->l_name : "", id, bias);
    struct module_bounds table = module_bounds(headers, bias, now.eh_frame), frames = {0, 0};
    if (table.lo != 0)
        frames = module_bounds(headers, bias, module_frames(now.eh_frame, table));
    if (frames.lo == 0)
        frames = table;
    section->hdr = o.eh_frame;
    section->eh_frame = NULL;
    section->lo = (const uint8_t *)(uintptr_t)frames.lo;
    section->hi = (const uint8_t *)(uintptr_t)frames.hi;
    section->hdr_size = (size_t)(table.hi - now.eh_frame);
    section->bias = 0;
    return frames.lo != 0 || (o.eh_frame == NULL && jit_find(pc, section));
}

void module_advance(void)
{
    __atomic_fetch_add(&module_generation, 1, __ATOMIC_SEQ_CST);
}

void module_displace(uint64_t start, uint64_t end)
{
    uint32_t count = __atomic_load_n(&module_count, __ATOMIC_ACQUIRE);
    for (uint32_t i = count < MODULE_MAX ? count : MODULE_MAX; i-- > 0;) {
        const struct module *m = &module_list[i];
        uint64_t from = __atomic_load_n(&m->start, __ATOMIC_ACQUIRE);
        if (from != 0 && from < end && start < m->end && m->identity != MODULE_JIT && m->eh_frame != 0) {
            module_advance();
            return;
        }
    }
}

void module_close_begin(void)
{
    __atomic_fetch_add(&module_closing, 1, __ATOMIC_SEQ_CST);
}

void module_close_end(void)
{
    module_advance();
    __atomic_fetch_sub(&module_closing, 1, __ATOMIC_SEQ_CST);
}

void module_renew(void)
{
    uint32_t count = __atomic_exchange_n(&module_count, 0, __ATOMIC_ACQ_REL);
    memory_zero(module_list, (count < MODULE_MAX ? count : MODULE_MAX) * sizeof *module_list);
    module_closing = 0;
    module_generation++; /* a rule that is known keeps its module from being met, and told, again */
}
