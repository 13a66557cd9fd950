#include "tidemark/notify.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void tide_notify(const char *path, const char *state)
{
    assert(state);
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    size_t len = path ? strlen(path) : 0;
    if (len < 2 || len >= sizeof to.sun_path || (path[0] != '/' && path[0] != '@'))
        return;
    memcpy(to.sun_path, path, len);
    if (path[0] == '@')
        to.sun_path[0] = 0;
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
    (void)!sendto(fd, state, strlen(state), MSG_NOSIGNAL | MSG_DONTWAIT, (struct sockaddr *)&to,
                  size);
    close(fd);
}

void tide_watchdog_init(struct tide_watchdog *dog, const char *path, const char *usec,
                        const char *pid)
{
    *dog = (struct tide_watchdog){ .path = path };
    if (!path || !usec || (pid && strtol(pid, NULL, 10) != (long)getpid()))
        return;
    dog->every_ms = strtoll(usec, NULL, 10) / 1000 / 3;
}

void tide_watchdog_ping(struct tide_watchdog *dog, int64_t now_ms)
{
    if (dog->every_ms <= 0 || (dog->last_ms && now_ms - dog->last_ms < dog->every_ms))
        return;
    tide_notify(dog->path, "WATCHDOG=1");
    dog->last_ms = now_ms;
}
