/* tidemark-sim serve: a simulated network that is alive, with a Stellar RPC in front of it. */
#include "tools/sim/serve/serve.h"
#include "tidemark/log.h"
#include "tools/sim/options/command.h"
#include "tools/sim/rpc/rpc.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

/* clang-format off */
#define AT(field) offsetof(struct serve_options, field)
static const struct sim_option table[] = {
    { "listen",      SIM_TEXT,   AT(listen),     0, 0, "HOST:PORT  where; port 0 is any that is free (default: 127.0.0.1:8000)" },
    { "public",      SIM_FLAG,   AT(public),     0, 0, "may listen beyond this machine" },
    { "port-file",   SIM_TEXT,   AT(port_file),  0, 0, "FILE  write the port there, once it listens" },
    { "close-ms",    SIM_NUMBER, AT(close_ms),   0, 3600000, "MS  a ledger closes every so many milliseconds; 0: only by POST /close (default: 5000)" },
    { "wall-clock",  SIM_FLAG,   AT(wall_clock), 0, 0, "live ledgers close at the time of day instead of --close-step after the last" },
    { "recorded",    SIM_TEXT,   AT(recorded),   0, 0, "FILE  close these ledgers, as write --stream wrote them, instead of a model's; - is standard input" },
    { "retention",   SIM_NUMBER, AT(retention),  1, 1u << 24u, "N  ledgers that the RPC knows (default: 120960)" },
    { "fault",       SIM_TEXTS,  AT(faults),     0, 0, "METHOD=KIND[:ARGUMENT][@FROM][xCOUNT]  misbehaves on purpose; may be given again" },
    { "quiet",       SIM_FLAG,   AT(quiet),      0, 0, "no log but warnings" },
};
/* clang-format on */

static void print_help(const struct sim_options *tables, size_t table_count)
{
    struct tide_buf kinds;
    printf(
        "usage: tidemark-sim serve [--lake DIR] [options]\n\n"
        "A simulated network: ledgers close, your transactions are applied or refused, a\n"
        "Stellar RPC answers. --ledgers of them are written at once at the start; with a lake\n"
        "that holds more of the same chain it goes on behind those: with the same options.\n"
        "A lake that does not come out the same, for instance because it holds transactions that\n"
        "were sent to it, is refused with exit 68.\n\n"
        "With --recorded there is no model: nothing takes transactions, options of the chain but\n"
        "--ledgers and --passphrase mean nothing, and behind the last ledger none closes.\n\n");
    sim_options_help(stdout, tables, table_count);
    printf("\n%s\nKinds of faults:\n", serve_routes_help);
    tide_buf_init(&kinds, 1u << 16);
    sim_faults_help(&kinds);
    printf("%.*s", TIDE_SLICE_FMT(tide_buf_view(&kinds)));
    tide_buf_release(&kinds);
}

/* --- closing ledgers ------------------------------------------------------------ */

static struct ledger_info newest(struct serve *serve)
{
    struct ledger_info oldest, latest = { 0 };
    (void)ledger_store_range(serve->store, &oldest, &latest);
    return latest;
}

/* At the time of day, a second after the last one at least. */
static void pace(struct serve *serve)
{
    uint64_t step = serve->options.chain.close_step;
    if (serve->options.wall_clock) {
        uint64_t now = (uint64_t)time(NULL), last = node_latest(serve->node).close_time;
        step = now > last ? now - last : 1;
    }
    node_pace(serve->node, (uint32_t)step);
}

/* The queue judges time bounds by when the next ledger is expected: the pause before the last one,
 * which may have been days, says nothing about the next. */
static void expect_next(struct serve *serve)
{
    if (serve->options.wall_clock)
        node_pace(serve->node, 1);
}

static tide_status close_other(struct serve_other *other, struct tide_err *err)
{
    tide_slice lcm;
    tide_status status = node_ledger(other->node, &lcm);
    if (status != TIDE_OK)
        return tide_fail(err, status, "a ledger of the other chain cannot be written");
    return ledger_store_add(other->store, lcm, err);
}

/* The next one is read behind it: it is at hand when it is due. */
static tide_status close_recorded(struct serve *serve, struct tide_err *err)
{
    if (serve->recorded.ended)
        return TIDE_OK;
    tide_status status = ledger_store_add(serve->store, tide_buf_view(&serve->recorded.next), err);
    serve_routes_closed(serve);
    return status == TIDE_OK ? recorded_advance(&serve->recorded, err) : status;
}

static tide_status close_one(struct serve *serve, struct tide_err *err)
{
    tide_slice lcm;
    if (!serve->node)
        return close_recorded(serve, err);
    if (serve->live)
        pace(serve);
    tide_status status = node_ledger(serve->node, &lcm);
    if (serve->live)
        expect_next(serve);
    if (status != TIDE_OK)
        return tide_fail(err, status, "a ledger cannot be written: fewer --txs");
    status = lake_put(&serve->lake, node_latest(serve->node).sequence, lcm, err);
    if (status == TIDE_OK)
        status = ledger_store_add(serve->store, lcm, err);
    if (status == TIDE_OK && serve->other.store)
        status = close_other(&serve->other, err);
    serve_routes_closed(serve);
    return status;
}

tide_status serve_close_ledgers(struct serve *serve, uint32_t count, struct tide_err *err)
{
    pthread_mutex_lock(&serve->lock);
    for (uint32_t i = 0; i < count && serve->broken == TIDE_OK; i++) {
        serve->broken = close_one(serve, &serve->err);
        atomic_fetch_add(&serve->closed, serve->broken == TIDE_OK);
    }
    tide_status status = serve->broken;
    if (status != TIDE_OK) {
        *err = serve->err;
        kill(getpid(), SIGTERM); /* wakes the main thread */
    }
    pthread_mutex_unlock(&serve->lock);
    return status;
}

static tide_status open_other(struct serve *serve, struct serve_other *other, struct tide_err *err)
{
    enum { LEDGERS = 24 };
    struct chain_options options = sim_settings_chain(&serve->options.chain);
    options.seed += 1;
    options.first_ledger = 2;
    options.start_time = node_latest(serve->node).close_time - LEDGERS;
    tide_status status = node_open(&other->node, &options, err);
    if (status == TIDE_OK)
        status = ledger_store_open(&other->store, (uint32_t)serve->options.retention, err);
    if (status == TIDE_OK)
        node_pace(other->node, 1);
    for (uint32_t i = 0; i < LEDGERS && status == TIDE_OK; i++)
        status = close_other(other, err);
    return status;
}

struct ledger_store *serve_other_store(void *self)
{
    struct serve *serve = self;
    struct tide_err err;
    pthread_mutex_lock(&serve->lock);
    if (!serve->other.store) {
        struct serve_other other = { 0 };
        if (open_other(serve, &other, &err) == TIDE_OK) {
            serve->other = other;
        } else {
            tide_log(TIDE_ERROR, "reset.failed", "reason=\"%.200s\"", err.text);
            ledger_store_close(other.store);
            node_close(other.node);
        }
    }
    struct ledger_store *store = serve->other.store;
    pthread_mutex_unlock(&serve->lock);
    return store;
}

/* --- its life ---------------------------------------------------------------------- */

static bool asked_to_stop(const sigset_t *signals)
{
    const struct timespec now = { 0 };
    return sigtimedwait(signals, NULL, &now) > 0;
}

static tide_status head_start_recorded(struct serve *serve, const sigset_t *signals,
                                       struct tide_err *err)
{
    tide_status status = TIDE_OK;
    uint64_t left = serve->options.chain.ledgers;
    for (; status == TIDE_OK && left > 0; left--) {
        status = close_recorded(serve, err);
        if (asked_to_stop(signals))
            return tide_fail(err, TIDE_E_STOPPED, "asked to stop");
    }
    return status;
}

/* The ledgers that are there at once: what the lake holds, and as many as were asked for. */
static tide_status head_start(struct serve *serve, const sigset_t *signals, struct tide_err *err)
{
    const struct sim_settings *chain = &serve->options.chain;
    uint64_t wanted = chain->first_ledger + chain->ledgers - 1;
    uint32_t sequence = 0;
    tide_status status = lake_last(&serve->lake, &serve->lake.skip_to, err);
    if (!serve->node)
        return head_start_recorded(serve, signals, err);
    while (status == TIDE_OK &&
           (sequence < wanted || sequence < serve->lake.skip_to || !lake_whole(&serve->lake))) {
        serve->live = sequence >= wanted;
        status = close_one(serve, err);
        sequence = node_latest(serve->node).sequence;
        if (asked_to_stop(signals))
            return tide_fail(err, TIDE_E_STOPPED, "asked to stop");
    }
    serve->live = true;
    if (status == TIDE_E_CONFLICT)
        return tide_fail_context(err, "--ledgers=%" PRIu64 " and all options as it was written",
                                 chain->ledgers);
    return status;
}

static bool wait_until(const struct timespec *next, const sigset_t *signals)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t left = (next->tv_sec - now.tv_sec) * 1000000000 + next->tv_nsec - now.tv_nsec;
    if (left < 0)
        left = 0;
    const struct timespec wait = { left / 1000000000, left % 1000000000 };
    return sigtimedwait(signals, NULL, &wait) < 0;
}

/* When the next ledger is due; never in the past, so that a slow machine is not chased. */
static void step(struct timespec *next, uint64_t ms)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    next->tv_nsec += (long)(ms % 1000) * 1000000;
    next->tv_sec += (time_t)(ms / 1000) + next->tv_nsec / 1000000000;
    next->tv_nsec %= 1000000000;
    if (next->tv_sec < now.tv_sec || (next->tv_sec == now.tv_sec && next->tv_nsec < now.tv_nsec))
        *next = now;
}

static tide_status live(struct serve *serve, const sigset_t *signals, struct tide_err *err)
{
    struct timespec next;
    tide_status status = TIDE_OK;
    clock_gettime(CLOCK_MONOTONIC, &next);
    if (serve->options.close_ms == 0) {
        sigwaitinfo(signals, NULL);
    } else {
        step(&next, serve->options.close_ms);
        while (status == TIDE_OK && wait_until(&next, signals)) {
            status = serve_close_ledgers(serve, 1, err);
            step(&next, serve->options.close_ms);
        }
    }
    pthread_mutex_lock(&serve->lock);
    if (serve->broken != TIDE_OK)
        *err = serve->err;
    status = serve->broken;
    pthread_mutex_unlock(&serve->lock);
    return status;
}

/* --- listening ------------------------------------------------------------------------ */

static tide_status write_port(const char *path, uint16_t port, struct tide_err *err)
{
    char aside[4096];
    if ((size_t)snprintf(aside, sizeof aside, "%s.tmp", path) >= sizeof aside)
        return tide_fail(err, TIDE_E_USAGE, "--port-file is too long a name");
    FILE *file = fopen(aside, "w");
    bool good = file && fprintf(file, "%u\n", port) > 0;
    if (file && fclose(file) != 0)
        good = false;
    if (!good || rename(aside, path) != 0)
        return tide_fail(err, TIDE_E_IO, "cannot write %s", path);
    return TIDE_OK;
}

/* "127.0.0.1:8000", "[::1]:0" */
static bool split_address(const char *text, char host[64], uint16_t *port)
{
    const char *colon = strrchr(text, ':');
    char *end = NULL;
    if (!colon || !colon[1] || strspn(colon + 1, "0123456789") != strlen(colon + 1))
        return false;
    unsigned long number = strtoul(colon + 1, &end, 10);
    bool bracketed = text[0] == '[' && colon > text + 1 && colon[-1] == ']';
    size_t len = (size_t)(colon - text) - (bracketed ? 2 : 0);
    if (number > UINT16_MAX || len == 0 || len >= 64)
        return false;
    memcpy(host, text + bracketed, len);
    host[len] = 0;
    *port = (uint16_t)number;
    return true;
}

/* Under the lock: requests that come meanwhile wait for it. */
static tide_status open_http(struct serve *serve, struct tide_err *err)
{
    char host[64], url[96];
    struct serve_http_options options = { .host = host,
                                          .public = serve->options.public,
                                          .body_max = RPC_REQUEST_BYTES_MAX,
                                          .self = serve,
                                          .handle = serve_handle };
    if (!split_address(serve->options.listen, host, &options.port))
        return tide_fail(err, TIDE_E_USAGE, "--listen=%s: expected HOST:PORT",
                         serve->options.listen);
    tide_status status = serve_http_open(&serve->http, &options, err);
    if (status != TIDE_OK)
        return status;
    uint16_t port = serve_http_port(serve->http);
    bool wide = strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0;
    const char *shown = wide ? "127.0.0.1" : host;
    snprintf(url, sizeof url, strchr(shown, ':') ? "http://[%s]:%u" : "http://%s:%u", shown, port);
    serve_routes_listening(serve, url);
    printf("%s\n", url);
    fflush(stdout);
    tide_log(TIDE_INFO, "serve.listening", "url=%s simulated=true passphrase=\"%s\" ledger=%u", url,
             serve->options.chain.passphrase, newest(serve).sequence);
    if (serve->options.port_file)
        return write_port(serve->options.port_file, port, err);
    return TIDE_OK;
}

static tide_status listen_http(struct serve *serve, struct tide_err *err)
{
    pthread_mutex_lock(&serve->lock);
    tide_status status = open_http(serve, err);
    atomic_store(&serve->listening, true);
    pthread_mutex_unlock(&serve->lock);
    return status;
}

/* --- opening and closing ------------------------------------------------------------------ */

static tide_status open_all(struct serve *serve, struct tide_err *err)
{
    const struct sim_settings *chain = &serve->options.chain;
    const struct chain_options options = sim_settings_chain(chain);
    tide_status status = sim_faults_open(&serve->faults, err);
    for (size_t i = 0; status == TIDE_OK && i < serve->options.faults.count; i++)
        status = sim_faults_add(serve->faults, tide_slice_str(serve->options.faults.text[i]), err);
    if (status == TIDE_OK && serve->options.recorded)
        status = recorded_open(&serve->recorded, serve->options.recorded, err);
    else if (status == TIDE_OK)
        status = node_open(&serve->node, &options, err);
    if (status == TIDE_OK)
        status = ledger_store_open(&serve->store, (uint32_t)serve->options.retention, err);
    if (status == TIDE_OK)
        status = serve_routes_open(serve, err);
    if (status == TIDE_OK && serve->node)
        status = sim_settings_deployment(chain, node_parties(serve->node), 0, err);
    return status;
}

static void close_all(struct serve *serve)
{
    serve_routes_close(serve);
    ledger_store_close(serve->store);
    ledger_store_close(serve->other.store);
    recorded_close(&serve->recorded);
    node_close(serve->node);
    node_close(serve->other.node);
    sim_faults_close(serve->faults);
}

static tide_status run_open(struct serve *serve, const sigset_t *signals, struct tide_err *err)
{
    tide_status status = open_all(serve, err);
    if (status == TIDE_OK)
        status = head_start(serve, signals, err);
    if (status == TIDE_OK)
        status = listen_http(serve, err);
    if (status == TIDE_OK)
        status = live(serve, signals, err);
    bool listened = serve->http != NULL;
    serve_http_close(serve->http); /* first: its threads use all the rest */
    if (listened)
        tide_log(TIDE_INFO, "serve.stopped", "simulated=true ledger=%u", newest(serve).sequence);
    close_all(serve);
    return status;
}

static tide_status run(struct serve *serve, const sigset_t *signals, struct tide_err *err)
{
    struct tide_err late;
    const struct lake_options to = sim_settings_lake(&serve->options.chain);
    tide_status status = lake_open(&serve->lake, &to, err);
    if (status != TIDE_OK)
        return status;
    status = run_open(serve, signals, err);
    tide_status closed = lake_close(&serve->lake, status == TIDE_OK ? err : &late);
    return status == TIDE_OK ? closed : status;
}

static tide_status check(const struct serve_options *o, struct tide_err *err)
{
    if (o->chain.first_ledger + o->chain.ledgers > UINT32_MAX)
        return tide_fail(err, TIDE_E_USAGE, "--ledgers is more than sequences can tell");
    if (o->recorded && o->chain.lake)
        return tide_fail(err, TIDE_E_USAGE, "--recorded writes no --lake");
    return sim_settings_check(&o->chain, err);
}

int sim_serve_command(int argc, char **argv)
{
    struct tide_err err;
    sigset_t signals;
    struct serve serve = { .options = { .chain = sim_settings_default(),
                                        .listen = "127.0.0.1:8000",
                                        .close_ms = 5000,
                                        .retention = 120960 } };
    struct serve_options *o = &serve.options;
    o->chain.ledgers = 512;
    o->chain.ledgers_per_object = 1;
    o->chain.objects_per_partition = 64000;
    const struct sim_options tables[] = { { table, TIDE_COUNT(table), o },
                                          sim_settings_options(&o->chain) };
    if (argc > 0 && strcmp(argv[0], "--help") == 0) {
        print_help(tables, TIDE_COUNT(tables));
        return 0;
    }
    /* taken by sigtimedwait in this thread; the server's threads inherit the mask */
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    sigaction(SIGPIPE, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL);
    pthread_mutex_init(&serve.lock, NULL);
    tide_status status = sim_options_read(tables, TIDE_COUNT(tables), argc, argv, &err);
    if (status == TIDE_OK)
        status = check(o, &err);
    tide_log_level_set(o->quiet ? TIDE_WARN : TIDE_INFO);
    if (status == TIDE_OK)
        status = run(&serve, &signals, &err);
    if (tide_status_exit(status) != 0)
        fprintf(stderr, "tidemark-sim serve: %s\n", err.text);
    pthread_mutex_destroy(&serve.lock);
    return tide_status_exit(status);
}
