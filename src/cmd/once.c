/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * once: see once.h.
 */
#include "cmd/once.h"

#include "cmd/command.h"

#include <string.h>

int once_note(struct once *o, const char *name, struct err *err)
{
    for (size_t i = 0; i < o->count; i++) {
        if (strcmp(o->given[i], name) == 0)
            return err_set(err, ERR_USAGE, "'%s' is given twice; it takes one value.", name);
    }
    if (o->count == ONCE_MOST)
        return err_set(err, ERR_LIMIT, "There are more than %d different options.", ONCE_MOST);
    o->given[o->count++] = name;
    return 0;
}

bool once_take(struct once *o, char **argv, int *at, const char *name, const char *other, const char **value,
               struct err *err)
{
    if (!command_option(argv, at, name, value) && (other == NULL || !command_option(argv, at, other, value)))
        return false;
    (void)once_note(o, name, err);
    return true;
}
