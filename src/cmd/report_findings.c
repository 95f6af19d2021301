/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * report_findings: see report_findings.h.
 */
#include "cmd/report_findings.h"

#include "analysis/advice.h"
#include "analysis/misuse.h"
#include "analysis/what_if.h"
#include "cmd/nothing_fits.h"
#include "engine/maps.h"
#include "engine/when.h"
#include "present/labels.h"
#include "present/section_advice.h"
#include "present/section_maps.h"
#include "present/section_misuse.h"
#include "present/section_what_if.h"

enum { REPORT_FINDINGS_SHOWN = 10, REPORT_FINDINGS_JSON = 1000 };
static const double REPORT_ADVICE_SHARE = 0.0005; /* what is less shows as 0.0 % */

/* One process of one recording; base is the number of the recording's first process among all. */
typedef int report_finding_fn(void *of, const struct query *q, struct wake_reader *r, uint32_t process,
                              uint32_t base, struct err *err);

/* Calls for all processes that the query is about. */
static int report_findings_visit(struct report_data *d, const struct report_options *o,
                                 report_finding_fn *visit, void *of, struct err *err)
{
    int code = 0;
    interactive_query_begin(&d->interactive);
    for (size_t i = 0; i < session_count(d->session) && code == 0; i++) {
        struct wake_reader *r = session_reader(d->session, i);
        struct query q;
        session_prepare(d->session, i, &o->query, &d->interactive.ask, &q);
        for (uint32_t k = 0; k < wake_reader_process_count(r) && code == 0; k++) {
            if (when_chooses(&o->query, wake_reader_process(r, k)))
                code = visit(of, &q, r, k, session_base(d->session, i), err);
        }
    }
    interactive_query_end(&d->interactive);
    return code;
}

static size_t report_findings_limit(const struct report_options *o)
{
    return o->has_limit ? o->limit : o->json ? REPORT_FINDINGS_JSON : REPORT_FINDINGS_SHOWN;
}

static int report_finding_advice(void *of, const struct query *q, struct wake_reader *r, uint32_t process,
                                 uint32_t base, struct err *err)
{
    return advices_read(of, q, r, process, base, err);
}

static int report_findings_advice(struct report_data *d, const struct report_options *o, struct page *p,
                                  struct json *j, struct err *err)
{
    struct advices advices;
    advices_init(&advices);
    int code = report_findings_visit(d, o, report_finding_advice, &advices, err);
    if (code == 0)
        code = advices_build(&advices, &d->traces, d->head.sum.peak_bytes, d->head.sum.runtime_ns, err);
    struct section_advice s = {&d->traces, &advices, report_findings_limit(o),
                               o->has_limit ? 0 : REPORT_ADVICE_SHARE};
    if (code == 0 && o->json)
        section_advice_json(j, &s);
    else if (code == 0)
        section_advice_text(p, &s);
    advices_release(&advices);
    return code;
}

struct report_finding_what_if {
    const struct what_if *asked;
    struct what_if_answer answer;
};

static int report_finding_what_if(void *of, const struct query *q, struct wake_reader *r, uint32_t process,
                                  uint32_t base, struct err *err)
{
    struct report_finding_what_if *w = of;
    (void)base;
    return what_if_read(w->asked, q, r, process, &w->answer, err);
}

static int report_findings_what_if(struct report_data *d, const struct report_options *o, struct page *p,
                                   struct json *j, struct err *err)
{
    struct report_finding_what_if w = {.asked = &o->what_if};
    int code = report_findings_visit(d, o, report_finding_what_if, &w, err);
    struct section_what_if s = {&o->what_if, &w.answer};
    if (code == 0 && o->json)
        section_what_if_json(j, &s);
    else if (code == 0)
        section_what_if_text(p, &s);
    return code;
}

static int report_finding_misuse(void *of, const struct query *q, struct wake_reader *r, uint32_t process,
                                 uint32_t base, struct err *err)
{
    (void)base;
    return misuses_read(of, q, r, process, err);
}

static int report_findings_misuse(struct report_data *d, const struct report_options *o, struct page *p,
                                  struct json *j, struct err *err)
{
    struct misuses misuses;
    misuses_init(&misuses);
    int code = report_findings_visit(d, o, report_finding_misuse, &misuses, err);
    struct section_misuse s = {&d->traces, &misuses, session_reader(d->session, 0), 0, labels_detail};
    if (code == 0)
        code = o->json ? section_misuse_json(j, &s, err) : section_misuse_text(p, &s, err);
    misuses_release(&misuses);
    return code;
}

struct report_finding_maps {
    struct maps maps;
    const struct stack_filter *sieve;
    struct traces *traces;
    uint32_t base;
};

/* --include and --exclude.  Without memory for a name there is none for the rest either. */
static bool report_finding_keeps(void *context, uint32_t process, uint32_t stack)
{
    struct report_finding_maps *f = context;
    uint32_t trace;
    struct err err;
    err_init(&err);
    return traces_find(f->traces, f->base + process, stack, &trace, &err) == 0 &&
           stack_filter_keeps(f->sieve, f->traces, trace);
}

static int report_finding_maps(void *of, const struct query *q, struct wake_reader *r, uint32_t process,
                               uint32_t base, struct err *err)
{
    struct report_finding_maps *f = of;
    struct query sieved = *q; /* its lists and texts stay the options' */
    f->base = base;
    if (f->sieve->rules.count > 0) {
        sieved.keeps_stack = report_finding_keeps;
        sieved.keeps_context = f;
    }
    return maps_read(&f->maps, &sieved, r, process, base, err);
}

static int report_findings_maps(struct report_data *d, const struct report_options *o, struct page *p,
                                struct json *j, struct err *err)
{
    struct report_finding_maps f = {.sieve = &o->sieve, .traces = &d->traces};
    maps_init(&f.maps);
    int code = report_findings_visit(d, o, report_finding_maps, &f, err);
    for (size_t i = 0; i < session_count(d->session) && code == 0; i++)
        interactive_query_tell_begin(&d->interactive, session_reader(d->session, i), "mapped");
    struct section_maps s = {&d->traces, &f.maps, report_findings_limit(o),
                             o->query.filter.mappings.count > 0};
    if (code == 0)
        maps_order(&f.maps, o->sort, o->is_reverse);
    if (code == 0)
        code = o->json ? section_maps_json(j, &s, err) : section_maps_text(p, &s, err);
    if (code == 0 && o->conditions.length > 0 && !interactive_query_is_interrupted())
        nothing_fits_say_mappings(f.maps.chosen.count, f.maps.list.count);
    maps_release(&f.maps);
    return code;
}

bool report_findings_are_wanted(const struct report_options *o)
{
    return o->misuse || o->advice || o->maps || o->what_if.without.count > 0;
}

uint64_t report_findings_omitted(const struct report_data *d, const struct report_options *o)
{
    uint64_t blocks = 0;
    bool says_advice = o->advice && o->json; /* as text it says so itself */
    if (o->what_if.without.count == 0 && !says_advice)
        return 0;
    for (size_t i = 0; i < session_count(d->session); i++) {
        for (size_t k = 0; k < wake_reader_process_count(session_reader(d->session, i)); k++) {
            const struct wake_process *p = wake_reader_process(session_reader(d->session, i), k);
            blocks += when_chooses(&o->query, p) ? wake_process_omitted(p) : 0;
        }
    }
    return blocks;
}

int report_findings_add(struct report_data *d, const struct report_options *o, struct page *p, struct json *j,
                        struct err *err)
{
    const struct {
        bool is_wanted;
        int (*add)(struct report_data *, const struct report_options *, struct page *, struct json *,
                   struct err *);
    } findings[] = {{o->what_if.without.count > 0, report_findings_what_if},
                    {o->misuse, report_findings_misuse},
                    {o->advice, report_findings_advice},
                    {o->maps, report_findings_maps}};
    int code = 0;
    for (size_t i = 0; i < sizeof findings / sizeof *findings && code == 0; i++) {
        if (!findings[i].is_wanted)
            continue;
        if (!o->json)
            page_end_line(p);
        code = findings[i].add(d, o, p, j, err);
    }
    return code;
}
