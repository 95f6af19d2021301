/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * crew_test: parts of a ledger when there are no threads to be had, or not for all (second_questions_test and ledger_test have them).
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "engine/ledger.h"
#include "engine/naive_ask.h"
#include "engine/parse.h"
#include "engine/twins.h"

static unsigned denied, granted, deny_each; /* deny_each: of so many one is granted; 0 and 1: all are */

/* In the place of libc's, for crew.c. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *context)
{
    static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (deny_each != 0 && (denied + granted + 1) % deny_each != 0) {
        denied++;
        return EAGAIN;
    }
    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
    granted++;
    return real(thread, attributes, run, context);
}

static void parts_without_threads_are_counted_too(void **state)
{
    (void)state;
    struct naive n;
    struct twins t;
    naive_chunk_steps = 500;
    naive_make(&n, path, 700, 1, 9000, true);
    for (deny_each = 0; deny_each < 4; deny_each++) {
        denied = granted = 0;
        open_twins(&t, &(struct ledger_limits){.part_count = 7, .part_entries = 500});
        for (unsigned i = 0; i < 60; i++) {
            struct query q;
            query_init(&q);
            ask_anything(&n, &q);
            ask_twins(&t, &q);
            query_release(&q);
        }
        close_twins(&t);
        assert_true(granted > 10);
        assert_true(deny_each < 2 ? denied == 0 : denied > 10);
    }
    naive_release(&n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(parts_without_threads_are_counted_too, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
