/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * spool: where no collector can be had, the segment is a plain file.
 *
 * It is named like the recording would be, with ".spool" behind it, and every
 * heapwake command reads it. Its blocks are reserved on the disk before they
 * are mapped: a full disk ends the recording, it does not raise SIGBUS. Nobody
 * gives chunks back, so the file grows by a window at a time, found again by
 * its absolute path, since no descriptor is kept. Nobody moves the clock
 * either, so every event carries its stamp.
 *
 * Nobody reads it while it is written, so it carries checksums (wire/seal.h): a chunk gets its own when the next is
 * begun, and the end of the process seals the rest. An event that comes after that breaks the seal of the whole.
 */
#include "probe/create.h"
#include "probe/environment.h"
#include "probe/lane.h"
#include "probe/life.h"
#include "probe/memory.h"
#include "wire/seal.h"

#include <fcntl.h>
#include <sys/stat.h>

enum { SPOOL_PATH_MAX = 4096 };

static char spool_path[SPOOL_PATH_MAX];
static dev_t spool_device; /* of the file that is mapped: another may have taken its name */
static ino_t spool_inode;

struct spool_text {
    char *at, *end;
};

static void spool_put(struct spool_text *t, const char *text, size_t length)
{
    for (size_t i = 0; i < length && t->at + 1 < t->end; i++)
        *t->at++ = text[i];
}

static void spool_put_string(struct spool_text *t, const char *text)
{
    spool_put(t, text, memory_string_length(text));
}

static void spool_put_number(struct spool_text *t, uint64_t n)
{
    char digits[20];
    unsigned i = sizeof digits;
    do {
        digits[--i] = (char)('0' + n % 10);
        n /= 10;
    } while (n != 0);
    spool_put(t, digits + i, sizeof digits - i);
}

static void spool_put_program(struct spool_text *t)
{
    const char *exe = environment_exe(), *base = exe;
    for (; *exe != '\0'; exe++) {
        if (*exe == '/')
            base = exe + 1;
    }
    spool_put_string(t, base);
}

static void spool_put_pattern(struct spool_text *t, const char *pattern)
{
    for (; *pattern != '\0'; pattern++) {
        if (*pattern != '%') {
            spool_put(t, pattern, 1);
            continue;
        }
        int64_t now[2] = {0, 0};
        switch (*++pattern) {
        case 'e':
            spool_put_program(t);
            break;
        case 'p':
            spool_put_number(t, life.pid);
            break;
        case 't':
            sys_clock_gettime(0, now);
            spool_put_number(t, (uint64_t)now[0]);
            break;
        case 'n':
            spool_put_number(t, 0);
            break;
        case 'r': /* that is for the collector to find out; the pid tells files apart too */
            spool_put_number(t, life.pid);
            break;
        case '%':
            spool_put(t, "%", 1);
            break;
        case '\0':
            return;
        default:
            break;
        }
    }
}

/* The absolute path; false when there is no working directory or no room. */
static bool spool_name(bool forked)
{
    struct spool_text t = {spool_path, spool_path + sizeof spool_path};
    const char *pattern = environment_find("HEAPWAKE_OUTPUT");
    if (pattern == NULL || *pattern == '\0')
        pattern = "%e.%p.wake";
    if (*pattern != '/') {
        long length = SYS_CALL(SYS_getcwd, spool_path, sizeof spool_path - 1, 0, 0, 0, 0);
        if (sys_failed(length) || length < 2 || spool_path[0] != '/')
            return false;
        t.at += length - 1;
        spool_put(&t, "/", 1);
    }
    spool_put_pattern(&t, pattern);
    if (forked) { /* one file a process, whatever the pattern */
        spool_put(&t, ".", 1);
        spool_put_number(&t, life.pid);
    }
    spool_put_string(&t, ".spool");
    *t.at = '\0';
    return t.at + 1 < t.end;
}

static uint64_t spool_size(uint32_t chunks)
{
    return CREATE_CHUNKS_AT + (uint64_t)chunks * SEGMENT_CHUNK_SIZE;
}

bool spool_open(bool forked)
{
    uint32_t chunks = create_chunks();
    uint32_t first = chunks < SHARE_WINDOW_CHUNKS ? chunks : SHARE_WINDOW_CHUNKS;
    if (chunks < CREATE_CHUNKS_MIN || !spool_name(forked))
        return false;
    long fd = sys_open(spool_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (sys_failed(fd))
        return false;
    bool has_room = !sys_failed(sys_fallocate((int)fd, 0, 0, spool_size(first)));
    if (!has_room && share.pool != 0 && share.pool < first) {
        chunks = share.pool;
        has_room = !sys_failed(sys_fallocate((int)fd, 0, 0, spool_size(chunks)));
    }
    bool is_open = has_room && create_map((int)fd, chunks, forked);
    struct stat st;
    if (is_open && !sys_failed(sys_fstat((int)fd, &st))) {
        spool_device = st.st_dev;
        spool_inode = st.st_ino;
    }
    sys_close((int)fd);
    if (is_open) {
        share.head->collector = SEGMENT_SPOOL;
        life.many = 1;
    } else {
        SYS_CALL(SYS_unlink, spool_path, 0, 0, 0, 0, 0);
    }
    return is_open;
}

bool spool_grow(uint32_t chunks)
{
    long fd = sys_open(spool_path, O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0);
    if (sys_failed(fd))
        return false;
    struct stat st;
    bool is_ours =
        !sys_failed(sys_fstat((int)fd, &st)) && st.st_dev == spool_device && st.st_ino == spool_inode;
    bool is_done = is_ours && !sys_failed(sys_fallocate((int)fd, 0, 0, spool_size(chunks)));
    sys_close((int)fd);
    return is_done;
}

static bool spool_is_one(const struct segment_head *head)
{
    return head != NULL && head->collector == SEGMENT_SPOOL && *lane_fork_word != 0;
}

static uint32_t spool_sum(const struct segment_head *head)
{
    uint32_t lanes = head->lane_count < head->lane_max ? head->lane_count : head->lane_max;
    return seal_head(head, share.lanes, lanes, share.next, head->fresh);
}

void spool_seal(void)
{
    struct segment_head *head = share.head;
    if (!spool_is_one(head) || life.state != LIFE_ON)
        return;
    lane_seal();
    __atomic_store_n(&head->seal, spool_sum(head), __ATOMIC_RELEASE);
    if (*lane_fork_word == 1 || spool_sum(head) != head->seal) /* another thread was at it meanwhile */
        __atomic_store_n(&head->seal, 0, __ATOMIC_RELEASE);
}

void spool_unseal(void)
{
    struct segment_head *head = share.head;
    if (!spool_is_one(head) || (head->seal == 0 && *lane_fork_word != 3))
        return;
    __atomic_store_n(&head->seal, 0, __ATOMIC_RELEASE);
    lane_unseal();
}
