/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * spelling: see spelling.h.
 *
 * Linkers merge equal strings, so one linkage name is one address however many
 * units have the function, and it is demangled once.
 *
 * What has no linkage name, or one that is not mangled (functions of C, and those
 * of C++ that no other file can see), has a name, and in C++ that is only its last part.  The rest are
 * the namespaces and classes around the entry, and its parameters.  All that is in the
 * symbol of the compiled function, if there is one, and then it holds for the
 * places too where the function was inlined (spelling_teach).  If there is none, we
 * look for the scopes alone (scope.h).
 */
#include "symbol/spelling.h"

#include "symbol/demangler.h"
#include "symbol/die.h"
#include "tool/strbuf.h"

#include <string.h>

enum {
    NAMING_TEXT_MAX = 64 << 10,
    NAMING_FOLDERS_MAX = 256,
    NAMING_FUNCTIONS_MAX = 16, /* one inside the other */
};

static const struct spelling_name spelling_nothing = {"", ""};

void spelling_init(struct spelling *n)
{
    *n = (struct spelling){0};
    arena_init(&n->arena);
    map_init(&n->linkages);
    map_init(&n->entries);
    map_init(&n->files);
    scopes_init(&n->scopes);
}

void spelling_release(struct spelling *n)
{
    map_release(&n->linkages);
    map_release(&n->entries);
    map_release(&n->files);
    scopes_release(&n->scopes);
    arena_release(&n->arena);
}

void spelling_forget(struct spelling *n)
{
    map_release(&n->linkages);
    map_release(&n->entries);
    map_release(&n->files);
    scopes_forget(&n->scopes);
}

static const char *spelling_copy(struct spelling *n, const char *text, size_t length)
{
    return arena_push_text(&n->arena, text, length < NAMING_TEXT_MAX ? length : NAMING_TEXT_MAX);
}

/* Keeps what was found; linkage "" = the same as function. */
static const struct spelling_name *spelling_keep(struct spelling *n, struct map *m, const void *key,
                                                 const char *function, const char *linkage)
{
    struct spelling_name *name = arena_push(&n->arena, sizeof *name);
    if (name == NULL)
        return &spelling_nothing;
    name->function = spelling_copy(n, function, strlen(function));
    name->linkage = spelling_copy(n, linkage, strnlen(linkage, NAMING_TEXT_MAX));
    if (name->function == NULL || name->linkage == NULL || !map_set(m, (uintptr_t)key, (uintptr_t)name))
        return &spelling_nothing;
    return name;
}

static const struct spelling_name *spelling_found(const uint64_t *value)
{
    return (const struct spelling_name *)(uintptr_t)*value;
}

/* --------------------------------------------------------------- linkage names */

static const struct spelling_name *spelling_linkage(struct spelling *n, const char *linkage)
{
    const uint64_t *known = map_find(&n->linkages, (uintptr_t)linkage);
    if (known != NULL)
        return spelling_found(known);
    struct strbuf text = {0};
    const struct spelling_name *name;
    if (demangle(&text, linkage))
        name = spelling_keep(n, &n->linkages, linkage, strbuf_get(&text), linkage);
    else {
        strbuf_clear(&text);
        strbuf_add(&text, linkage, strnlen(linkage, NAMING_TEXT_MAX));
        name = spelling_keep(n, &n->linkages, linkage, strbuf_get(&text), "");
    }
    strbuf_release(&text);
    return name;
}

const struct spelling_name *spelling_symbol(struct spelling *n, const char *symbol)
{
    const uint64_t *known = map_find(&n->linkages, (uintptr_t)symbol);
    size_t length = strnlen(symbol, NAMING_TEXT_MAX);
    const char *at = memchr(symbol, '@', length);
    if (known != NULL)
        return spelling_found(known);
    if (at == NULL)
        return spelling_linkage(n, symbol);
    struct strbuf plain = {0}, text = {0};
    const char *rest = strncmp(at, "@plt", length - (size_t)(at - symbol)) == 0 ? "@plt" : "";
    strbuf_add(&plain, symbol, (size_t)(at - symbol));
    const char *linkage = strbuf_get(&plain);
    bool is_mangled = demangle(&text, linkage);
    if (!is_mangled)
        strbuf_add_text(&text, linkage);
    strbuf_add_text(&text, rest);
    strbuf_add_text(&plain, is_mangled ? rest : "");
    const struct spelling_name *name =
        spelling_keep(n, &n->linkages, symbol, strbuf_get(&text), is_mangled ? strbuf_get(&plain) : "");
    strbuf_release(&plain);
    strbuf_release(&text);
    return name;
}

/* ------------------------------------------------------------- qualified names */

/* The entry that says what a function is, rather than where it is compiled. */
static Dwarf_Die spelling_declaration(const Dwarf_Die *die)
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
bool spelling_is_teachable(Dwarf_Die *unit)
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

/* Does a function of this name make its class a lambda, if that has no name?  Templates have arguments behind their name,
 * and gcc calls what copies and destroys a lambda <lambda> and ~<lambda>. */
static bool spelling_is_of_lambda(const char *function)
{
    static const char *const names[] = {"operator()", "_FUN", "<lambda", "~<lambda"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t length = strlen(names[i]);
        if (strncmp(function, names[i], length) == 0 &&
            (i >= 2 || function[length] == '\0' || function[length] == '<'))
            return true;
    }
    return false;
}

/* What a scope adds to the name of a function in it; NULL = nothing. */
static const char *spelling_scope(Dwarf_Die *die, const char *function)
{
    bool is_lambda = spelling_is_of_lambda(function);
    const char *name = die_text(die, DW_AT_name);
    switch (dwarf_tag(die)) {
    case DW_TAG_namespace:
        return name != NULL ? name : "(anonymous namespace)";
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
    case DW_TAG_interface_type:
        return name != NULL ? name : is_lambda ? "{lambda}" : "{unnamed type}";
    case DW_TAG_module:
        return name;
    default:
        return NULL;
    }
}

/* Appends "a::b::" for the scopes around an entry of this name.  A function among them has its own whole name: what
 * is around its code need not be around its declaration. */
static void spelling_add_scopes(struct spelling *n, struct strbuf *text, Dwarf_Die *unit, Dwarf_Die *entry,
                                const char *name)
{
    Dwarf_Die around[SCOPE_DEPTH_MAX];
    size_t depth = scopes_find(&n->scopes, unit, entry, around), first = depth;
    while (first > 0 && dwarf_tag(&around[first - 1]) != DW_TAG_subprogram)
        first--;
    if (first > 0 && n->functions < NAMING_FUNCTIONS_MAX) {
        n->functions++;
        strbuf_add_text(text, spelling_entry(n, &around[first - 1])->function);
        strbuf_add_text(text, text->length > 0 ? "::" : "");
        n->functions--;
    }
    for (size_t i = first; i < depth && text->length < NAMING_TEXT_MAX; i++) {
        const char *scope = spelling_scope(&around[i], name);
        if (scope != NULL) {
            strbuf_add(text, scope, strnlen(scope, NAMING_TEXT_MAX));
            strbuf_add_text(text, "::");
        }
    }
}

static const struct spelling_name *spelling_plain(struct spelling *n, Dwarf_Die *die, Dwarf_Die *declaration,
                                                  const char *linkage)
{
    const uint64_t *known = map_find(&n->entries, (uintptr_t)declaration->addr);
    if (known != NULL)
        return spelling_found(known);
    const char *name = die_text(die, DW_AT_name);
    if (name == NULL)
        name = linkage;
    struct strbuf text = {0};
    Dwarf_Die unit;
    if (dwarf_diecu(declaration, &unit, NULL, NULL) != NULL && spelling_is_teachable(&unit))
        spelling_add_scopes(n, &text, &unit, declaration, name);
    strbuf_add(&text, name, strnlen(name, NAMING_TEXT_MAX));
    if (strcmp(strbuf_get(&text), linkage) == 0)
        linkage = "";
    const struct spelling_name *kept =
        spelling_keep(n, &n->entries, declaration->addr, strbuf_get(&text), linkage);
    strbuf_release(&text);
    return kept;
}

static const char *spelling_linkage_of(Dwarf_Die *die)
{
    const char *linkage = die_text(die, DW_AT_linkage_name);
    return linkage != NULL ? linkage : die_text(die, DW_AT_MIPS_linkage_name);
}

void spelling_teach(struct spelling *n, Dwarf_Die *die, const char *symbol)
{
    if (spelling_linkage_of(die) != NULL)
        return;
    Dwarf_Die declaration = spelling_declaration(die);
    if (map_find(&n->entries, (uintptr_t)declaration.addr) != NULL)
        return;
    /* name.part.0 is a part of the function, not its name. */
    struct strbuf linkage = {0}, text = {0};
    const char *dot = memchr(symbol, '.', strnlen(symbol, DEMANGLER_MAX));
    strbuf_add(&linkage, symbol, dot != NULL ? (size_t)(dot - symbol) : strnlen(symbol, DEMANGLER_MAX));
    if (demangle(&text, strbuf_get(&linkage)))
        (void)spelling_keep(n, &n->entries, declaration.addr, strbuf_get(&text), strbuf_get(&linkage));
    strbuf_release(&linkage);
    strbuf_release(&text);
}

bool spelling_add_async(struct strbuf *out, const char *function, const char *own)
{
    static const char *const closures[] = {"{{closure}}", "{closure#"};
    size_t length = strlen(function), end = strcspn(own, "}");
    if (strncmp(own, "{async_", strlen("{async_")) != 0 || own[end] != '}' || length == 0 ||
        function[length - 1] != '}')
        return false;
    size_t scope = length; /* with the colon behind it */
    while (scope > 0 && function[scope - 1] != ':')
        scope--;
    const char *part = function + scope;
    if (strcmp(part, closures[0]) != 0 && strncmp(part, closures[1], strlen(closures[1])) != 0)
        return false;
    strbuf_add(out, function, scope);
    strbuf_add(out, own, end + 1);
    return true;
}

static const struct spelling_name *spelling_async(struct spelling *n, Dwarf_Die *die,
                                                  const struct spelling_name *name)
{
    const char *own = die_text(die, DW_AT_name);
    struct strbuf text = {0};
    if (own == NULL || !spelling_add_async(&text, name->function, own))
        return name;
    Dwarf_Die declaration = spelling_declaration(die);
    const uint64_t *known = map_find(&n->entries, (uintptr_t)declaration.addr);
    if (known != NULL)
        name = spelling_found(known);
    else
        name = spelling_keep(n, &n->entries, declaration.addr, strbuf_get(&text), name->linkage);
    strbuf_release(&text);
    return name;
}

const struct spelling_name *spelling_entry(struct spelling *n, Dwarf_Die *die)
{
    const char *linkage = spelling_linkage_of(die);
    if (linkage != NULL) {
        const struct spelling_name *name = spelling_linkage(n, linkage);
        if (name->linkage[0] != '\0')
            return spelling_async(n, die, name);
    }
    Dwarf_Die declaration = spelling_declaration(die);
    return spelling_plain(n, die, &declaration, linkage != NULL ? linkage : "");
}

/* ----------------------------------------------------------------------- files */

/* Folders are dropped as the path reads, without asking the disk: sources are
 * rarely where the program runs. */
static void spelling_normalise(struct strbuf *out, const char *path, size_t length)
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

const char *spelling_file(struct spelling *n, Dwarf_Die *unit, const char *path)
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
    spelling_normalise(&text, strbuf_get(&whole), whole.length);
    const char *kept = text.failed || whole.failed ? NULL : spelling_copy(n, strbuf_get(&text), text.length);
    strbuf_release(&whole);
    strbuf_release(&text);
    if (kept == NULL || !map_set(&n->files, (uintptr_t)path, (uintptr_t)kept))
        return "";
    return kept;
}
