/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * libseeker: opens another library, which only its own RUNPATH finds.
 *
 * build: -Wl,--enable-new-dtags,-rpath,{build}/tests/hostile
 */
#include <dlfcn.h>
#include <stddef.h>

void *seek_plain(void);

void *seek_plain(void)
{
    return dlopen("libplain.so", RTLD_NOW);
}
