/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * cfi_diff: is our reading of .eh_frame that of libdw, row by row?
 *
 *     cfi_diff [--every N] [--jobs N] [--kinds] FILE-OR-FOLDER...
 *
 * Takes every ELF file named or found below a folder (each inode once, symbolic
 * links not followed), walks the FDEs of .eh_frame with libdw's own iterator, and
 * compares at each row of each FDE what is *meant* (cfi_meaning.h) by
 *   - libdw's CFA and registers,
 *   - our row,
 *   - cfi_step,
 *   - the compiled rule, at each pc of the row where it depends on pc.
 *
 * Counted, but no differences:
 *   other      ELF files that are no program or library of this machine
 *   without    files without .eh_frame, or without its bytes (debug files)
 *   refused    files or entries that libdw cannot read; each is named
 *   unlisted   FDEs that are not in the search table, for libdw and for us
 *   clobbered  rows that cfi_step cannot step over, because they count from a
 *              register that a call clobbers
 * and three for libdw 0.188 being wrong itself (its cfi.c and x86_64_cfi.c show it):
 *   starts     After DW_CFA_restore_state it gives as start of the row the start of
 *              the remembered one. Compared are ends, and that our rows touch.
 *   invalid    It has no CFA for DW_CFA_def_cfa_register after an expression, where
 *              libgcc and readelf have one. All but the CFA is compared.
 *   (no count) Its default rules say column 0 (rax) where they mean rbx, so that an
 *              rbx which no instruction names is undefined there, and the same here.
 *
 * Exit: 0 no difference, 1 some, 2 used wrongly.
 */
#include "cfi_file.h"
#include "cfi_meaning.h"
#include "probe/unwind/cfi.h"
#include "probe/unwind/rule.h"

#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdw.h>
#include <err.h>
#include <fcntl.h>
#include <fts.h>
#include <gelf.h>
#include <inttypes.h>
#include <libelf.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum count {
    COUNT_FILES,
    COUNT_FDES,
    COUNT_ROWS,
    COUNT_DIFFERENCES,
    COUNT_OTHER,
    COUNT_WITHOUT,
    COUNT_REFUSED,
    COUNT_UNLISTED,
    COUNT_CLOBBERED,
    COUNT_STARTS,
    COUNT_INVALID,
    COUNT_KINDS,
    COUNT_CAUSES = COUNT_KINDS + RULE_KIND_COUNT, /* of RULE_COMPLEX */
    COUNT_TOTAL = COUNT_CAUSES + 5,
};

static const char *const count_names[COUNT_TOTAL] = {
    [COUNT_FILES] = "FILES",
    [COUNT_FDES] = "FDES",
    [COUNT_ROWS] = "ROWS",
    [COUNT_DIFFERENCES] = "DIFFERENCES",
    [COUNT_OTHER] = "other",
    [COUNT_WITHOUT] = "without",
    [COUNT_REFUSED] = "refused",
    [COUNT_UNLISTED] = "unlisted",
    [COUNT_CLOBBERED] = "clobbered",
    [COUNT_STARTS] = "starts",
    [COUNT_INVALID] = "invalid",
    [COUNT_KINDS + RULE_NONE] = "NONE",
    [COUNT_KINDS + RULE_SP] = "SP",
    [COUNT_KINDS + RULE_FP] = "FP",
    [COUNT_KINDS + RULE_PLT] = "PLT",
    [COUNT_KINDS + RULE_FP_DEREF] = "FP_DEREF",
    [COUNT_KINDS + RULE_SIGNAL] = "SIGNAL",
    [COUNT_KINDS + RULE_END] = "END",
    [COUNT_KINDS + RULE_COMPLEX] = "COMPLEX",
    [COUNT_CAUSES + 0] = "  by a signal frame, RA or SP",
    [COUNT_CAUSES + 1] = "  by a CFA from DRAP (r10)",
    [COUNT_CAUSES + 2] = "  by a CFA from another register",
    [COUNT_CAUSES + 3] = "  by a CFA expression",
    [COUNT_CAUSES + 4] = "  by FP",
};

struct file {
    char *path;
    dev_t device;
    ino_t inode;
    off_t size;
};

struct files {
    struct file *items;
    size_t count;
    size_t room;
};

/* Shared by the worker processes. */
struct board {
    atomic_size_t next;
    _Atomic uint64_t counts[COUNT_TOTAL];
};

struct job {
    const char *path;
    struct cfi_section section;
    Dwarf_CFI *cfi;
    uint64_t counts[COUNT_TOTAL];
    unsigned every;
    unsigned reported;
};

/* ---------------------------------------------------------------- the report */

static void ops_print(int wrong, const Dwarf_Op *ops, size_t count)
{
    if (wrong != 0)
        printf(" refused");
    else if (count == 0)
        printf(ops == NULL ? " same" : " undefined");
    for (size_t i = 0; wrong == 0 && i < count; i++)
        printf(" %#x(%" PRId64 ",%" PRId64 ")", ops[i].atom, (int64_t)ops[i].number, (int64_t)ops[i].number2);
}

static void rules_print(const struct cfi_row *row, Dwarf_Frame *frame)
{
    Dwarf_Op room[3];
    Dwarf_Op *ops = NULL;
    size_t count = 0;
    int wrong = dwarf_frame_cfa(frame, &ops, &count);
    printf("  cfa  ours: kind %u column %u offset %d  libdw:", row->state.cfa.kind, row->state.cfa.column,
           row->state.cfa.offset);
    ops_print(wrong, ops, count);
    for (unsigned i = 0; i < ARCH_SLOT_COUNT; i++) {
        struct cfi_slot slot = row->state.slot[i];
        wrong = dwarf_frame_register(frame, meaning_columns[i].number, room, &ops, &count);
        printf("\n  %-4s ours: kind %d value %d  libdw:", meaning_columns[i].name, (int)cfi_slot_kind(slot),
               cfi_slot_value(slot));
        ops_print(wrong, ops, count);
    }
    printf("\n  rule %#" PRIx64 "\n", rule_compile(row).bits);
}

static void differ(struct job *job, uint64_t pc, const char *what, const struct cfi_row *row,
                   Dwarf_Frame *frame)
{
    job->counts[COUNT_DIFFERENCES]++;
    if (job->reported++ >= 20)
        return;
    printf("%s pc %#" PRIx64 ": %s\n", job->path, pc, what);
    if (row != NULL && frame != NULL)
        rules_print(row, frame);
    fflush(stdout); /* one write for each, so that two workers' do not mix */
}

/* Something was not compared because libdw cannot read it: named, never silent. */
static void refuse(struct job *job, const char *what)
{
    job->counts[COUNT_REFUSED]++;
    printf("%s: libdw refuses %s\n", job->path, what);
    fflush(stdout);
}

/* ------------------------------------------------------------ the comparison */

static const char *compare_rule(const struct cfi_row *row, const struct meaning *theirs, uint64_t pc)
{
    static const unsigned slots[] = {ARCH_SLOT_SP, ARCH_SLOT_FP, ARCH_SLOT_RA};
    struct rule rule = rule_compile(row);
    struct meaning ours;
    if (rule_kind(rule) == RULE_NONE)
        return "there is no rule";
    if ((rule_kind(rule) == RULE_END) == theirs->slot[ARCH_SLOT_RA].is_known)
        return "the rule is wrong about the end";
    if (!meaning_of_rule(rule, pc, &ours))
        return NULL;
    if (row->is_signal_frame != (rule_kind(rule) == RULE_SIGNAL))
        return "the rule is wrong about the signal frame";
    if (ours.cfa != theirs->cfa)
        return "the rule has another CFA";
    for (unsigned i = 0; i < sizeof(slots) / sizeof(slots[0]); i++)
        if (!value_equals(ours.slot[slots[i]], theirs->slot[slots[i]]))
            return "the rule has another register";
    return NULL;
}

/* Whether cfi_step comes to the same. It must step wherever what it counts from has
 * a slot, lose exactly the registers that are lost, and say CFI_UNKNOWN elsewhere. */
static const char *compare_step(struct job *job, const struct cfi_row *row, const struct meaning *theirs,
                                uint64_t pc)
{
    struct cfi_registers registers = meaning_registers(pc);
    bool is_clobbered = theirs->is_clobbered || theirs->slot[ARCH_SLOT_RA].is_clobbered;
    enum cfi_status status = cfi_step(row, &meaning_memory, &registers);
    job->counts[COUNT_CLOBBERED] += is_clobbered;
    if (status != (is_clobbered ? CFI_UNKNOWN : CFI_OK))
        return "cfi_step steps where it cannot, or does not where it can";
    for (unsigned i = 0; i < ARCH_SLOT_COUNT && !is_clobbered; i++) {
        const struct value *v = &theirs->slot[i];
        bool is_known = registers.known >> i & 1;
        if (is_known != (v->is_known && !v->is_clobbered) || (is_known && registers.value[i] != v->bits))
            return "cfi_step differs";
    }
    return NULL;
}

static const char *compare_meaning(struct job *job, const struct cfi_row *row, Dwarf_Frame *frame,
                                   uint64_t pc)
{
    struct meaning ours;
    struct meaning theirs;
    if (!meaning_of_row(row, pc, &ours))
        return "we have no meaning";
    if (!meaning_of_libdw(frame, pc, ours.cfa, &theirs))
        return "libdw has no meaning";
    if (ours.cfa != theirs.cfa)
        return "the CFA differs";
    if (!theirs.has_cfa && row->state.cfa.kind != CFI_CFA_REGISTER)
        return "libdw refuses the CFA";
    job->counts[COUNT_INVALID] += !theirs.has_cfa;
    struct value *rbx = &theirs.slot[ARCH_SLOT_RBX];
    if (!rbx->is_known && cfi_slot_kind(row->state.slot[ARCH_SLOT_RBX]) == CFI_SAME)
        *rbx = ours.slot[ARCH_SLOT_RBX];
    for (unsigned i = 0; i < ARCH_SLOT_COUNT; i++)
        if (!value_equals(ours.slot[i], theirs.slot[i]))
            return "a register differs";
    const char *what = compare_step(job, row, &theirs, pc);
    return what != NULL ? what : compare_rule(row, &theirs, pc);
}

static unsigned complex_cause(const struct cfi_row *row)
{
    const struct cfi_state *state = &row->state;
    if (row->is_signal_frame || cfi_slot_kind(state->slot[ARCH_SLOT_RA]) != CFI_OFFSET ||
        cfi_slot_kind(state->slot[ARCH_SLOT_SP]) != CFI_VAL_OFFSET)
        return 0;
    if (state->cfa.kind == CFI_CFA_EXPRESSION)
        return 3;
    if (state->cfa.column == 10)
        return 1;
    return state->cfa.column != ARCH_COLUMN_SP && state->cfa.column != ARCH_COLUMN_FP ? 2 : 4;
}

/* Compares at pc, where a row should begin; gives where the next one does. */
static uint64_t compare_row(struct job *job, uint64_t pc, uint64_t fde_start, uint64_t fde_end)
{
    struct cfi_row row;
    Dwarf_Frame *frame = NULL;
    enum cfi_status status = cfi_find_row(&job->section, pc, &row);
    int refused = dwarf_cfi_addrframe(job->cfi, pc, &frame);
    if (status != CFI_OK || refused != 0) {
        if (status == CFI_ABSENT && refused != 0)
            job->counts[COUNT_UNLISTED]++;
        else
            differ(job, pc, status != CFI_OK ? "we refuse" : dwarf_errmsg(-1), NULL, NULL);
        free(frame);
        return fde_end;
    }
    Dwarf_Addr start;
    Dwarf_Addr end;
    bool is_signal;
    const char *what = NULL;
    enum rule_kind kind = rule_kind(rule_compile(&row));
    if (dwarf_frame_info(frame, &start, &end, &is_signal) != ARCH_COLUMN_RA ||
        is_signal != row.is_signal_frame)
        what = "the CIE differs";
    else if (row.fde_start != fde_start || row.fde_end != fde_end)
        what = "the range of the FDE differs";
    else if (row.start != pc || row.end != end || start > pc)
        what = "the range of the row differs";
    uint64_t last = kind == RULE_PLT ? row.end - 1 : pc;
    for (uint64_t at = pc; at <= last && what == NULL; at++)
        what = compare_meaning(job, &row, frame, at);
    if (what != NULL)
        differ(job, pc, what, &row, frame);
    job->counts[COUNT_ROWS]++;
    job->counts[COUNT_STARTS] += start != pc;
    job->counts[COUNT_KINDS + kind]++;
    if (kind == RULE_COMPLEX)
        job->counts[COUNT_CAUSES + complex_cause(&row)]++;
    free(frame);
    return row.end > pc ? row.end : fde_end;
}

/* The range of an FDE, decoded apart from the code under test. */
static bool fde_range(const Dwarf_FDE *fde, uint8_t encoding, uint64_t address, uint64_t *start,
                      uint64_t *end)
{
    unsigned format = encoding & 7;
    unsigned width = format == DW_EH_PE_udata4 ? 4 : 8;
    unsigned base = encoding & 0xf0;
    int64_t first = 0;
    int64_t size = 0;
    if ((format != DW_EH_PE_udata4 && format != DW_EH_PE_udata8 && format != DW_EH_PE_absptr) ||
        (base != 0 && base != DW_EH_PE_pcrel) || (size_t)(fde->end - fde->start) < 2 * width)
        return false;
    memcpy(&first, fde->start, width);
    memcpy(&size, fde->start + width, width);
    if (width == 4 && (encoding & DW_EH_PE_signed) != 0)
        first = (int32_t)first;
    *start = (uint64_t)first + (base == DW_EH_PE_pcrel ? address : 0);
    *end = *start + (uint64_t)size;
    return true;
}

/* The encoding of addresses that the CIE at offset asks for. */
static uint8_t cie_encoding(const unsigned char *ident, Elf_Data *data, Dwarf_Off offset)
{
    Dwarf_CFI_Entry entry;
    Dwarf_Off next;
    if (dwarf_next_cfi(ident, data, true, offset, &next, &entry) != 0 || entry.cie.augmentation[0] != 'z')
        return DW_EH_PE_absptr;
    const uint8_t *at = entry.cie.augmentation_data;
    for (const char *letter = entry.cie.augmentation + 1; *letter != '\0'; letter++) {
        if (*letter == 'R')
            return *at;
        if (*letter == 'L')
            at++;
        if (*letter == 'P')
            at += 1 + ((*at & 7) == DW_EH_PE_udata4 ? 4 : (*at & 7) == DW_EH_PE_udata2 ? 2 : 8);
    }
    return DW_EH_PE_absptr;
}

static void compare_section(struct job *job, const unsigned char *ident, Elf_Data *data, uint64_t address)
{
    Dwarf_CFI_Entry entry;
    Dwarf_Off next = 0;
    Dwarf_Off cie = (Dwarf_Off)-1;
    uint8_t encoding = 0;
    unsigned turn = 0;
    for (Dwarf_Off offset = 0;; offset = next) {
        int result = dwarf_next_cfi(ident, data, true, offset, &next, &entry);
        if (result > 0)
            return;
        if (result < 0) {
            refuse(job, "an entry of .eh_frame");
            if (next <= offset)
                return;
            continue;
        }
        if (dwarf_cfi_cie_p(&entry) || turn++ % job->every != 0)
            continue;
        if (entry.fde.CIE_pointer != cie) {
            cie = entry.fde.CIE_pointer;
            encoding = cie_encoding(ident, data, cie);
        }
        uint64_t start;
        uint64_t end;
        uint64_t field = address + (uint64_t)(entry.fde.start - (const uint8_t *)data->d_buf);
        if (!fde_range(&entry.fde, encoding, field, &start, &end)) {
            differ(job, field, "the range of the FDE cannot be told", NULL, NULL);
            continue;
        }
        job->counts[COUNT_FDES]++;
        for (uint64_t pc = start; pc < end;)
            pc = compare_row(job, pc, start, end);
    }
}

/* ------------------------------------------------------------------ the files */

static Elf_Scn *eh_frame_find(Elf *elf, GElf_Shdr *header)
{
    size_t names;
    Elf_Scn *scn = NULL;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return NULL;
    while ((scn = elf_nextscn(elf, scn)) != NULL) {
        const char *name = gelf_getshdr(scn, header) ? elf_strptr(elf, names, header->sh_name) : NULL;
        if (name != NULL && strcmp(name, ".eh_frame") == 0)
            return scn;
    }
    return NULL;
}

static void compare_elf(struct job *job, Elf *elf)
{
    GElf_Ehdr header;
    GElf_Shdr section;
    if (elf_kind(elf) != ELF_K_ELF || gelf_getehdr(elf, &header) == NULL || header.e_machine != EM_X86_64 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || (header.e_type != ET_EXEC && header.e_type != ET_DYN)) {
        job->counts[COUNT_OTHER]++;
        return;
    }
    Elf_Scn *scn = eh_frame_find(elf, &section);
    Elf_Data *data = scn != NULL && section.sh_type != SHT_NOBITS ? elf_rawdata(scn, NULL) : NULL;
    if (data == NULL || data->d_buf == NULL || !cfi_file_open(elf, section.sh_addr, &job->section)) {
        job->counts[COUNT_WITHOUT]++;
        return;
    }
    job->cfi = dwarf_getcfi_elf(elf);
    if (job->cfi == NULL) {
        refuse(job, "the CFI");
        return;
    }
    job->counts[COUNT_FILES]++;
    compare_section(job, header.e_ident, data, section.sh_addr);
    dwarf_cfi_end(job->cfi);
}

static void compare_file(struct job *job, const struct file *file)
{
    job->path = file->path;
    job->reported = 0;
    int fd = open(file->path, O_RDONLY | O_CLOEXEC);
    Elf *elf = fd >= 0 ? elf_begin(fd, ELF_C_READ_MMAP, NULL) : NULL;
    if (elf != NULL)
        compare_elf(job, elf);
    else
        refuse(job, "the file");
    elf_end(elf);
    if (fd >= 0)
        close(fd);
}

static void files_add(struct files *files, const char *path, const struct stat *st)
{
    char magic[SELFMAG] = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool is_elf = fd >= 0 && read(fd, magic, SELFMAG) == SELFMAG && memcmp(magic, ELFMAG, SELFMAG) == 0;
    if (fd >= 0)
        close(fd);
    if (!is_elf)
        return;
    if (files->count == files->room) {
        files->room = files->room * 2 + 256;
        files->items = realloc(files->items, files->room * sizeof(*files->items));
        if (files->items == NULL)
            err(2, "list of files");
    }
    files->items[files->count++] = (struct file){strdup(path), st->st_dev, st->st_ino, st->st_size};
}

static int file_order(const void *a, const void *b)
{
    const struct file *x = a;
    const struct file *y = b;
    if (x->size != y->size)
        return x->size < y->size ? 1 : -1; /* large ones first: they end last */
    if (x->inode != y->inode)
        return x->inode < y->inode ? 1 : -1;
    return (x->device < y->device) - (x->device > y->device);
}

static void files_find(struct files *files, char **paths)
{
    FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, NULL);
    if (tree == NULL)
        err(2, "%s", paths[0]);
    for (FTSENT *entry; (entry = fts_read(tree)) != NULL;)
        if (entry->fts_info == FTS_F)
            files_add(files, entry->fts_accpath, entry->fts_statp);
    fts_close(tree);
    if (files->count == 0)
        return;
    qsort(files->items, files->count, sizeof(*files->items), file_order);
    size_t kept = 1;
    for (size_t i = 1; i < files->count; i++)
        if (file_order(&files->items[i], &files->items[kept - 1]) != 0)
            files->items[kept++] = files->items[i];
    files->count = kept;
}

static void work(struct board *board, const struct files *files, unsigned every)
{
    struct job job = {.every = every};
    for (size_t i; (i = atomic_fetch_add(&board->next, 1)) < files->count;)
        compare_file(&job, &files->items[i]);
    for (unsigned i = 0; i < COUNT_TOTAL; i++)
        atomic_fetch_add(&board->counts[i], job.counts[i]);
    fflush(stdout);
}

/* Whether all workers ended as they should. */
static bool work_all(struct board *board, const struct files *files, unsigned jobs, unsigned every)
{
    bool is_whole = true;
    for (unsigned i = 0; i < jobs; i++) {
        pid_t child = fork();
        if (child < 0)
            err(2, "fork");
        if (child == 0) {
            work(board, files, every);
            _exit(0);
        }
    }
    for (int status; wait(&status) > 0;)
        is_whole = is_whole && status == 0;
    return is_whole;
}

static void summary(const struct board *board, bool has_kinds)
{
    uint64_t rows = board->counts[COUNT_ROWS];
    for (unsigned i = 0; i < COUNT_KINDS; i++) {
        bool is_last = i == COUNT_DIFFERENCES || i + 1 == COUNT_KINDS;
        printf("%s %" PRIu64 "%c", count_names[i], board->counts[i], is_last ? '\n' : ' ');
    }
    for (unsigned i = COUNT_KINDS + RULE_SP; has_kinds && i < COUNT_TOTAL; i++)
        printf("%-32s %10" PRIu64 " %9.5f%%\n", count_names[i], board->counts[i],
               100.0 * (double)board->counts[i] / (double)(rows != 0 ? rows : 1));
}

int main(int argc, char **argv)
{
    unsigned every = 1;
    unsigned jobs = 2;
    bool has_kinds = false;
    struct files files = {0};
    int at = 1;
    for (; at < argc && argv[at][0] == '-'; at++) {
        if (strcmp(argv[at], "--kinds") == 0)
            has_kinds = true;
        else if (strcmp(argv[at], "--every") == 0 && at + 1 < argc)
            every = (unsigned)strtoul(argv[++at], NULL, 10);
        else if (strcmp(argv[at], "--jobs") == 0 && at + 1 < argc)
            jobs = (unsigned)strtoul(argv[++at], NULL, 10);
        else
            at = argc;
    }
    if (at >= argc || every == 0 || jobs == 0)
        errx(2, "usage: cfi_diff [--every N] [--jobs N] [--kinds] FILE-OR-FOLDER...");
    struct board *board =
        mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (board == MAP_FAILED || elf_version(EV_CURRENT) == EV_NONE)
        errx(2, "cannot begin");
    files_find(&files, argv + at);
    bool is_whole = work_all(board, &files, jobs, every);
    summary(board, has_kinds);
    if (!is_whole)
        errx(1, "a worker died: the counts are not whole");
    return board->counts[COUNT_DIFFERENCES] != 0;
}
