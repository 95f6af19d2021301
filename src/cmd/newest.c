/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * newest: see newest.h.
 */
#include "cmd/newest.h"

#include <glob.h>
#include <sys/stat.h>

static bool newest_is_later(const struct stat *a, const struct stat *b)
{
    return a->st_mtim.tv_sec != b->st_mtim.tv_sec ? a->st_mtim.tv_sec > b->st_mtim.tv_sec
                                                  : a->st_mtim.tv_nsec > b->st_mtim.tv_nsec;
}

bool newest_find(struct strbuf *name)
{
    glob_t found = {0};
    struct stat st, best = {0};
    const char *newest = NULL;
    if (glob("*.wake", GLOB_NOSORT, NULL, &found) != 0)
        found.gl_pathc = 0;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        if (stat(found.gl_pathv[i], &st) != 0 || !S_ISREG(st.st_mode) ||
            (newest != NULL && !newest_is_later(&st, &best)))
            continue;
        newest = found.gl_pathv[i];
        best = st;
    }
    if (newest != NULL)
        strbuf_add_text(name, newest);
    globfree(&found);
    return newest != NULL;
}
