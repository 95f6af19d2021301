/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * heapwake.h: what a program can tell heapwake about itself, from C and C++.
 *
 *     #include <heapwake.h>
 *
 *     HEAPWAKE_TAG("loaded");
 *     HEAPWAKE_REPORT("after the first request");
 *
 * All of it is optional, and nothing is linked: the functions are weak symbols
 * that are there when the program runs under heapwake (`heapwake record`,
 * LD_PRELOAD, or linked with -lheapwake) and are not there otherwise. A macro
 * then costs one test. They can also be found with dlsym(RTLD_DEFAULT, "...").
 *
 * Every function may be called in any thread, keeps errno, and takes no lock. All
 * but the three that wait (snapshot, report, flush) may be called in a signal
 * handler. Names longer than 255 bytes are cut. A NULL name is an empty one.
 *
 * Position-independent code is needed, which compilers make by default (not
 * with -no-pie or -static, unless libheapwake is linked): the address of
 * something that is not there is to be 0.
 */
#ifndef HEAPWAKE_H
#define HEAPWAKE_H

#include <stddef.h>

#ifndef HEAPWAKE_API
#define HEAPWAKE_API __attribute__((weak))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------ switching */

/* Recording, for the whole process. While it is off, allocations are not
 * recorded; that a block is released which was recorded is known all the same. */
HEAPWAKE_API void heapwake_enable(void);
HEAPWAKE_API void heapwake_disable(void);
HEAPWAKE_API int heapwake_is_enabled(void);

/* -------------------------------------------------------------------- moments */

/* Names this moment: `heapwake report --at NAME`, `--since NAME`, `--until NAME`. */
HEAPWAKE_API void heapwake_tag(const char *name);

/* The same, and waits until everything up to here is in the recording's file.
 * 0, or -1: nobody is recording. */
HEAPWAKE_API int heapwake_snapshot(const char *name);

/* The same as a tag, and writes what has changed since the last report, bytes by
 * stack, as PROGRAM-PID-SEQUENCE.memlog and .json beside the recording. Waits
 * until they are written. 0, or -1: nobody is recording. */
HEAPWAKE_API int heapwake_report(const char *name);

/* Waits until everything up to here is in the recording's file. 0 or -1. */
HEAPWAKE_API int heapwake_flush(void);

/* ------------------------------------------------------------ threads, blocks */

/* What the calling thread is called in reports; the system is not told. At most 15 bytes. */
HEAPWAKE_API void heapwake_thread_name(const char *name);

/* From now on this block does not count: it is no leak, and no part of what is live. */
HEAPWAKE_API void heapwake_ignore(const void *block);

/* What the calling thread allocates between the two is not recorded, nor what a child does that it forks there. They nest. */
HEAPWAKE_API void heapwake_suppress_begin(void);
HEAPWAKE_API void heapwake_suppress_end(void);

/* ---------------------------------------------------------------------- pools
 *
 * Blocks of the program's own allocators, and other resources. A pool has an
 * account of its own: its blocks are not added to the heap, so what is carved
 * out of a malloc block is not counted twice. */

/* The pool of this name (of its first 63 bytes), made at the first call. unit: what sizes are
 * counted in, "bytes" if NULL. At most 256 pools. 0: one more, or nobody is recording; the functions
 * below take it and do nothing. */
HEAPWAKE_API unsigned heapwake_pool(const char *name, const char *unit);

/* block: whatever tells blocks of the pool apart (an address, a number that was made a pointer),
 * below 2^48. One that is live already is released first: who empties a pool need not tell of each. */
HEAPWAKE_API void heapwake_report_alloc(unsigned pool, const void *block, size_t size);
HEAPWAKE_API void heapwake_report_free(unsigned pool, const void *block);
/* old may be NULL, and may be equal to block. */
HEAPWAKE_API void heapwake_report_realloc(unsigned pool, const void *old, const void *block, size_t size);

#ifdef __cplusplus
}
#endif

#define HEAPWAKE_CALL_(name, arguments) ((void)(name != NULL && ((void)name arguments, 1)))
#define HEAPWAKE_ASK_(name, arguments, otherwise) (name != NULL ? name arguments : (otherwise))

#define HEAPWAKE_ENABLE() HEAPWAKE_CALL_(heapwake_enable, ())
#define HEAPWAKE_DISABLE() HEAPWAKE_CALL_(heapwake_disable, ())
#define HEAPWAKE_IS_ENABLED() HEAPWAKE_ASK_(heapwake_is_enabled, (), 0)
#define HEAPWAKE_TAG(name) HEAPWAKE_CALL_(heapwake_tag, (name))
#define HEAPWAKE_SNAPSHOT(name) HEAPWAKE_ASK_(heapwake_snapshot, (name), -1)
#define HEAPWAKE_REPORT(name) HEAPWAKE_ASK_(heapwake_report, (name), -1)
#define HEAPWAKE_FLUSH() HEAPWAKE_ASK_(heapwake_flush, (), -1)
#define HEAPWAKE_THREAD_NAME(name) HEAPWAKE_CALL_(heapwake_thread_name, (name))
#define HEAPWAKE_IGNORE(block) HEAPWAKE_CALL_(heapwake_ignore, (block))
#define HEAPWAKE_SUPPRESS_BEGIN() HEAPWAKE_CALL_(heapwake_suppress_begin, ())
#define HEAPWAKE_SUPPRESS_END() HEAPWAKE_CALL_(heapwake_suppress_end, ())
#define HEAPWAKE_POOL(name, unit) HEAPWAKE_ASK_(heapwake_pool, (name, unit), 0u)
#define HEAPWAKE_REPORT_ALLOC(pool, block, size) HEAPWAKE_CALL_(heapwake_report_alloc, (pool, block, size))
#define HEAPWAKE_REPORT_FREE(pool, block) HEAPWAKE_CALL_(heapwake_report_free, (pool, block))
#define HEAPWAKE_REPORT_REALLOC(pool, old, block, size) \
    HEAPWAKE_CALL_(heapwake_report_realloc, (pool, old, block, size))

#ifdef __cplusplus
namespace heapwake
{

/* While it lives, allocations of this thread are not recorded. */
class suppress
{
  public:
    suppress()
    {
        HEAPWAKE_SUPPRESS_BEGIN();
    }
    ~suppress()
    {
        HEAPWAKE_SUPPRESS_END();
    }
    suppress(const suppress &) = delete;
    suppress &operator=(const suppress &) = delete;
};

} // namespace heapwake
#endif

#endif
