/* Preloaded into a program: shifts its wall clock by the number of seconds in the file
 * TIDE_WALL_FILE, e.g. "-3600". The file may change at any time. Clocks that count from the start
 * of the host are not shifted. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): the C library's are reserved */

static long read_shift_s(void)
{
    char text[32] = "";
    const char *file = getenv("TIDE_WALL_FILE");
    int fd = file ? open(file, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return 0;
    ssize_t len = read(fd, text, sizeof text - 1);
    close(fd);
    return len > 0 ? strtol(text, NULL, 10) : 0;
}

int clock_gettime(clockid_t id, struct timespec *out)
{
    static int (*real)(clockid_t, struct timespec *);
    if (!real)
        *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
    int failed = real(id, out);
    if (!failed && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE))
        out->tv_sec += read_shift_s();
    return failed;
}

time_t time(time_t *out)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out)
        *out = now.tv_sec;
    return now.tv_sec;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    *out = (struct timeval){ now.tv_sec, now.tv_nsec / 1000 };
    return 0;
}
/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
