/* Preloaded into tidemark-api: one thread of libmicrohttpd stalls once the file TIDE_STALL_FILE
 * exists.
 *
 *   TIDE_STALL=spin   a call of MHD_run does not return, and uses the processor
 *   TIDE_STALL=sleep  a call of MHD_run does not return
 *   TIDE_STALL=turn   MHD_run does nothing from then on, and its socket of events stays ready
 *   TIDE_STALL=free   as spin, until the thread's connections are cut
 *   TIDE_STALL=keep   MHD_run does nothing from then on, and there seems to be nothing to do
 *
 * The first thread that calls MHD_run after that stalls; the others go on. */
#include <dlfcn.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static atomic_bool taken, was_cut;
static _Thread_local bool mine;

static bool is_kind(const char *kind)
{
    const char *wanted = getenv("TIDE_STALL");
    return wanted && strcmp(wanted, kind) == 0;
}

static bool is_taken(void)
{
    const char *file = getenv("TIDE_STALL_FILE");
    if (!mine && file && access(file, F_OK) == 0)
        mine = !atomic_exchange(&taken, true);
    return mine;
}

int MHD_run(void *daemon)
{
    static int (*real)(void *);
    if (!real)
        real = (int (*)(void *))dlsym(RTLD_NEXT, "MHD_run");
    if (is_taken()) {
        while (is_kind("spin") || (is_kind("free") && !atomic_load(&was_cut)))
            continue;
        while (is_kind("sleep"))
            pause();
        if (is_kind("turn") || is_kind("keep"))
            return 1;
    }
    return real(daemon);
}

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): libc's names are reserved */
int poll(struct pollfd *fds, nfds_t count, int ms)
{
    static int (*real)(struct pollfd *, nfds_t, int);
    if (!real)
        real = (int (*)(struct pollfd *, nfds_t, int))dlsym(RTLD_NEXT, "poll");
    if (mine && is_kind("keep"))
        return real(fds + 1, count - 1, ms);
    if (!mine || !is_kind("turn"))
        return real(fds, count, ms);
    int ready = real(fds + 1, count - 1, 0);
    fds[0].revents = POLLIN;
    return ready + 1;
}

int shutdown(int fd, int how)
{
    static int (*real)(int, int);
    if (!real)
        real = (int (*)(int, int))dlsym(RTLD_NEXT, "shutdown");
    if (atomic_load(&taken) && how == SHUT_RDWR)
        atomic_store(&was_cut, true);
    return real(fd, how);
}
