/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * naming: see naming.h.
 *
 * Linkers merge equal strings, so one linkage name is one address however many
 * units have the function, and it is demangled once.
 *
 * What has no linkage name, or one that is not mangled (functions of C, and those
 * of C++ that no other file can see), has a name, and in C++ that is only its last part.  The rest are
 * the namespaces and classes around the entry, and its parameters.  All that is in the
 * symbol of the compiled function, if there is one, and then it holds for the
 * places too where the function was inlined (naming_teach).  If there is none, we
 * look for the scopes alone (scope.h).
 */
#include "symbol/naming.h"

#include "symbol/demangler.h"
#include "symbol/die.h"
#include "tool/strbuf.h"

#include <string.h>

enum {
    NAMING_TEXT_MAX = 64 << 10,
    NAMING_FOLDERS_MAX = 256,
};

static const struct naming_name naming_nothing = {"", ""};

void naming_init(struct naming *n)
{
    *n = (struct naming){0};
    arena_init(&n->arena);
    map_init(&n->linkages);
    map_init(&n->entries);
    map_init(&n->files);
    scopes_init(&n->scopes);
}

void naming_release(struct naming *n)
{
    map_release(&n->linkages);
    map_release(&n->entries);
    map_release(&n->files);
    scopes_release(&n->scopes);
    arena_release(&n->arena);
}

static const char *naming_copy(struct naming *n, const char *text, size_t length)
{
    return arena_push_text(&n->arena, text, length < NAMING_TEXT_MAX ? length : NAMING_TEXT_MAX);
}

/* Keeps what was found; linkage "" = the same as function. */
static const struct naming_name *naming_keep(struct naming *n, struct map *m, const void *key,
                                             const char *function, const char *linkage)
{
    struct naming_name *name = arena_push(&n->arena, sizeof *name);
    if (name == NULL)
        return &naming_nothing;
    name->function = naming_copy(n, function, strlen(function));
    name->linkage = naming_copy(n, linkage, strnlen(linkage, NAMING_TEXT_MAX));
    if (name->function == NULL || name->linkage == NULL || !map_set(m, (uintptr_t)key, (uintptr_t)name))
        return &naming_nothing;
    return name;
}

static const struct naming_name *naming_found(const uint64_t *value)
{
    return (const struct naming_name *)(uintptr_t)*value;
}

/* --------------------------------------------------------------- linkage names */

static const struct naming_name *naming_linkage(struct naming *n, const char *linkage)
{
    const uint64_t *known = map_find(&n->linkages, (uintptr_t)linkage);
    if (known != NULL)
        return naming_found(known);
    struct strbuf text = {0};
    const struct naming_name *name;
    if (demangle(&text, linkage))
        name = naming_keep(n, &n->linkages, linkage, strbuf_get(&text), linkage);
    else {
        strbuf_clear(&text);
        strbuf_add(&text, linkage, strnlen(linkage, NAMING_TEXT_MAX));
        name = naming_keep(n, &n->linkages, linkage, strbuf_get(&text), "");
    }
    strbuf_release(&text);
    return name;
}

const struct naming_name *naming_symbol(struct naming *n, const char *symbol)
{
    const uint64_t *known = map_find(&n->linkages, (uintptr_t)symbol);
    size_t length = strnlen(symbol, NAMING_TEXT_MAX);
    const char *at = memchr(symbol, '@', length);
    if (known != NULL)
        return naming_found(known);
    if (at == NULL)
        return naming_linkage(n, symbol);
    struct strbuf plain = {0}, text = {0};
    const char *rest = strncmp(at, "@plt", length - (size_t)(at - symbol)) == 0 ? "@plt" : "";
    strbuf_add(&plain, symbol, (size_t)(at - symbol));
    const char *linkage = strbuf_get(&plain);
    bool is_mangled = demangle(&text, linkage);
    if (!is_mangled)
        strbuf_add_text(&text, linkage);
    strbuf_add_text(&text, rest);
    strbuf_add_text(&plain, is_mangled ? rest : "");
    const struct naming_name *name =
        naming_keep(n, &n->linkages, symbol, strbuf_get(&text), is_mangled ? strbuf_get(&plain) : "");
    strbuf_release(&plain);
    strbuf_release(&text);
    return name;
}

/* ------------------------------------------------------------- qualified names */

/* The entry that says what a function is, rather than where it is compiled. */
static Dwarf_Die naming_declaration(const Dwarf_Die *die)
{
    Dwarf_Die at = *die, next;
    for (unsigned i = 0; i < 16; i++) {
        if (!die_follow(&at, DW_AT_abstract_origin, &next) && !die_follow(&at, DW_AT_specification, &next))
            break;
        at = next;
    }
    return at;
}

/* Has it namespaces?  Only languages known not to have any are left out. */
bool naming_is_teachable(Dwarf_Die *unit)
{
    switch (dwarf_srclang(unit)) {
    case DW_LANG_C89:
    case DW_LANG_C:
    case DW_LANG_C99:
    case DW_LANG_C11:
    case DW_LANG_Mips_Assembler:
        return false;
    default:
        return true;
    }
}

/* What a scope adds to the name of a function in it; NULL = nothing. */
static const char *naming_scope(Dwarf_Die *die, const char *function)
{
    bool is_lambda = strcmp(function, "operator()") == 0 || strcmp(function, "_FUN") == 0;
    const char *name = die_text(die, DW_AT_name);
    switch (dwarf_tag(die)) {
    case DW_TAG_namespace:
        return name != NULL ? name : "(anonymous namespace)";
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
    case DW_TAG_interface_type:
        return name != NULL ? name : is_lambda ? "{lambda}" : "{unnamed type}";
    case DW_TAG_subprogram:
    case DW_TAG_module:
        return name;
    default:
        return NULL;
    }
}

/* Appends "a::b::" for the scopes around an entry of this name. */
static void naming_add_scopes(struct naming *n, struct strbuf *text, Dwarf_Die *unit, Dwarf_Die *entry,
                              const char *name)
{
    Dwarf_Die around[SCOPE_DEPTH_MAX];
    size_t depth = scopes_find(&n->scopes, unit, entry, around);
    for (size_t i = 0; i < depth && text->length < NAMING_TEXT_MAX; i++) {
        const char *scope = naming_scope(&around[i], name);
        if (scope != NULL) {
            strbuf_add(text, scope, strnlen(scope, NAMING_TEXT_MAX));
            strbuf_add_text(text, "::");
        }
    }
}

static const struct naming_name *naming_plain(struct naming *n, Dwarf_Die *die, Dwarf_Die *declaration,
                                              const char *linkage)
{
    const uint64_t *known = map_find(&n->entries, (uintptr_t)declaration->addr);
    if (known != NULL)
        return naming_found(known);
    const char *name = die_text(die, DW_AT_name);
    if (name == NULL)
        name = linkage;
    struct strbuf text = {0};
    Dwarf_Die unit;
    if (dwarf_diecu(declaration, &unit, NULL, NULL) != NULL && naming_is_teachable(&unit))
        naming_add_scopes(n, &text, &unit, declaration, name);
    strbuf_add(&text, name, strnlen(name, NAMING_TEXT_MAX));
    if (strcmp(strbuf_get(&text), linkage) == 0)
        linkage = "";
    const struct naming_name *kept =
        naming_keep(n, &n->entries, declaration->addr, strbuf_get(&text), linkage);
    strbuf_release(&text);
    return kept;
}

static const char *naming_linkage_of(Dwarf_Die *die)
{
    const char *linkage = die_text(die, DW_AT_linkage_name);
    return linkage != NULL ? linkage : die_text(die, DW_AT_MIPS_linkage_name);
}

void naming_teach(struct naming *n, Dwarf_Die *die, const char *symbol)
{
    if (naming_linkage_of(die) != NULL)
        return;
    Dwarf_Die declaration = naming_declaration(die);
    if (map_find(&n->entries, (uintptr_t)declaration.addr) != NULL)
        return;
    /* name.part.0 is a part of the function, not its name. */
    struct strbuf linkage = {0}, text = {0};
    const char *dot = memchr(symbol, '.', strnlen(symbol, DEMANGLER_MAX));
    strbuf_add(&linkage, symbol, dot != NULL ? (size_t)(dot - symbol) : strnlen(symbol, DEMANGLER_MAX));
    if (demangle(&text, strbuf_get(&linkage)))
        (void)naming_keep(n, &n->entries, declaration.addr, strbuf_get(&text), strbuf_get(&linkage));
    strbuf_release(&linkage);
    strbuf_release(&text);
}

const struct naming_name *naming_entry(struct naming *n, Dwarf_Die *die)
{
    const char *linkage = naming_linkage_of(die);
    if (linkage != NULL) {
        const struct naming_name *name = naming_linkage(n, linkage);
        if (name->linkage[0] != '\0')
            return name;
    }
    Dwarf_Die declaration = naming_declaration(die);
    return naming_plain(n, die, &declaration, linkage != NULL ? linkage : "");
}

/* ----------------------------------------------------------------------- files */

/* Folders are dropped as the path reads, without asking the disk: sources are
 * rarely where the program runs. */
static void naming_normalise(struct strbuf *out, const char *path, size_t length)
{
    size_t starts[NAMING_FOLDERS_MAX], parts = 0; /* where the folders begin that ".." may take away */
    const char *end = path + length;
    bool is_absolute = length > 0 && path[0] == '/';
    if (is_absolute)
        strbuf_add_char(out, '/');
    for (const char *next; path < end; path = next + 1) {
        next = memchr(path, '/', (size_t)(end - path));
        next = next != NULL ? next : end;
        size_t part = (size_t)(next - path);
        bool is_up = part == 2 && memcmp(path, "..", 2) == 0;
        if (part == 0 || (part == 1 && path[0] == '.') || (is_up && parts == 0 && is_absolute))
            continue;
        if (is_up && parts > 0) {
            strbuf_cut(out, starts[--parts]);
            continue;
        }
        size_t before = out->length;
        if (before > 0 && out->text[before - 1] != '/')
            strbuf_add_char(out, '/');
        strbuf_add(out, path, part);
        if (is_up || parts == NAMING_FOLDERS_MAX)
            parts = 0;
        else
            starts[parts++] = before;
    }
}

const char *naming_file(struct naming *n, Dwarf_Die *unit, const char *path)
{
    const uint64_t *known = map_find(&n->files, (uintptr_t)path);
    if (known != NULL)
        return (const char *)(uintptr_t)*known;
    struct strbuf whole = {0}, text = {0};
    const char *folder = path[0] != '/' ? die_text(unit, DW_AT_comp_dir) : NULL;
    if (folder != NULL) {
        strbuf_add(&whole, folder, strnlen(folder, NAMING_TEXT_MAX));
        strbuf_add_char(&whole, '/');
    }
    strbuf_add(&whole, path, strnlen(path, NAMING_TEXT_MAX));
    naming_normalise(&text, strbuf_get(&whole), whole.length);
    const char *kept = text.failed || whole.failed ? NULL : naming_copy(n, strbuf_get(&text), text.length);
    strbuf_release(&whole);
    strbuf_release(&text);
    if (kept == NULL || !map_set(&n->files, (uintptr_t)path, (uintptr_t)kept))
        return "";
    return kept;
}
