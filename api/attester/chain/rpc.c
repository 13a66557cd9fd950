/* Chooses the servers to call, and the answers that count. */
#include "api/attester/chain/rpc.h"
#include "tidemark/retry.h"

#include <stdlib.h>

enum { ANSWER_MAX = 8 << 20 /* bytes of an answer */, REQUEST_MAX = 1 << 20 };
/* JUMP_LEDGERS and LEDGERS_MS bound how far one server's newest ledger may move forward: 10 000
 * ledgers, and one more for each 10 ms since its last report. A report that its server does not
 * reach again is forgotten after FORGET_MS. If the index sets a floor, the floor keeps out answers
 * from the past, and FORGET_INDEXED_MS is enough. */
enum { JUMP_LEDGERS = 10000, LEDGERS_MS = 10 };
enum { FORGET_MS = 600 * 1000, FORGET_INDEXED_MS = 30 * 1000 };

struct server {
    struct tide_rpc_client client;
    bool foreign;            /* another network answered */
    bool excluded;           /* excluded until att_rpc_include_all */
    int64_t paused_until_ms; /* monotonic; not called before */
    uint32_t failures;       /* failures since the last success */
    uint32_t latest;         /* newest ledger that it reported */
    int64_t latest_ms;       /* monotonic; time of that report */
};

struct att_rpc {
    struct att_rpc_options options;
    struct server servers[TIDE_RPC_SERVERS_MAX];
    uint32_t count;
    uint32_t current; /* called first: the server that answered last, or was selected since */
    uint32_t first;   /* first excluded server */
    uint32_t sender;  /* gets the next transaction */
    struct tide_retry retry;
    char failure[TIDE_ERR_TEXT_MAX]; /* last failure of any server, for messages */
    uint32_t floor, ceiling;         /* lowest and highest plausible newest ledger; 0: none */
    struct tide_buf params, body;
};

/* One call. The params are in att_rpc.params. */
struct question {
    const struct tide_rpc_question *what;
    void *out;
    const uint32_t *latest;     /* newest ledger in *out; NULL: it does not tell */
    const uint64_t *close_time; /* close time of that ledger in *out, 0 if not told; or NULL */
    bool once;                  /* one server only, a different one at each call */
};

/* One lying server alone cannot raise the result: the second highest report counts. */
uint32_t att_rpc_latest(const struct att_rpc *rpc)
{
    uint32_t first = 0, second = 0;
    for (uint32_t i = 0; i < rpc->count; i++) {
        uint32_t reported = rpc->servers[i].latest;
        second = reported > first ? first : reported > second ? reported : second;
        first = reported > first ? reported : first;
    }
    return second ? second : first;
}

uint32_t att_rpc_newest(const struct att_rpc *rpc)
{
    assert(rpc->current < rpc->count);
    uint32_t reported = rpc->servers[rpc->current].latest, latest = att_rpc_latest(rpc);
    return reported > latest ? reported : latest;
}

void att_rpc_limit_ledgers(struct att_rpc *rpc, uint32_t floor, uint32_t ceiling)
{
    rpc->floor = floor;
    rpc->ceiling = ceiling;
}

void att_rpc_forget_ledgers(struct att_rpc *rpc)
{
    for (uint32_t i = 0; i < rpc->count; i++) {
        rpc->servers[i].latest = 0;
        rpc->servers[i].client.known = false;
    }
}

/* --- which answers count ---------------------------------------------------------------------- */

/* True if the server is neither paused nor excluded. */
static bool can_call(const struct att_rpc *rpc, uint32_t at, int64_t now)
{
    assert(at < rpc->count);
    const struct server *server = &rpc->servers[at];
    return server->paused_until_ms <= now && !server->excluded;
}

static int64_t now_of(const struct att_rpc *rpc)
{
    return rpc->options.clock->now_ms(rpc->options.clock->self);
}

/* Returns whether close_time (unix seconds) is within clock_skew_s of this host's time. The close
 * time of a newest ledger that is not comes from a server that lags or lies. */
static bool is_now(const struct att_rpc *rpc, uint64_t close_time)
{
    int64_t now = rpc->options.clock->wall_ms(rpc->options.clock->self) / 1000;
    int64_t skew = rpc->options.config->clock_skew_s;
    return close_time <= INT64_MAX && (int64_t)close_time <= now + skew &&
           (int64_t)close_time >= now - skew;
}

/* Fails with TIDE_E_IO if the answer's newest ledger is older than known ledgers, which would show
 * a past state as the present one, cannot exist yet, or closed at another time than now. Otherwise
 * stores it. */
static tide_status note_ledger(struct att_rpc *rpc, struct server *server, const struct question *q,
                               struct tide_err *err)
{
    int64_t now = now_of(rpc);
    if (q->close_time && *q->close_time && !is_now(rpc, *q->close_time))
        return tide_fail(err, TIDE_E_IO,
                         "the newest ledger is too far from this host's time (clock_skew_s)");
    if (!q->latest)
        return TIDE_OK;
    uint32_t latest = *q->latest;
    bool behind = latest < server->latest;
    int64_t forget_ms = rpc->floor ? FORGET_INDEXED_MS : FORGET_MS;
    if (latest < rpc->floor || (behind && now - server->latest_ms < forget_ms))
        return tide_fail(err, TIDE_E_IO, "the server is at ledger %u, behind %u", latest,
                         latest < rpc->floor ? rpc->floor : server->latest);
    if ((rpc->ceiling && latest > rpc->ceiling) ||
        (server->latest && !behind &&
         latest - server->latest > JUMP_LEDGERS + (uint64_t)(now - server->latest_ms) / LEDGERS_MS))
        return tide_fail(err, TIDE_E_IO, "latestLedger %u is ahead of the clock or of the index",
                         latest);
    server->latest = latest;
    server->latest_ms = now;
    return TIDE_OK;
}

/* --- the servers ------------------------------------------------------------------------------ */

/* Pauses the server for the longer of the doubled pause and the one that the server asked for. */
static void pause_server(struct att_rpc *rpc, struct server *server)
{
    const struct tide_config *config = rpc->options.config;
    uint32_t pause =
        tide_retry_pause_ms(&rpc->retry, ATT_RETRY_MS, config->retry_ms_max, server->failures++);
    uint32_t asked = server->client.last.after_ms;
    server->client.known = false;
    server->paused_until_ms = now_of(rpc) + (asked > pause ? asked : pause);
}

static tide_status note_failure(struct att_rpc *rpc, tide_status status, const struct tide_err *err)
{
    assert(status != TIDE_OK && err->code == status);
    static_assert(sizeof rpc->failure == sizeof err->text, "copied whole");
    memcpy(rpc->failure, err->text, sizeof rpc->failure);
    return status;
}

int64_t att_rpc_rest_ms(const struct att_rpc *rpc)
{
    int64_t now = now_of(rpc), least = INT64_MAX;
    for (uint32_t i = 0; i < rpc->count; i++)
        if (rpc->servers[i].paused_until_ms - now < least)
            least = rpc->servers[i].paused_until_ms - now;
    return least > 0 ? least : 0;
}

tide_status att_rpc_distrust(struct att_rpc *rpc, const char *problem, struct tide_err *err)
{
    assert(rpc->current < rpc->count);
    struct server *server = &rpc->servers[rpc->current];
    pause_server(rpc, server);
    att_rpc_select_next(rpc); /* the server answers fast and would be called first again */
    return note_failure(rpc, tide_fail(err, TIDE_E_IO, "%s: %s", server->client.name, problem),
                        err);
}

static tide_status try_server(struct att_rpc *rpc, uint32_t at, const struct question *q,
                              struct tide_err *err)
{
    assert(at < rpc->count);
    struct server *server = &rpc->servers[at];
    tide_status status = tide_rpc_ask(&server->client, q->what, tide_buf_view(&rpc->params),
                                      &rpc->body, q->out, err);
    server->foreign = status == TIDE_E_CHAIN || (status && server->foreign);
    if (status == TIDE_OK && note_ledger(rpc, server, q, err) != TIDE_OK)
        status = tide_fail_context(err, "%s", server->client.name);
    if (status == TIDE_OK) {
        rpc->current = at;
        server->failures = 0;
        return TIDE_OK;
    }
    /* A stop and a lack of memory are not the server's fault. */
    if (status != TIDE_E_STOPPED && status != TIDE_E_MEMORY)
        pause_server(rpc, server);
    return note_failure(rpc, status, err);
}

/* Calls a server. Without once, tries them in turn, beginning with the current one, until one
 * answers. */
static tide_status call_any(struct att_rpc *rpc, const struct question *q, struct tide_err *err)
{
    assert(rpc->count > 0 && rpc->current < rpc->count && rpc->sender < rpc->count);
    int64_t now = now_of(rpc);
    uint32_t called = 0, foreign = 0, first = q->once ? rpc->sender : rpc->current;
    tide_status status =
        tide_fail(err, TIDE_E_IO, "every server failed a moment ago, the last: %s", rpc->failure);
    if (rpc->params.failed)
        return tide_fail(err, TIDE_E_MEMORY, "no memory for a request");
    for (uint32_t i = 0; i < rpc->count && !(q->once && called); i++) {
        uint32_t at = (first + i) % rpc->count;
        if (!can_call(rpc, at, now))
            continue;
        called++;
        if (q->once)
            rpc->sender = (at + 1) % rpc->count;
        status = try_server(rpc, at, q, err);
        if (status == TIDE_OK || status == TIDE_E_STOPPED || status == TIDE_E_MEMORY)
            return status;
    }
    if (q->once && called) /* a failed sending moves on to another server */
        rpc->current = rpc->sender;
    for (uint32_t i = 0; i < rpc->count; i++)
        foreign += rpc->servers[i].foreign;
    /* TIDE_E_CHAIN ends the program, so it needs the agreement of every server. */
    err->code = status == TIDE_E_CHAIN && foreign == rpc->count ? TIDE_E_CHAIN : TIDE_E_IO;
    return err->code;
}

uint32_t att_rpc_server_count(const struct att_rpc *rpc)
{
    return rpc->count;
}

bool att_rpc_exclude_current(struct att_rpc *rpc)
{
    assert(rpc->current < rpc->count);
    int64_t now = now_of(rpc);
    bool first = true;
    for (uint32_t i = 0; i < rpc->count; i++)
        first &= !rpc->servers[i].excluded;
    /* rpc->first is the server whose answer is checked: the one that is excluded first. */
    if (first)
        rpc->first = rpc->current;
    rpc->servers[rpc->current].excluded = true;
    for (uint32_t i = 0; i < rpc->count; i++)
        if (can_call(rpc, i, now))
            return true;
    return false;
}

void att_rpc_select_first(struct att_rpc *rpc)
{
    assert(rpc->first < rpc->count);
    rpc->current = rpc->first;
}

void att_rpc_include_all(struct att_rpc *rpc)
{
    for (uint32_t i = 0; i < rpc->count; i++)
        rpc->servers[i].excluded = false;
}

void att_rpc_select_next(struct att_rpc *rpc)
{
    assert(rpc->count > 0);
    rpc->current = (rpc->current + 1) % rpc->count;
}

void att_rpc_select_after_first(struct att_rpc *rpc)
{
    assert(rpc->count > 0 && rpc->first < rpc->count);
    int64_t now = now_of(rpc);
    rpc->current = rpc->first;
    for (uint32_t i = rpc->count - 1; i > 0; i--)
        if (can_call(rpc, (rpc->first + i) % rpc->count, now))
            rpc->current = (rpc->first + i) % rpc->count;
}

/* --- the calls -------------------------------------------------------------------------------- */

/* Returns the buffer for the params of the next call, emptied. */
static struct tide_buf *new_params(struct att_rpc *rpc)
{
    tide_buf_reset(&rpc->params);
    return &rpc->params;
}

tide_status att_rpc_tip(struct att_rpc *rpc, struct att_tip *out, struct tide_err *err)
{
    static const uint8_t none[TIDE_HASH_BYTES];
    struct tide_rpc_latest latest;
    const struct question q = { .what = &tide_rpc_latest_ledger,
                                .out = &latest,
                                .close_time = &latest.close_time };
    tide_buf_str(new_params(rpc), "{}");
    tide_status status = call_any(rpc, &q, err);
    *out = (struct att_tip){ 0 };
    if (status != TIDE_OK)
        return status;
    *out = (struct att_tip){ .ledger = latest.sequence, .close_time = latest.close_time };
    if (latest.close_time)
        return TIDE_OK;
    struct tide_rpc_found found; /* older servers report the close time only in getTransaction */
    status = att_rpc_find(rpc, &found, none, err);
    *out = (struct att_tip){ .ledger = found.latest, .close_time = found.close_time };
    return status;
}

tide_status att_rpc_entries(struct att_rpc *rpc, struct tide_rpc_entries *out,
                            const tide_slice *keys, size_t count, struct tide_err *err)
{
    const struct question q = { &tide_rpc_ledger_entries, out, .latest = &out->ledger };
    *out = (struct tide_rpc_entries){ .keys = keys, .count = count };
    tide_rpc_params_keys(new_params(rpc), keys, count);
    return call_any(rpc, &q, err);
}

tide_status att_rpc_simulate(struct att_rpc *rpc, struct tide_rpc_simulated *out,
                             tide_slice envelope, struct tide_err *err)
{
    const struct question q = { &tide_rpc_simulation, out, .latest = &out->ledger };
    tide_rpc_params_tx(new_params(rpc), envelope);
    return call_any(rpc, &q, err);
}

tide_status att_rpc_send(struct att_rpc *rpc, struct tide_rpc_sent *out, tide_slice envelope,
                         struct tide_err *err)
{
    const struct question q = { &tide_rpc_sending, out, .latest = &out->latest, .once = true };
    tide_rpc_params_tx(new_params(rpc), envelope);
    return call_any(rpc, &q, err);
}

tide_status att_rpc_find(struct att_rpc *rpc, struct tide_rpc_found *out,
                         const uint8_t hash[TIDE_HASH_BYTES], struct tide_err *err)
{
    const struct question q = { &tide_rpc_get_transaction, out, &out->latest, &out->close_time,
                                false };
    tide_rpc_params_hash(new_params(rpc), hash);
    tide_status status = call_any(rpc, &q, err);
    if (status != TIDE_OK)
        *out = (struct tide_rpc_found){ 0 };
    return status;
}

tide_status att_rpc_fee(struct att_rpc *rpc, int64_t *out, struct tide_err *err)
{
    struct tide_rpc_fees fees;
    const struct question q = { &tide_rpc_fee_stats, &fees, .latest = &fees.latest };
    tide_buf_str(new_params(rpc), "{}");
    tide_status status = call_any(rpc, &q, err);
    if (status == TIDE_OK)
        *out = fees.p90 < 100 ? 100 : fees.p90;
    return status;
}

/* --- life ------------------------------------------------------------------------------------- */

tide_status att_rpc_open(struct att_rpc **out, const struct att_rpc_options *options,
                         struct tide_err *err)
{
    assert(options->clock && options->passphrase);
    const char *list = options->config->rpc;
    const struct tide_rpc_options each = { .config = options->config,
                                           .agent = "tidemark-attester",
                                           .passphrase = options->passphrase,
                                           .cancelled = options->cancelled,
                                           .call = options->call,
                                           .self = options->self };
    char url[TIDE_RPC_URL_BYTES];
    struct att_rpc *rpc = calloc(1, sizeof *rpc);
    if (!rpc)
        return tide_fail(err, TIDE_E_MEMORY, "no memory for the rpc client");
    rpc->options = *options;
    tide_buf_init(&rpc->params, REQUEST_MAX);
    tide_buf_init(&rpc->body, ANSWER_MAX);
    tide_status status = tide_rpc_check_list(list, err);
    while (status == TIDE_OK && tide_rpc_next_url(&list, url))
        status = tide_rpc_client_open(&rpc->servers[rpc->count++].client, url, &each, err);
    if (status != TIDE_OK) {
        att_rpc_close(rpc);
        return status;
    }
    tide_retry_init(&rpc->retry, options->clock->wall_ms(options->clock->self), 0);
    *out = rpc;
    return TIDE_OK;
}

void att_rpc_close(struct att_rpc *rpc)
{
    if (!rpc)
        return;
    for (uint32_t i = 0; i < rpc->count; i++)
        tide_rpc_client_close(&rpc->servers[i].client);
    tide_buf_release(&rpc->params);
    tide_buf_release(&rpc->body);
    free(rpc);
}
