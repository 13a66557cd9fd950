/* Opens and closes a fleet; the thread that watches the servers not in use; a reset of the
 * network. */
#include "indexer/source/rpc/fleet_impl.h"
#include "tidemark/clock.h"
#include "tidemark/log.h"

enum {
    /* pause between two comparisons of a lagging server with the stored chain */
    STORED_MS = 5000,
    PAGE_FIRST = 8,  /* ledgers of the first page */
    PAGE_MOST = 100, /* fewer where they are large */
};

/* --- watching the others ------------------------------------------------------------------ */

static bool watch_cancelled(void *self)
{
    struct rpc_fleet *f = self;
    pthread_mutex_lock(&f->lock);
    bool closing = f->closing;
    pthread_mutex_unlock(&f->lock);
    return closing;
}

static void look_at(struct rpc_fleet *f, uint32_t server)
{
    struct rpc_server *s = &f->servers[server];
    struct tide_rpc_latest latest;
    struct tide_err err;
    tide_status status = tide_rpc_client_latest(&s->watcher, &latest, &err);
    if (status == TIDE_E_CHAIN && rpc_fleet_trust(f, server) != RPC_ASIDE)
        (void)rpc_fleet_put_aside(f, server, RPC_WATCHER, &err);
    if (status) {
        uint32_t asked_ms = s->watcher.last.after_ms;
        rpc_fleet_note_silent(f, server);
        pthread_mutex_lock(&f->lock);
        s->watch_ms = tide_now_ms() + (asked_ms > RPC_LOG_MS ? asked_ms : RPC_LOG_MS);
        pthread_mutex_unlock(&f->lock);
        return;
    }
    rpc_fleet_note_range(f, server, 0, latest.sequence);
    if (rpc_fleet_trust(f, server) == RPC_COMPARED)
        (void)!rpc_fleet_note_ledger(f, server, RPC_WATCHER, latest.sequence, latest.hash, &err);
    else
        rpc_fleet_compare_one(f, server, latest.sequence);
}

static void *watch_servers(void *self)
{
    struct rpc_fleet *f = self;
    pthread_mutex_lock(&f->lock);
    while (!f->closing) {
        for (uint32_t i = 0; i < f->count && !f->closing; i++) {
            bool used = i == f->current && f->servers[i].trust == RPC_COMPARED;
            if (used || f->servers[i].watch_ms > tide_now_ms())
                continue;
            pthread_mutex_unlock(&f->lock);
            look_at(f, i);
            pthread_mutex_lock(&f->lock);
        }
        struct timespec until = tide_monotonic_in(RPC_WATCH_MS);
        if (!f->closing)
            pthread_cond_timedwait(&f->wake, &f->lock, &until);
    }
    pthread_mutex_unlock(&f->lock);
    return NULL;
}

/* --- a reset of the network ------------------------------------------------------------------ */

/* Returns whether the current server, which is behind the stored chain, has another chain, so that
 * the network was reset. Compares at most once in STORED_MS. */
static bool is_reset(struct rpc_fleet *f, uint32_t first, struct tide_rpc_latest *latest)
{
    const struct tide_source_options *o = f->options.source;
    struct tide_err ignored;
    if (!o->stored_hash || tide_now_ms() - f->stored_ms < STORED_MS)
        return false;
    f->stored_ms = tide_now_ms();
    if (tide_rpc_client_latest(&f->servers[f->current].client, latest, &ignored) ||
        latest->sequence >= first)
        return false;
    return rpc_fleet_is_other_chain(f, first, latest->sequence, latest->hash);
}

enum rpc_outcome rpc_fleet_look_behind(struct rpc_fleet *f, uint32_t first, uint32_t newest,
                                       struct tide_err *err)
{
    struct tide_rpc_latest latest;
    char text[TIDE_ERR_TEXT_MAX];
    const char *name = f->servers[f->current].client.name;
    snprintf(text, sizeof text, "%s is at ledger %u, ledger %u is wanted", name, newest, first);
    rpc_fleet_set_trouble(f, text);
    if (!is_reset(f, first, &latest))
        return RPC_TIP;
    tide_fail(err, TIDE_E_CHAIN,
              "%s is at ledger %u of another chain, behind ledger %u that is stored: the network "
              "was reset; `tidemark-indexer reset --confirm` begins a new epoch of it",
              name, latest.sequence, first - 1);
    return rpc_fleet_put_aside(f, f->current, RPC_FETCHER, err) ? RPC_PAUSE : RPC_END;
}

/* --- life --------------------------------------------------------------------------------- */

static tide_status open_servers(struct rpc_fleet *f, struct tide_err *err)
{
    const struct tide_rpc_options options = { .config = f->config,
                                              .agent = "tidemark-indexer",
                                              .passphrase = f->options.source->passphrase,
                                              .rate = &f->rate,
                                              .cancelled = rpc_fleet_cancelled,
                                              .self = f };
    struct tide_rpc_options watching = options;
    watching.cancelled = watch_cancelled;
    const char *list = f->config->rpc;
    char url[TIDE_RPC_URL_BYTES];
    tide_status status = tide_rpc_check_list(list, err);
    while (!status && tide_rpc_next_url(&list, url)) {
        struct rpc_server *s = &f->servers[f->count++];
        s->size = rpc_size_of(PAGE_FIRST, PAGE_MOST);
        status = tide_rpc_client_open(&s->client, url, &options, err);
        if (!status)
            status = tide_rpc_client_open(&s->watcher, url, &watching, err);
    }
    return status;
}

/* Asks a server for its range by a request for ledger 2, whose error usually contains the range. If
 * it does not, asks for the newest ledger. */
static tide_status ask_range(struct rpc_fleet *f, uint32_t server, struct tide_err *err)
{
    struct rpc_server *s = &f->servers[server];
    struct tide_rpc_latest latest = { 0 };
    struct tide_rpc_one one;
    tide_status status = tide_rpc_client_one(&s->client, 2, &one, err);
    s->answered = status == TIDE_OK;
    if (status == TIDE_E_STOPPED && rpc_fleet_is_late(f))
        status = tide_fail(err, TIDE_E_IO, "%s: no answer while others are asked", s->client.name);
    if (status) {
        char quoted[TIDE_ERR_TEXT_MAX + 64];
        s->retry_ms = tide_now_ms() + s->client.last.after_ms;
        s->slow = false;
        if (s->logged_ms == 0 || tide_now_ms() - s->logged_ms >= RPC_LOG_MS)
            tide_log(TIDE_WARN, "rpc.unreachable", "error=%s",
                     tide_log_quote(quoted, sizeof quoted, err->text));
        s->logged_ms = tide_now_ms();
        f->last = *err;
        return status;
    }
    if (one.latest == 0 && tide_rpc_client_latest(&s->client, &latest, err) == TIDE_OK)
        one.latest = latest.sequence;
    rpc_fleet_note_range(f, server, one.oldest, one.latest);
    tide_log(TIDE_INFO, "rpc.open", "server=%s oldest=%u latest=%u", s->client.name, one.oldest,
             one.latest);
    return TIDE_OK;
}

static bool may_be_greeted(struct rpc_fleet *f, uint32_t server)
{
    return f->servers[server].retry_ms <= tide_now_ms() && rpc_fleet_trust(f, server) != RPC_ASIDE;
}

/* Asks the servers that did not answer yet for their ranges. each_ms: time of each, 0: that of any
 * request. Adds those that answer to *answered. TIDE_E_CHAIN, TIDE_E_STOPPED. */
static tide_status ask_ranges(struct rpc_fleet *f, int64_t each_ms, uint32_t *answered,
                              struct tide_err *err)
{
    tide_status status = TIDE_OK;
    for (uint32_t i = 0; status != TIDE_E_CHAIN && status != TIDE_E_STOPPED && i < f->count; i++) {
        struct rpc_server *s = &f->servers[i];
        if (s->answered || !may_be_greeted(f, i))
            continue;
        f->greet_until_ms = each_ms ? tide_now_ms() + each_ms : 0;
        status = ask_range(f, i, err);
        f->greet_until_ms = 0;
        if (status == TIDE_E_CHAIN && rpc_fleet_put_aside(f, i, RPC_FETCHER, err))
            status = TIDE_OK;
        *answered += s->answered;
    }
    return status;
}

/* A server that hangs is waited for only if fewer than two others answer. */
tide_status rpc_fleet_greet(struct rpc_fleet *f, struct tide_err *err)
{
    uint32_t answered = 0;
    for (uint32_t i = 0; i < f->count; i++)
        f->servers[i].answered = f->servers[i].answered && !may_be_greeted(f, i);
    tide_status status = ask_ranges(f, f->count > 2 ? RPC_GREET_MS : 0, &answered, err);
    if (f->count > 2 && answered < 2 && status != TIDE_E_CHAIN && status != TIDE_E_STOPPED)
        status = ask_ranges(f, 0, &answered, err);
    if (status != TIDE_E_CHAIN && status != TIDE_E_STOPPED && f->count > 1)
        status = rpc_fleet_compare(f, RPC_FETCHER, err);
    return status == TIDE_E_CHAIN || status == TIDE_E_STOPPED ? status : TIDE_OK;
}

static bool init_locks(struct rpc_fleet *f)
{
    return pthread_mutex_init(&f->lock, NULL) == 0 && tide_cond_init(&f->wake);
}

void rpc_fleet_close(struct rpc_fleet *f)
{
    if (!f)
        return;
    pthread_mutex_lock(&f->lock);
    f->closing = true;
    pthread_cond_broadcast(&f->wake);
    pthread_mutex_unlock(&f->lock);
    if (f->watching)
        pthread_join(f->thread, NULL);
    for (uint32_t i = 0; i < f->count; i++) {
        tide_rpc_client_close(&f->servers[i].client);
        tide_rpc_client_close(&f->servers[i].watcher);
    }
    pthread_cond_destroy(&f->wake);
    pthread_mutex_destroy(&f->lock);
    tide_rpc_rate_destroy(&f->rate);
    free(f);
}

tide_status rpc_fleet_open(struct rpc_fleet **out, const struct rpc_fleet_options *options,
                           struct tide_err *err)
{
    struct rpc_fleet *f = calloc(1, sizeof *f);
    const struct tide_config *config = options->source->config;
    if (!f || !init_locks(f) || tide_rpc_rate_init(&f->rate, config->rpc_requests_s)) {
        free(f);
        return tide_fail(err, TIDE_E_MEMORY, "rpc: out of memory");
    }
    f->options = *options;
    f->config = config;
    tide_retry_init(&f->retry, tide_now_ms(), 0);
    tide_status status = open_servers(f, err);
    if (!status && f->count == 1)
        /* a single server can only be compared with the stored chain */
        f->servers[0].trust = RPC_COMPARED;
    if (!status)
        status = rpc_fleet_greet(f, err);
    if (!status && f->count > 1) {
        f->watching = pthread_create(&f->thread, NULL, watch_servers, f) == 0;
        if (!f->watching)
            status = tide_fail(err, TIDE_E_MEMORY, "rpc: cannot start a thread");
    }
    if (status) {
        rpc_fleet_close(f);
        return status;
    }
    *out = f;
    return TIDE_OK;
}
