/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Tests of role.
 */
#include "analysis/role.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
static const struct {
    const char *function, *file, *module;
    enum frame_role role;
} cases[] = {
    {"malloc", "", "/bin/app", FRAME_ALLOCATOR},
    {"operator new[](unsigned long)", "", "/usr/lib/libstdc++.so.6", FRAME_ALLOCATOR},
    {"", "", "/usr/lib/libheapwake.so", FRAME_ALLOCATOR},
    {"", "", "/lib/x86_64-linux-gnu/libc.so.6", FRAME_LIBRARY},
    {"std::thread::run()", "", "/bin/app", FRAME_LIBRARY},
    {"void std::vector<int>::push_back(int)", "", "/bin/app", FRAME_LIBRARY},
    {"make_std::thing()", "", "/bin/app", FRAME_OWN},
    {"own<std::string>(std::string)", "/src/own.cc", "/bin/app", FRAME_OWN},
    {"_start", "", "/bin/app", FRAME_LIBRARY},
    {"f", "/usr/include/c++/12/bits/f.h", "/bin/app", FRAME_LIBRARY},
    {"boost::shared_ptr<int>::shared_ptr<int>(int*)", "/usr/include/boost/smart_ptr/shared_ptr.hpp",
     "/bin/app", FRAME_LIBRARY},
    {"__gthread_once", "/usr/include/x86_64-linux-gnu/c++/12/bits/gthr-default.h", "/bin/app", FRAME_LIBRARY},
    {"own::get()", "/src/app/include/own.h", "/bin/app", FRAME_OWN},
    {"serde_json::de::from_str", "/c/registry/src/serde_json/src/de.rs", "/bin/app", FRAME_OWN},
    {"xmalloc", "/src/util.c", "/bin/app", FRAME_LIBRARY},
    {"g_malloc0", "", "/usr/lib/libglib-2.0.so.0", FRAME_LIBRARY},
    {"Perl_safesysmalloc", "", "/usr/bin/perl", FRAME_LIBRARY},
    {"zrealloc_usable", "", "/usr/bin/redis-server", FRAME_LIBRARY},
    {"ngx_memalign", "", "/usr/sbin/nginx", FRAME_LIBRARY},
    {"_PyObject_Malloc", "/src/obmalloc.c", "/usr/bin/python3", FRAME_LIBRARY},
    {"os::malloc(unsigned long, MEMFLAGS)", "", "/usr/lib/libjvm.so", FRAME_LIBRARY},
    {"AllocateHeap(unsigned long, MEMFLAGS, AllocFailStrategy::AllocFailEnum)", "", "/usr/lib/libjvm.so",
     FRAME_LIBRARY},
    {"zcalloc_num", "", "/usr/bin/redis-server", FRAME_LIBRARY},
    {"dbMallocRawFinish", "/src/sqlite3.c", "/usr/lib/libsqlite3.so.0", FRAME_LIBRARY},
    {"av_mallocz", "", "/usr/lib/libavutil.so.57", FRAME_LIBRARY},
    {"AcquireQuantumMemory", "", "/usr/lib/libMagickCore-6.Q16.so.6", FRAME_LIBRARY},
    {"xmalloc_pool_new", "/src/util.c", "/bin/app", FRAME_OWN},
    {"Pool::xmalloc(int)", "/src/util.cc", "/bin/app", FRAME_OWN},
    {"malloc_stats_of_mine", "", "/bin/app", FRAME_OWN},
    {"", "", "/usr/lib/x86_64-linux-gnu/libgfortran.so.5", FRAME_LIBRARY},
    {"", "", "/ve/numpy.libs/libgfortran-040039e1-0352e75f.so.5.0.0", FRAME_LIBRARY},
    {"_gfortrani_xmallocarray", "", "/bin/app", FRAME_LIBRARY},
    {"__gnat_malloc", "", "/usr/lib/x86_64-linux-gnu/libgnat-12.so", FRAME_LIBRARY},
    {"gomp_malloc", "", "/usr/lib/x86_64-linux-gnu/libgomp.so.1", FRAME_LIBRARY},
    {"QArrayData::allocate(unsigned long, unsigned long, unsigned long, "
     "QFlags<QArrayData::AllocationOption>)",
     "", "/usr/lib/x86_64-linux-gnu/libQt5Core.so.5", FRAME_LIBRARY},
    {"QByteArray::QByteArray(int, char)", "", "/usr/lib/x86_64-linux-gnu/libQt5Core.so.5", FRAME_OWN},
    {"core.internal.container.common.xmalloc(ulong)", "", "/bin/app", FRAME_OWN},
    {"alloc::alloc::alloc", "/rustc/1/library/alloc/src/alloc.rs", "/bin/app", FRAME_ALLOCATOR},
    {"alloc::alloc::Global::alloc_impl", "", "/bin/app", FRAME_ALLOCATOR},
    {"<alloc::alloc::Global as core::alloc::Allocator>::allocate", "", "/bin/app", FRAME_ALLOCATOR},
    {"alloc::raw_vec::finish_grow", "", "/bin/app", FRAME_LIBRARY},
    {"gimli::read::abbrev::Abbreviations::insert", "/rust/deps/gimli-0.32.3/src/read/abbrev.rs", "/bin/app",
     FRAME_LIBRARY},
    {"gimli::read::abbrev::Attributes::push", "", "/bin/app", FRAME_LIBRARY},
    {"gimli::read::abbrev::Attributes::push", "/src/gimli/src/read/abbrev.rs", "/bin/app", FRAME_OWN},
    {"<gimli::read::abbrev::Attributes>::push", "", "/bin/app", FRAME_LIBRARY},
    {"<own::T as gimli::Reader>::read", "", "/bin/app", FRAME_OWN},
    {"mine::f", "/src/rust/deps/mine/src/lib.rs", "/bin/app", FRAME_OWN},
    {"__rust_try", "", "/bin/app", FRAME_LIBRARY},
    {"<i32 as core::fmt::Display>::fmt", "", "/bin/app", FRAME_LIBRARY},
    {"<&mut [own::T] as core::fmt::Debug>::fmt", "", "/bin/app", FRAME_LIBRARY},
    {"<alloc::vec::Vec<own::T> as core::clone::Clone>::clone", "", "/bin/app", FRAME_LIBRARY},
    {"<alloc::vec::Vec<u8>>::reserve", "", "/bin/app", FRAME_LIBRARY},
    {"<fn() -> own::T as core::ops::function::FnOnce<()>>::call_once", "", "/bin/app", FRAME_LIBRARY},
    {"<alloc::vec::Vec<u32> as own::Frob>::frob", "/src/own.rs", "/bin/app", FRAME_OWN},
    {"<own::T as core::ops::drop::Drop>::drop", "/src/own.rs", "/bin/app", FRAME_OWN},
    {"<own::T<alloc::string::String>>::new", "/src/own.rs", "/bin/app", FRAME_OWN},
    {"<T as own::Frob>::frob", "", "/bin/app", FRAME_OWN},
    {"<own", "", "/bin/app", FRAME_OWN},
    {"<lambda(int)>::operator()", "/src/own.cc", "/bin/app", FRAME_OWN},
    {"", "", "/bin/app", FRAME_OWN},
    /* Valgrind's: names of inlined functions are not qualified, and files have no folder. */
    {"allocate", "new_allocator.h", "/bin/app", FRAME_LIBRARY},
    {"_M_get_node", "stl_tree.h", "/bin/app", FRAME_LIBRARY},
    {"push_back", "vector.tcc", "/bin/app", FRAME_LIBRARY},
    {"make_unique<Order>", "unique_ptr.h", "/bin/app", FRAME_LIBRARY},
    {"allocate", "string", "/bin/app", FRAME_LIBRARY},
    {"add_order", "orders.cc", "/bin/app", FRAME_OWN},
    {"add_order", "vector.cc", "/bin/app", FRAME_OWN},
    {"add_order", "alloc.h", "/bin/app", FRAME_OWN},
    {"allocate", "/src/own/new_allocator.h", "/bin/app", FRAME_OWN},
    {"allocate", "own/stl_pool.h", "/bin/app", FRAME_OWN},
    {"_start_up", "<frozen importlib>", "", FRAME_OWN},
};

static void roles_are_known(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct frame f = {cases[i].function, "", cases[i].file, cases[i].module, 0, 0, 0, false, 0, false};
        assert_int_equal(role_find(&f), cases[i].role);
    }
    struct frame of_d = {
        "core.internal.container.common.xmalloc(ulong)", "_D4core", "", "/bin/app", 0, 0, 0, false, 0, false};
    assert_int_equal(role_find(&of_d), FRAME_LIBRARY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(roles_are_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
