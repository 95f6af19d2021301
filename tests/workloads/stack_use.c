/* Prints how many bytes of stack each of some calls uses below its caller. Runs
 * on a thread whose stack is painted before each call. The first call of the
 * thread makes glibc set up an arena, which takes more than our own code ever
 * does; every call comes from a place never seen before, so that our slow way
 * (unwind data read and compiled) is part of each.
 * build: -Wl,-z,now */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { STACK = 512 * 1024, PAINT = 0xa5 };

static unsigned char *stack_base;
static size_t worst[64];
static unsigned rounds_done;
static void *volatile kept;

/* The lowest byte below `from` that is no longer painted. */
static __attribute__((noinline)) void measure(const unsigned char *from)
{
    const unsigned char *at = stack_base;
    while (at < from && *at == PAINT)
        at++;
    size_t used = (size_t)(from - at);
    worst[rounds_done++] = used;
}

#define ROUND(call)                                              \
    do {                                                         \
        unsigned char *here;                                     \
        __asm__ volatile("mov %%rsp, %0" : "=r"(here));          \
        for (unsigned char *p = stack_base; p < here - 128; p++) \
            *(volatile unsigned char *)p = PAINT;                \
        call;                                                    \
        measure(here);                                           \
    } while (0)

static __attribute__((noinline)) void rounds(void)
{
    ROUND(kept = malloc(7001));
    ROUND(free(kept));
    for (int i = 0; i < 3; i++)
        ROUND(kept = malloc(7013));
    ROUND(kept = realloc(kept, 7019));
    ROUND(kept = calloc(7, 1009));
    ROUND(free(kept));
}

static void *run(void *unused)
{
    (void)unused;
    rounds();
    return NULL;
}

int main(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    stack_base = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(stack_base, PAINT, STACK);
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stack_base, STACK);
    pthread_create(&thread, &attributes, run, NULL);
    pthread_join(thread, NULL);
    for (unsigned i = 0; i < rounds_done; i++)
        printf("%zu%c", worst[i], i + 1 < rounds_done ? ' ' : '\n');
    return 0;
}
