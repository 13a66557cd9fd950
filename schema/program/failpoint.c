#include "tidemark/failpoint.h"

#if TIDE_FAILPOINTS

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static atomic_uint passed;

static void count_passing(const char *name)
{
    const char *file = getenv("TIDE_FP_COUNT");
    if (!file)
        return;
    int fd = open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0)
        return;
    char line[128];
    int len = snprintf(line, sizeof line, "%s\n", name);
    ssize_t wrote = write(fd, line, (size_t)len);
    (void)wrote;
    close(fd);
}

static bool run_action(const char *action)
{
    if (strncmp(action, "kill", 4) == 0)
        kill(getpid(), SIGKILL);
    if (strncmp(action, "sleep:", 6) == 0) {
        long ms = strtol(action + 6, NULL, 10);
        struct timespec t = { ms / 1000, ms % 1000 * 1000000 };
        nanosleep(&t, NULL);
    }
    return strncmp(action, "error", 5) == 0;
}

/* Counts the passes of each point in a small table: "name=kill@7" acts at the seventh pass of that
 * point. */
bool tide_failpoint(const char *name)
{
    static struct {
        _Atomic(const char *) name;
        atomic_uint times;
    } seen[64];
    count_passing(name);
    atomic_fetch_add(&passed, 1);
    unsigned times = 0;
    for (size_t i = 0; i < TIDE_COUNT(seen); i++) {
        const char *empty = NULL;
        if (atomic_compare_exchange_strong(&seen[i].name, &empty, name) ||
            strcmp(empty, name) == 0) {
            times = atomic_fetch_add(&seen[i].times, 1) + 1;
            break;
        }
    }
    const char *spec = getenv("TIDE_FP");
    size_t len = strlen(name);
    while (spec && *spec) {
        if (strncmp(spec, name, len) == 0 && spec[len] == '=') {
            const char *at = strpbrk(spec + len, "@,");
            unsigned wanted = at && *at == '@' ? (unsigned)strtoul(at + 1, NULL, 10) : 1;
            if (times == wanted)
                return run_action(spec + len + 1);
        }
        spec = strchr(spec, ',');
        spec = spec ? spec + 1 : NULL;
    }
    return false;
}

#else
/* A file needs a declaration: the points are compiled out. */
typedef int tide_failpoint_off;
#endif
