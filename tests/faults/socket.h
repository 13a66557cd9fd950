/* Stream sockets by name: a path is a Unix socket, HOST:PORT is TCP, port 0 takes a free one. */
#ifndef TESTS_FAULTS_SOCKET_H
#define TESTS_FAULTS_SOCKET_H

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Returns the length of the address, or 0 if the text is not an address. */
static inline socklen_t address(struct sockaddr_storage *out, const char *text)
{
    struct sockaddr_un *un = (struct sockaddr_un *)out;
    struct sockaddr_in *in = (struct sockaddr_in *)out;
    char host[64];
    unsigned port;
    memset(out, 0, sizeof *out);
    if (strchr(text, '/')) {
        un->sun_family = AF_UNIX;
        int len = snprintf(un->sun_path, sizeof un->sun_path, "%s", text);
        return len < (int)sizeof un->sun_path ? sizeof *un : 0;
    }
    in->sin_family = AF_INET;
    if (sscanf(text, "%63[^:]:%u", host, &port) != 2 ||
        inet_pton(AF_INET, host, &in->sin_addr) != 1)
        return 0;
    in->sin_port = htons((uint16_t)port);
    return sizeof *in;
}

/* Returns a listening socket. Exits with a message if the address cannot be bound. */
static inline int listen_on(const char *text)
{
    struct sockaddr_storage at;
    socklen_t len = address(&at, text);
    int one = 1, fd = socket(at.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (at.ss_family == AF_UNIX)
        unlink(text);
    else
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (!len || fd < 0 || bind(fd, (void *)&at, len) != 0 || listen(fd, 64) != 0) {
        fprintf(stderr, "fault_proxy: cannot listen on %s: %s\n", text, strerror(errno));
        exit(1);
    }
    return fd;
}

/* Prints "listening ADDRESS" to standard output, with the port that the system chose. */
static inline void say_listening(int fd, const char *text)
{
    struct sockaddr_in at = { 0 };
    socklen_t size = sizeof at;
    if (getsockname(fd, (void *)&at, &size) == 0 && at.sin_family == AF_INET)
        printf("listening 127.0.0.1:%u\n", ntohs(at.sin_port));
    else
        printf("listening %s\n", text);
    fflush(stdout);
}

/* Returns a connected socket, or -1 if no process listens. `more` are flags of socket(). */
static inline int connect_to(const char *text, int more)
{
    struct sockaddr_storage at;
    socklen_t len = address(&at, text);
    int fd = len ? socket(at.ss_family, SOCK_STREAM | SOCK_CLOEXEC | more, 0) : -1;
    if (fd >= 0 && connect(fd, (void *)&at, len) != 0 && errno != EINPROGRESS) {
        close(fd);
        return -1;
    }
    return fd;
}

#endif
