/* perf floor ANSWER BODY PORTFILE: a server that does nothing but answer. It queues the header
 * lines of the file ANSWER, as curl writes them, with the bytes of the file BODY, for every
 * request, the way api/http/server does it: the least that libmicrohttpd costs for such an answer.
 * Writes its port into PORTFILE. Runs until SIGTERM. */
#include "perf.h"
#include "tidemark/slice.h"

#include <microhttpd.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum {
    LINES_MAX = 64,
    LINE_BYTES = 1024,
    BODY_BYTES = 16 << 10,
    POOL_BYTES = 16384, /* as SERVER_POOL_BYTES of api/http/server */
    WAIT_MS = 100
};

struct floor_answer {
    struct {
        char name[LINE_BYTES], value[LINE_BYTES];
    } lines[LINES_MAX];
    int count;
    char body[BODY_BYTES];
    size_t size;
};

static volatile sig_atomic_t stopped;

static void stop_server(int signal)
{
    (void)signal;
    stopped = 1;
}

/* Reads the header lines. The library writes Content-Length itself. */
static void read_lines(struct floor_answer *answer, const char *path)
{
    char line[LINE_BYTES];
    FILE *in = perf_open_file(path, "r");
    while (fgets(line, sizeof line, in) && answer->count < LINES_MAX) {
        char *colon = strchr(line, ':');
        line[strcspn(line, "\r\n")] = 0;
        if (!colon || colon[1] != ' ')
            continue; /* the status line, or the end */
        *colon = 0;
        if (strcmp(line, "Content-Length") == 0)
            continue;
        snprintf(answer->lines[answer->count].name, LINE_BYTES, "%s", line);
        snprintf(answer->lines[answer->count++].value, LINE_BYTES, "%s", colon + 2);
    }
    fclose(in);
}

static enum MHD_Result queue_answer(struct floor_answer *answer, struct MHD_Connection *connection)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(answer->size, answer->body, MHD_RESPMEM_PERSISTENT);
    for (int i = 0; response && i < answer->count; i++)
        MHD_add_response_header(response, answer->lines[i].name, answer->lines[i].value);
    enum MHD_Result queued =
        response ? MHD_queue_response(connection, MHD_HTTP_OK, response) : MHD_NO;
    if (response)
        MHD_destroy_response(response);
    return queued;
}

/* An answer that is queued in the first call would end the connection. */
/* NOLINTNEXTLINE(readability-function-size): libmicrohttpd dictates the parameters */
static enum MHD_Result on_request(void *self, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *data,
                                  size_t *size, void **memory)
{
    (void)url, (void)method, (void)version, (void)data, (void)size;
    bool first = !*memory;
    *memory = self;
    return first ? MHD_YES : queue_answer(self, connection);
}

static struct MHD_Daemon *start_daemon(struct floor_answer *answer, const char *port_file)
{
    struct MHD_Daemon *daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_USE_TURBO | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_SUPPRESS_DATE_NO_CLOCK,
        0, NULL, NULL, on_request, answer, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)POOL_BYTES,
        MHD_OPTION_CONNECTION_TIMEOUT, 0u, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
    const union MHD_DaemonInfo *info =
        daemon ? MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT) : NULL;
    if (!info)
        return NULL;
    FILE *out = perf_open_file(port_file, "w");
    fprintf(out, "%u\n", info->port);
    fclose(out);
    return daemon;
}

int perf_floor(int argc, char **argv)
{
    if (argc != 3)
        return 64;
    struct floor_answer *answer = calloc(1, sizeof *answer);
    assert(answer);
    read_lines(answer, argv[0]);
    FILE *in = perf_open_file(argv[1], "r");
    answer->size = fread(answer->body, 1, sizeof answer->body, in);
    fclose(in);
    const struct sigaction action = { .sa_handler = stop_server };
    sigaction(SIGTERM, &action, NULL);
    struct MHD_Daemon *daemon = start_daemon(answer, argv[2]);
    if (!daemon)
        return 1;
    struct pollfd fd = { .fd = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd,
                         .events = POLLIN };
    while (!stopped) {
        MHD_UNSIGNED_LONG_LONG until;
        bool limited = MHD_get_timeout(daemon, &until) == MHD_YES && until < WAIT_MS;
        poll(&fd, 1, limited ? (int)until : WAIT_MS);
        MHD_run(daemon);
    }
    MHD_stop_daemon(daemon);
    free(answer);
    return 0;
}
