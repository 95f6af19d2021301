/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * half: see half.h.
 *
 * libdw takes a .dwo file by its name, finds the one unit in it, and ties it to the unit of the program that
 * names it, for addresses and ranges stay in the program.  It can be given neither the bytes nor the
 * tie.  So for a unit that is wanted we make two small files in memory:
 *
 *     image     a .dwo file: the parts of the unit from the package.  The package has one .debug_str.dwo for all
 *               units, of hundreds of megabytes maybe, so the strings that the unit uses are put together
 *               anew, and its offsets to them are set anew.
 *     skeleton  the unit of the program with nothing but what libdw needs of it.  It names the image by its
 *               descriptor.  Its .debug_addr and its like are the program's own: their descriptors (Elf_Data) are pointed
 *               there, and nothing is copied.
 *
 * Both descriptors are closed when libdw has mapped the files, so a half costs its bytes and no descriptor.
 */
#include "symbol/half.h"

#include "tool/strbuf.h"

#include <dwarf.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    HALF_SECTIONS_MAX = 8,
    HALF_NAMES_MAX = 256,
    HALF_LISTS_MIN = 12,   /* libdw reads the header of a table without asking whether it is there */
    HALF_TEXT_TIMES = 4,   /* strings that share their ends in the package may be this much longer here, */
    HALF_TEXT_FREE = 4096, /* ... and a little more */
};

/* ----------------------------------------------------------------- small files */

struct half_section {
    const char *name;
    const void *bytes;
    size_t length;
};

struct half_file {
    struct half_section sections[HALF_SECTIONS_MAX];
    size_t count;
    uint64_t bytes;
};

static void file_add(struct half_file *f, const char *name, const void *bytes, size_t length)
{
    if (bytes == NULL || length == 0 || f->count == HALF_SECTIONS_MAX)
        return;
    f->sections[f->count++] = (struct half_section){name, bytes, length};
    f->bytes += length;
}

static bool file_add_section(Elf *elf, const struct half_section *s, size_t name, GElf_Word type)
{
    GElf_Shdr header;
    Elf_Scn *section = elf_newscn(elf);
    Elf_Data *data = section != NULL ? elf_newdata(section) : NULL;
    if (data == NULL || gelf_getshdr(section, &header) == NULL)
        return false;
    data->d_buf = (void *)(uintptr_t)s->bytes;
    data->d_size = s->length;
    data->d_align = 1;
    header.sh_name = (GElf_Word)name;
    header.sh_type = type;
    return gelf_update_shdr(section, &header) != 0;
}

/* Section i of the file becomes section i + 1 of the ELF; like: an ELF of the same CPU. */
static bool file_fill(const struct half_file *f, Elf *elf, const GElf_Ehdr *like)
{
    GElf_Ehdr header;
    char names[HALF_NAMES_MAX] = "";
    size_t used = 1;
    if (gelf_newehdr(elf, like->e_ident[EI_CLASS]) == NULL || gelf_getehdr(elf, &header) == NULL)
        return false;
    for (size_t i = 0; i <= f->count; i++) {
        const struct half_section last = {".shstrtab", names, sizeof names};
        const struct half_section *s = i < f->count ? &f->sections[i] : &last;
        size_t length = strlen(s->name) + 1;
        if (length > sizeof names - used ||
            !file_add_section(elf, s, used, i < f->count ? SHT_PROGBITS : SHT_STRTAB))
            return false;
        memcpy(names + used, s->name, length);
        used += length;
    }
    header.e_ident[EI_DATA] = like->e_ident[EI_DATA];
    header.e_type = ET_REL;
    header.e_machine = like->e_machine;
    header.e_version = EV_CURRENT;
    header.e_shstrndx = (GElf_Half)(f->count + 1);
    return gelf_update_ehdr(elf, &header) != 0 && elf_update(elf, ELF_C_WRITE) >= 0;
}

/* A descriptor of the file, or -1. */
static int file_write(const struct half_file *f, const struct elffile *like)
{
    GElf_Ehdr header;
    int fd = gelf_getehdr(like->elf, &header) != NULL ? memfd_create("heapwake-half", MFD_CLOEXEC) : -1;
    Elf *elf = fd >= 0 ? elf_begin(fd, ELF_C_WRITE, NULL) : NULL;
    bool done = elf != NULL && file_fill(f, elf, &header);
    if (elf != NULL)
        elf_end(elf);
    if (!done && fd >= 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* ----------------------------------------------------------------------- image */

struct half_strings {
    struct strbuf offsets, text;
    bool are_too_many; /* many that share their ends, which nobody writes */
};

/* Where the offsets begin and how wide they are: behind a header in DWARF 5, if there is one. */
static size_t strings_begin(const struct package *p, const struct package_bytes *from, bool is_version_5,
                            unsigned *width)
{
    *width = 4;
    if (!is_version_5 || from->length < 8)
        return 0;
    bool is_wide = package_number(p, from->bytes, 4) == UINT32_MAX;
    size_t version = is_wide ? 12 : 4;
    if (from->length < version + 4 || package_number(p, from->bytes + version, 2) != 5)
        return 0;
    *width = is_wide ? 8 : 4;
    return version + 4;
}

static void strings_put(const struct package *p, uint8_t *to, unsigned width, uint64_t value)
{
    for (unsigned i = 0; i < width; i++)
        to[p->is_big_endian ? width - 1 - i : i] = (uint8_t)(value >> (8 * i));
}

/* What lies outside the section stays outside. */
static void strings_take(struct half_strings *s, const struct package *p, const struct package_bytes *from,
                         bool is_version_5)
{
    unsigned width;
    size_t begin = strings_begin(p, from, is_version_5, &width);
    if (from->length > 0)
        strbuf_add(&s->offsets, from->bytes, from->length);
    for (size_t at = begin; !s->offsets.failed && from->length - at >= width; at += width) {
        uint64_t offset = package_number(p, from->bytes + at, width), place = UINT32_MAX;
        size_t left = offset < p->text.length ? p->text.length - offset : 0;
        const uint8_t *text = left > 0 ? p->text.bytes + offset : NULL;
        const uint8_t *end = left > 0 ? memchr(text, '\0', left) : NULL;
        if (end != NULL) {
            place = s->text.length;
            strbuf_add(&s->text, text, (size_t)(end - text) + 1);
        }
        strings_put(p, (uint8_t *)s->offsets.text + at, width, place);
        s->are_too_many = s->text.length > HALF_TEXT_TIMES * p->text.length + HALF_TEXT_FREE;
        if (s->are_too_many)
            break;
    }
}

static void strings_release(struct half_strings *s)
{
    strbuf_release(&s->offsets);
    strbuf_release(&s->text);
}

/* A descriptor of the image, or -1. */
static int half_make_image(struct half *h, struct halves *halves, uint64_t id, bool is_version_5)
{
    struct package *p = &halves->package;
    struct package_bytes parts[PACKAGE_PARTS];
    struct half_strings strings = {0};
    struct half_file image = {0};
    if (package_find(p, id, parts, &halves->trouble) != 0)
        return -1;
    strings_take(&strings, p, &parts[PACKAGE_STR_OFFSETS], is_version_5);
    file_add(&image, ".debug_info.dwo", parts[PACKAGE_INFO].bytes, parts[PACKAGE_INFO].length);
    file_add(&image, ".debug_abbrev.dwo", parts[PACKAGE_ABBREV].bytes, parts[PACKAGE_ABBREV].length);
    if (strings.offsets.length >= HALF_LISTS_MIN || !is_version_5)
        file_add(&image, ".debug_str_offsets.dwo", strings.offsets.text, strings.offsets.length);
    file_add(&image, ".debug_str.dwo", strings.text.text, strings.text.length);
    if (parts[PACKAGE_RNGLISTS].length >= HALF_LISTS_MIN)
        file_add(&image, ".debug_rnglists.dwo", parts[PACKAGE_RNGLISTS].bytes,
                 parts[PACKAGE_RNGLISTS].length);
    int fd = -1;
    if (strings.offsets.failed || strings.text.failed) {
        strings_release(&strings);
        halves->no_memory();
    }
    if (strings.are_too_many)
        err_set(&halves->trouble, ERR_INPUT, "%s has a unit %016llx with too many strings.", p->file.path,
                (unsigned long long)id);
    else if ((fd = file_write(&image, &p->file)) < 0)
        err_set(&halves->trouble, ERR_IO, "%s cannot be read: there is no room for unit %016llx.",
                p->file.path, (unsigned long long)id);
    strings_release(&strings);
    h->bytes = image.bytes;
    return fd;
}

/* -------------------------------------------------------------------- skeleton */

/* In the order of the values behind the header of the unit. */
struct skeleton_attribute {
    uint8_t form;
    uint16_t name_4, name_5;
};

static const struct skeleton_attribute skeleton_attributes[] = {
    {DW_FORM_data8, DW_AT_GNU_dwo_id,
     DW_AT_GNU_dwo_id}, /* in DWARF 5 the header has it, and this is not asked for */
    {DW_FORM_data8, DW_AT_GNU_addr_base, DW_AT_addr_base},
    {DW_FORM_data8, DW_AT_GNU_ranges_base, DW_AT_rnglists_base},
    {DW_FORM_addr, DW_AT_low_pc, DW_AT_low_pc},
    {DW_FORM_string, DW_AT_comp_dir, DW_AT_comp_dir},
    {DW_FORM_string, DW_AT_GNU_dwo_name, DW_AT_dwo_name},
};

struct skeleton {
    struct strbuf info, abbrev;
    bool is_big_endian, is_version_5;
};

static void skeleton_put(struct skeleton *s, uint64_t value, unsigned width)
{
    for (unsigned i = 0; i < width; i++)
        strbuf_add_char(&s->info, (char)(value >> (8 * (s->is_big_endian ? width - 1 - i : i))));
}

/* Either version's attribute, for libdw takes either; 0 = none. */
static uint64_t skeleton_value(Dwarf_Die *unit, unsigned older, unsigned newer)
{
    Dwarf_Attribute found;
    Dwarf_Word value;
    bool is_there = dwarf_attr(unit, older, &found) != NULL || dwarf_attr(unit, newer, &found) != NULL;
    return is_there && dwarf_formudata(&found, &value) == 0 ? value : 0;
}

static void skeleton_add_abbrev(struct skeleton *s)
{
    strbuf_add_varint(&s->abbrev, 1);
    strbuf_add_varint(&s->abbrev, s->is_version_5 ? DW_TAG_skeleton_unit : DW_TAG_compile_unit);
    strbuf_add_char(&s->abbrev, DW_CHILDREN_no);
    for (size_t i = 0; i < sizeof skeleton_attributes / sizeof skeleton_attributes[0]; i++) {
        const struct skeleton_attribute *a = &skeleton_attributes[i];
        strbuf_add_varint(&s->abbrev, s->is_version_5 ? a->name_5 : a->name_4);
        strbuf_add_varint(&s->abbrev, a->form);
    }
    strbuf_add(&s->abbrev, "\0\0\0", 3); /* ends of the entry and of the table */
}

static void skeleton_add_unit(struct skeleton *s, Dwarf_Die *unit, uint64_t id, unsigned address_size,
                              int image)
{
    Dwarf_Addr low = 0;
    Dwarf_Attribute folder;
    const char *text = dwarf_attr(unit, DW_AT_comp_dir, &folder) != NULL ? dwarf_formstring(&folder) : NULL;
    struct skeleton body = {.is_big_endian = s->is_big_endian};
    if (dwarf_lowpc(unit, &low) != 0)
        low = 0;
    skeleton_put(&body, s->is_version_5 ? 5 : 4, 2);
    if (s->is_version_5) {
        skeleton_put(&body, DW_UT_skeleton, 1);
        skeleton_put(&body, address_size, 1);
        skeleton_put(&body, 0, 4); /* offset in .debug_abbrev */
        skeleton_put(&body, id, 8);
    } else {
        skeleton_put(&body, 0, 4);
        skeleton_put(&body, address_size, 1);
    }
    skeleton_put(&body, 1, 1); /* abbreviation */
    skeleton_put(&body, id, 8);
    skeleton_put(&body, skeleton_value(unit, DW_AT_GNU_addr_base, DW_AT_addr_base), 8);
    skeleton_put(&body, skeleton_value(unit, DW_AT_GNU_ranges_base, DW_AT_rnglists_base), 8);
    skeleton_put(&body, low, address_size);
    strbuf_add_text(&body.info, text != NULL ? text : "");
    strbuf_add_char(&body.info, '\0');
    strbuf_addf(&body.info, "/proc/self/fd/%d", image);
    strbuf_add_char(&body.info, '\0');
    skeleton_put(s, body.info.length, 4);
    strbuf_add(&s->info, strbuf_get(&body.info), body.info.length);
    s->info.failed = s->info.failed || body.info.failed;
    strbuf_release(&body.info);
}

/* What the unit's addresses and ranges are read from. */
static const char *const skeleton_loans[] = {".debug_addr", ".debug_ranges", ".debug_rnglists"};
enum { SKELETON_LOANS = sizeof skeleton_loans / sizeof skeleton_loans[0] };

/* The bytes of a section of the program; libdw has unpacked it there. */
static struct package_bytes skeleton_loan(const struct elffile *program, const char *name)
{
    char packed[32];
    struct package_bytes found = {0};
    Elf_Scn *section = elffile_find_section(program, name, NULL);
    if (section == NULL) {
        snprintf(packed, sizeof packed, ".z%s", name + 1);
        section = elffile_find_section(program, packed, NULL);
    }
    if (section != NULL)
        found.bytes = elffile_get_bytes(section, &found.length);
    return found;
}

/* libdw asks for either of the two descriptors, by its version. */
static bool skeleton_lend(Elf *elf, size_t index, const struct package_bytes *loan)
{
    Elf_Scn *section = elf_getscn(elf, index);
    Elf_Data *cooked = section != NULL ? elf_getdata(section, NULL) : NULL;
    Elf_Data *raw = section != NULL ? elf_rawdata(section, NULL) : NULL;
    if (cooked == NULL || raw == NULL)
        return false;
    cooked->d_buf = raw->d_buf = (void *)(uintptr_t)loan->bytes;
    cooked->d_size = raw->d_size = loan->length;
    return true;
}

/* An ELF with the skeleton, or NULL. */
static Elf *skeleton_open(const struct skeleton *s, const struct elffile *program, int *fd)
{
    struct half_file file = {0};
    struct package_bytes loans[SKELETON_LOANS];
    size_t count = 0;
    file_add(&file, ".debug_info", strbuf_get(&s->info), s->info.length);
    file_add(&file, ".debug_abbrev", strbuf_get(&s->abbrev), s->abbrev.length);
    for (size_t i = 0; i < SKELETON_LOANS; i++) {
        loans[count] = skeleton_loan(program, skeleton_loans[i]);
        if (loans[count].bytes == NULL || loans[count].length == 0)
            continue;
        file_add(&file, skeleton_loans[i], loans[count].bytes, 1);
        count++;
    }
    *fd = s->info.failed || s->abbrev.failed ? -1 : file_write(&file, program);
    Elf *elf = *fd >= 0 ? elf_begin(*fd, ELF_C_READ_MMAP, NULL) : NULL;
    for (size_t i = 0; elf != NULL && i < count; i++) {
        if (!skeleton_lend(elf, file.count - count + i + 1, &loans[i])) {
            elf_end(elf);
            elf = NULL;
        }
    }
    return elf;
}

/* --------------------------------------------------------------------- opening */

bool half_get_id(Dwarf_Die *unit, uint64_t *id)
{
    uint8_t type;
    return dwarf_cu_info(unit->cu, NULL, &type, NULL, NULL, id, NULL, NULL) == 0 && type == DW_UT_skeleton;
}

bool halves_has(const struct halves *halves, uint64_t id)
{
    return halves->package.file.elf != NULL && package_has(&halves->package, id);
}

/* The first unit of the skeleton leads to that of the image. */
static bool half_tie(struct half *h, struct halves *halves, Dwarf_Die *body)
{
    Dwarf_CU *unit = NULL;
    h->dwarf = dwarf_begin_elf(h->elf, DWARF_C_READ, NULL);
    if (h->dwarf == NULL)
        return false;
    (void)dwarf_new_oom_handler(h->dwarf, halves->no_memory);
    return dwarf_get_units(h->dwarf, NULL, &unit, NULL, NULL, NULL, NULL) == 0 &&
           dwarf_cu_info(unit, NULL, NULL, NULL, body, NULL, NULL, NULL) == 0 &&
           dwarf_tag(body) == DW_TAG_compile_unit;
}

static bool half_make(struct half *h, struct halves *halves, Dwarf_Die *unit, uint64_t id, Dwarf_Die *body)
{
    Dwarf_Half version;
    uint8_t address_size;
    GElf_Ehdr header;
    if (dwarf_cu_info(unit->cu, &version, NULL, NULL, NULL, NULL, &address_size, NULL) != 0 ||
        gelf_getehdr(halves->program->elf, &header) == NULL)
        return false;
    struct skeleton s = {.is_big_endian = header.e_ident[EI_DATA] == ELFDATA2MSB,
                         .is_version_5 = version >= 5};
    int image = half_make_image(h, halves, id, s.is_version_5), skeleton = -1;
    if (image >= 0) {
        skeleton_add_abbrev(&s);
        skeleton_add_unit(&s, unit, id, address_size, image);
        h->elf = skeleton_open(&s, halves->program, &skeleton);
    }
    bool done = h->elf != NULL && half_tie(h, halves, body);
    if (image >= 0)
        close(image);
    if (skeleton >= 0)
        close(skeleton);
    strbuf_release(&s.info);
    strbuf_release(&s.abbrev);
    return done;
}

bool half_open(struct half *h, struct halves *halves, Dwarf_Die *unit, Dwarf_Die *body)
{
    uint64_t id;
    struct err before = halves->trouble;
    *h = (struct half){0};
    if (!half_get_id(unit, &id) || !halves_has(halves, id))
        return false;
    err_init(&halves->trouble);
    bool done = half_make(h, halves, unit, id, body);
    if (!done && halves->trouble.code == 0 && access("/proc/self/fd", X_OK) != 0)
        err_set(&halves->trouble, ERR_SYSTEM, "%s cannot be read where /proc is not mounted.",
                halves->package.file.path);
    if (!done && halves->trouble.code == 0)
        err_set(&halves->trouble, ERR_INPUT, "%s is damaged: unit %016llx in it cannot be read.",
                halves->package.file.path, (unsigned long long)id);
    if (before.code != 0)
        halves->trouble = before;
    halves->bytes += h->bytes;
    if (!done)
        half_close(h, halves);
    return done;
}

void half_close(struct half *h, struct halves *halves)
{
    if (h->dwarf != NULL)
        dwarf_end(h->dwarf);
    if (h->elf != NULL)
        elf_end(h->elf);
    halves->bytes -= h->bytes;
    *h = (struct half){0};
}
