/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * elf_resolver: the resolver for naming that asks ELF files, by src/symbol.
 *
 * Code in no module (naming_is_fileless) is looked up in a copy of the
 * process's /proc/PID/maps, if there is one.
 */
#ifndef HW_SYMBOL_ELF_RESOLVER_H
#define HW_SYMBOL_ELF_RESOLVER_H

#include "symbol/naming.h"

struct elf_resolver;

/* The options' texts and functions live as long as it.  NULL: err says why. */
struct elf_resolver *elf_resolver_new(const struct naming_options *options, struct err *err);
void elf_resolver_free(struct elf_resolver *e);
/* A sentence for people when servers were left alone before they had answered; "" = they were not. */
const char *elf_resolver_get_remark(const struct elf_resolver *e);
const struct naming_resolver *elf_resolver_get(const struct elf_resolver *e);

#endif
