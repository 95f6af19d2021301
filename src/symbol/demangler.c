/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * demangler: libiberty with limits.
 *
 * A mangled name of a few bytes can mean gigabytes (substitutions double and
 * double), so the text is taken piece by piece through a callback.  That way
 * libiberty allocates nothing, and once there is too much of it we leave with
 * longjmp.
 *
 * libiberty refuses names from 1 KiB on unless its limit on recursion is
 * off, since it cannot know how much stack there is; C++ has longer ones.  We
 * know: such names are read on a stack of our own that holds the deepest
 * nesting a name of DEMANGLER_MAX bytes can have.
 *
 * D's names are read by a function that allocates; there libiberty's own
 * limits must do, and a shorter length.
 */
#include "symbol/demangler.h"

#include <libiberty/demangle.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEMANGLER_SHORT = 1000, /* libiberty takes these with its limit on */
    DEMANGLER_STACK = 64 << 20,
    DEMANGLER_STYLE = DMGL_PARAMS | DMGL_ANSI,
};

struct demangler {
    struct strbuf *out;
    const char *linkage;
    size_t start; /* length of out before */
    int options;
    bool done;
    jmp_buf leave;
};

static void demangler_take(const char *text, size_t length, void *context)
{
    struct demangler *d = context;
    strbuf_add(d->out, text, length);
    if (d->out->length - d->start > DEMANGLER_OUTPUT_MAX || d->out->failed)
        longjmp(d->leave, 1);
}

/* Rust's older scheme looks like C++ and ends in a hash, so Rust is tried first. */
static void *demangler_run(void *context)
{
    struct demangler *d = context;
    if (setjmp(d->leave) != 0) {
        d->done = false;
        return NULL;
    }
    d->done = rust_demangle_callback(d->linkage, d->options, demangler_take, d) != 0;
    if (!d->done && d->linkage[1] == 'Z') {
        strbuf_cut(d->out, d->start);
        d->done = cplus_demangle_v3_callback(d->linkage, d->options, demangler_take, d) != 0;
    }
    return NULL;
}

static void demangler_run_on_large_stack(struct demangler *d)
{
    pthread_t thread;
    pthread_attr_t attributes;
    d->options |= DMGL_NO_RECURSE_LIMIT;
    if (pthread_attr_init(&attributes) != 0)
        return;
    if (pthread_attr_setstacksize(&attributes, DEMANGLER_STACK) == 0 &&
        pthread_create(&thread, &attributes, demangler_run, d) == 0)
        pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
}

static bool demangle_d(struct strbuf *out, const char *linkage, size_t length)
{
    char *text = length < DEMANGLER_SHORT ? dlang_demangle(linkage, DEMANGLER_STYLE) : NULL;
    if (text != NULL)
        strbuf_add(out, text, strnlen(text, DEMANGLER_OUTPUT_MAX));
    free(text);
    return text != NULL;
}

bool demangle(struct strbuf *out, const char *linkage)
{
    size_t length = strnlen(linkage, DEMANGLER_MAX + 1);
    if (length > DEMANGLER_MAX || linkage[0] != '_')
        return false;
    if (linkage[1] == 'D')
        return demangle_d(out, linkage, length);
    if (linkage[1] != 'Z' && linkage[1] != 'R')
        return false;
    struct demangler d = {.out = out, .linkage = linkage, .start = out->length, .options = DEMANGLER_STYLE};
    if (length < DEMANGLER_SHORT)
        demangler_run(&d);
    else
        demangler_run_on_large_stack(&d);
    if (!d.done || out->failed) {
        strbuf_cut(out, d.start);
        return false;
    }
    return true;
}
