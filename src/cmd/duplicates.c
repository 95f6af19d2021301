/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * duplicates: see duplicates.h.
 */
#include "cmd/duplicates.h"

#include "cmd/command.h"
#include "tool/vec.h"

#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

struct duplicate {
    dev_t device;
    ino_t node;
    bool is_there;
};

/* Which of the first `count` it is; count: none. */
static size_t duplicates_find(const struct duplicate *all, size_t count, const struct duplicate *it)
{
    size_t i = 0;
    while (i < count && !(all[i].is_there && all[i].device == it->device && all[i].node == it->node))
        i++;
    return i;
}

size_t duplicates_drop(const char **files, size_t count)
{
    VEC(struct duplicate) seen = {0};
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        struct stat st;
        struct duplicate it = {.is_there = stat(files[i], &st) == 0};
        if (it.is_there)
            it = (struct duplicate){.device = st.st_dev, .node = st.st_ino, .is_there = true};
        size_t first = it.is_there ? duplicates_find(seen.data, seen.count, &it) : kept;
        if (first < kept && strcmp(files[first], files[i]) == 0) {
            command_say("%s is named more than once; it counts once.", files[i]);
        } else if (first < kept) {
            command_say("%s is the same file as %s; it counts once.", files[i], files[first]);
        } else {
            files[kept++] = files[i];
            if (seen.count == kept - 1)
                (void)vec_push(&seen, it); /* without memory nothing more is noticed */
        }
    }
    vec_release(&seen);
    return kept;
}
