/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Tests of the collector as a whole: processes with a fake probe say hello,
 * write records from several threads and die in various ways; the recording
 * must hold all of it.
 */
#include "collect/collector.h"
#include "collect/fake_segment.h"
#include "store/reader.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <cmocka.h>

enum { THREADS = 3, BLOCKS = 20000, LEAKS = 7 };

enum way { WAY_EXIT, WAY_KILL, WAY_ABORT, WAY_EXEC, WAY_SILENT, WAY_HALF, WAYS };

/* ------------------------------------------------------------- the fake probe */

static void say_hello(const struct listener *l, int segment, bool right_token)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    size_t length = strlen(l->name);
    memcpy(at.sun_path + 1, l->name, length);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (connect(fd, (struct sockaddr *)&at,
                (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length)) != 0)
        _exit(9);
    struct hello h = {.magic = HELLO_MAGIC, .version = SEGMENT_VERSION, .pid = (uint32_t)getpid()};
    h.ppid = (uint32_t)getppid();
    memcpy(h.token, l->token, sizeof h.token);
    h.token[3] ^= right_token ? 0 : 1;
    struct iovec part = {&h, sizeof h};
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {0};
    struct msghdr m = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(c), &segment, sizeof segment);
    if (sendmsg(fd, &m, 0) != sizeof h)
        _exit(9);
    close(fd);
}

static void *write_records(void *of)
{
    struct fake_lane *l = of;
    uint64_t base = 0x100000000 * (l->index + 1);
    fake_put_thread(l, 1000 + l->index, l->index + 1, __builtin_ia32_rdtsc());
    fake_put_stack(l, 10 + l->index, (uint64_t[]){0x401000, 0x402000 + l->index}, 2);
    for (uint64_t i = 0; i < BLOCKS; i++) {
        fake_put_alloc(l, base + i * 16, 1 + i % 100, 10 + l->index, __builtin_ia32_rdtsc());
        if (i >= LEAKS)
            fake_put_free(l, base + i * 16, HOW_FREE, __builtin_ia32_rdtsc());
    }
    return NULL;
}

/* A collector without a program of its own leaves when nobody is left: processes
 * that no fork announces wait until all have said hello. */
static _Atomic int *arrived;
static int expected;

static void wait_for_others(void)
{
    atomic_fetch_add(arrived, 1);
    while (atomic_load(arrived) < expected)
        usleep(100);
}

static void fake_image(const struct listener *l, enum way way)
{
    struct fake_segment s;
    struct fake_lane lanes[THREADS];
    pthread_t threads[THREADS];
    if (!fake_segment_open(&s, 40))
        _exit(8);
    say_hello(l, s.fd, true);
    wait_for_others();
    for (int i = 0; way != WAY_SILENT && i < THREADS; i++) {
        fake_lane_open(&lanes[i], &s);
        pthread_create(&threads[i], NULL, write_records, &lanes[i]);
    }
    for (int i = 0; way != WAY_SILENT && i < THREADS; i++)
        pthread_join(threads[i], NULL);
    switch (way) {
    case WAY_KILL:
        kill(getpid(), SIGKILL);
        break;
    case WAY_ABORT:
        signal(SIGABRT, SIG_DFL);
        abort();
    case WAY_HALF:
        lanes[0].at[1] = 77; /* a record whose first word never came */
        lanes[0].at[2] = 78;
        break;
    default:
        break;
    }
}

static _Noreturn void fake_program(const struct listener *l, enum way way)
{
    fake_image(l, way);
    if (way == WAY_EXEC) /* what an exec looks like from outside: another hello of the same pid */
        fake_image(l, WAY_EXIT);
    _exit(0);
}

/* ------------------------------------------------------------------- the tests */

struct world {
    struct collector collector;
    char name[64];
    char said[512];
};

static void note(void *of, enum level level, const char *sentence)
{
    if (level < LEVEL_WARN)
        return;
    snprintf(((struct world *)of)->said, sizeof((struct world *)of)->said, "%s", sentence);
}

static void world_open(struct world *w, const char *name, int processes)
{
    struct err err;
    if (arrived == NULL)
        arrived = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    atomic_store(arrived, 0);
    expected = processes;
    memset(w, 0, sizeof *w);
    err_init(&err);
    snprintf(w->name, sizeof w->name, "%s", name);
    struct collector_options options = {.output = w->name, .children = true, .say = note, .say_of = w};
    assert_int_equal(collector_open(&w->collector, &options, NULL, &err), 0);
}

static void start(struct world *w, enum way way)
{
    if (fork() == 0)
        fake_program(&w->collector.listener, way);
}

static void finish(struct world *w)
{
    collector_run(&w->collector);
    collector_close(&w->collector);
    output_finish(&w->collector.output, NULL, NULL);
    while (wait(NULL) > 0)
        continue;
}

static void expect_process(const struct wake_process *p, bool silent)
{
    uint64_t blocks = silent ? 0 : THREADS * BLOCKS, leaks = silent ? 0 : THREADS * LEAKS;
    assert_true(p->ended);
    assert_true(p->end.complete);
    assert_int_equal(p->end.allocations, blocks);
    assert_int_equal(p->end.frees, blocks - leaks);
    assert_int_equal(p->end.leaked_blocks, leaks);
    assert_int_equal(p->end.unknown_frees, 0);
    assert_int_equal(p->end.lost_events, 0);
    assert_int_equal(p->events, 2 * blocks - leaks);
    assert_int_equal(p->end.threads, silent ? 0 : THREADS);
}

static void every_way_to_die_loses_nothing(void **state)
{
    (void)state;
    for (int way = 0; way < WAYS; way++) {
        struct world w;
        struct wake_reader *r;
        struct err err;
        err_init(&err);
        world_open(&w, "ways.wake", 1);
        start(&w, way);
        finish(&w);
        assert_int_equal(wake_reader_open(&r, "ways.wake", &err), 0);
        assert_int_equal(wake_reader_process_count(r), way == WAY_EXEC ? 2 : 1);
        expect_process(wake_reader_process(r, 0), way == WAY_SILENT);
        assert_int_equal(wake_reader_process(r, 0)->end.execed, way == WAY_EXEC);
        if (way == WAY_EXEC)
            expect_process(wake_reader_process(r, 1), false);
        wake_reader_close(r);
        collector_release(&w.collector);
        assert_int_equal(access("ways.wake.partial", F_OK), -1);
    }
    unlink("ways.wake");
}

static void many_processes_share_a_file(void **state)
{
    enum { MANY = 12 };
    struct world w;
    struct wake_reader *r;
    (void)state;
    world_open(&w, "many.wake", MANY);
    for (int i = 0; i < MANY; i++)
        start(&w, WAY_EXIT);
    finish(&w);
    assert_int_equal(wake_reader_open(&r, "many.wake", NULL), 0);
    assert_int_equal(wake_reader_process_count(r), MANY);
    for (size_t i = 0; i < MANY; i++)
        expect_process(wake_reader_process(r, i), false);
    wake_reader_close(r);
    collector_release(&w.collector);
    unlink("many.wake");
}

static void each_process_gets_its_own_file(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, "own.%p.wake", 3);
    for (int i = 0; i < 3; i++)
        start(&w, WAY_SILENT);
    finish(&w);
    assert_int_equal(w.collector.output.files.count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(unlink(w.collector.output.files.data[i]->name), 0);
    collector_release(&w.collector);
}

/* Who does not know the token, or hands over something else, is turned away. */
static void strangers_are_turned_away(void **state)
{
    struct world w;
    struct fake_segment s;
    int pipes[2];
    (void)state;
    world_open(&w, "strange.wake", 1);
    assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
    if (fork() == 0) {
        fake_segment_open(&s, 4);
        say_hello(&w.collector.listener, s.fd, false);
        say_hello(&w.collector.listener, pipes[0], true);
        s.head->chunk_max = 1 << 30;
        say_hello(&w.collector.listener, s.fd, true);
        fake_program(&w.collector.listener, WAY_SILENT);
    }
    finish(&w);
    assert_int_equal(w.collector.sums.refused, 3);
    assert_int_equal(w.collector.sums.processes, 1);
    collector_release(&w.collector);
    close(pipes[0]);
    close(pipes[1]);
    unlink("strange.wake");
}

static void an_older_recording_is_replaced_only_by_a_whole_one(void **state)
{
    struct world w;
    (void)state;
    int fd = open("old.wake", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_int_equal(write(fd, "old", 3), 3);
    close(fd);
    world_open(&w, "old.wake", 1);
    start(&w, WAY_EXIT);
    collector_run(&w.collector);
    char text[4] = "";
    fd = open("old.wake", O_RDONLY);
    assert_int_equal(read(fd, text, 3), 3);
    close(fd);
    assert_string_equal(text, "old");
    assert_int_equal(access("old.wake.partial", F_OK), 0);
    finish(&w);
    struct wake_reader *r;
    assert_int_equal(wake_reader_open(&r, "old.wake", NULL), 0);
    wake_reader_close(r);
    collector_release(&w.collector);
    unlink("old.wake");
}

static void a_name_that_makes_no_sense_becomes_the_default(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, "no%where", 1);
    assert_non_null(strstr(w.said, "%w"));
    start(&w, WAY_SILENT);
    finish(&w);
    assert_int_equal(w.collector.output.files.count, 1);
    assert_int_equal(strncmp(w.collector.output.files.data[0]->name, "fake.", 5), 0);
    assert_int_equal(unlink(w.collector.output.files.data[0]->name), 0);
    collector_release(&w.collector);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_way_to_die_loses_nothing),
        cmocka_unit_test(many_processes_share_a_file),
        cmocka_unit_test(each_process_gets_its_own_file),
        cmocka_unit_test(strangers_are_turned_away),
        cmocka_unit_test(an_older_recording_is_replaced_only_by_a_whole_one),
        cmocka_unit_test(a_name_that_makes_no_sense_becomes_the_default),
    };
    char folder[] = "/tmp/heapwake-collector-XXXXXX";
    if (mkdtemp(folder) == NULL || chdir(folder) != 0)
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed + (rmdir(folder) != 0);
}
