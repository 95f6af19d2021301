/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * suppress_known: the built-in rules: blocks that libc, the loader and the C++ library keep on purpose.
 *
 * Libc's own functions have names only where its debug information is installed, and a limit in continuous integration must
 * not depend on that.  So most rules go by what the program called, which every libc exports.  That can be done for
 * functions that never hand over memory: what stays behind a call of `setlocale` is libc's, what stays behind one
 * of `strdup` is not.  `scanf("%ms")` does hand over memory, so of the blocks behind that only those of the size of a
 * buffer are libc's.
 */
#include "analysis/suppress.h"

#include "tool/err.h"

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})
#define SCANNERS                                                                                   \
    LIST("scanf", "fscanf", "vscanf", "vfscanf", "isoc99_scanf", "isoc99_fscanf", "isoc99_vscanf", \
         "isoc99_vfscanf", "isoc23_scanf", "isoc23_fscanf", "isoc23_vscanf", "isoc23_vfscanf")

static const struct suppress_rule suppress_known[] = {
    {.pattern = "emergency pool of libstdc++", .innermost_module = "^libstdc++.so", .size = 72704},
    {.pattern = "emergency pool of libstdc++", .innermost_module = "^libstdc++.so", .size = 73728},
    {.pattern = "emergency pool of libstdc++", .innermost_function = "^__gnu_cxx::__freeres$"},
    {.pattern = "emergency pool of libstdc++", .innermost_function = "^(anonymous namespace)::pool::pool$"},
    {.pattern = "structures of the loader", .innermost_module = "^ld-linux"},
    {.pattern = "structures of the loader", .innermost_module = "^ld-musl"},
    {.pattern = "structures of the loader", .innermost_module = "^libc.so", .innermost_function = "^_dl_"},
    {.pattern = "structures of the loader",
     .called = LIST("dlopen", "dlmopen", "dlsym", "dlvsym", "dlerror", "dlclose")},
    {.pattern = "stdio buffers",
     .innermost_module = "^libc.so",
     .innermost_function = "^_IO_file_doallocate$"},
    {.pattern = "stdio buffers",
     .called = LIST("puts", "putchar", "putc", "fputc", "fputs", "fwrite", "printf", "fprintf", "vprintf",
                    "vfprintf", "overflow", "getc", "getchar", "fgetc", "fgets", "gets", "fread", "underflow",
                    "uflow", "ungetc", "fflush", "fseek", "fseeko", "ftell", "ftello", "rewind", "putwchar",
                    "putwc", "fputwc", "fputws", "wprintf", "fwprintf", "getwc", "getwchar", "fgetwc",
                    "fgetws", "perror", "psignal")},
    {.pattern = "stdio buffers", .called = SCANNERS, .size = 1024}, /* of a terminal */
    {.pattern = "stdio buffers", .called = SCANNERS, .size = 4096},
    {.pattern = "stdio buffers", .called = SCANNERS, .size = 8192},
    {.pattern = "formats of printf",
     .called = LIST("register_printf_specifier", "register_printf_function", "register_printf_modifier",
                    "register_printf_type")},
    {.pattern = "list of exit functions",
     .called = LIST("cxa_atexit", "atexit", "on_exit", "at_quick_exit", "cxa_at_quick_exit",
                    "libc_start_main", "libc_start_main_impl", "libc_start_call_main")},
    {.pattern = "locales", .innermost_module = "^libc.so", .innermost_function = "^_nl_"},
    {.pattern = "locales", .innermost_module = "^libc.so", .innermost_function = "^new_composite_name$"},
    {.pattern = "locales",
     .called = LIST("setlocale", "bindtextdomain", "textdomain", "bind_textdomain_codeset", "gettext",
                    "dgettext", "dcgettext", "ngettext", "dngettext", "dcngettext", "dcigettext", "strerror",
                    "strerror_l", "strsignal", "error", "error_at_line", "warn", "warnx", "err", "errx")},
    {.pattern = "character conversions", .innermost_module = "^libc.so", .innermost_function = "^__gconv_"},
    {.pattern = "character conversions", .innermost_module = "^libc.so", .innermost_function = "^__wcsmbs_"},
    {.pattern = "character conversions",
     .called = LIST("mbrtowc", "mbsrtowcs", "mbsnrtowcs", "mbstowcs", "mbtowc", "mblen", "mbrlen", "btowc",
                    "wctob", "wcrtomb", "wcsrtombs", "wcsnrtombs", "wcstombs", "wctomb", "fwide")},
    {.pattern = "time zones", .innermost_module = "^libc.so", .innermost_function = "^__tzfile_"},
    {.pattern = "time zones", .innermost_module = "^libc.so", .innermost_function = "^__tzstring"},
    {.pattern = "time zones",
     .called = LIST("tzset", "tz_convert", "localtime", "mktime", "timelocal", "strftime", "strftime_l",
                    "wcsftime", "wcsftime_l", "ctime", "strptime", "getdate")},
    {.pattern = "name services", .innermost_module = "^libc.so", .innermost_function = "^__nss_"},
    {.pattern = "name services", .innermost_module = "^libc.so", .innermost_function = "^nss_"},
    {.pattern = "name services", .innermost_module = "^libc.so", .innermost_function = "^__res"},
    {.pattern = "name services",
     .called =
         LIST("getpwnam", "getpwuid", "getpwent", "setpwent", "endpwent", "getgrnam", "getgrgid", "getgrent",
              "setgrent", "endgrent", "getgrouplist", "initgroups", "getspnam", "getspent", "getservbyname",
              "getservbyport", "getservent", "getprotobyname", "getprotobynumber", "getprotoent",
              "gethostbyname", "gethostbyname2", "gethostbyaddr", "gethostent", "getnetbyname",
              "getnetbyaddr", "getnetent", "getrpcbyname", "getrpcbynumber", "getnetgrent", "innetgr",
              "getnameinfo", "getlogin", "cuserid", "ttyname", "res_init", "res_query", "res_search",
              "res_ninit", "getmntent", "getfsent", "getusershell", "getutent", "getutxent")},
};

int suppress_add_built_in(struct suppress *s, struct err *err)
{
    for (size_t i = 0; i < sizeof suppress_known / sizeof *suppress_known; i++) {
        struct suppress_rule rule = suppress_known[i];
        rule.built_in = true;
        if (!vec_push(&s->rules, rule))
            return suppress_no_memory(err);
    }
    return 0;
}
