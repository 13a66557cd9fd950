/* Preloaded into a program: makes the n-th allocation after the start of main fail, alone or
 * with all later ones.
 *
 * TIDE_ALLOC_FAIL=N: the N-th allocation returns NULL (errno ENOMEM). TIDE_ALLOC_STICKY=1: all
 * later ones fail too. TIDE_ALLOC_COUNT=FILE: the number of allocations is written to FILE at
 * exit.
 *
 * The library calls glibc's internal allocator by name. Do not preload it into a build with
 * sanitizers, which has its own allocator. */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): the C library's are reserved */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

static atomic_ulong passed;
static unsigned long wanted;
static bool sticky;
static atomic_bool armed;

__attribute__((constructor)) static void arm(void)
{
    const char *n = getenv("TIDE_ALLOC_FAIL");
    wanted = n ? strtoul(n, NULL, 10) : 0;
    sticky = getenv("TIDE_ALLOC_STICKY") != NULL;
    atomic_store(&armed, true);
}

__attribute__((destructor)) static void report(void)
{
    const char *file = getenv("TIDE_ALLOC_COUNT");
    char line[32];
    int fd = file ? open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644) : -1;
    if (fd < 0)
        return;
    int len = snprintf(line, sizeof line, "%lu\n", atomic_load(&passed));
    ssize_t wrote = write(fd, line, (size_t)len);
    (void)wrote;
    close(fd);
}

static bool fails(void)
{
    if (!atomic_load(&armed))
        return false;
    unsigned long n = atomic_fetch_add(&passed, 1) + 1;
    if (!wanted || n < wanted || (n > wanted && !sticky))
        return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    return fails() ? NULL : __libc_realloc(old, size);
}
/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
