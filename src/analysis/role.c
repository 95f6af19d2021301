/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * role: see role.h.
 *
 * The tables below are all there is to know about whose code a frame is.  The
 * name of a function counts before its module: programs that are linked
 * statically have std:: in their own module.
 */
#include "analysis/role.h"

#include "base/libc.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

/* Modules by the beginning of their file name. */
static const char *const allocator_modules[] = {"libheapwake.so", "libjemalloc.so", "libtcmalloc",
                                                "libmimalloc"};
static const char *const library_modules[] = {
    "libc.so",
    "libc-2.",
    "libstdc++.so",
    "libc++.so",
    "libc++abi.so",
    "libgcc_s.so",
    "ld-linux",
    "ld-2.",
    "ld-musl",
    "libpthread.so",
    "libpthread-2.",
    "libm.so",
    "libdl.so",
    "[vdso]",
    "linux-vdso",
    /* Fortran, OpenMP, Ada, D; those that a Python wheel brings along have other endings */
    "libgfortran",
    "libquadmath",
    "libgomp",
    "libomp.so",
    "libomp5.so",
    "libgnat-",
    "libgnarl-",
    "libgphobos.so",
    "libgdruntime.so",
    "libdruntime-ldc",
    "libphobos2",
};

static const char *const allocator_functions[] = {
    "malloc",
    "calloc",
    "realloc",
    "reallocarray",
    "memalign",
    "aligned_alloc",
    "posix_memalign",
    "valloc",
    "pvalloc",
    "operator new",
    "operator new[]",
    "__libc_malloc",
    "__libc_calloc",
    "__libc_realloc",
    "__libc_memalign",
    "__rust_alloc",
    "__rust_alloc_zeroed",
    "__rust_realloc",
    "__rg_alloc",
    "__rdl_alloc",
};

/* Qualified names by their beginning.  Those of the allocator are what Rust's library calls instead of malloc. */
static const char *const allocator_names[] = {"alloc::alloc::", "<alloc::alloc::Global as "};
static const char *const library_names[] = {
    "std::", "__gnu_cxx::", "__cxxabiv1::", "alloc::", "core::", "hashbrown::", "QTypedArrayData<",
};
/* D's, which are told by how they are mangled. */
static const char *const library_names_d[] = {"core.", "std.", "rt.", "object.", "gc."};
/* Of runtimes that are linked into the program; their beginning. */
static const char *const library_symbols[] = {"_gfortran_", "_gfortrani_", "GOMP_",
                                              "gomp_",      "__kmp",       "__gnat_"};
static const char *const library_functions[] = {
    "_start",
    "__libc_start_main",
    "__libc_start_call_main",
    "__libc_csu_init",
    "__cxa_allocate_exception",
    "start_thread",
    "clone3",
    "__clone3",
    "clone",
    "__clone",
    "call_init",
    "_dl_init",
    "_dl_start_user",
    "__libc_start_main_impl",
    "__cxa_throw",
    "__rust_try",
    "call_init.part.0",
    "_dl_relocate_object",
};
/* What programs call instead of malloc: that it was called says nothing, who called it says all. */
static const char *const wrapper_functions[] = {
    /* GNU and git */
    "xmalloc",
    "xcalloc",
    "xrealloc",
    "xreallocarray",
    "xzalloc",
    "xnmalloc",
    "xnrealloc",
    "x2nrealloc",
    "x2realloc",
    "xcharalloc",
    "ximalloc",
    "xirealloc",
    "xicalloc",
    "xmemdup",
    "xstrdup",
    "xstrndup",
    "xmallocz",
    "xmemdupz",
    "_obstack_newchunk",
    "_obstack_begin",
    /* GLib */
    "g_malloc",
    "g_malloc0",
    "g_malloc_n",
    "g_malloc0_n",
    "g_realloc",
    "g_realloc_n",
    "g_try_malloc",
    "g_try_malloc0",
    "g_try_realloc",
    "g_slice_alloc",
    "g_slice_alloc0",
    "g_slice_copy",
    "g_strdup",
    "g_strndup",
    "g_memdup",
    "g_memdup2",
    /* OpenSSL, SQLite, redis, nginx, CPython, Perl, Lua, HotSpot */
    "CRYPTO_malloc",
    "CRYPTO_zalloc",
    "CRYPTO_realloc",
    "CRYPTO_strdup",
    "CRYPTO_strndup",
    "CRYPTO_memdup",
    "sqlite3_malloc",
    "sqlite3_malloc64",
    "sqlite3_realloc",
    "sqlite3_realloc64",
    "sqlite3Malloc",
    "sqlite3MallocZero",
    "sqlite3Realloc",
    "sqlite3MemMalloc",
    "sqlite3MemRealloc",
    "mallocWithAlarm",
    "sqlite3DbMallocRaw",
    "sqlite3DbMallocRawNN",
    "sqlite3DbMallocZero",
    "sqlite3DbRealloc",
    "dbMallocRawFinish",
    "dbReallocFinish",
    "pcache1Alloc",
    "zmalloc",
    "zcalloc",
    "zcalloc_num",
    "zrealloc",
    "zmalloc_usable",
    "zcalloc_usable",
    "zrealloc_usable",
    "ztrymalloc",
    "ztrycalloc",
    "ztryrealloc",
    "ztrymalloc_usable",
    "ztrycalloc_usable",
    "ztryrealloc_usable",
    "zstrdup",
    "ngx_alloc",
    "ngx_calloc",
    "ngx_memalign",
    "PyMem_RawMalloc",
    "PyMem_RawCalloc",
    "PyMem_RawRealloc",
    "PyMem_Malloc",
    "PyMem_Calloc",
    "PyMem_Realloc",
    "PyObject_Malloc",
    "PyObject_Calloc",
    "PyObject_Realloc",
    "_PyMem_RawMalloc",
    "_PyMem_RawCalloc",
    "_PyMem_RawRealloc",
    "_PyObject_Malloc",
    "_PyObject_Calloc",
    "_PyObject_Realloc",
    "Perl_safesysmalloc",
    "Perl_safesyscalloc",
    "Perl_safesysrealloc",
    "l_alloc",
    "luaM_malloc_",
    "luaM_realloc_",
    "luaM_saferealloc_",
    "os::malloc",
    "os::realloc",
    "os::strdup",
    "AllocateHeap",
    "ReallocateHeap",
    "jv_mem_alloc",
    "jv_mem_calloc",
    "jv_mem_realloc",
    /* FFmpeg, x264, ImageMagick */
    "av_malloc",
    "av_mallocz",
    "av_malloc_array",
    "av_mallocz_array",
    "av_calloc",
    "av_realloc",
    "av_realloc_f",
    "av_realloc_array",
    "av_reallocp",
    "av_reallocp_array",
    "av_strdup",
    "av_strndup",
    "av_memdup",
    "x264_malloc",
    "AcquireMagickMemory",
    "AcquireCriticalMemory",
    "AcquireQuantumMemory",
    "AcquireAlignedMemory",
    "AcquireVirtualMemory",
    "ResizeMagickMemory",
    "ResizeQuantumMemory",
    /* Qt, PHP, D, GHC */
    "QArrayData::allocate",
    "QArrayData::allocate1",
    "QArrayData::allocate2",
    "QArrayData::reallocateUnaligned",
    "QHashData::allocateNode",
    "QListData::detach",
    "QListData::realloc",
    "QMapDataBase::createNode",
    "__zend_malloc",
    "__zend_calloc",
    "__zend_realloc",
    "gc_malloc",
    "gc_qalloc",
    "gc_calloc",
    "gc_realloc",
    "_d_allocmemory",
    "_d_allocclass",
    "_d_newclass",
    "_d_newarrayT",
    "_d_newarrayU",
    "_d_newitemT",
    "stgMallocBytes",
    "stgCallocBytes",
    "stgReallocBytes",
};
/* Whatever is compiled from headers of the system is a library's: containers of Boost, Abseil and Qt are as
 * little the reader's own as those of std::. */
static const char *const library_files[] = {"/usr/include/", "/usr/local/include/", "/include/c++/",
                                            "/rustc/", "/bits/allocator.h"};
/* The same where a tool gives names of files without their folders, as Valgrind does: beginning, end. */
static const struct {
    const char *head, *tail;
} library_headers[] = {
    {"", ".tcc"},
    {"stl_", ".h"},
    {"alloc_traits", ".h"},
    {"allocat", ".h"}, /* allocator, allocated_ptr, allocation_guard */
    {"new_allocator", ".h"},
    {"basic_", ".h"},
    {"construct_at", ".h"},
    {"hashtable", ".h"},
    {"forward_list", ".h"},
    {"functexcept", ".h"},
    {"locale_facets", ".h"},
    {"regex_", ".h"},
    {"shared_ptr", ".h"},
    {"std_function", ".h"},
    {"unique_ptr", ".h"},
    {"unordered_", ".h"},
};
/* Crates that Rust's library itself is made of; with lines they are told by their files. */
static const char *const library_crate_files[] = {"/rust/deps/"}; /* their beginning */
static const char *const library_crates[] = {"gimli::", "addr2line::", "miniz_oxide::", "rustc_demangle::"};
/* Where package managers put the sources of what a program depends on. */
static const char *const package_files[] = {"/registry/src/", "/cargo/registry/", "/git/checkouts/",
                                            "/go/pkg/mod/"};

#define COUNT(list) (sizeof(list) / sizeof *(list))

static bool role_begins_with_any(const char *text, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strncmp(text, list[i], strlen(list[i])) == 0)
            return true;
    }
    return false;
}

static bool role_is_any(const char *text, size_t length, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strlen(list[i]) == length && memcmp(text, list[i], length) == 0)
            return true;
    }
    return false;
}

/* Is a type of Rust nobody's own: of its library, i32, str, T, a slice, a tuple?  So is a reference to one. */
static bool role_is_common_type(const char *type, size_t length)
{
    static const char *const around[] = {"&", "mut ", "*const ", "*mut ", "dyn "};
    const char *end = type + length;
    for (size_t i = 0; i < COUNT(around); i++) {
        size_t n = strlen(around[i]);
        while ((size_t)(end - type) > n && memcmp(type, around[i], n) == 0)
            type += n;
    }
    if (role_begins_with_any(type, library_names, COUNT(library_names)))
        return true;
    while (type < end && (isalnum((unsigned char)*type) || *type == '_'))
        type++;
    return *type != ':';
}

/* Rust's library has those methods whose type and trait are both nobody's own. */
static bool role_is_common_method(const char *name, size_t length)
{
    struct frame_self self;
    if (frame_split_self(name, length, &self) == 0 || !role_is_common_type(self.type, self.type_length))
        return false;
    return self.trait == NULL || role_begins_with_any(self.trait, library_names, COUNT(library_names));
}

/* Is it a function of one of those crates, or a method of a type of theirs? */
static bool role_is_of_library_crate(const char *name, size_t length)
{
    struct frame_self self;
    const char *type = frame_split_self(name, length, &self) != 0 ? self.type : name;
    return role_begins_with_any(type, library_crates, COUNT(library_crates));
}

/* The token of a function or module that was of this kind before it got a veil (analysis/anonymize.h). */
static bool role_is_token(const char *name, size_t length, const char *kind)
{
    size_t n = strlen(kind);
    return length == n + 12 && strncmp(name, kind, n) == 0 &&
           strspn(name + n, "0123456789abcdef") == length - n;
}

bool role_is_wrapper(const struct frame *f)
{
    size_t length;
    const char *name = frame_find_name(f->function, &length);
    return role_is_any(name, length, wrapper_functions, COUNT(wrapper_functions));
}

static bool role_has_any(const char *text, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strstr(text, list[i]) != NULL)
            return true;
    }
    return false;
}

/* Headers of the C++ library have no ending or a name of their own. */
static bool role_is_bare_header(const char *file)
{
    size_t length = strlen(file);
    if (length == 0 || strchr(file, '/') != NULL)
        return false;
    for (size_t i = 0; i < COUNT(library_headers); i++) {
        size_t head = strlen(library_headers[i].head), tail = strlen(library_headers[i].tail);
        if (length >= head + tail && memcmp(file, library_headers[i].head, head) == 0 &&
            strcmp(file + length - tail, library_headers[i].tail) == 0)
            return true;
    }
    return strspn(file, "abcdefghijklmnopqrstuvwxyz_") == length;
}

bool role_is_packaged(const struct frame *f)
{
    return role_has_any(f->file, package_files, COUNT(package_files));
}

enum frame_role role_find(const struct frame *f)
{
    size_t length;
    const char *name = frame_find_name(f->function, &length), *module = frame_basename(f->module);
    if (role_begins_with_any(module, allocator_modules, COUNT(allocator_modules)) ||
        role_is_any(name, length, allocator_functions, COUNT(allocator_functions)) ||
        role_begins_with_any(name, allocator_names, COUNT(allocator_names)) ||
        role_is_token(name, length, "allocator_") || role_is_token(module, strlen(module), "allocator_"))
        return FRAME_ALLOCATOR;
    if (role_begins_with_any(name, library_names, COUNT(library_names)) ||
        role_is_common_method(name, length) ||
        role_begins_with_any(name, library_symbols, COUNT(library_symbols)) ||
        (strncmp(f->linkage, "_D", 2) == 0 &&
         role_begins_with_any(name, library_names_d, COUNT(library_names_d))) ||
        role_is_any(name, length, library_functions, COUNT(library_functions)) ||
        role_is_any(name, length, wrapper_functions, COUNT(wrapper_functions)) ||
        role_is_token(name, length, "library_") || role_is_token(module, strlen(module), "library_") ||
        role_begins_with_any(module, library_modules, COUNT(library_modules)))
        return FRAME_LIBRARY;
    if (strcmp(f->file, LIBC_ARCHIVE) == 0)
        return FRAME_LIBRARY;
    bool is_library =
        f->file[0] == '\0'
            ? role_is_of_library_crate(name, length)
            : role_has_any(f->file, library_files, COUNT(library_files)) || role_is_bare_header(f->file) ||
                  role_begins_with_any(f->file, library_crate_files, COUNT(library_crate_files));
    return is_library ? FRAME_LIBRARY : FRAME_OWN;
}
