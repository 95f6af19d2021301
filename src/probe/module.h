/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * module: which loaded file an address belongs to, and telling the collector.
 *
 * The loader is asked without its lock (_dl_find_object). A module is told to
 * the collector (a MODULE record) when the first frame in it is seen.
 *
 * The generation counts the times at which code may have gone or been
 * replaced. Whatever was learnt of an address (its unwind rule, the stacks it
 * is part of) is keyed by the generation and dies with it. It advances
 *  - when the program's dlclose returns; while one is running, nothing is kept,
 *  - when an address turns out to belong to another module than before
 *    (libc's own unloading of NSS and iconv modules passes no hook),
 *  - when unwind tables are withdrawn that were announced at run time (jit.h).
 */
#ifndef HW_PROBE_MODULE_H
#define HW_PROBE_MODULE_H

#include "probe/inner.h"
#include "probe/unwind/cfi.h"

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>

struct lane;

/* struct dl_find_object of glibc, which Debian 12's headers have and older ones lack. */
struct module_object {
    uint64_t flags;
    void *map_start;
    void *map_end;
    void *link_map;
    void *eh_frame;
    uint64_t reserved[7];
};

/* Program headers, as they are in memory. */
struct module_headers {
    const Elf64_Phdr *list;
    unsigned count;
};

INNER uint64_t module_generation;
INNER uint32_t module_closing;

/* Finds the module of pc, or what was announced for code in no module; tells the
 * collector through `lane`, unless that is NULL, if it is new, or if what was told of
 * this place is no more. False: neither, or a module without unwind data. */
bool module_find(struct lane *lane, uint64_t pc, struct cfi_section *section);

/* Those of a module that _dl_find_object has found; none where they cannot be read. */
struct module_headers module_headers(const struct module_object *o);

/* Around the program's dlclose. */
void module_close_begin(void);
void module_close_end(void);

/* What was learnt of addresses so far fits no more. */
void module_advance(void);

/* Code that belongs to no module has come to lie here: if a module was, it has gone. */
void module_displace(uint64_t start, uint64_t end);

/* In a forked child: all modules are to be told again. */
void module_renew(void);

bool module_init(void);

#endif
