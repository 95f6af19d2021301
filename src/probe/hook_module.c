/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * hook_module: libraries going. (Their coming is noticed when the first frame
 * in one is seen.) And those that are asked for with RTLD_DEEPBIND, whose own calls of malloc
 * do not come to us: their names are told. dlopen looks at who calls it, so it is jumped to.
 */
#include "probe/arch.h"
#include "probe/hook.h"
#include "probe/life.h"
#include "probe/module.h"
#include "probe/note.h"
#include "probe/real.h"

#include <dlfcn.h>

HOOK int dlclose(void *handle)
{
    const struct real *call = life_real();
    if (call == NULL)
        return -1;
    module_close_begin();
    int result = call->dlclose(handle);
    module_close_end();
    return result;
}

/* Called by the stub of dlopen() alone. */
__attribute__((visibility("hidden"), used)) void *hook_note_dlopen(const char *name, int flags);
void *hook_note_dlopen(const char *name, int flags)
{
    const struct real *call = life_real();
    if (name != NULL && (flags & RTLD_DEEPBIND) != 0 && (flags & RTLD_NOLOAD) == 0)
        (void)note_mark(MARK_DEEP, name, false, HOOK_FRAME);
    return call == NULL ? NULL : (void *)(uintptr_t)call->dlopen;
}

ARCH_JUMP_STUB(dlopen, hook_note_dlopen)
