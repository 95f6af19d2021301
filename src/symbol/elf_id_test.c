/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <elf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbol/elf_id.h"

static const uint8_t build_id[] = {1, 2, 3, 4, 5};

struct file {
    Elf64_Ehdr head;
    Elf64_Phdr programs[2];
    uint32_t other[3];
    char other_name[4];
    uint8_t other_bytes[4];
    uint32_t note[3];
    char name[4];
    uint8_t id[8];
};

static struct file make_elf(void)
{
    struct file f = {.head = {.e_phoff = offsetof(struct file, programs),
                              .e_phentsize = sizeof(Elf64_Phdr),
                              .e_phnum = 2}};
    memcpy(f.head.e_ident, ELFMAG, SELFMAG);
    f.head.e_ident[EI_CLASS] = ELFCLASS64;
    f.head.e_ident[EI_DATA] = ELFDATA2LSB;
    f.programs[0].p_type = PT_LOAD;
    f.programs[1].p_type = PT_NOTE;
    f.programs[1].p_offset = offsetof(struct file, other);
    f.programs[1].p_filesz = sizeof f - offsetof(struct file, other);
    memcpy(f.other, (uint32_t[]){4, 3, NT_GNU_BUILD_ID}, sizeof f.other);
    memcpy(f.other_name, "ABC", 4);
    memcpy(f.note, (uint32_t[]){4, 5, NT_GNU_BUILD_ID}, sizeof f.note);
    memcpy(f.name, "GNU", 4);
    memcpy(f.id, build_id, sizeof build_id);
    return f;
}

static bool read_id(struct elf_id *id, const struct file *f, size_t length)
{
    int fd = memfd_create("elf_id_test", MFD_CLOEXEC);
    assert_int_equal(write(fd, f, length), length);
    bool done = elf_id_read(id, fd);
    close(fd);
    return done;
}

static void a_build_id_is_found_among_the_notes(void **state)
{
    (void)state;
    struct elf_id id;
    struct file f = make_elf();
    assert_true(read_id(&id, &f, sizeof f));
    assert_int_equal(id.length, sizeof build_id);
    assert_memory_equal(id.bytes, build_id, sizeof build_id);
    assert_true(elf_id_fits(&id, build_id, sizeof build_id));
    assert_false(elf_id_fits(&id, build_id, sizeof build_id - 1));
    assert_false(elf_id_fits(&id, (const uint8_t *)"\1\2\3\4\6", sizeof build_id));
    assert_true(elf_id_fits(&id, NULL, 0));
    f.note[2]++;
    assert_true(read_id(&id, &f, sizeof f));
    assert_int_equal(id.length, 0);
    assert_false(elf_id_fits(&id, build_id, sizeof build_id));
}

static void what_is_cut_or_makes_no_sense_has_none(void **state)
{
    (void)state;
    struct elf_id id;
    struct file f = make_elf();
    for (size_t cut = 0; cut < offsetof(struct file, id) + sizeof build_id; cut++) {
        (void)read_id(&id, &f, cut);
        assert_int_equal(id.length, 0);
    }
    assert_false(read_id(&id, &f, 10));
    for (size_t i = 0; i < 3; i++) {
        f = make_elf();
        f.other[i == 2 ? 0 : i] = UINT32_MAX - (uint32_t)i;
        assert_true(read_id(&id, &f, sizeof f));
        assert_int_equal(id.length, 0);
    }
    f = make_elf();
    f.head.e_phoff = UINT64_MAX - 8;
    (void)read_id(&id, &f, sizeof f);
    assert_int_equal(id.length, 0);
    f = make_elf();
    f.head.e_ident[EI_CLASS] = ELFCLASS32;
    assert_false(read_id(&id, &f, sizeof f));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_build_id_is_found_among_the_notes),
        cmocka_unit_test(what_is_cut_or_makes_no_sense_has_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
