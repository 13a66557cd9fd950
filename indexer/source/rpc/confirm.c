/* Confirms ledgers: one server alone could give a ledger that its network never closes. The hashes
 * of such a ledger hold, so only another server can contradict it, once it has the real one. */
#include "indexer/source/rpc/fleet_impl.h"
#include "tidemark/clock.h"
#include "tidemark/log.h"

/* Another server's word about the page. NONE: nothing now. BEHIND: it has none of its ledgers
 * yet. */
enum vote { VOTE_NONE, VOTE_BEHIND, VOTE_SAME, VOTE_OTHER };

/* Waits no longer for a server that is behind, at first for rpc_confirm_ms, then for twice as long
 * each time: otherwise it could delay every ledger. */
static void leave_behind(struct rpc_fleet *f, uint32_t server, uint32_t ledger)
{
    struct rpc_server *s = &f->servers[server];
    pthread_mutex_lock(&f->lock);
    s->left_pause_ms = s->left_pause_ms ? 2 * s->left_pause_ms : f->config->rpc_confirm_ms;
    if (s->left_pause_ms > RPC_ASIDE_MS_MAX)
        s->left_pause_ms = RPC_ASIDE_MS_MAX;
    s->left_ms = tide_now_ms() + s->left_pause_ms;
    pthread_mutex_unlock(&f->lock);
    f->behind_ms = 0;
    tide_log(TIDE_WARN, "rpc.behind", "server=%s ledger=%u pause_ms=%" PRId64, s->client.name,
             ledger, s->left_pause_ms);
}

void rpc_fleet_note_held(struct rpc_fleet *f, uint32_t ledger)
{
    uint32_t count = 0, behind = 0;
    char text[TIDE_ERR_TEXT_MAX];
    if (!f->behind_ms)
        f->behind_ms = tide_now_ms();
    int64_t held_ms = tide_now_ms() - f->behind_ms;
    for (uint32_t i = 0; i < f->count; i++)
        if (i != f->current && rpc_fleet_awaits(f, i, ledger)) {
            count++;
            behind = i;
        }
    if (count == 1 && held_ms >= f->config->rpc_confirm_ms) {
        leave_behind(f, behind, ledger);
    } else if (count && held_ms >= RPC_GREET_MS) { /* shorter waits are usual */
        snprintf(text, sizeof text, "ledger %u: %s has it, and %s%s does not", ledger,
                 f->servers[f->current].client.name, f->servers[behind].client.name,
                 count > 1 ? ", like others that answer," : "");
        rpc_fleet_set_trouble(f, text);
    }
}

/* --- one other server --------------------------------------------------------------------- */

static const struct tide_rpc_ledger *last_of(const struct tide_rpc_page *page)
{
    return &page->ledgers[page->count - 1];
}

/* Compares a server's hash of a ledger of the page, and notes it. *upto is that ledger. */
static enum vote compare_hash(struct rpc_fleet *f, uint32_t server,
                              const struct tide_rpc_page *page, uint32_t ledger,
                              const uint8_t *hash, uint32_t *upto)
{
    const struct tide_rpc_ledger *l = &page->ledgers[ledger - page->ledgers[0].sequence];
    uint32_t other;
    assert(l->sequence == ledger);
    *upto = ledger;
    pthread_mutex_lock(&f->lock);
    rpc_memory_note(&f->memory, ledger, hash, server, &other);
    pthread_mutex_unlock(&f->lock);
    return memcmp(hash, l->hash, TIDE_HASH_BYTES) == 0 ? VOTE_SAME : VOTE_OTHER;
}

static void note_answer(struct rpc_fleet *f, uint32_t server, uint32_t oldest, uint32_t latest)
{
    rpc_fleet_note_success(f, server);
    rpc_fleet_note_range(f, server, oldest, latest);
    pthread_mutex_lock(&f->lock);
    f->servers[server].watch_ms = tide_now_ms() + RPC_WATCH_MS; /* the watcher need not ask, too */
    pthread_mutex_unlock(&f->lock);
}

/* Notes that a server did not answer. It is asked again after a pause, and waited for until
 * RPC_GREET_MS after the first such failure. */
static enum vote note_failure(struct rpc_fleet *f, uint32_t server, tide_status status,
                              struct tide_err *err)
{
    struct rpc_server *s = &f->servers[server];
    if (status == TIDE_E_STOPPED && !rpc_fleet_is_late(f))
        return VOTE_NONE;
    if (status == TIDE_E_CHAIN) {
        (void)rpc_fleet_put_aside(f, server, RPC_FETCHER, err);
        return VOTE_NONE;
    }
    if (status == TIDE_E_STOPPED)
        tide_fail(err, TIDE_E_IO, "%s: no answer within %d ms", s->client.name, RPC_GREET_MS);
    rpc_fleet_note_failure(f, server, s->client.last.after_ms, err);
    pthread_mutex_lock(&f->lock);
    s->mute_ms = s->mute_ms ? s->mute_ms : tide_now_ms();
    pthread_mutex_unlock(&f->lock);
    return VOTE_NONE;
}

/* Asks a server that is ahead for the page's last ledger. */
static enum vote ask_ledger(struct rpc_fleet *f, uint32_t server, const struct tide_rpc_page *page,
                            uint32_t *upto)
{
    struct tide_rpc_client *client = &f->servers[server].client;
    uint32_t ledger = last_of(page)->sequence;
    struct tide_rpc_one one;
    struct tide_err err;
    tide_status status = tide_rpc_client_one(client, ledger, &one, &err);
    if (status)
        return note_failure(f, server, status, &err);
    bool behind = one.latest && one.latest<ledger, gone = one.oldest> ledger;
    if (!behind && !gone && !one.given) {
        const char *why = client->last.error.code ? client->last.error.message : "it is left out";
        tide_fail(&err, TIDE_E_IO, "%s: getLedgers: ledger %u is not given: %s", client->name,
                  ledger, why);
        return note_failure(f, server, TIDE_E_IO, &err);
    }
    note_answer(f, server, one.oldest, one.latest);
    if (behind || gone)
        return behind ? VOTE_BEHIND : VOTE_NONE;
    return compare_hash(f, server, page, ledger, one.hash, upto);
}

static enum vote ask_latest(struct rpc_fleet *f, uint32_t server, const struct tide_rpc_page *page,
                            uint32_t *upto)
{
    struct tide_rpc_latest latest;
    struct tide_err err;
    tide_status status = tide_rpc_client_latest(&f->servers[server].client, &latest, &err);
    if (status)
        return note_failure(f, server, status, &err);
    note_answer(f, server, 0, latest.sequence);
    if (latest.sequence < page->ledgers[0].sequence)
        return VOTE_BEHIND;
    if (latest.sequence > last_of(page)->sequence)
        return ask_ledger(f, server, page, upto);
    return compare_hash(f, server, page, latest.sequence, latest.hash, upto);
}

/* Returns the server's vote if it reported the hash of the page's last ledger earlier. Otherwise
 * asks it, if may_ask, and if the source waits for it. */
static enum vote vote_of(struct rpc_fleet *f, uint32_t server, const struct tide_rpc_page *page,
                         bool may_ask, uint32_t *upto)
{
    const struct rpc_server *s = &f->servers[server];
    uint32_t last = last_of(page)->sequence;
    uint8_t hash[TIDE_HASH_BYTES];
    pthread_mutex_lock(&f->lock);
    bool known = rpc_memory_delivered(&f->memory, last, server, hash);
    bool ahead = s->latest > last;
    f->overtaken = false;
    pthread_mutex_unlock(&f->lock);
    if (known)
        return compare_hash(f, server, page, last, hash, upto);
    if (!may_ask || s->retry_ms > tide_now_ms() ||
        !rpc_fleet_awaits(f, server, page->ledgers[0].sequence))
        return VOTE_NONE;
    f->greet_until_ms = tide_now_ms() + RPC_GREET_MS;
    enum vote vote = ahead ? ask_ledger(f, server, page, upto) : ask_latest(f, server, page, upto);
    f->greet_until_ms = 0;
    return vote;
}

/* --- the page ----------------------------------------------------------------------------- */

struct votes {
    bool same, other;
    uint32_t server;    /* the one with the same hash */
    uint32_t upto;      /* last ledger that it has of the page */
    uint32_t contested; /* ledger of which another server has another hash */
    uint32_t waiting;   /* servers without a vote that are waited for */
};

static void count_vote(struct rpc_fleet *f, struct votes *v, uint32_t server,
                       const struct tide_rpc_page *page, enum vote vote, uint32_t upto)
{
    bool whole = vote == VOTE_SAME && upto == last_of(page)->sequence;
    if (vote == VOTE_SAME) {
        v->same = true;
        v->server = server;
        v->upto = upto;
    } else if (vote == VOTE_OTHER) {
        v->other = true;
        v->contested = upto;
    } else {
        v->waiting += rpc_fleet_awaits(f, server, page->ledgers[0].sequence);
    }
    pthread_mutex_lock(&f->lock);
    if (vote == VOTE_BEHIND || vote == VOTE_SAME)
        f->servers[server].late = !whole;
    pthread_mutex_unlock(&f->lock);
    if (vote == VOTE_BEHIND || vote == VOTE_SAME)
        f->confirmer = (server + 1) % f->count;
}

/* Lists the other trusted servers in the order in which they are asked: each in turn, so that all
 * are compared and the watcher need not ask them, and those that were late after the rest. Returns
 * their number. */
static uint32_t list_others(struct rpc_fleet *f, uint32_t out[TIDE_RPC_SERVERS_MAX])
{
    uint32_t count = 0, servers = f->count;
    assert(servers > 1); /* a single server's pages are not confirmed */
    pthread_mutex_lock(&f->lock);
    for (uint32_t n = 0; n < 2 * servers; n++) {
        uint32_t i = (f->confirmer + n) % servers;
        if (i != f->current && f->servers[i].trust == RPC_COMPARED &&
            f->servers[i].late == (n >= servers))
            out[count++] = i;
    }
    pthread_mutex_unlock(&f->lock);
    return count;
}

/* Collects the other servers' votes until one has the same hash. Once a server is behind, no
 * further one is asked: only hashes that servers reported earlier count. */
static struct votes collect_votes(struct rpc_fleet *f, const struct tide_rpc_page *page)
{
    struct votes v = { 0 };
    bool may_ask = true;
    uint32_t others[TIDE_RPC_SERVERS_MAX], count = list_others(f, others);
    for (uint32_t i = 0; i < count && !v.same; i++) {
        uint32_t upto = 0;
        enum vote vote = vote_of(f, others[i], page, may_ask, &upto);
        may_ask = may_ask && vote != VOTE_BEHIND;
        count_vote(f, &v, others[i], page, vote, upto);
    }
    return v;
}

/* Notes whether the server that confirmed the page holds the source up: it has less than the
 * current one, and no more than was confirmed. */
static void note_confirmed(struct rpc_fleet *f, const struct votes *v)
{
    pthread_mutex_lock(&f->lock);
    uint32_t latest = f->servers[v->server].latest;
    bool abreast = latest > v->upto || latest >= f->servers[f->current].latest;
    pthread_mutex_unlock(&f->lock);
    if (abreast)
        f->behind_ms = 0;
    else if (!f->behind_ms)
        f->behind_ms = tide_now_ms();
    if (f->alone)
        tide_log(TIDE_INFO, "rpc.confirmed", "ledger=%u server=%s", v->upto,
                 f->servers[v->server].client.name);
    f->alone = false;
}

static void note_alone(struct rpc_fleet *f, uint32_t ledger)
{
    if (!f->alone)
        tide_log(TIDE_WARN, "rpc.unconfirmed", "ledger=%u server=%s reason=\"%s\"", ledger,
                 f->servers[f->current].client.name, "no other server can confirm it now");
    f->alone = true;
    f->behind_ms = 0;
}

enum rpc_outcome rpc_fleet_confirm(struct rpc_fleet *f, struct tide_rpc_page *page,
                                   struct tide_err *err)
{
    uint32_t first = page->ledgers[0].sequence;
    struct votes v = collect_votes(f, page);
    if (!v.same && v.waiting)
        return RPC_HELD;
    if (v.other) {
        enum rpc_outcome outcome = rpc_fleet_after_dispute(
            f, rpc_fleet_dispute(f, f->current, RPC_FETCHER, v.contested,
                                 page->ledgers[v.contested - first].hash, err));
        if (outcome == RPC_PAGE)
            page->count = v.contested - first + 1;
        return outcome;
    }
    if (v.same) {
        note_confirmed(f, &v);
        page->count = v.upto - first + 1;
    } else {
        note_alone(f, first);
    }
    return RPC_PAGE;
}
