/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * worst: see worst.h.  One recording is open at a time: there may be thousands.
 */
#include "cmd/worst.h"

#include "cmd/recording_file.h"
#include "session/summary.h"

#include <string.h>

static const struct {
    const char *word;
    const char *description;
} worst_list[] = {
    [WORST_NONE] = {"", ""},
    [WORST_RSS] = {"rss", "the largest resident set"},
    [WORST_PEAK] = {"peak", "the highest peak"},
    [WORST_LEAKED] = {"leaked", "the most bytes never freed"},
};

enum worst worst_find(const char *word)
{
    for (size_t i = 1; i < sizeof worst_list / sizeof *worst_list; i++) {
        if (strcmp(word, worst_list[i].word) == 0)
            return (enum worst)i;
    }
    return WORST_NONE;
}

const char *worst_describe(enum worst what)
{
    return worst_list[what].description;
}

static uint64_t worst_value(enum worst what, const struct wake_reader *r)
{
    struct summary f;
    summary_gather(&f, r);
    return what == WORST_RSS ? f.peak_rss_bytes : what == WORST_PEAK ? f.peak_bytes : f.leaked_bytes;
}

int worst_pick(enum worst what, const char *const *files, size_t count, size_t *which, uint64_t *value,
               struct err *err)
{
    bool found = false;
    for (size_t i = 0; i < count; i++) {
        struct wake_reader *r = recording_file_open(files[i]);
        if (r == NULL)
            continue;
        uint64_t has = worst_value(what, r);
        wake_reader_close(r);
        if (found && has <= *value)
            continue;
        found = true;
        *which = i;
        *value = has;
    }
    return found ? 0 : err_set(err, ERR_INPUT, "None of these recordings can be read.");
}
