/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * frame: see frame.h.
 *
 * The tables below are all there is to know about whose code a frame is.  The
 * name of a function counts before its module: programs that are linked
 * statically have std:: in their own module.
 */
#include "query/frame.h"

#include <ctype.h>
#include <stdio.h>
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

/* Qualified names by their beginning. */
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
/* Where package managers put the sources of what a program depends on. */
static const char *const package_files[] = {"/registry/src/", "/cargo/registry/", "/git/checkouts/",
                                            "/go/pkg/mod/"};

#define COUNT(list) (sizeof(list) / sizeof *(list))

static bool frame_begins_with_any(const char *text, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strncmp(text, list[i], strlen(list[i])) == 0)
            return true;
    }
    return false;
}

static bool frame_is_any(const char *text, size_t length, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strlen(list[i]) == length && memcmp(text, list[i], length) == 0)
            return true;
    }
    return false;
}

const char *frame_basename(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

/* Bytes of the sign of an operator; 0: a conversion, as in "operator int". */
static size_t frame_skip_sign(const char *text)
{
    static const char *const signs[] = {
        "->*", "<<=", ">>=", "<=>", "->", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||",
        "++",  "--",  "+=",  "-=",  "*=", "/=", "%=", "^=", "&=", "|=", "()", "[]"};
    for (size_t i = 0; i < COUNT(signs); i++) {
        if (strncmp(text, signs[i], strlen(signs[i])) == 0)
            return strlen(signs[i]);
    }
    return text[0] != '\0' && strchr("+-*/%^&|~!=<>,", text[0]) != NULL;
}

/* "operator" takes what follows into the name: a sign, which may look like a bracket, or a type up
 * to its arguments. */
static size_t frame_skip_operator(const char *text)
{
    static const char word[] = "operator";
    size_t n = sizeof word - 1;
    if (strncmp(text, word, n) != 0)
        return 0;
    size_t sign = frame_skip_sign(text + n);
    if (sign != 0) {
        n += sign;
        return text[n] == ' ' && text[n + 1] == '<' ? n + 1 : n; /* "operator<< <int>" */
    }
    for (int depth = 0; text[n] != '\0' && (text[n] != '(' || depth > 0); n++)
        depth += (text[n] == '<') - (text[n] == '>');
    return n;
}

size_t frame_skip_sign_of(const char *name, size_t at)
{
    static const char word[] = "operator";
    const size_t n = sizeof word - 1;
    if ((at > 0 && (isalnum((unsigned char)name[at - 1]) || name[at - 1] == '_')) ||
        strncmp(name + at, word, n) != 0)
        return 0;
    size_t sign = frame_skip_sign(name + at + n);
    return sign == 0 ? 0 : n + sign;
}

static const char frame_anonymous[] = "(anonymous namespace)";

enum { FRAME_ARGUMENTS_MAX = 8192 }; /* a name may be nothing but brackets, and each is looked at */

/* Bytes up to behind the bracket that closes the first one; 0: none does. */
static size_t frame_skip_brackets(const char *text)
{
    size_t depth = 0;
    for (size_t i = 0; i < FRAME_ARGUMENTS_MAX && text[i] != '\0'; i++) {
        if (text[i] == '(')
            depth++;
        else if (text[i] == ')' && --depth == 0)
            return i + 1;
    }
    return 0;
}

size_t frame_skip_arguments(const char *function, size_t at)
{
    static const char *const marks[] = {" const", " volatile", " &&", " &"};
    const char *text = function + at;
    size_t n = text[0] == '(' && strncmp(text, frame_anonymous, strlen(frame_anonymous)) != 0
                   ? frame_skip_brackets(text)
                   : 0;
    size_t end = n;
    if (n == 0 || (at > 0 && function[at - 1] == '!'))
        return n;
    if (text[n] == '.' && (text[n + 1] == '_' || isalpha((unsigned char)text[n + 1])))
        return n;
    for (size_t i = 0; i < COUNT(marks); i++) {
        if (strncmp(text + end, marks[i], strlen(marks[i])) == 0)
            end += strlen(marks[i]);
    }
    return strncmp(text + end, "::", 2) == 0 ? end : 0;
}

const char *frame_find_name(const char *function, size_t *length)
{
    size_t begin = 0, i = 0;
    int depth = 0;
    bool has_arguments = false;
    if ((function[0] == '-' || function[0] == '+') && function[1] == '[') { /* Objective-C */
        *length = strlen(function);
        return function;
    }
    while (function[i] != '\0') {
        bool boundary = i == 0 || strchr(" :", function[i - 1]) != NULL;
        size_t skip = depth > 0  ? frame_skip_sign_of(function, i)
                      : boundary ? frame_skip_operator(function + i)
                                 : 0;
        if (skip == 0 && strncmp(function + i, frame_anonymous, strlen(frame_anonymous)) == 0)
            skip = strlen(frame_anonymous);
        if (skip == 0 && function[i] == '(' && depth == 0 && i > begin) {
            skip = frame_skip_arguments(function, i);
            has_arguments = true;
            if (skip == 0)
                break;
        }
        if (skip != 0) {
            i += skip;
            continue;
        }
        bool is_arrow = i > 0 && function[i] == '>' && function[i - 1] == '-';
        if (function[i] == '<' || function[i] == '(' || function[i] == '{')
            depth++;
        else if ((function[i] == '>' || function[i] == ')' || function[i] == '}') && depth > 0)
            depth -= !is_arrow;
        else if (function[i] == ' ' && depth == 0)
            begin = i + 1;
        i++;
    }
    /* Only what has arguments has a result type; others may be called as they like, as JIT compilers do. */
    if (!has_arguments)
        begin = 0;
    *length = i - begin;
    return function + begin;
}

/* The index of the > that closes name[0]; length: none does. " as " beside the type: where; 0 = nowhere. */
static size_t frame_close_self(const char *name, size_t length, size_t *as)
{
    size_t depth = 0;
    *as = 0;
    for (size_t i = 0; i < length; i++) {
        if (name[i] == '<' || name[i] == '(' || name[i] == '[')
            depth++;
        else if ((name[i] == '>' && name[i - 1] != '-') || name[i] == ')' || name[i] == ']')
            depth--;
        else if (depth == 1 && length - i > 4 && memcmp(name + i, " as ", 4) == 0)
            *as = i;
        if (depth == 0)
            return i;
    }
    return length;
}

size_t frame_split_self(const char *name, size_t length, struct frame_self *self)
{
    static const char *const not_rust[] = {"<lambda", "<unnamed"}; /* gcc's names for what has none */
    size_t as, close = length > 0 && name[0] == '<' ? frame_close_self(name, length, &as) : length;
    if (length - close < 4 || frame_begins_with_any(name, not_rust, COUNT(not_rust)) ||
        memcmp(name + close + 1, "::", 2) != 0)
        return 0;
    *self = (struct frame_self){.type = name + 1, .type_length = (as != 0 ? as : close) - 1};
    if (as != 0) {
        self->trait = name + as + 4;
        self->trait_length = close - (as + 4);
    }
    return close + 1;
}

/* Is a type of Rust nobody's own: of its library, i32, str, T, a slice, a tuple?  So is a reference to one. */
static bool frame_is_common_type(const char *type, size_t length)
{
    static const char *const around[] = {"&", "mut ", "*const ", "*mut ", "dyn "};
    const char *end = type + length;
    for (size_t i = 0; i < COUNT(around); i++) {
        size_t n = strlen(around[i]);
        while ((size_t)(end - type) > n && memcmp(type, around[i], n) == 0)
            type += n;
    }
    if (frame_begins_with_any(type, library_names, COUNT(library_names)))
        return true;
    while (type < end && (isalnum((unsigned char)*type) || *type == '_'))
        type++;
    return *type != ':';
}

/* Rust's library has those methods whose type and trait are both nobody's own. */
static bool frame_is_common_method(const char *name, size_t length)
{
    struct frame_self self;
    if (frame_split_self(name, length, &self) == 0 || !frame_is_common_type(self.type, self.type_length))
        return false;
    return self.trait == NULL || frame_begins_with_any(self.trait, library_names, COUNT(library_names));
}

/* The token of a function or module that was of this kind before it got a veil (query/veil.h). */
static bool frame_is_token(const char *name, size_t length, const char *kind)
{
    size_t n = strlen(kind);
    return length == n + 12 && strncmp(name, kind, n) == 0 &&
           strspn(name + n, "0123456789abcdef") == length - n;
}

bool frame_is_wrapper(const struct frame *f)
{
    size_t length;
    const char *name = frame_find_name(f->function, &length);
    return frame_is_any(name, length, wrapper_functions, COUNT(wrapper_functions));
}

static bool frame_has_any(const char *text, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strstr(text, list[i]) != NULL)
            return true;
    }
    return false;
}

bool frame_is_packaged(const struct frame *f)
{
    return frame_has_any(f->file, package_files, COUNT(package_files));
}

enum frame_role frame_find_role(const struct frame *f)
{
    size_t length;
    const char *name = frame_find_name(f->function, &length), *module = frame_basename(f->module);
    if (frame_begins_with_any(module, allocator_modules, COUNT(allocator_modules)) ||
        frame_is_any(name, length, allocator_functions, COUNT(allocator_functions)) ||
        frame_is_token(name, length, "allocator_") || frame_is_token(module, strlen(module), "allocator_"))
        return FRAME_ALLOCATOR;
    if (frame_begins_with_any(name, library_names, COUNT(library_names)) ||
        frame_is_common_method(name, length) ||
        frame_begins_with_any(name, library_symbols, COUNT(library_symbols)) ||
        (strncmp(f->linkage, "_D", 2) == 0 &&
         frame_begins_with_any(name, library_names_d, COUNT(library_names_d))) ||
        frame_is_any(name, length, library_functions, COUNT(library_functions)) ||
        frame_is_any(name, length, wrapper_functions, COUNT(wrapper_functions)) ||
        frame_is_token(name, length, "library_") || frame_is_token(module, strlen(module), "library_") ||
        frame_begins_with_any(module, library_modules, COUNT(library_modules)))
        return FRAME_LIBRARY;
    return frame_has_any(f->file, library_files, COUNT(library_files)) ? FRAME_LIBRARY : FRAME_OWN;
}

const char *frame_spell_place(char text[FRAME_PLACE_MAX], const char *module, uint64_t address)
{
    snprintf(text, FRAME_PLACE_MAX, "%s%s0x%llx", frame_basename(module), module[0] == '\0' ? "" : "+",
             (unsigned long long)address);
    return text;
}

size_t frame_skip_noise(const char *text, size_t length)
{
    static const char *const noise[] = {"(anonymous namespace)::", "__cxx11::", "{anonymous}::"};
    for (size_t i = 0; i < COUNT(noise); i++) {
        size_t n = strlen(noise[i]);
        if (length > n && memcmp(text, noise[i], n) == 0)
            return n;
    }
    return 0;
}

/* Bytes of the template arguments that name begins with, up to behind the > that closes them. */
static size_t frame_skip_template(const char *name, size_t length)
{
    size_t depth = 0, i = 0, sign;
    for (; i < length; i++) {
        if ((sign = frame_skip_sign_of(name, i)) != 0)
            i += sign - 1;
        else if (name[i] == '<')
            depth++;
        else if (name[i] == '>' && name[i - 1] != '-' && --depth == 0)
            return i + 1;
    }
    return length;
}

/* Does a name read like this, with or without the brackets, once what pages leave out is left out: the arguments of its
 * templates and of functions around it, and noise? */
static bool frame_reads(const char *name, size_t length, const char *wanted, size_t want)
{
    size_t at = 0;
    for (size_t i = 0, same; i < length; i += same, at += same) {
        bool is_part = i == 0 || name[i - 1] == ':';
        size_t left = length - i, sign = is_part ? frame_skip_operator(name + i) : 0;
        size_t arguments = i > 0 && name[i] == '(' ? frame_skip_arguments(name, i) : 0;
        size_t noise = is_part ? frame_skip_noise(name + i, left) : 0;
        same = 0;
        if (left > 2 && memcmp(name + i, "::<", 3) == 0) { /* Rust's functions */
            i += 2 + frame_skip_template(name + i + 2, left - 2);
            at += want - at >= 4 && memcmp(wanted + at, "::<>", 4) == 0 ? 4 : 0;
        } else if (sign == 0 && name[i] == '<') {
            i += frame_skip_template(name + i, left);
            at += want - at >= 2 && memcmp(wanted + at, "<>", 2) == 0 ? 2 : 0;
        } else if (arguments != 0 && arguments < left) {
            i += arguments;
        } else if (noise != 0 && (want - at < noise || memcmp(wanted + at, name + i, noise) != 0)) {
            i += noise;
        } else {
            same = sign == 0 ? 1 : sign < left ? sign : left;
            if (want - at < same || memcmp(wanted + at, name + i, same) != 0)
                return false;
        }
    }
    return at == want;
}

/* Is it the whole name, or are these its last parts? */
static bool frame_ends(const char *name, size_t length, const char *wanted, size_t want)
{
    for (size_t i = 0, sign; i < length;) {
        bool is_part = i == 0 || (i >= 2 && memcmp(name + i - 2, "::", 2) == 0);
        bool is_end = length - i == want && memcmp(name + i, wanted, want) == 0;
        if (is_part && (is_end || frame_reads(name + i, length - i, wanted, want)))
            return true;
        sign = is_part ? frame_skip_operator(name + i) : 0;
        i += sign != 0 ? sign : name[i] == '<' ? frame_skip_template(name + i, length - i) : 1;
    }
    return false;
}

/* A method of Rust: as <a::T as Trait>::f, or as a::T::f. */
static bool frame_is_method(const char *name, size_t length, const char *wanted, size_t want)
{
    struct frame_self self, other;
    size_t used = frame_split_self(name, length, &self), asked = frame_split_self(wanted, want, &other);
    if (used == 0)
        return false;
    if (asked != 0)
        return frame_reads(name + used, length - used, wanted + asked, want - asked) &&
               frame_ends(self.type, self.type_length, other.type, other.type_length) &&
               (self.trait == NULL) == (other.trait == NULL) &&
               (self.trait == NULL ||
                frame_ends(self.trait, self.trait_length, other.trait, other.trait_length));
    for (size_t i = 1; i + 2 < want; i++) {
        if (memcmp(wanted + i, "::", 2) == 0 &&
            frame_reads(name + used, length - used, wanted + i, want - i) &&
            frame_ends(self.type, self.type_length, wanted, i))
            return true;
    }
    return false;
}

bool frame_is_called(const struct frame *f, const char *wanted)
{
    size_t length, want = strlen(wanted);
    char place[FRAME_PLACE_MAX];
    if (want == 0)
        return false;
    if (f->function[0] == '\0')
        return strcmp(frame_spell_place(place, f->module, f->address), wanted) == 0;
    if (strcmp(f->function, wanted) == 0 || strcmp(f->linkage, wanted) == 0)
        return true;
    const char *name = frame_find_name(f->function, &length);
    return frame_ends(name, length, wanted, want) || frame_is_method(name, length, wanted, want);
}
