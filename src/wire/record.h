/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * record: what lanes are made of.  64-bit words; the low byte of the first
 * word (w0) is the opcode and is never zero.  Bits are counted from 0.
 *
 * The two hot records
 *
 *   ALLOC  op = 0x80 | STAMPED? | kind
 *          w0  [0:7] op  [8:31] size  [32:63] stack
 *          w1  [0:47] address  [48:63] usable size - size
 *          w2  stamp                  only with RECORD_STAMPED
 *          w3  the old address        only kind KIND_REALLOC
 *
 *   FREE   op = 0x40 | STAMPED? | how
 *          w0  [0:7] op  [8:15] zero  [16:63] address
 *          w1  stamp                  only with RECORD_STAMPED
 *
 * The usable size, here and in ALLOC_LONG, is what the allocator gave.  Where segment_head.has_arenas is set
 * it is a multiple of 8, or RECORD_OTHER_ARENA more when the block lies in an arena other than glibc's main one;
 * unless it is the size itself, which stands for a usable size that is not known.
 *
 * An unstamped event happened at the lane's latest stamp, or after it.  A
 * lane is unstamped only while the process has one thread.
 *
 * realloc is FREE with HOW_REALLOC before the real call ("release"), then
 * exactly one of: ALLOC/ALLOC_LONG with kind KIND_REALLOC naming the old
 * address, REALLOC_FAILED (the old block lives on), REALLOC_FREED (size 0
 * freed it).  Other records may stand in between; the old address is the key.
 * realloc(NULL, n) is a plain ALLOC of kind KIND_MALLOC.
 *
 * The others
 *
 *   CHUNK           w0 [32:63] lane            first word of every chunk
 *   LINK            w0 [32:63] next chunk      last record of a full chunk
 *   STAMP           w1 stamp
 *   THREAD          w0 [32:63] tid  w1 thread number (1, 2, ... in the process)
 *                   w2 w3 name, NUL-padded  w4 stamp
 *   NAME            w0 [32:63] tid  w1 w2 new name of that thread
 *   STACK           w0 [8:15] enum record_cut  [32:63] id
 *                   w1 [0:31] frames that follow  [32:63] frames left out in the middle
 *                   w2 generation of the module table
 *   FRAMES          w0 [32:63] count  then count addresses, innermost first;
 *                   belongs to the lane's latest STACK; repeated until all are there.
 *                   Bit 63 of an address: it is the very instruction (a signal
 *                   interrupted it), not a return address.
 *   MODULE          w0 [8:15] build id length  [16:31] path length  [32:63] words in all
 *                   w1 start  w2 end  w3 bias  w4 generation from which it holds
 *                   then build id, then path, zero-padded to words; the path of code
 *                   that was made at run time is RECORD_MODULE_JIT
 *   GONE            w1 start  w2 end  w3 generation from which no module is there
 *   ALLOC_LONG      w0 [8:15] kind  [32:63] stack  w1 address  w2 size  w3 usable
 *                   w4 stamp  w5 old address (0 unless KIND_REALLOC)
 *   FREE_LONG       w0 [8:15] how  w1 address  w2 stamp
 *   REALLOC_FAILED  w1 old address  w2 stamp
 *   REALLOC_FREED   w1 old address  w2 stamp
 *   MMAP            w0 [32:63] stack  w1 address  w2 length
 *                   w3 [0:31] prot [32:63] flags  w4 stamp
 *   MUNMAP          w0 [32:63] stack  w1 address  w2 length  w3 stamp
 *                   (mremap is MUNMAP then MMAP)
 *   BRK             w0 [32:63] stack  w1 old end  w2 new end  w3 stamp
 *   LOST            w0 [8:15] enum record_lost  w1 count
 *   FORK            w0 [8:15] enum record_fork  [32:63] child pid  w1 stamp
 *   EARLY           like ALLOC_LONG without w4 and w5: a block made before the
 *                   probe could record; time is the start
 *   TEXT            w0 [16:31] length in bytes  [32:63] words in all
 *                   w1 number (1, 2, ... in the process)  then the bytes, zero-padded to words
 *   MARK            w0 [8:15] enum record_mark  [32:63] TEXT of its name, 0 = none
 *                   w1 stamp  w2 request that somebody waits for, 0 = nobody
 *   POOL            w0 [32:63] pool (1, 2, ... in the process)
 *                   w1 [0:31] TEXT of its name [32:63] TEXT of its unit
 *   POOL_ALLOC      w0 [32:63] stack  w1 address  w2 size  w3 pool  w4 stamp
 *   POOL_FREE       w0 [32:63] pool  w1 address  w2 stamp
 *   SUPPRESS        w0 [8:15] 1: what this lane allocates from here on does not count, 0: it does
 *                   again; they nest, and end with the lane's next THREAD
 *   FREE_STACK      w0 [8:15] how  [32:63] stack  w1 address  w2 stamp: a FREE with its stack
 */
#ifndef HW_WIRE_RECORD_H
#define HW_WIRE_RECORD_H

#include <stdint.h>

enum {
    RECORD_ALLOC = 0x80,
    RECORD_FREE = 0x40,
    RECORD_STAMPED = 0x20,
    RECORD_KIND_MASK = 0x1f,
};

enum record_op {
    RECORD_END = 0,
    RECORD_CHUNK = 1,
    RECORD_LINK = 2,
    RECORD_STAMP = 3,
    RECORD_THREAD = 4,
    RECORD_NAME = 5,
    RECORD_STACK = 6,
    RECORD_FRAMES = 7,
    RECORD_MODULE = 8,
    RECORD_ALLOC_LONG = 9,
    RECORD_FREE_LONG = 10,
    RECORD_REALLOC_FAILED = 11,
    RECORD_REALLOC_FREED = 12,
    RECORD_MMAP = 13,
    RECORD_MUNMAP = 14,
    RECORD_BRK = 15,
    RECORD_LOST = 16,
    RECORD_FORK = 17,
    RECORD_EARLY = 18,
    RECORD_GONE = 19,
    RECORD_TEXT = 20,
    RECORD_MARK = 21,
    RECORD_POOL = 22,
    RECORD_POOL_ALLOC = 23,
    RECORD_POOL_FREE = 24,
    RECORD_FREE_STACK = 25,
    RECORD_SUPPRESS = 26,
    RECORD_OP_COUNT
};

/* Who made a block. */
enum record_kind {
    KIND_MALLOC = 1,
    KIND_CALLOC = 2,
    KIND_REALLOC = 3,
    KIND_MEMALIGN = 4,
    KIND_ALIGNED_ALLOC = 5,
    KIND_POSIX_MEMALIGN = 6,
    KIND_VALLOC = 7,
    KIND_PVALLOC = 8,
    KIND_NEW = 9,
    KIND_NEW_ARRAY = 10,
    KIND_NEW_ALIGNED = 11,
    KIND_NEW_ARRAY_ALIGNED = 12,
    KIND_COUNT
};

/* Who released it. */
enum record_how {
    HOW_FREE = 1,
    HOW_REALLOC = 2,
    HOW_DELETE = 3,
    HOW_DELETE_ARRAY = 4,
    HOW_FREE_SIZED = 5,
    HOW_IGNORE = 6, /* nobody: the program has asked not to count it any more */
    HOW_COUNT
};

/* What a FORK tells of the child. */
enum record_fork {
    FORK_CHILD = 0,   /* it runs the same program */
    FORK_PROGRAM = 1, /* it is on its way into another */
    FORK_FOREIGN = 2, /* into one that cannot be recorded */
    FORK_BACK = 3,    /* its exec has failed: what was told last is not so */
};

/* What a MARK is for. */
enum record_mark {
    MARK_TAG = 1,    /* a name for the moment */
    MARK_REPORT = 2, /* and a report of what has changed since the last */
    MARK_FLUSH = 3,  /* no mark: everything up to here is to be in the file */
    MARK_ON = 4,     /* the program has switched recording on; nameless, as the next */
    MARK_OFF = 5,
    MARK_END = 6,  /* no mark: the process ends here, and waits until that is in a file that cannot be lost */
    MARK_DEEP = 7, /* no mark: a library is asked for with RTLD_DEEPBIND */
    MARK_COUNT
};

/* Why a stack is not complete. */
enum record_cut {
    CUT_NOT = 0,
    CUT_NO_CFI = 1,     /* code without unwind data (JIT, hand-written assembly) */
    CUT_UNREADABLE = 2, /* the next frame lies outside readable stack memory */
    CUT_BAD_CFI = 3,    /* the unwind data makes no sense */
    CUT_DEPTH = 4,      /* deeper than the walker goes */
    CUT_EARLY = 5,      /* made before the probe could walk */
    CUT_COUNT
};

/* Why events were lost. */
enum record_lost {
    LOST_NESTED = 1,    /* a handler inside a handler inside our own code */
    LOST_COLLECTOR = 2, /* the collector died or closed */
    LOST_MEMORY = 3,    /* the system gave us no memory */
    LOST_SANDBOX = 4,   /* a system call we needed is not to be made here */
    LOST_COUNT
};

#define RECORD_FRAME_EXACT (UINT64_C(1) << 63)

/* In a usable size: where glibc has it in the word before a block, so that it costs the probe nothing. */
#define RECORD_OTHER_ARENA UINT64_C(4)

/* Stands for code in no file, for which the program itself has announced unwind tables. */
#define RECORD_MODULE_JIT "[jit]"

enum {
    RECORD_SIZE_BITS = 24,
    RECORD_SLACK_BITS = 16,
    RECORD_ADDRESS_BITS = 48,
    RECORD_MODULE_WORDS_MAX = 5 + (255 + 4096) / 8 + 2,
    RECORD_FRAMES_MAX = 256, /* addresses in one FRAMES record */
    RECORD_TEXT_MAX = 256,   /* bytes of a TEXT */
    RECORD_TEXT_WORDS_MAX = 2 + RECORD_TEXT_MAX / 8,
};

/* How many words the record takes whose first word this is; 0 = none, or nonsense. */
static inline unsigned record_words(uint64_t first)
{
    static const uint8_t fixed[RECORD_OP_COUNT] = {
        [RECORD_CHUNK] = 1,     [RECORD_LINK] = 1,
        [RECORD_STAMP] = 2,     [RECORD_THREAD] = 5,
        [RECORD_NAME] = 3,      [RECORD_STACK] = 3,
        [RECORD_MMAP] = 5,      [RECORD_ALLOC_LONG] = 6,
        [RECORD_FREE_LONG] = 3, [RECORD_REALLOC_FAILED] = 3,
        [RECORD_MUNMAP] = 4,    [RECORD_REALLOC_FREED] = 3,
        [RECORD_BRK] = 4,       [RECORD_LOST] = 2,
        [RECORD_FORK] = 2,      [RECORD_EARLY] = 4,
        [RECORD_GONE] = 4,      [RECORD_MARK] = 3,
        [RECORD_POOL] = 2,      [RECORD_POOL_ALLOC] = 5,
        [RECORD_POOL_FREE] = 3, [RECORD_FREE_STACK] = 3,
        [RECORD_SUPPRESS] = 1,
    };
    unsigned op = (unsigned)(first & 0xff), stamp = (op & RECORD_STAMPED) != 0;
    if ((op & RECORD_ALLOC) != 0)
        return 2 + stamp + ((op & RECORD_KIND_MASK) == KIND_REALLOC);
    if ((op & RECORD_FREE) != 0)
        return 1 + stamp;
    if (op == RECORD_FRAMES)
        return (first >> 32) <= 256 ? 1 + (unsigned)(first >> 32) : 0;
    if (op == RECORD_MODULE)
        return (first >> 32) <= 1024 ? (unsigned)(first >> 32) : 0;
    if (op == RECORD_TEXT)
        return (first >> 32) <= RECORD_TEXT_WORDS_MAX ? (unsigned)(first >> 32) : 0;
    return op < RECORD_OP_COUNT ? fixed[op] : 0;
}

#endif
