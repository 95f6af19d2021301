/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Tests of sanitizer, on files that are made here: a head, string tables, their sections.
 */
#include "collect/sanitizer.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum { TABLE_AT = 4096 };

/* A file whose one string table is `padding` bytes of 'x' and the text. */
static const char *find_in(const char *text, size_t length, size_t padding, uint32_t type)
{
    Elf64_Ehdr head = {.e_shoff = sizeof head, .e_shentsize = sizeof(Elf64_Shdr), .e_shnum = 2};
    Elf64_Shdr sections[2] = {
        {.sh_type = SHT_PROGBITS},
        {.sh_type = type, .sh_offset = TABLE_AT, .sh_size = padding + length},
    };
    memcpy(head.e_ident, ELFMAG, SELFMAG);
    head.e_ident[EI_CLASS] = ELFCLASS64;
    char *filler = malloc(padding + 1);
    memset(filler, 'x', padding + 1);
    int fd = memfd_create("sanitizer_test", MFD_CLOEXEC);
    assert_int_equal(sizeof head, pwrite(fd, &head, sizeof head, 0));
    assert_int_equal(sizeof sections, pwrite(fd, sections, sizeof sections, sizeof head));
    assert_int_equal(padding, pwrite(fd, filler, padding, TABLE_AT));
    assert_int_equal(length, pwrite(fd, text, length, TABLE_AT + (off_t)padding));
    const char *found = sanitizer_find(fd);
    close(fd);
    free(filler);
    return found;
}

#define FIND(text, padding) find_in(text, sizeof text, padding, SHT_STRTAB)

static void test_names_in_a_string_table_tell(void **state)
{
    (void)state;
    assert_string_equal("AddressSanitizer", FIND("\0malloc\0__asan_init\0main", 0));
    assert_string_equal("ThreadSanitizer", FIND("\0__tsan_init\0main", 0));
    assert_string_equal("HWAddressSanitizer", FIND("\0__hwasan_init", 0));
    assert_string_equal("LeakSanitizer", FIND("\0liblsan.so.0\0libc.so.6", 0));
    assert_null(FIND("\0malloc\0__asan_initial\0main", 0));
    assert_null(FIND("\0__ubsan_handle_add_overflow\0libubsan.so.1", 0));
    assert_null(find_in("\0__asan_init", 13, 0, SHT_PROGBITS));
}

static void test_a_name_may_lie_across_windows(void **state)
{
    (void)state;
    for (size_t padding = 65536 - 16; padding < 65536 + 2; padding++)
        assert_string_equal("AddressSanitizer", FIND("\0__asan_init", padding));
}

static void test_what_is_no_program_has_none(void **state)
{
    (void)state;
    int fd = memfd_create("sanitizer_test", MFD_CLOEXEC);
    assert_null(sanitizer_find(fd));
    assert_int_equal(12, write(fd, "__asan_init", 12));
    assert_null(sanitizer_find(fd));
    close(fd);
    assert_null(sanitizer_find(-1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_in_a_string_table_tell),
        cmocka_unit_test(test_a_name_may_lie_across_windows),
        cmocka_unit_test(test_what_is_no_program_has_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
