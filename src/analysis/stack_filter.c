/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * stack_filter: see stack_filter.h.
 */
#include "analysis/stack_filter.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/trace.h"
#include "engine/expression.h"
#include "engine/measure.h"
#include "tool/memory.h"

struct stack_filter_rule {
    regex_t regex;
    bool exclude;
};

void stack_filter_init(struct stack_filter *s)
{
    memset(s, 0, sizeof *s);
}

void stack_filter_release(struct stack_filter *s)
{
    for (size_t i = 0; i < s->rules.count; i++) {
        regfree(&s->rules.data[i]->regex);
        free(s->rules.data[i]);
    }
    vec_release(&s->rules);
}

int stack_filter_add(struct stack_filter *s, const char *pattern, bool exclude, struct err *err)
{
    struct stack_filter_rule *rule = memory_new_zeroed(1, sizeof *rule);
    if (rule == NULL)
        return err_no_memory(err);
    int code = expression_compile(&rule->regex, pattern, err);
    if (code != 0) {
        free(rule);
        return code;
    }
    rule->exclude = exclude;
    if (!vec_push(&s->rules, rule)) {
        regfree(&rule->regex);
        free(rule);
        return err_no_memory(err);
    }
    s->has_include |= !exclude;
    return 0;
}

static bool stack_filter_matches(const regex_t *regex, const struct frame *f)
{
    char place[FRAME_PLACE_MAX];
    const char *function =
        f->function[0] != '\0' ? f->function : frame_spell_place(place, f->module, f->address);
    return regexec(regex, function, 0, NULL, 0) == 0 || regexec(regex, f->file, 0, NULL, 0) == 0 ||
           regexec(regex, f->module, 0, NULL, 0) == 0;
}

bool stack_filter_keeps(const struct stack_filter *s, const struct traces *c, uint32_t trace)
{
    bool included = !s->has_include;
    for (; trace != 0; trace = traces_parent(c, trace)) {
        const struct frame *f = traces_frame(c, trace);
        for (size_t i = 0; i < s->rules.count; i++) {
            const struct stack_filter_rule *rule = s->rules.data[i];
            if ((rule->exclude || !included) && stack_filter_matches(&rule->regex, f)) {
                if (rule->exclude)
                    return false;
                included = true;
            }
        }
    }
    return included;
}

int stack_filter_apply(const struct stack_filter *s, struct traces *c, struct query_result *r,
                       struct err *err)
{
    size_t kept = 0;
    if (s->rules.count == 0)
        return 0;
    memset(&r->total, 0, sizeof r->total);
    for (size_t i = 0; i < r->rows.count; i++) {
        uint32_t trace;
        int code = traces_find(c, r->rows.data[i].process, r->rows.data[i].stack, &trace, err);
        if (code != 0)
            return code;
        if (!stack_filter_keeps(s, c, trace))
            continue;
        r->rows.data[kept++] = r->rows.data[i];
        measure_add(&r->total, &r->rows.data[kept - 1].m);
    }
    r->rows.count = kept;
    return 0;
}
