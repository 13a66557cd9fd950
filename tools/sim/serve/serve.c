/* tidemark-sim serve: runs a simulated network with a Stellar RPC in front of it. */
#include "tools/sim/serve/serve.h"
#include "tidemark/clock.h"
#include "tidemark/log.h"
#include "tools/sim/options/command.h"
#include "tools/sim/rpc/rpc.h"

#include <errno.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

/* clang-format off */
#define AT(field) offsetof(struct serve_options, field)
static const struct sim_option table[] = {
    { "listen",      SIM_TEXT,   AT(listen),     0, 0, "HOST:PORT  address to listen on; port 0 is any free port (default: 127.0.0.1:8000)" },
    { "public",      SIM_FLAG,   AT(public),     0, 0, "may listen on addresses that other machines reach" },
    { "port-file",   SIM_TEXT,   AT(port_file),  0, 0, "FILE  write the port to this file once the server listens" },
    { "close-ms",    SIM_NUMBER, AT(close_ms),   0, 3600000, "MS  a ledger closes every so many milliseconds; 0: only by POST /close (default: 5000)" },
    { "wall-clock",  SIM_FLAG,   AT(wall_clock), 0, 0, "live ledgers close at the time of day instead of --close-step after the last" },
    { "recorded",    SIM_TEXT,   AT(recorded),   0, 0, "FILE  close these ledgers, as write --stream wrote them, instead of a model's; - is standard input" },
    { "retention",   SIM_NUMBER, AT(retention),  1, 1u << 24u, "N  newest ledgers that the RPC serves (default: 120960)" },
    { "fault",       SIM_TEXTS,  AT(faults),     0, 0, "METHOD=KIND[:ARGUMENT][@FROM][xCOUNT]  misbehaves deliberately; may be given more than once" },
    { "quiet",       SIM_FLAG,   AT(quiet),      0, 0, "log warnings only" },
};
/* clang-format on */

/* Prints the help text, with the paths and the kinds of faults. */
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

/* --- recorded ledgers ------------------------------------------------------------ */

enum { MARK_BYTES = 4, LEDGER_BYTES_MAX = 128 << 20 };

/* Reads the ledger behind the one in next. */
static tide_status recorded_advance(struct recorded *r, struct tide_err *err)
{
    uint8_t mark[MARK_BYTES];
    tide_buf_reset(&r->next);
    size_t got = fread(mark, 1, sizeof mark, r->file);
    r->ended = got == 0;
    if (r->ended)
        return TIDE_OK;
    uint32_t len =
        (uint32_t)mark[0] << 24 | (uint32_t)mark[1] << 16 | (uint32_t)mark[2] << 8 | mark[3];
    /* The top bit of the length marks a record's last fragment; ledgers have one. */
    if (got < sizeof mark || !(len >> 31))
        return tide_fail(err, TIDE_E_DECODE, "the recorded ledgers are no framed stream");
    len &= 0x7fffffff;
    uint8_t *to = tide_buf_room(&r->next, len);
    if (!to)
        return tide_fail(err, TIDE_E_LIMIT, "a recorded ledger has %u bytes", len);
    if (fread(to, 1, len, r->file) != len)
        return tide_fail(err, TIDE_E_DECODE, "the recorded ledgers end within a ledger");
    r->next.len += len;
    return TIDE_OK;
}

/* Opens a file, or standard input for "-", and reads its first ledger. */
static tide_status recorded_open(struct recorded *r, const char *file, struct tide_err *err)
{
    *r = (struct recorded){ .file = strcmp(file, "-") == 0 ? stdin : fopen(file, "rb") };
    tide_buf_init(&r->next, LEDGER_BYTES_MAX);
    if (!r->file)
        return tide_fail(err, TIDE_E_IO, "cannot read %s: %s", file, strerror(errno));
    return recorded_advance(r, err);
}

static void recorded_close(struct recorded *r)
{
    if (r->file)
        fclose(r->file);
    tide_buf_release(&r->next);
    r->file = NULL;
}

/* --- closing ledgers ------------------------------------------------------------ */

/* Returns the newest ledger; zeros if there is none. */
static struct ledger_info newest_ledger(struct serve *serve)
{
    struct ledger_info oldest, latest = { 0 };
    (void)ledger_store_range(serve->store, &oldest, &latest);
    return latest;
}

/* Sets when the next ledger closes: at the time of day, but at least a second after the last
 * one. */
static void set_pace(struct serve *serve)
{
    uint64_t step = serve->options.chain.close_step;
    if (serve->options.wall_clock) {
        uint64_t now = (uint64_t)time(NULL), last = node_latest(serve->node).close_time;
        step = now > last ? now - last : 1;
    }
    node_pace(serve->node, (uint32_t)step);
}

/* The queue checks time bounds against the expected close time of the next ledger. The last
 * interval may have been days, so it must not be the expectation. */
static void expect_next_ledger(struct serve *serve)
{
    if (serve->options.wall_clock)
        node_pace(serve->node, 1);
}

/* Closes a ledger of the other chain. */
static tide_status close_other(struct serve_other *other, struct tide_err *err)
{
    tide_slice lcm;
    tide_status status = node_ledger(other->node, &lcm);
    if (status != TIDE_OK)
        return tide_fail(err, status, "a ledger of the other chain cannot be written");
    return ledger_store_add(other->store, lcm, err);
}

/* Closes a recorded ledger, then reads the next one, which is then ready when it is due. Closes
 * nothing behind the last. */
static tide_status close_recorded(struct serve *serve, struct tide_err *err)
{
    if (serve->recorded.ended)
        return TIDE_OK;
    tide_status status = ledger_store_add(serve->store, tide_buf_view(&serve->recorded.next), err);
    serve_routes_closed(serve);
    return status == TIDE_OK ? recorded_advance(&serve->recorded, err) : status;
}

/* Closes one ledger: makes it, writes it to the lake, adds it to the store. */
static tide_status close_next(struct serve *serve, struct tide_err *err)
{
    tide_slice lcm;
    if (!serve->node)
        return close_recorded(serve, err);
    if (serve->live)
        set_pace(serve);
    tide_status status = node_ledger(serve->node, &lcm);
    if (serve->live)
        expect_next_ledger(serve);
    if (status != TIDE_OK)
        return tide_fail(err, status, "a ledger cannot be written: use fewer --txs");
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
        serve->broken = close_next(serve, &serve->err);
        atomic_fetch_add(&serve->closed, serve->broken == TIDE_OK);
    }
    tide_status status = serve->broken;
    if (status != TIDE_OK) {
        *err = serve->err;
        kill(getpid(), SIGTERM); /* ends the main thread's wait for signals */
    }
    pthread_mutex_unlock(&serve->lock);
    return status;
}

/* Opens the chain that reset shows: its ledgers begin at 2, and its newest one is as old as this
 * chain's. */
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

/* The caller's thread creates the chain; the lock makes others wait. */
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

/* --- the main thread ----------------------------------------------------------------- */

/* Returns true if a signal to end has come. Signals are blocked, so they wait to be fetched. */
static bool stop_requested(const sigset_t *signals)
{
    const struct timespec now = { 0 };
    return sigtimedwait(signals, NULL, &now) > 0;
}

/* Closes the first recorded ledgers at once. */
static tide_status head_start_recorded(struct serve *serve, const sigset_t *signals,
                                       struct tide_err *err)
{
    tide_status status = TIDE_OK;
    uint64_t left = serve->options.chain.ledgers;
    for (; status == TIDE_OK && left > 0; left--) {
        status = close_recorded(serve, err);
        if (stop_requested(signals))
            return tide_fail(err, TIDE_E_STOPPED, "asked to stop");
    }
    return status;
}

/* Closes the first ledgers at once: those that the lake holds, and as many as --ledgers demands. */
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
        status = close_next(serve, err);
        sequence = node_latest(serve->node).sequence;
        if (stop_requested(signals))
            return tide_fail(err, TIDE_E_STOPPED, "asked to stop");
    }
    serve->live = true;
    /* Another chain in the lake mostly means other options. */
    if (status == TIDE_E_CONFLICT)
        return tide_fail_context(err, "--ledgers=%" PRIu64 " and all options as it was written",
                                 chain->ledgers);
    return status;
}

/* Waits until the deadline. Returns false if a signal came. */
static bool wait_until(const struct timespec *next, const sigset_t *signals)
{
    struct timespec now = tide_monotonic_in(0);
    int64_t left = (next->tv_sec - now.tv_sec) * 1000000000 + next->tv_nsec - now.tv_nsec;
    if (left < 0)
        left = 0;
    const struct timespec wait = { left / 1000000000, left % 1000000000 };
    return sigtimedwait(signals, NULL, &wait) < 0;
}

/* Advances the deadline. A deadline in the past becomes the present: missed ledgers are not made up
 * for. */
static void advance_deadline(struct timespec *next, uint64_t ms)
{
    struct timespec now = tide_monotonic_in(0);
    *next = tide_timespec_later(*next, (int64_t)ms);
    if (next->tv_sec < now.tv_sec || (next->tv_sec == now.tv_sec && next->tv_nsec < now.tv_nsec))
        *next = now;
}

/* Closes a ledger for each interval until a signal comes or a ledger fails. */
static tide_status run_live(struct serve *serve, const sigset_t *signals, struct tide_err *err)
{
    struct timespec next = tide_monotonic_in(0);
    tide_status status = TIDE_OK;
    if (serve->options.close_ms == 0) {
        sigwaitinfo(signals, NULL);
    } else {
        advance_deadline(&next, serve->options.close_ms);
        while (status == TIDE_OK && wait_until(&next, signals)) {
            status = serve_close_ledgers(serve, 1, err);
            advance_deadline(&next, serve->options.close_ms);
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

/* Writes the port under a temporary name and renames the file, so that no reader sees a part. */
static tide_status write_port(const char *path, uint16_t port, struct tide_err *err)
{
    char temporary[4096];
    if ((size_t)snprintf(temporary, sizeof temporary, "%s.tmp", path) >= sizeof temporary)
        return tide_fail(err, TIDE_E_USAGE, "the name of --port-file is too long");
    FILE *file = fopen(temporary, "w");
    bool good = file && fprintf(file, "%u\n", port) > 0;
    if (file && fclose(file) != 0)
        good = false;
    if (!good || rename(temporary, path) != 0)
        return tide_fail(err, TIDE_E_IO, "cannot write %s", path);
    return TIDE_OK;
}

/* Splits "127.0.0.1:8000" or "[::1]:0". */
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

/* Starts the HTTP server. The caller holds the lock, so that requests wait until the URL is set. */
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
             serve->options.chain.passphrase, newest_ledger(serve).sequence);
    if (serve->options.port_file)
        return write_port(serve->options.port_file, port, err);
    return TIDE_OK;
}

/* Starts the HTTP server under the lock. */
static tide_status listen_http(struct serve *serve, struct tide_err *err)
{
    pthread_mutex_lock(&serve->lock);
    tide_status status = open_http(serve, err);
    atomic_store(&serve->listening, true);
    pthread_mutex_unlock(&serve->lock);
    return status;
}

/* --- opening and closing ------------------------------------------------------------------ */

/* Opens all parts. close_all closes what a failure has left open. */
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
        status = run_live(serve, signals, err);
    bool listened = serve->http != NULL;
    /* The HTTP threads use all other parts, so they end first. */
    serve_http_close(serve->http);
    if (listened)
        tide_log(TIDE_INFO, "serve.stopped", "simulated=true ledger=%u",
                 newest_ledger(serve).sequence);
    close_all(serve);
    return status;
}

static tide_status run_serve(struct serve *serve, const sigset_t *signals, struct tide_err *err)
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

/* Checks options that depend on each other. */
static tide_status check_options(const struct serve_options *o, struct tide_err *err)
{
    if (o->chain.first_ledger + o->chain.ledgers > UINT32_MAX)
        return tide_fail(err, TIDE_E_USAGE,
                         "--ledgers is too great for sequence numbers of 32 bits");
    if (o->recorded && o->chain.lake)
        return tide_fail(err, TIDE_E_USAGE, "--recorded and --lake exclude each other");
    if (o->chain.lcm == 1)
        return tide_fail(err, TIDE_E_USAGE,
                         "--lcm=1: a network with clients has protocol 23 or later, so version 2");
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
    /* sigtimedwait of this thread fetches the signals. The server's threads inherit the mask. */
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    sigaction(SIGPIPE, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL);
    pthread_mutex_init(&serve.lock, NULL);
    tide_status status = sim_options_read(tables, TIDE_COUNT(tables), argc, argv, &err);
    if (status == TIDE_OK)
        status = check_options(o, &err);
    tide_log_level_set(o->quiet ? TIDE_WARN : TIDE_INFO);
    if (status == TIDE_OK)
        status = run_serve(&serve, &signals, &err);
    if (tide_status_exit(status) != 0)
        fprintf(stderr, "tidemark-sim serve: %s\n", err.text);
    pthread_mutex_destroy(&serve.lock);
    return tide_status_exit(status);
}
