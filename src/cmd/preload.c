/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * preload: see preload.h.
 */
#include "cmd/preload.h"

#include "tool/memory.h"
#include "tool/strbuf.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char preload_no_children[] = "HEAPWAKE_CHILDREN=no";

static int preload_find(struct strbuf *path, struct err *err)
{
    static const char *const places[] = {"", "../lib/heapwake/", "../lib/"};
    const char *given = getenv("HEAPWAKE_PROBE");
    char real[PATH_MAX];
    if (given != NULL && given[0] != '\0') {
        if (realpath(given, real) == NULL || access(real, R_OK) != 0)
            return err_set(err, ERR_ABSENT, "HEAPWAKE_PROBE names '%s', which cannot be read.", given);
        strbuf_add_text(path, real);
        return 0;
    }
    ssize_t length = readlink("/proc/self/exe", real, sizeof real - 1);
    if (length > 0) {
        real[length] = '\0';
        char *slash = strrchr(real, '/');
        size_t folder = slash == NULL ? 0 : (size_t)(slash - real) + 1;
        for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
            strbuf_clear(path);
            strbuf_add(path, real, folder);
            strbuf_add_text(path, places[i]);
            strbuf_add_text(path, "libheapwake.so");
            char whole[PATH_MAX];
            if (realpath(strbuf_get(path), whole) != NULL) {
                strbuf_clear(path);
                strbuf_add_text(path, whole);
                return 0;
            }
        }
    }
    return err_set(err, ERR_ABSENT,
                   "libheapwake.so is neither beside heapwake nor in ../lib; HEAPWAKE_PROBE can name it.");
}

/* Another copy of the library in the user's own LD_PRELOAD; NULL: none. */
static char *preload_find_other(const char *list, const char *ours)
{
    static const char name[] = "libheapwake.so";
    char real[PATH_MAX];
    while (*(list += strspn(list, ": ")) != '\0') {
        size_t length = strcspn(list, ": ");
        char *path = memory_copy_part(list, length);
        const char *slash = path == NULL ? NULL : strrchr(path, '/');
        const char *base = slash == NULL ? path : slash + 1;
        if (base != NULL && strncmp(base, name, sizeof name - 1) == 0 &&
            (realpath(path, real) == NULL || strcmp(real, ours) != 0))
            return path;
        free(path);
        list += length;
    }
    return NULL;
}

int preload_init(struct preload *p, const struct listener *listener, bool children, struct err *err)
{
    struct strbuf path, text;
    char address[LISTENER_NAME_MAX + 2 * LISTENER_TOKEN + 2];
    memset(p, 0, sizeof *p);
    strbuf_init(&path);
    strbuf_init(&text);
    int code = preload_find(&path, err);
    if (path.failed)
        code = err_no_memory(err);
    if (code == 0 && strpbrk(strbuf_get(&path), ": ") != NULL)
        code = err_set(err, ERR_UNSUPPORTED,
                       "The path '%s' has a colon or a space, which the loader takes for a separator.",
                       strbuf_get(&path));
    if (code == 0) {
        const char *others = getenv("LD_PRELOAD");
        strbuf_addf(&text, "LD_PRELOAD=%s", strbuf_get(&path));
        if (others != NULL && others[0] != '\0') {
            strbuf_addf(&text, ":%s", others);
            p->other = preload_find_other(others, strbuf_get(&path));
        }
        p->library = strbuf_detach(&text);
        listener_print(listener, address);
        strbuf_addf(&text, "HEAPWAKE_SOCKET=%s", address);
        p->socket = strbuf_detach(&text);
        if (p->library == NULL || p->socket == NULL)
            code = err_set(err, ERR_MEMORY, "No memory for the environment.");
        p->more[0] = p->library;
        p->more[1] = p->socket;
        p->more[2] = children ? NULL : (char *)(uintptr_t)preload_no_children;
    }
    strbuf_release(&path);
    strbuf_release(&text);
    return code;
}

void preload_release(struct preload *p)
{
    free(p->library);
    free(p->other);
    free(p->socket);
    memset(p, 0, sizeof *p);
}
