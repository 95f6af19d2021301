/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * anonymize: see anonymize.h.
 */
#include "analysis/anonymize.h"

#include <stdio.h>
#include <string.h>

#include "analysis/role.h"
#include "base/hash.h"
#include "store/codec.h"
#include "tool/strbuf.h"
#include "wire/record.h"

void anonymize_init(struct anonymize *v, enum anonymize_level level, uint64_t salt)
{
    v->level = level;
    v->salt = salt;
    words_init(&v->words);
}

void anonymize_release(struct anonymize *v)
{
    words_release(&v->words);
}

uint64_t anonymize_salt(const struct wake_reader *r)
{
    const struct wake_summary *s = wake_reader_summary(r);
    return hash_join(hash_join(hash_join(s->wall_ns, s->end_wall_ns), s->collector_cpu_ns), s->file_size);
}

static const char *anonymize_token(struct anonymize *v, enum anonymize_what what, enum frame_role role,
                                   const char *kind, const char *text)
{
    char token[32];
    kind = role == FRAME_ALLOCATOR ? "allocator" : role == FRAME_LIBRARY ? "library" : kind;
    uint64_t hash = hash_join(hash_join(v->salt, what), codec_sum(text, strlen(text)));
    snprintf(token, sizeof token, "%s_%012llx", kind, (unsigned long long)(hash >> 16));
    return words_add_text(&v->words, token);
}

const char *anonymize_text(struct anonymize *v, enum anonymize_what what, const char *text)
{
    static const char *const kinds[] = {"function", "file",    "module", "thread",
                                        "mark",     "program", "pool",   "range"};
    if (v->level == ANONYMIZE_NONE || text[0] == '\0' ||
        (what == ANONYMIZE_MODULE && strcmp(text, RECORD_MODULE_JIT) == 0))
        return text;
    if (v->level == ANONYMIZE_PARTIAL && (what == ANONYMIZE_MODULE || what == ANONYMIZE_PROGRAM))
        return words_add_text(&v->words, frame_basename(text));
    struct frame inside = {.function = "", .linkage = "", .file = "", .module = text};
    enum frame_role role = what == ANONYMIZE_MODULE ? role_find(&inside) : FRAME_OWN;
    return anonymize_token(v, what, role, kinds[what], text);
}

/* Arguments begin, of a template or, inside a name, of a function or lambda. */
static bool anonymize_begins_arguments(const char *name, size_t i, unsigned depth)
{
    bool is_plain = strncmp(name + i, "(anonymous namespace)", 21) == 0 ||
                    (i >= 8 && strncmp(name + i - 8, "operator", 8) == 0);
    return name[i] == '<' || (name[i] == '(' && (depth > 0 || !is_plain));
}

/* The qualified name of a signature, with "<...>" or "(...)" for every list of arguments. */
static const char *anonymize_shorten(struct anonymize *v, const char *function)
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
        if (anonymize_begins_arguments(name, i, depth)) {
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

static const char *anonymize_function(struct anonymize *v, const struct frame *f)
{
    if (f->role == FRAME_OWN || f->function[0] == '\0')
        return anonymize_text(v, ANONYMIZE_FUNCTION, f->function);
    if (v->level == ANONYMIZE_PARTIAL)
        return anonymize_shorten(v, f->function);
    return anonymize_token(v, ANONYMIZE_FUNCTION, (enum frame_role)f->role, "function", f->function);
}

bool anonymize_frame(struct anonymize *v, struct frame *f)
{
    if (v->level == ANONYMIZE_NONE || f->role == FRAME_GAP)
        return true;
    bool is_known = v->level == ANONYMIZE_PARTIAL && f->role != FRAME_OWN && !role_is_wrapper(f);
    f->linkage = "";
    f->function = anonymize_function(v, f);
    f->file = is_known ? words_add_text(&v->words, frame_basename(f->file))
                       : anonymize_text(v, ANONYMIZE_FILE, f->file);
    f->module = anonymize_text(v, ANONYMIZE_MODULE, f->module);
    return f->function != NULL && f->file != NULL && f->module != NULL;
}
