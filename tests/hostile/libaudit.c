/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * libaudit: an audit library (LD_AUDIT), which the loader puts into a namespace
 * of its own, with a libc of its own.
 */
#include <link.h>
#include <stdlib.h>

unsigned la_version(unsigned version);
unsigned la_objopen(struct link_map *map, Lmid_t space, uintptr_t *cookie);

unsigned la_version(unsigned version)
{
    free(malloc(100));
    return version;
}

unsigned la_objopen(struct link_map *map, Lmid_t space, uintptr_t *cookie)
{
    (void)map;
    (void)space;
    *cookie = (uintptr_t)malloc(10);
    return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}
