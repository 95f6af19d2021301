/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * pattern: see pattern.h.
 *
 * Stacks share their outer frames: they are paths in a tree of nodes, and a
 * parent has a smaller number than its children.  So each node is looked at
 * once, and a node matches when its own frame does or its parent matches.  An
 * address that stands in many nodes is looked up once too.
 */
#include "engine/pattern.h"

#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/expression.h"
#include "engine/frame.h"
#include "tool/map.h"
#include "tool/memory.h"
#include "wire/record.h"

int pattern_check(const char *text, struct err *err)
{
    regex_t expression;
    int code = expression_compile(&expression, text, err);
    if (code == 0)
        regfree(&expression);
    return code;
}

struct pattern {
    const struct query_pattern *asked;
    const struct query *query;
    const struct wake_process *process;
    uint32_t index; /* of the process */
    regex_t expression;
};

static bool pattern_matches(const struct pattern *p, const char *text)
{
    return text != NULL && text[0] != '\0' && regexec(&p->expression, text, 0, NULL, 0) == 0;
}

/* The module of a node; NULL = none. */
static const struct wake_module *pattern_module(const struct pattern *p, const struct wake_node *node)
{
    bool has_module = node->module != 0 && node->module <= p->process->modules.count;
    return has_module ? &p->process->modules.data[node->module - 1] : NULL;
}

static const char *pattern_path(const struct pattern *p, const struct wake_module *module)
{
    const char *exe = p->process->info.exe != NULL ? p->process->info.exe : "";
    return module == NULL ? "" : module->path[0] != '\0' ? module->path : exe;
}

/* The same for a function without a name, which reports call by its place: MODULE+0xADDRESS.  Words match modules and
 * the digits of addresses by chance, so that is meant where the expression has 0x, needs more than one of the parts,
 * or takes whatever comes. */
static bool pattern_matches_place(const struct pattern *p, const struct wake_node *node)
{
    char text[FRAME_PLACE_MAX], name[FRAME_PLACE_MAX];
    const struct wake_module *module = pattern_module(p, node);
    const char *path = pattern_path(p, module);
    uint64_t address = (node->address & ~RECORD_FRAME_EXACT) - (module == NULL ? 0 : module->bias);
    if (!pattern_matches(p, frame_spell_place(text, path, address)))
        return false;
    if (strstr(p->asked->text, "0x") != NULL)
        return true;
    snprintf(name, sizeof name, "%s", frame_basename(path));
    const char *sign = name[0] == '\0' ? "0x" : "+0x"; /* of code that is in no file */
    unsigned parts = pattern_matches(p, name) + pattern_matches(p, sign) +
                     pattern_matches(p, text + strlen(name) + strlen(sign));
    return parts == 0 || parts == (name[0] == '\0' ? 2U : 3U);
}

/* Whether the frame of a node matches, all functions that were inlined there included. */
static bool pattern_look(const struct pattern *p, const struct wake_node *node)
{
    if (p->asked->field == FIELD_MODULE)
        return pattern_matches(p, pattern_path(p, pattern_module(p, node)));
    const struct name_place *place = p->query->find_place(p->query->place_context, p->index, node);
    for (uint32_t i = 0; place != NULL && i < place->count; i++)
        if (pattern_matches(p, p->asked->field == FIELD_SOURCE ? place->frames[i].file
                                                               : place->frames[i].function))
            return true;
    bool is_nameless =
        place == NULL || place->count == 0 ||
        (place->count == 1 && (place->frames[0].function == NULL || place->frames[0].function[0] == '\0'));
    return is_nameless && p->asked->field == FIELD_FUNCTION && pattern_matches_place(p, node);
}

/* matches[node] for every node.  False: no memory. */
static bool pattern_mark(const struct pattern *p, uint8_t *matches)
{
    struct map known;
    bool fine = true;
    map_init(&known);
    matches[0] = 0;
    for (size_t i = 1; i < p->process->nodes.count && fine; i++) {
        const struct wake_node *node = &p->process->nodes.data[i];
        if (node->parent < i && matches[node->parent]) {
            matches[i] = 1;
            continue;
        }
        const uint64_t *answer = map_find(&known, node->address);
        matches[i] = answer != NULL && *answer >> 1 == node->module ? *answer & 1 : pattern_look(p, node);
        if (answer == NULL)
            fine = map_set(&known, node->address, (uint64_t)node->module << 1 | matches[i]);
    }
    map_release(&known);
    return fine;
}

static int pattern_apply(const struct pattern *p, uint8_t *allowed, size_t count, struct err *err)
{
    size_t nodes = p->process->nodes.count;
    uint8_t *matches = memory_new(nodes + 1);
    bool fine = matches != NULL && pattern_mark(p, matches);
    for (uint32_t i = 0; i < count && fine; i++) {
        const struct wake_stack *s = wake_process_find_stack(p->process, i);
        bool hit = s != NULL && s->leaf < nodes && matches[s->leaf] != 0;
        allowed[i] &= hit != p->asked->negated;
    }
    free(matches);
    return fine ? 0 : err_no_memory(err);
}

int pattern_narrow(const struct query *q, const struct query_pattern *patterns, size_t patterns_count,
                   const struct wake_process *p, uint32_t process, uint8_t *allowed, size_t count,
                   struct err *err)
{
    int code = 0;
    for (size_t i = 0; i < patterns_count && code == 0; i++) {
        struct pattern one = {.asked = &patterns[i], .query = q, .process = p, .index = process};
        if (one.asked->field != FIELD_MODULE && q->find_place == NULL)
            return err_set(err, ERR_USAGE, "Nobody is there to name the functions of this recording.");
        code = expression_compile(&one.expression, one.asked->text, err);
        if (code != 0)
            return code;
        code = pattern_apply(&one, allowed, count, err);
        regfree(&one.expression);
    }
    return code;
}
