/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * binary: see binary.h.
 *
 * A frame's function comes from the entry that covers the address, its line
 * from the line table for the innermost frame and from the call for those around it.
 * Where the debugging information is silent, the symbol table speaks.
 *
 * Everything is read on first use: many a binary is opened and asked nothing.
 */
#include "symbol/binary.h"

#include "base/libc.h"
#include "symbol/binary_make.h"
#include "symbol/debuginfo.h"
#include "symbol/minidebug.h"
#include "symbol/spelling.h"
#include "symbol/symtab.h"
#include "tool/memory.h"

#include <elfutils/libdwelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct binary {
    struct locate *locate;
    char *path;           /* in the recording */
    struct elffile file;  /* what was found there */
    struct elffile debug; /* its separate debug file, if it has one */
    struct elffile mini;
    struct debuginfo info;
    struct symtab symbols;
    struct spelling spelling;
    bool has_info;
    bool is_read;          /* debug files have been searched */
    bool has_symtab;       /* symbols have been read */
    unsigned generation;   /* of what info has handed out and spelling knows */
    struct err no_debug;   /* which debug file was refused; no code: none */
    struct err no_package; /* why there is no package; no code: there is, or nobody asked */
    bool is_poor;          /* there was no memory for its debugging information, which is as if it had none */
    char remark[4 * UNIT_PATH_MAX];
    Dwarf_Die entries[BINARY_FRAMES_MAX];
    struct binary_frame frames[BINARY_FRAMES_MAX];
};

struct binary *binary_new(struct elffile *file, const char *path, struct locate *l)
{
    struct binary *b = memory_new_zeroed(1, sizeof *b);
    if (b == NULL || (b->path = memory_copy_text(path)) == NULL) {
        free(b);
        elffile_close(file);
        return NULL;
    }
    b->locate = l;
    b->file = *file;
    spelling_init(&b->spelling);
    return b;
}

void binary_free(struct binary *b)
{
    if (b == NULL)
        return;
    debuginfo_close(&b->info);
    symtab_release(&b->symbols);
    spelling_release(&b->spelling);
    elffile_close(&b->mini);
    elffile_close(&b->debug);
    elffile_close(&b->file);
    free(b->path);
    free(b);
}

/* --------------------------------------------------------------------- reading */

/* Is this the package of the file?  The first that is there and is not has something to tell. */
static bool binary_try_package(const char *path, void *context)
{
    struct binary *b = context;
    struct package package;
    struct err err;
    err_init(&err);
    if (package_open(&package, path, &err) == 0) {
        if (debuginfo_take_package(&b->info, &package))
            return true;
        err_set(&err, ERR_INPUT, "%s belongs to another build: it has no unit of %s.", path, b->path);
    }
    if (err.code != ERR_ABSENT && b->no_package.code == 0)
        b->no_package = err;
    return false;
}

static void binary_read_info(struct binary *b)
{
    if (elffile_has_dwarf(&b->file))
        b->has_info = debuginfo_open(&b->info, &b->file, &b->file, b->locate);
    if (b->has_info && b->info.units.count > 0)
        return;
    struct elffile debug;
    if (!locate_debug(b->locate, &b->file, b->path, &debug, &b->no_debug))
        return;
    debuginfo_close(&b->info);
    b->debug = debug;
    const struct elffile *text = b->debug.text_low < b->debug.text_high ? &b->debug : &b->file;
    b->has_info = debuginfo_open(&b->info, &b->debug, text, b->locate);
}

static void binary_read(struct binary *b)
{
    if (b->is_read)
        return;
    b->is_read = true;
    binary_read_info(b);
    if (b->has_info && b->info.is_split &&
        locate_package(b->locate, &b->file, &b->debug, b->path, binary_try_package, b))
        err_init(&b->no_package);
}

/* Each table may have what the others lack: strip -K leaves a full one of a few symbols. */
static void binary_read_symbols(struct binary *b)
{
    if (b->has_symtab)
        return;
    binary_read(b);
    b->has_symtab = true;
    (void)symtab_add(&b->symbols, &b->file, false);
    (void)symtab_add(&b->symbols, &b->file, true);
    if (b->debug.elf != NULL)
        (void)symtab_add(&b->symbols, &b->debug, false);
    if (minidebug_open(&b->mini, &b->file))
        (void)symtab_add(&b->symbols, &b->mini, false);
    symtab_add_stubs(&b->symbols, &b->file);
    symtab_seal(&b->symbols);
}

/* ------------------------------------------------------------------- resolving */

/* A unit that is split has its files in the program. */
static const char *binary_call_file(struct binary *b, struct unit *u, Dwarf_Die *call)
{
    Dwarf_Files *files;
    Dwarf_Attribute attribute;
    Dwarf_Word index;
    size_t count;
    if (dwarf_attr(call, DW_AT_call_file, &attribute) == NULL || dwarf_formudata(&attribute, &index) != 0 ||
        dwarf_getsrcfiles(&u->die, &files, &count) != 0 || index >= count)
        return "";
    const char *path = dwarf_filesrc(files, index, NULL, NULL);
    return path != NULL ? spelling_file(&b->spelling, &u->die, path) : "";
}

static void binary_set_function(struct binary_frame *f, const struct spelling_name *name)
{
    f->function = name->function;
    f->linkage = name->linkage;
}

/* Tells spelling the symbols of a unit's functions.  They are looked up where the
 * functions begin. */
static void binary_learn(struct binary *b, struct unit *u)
{
    if (u->is_learnt)
        return;
    u->is_learnt = true;
    if (!spelling_is_teachable(&u->die))
        return;
    binary_read_symbols(b);
    for (size_t i = 0; i < u->functions.count; i++) {
        Dwarf_Die *die = &u->functions.data[i].die;
        uint64_t entry;
        const char *symbol = die_find_entry(die, &entry) ? symtab_find(&b->symbols, entry) : NULL;
        if (symbol != NULL)
            spelling_teach(&b->spelling, die, symbol);
    }
}

/* The frames of the entries that were found, without symbols. */
static size_t binary_fill(struct binary *b, struct unit *u, uint64_t address, size_t count)
{
    const char *file = "";
    uint32_t line = 0;
    binary_learn(b, u);
    if (unit_find_line(u, &b->info.limits, address, &file, &line))
        file = spelling_file(&b->spelling, &u->die, file);
    size_t total = count > 0 ? count : 1;
    for (size_t i = 0; i < total; i++) {
        b->frames[i] = (struct binary_frame){"", "", file, line, i + 1 < total};
        if (i >= count)
            break;
        binary_set_function(&b->frames[i], spelling_entry(&b->spelling, &b->entries[i]));
        if (i + 1 < total) {
            uint64_t number = die_number(&b->entries[i], DW_AT_call_line);
            file = binary_call_file(b, u, &b->entries[i]);
            line = number <= UINT32_MAX ? (uint32_t)number : 0;
        }
    }
    return total;
}

/* Where debuginfo_no_memory jumps to: from now on symbols have to do. */
static void binary_impoverish(struct binary *b)
{
    debuginfo_abandon(&b->info);
    b->has_info = false;
    b->is_poor = true;
}

static size_t binary_look(struct binary *b, uint64_t address, bool exact, const struct binary_frame **frames)
{
    size_t count = 0;
    if (!exact && address > 0)
        address--;
    binary_read(b);
    struct unit *u =
        b->has_info ? debuginfo_find(&b->info, address, b->entries, BINARY_FRAMES_MAX, &count) : NULL;
    size_t total = 1;
    if (b->generation != b->info.generation)
        spelling_forget(&b->spelling);
    b->generation = b->info.generation;
    if (u != NULL)
        total = binary_fill(b, u, address, count);
    else
        b->frames[0] = (struct binary_frame){"", "", "", 0, false};
    struct binary_frame *outermost = &b->frames[total - 1];
    if (outermost->function[0] == '\0') {
        binary_read_symbols(b);
        const char *symbol = symtab_find(&b->symbols, address);
        if (symbol != NULL)
            binary_set_function(outermost, spelling_symbol(&b->spelling, symbol));
        if (symbol != NULL && u == NULL && symtab_is_libc(&b->symbols, address))
            outermost->file = LIBC_ARCHIVE;
    }
    *frames = b->frames;
    return total > 1 || outermost->function[0] != '\0' || outermost->file[0] != '\0' ? total : 0;
}

size_t binary_resolve(struct binary *b, uint64_t address, bool exact, const struct binary_frame **frames)
{
    if (setjmp(debuginfo_no_memory) != 0)
        binary_impoverish(b);
    return binary_look(b, address, exact, frames);
}

/* ---------------------------------------------------------------------- asking */

enum binary_source binary_get_source(struct binary *b)
{
    if (setjmp(debuginfo_no_memory) != 0)
        binary_impoverish(b);
    binary_read(b);
    if (b->has_info && b->info.units.count > 0)
        return BINARY_LINES;
    binary_read_symbols(b);
    return b->symbols.symbols.count > 0 ? BINARY_SYMBOLS : BINARY_NOTHING;
}

/* Lines are in the file itself, but not what was inlined. */
static void binary_remark_halves(struct binary *b)
{
    char path[UNIT_PATH_MAX];
    const struct err *trouble = &b->info.halves.trouble;
    b->remark[0] = '\0';
    for (size_t i = 0; trouble->code == 0 && i < b->info.units.count; i++) {
        if (!unit_lacks_half(&b->info.units.data[i], path, sizeof path))
            continue;
        trouble = &b->no_package;
        const char *package = b->info.halves.package.file.path;
        if (trouble->code == 0)
            snprintf(
                b->remark, sizeof b->remark,
                "Part of the debugging information of %s is in %.2048s, which is not there, nor is it in "
                "%.2048s: inlined functions are not known.",
                b->path, path, package != NULL ? package : "a package (.dwp)");
        break;
    }
    if (trouble->code != 0)
        snprintf(b->remark, sizeof b->remark, "%s Inlined functions of %s are not known.", trouble->text,
                 b->path);
}

/* Names that dwz moved to a file for several programs are nowhere else. */
static void binary_remark_shared(struct binary *b)
{
    const char *name;
    const void *bytes;
    struct build_id id;
    char hex[2 * BUILD_ID_MAX + 1];
    Dwarf *dwarf = b->info.dwarf;
    ssize_t length = b->info.shared == NULL ? dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &bytes) : 0;
    if (length > 0 && dwarf_getalt(dwarf) == NULL && build_id_set(&id, bytes, (size_t)length))
        snprintf(
            b->remark, sizeof b->remark,
            "Part of the debugging information of %s is in %.2048s (build id %s), which is not there: some "
            "functions have no names.",
            b->path, name, build_id_format(&id, hex));
}

/* What there is and cannot be read is another matter than what is not there. */
static void binary_remark_packed(struct binary *b)
{
    const struct elffile *f = b->debug.elf != NULL ? &b->debug : &b->file;
    if (elffile_has_packed_dwarf(f))
        snprintf(b->remark, sizeof b->remark,
                 "The debugging information in %.2048s is packed in a way that the libelf of this "
                 "machine does not read: lines and inlined functions are not known.",
                 f->path);
}

const char *binary_get_remark(struct binary *b)
{
    char id[2 * BUILD_ID_MAX + 1];
    enum binary_source source = binary_get_source(b);
    const char *space = b->no_debug.code != 0 ? " " : "";
    build_id_format(&b->file.id, id);
    if (setjmp(debuginfo_no_memory) != 0)
        binary_impoverish(b);
    if (b->is_poor) {
        snprintf(b->remark, sizeof b->remark, "Out of memory while reading the debugging information of %s.",
                 b->path);
        return b->remark;
    }
    if (source == BINARY_NOTHING)
        snprintf(b->remark, sizeof b->remark,
                 "%s (build id %s) has neither symbols nor debugging information.%s%s", b->path, id, space,
                 b->no_debug.text);
    if (source == BINARY_SYMBOLS)
        snprintf(
            b->remark, sizeof b->remark,
            "There is no debugging information for %s (build id %s): lines and inlined functions are not "
            "known.%s%s",
            b->path, id, space, b->no_debug.text);
    if (source != BINARY_LINES)
        binary_remark_packed(b);
    if (source == BINARY_LINES)
        binary_remark_halves(b);
    if (source == BINARY_LINES && b->remark[0] == '\0')
        binary_remark_shared(b);
    return b->remark;
}

bool binary_is_poor(const struct binary *b)
{
    return b->is_poor;
}

const char *binary_get_path(const struct binary *b)
{
    return b->file.path;
}

const char *binary_get_debug_path(const struct binary *b)
{
    return b->debug.path != NULL ? b->debug.path : b->has_info ? b->file.path : "";
}

bool binary_find_address(const struct binary *b, uint64_t offset, uint64_t *address)
{
    return elffile_find_address(&b->file, offset, address);
}
