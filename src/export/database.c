/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * database: see database.h.
 */
#include "export/database.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "present/safe.h"
#include "tool/file.h"
#include "tool/strbuf.h"

bool database_has_failed(const struct database *d)
{
    return d->state != SQLITE_OK;
}

/* Takes the first thing that went wrong. */
static void database_note(struct database *d, int state)
{
    if (database_has_failed(d) || state == SQLITE_OK || state == SQLITE_DONE || state == SQLITE_ROW)
        return;
    d->state = state & 0xff;
    /* A limit on the size of files or a quota is a full disk too; sqlite3_system_errno does not know. */
    if (d->state == SQLITE_IOERR && file_code(errno) == ERR_FULL)
        d->state = SQLITE_FULL;
    snprintf(d->reason, sizeof d->reason, "%s",
             d->db == NULL ? sqlite3_errstr(state) : sqlite3_errmsg(d->db));
}

void database_open(struct database *d, const char *path)
{
    memset(d, 0, sizeof *d);
    database_note(d, sqlite3_open_v2(path, &d->db, SQLITE_OPEN_READWRITE, NULL));
    database_run(d, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN");
}

int database_close(struct database *d, const char *name, struct err *err)
{
    for (int i = 0; i < d->count; i++)
        sqlite3_finalize(d->statements[i]);
    database_run(d, "COMMIT");
    int state = sqlite3_close(d->db);
    d->db = NULL;
    database_note(d, state);
    switch (d->state) {
    case SQLITE_OK:
        return 0;
    case SQLITE_FULL:
        return err_set(err, ERR_FULL, "There is no room left for %s.", name);
    case SQLITE_NOMEM:
        return err_no_memory(err);
    default:
        return err_set(err, ERR_IO, "%s cannot be written: %s.", name, d->reason);
    }
}

void database_run(struct database *d, const char *sql)
{
    if (!database_has_failed(d))
        database_note(d, sqlite3_exec(d->db, sql, NULL, NULL, NULL));
}

int database_prepare(struct database *d, const char *sql)
{
    if (database_has_failed(d))
        return 0;
    database_note(
        d, sqlite3_prepare_v3(d->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &d->statements[d->count], NULL));
    return d->count++;
}

/* Names of a program may be any bytes; what is not UTF-8 becomes U+FFFD. */
static void database_bind_text(struct database *d, struct sqlite3_stmt *s, int i, const char *text)
{
    struct strbuf sound;
    size_t left = strlen(text), used;
    unsigned point;
    const char *at = text;
    for (; left > 0 && (used = safe_decode(at, left, &point)) > 0; left -= used)
        at += used;
    if (left == 0) {
        database_note(d, sqlite3_bind_text(s, i, text, -1, SQLITE_STATIC));
        return;
    }
    strbuf_init(&sound);
    for (at = text, left = strlen(text); left > 0; at += used, left -= used) {
        used = safe_decode(at, left, &point);
        strbuf_add(&sound, used == 0 ? "\xef\xbf\xbd" : at, used == 0 ? 3 : used);
        used = used == 0 ? 1 : used;
    }
    database_note(d, sound.failed ? SQLITE_NOMEM
                                  : sqlite3_bind_text(s, i, strbuf_get(&sound), -1, SQLITE_TRANSIENT));
    strbuf_release(&sound);
}

void database_insert(struct database *d, int statement, const char *types, ...)
{
    if (database_has_failed(d))
        return;
    struct sqlite3_stmt *s = d->statements[statement];
    va_list args;
    va_start(args, types);
    for (int i = 1; *types != '\0'; types++, i++) {
        if (*types == 't') {
            const char *text = va_arg(args, const char *);
            if (text == NULL)
                database_note(d, sqlite3_bind_null(s, i));
            else
                database_bind_text(d, s, i, text);
            continue;
        }
        uint64_t number = va_arg(args, uint64_t);
        database_note(d, *types == 'o' && number == UINT64_MAX ? sqlite3_bind_null(s, i)
                                                               : sqlite3_bind_int64(s, i, (int64_t)number));
    }
    va_end(args);
    database_note(d, sqlite3_step(s));
    database_note(d, sqlite3_reset(s));
}
