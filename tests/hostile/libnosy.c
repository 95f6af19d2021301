/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * libnosy: another preloaded library, which looks at calls of the program and
 * allocates while it does, under a lock of its own.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *volatile seen;

static void look(void)
{
    pthread_mutex_lock(&lock);
    free(seen);
    seen = malloc(33);
    pthread_mutex_unlock(&lock);
}

ssize_t write(int fd, const void *bytes, size_t size)
{
    ssize_t (*real)(int, const void *, size_t) =
        (ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
    look();
    return real(fd, bytes, size);
}

int close(int fd)
{
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "close");
    look();
    return real(fd);
}

pid_t fork(void)
{
    pid_t (*real)(void) = (pid_t(*)(void))dlsym(RTLD_NEXT, "fork");
    look();
    return real();
}

__attribute__((constructor)) static void begin(void)
{
    look();
}
