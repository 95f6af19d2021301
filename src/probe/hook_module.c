/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * hook_module: libraries going. (Their coming is noticed when the first frame
 * in one is seen; dlopen is not hooked, since it looks at who calls it.)
 */
#include "probe/hook.h"
#include "probe/life.h"
#include "probe/module.h"
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
