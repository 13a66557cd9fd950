/* tidemark-api: serves the index over HTTP. Read this file first: each step is one call.
 *
 *  arguments, file, environment   the configuration, checked before anything else
 *  deployment the served one: that of the deployment file, in the newest epoch that is ready
 *  cache      the hot cache of this host; a thread feeds it, or follows the process that does
 *  pool       threads that answer from PostgreSQL
 *  stream     the thread that reads each new ledger for the subscribers of /api/stream
 *  keys       the thread that reads integrators' API keys, if KYC's login is configured
 *  kyc        threads that open sessions at providers and receive their webhooks, if configured
 *  port       claimed: no process may serve another deployment on it
 *  server     threads that answer connections
 *  SIGHUP     reads the deployment file and the keys of receipts again
 *  SIGTERM    /readyz answers 503, then no new connection is accepted, then all requests are
 *             answered: exit 0 */
#include "api/base/program.h"
#include "api/hot/feed.h"
#include "api/http/server/server.h"
#include "api/kyc/keys/keys.h"
#include "api/kyc/kyc.h"
#include "api/port_claim.h"
#include "api/routes/receipt_keys.h"
#include "api/routes/route_table.h"
#include "api/routes/snapshots.h"
#include "api/sql/deployment_select.h"
#include "api/sql/sql_pool.h"
#include "api/stream/service.h"
#include "tidemark/cli.h"
#include "tidemark/liveness.h"
#include "tidemark/log.h"
#include "tidemark/notify.h"
#include "tidemark/stop.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <unistd.h>

/* TURN_MS: pause of the main loop; TICK_MS: interval of its periodic work */
enum { TURN_MS = 50, TICK_MS = 1000, QUEUE_OF_THREAD = 16 };

/* The only mutable state outside main. Lock-free atomics are safe in a signal handler. */
static atomic_bool reload_requested;
static_assert(ATOMIC_BOOL_LOCK_FREE == 2, "a handler may set the flag");

static void request_reload(int number)
{
    (void)number;
    atomic_store(&reload_requested, true);
}

static bool is_set(void *flag)
{
    return atomic_load((atomic_bool *)flag);
}

/* Returns whether the process is ending: SIGTERM came, or close_all runs. Long operations must
 * stop. */
static bool is_ending(void *closing)
{
    return tide_stop_asked(NULL) || is_set(closing);
}

struct program {
    struct tide_config config;
    struct tide_api api;
    atomic_bool closing; /* tells the threads to end */
    pthread_t feeder;
    bool feeding;
    struct tide_executor executors[TIDE_EXECUTOR_COUNT];
    struct tide_port_claim *claim;
    struct tide_hot_reader *reader; /* used by the main thread only */
};

static const char *database_url(const struct tide_config *config)
{
    const char *url = config->api_database_url[0] ? config->api_database_url : config->database_url;
    return *url ? url : NULL;
}

/* --- opening --------------------------------------------------------------------------------- */

/* Prints a message before SIGBUS kills the process: the cache's file is shorter than its map, or
 * its disk fails. Uses only functions that are safe in a signal handler. */
static void print_bus_error(int signal)
{
    static const char text[] = "tidemark-api: SIGBUS: the file of the cache (api_cache) was cut "
                               "short, or its disk fails; the next start builds it again\n";
    (void)signal;
    ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
    (void)written;
}

static void install_signals(void)
{
    struct sigaction reload = { .sa_handler = request_reload };
    struct sigaction bus = { .sa_handler = print_bus_error, .sa_flags = (int)SA_RESETHAND };
    tide_stop_install(NULL, 0);
    sigemptyset(&bus.sa_mask);
    sigaction(SIGBUS, &bus, NULL);
    sigemptyset(&reload.sa_mask);
    sigaction(SIGHUP, &reload, NULL);
}

/* Raises the limit of descriptors to what the system allows: each connection needs one. */
static void raise_limits(const struct tide_config *config)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < config->api_connections + 64u)
        tide_log(TIDE_WARN, "api.descriptors", "limit=%llu api_connections=%u",
                 (unsigned long long)limit.rlim_cur, config->api_connections);
}

static tide_status open_server(struct program *p, struct tide_err *err)
{
    static_assert(TIDE_COUNT(p->executors) == TIDE_EXECUTOR_COUNT, "routes index it");
    tide_route_executors(p->executors, &p->api);
    struct tide_server_options options = { .config = &p->config,
                                           .clock = p->api.clock,
                                           .api = &p->api,
                                           .routes = &tide_route_table,
                                           .executors = p->executors,
                                           .thread = &tide_route_thread_calls,
                                           .keys = tide_route_keys(&p->api) };
    return tide_server_open(&p->api.server, &options, err);
}

static tide_status open_all(struct program *p, struct tide_err *err)
{
    struct tide_api *api = &p->api;
    if (!p->config.api_cache[0])
        return tide_fail(err, TIDE_E_CONFIG,
                         "api_cache is not set: name the folder of the hot cache");
    tide_status status = tide_deployment_select_open(&api->select, p->config.deployment, err);
    struct tide_hot_options hot = { .dir = p->config.api_cache,
                                    .stopped = is_ending,
                                    .stopped_self = &p->closing };
    if (status == TIDE_OK)
        status = tide_hot_open(&api->hot, &hot, err);
    if (status != TIDE_OK)
        return status;
    struct tide_err none;
    (void)!tide_hot_refresh(api->hot, &none); /* no cache yet: the feeder will build one */
    struct tide_feed_options feed = { .conninfo = database_url(&p->config),
                                      .select = api->select,
                                      .hot = api->hot,
                                      .stopped = is_set,
                                      .stopped_self = &p->closing };
    status = tide_feed_open(&api->feed, &feed, err);
    if (status != TIDE_OK)
        return status;
    struct tide_sql_pool_options pool = { .conninfo = database_url(&p->config),
                                          .select = api->select,
                                          .routes = &tide_route_table,
                                          .threads = p->config.api_sql_threads,
                                          .queue = QUEUE_OF_THREAD * p->config.api_sql_threads };
    if (pool.threads)
        status = tide_sql_pool_open(&api->pool, &pool, err);
    if (status == TIDE_OK)
        status = tide_stream_service_open(&api->stream, &p->config, database_url(&p->config),
                                          api->select, err);
    if (status == TIDE_OK)
        status = tide_receipt_keys_open(&api->receipts, &p->config, err);
    if (status == TIDE_OK)
        status = tide_hot_reader_open(&p->reader, api->hot, err);
    if (status == TIDE_OK)
        tide_receipt_keys_watch(api->receipts, p->reader, api->clock->now_ms(api->clock->self));
    struct tide_snapshots_options snapshots = {
        .hot = api->hot, .keys = api->receipts, .clock = api->clock, .folder = p->config.api_cache
    };
    if (status == TIDE_OK)
        status = tide_snapshots_open(&api->snapshots, &snapshots, err);
    if (status == TIDE_OK)
        status = tide_kyc_open_keys(&api->keys, &p->config, api->clock, err);
    if (status == TIDE_OK)
        status = tide_kyc_open(&api->kyc, api, err);
    return status == TIDE_OK ? open_server(p, err) : status;
}

/* Closes everything in reverse order of use: the server first, because its connections use all
 * the other parts. The feeder ends before the cache that it writes. */
static void close_all(struct program *p)
{
    struct tide_api *api = &p->api;
    tide_server_close(api->server);
    tide_kyc_close(api->kyc);
    tide_kyc_keys_close(api->keys);
    tide_stream_service_close(api->stream);
    tide_worker_pool_close(api->pool);
    atomic_store(&p->closing, true);
    if (p->feeding)
        pthread_join(p->feeder, NULL);
    tide_feed_close(api->feed);
    tide_snapshots_close(api->snapshots);
    tide_receipt_keys_close(api->receipts);
    if (p->reader)
        tide_hot_reader_close(p->reader);
    if (api->hot)
        tide_hot_close(api->hot);
    tide_deployment_select_close(api->select);
    tide_port_claim_close(p->claim);
}

/* --- running --------------------------------------------------------------------------------- */

static void *run_feeder(void *feeder)
{
    tide_feed_run(feeder);
    return NULL;
}

/* Selects the served deployment, if the database answers. Without the database the start goes
 * on. Fails with TIDE_E_CONFLICT if the file has other roles than this database. */
static tide_status select_deployment(struct program *p, struct tide_err *why)
{
    struct tide_pg_options to = { .conninfo = database_url(&p->config),
                                  .application = "tidemark-api",
                                  .silence_ms = TIDE_SQL_SILENCE_MS,
                                  .stopped = tide_stop_asked };
    struct tide_deployment_selected selected;
    struct tide_pg *pg = NULL;
    struct tide_err err;
    char quoted[TIDE_ERR_TEXT_MAX];
    tide_status status = tide_deployment_select_connect(&pg, &to, p->api.select, &selected, &err);
    tide_pg_close(pg);
    if (status != TIDE_OK && tide_deployment_select_disagrees(p->api.select))
        return tide_fail(why, TIDE_E_CONFLICT, "%s", err.text);
    if (status != TIDE_OK)
        tide_log(TIDE_WARN, "deployment.unknown", "text=%s",
                 tide_log_quote(quoted, sizeof quoted, err.text));
    return TIDE_OK;
}

/* Claims the port before the first connection is accepted: otherwise processes of different
 * deployments could answer in turn. */
static tide_status claim_port(struct program *p, uint16_t port, struct tide_err *err)
{
    assert(!p->claim); /* a second claim would leave the first one open for ever */
    struct tide_port_serves serves = { .cache = p->config.api_cache };
    serves.known = tide_deployment_select_served(p->api.select, serves.served);
    return tide_port_claim_open(&p->claim, p->config.api_listen, port, &serves, err);
}

/* Returns the configured port; 0: the system chooses one. */
static uint16_t configured_port(const struct program *p)
{
    const char *colon = strrchr(p->config.api_listen, ':');
    return colon ? (uint16_t)strtoul(colon + 1, NULL, 10) : 0;
}

static tide_status start_server(struct program *p, struct tide_err *err)
{
    tide_status status = tide_server_start(p->api.server, err);
    return status == TIDE_OK && !p->claim ? claim_port(p, tide_server_port(p->api.server), err)
                                          : status;
}

static tide_status start_all(struct program *p, struct tide_err *err)
{
    if (select_deployment(p, err) != TIDE_OK)
        return err->code;
    assert(!p->feeding); /* one thread feeds the cache */
    uint16_t port = configured_port(p);
    if (port && claim_port(p, port, err) != TIDE_OK)
        return err->code;
    int failed = pthread_create(&p->feeder, NULL, run_feeder, p->api.feed);
    if (failed)
        return tide_fail(err, TIDE_E_MEMORY, "cannot start a thread: %s", strerror(failed));
    p->feeding = true;
    tide_status status = tide_stream_service_start(p->api.stream, err);
    if (status == TIDE_OK && p->api.keys)
        status = tide_kyc_keys_start(p->api.keys, err);
    if (status == TIDE_OK && p->api.kyc)
        status = tide_kyc_start(p->api.kyc, err);
    if (status == TIDE_OK)
        status = start_server(p, err);
    if (status == TIDE_OK)
        status = tide_program_port(p->config.api_port_file, tide_server_port(p->api.server), err);
    return status;
}

/* Reads the deployment file and the keys of receipts again after SIGHUP. A file that is wrong
 * changes nothing. */
static void reload_files(struct program *p)
{
    struct tide_err err;
    char quoted[TIDE_ERR_TEXT_MAX];
    if (!atomic_exchange(&reload_requested, false))
        return;
    if (tide_deployment_select_reload(p->api.select, &err) == TIDE_OK)
        tide_log(TIDE_INFO, "deployment.reloaded", "file=%s", p->config.deployment);
    else
        tide_log(TIDE_ERROR, "deployment.kept", "text=%s",
                 tide_log_quote(quoted, sizeof quoted, err.text));
    int64_t now = p->api.clock->now_ms(p->api.clock->self);
    if (tide_receipt_keys_reload(p->api.receipts, p->reader, now, &err) == TIDE_OK)
        tide_log(TIDE_INFO, "receipts.reloaded", "files=%s", p->config.api_receipt_keys);
    else
        tide_log(TIDE_ERROR, "receipts.kept", "text=%s",
                 tide_log_quote(quoted, sizeof quoted, err.text));
}

/* Renews the claim: the served deployment was not known when the port was claimed, or has
 * changed. */
static void renew_claim(struct program *p)
{
    struct tide_port_serves serves = { .cache = p->config.api_cache };
    struct tide_err err;
    char quoted[TIDE_ERR_TEXT_MAX];
    serves.known = tide_deployment_select_served(p->api.select, serves.served);
    if (tide_port_claim_renew(p->claim, &serves, &err) != TIDE_OK)
        tide_log(TIDE_WARN, "api.port_shared", "text=%s",
                 tide_log_quote(quoted, sizeof quoted, err.text));
}

/* Returns whether all threads report progress. Only then the watchdog is pinged: requests at a
 * hanging worker would stay unanswered. */
static bool all_alive(void)
{
    int64_t silent_ms;
    const char *name = tide_liveness_stalled(&silent_ms);
    if (name)
        tide_log(TIDE_ERROR, "api.stalled", "thread=%s silent_ms=%" PRIi64, name, silent_ms);
    return !name;
}

/* Returns TIDE_E_STALLED if a thread of the server is lost: the program ends, and systemd
 * restarts it. */
static tide_status check_stall(const struct program *p)
{
    if (!tide_server_stalled(p->api.server))
        return TIDE_OK;
    tide_log(TIDE_ERROR, "api.stalled", "thread=server exit=%d", tide_status_exit(TIDE_E_STALLED));
    return TIDE_E_STALLED;
}

/* Runs the main loop. It waits for no other thread, so that SIGTERM and the watchdog are always
 * handled. Returns TIDE_E_STALLED, or TIDE_OK after a request to stop. */
static tide_status run_until_stopped(struct program *p)
{
    static_assert(TURN_MS < TICK_MS, "a turn never skips a tick");
    assert(p->feeding && p->claim); /* start_all succeeded */
    const struct tide_clock *clock = p->api.clock;
    const char *notify = getenv("NOTIFY_SOCKET");
    struct tide_watchdog dog;
    int64_t ticked = 0;
    tide_watchdog_init(&dog, notify, getenv("WATCHDOG_USEC"), getenv("WATCHDOG_PID"));
    tide_config_tell(&p->config, "api.settings");
    tide_log(TIDE_INFO, "api.listening", "address=%s port=%u threads=%u libmicrohttpd=%s",
             p->config.api_listen, tide_server_port(p->api.server), p->config.api_threads,
             tide_server_library());
    tide_notify(notify, "READY=1");
    while (!tide_stop_asked(NULL) && !tide_server_observe(p->api.server)) {
        int64_t now = clock->now_ms(clock->self);
        if (now - ticked >= TICK_MS) {
            ticked = now;
            tide_hot_tick(p->api.hot);
            reload_files(p);
            tide_receipt_keys_watch(p->api.receipts, p->reader, now);
            renew_claim(p);
            if (all_alive())
                tide_watchdog_ping(&dog, now);
        }
        clock->sleep_ms(clock->self, TURN_MS);
    }
    tide_status status = check_stall(p);
    tide_notify(notify, "STOPPING=1");
    tide_log(TIDE_INFO, "api.stopping", "drain_ms=%u", p->config.api_drain_ms);
    tide_server_drain(p->api.server);
    clock->sleep_ms(clock->self, p->config.api_drain_ms);
    /* Each subscriber gets "dropped" before its connection ends */
    tide_stream_service_stop(p->api.stream);
    tide_server_stop(p->api.server);
    tide_log(TIDE_INFO, "api.stopped", "why=%s", status == TIDE_OK ? "asked" : "stalled");
    return status;
}

static const struct tide_cli_row rows[] = {
    { TIDE_CLI_COMMAND, "", "", "",
      "api_* attester_key database_url deployment stale_after_ms compliance_age_s kyc_* "
      "clock_skew_s "
      "rpc "
      "rpc_header http_ca_file log_*" },
    { TIDE_CLI_EXAMPLE, "", "",
      "tidemark-api --deployment protocol.json --api-cache /var/cache/tidemark", "" },
};

static const struct tide_cli cli = {
    .program = "tidemark-api",
    .version = TIDE_VERSION,
    .summary = "serve over HTTP what tidemark-indexer has indexed",
    .text = "Serves what tidemark-indexer has indexed, until SIGTERM. With --deployment FILE it "
            "serves that deployment of the database, in the newest epoch of its network that is "
            "ready; SIGHUP reads the file and the keys of receipts again.",
    .implied = "",
    .rows = rows,
    .count = TIDE_COUNT(rows),
};

int main(int argc, char **argv)
{
    /* Static because it is large; the configuration is constant after loading */
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
        install_signals();
        raise_limits(&p->config);
        p->api.config = &p->config;
        p->api.clock = tide_clock_system();
        status = open_all(p, &err);
    }
    if (status == TIDE_OK)
        status = start_all(p, &err);
    if (status == TIDE_OK)
        status = run_until_stopped(p);
    else
        fprintf(stderr, "tidemark-api: %s\n", err.text);
    close_all(p);
    return tide_status_exit(status);
}
