/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * veil: see veil.h.
 */
#include "query/veil.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "query/role.h"
#include "store/codec.h"
#include "tool/strbuf.h"
#include "wire/record.h"

void veil_init(struct veil *v, enum veil_level level, uint64_t salt)
{
    v->level = level;
    v->salt = salt;
    words_init(&v->words);
}

void veil_release(struct veil *v)
{
    words_release(&v->words);
}

uint64_t veil_salt(const struct wake_reader *r)
{
    const struct wake_summary *s = wake_reader_summary(r);
    return hash_join(hash_join(hash_join(s->wall_ns, s->end_wall_ns), s->collector_cpu_ns), s->file_size);
}

static const char *veil_token(struct veil *v, enum veil_what what, enum frame_role role, const char *kind,
                              const char *text)
{
    char token[32];
    kind = role == FRAME_ALLOCATOR ? "allocator" : role == FRAME_LIBRARY ? "library" : kind;
    uint64_t hash = hash_join(hash_join(v->salt, what), codec_sum(text, strlen(text)));
    snprintf(token, sizeof token, "%s_%012llx", kind, (unsigned long long)(hash >> 16));
    return words_add_text(&v->words, token);
}

const char *veil_text(struct veil *v, enum veil_what what, const char *text)
{
    static const char *const kinds[] = {"function", "file",    "module", "thread",
                                        "mark",     "program", "pool",   "range"};
    if (v->level == VEIL_NONE || text[0] == '\0' ||
        (what == VEIL_MODULE && strcmp(text, RECORD_MODULE_JIT) == 0))
        return text;
    if (v->level == VEIL_PARTIAL && (what == VEIL_MODULE || what == VEIL_PROGRAM))
        return words_add_text(&v->words, frame_basename(text));
    struct frame inside = {.function = "", .linkage = "", .file = "", .module = text};
    enum frame_role role = what == VEIL_MODULE ? role_find(&inside) : FRAME_OWN;
    return veil_token(v, what, role, kinds[what], text);
}

/* Arguments begin, of a template or, inside a name, of a function or lambda. */
static bool veil_begins_arguments(const char *name, size_t i, unsigned depth)
{
    bool is_plain = strncmp(name + i, "(anonymous namespace)", 21) == 0 ||
                    (i >= 8 && strncmp(name + i - 8, "operator", 8) == 0);
    return name[i] == '<' || (name[i] == '(' && (depth > 0 || !is_plain));
}

/* The qualified name of a signature, with "<...>" or "(...)" for every list of arguments. */
static const char *veil_shorten(struct veil *v, const char *function)
{
    size_t length;
    const char *name = frame_find_name(function, &length);
    struct strbuf shorter;
    unsigned depth = 0;
    strbuf_init(&shorter);
    for (size_t i = 0; i < length; i++) {
        size_t left = length - i;
        if (depth == 0 && left > 8 && strncmp(name + i, "operator", 8) == 0 && strchr("<>-=", name[i + 8])) {
            strbuf_add(&shorter, name + i, left); /* operator<< and its kin end the name */
            break;
        }
        bool is_arrow = i > 0 && name[i] == '>' && name[i - 1] == '-';
        if (veil_begins_arguments(name, i, depth)) {
            if (depth++ == 0)
                strbuf_add_text(&shorter, name[i] == '<' ? "<...>" : "(...)");
        } else if ((name[i] == '>' || name[i] == ')') && depth > 0)
            depth -= !is_arrow;
        else if (depth == 0)
            strbuf_add_char(&shorter, name[i]);
    }
    const char *kept = shorter.failed ? NULL : words_add_text(&v->words, strbuf_get(&shorter));
    strbuf_release(&shorter);
    return kept;
}

static const char *veil_function(struct veil *v, const struct frame *f)
{
    if (f->role == FRAME_OWN || f->function[0] == '\0')
        return veil_text(v, VEIL_FUNCTION, f->function);
    if (v->level == VEIL_PARTIAL)
        return veil_shorten(v, f->function);
    return veil_token(v, VEIL_FUNCTION, (enum frame_role)f->role, "function", f->function);
}

bool veil_frame(struct veil *v, struct frame *f)
{
    if (v->level == VEIL_NONE || f->role == FRAME_GAP)
        return true;
    bool is_known = v->level == VEIL_PARTIAL && f->role != FRAME_OWN && !role_is_wrapper(f);
    f->linkage = "";
    f->function = veil_function(v, f);
    f->file =
        is_known ? words_add_text(&v->words, frame_basename(f->file)) : veil_text(v, VEIL_FILE, f->file);
    f->module = veil_text(v, VEIL_MODULE, f->module);
    return f->function != NULL && f->file != NULL && f->module != NULL;
}
