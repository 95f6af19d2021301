/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * database: an SQLite file that is filled once, table by table.
 *
 *     database_open(&d, path)
 *     database_run(&d, "CREATE TABLE t (a INTEGER, b TEXT)")
 *     int t = database_prepare(&d, "INSERT INTO t VALUES (?, ?)")
 *     database_insert(&d, t, "it", (uint64_t)7, "seven")
 *     database_close(&d, name, err)
 *
 * Errors are sticky: after the first every call does nothing, and
 * database_close tells.  No journal and no waiting for the disk: the file is
 * fresh, and nobody has it before it is whole.
 */
#ifndef HW_EXPORT_DATABASE_H
#define HW_EXPORT_DATABASE_H

#include <stdbool.h>

#include "tool/err.h"

enum { DATABASE_STATEMENTS = 12 };

struct sqlite3;
struct sqlite3_stmt;

struct database {
    struct sqlite3 *db;
    struct sqlite3_stmt *statements[DATABASE_STATEMENTS];
    int count;
    int state;        /* SQLITE_OK until something fails */
    char reason[256]; /* what SQLite said then */
};

/* path: an empty file. */
void database_open(struct database *d, const char *path);
/* Ends the transaction and the file; name: how people call it.  ERR_FULL, ERR_MEMORY, ERR_IO. */
int database_close(struct database *d, const char *name, struct err *err);
bool database_has_failed(const struct database *d);

/* One or several statements without results. */
void database_run(struct database *d, const char *sql);
int database_prepare(struct database *d, const char *sql);
/* A value for each letter: i uint64_t, o uint64_t with UINT64_MAX for NULL, t text
 * (const char *; NULL for NULL). */
void database_insert(struct database *d, int statement, const char *types, ...);

#endif
