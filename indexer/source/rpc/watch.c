/* A fleet's life, and the thread that looks at the servers which are not in use. */
#include "indexer/source/rpc/fleet_impl.h"
#include "tidemark/clock.h"
#include "tidemark/log.h"

enum {
    WATCH_MS = 1000, /* between looks */
    PAGE_FIRST = 8,  /* ledgers of the first page */
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

static void look_at(struct rpc_fleet *f, uint32_t server, struct tide_buf *body)
{
    struct rpc_server *s = &f->servers[server];
    struct rpc_latest latest;
    struct rpc_hint hint;
    struct tide_err err;
    tide_status status = rpc_client_latest(&s->watcher, &latest, body, &hint, &err);
    if (status == TIDE_E_CHAIN) {
        pthread_mutex_lock(&f->lock);
        if (!f->forked)
            f->fork = err;
        f->forked = true;
        pthread_mutex_unlock(&f->lock);
    }
    if (status || latest.error.code) {
        rpc_fleet_note_silent(f, server);
        s->watch_ms = tide_now_ms() + (hint.after_ms > RPC_LOG_MS ? hint.after_ms : RPC_LOG_MS);
        return;
    }
    rpc_fleet_note_range(f, server, 0, latest.sequence);
    rpc_fleet_note_ledger(f, server, latest.sequence, latest.hash);
}

static void *watch_servers(void *self)
{
    struct rpc_fleet *f = self;
    struct tide_buf body;
    tide_buf_init(&body, 0);
    pthread_mutex_lock(&f->lock);
    while (!f->closing) {
        for (uint32_t i = 0; i < f->count && !f->closing; i++) {
            if (i == f->current || f->servers[i].watch_ms > tide_now_ms())
                continue;
            pthread_mutex_unlock(&f->lock);
            look_at(f, i, &body);
            pthread_mutex_lock(&f->lock);
        }
        struct timespec until = tide_monotonic_in(WATCH_MS);
        if (!f->closing)
            pthread_cond_timedwait(&f->wake, &f->lock, &until);
    }
    pthread_mutex_unlock(&f->lock);
    tide_buf_release(&body);
    return NULL;
}

/* --- life --------------------------------------------------------------------------------- */

static tide_status open_server(struct rpc_fleet *f, const char *url, struct tide_err *err)
{
    const struct rpc_client_options options = { .config = f->config,
                                                .passphrase = f->options.source->passphrase,
                                                .rate = &f->rate,
                                                .cancelled = rpc_fleet_cancelled,
                                                .self = f };
    struct rpc_client_options watching = options;
    watching.cancelled = watch_cancelled;
    if (f->count == RPC_SERVERS_MAX)
        return tide_fail(err, TIDE_E_CONFIG, "rpc: more than %d servers", RPC_SERVERS_MAX);
    struct rpc_server *s = &f->servers[f->count++];
    tide_status status = rpc_client_open(&s->client, url, &options, err);
    return status ? status : rpc_client_open(&s->watcher, url, &watching, err);
}

static tide_status open_servers(struct rpc_fleet *f, struct tide_err *err)
{
    tide_status status = TIDE_OK;
    const char *list = f->config->rpc;
    char url[RPC_URL_BYTES];
    while (!status && rpc_client_next_url(&list, url))
        status = open_server(f, url, err);
    if (!status && f->count == 0)
        return tide_fail(err, TIDE_E_CONFIG, "rpc: no address in it");
    return status;
}

/* Compares the hashes of the newest ledger that all servers keep, before rows come from one of
 * them. A server that does not answer now is compared later, by the thread that watches. */
static tide_status compare_servers(struct rpc_fleet *f, struct rpc_page *page,
                                   struct tide_buf *body, struct tide_err *err)
{
    uint32_t newest = UINT32_MAX, oldest = 0;
    for (uint32_t i = 0; i < f->count; i++) {
        const struct rpc_server *s = &f->servers[i];
        if (s->latest && s->latest < newest)
            newest = s->latest;
        if (s->oldest > oldest)
            oldest = s->oldest;
    }
    const struct rpc_question question = { newest, 1 };
    for (uint32_t i = 0; f->count > 1 && newest >= oldest && i < f->count; i++) {
        struct rpc_hint hint;
        if (f->servers[i].latest &&
            rpc_client_page(&f->servers[i].client, &question, page, body, &hint, err) == TIDE_OK &&
            page->error.code == 0 && page->count && page->ledgers[0].sequence == newest)
            rpc_fleet_note_ledger(f, i, newest, page->ledgers[0].hash);
    }
    if (f->forked)
        *err = f->fork;
    return f->forked ? TIDE_E_CHAIN : TIDE_OK;
}

/* One answer of each server tells its network and its range; the range of ledger 2 is the error
 * that names it, mostly. */
static tide_status greet(struct rpc_fleet *f, struct tide_err *err)
{
    struct tide_buf body;
    tide_status status = TIDE_OK;
    struct rpc_page *page = malloc(sizeof *page);
    if (!page)
        return tide_fail(err, TIDE_E_MEMORY, "rpc: out of memory");
    tide_buf_init(&body, 0);
    for (uint32_t i = 0; status != TIDE_E_CHAIN && status != TIDE_E_STOPPED && i < f->count; i++) {
        struct rpc_server *s = &f->servers[i];
        struct rpc_hint hint;
        const struct rpc_question question = { 2, 1 };
        status = rpc_client_page(&s->client, &question, page, &body, &hint, err);
        if (status) {
            char quoted[TIDE_ERR_TEXT_MAX + 64];
            s->retry_ms = tide_now_ms() + hint.after_ms;
            tide_log(TIDE_WARN, "rpc.unreachable", "error=%s",
                     tide_log_quote(quoted, sizeof quoted, err->text));
            continue;
        }
        rpc_fleet_note_range(f, i, page->error.code ? page->error.oldest : page->oldest,
                             page->error.code ? page->error.latest : page->latest);
        tide_log(TIDE_INFO, "rpc.open", "server=%s oldest=%u latest=%u", s->client.name, s->oldest,
                 s->latest);
    }
    if (status != TIDE_E_CHAIN && status != TIDE_E_STOPPED)
        status = compare_servers(f, page, &body, err);
    tide_buf_release(&body);
    free(page);
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
        rpc_client_close(&f->servers[i].client);
        rpc_client_close(&f->servers[i].watcher);
    }
    pthread_cond_destroy(&f->wake);
    pthread_mutex_destroy(&f->lock);
    rpc_rate_destroy(&f->rate);
    free(f);
}

tide_status rpc_fleet_open(struct rpc_fleet **out, const struct rpc_fleet_options *options,
                           struct tide_err *err)
{
    struct rpc_fleet *f = calloc(1, sizeof *f);
    const struct tide_config *config = options->source->config;
    if (!f || !init_locks(f) || rpc_rate_init(&f->rate, config->rpc_requests_s)) {
        free(f);
        return tide_fail(err, TIDE_E_MEMORY, "rpc: out of memory");
    }
    f->options = *options;
    f->config = config;
    f->limit = PAGE_FIRST < config->rpc_page ? PAGE_FIRST : config->rpc_page;
    tide_retry_init(&f->retry, tide_now_ms(), 0);
    tide_status status = open_servers(f, err);
    if (!status)
        status = greet(f, err);
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
