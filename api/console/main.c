/* tidemark-console: pages for the people who review identity checks. Read this first.
 *
 *   arguments, file, environment   the configuration, checked before anything else happens
 *   people   console_file: the people, their roles and certificates
 *   pool     three connections to the primary, as tidemark_console
 *   server   listens on loopback only: the proxy in front of it asks for the certificates
 *   SIGTERM  running requests are answered, then exit 0 */
#include "api/base/program.h"
#include "api/base/secret.h"
#include "api/console/console.h"
#include "api/http/server/server.h"
#include "tidemark/cli.h"
#include "tidemark/liveness.h"
#include "tidemark/log.h"
#include "tidemark/notify.h"
#include "tidemark/sign.h"
#include "tidemark/stop.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* RATE: value of api_rate_query for the console's server. */
enum { TURN_MS = 50, THREADS = 3, QUEUE = 256, CONNECTIONS = 256, RATE = 1200 };
static_assert(THREADS > 1, "one person cannot occupy all workers");

struct program {
    struct tide_config config;
    struct tide_config listens; /* config as the server needs it */
    struct console console;
    struct tide_executor executor;
    struct tide_server *server;
};

/* Callbacks of the server's threads, which own nothing here. */
static tide_status open_thread(void **thread, struct tide_api *api, struct tide_err *err)
{
    (void)api;
    (void)err;
    *thread = NULL;
    return TIDE_OK;
}

static void close_thread(void *thread)
{
    (void)thread;
}

static void name_network(void *thread, char out[SERVER_NETWORK_BYTES])
{
    (void)thread;
    out[0] = '\0'; /* the answers name the network */
}

static const struct tide_server_thread_calls thread_calls = { open_thread, close_thread,
                                                              name_network };

/* Loads the file of people: the setting console_file, else systemd's credential. */
static tide_status load_people(struct program *p, struct tide_err *err)
{
    char path[TIDE_CONFIG_TEXT_MAX + 64];
    if (!tide_secret_path(path, sizeof path, p->config.console_file, "tidemark_console_file"))
        return tide_fail(err, TIDE_E_CONFIG,
                         "console_file is not set: name the file of people and certificates");
    return console_people_load(&p->console.people, path, err);
}

/* Derives the server's configuration. The limit of connections per address is off, because all
 * connections come from the proxy. Fails unless console_listen is a loopback address. */
static tide_status configure_server(struct program *p, struct tide_err *err)
{
    const struct tide_config *config = &p->config;
    struct tide_config *server = &p->listens;
    if (strncmp(config->console_listen, "127.", 4) != 0 &&
        strncmp(config->console_listen, "[::1]:", 6) != 0)
        return tide_fail(err, TIDE_E_CONFIG,
                         "console_listen: expected a loopback address (127.0.0.1:8090): only a "
                         "proxy on this host may connect, because it checks the certificates");
    *server = *config;
    snprintf(server->api_listen, sizeof server->api_listen, "%s", config->console_listen);
    snprintf(server->api_proxies, sizeof server->api_proxies, "127.0.0.0/8, ::1");
    server->api_threads = 1;
    server->api_connections = CONNECTIONS;
    server->api_connections_per_ip = 0;
    server->api_rate_query = RATE;
    return TIDE_OK;
}

/* Opens the parts in the order of their dependencies. After a failure close_all closes the parts
 * that were opened. */
static tide_status open_all(struct program *p, struct tide_err *err)
{
    const struct tide_config *config = &p->config;
    const char *url =
        config->console_database_url[0] ? config->console_database_url : config->database_url;
    p->console.clock = tide_clock_system();
    p->console.conninfo = *url ? url : NULL;
    tide_status status = configure_server(p, err);
    if (status == TIDE_OK)
        status = load_people(p, err);
    if (status == TIDE_OK)
        status = tide_deployment_select_open(&p->console.select, config->deployment, err);
    if (status == TIDE_OK)
        status = console_pool_open(&p->console, THREADS, QUEUE, err);
    p->executor = console_executor(&p->console);
    struct tide_server_options options = { .config = &p->listens,
                                           .clock = p->console.clock,
                                           .routes = &console_route_table,
                                           .executors = &p->executor,
                                           .thread = &thread_calls };
    if (status == TIDE_OK)
        status = tide_server_open(&p->server, &options, err);
    p->console.server = p->server;
    return status == TIDE_OK ? tide_server_start(p->server, err) : status;
}

static void close_all(struct program *p)
{
    tide_server_close(p->server);
    tide_worker_pool_close(p->console.pool);
    tide_deployment_select_close(p->console.select);
    if (p->console.people)
        tide_sign_wipe(p->console.people, sizeof *p->console.people);
    free(p->console.people);
}

/* Logs and returns false if a thread makes no progress. */
static bool all_alive(void)
{
    int64_t silent_ms;
    const char *name = tide_liveness_stalled(&silent_ms);
    if (name)
        tide_log(TIDE_ERROR, "console.stalled", "thread=%s silent_ms=%" PRIi64, name, silent_ms);
    return !name;
}

/* Serves until SIGTERM, or until the server stalls (TIDE_E_STALLED). Without the watchdog's ping
 * systemd restarts a process that hangs. */
static tide_status serve_until_stopped(struct program *p)
{
    const struct tide_clock *clock = p->console.clock;
    const char *notify = getenv("NOTIFY_SOCKET");
    struct tide_watchdog dog;
    tide_watchdog_init(&dog, notify, getenv("WATCHDOG_USEC"), getenv("WATCHDOG_PID"));
    tide_config_tell(&p->config, "console.settings");
    tide_log(TIDE_INFO, "console.listening", "address=%s port=%u people=%u",
             p->config.console_listen, tide_server_port(p->server), p->console.people->count);
    tide_notify(notify, "READY=1");
    while (!tide_stop_asked(NULL) && !tide_server_observe(p->server)) {
        if (all_alive())
            tide_watchdog_ping(&dog, clock->now_ms(clock->self));
        clock->sleep_ms(clock->self, TURN_MS);
    }
    bool stalled = tide_server_stalled(p->server);
    if (stalled)
        tide_log(TIDE_ERROR, "console.stalled", "thread=server exit=%d",
                 tide_status_exit(TIDE_E_STALLED));
    tide_notify(notify, "STOPPING=1");
    tide_server_stop(p->server);
    tide_log(TIDE_INFO, "console.stopped", "why=%s", stalled ? "stalled" : "asked");
    return stalled ? TIDE_E_STALLED : TIDE_OK;
}

static const struct tide_cli_row rows[] = {
    { TIDE_CLI_COMMAND, "", "", "", "console_* database_url deployment log_*" },
    { TIDE_CLI_EXAMPLE, "", "",
      "tidemark-console --console-file /etc/tidemark/console.secrets/console_file", "" },
};

static const struct tide_cli cli = {
    .program = "tidemark-console",
    .version = TIDE_VERSION,
    .summary = "serve the operator console of identity checks",
    .text = "Serves pages for the people who review identity checks, until SIGTERM. It listens on "
            "loopback, behind a proxy that asks for client certificates.",
    .implied = "",
    .rows = rows,
    .count = TIDE_COUNT(rows),
};

int main(int argc, char **argv)
{
    /* Static, because it is too large for the stack. Only this function writes the
     * configuration. */
    static struct program program;
    struct program *p = &program;
    struct tide_err err;
    int exit_code;
    if (tide_cli_answer(&cli, argc, argv, &exit_code))
        return exit_code;
    tide_status status = tide_config_load(&p->config, &argc, argv, NULL, getenv, &err);
    if (status == TIDE_OK)
        status = tide_cli_check(&cli, &rows[0], NULL, argc, argv, &err);
    if (status == TIDE_OK) {
        tide_program_log(&p->config);
        tide_stop_install(NULL, 0);
        status = open_all(p, &err);
    }
    if (status == TIDE_OK)
        status = serve_until_stopped(p);
    else
        fprintf(stderr, "tidemark-console: %s\n", err.text);
    close_all(p);
    return tide_status_exit(status);
}
