/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * name: see name.h.
 */
#include "collect/name.h"

#include "tool/memory.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    NAME_COUNTER_MAX = 1000000,
    NAME_EXE_MAX = 120, /* bytes of %e: a file name may have 255 in all */
};

static int name_check_letters(const char *pattern, struct err *err)
{
    if (pattern[0] == '\0')
        return err_set(err, ERR_USAGE, "The output name is empty.");
    for (const char *c = pattern; *c != '\0'; c++) {
        if (*c != '%')
            continue;
        c++;
        if (*c == '\0')
            return err_set(err, ERR_USAGE, "The output name '%s' ends in a lone %%.", pattern);
        if (strchr("eptnhjr%", *c) == NULL)
            return err_set(
                err, ERR_USAGE,
                "The output name '%s' has %%%c, which is none of %%e %%p %%t %%n %%h %%j %%r %%%%.", pattern,
                *c);
    }
    if (pattern[strlen(pattern) - 1] == '/')
        return err_set(err, ERR_USAGE, "The output name '%s' is a folder.", pattern);
    return 0;
}

int name_check(const char *pattern, struct err *err)
{
    int code = name_check_letters(pattern, err);
    if (code != 0)
        return code;
    const char *slash = strrchr(pattern, '/');
    size_t length = slash == NULL ? 1 : slash == pattern ? 1 : (size_t)(slash - pattern);
    const char *start = slash == NULL ? "." : pattern;
    if (memchr(start, '%', length) != NULL)
        return 0; /* known only when a process is there */
    char *folder = memory_copy_part(start, length);
    if (folder == NULL)
        return err_set(err, ERR_MEMORY, "No memory for an output name.");
    struct stat st;
    if (stat(folder, &st) != 0)
        code = err_set(err, ERR_IO, "The folder of the output name '%s' cannot be used: %s.", pattern,
                       strerror(errno));
    else if (!S_ISDIR(st.st_mode))
        code = err_set(err, ERR_IO, "'%s' is not a folder, so '%s' cannot be written.", folder, pattern);
    else if (access(folder, W_OK | X_OK) != 0)
        code = err_set(err, ERR_IO, "The folder of the output name '%s' cannot be written to: %s.", pattern,
                       strerror(errno));
    free(folder);
    return code;
}

/* Has the pattern one of these letters behind a percent sign? */
static bool name_has(const char *pattern, const char *letters)
{
    for (const char *c = strchr(pattern, '%'); c != NULL && c[1] != '\0'; c = strchr(c + 2, '%')) {
        if (strchr(letters, c[1]) != NULL)
            return true;
    }
    return false;
}

bool name_is_per_process(const char *pattern)
{
    return name_has(pattern, "pnr");
}

bool name_is_used_once(const char *pattern)
{
    return name_has(pattern, "pn");
}

static void name_add_safe(struct strbuf *out, const char *text)
{
    size_t length = strlen(text);
    if (length > NAME_EXE_MAX)
        length = NAME_EXE_MAX;
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        bool unsafe = c < 0x20 || c == 0x7f || c == '/' || (c == '.' && i == 0);
        strbuf_add_char(out, unsafe ? '_' : (char)c);
    }
}

static const char *name_base(const char *exe)
{
    const char *slash = strrchr(exe, '/');
    const char *base = slash == NULL ? exe : slash + 1;
    return base[0] == '\0' ? "program" : base;
}

static void name_build(struct strbuf *out, const char *pattern, const struct name_facts *facts,
                       unsigned counter)
{
    char host[HOST_NAME_MAX + 1] = "";
    for (const char *c = pattern; *c != '\0'; c++) {
        if (*c != '%' || c[1] == '\0') {
            strbuf_add_char(out, *c);
            continue;
        }
        switch (*++c) {
        case 'e':
            name_add_safe(out, name_base(facts->exe));
            break;
        case 'p':
            strbuf_addf(out, "%u", facts->pid);
            break;
        case 't':
            strbuf_addf(out, "%llu", (unsigned long long)facts->seconds);
            break;
        case 'n':
            strbuf_addf(out, "%u", counter);
            break;
        case 'j':
            name_add_safe(out, facts->job == NULL || facts->job[0] == '\0' ? "0" : facts->job);
            break;
        case 'r':
            name_add_safe(out, facts->rank == NULL || facts->rank[0] == '\0' ? "0" : facts->rank);
            break;
        case 'h':
            (void)gethostname(host, sizeof host - 1);
            name_add_safe(out, host);
            break;
        default:
            strbuf_add_char(out, *c);
            break;
        }
    }
}

static bool name_is_used(struct strbuf *name)
{
    struct stat st;
    size_t length = name->length;
    if (lstat(strbuf_get(name), &st) == 0)
        return true;
    strbuf_add_text(name, ".partial");
    bool used = lstat(strbuf_get(name), &st) == 0;
    strbuf_cut(name, length);
    return used;
}

int name_expand(struct strbuf *out, const char *pattern, const struct name_facts *facts, struct err *err)
{
    int code = name_check_letters(pattern, err);
    if (code != 0)
        return code;
    bool counted = name_has(pattern, "n");
    size_t start = out->length;
    for (unsigned counter = 0; counter < NAME_COUNTER_MAX; counter++) {
        strbuf_cut(out, start);
        name_build(out, pattern, facts, counter);
        if (out->failed)
            return err_set(err, ERR_MEMORY, "No memory for an output name.");
        if (!counted || !name_is_used(out))
            return 0;
    }
    return err_set(err, ERR_LIMIT, "All names of the form '%s' are in use.", pattern);
}
