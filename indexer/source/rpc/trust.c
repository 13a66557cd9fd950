/* Trust in servers: compares their hashes, and puts servers aside. */
#include "indexer/source/rpc/fleet_impl.h"
#include "tidemark/clock.h"
#include "tidemark/log.h"

enum {
    COMPARE_MS = 2000, /* pause until a server that could not be compared is asked again */
};

/* --- states ------------------------------------------------------------------------------- */

/* Sets the server's state and reason, and forgets its hashes. Call with the lock. */
static void doubt_server(struct rpc_fleet *f, uint32_t server, enum rpc_trust trust,
                         const char *reason)
{
    struct rpc_server *s = &f->servers[server];
    if (!*s->reason)
        s->doubted_ms = tide_now_ms();
    s->trust = trust;
    snprintf(s->reason, sizeof s->reason, "%s", reason);
    memset(f->memory.delivered[server], 0, sizeof f->memory.delivered[server]);
    rpc_fleet_recount(f, 0);
}

static void believe_server(struct rpc_fleet *f, uint32_t server)
{
    struct rpc_server *s = &f->servers[server];
    pthread_mutex_lock(&f->lock);
    bool doubted = *s->reason;
    s->trust = RPC_COMPARED;
    s->reason[0] = '\0';
    rpc_fleet_recount(f, 0);
    pthread_mutex_unlock(&f->lock);
    if (doubted)
        tide_log(TIDE_INFO, "rpc.believed", "server=%s", s->client.name);
}

/* Leaves a server uncompared that answered, but delivered no ledger that can be compared. It is
 * asked again. */
static void leave_uncompared(struct rpc_fleet *f, uint32_t server, const char *reason)
{
    struct rpc_server *s = &f->servers[server];
    pthread_mutex_lock(&f->lock);
    bool fresh = !*s->reason;
    if (fresh)
        doubt_server(f, server, RPC_UNCOMPARED, reason);
    s->watch_ms = tide_now_ms() + COMPARE_MS;
    pthread_mutex_unlock(&f->lock);
    if (fresh)
        tide_log(TIDE_WARN, "rpc.uncompared", "server=%s reason=\"%s\"", s->client.name, reason);
}

static void end_forked(struct rpc_fleet *f, const struct tide_err *why)
{
    pthread_mutex_lock(&f->lock);
    if (!f->forked)
        f->fork = *why;
    f->forked = true;
    f->fork.code = TIDE_E_CHAIN;
    pthread_mutex_unlock(&f->lock);
}

static struct tide_rpc_client *client_of(struct rpc_fleet *f, uint32_t server,
                                         enum rpc_thread thread)
{
    return thread == RPC_WATCHER ? &f->servers[server].watcher : &f->servers[server].client;
}

/* Returns whether a server answers. The reading thread has no connection of its own: it goes by
 * the last answer. */
static bool answers_now(struct rpc_fleet *f, uint32_t server, enum rpc_thread thread)
{
    struct tide_rpc_latest latest;
    struct tide_err ignored;
    if (thread == RPC_READER) {
        pthread_mutex_lock(&f->lock);
        bool silent = f->servers[server].silent;
        pthread_mutex_unlock(&f->lock);
        return !silent;
    }
    return tide_rpc_client_latest(client_of(f, server, thread), &latest, &ignored) == TIDE_OK;
}

/* Returns whether another server answers and is not aside. */
static bool has_another(struct rpc_fleet *f, uint32_t server, enum rpc_thread thread)
{
    for (uint32_t i = 0; i < f->count; i++)
        if (i != server && rpc_fleet_trust(f, i) != RPC_ASIDE && answers_now(f, i, thread))
            return true;
    return false;
}

bool rpc_fleet_put_aside(struct rpc_fleet *f, uint32_t server, enum rpc_thread thread,
                         const struct tide_err *why)
{
    struct rpc_server *s = &f->servers[server];
    if (!has_another(f, server, thread)) {
        if (thread != RPC_READER)
            end_forked(f, why);
        return false;
    }
    pthread_mutex_lock(&f->lock);
    s->aside_ms = s->aside_ms ? 2 * s->aside_ms : f->config->retry_ms_max;
    if (s->aside_ms > RPC_ASIDE_MS_MAX)
        s->aside_ms = RPC_ASIDE_MS_MAX;
    s->watch_ms = tide_now_ms() + s->aside_ms;
    doubt_server(f, server, RPC_ASIDE, why->text);
    pthread_mutex_unlock(&f->lock);
    char quoted[TIDE_ERR_TEXT_MAX + 64];
    tide_log(TIDE_ERROR, "rpc.aside", "server=%s reason=%s", s->client.name,
             tide_log_quote(quoted, sizeof quoted, why->text));
    return true;
}

int64_t rpc_fleet_doubted(struct rpc_fleet *f, char *text, size_t size)
{
    int64_t since = 0;
    for (uint32_t i = 0; i < f->count && !since; i++) {
        const struct rpc_server *s = &f->servers[i];
        if (!*s->reason)
            continue;
        since = tide_now_ms() - s->doubted_ms + 1;
        snprintf(text, size, "%s is %s: %s", s->client.name,
                 s->trust == RPC_ASIDE ? "put aside" : "not compared yet", s->reason);
    }
    return since;
}

/* --- hashes ------------------------------------------------------------------------------- */

/* Asks a server for the hash of one ledger. */
static bool ask_hash(struct rpc_fleet *f, uint32_t server, enum rpc_thread thread, uint32_t ledger,
                     uint8_t hash[TIDE_HASH_BYTES])
{
    struct tide_rpc_one one;
    struct tide_err ignored;
    bool good =
        tide_rpc_client_one(client_of(f, server, thread), ledger, &one, &ignored) == TIDE_OK &&
        one.given;
    if (good)
        memcpy(hash, one.hash, TIDE_HASH_BYTES);
    return good;
}

/* Returns whether the server's chain has nothing in common with the stored one. One ledger
 * decides, the first stored one that the server has: a fork would share its beginning with the
 * stored chain. */
static bool shares_nothing(struct rpc_fleet *f, uint32_t server, enum rpc_thread thread,
                           uint32_t ledger)
{
    uint8_t stored[TIDE_HASH_BYTES], answer[TIDE_HASH_BYTES];
    uint32_t oldest = f->servers[server].oldest, to = ledger;
    uint32_t from = oldest && oldest <= ledger ? oldest : 1; /* oldest may be outdated */
    while (from < to) { /* finds the first stored ledger that the server has */
        uint32_t middle = from + (to - from) / 2;
        if (rpc_fleet_stored_hash(f, middle, stored))
            to = middle;
        else
            from = middle + 1;
    }
    return to < ledger && rpc_fleet_stored_hash(f, to, stored) &&
           ask_hash(f, server, thread, to, answer) && memcmp(answer, stored, TIDE_HASH_BYTES) != 0;
}

/* --- a dispute ---------------------------------------------------------------------------- */

/* The hash that each server delivers for one ledger. */
struct votes {
    uint32_t ledger;
    bool known[TIDE_RPC_SERVERS_MAX], stored_known;
    bool unreadable; /* the database does not answer now */
    uint8_t hash[TIDE_RPC_SERVERS_MAX][TIDE_HASH_BYTES], stored[TIDE_HASH_BYTES];
};

static bool same_vote(const struct votes *v, uint32_t a, uint32_t b)
{
    return v->known[a] && v->known[b] && memcmp(v->hash[a], v->hash[b], TIDE_HASH_BYTES) == 0;
}

static uint32_t count_votes(const struct rpc_fleet *f, const struct votes *v, uint32_t server)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < f->count; i++)
        count += same_vote(v, i, server);
    return count;
}

/* Returns a server with the hash that most servers deliver, or f->count if two hashes are equally
 * frequent. */
static uint32_t find_winner(const struct rpc_fleet *f, const struct votes *v)
{
    uint32_t best = f->count, most = 0;
    for (uint32_t i = 0; i < f->count; i++) {
        uint32_t count = v->known[i] ? count_votes(f, v, i) : 0;
        if (count > most) {
            most = count;
            best = i;
        } else if (count == most && count && best < f->count && !same_vote(v, i, best)) {
            best = f->count;
        }
    }
    return best;
}

static bool tells_stored(const struct votes *v, uint32_t server)
{
    return v->stored_known && v->known[server] &&
           memcmp(v->hash[server], v->stored, TIDE_HASH_BYTES) == 0;
}

/* Decides an even split: the servers with the stored hash win if each other server has an entirely
 * different chain. Returns one of the winners, or f->count. */
static uint32_t find_stored_winner(struct rpc_fleet *f, const struct votes *v,
                                   enum rpc_thread thread)
{
    uint32_t winner = f->count;
    for (uint32_t i = 0; i < f->count; i++)
        if (tells_stored(v, i))
            winner = i;
    for (uint32_t i = 0; i < f->count && winner < f->count; i++)
        if (v->known[i] && !same_vote(v, i, winner) && !shares_nothing(f, i, thread, v->ledger))
            winner = f->count;
    return winner;
}

static void fail_fork(struct rpc_fleet *f, const struct votes *v, struct tide_err *err)
{
    uint32_t one = 0, other;
    while (one + 1 < f->count && !v->known[one])
        one++;
    for (other = one; other < f->count && (!v->known[other] || same_vote(v, one, other));)
        other++;
    const char *a = f->servers[one].client.name;
    if (other == f->count)
        tide_fail(err, TIDE_E_CHAIN,
                  "ledger %u: the hash that %s tells is not the one that is stored", v->ledger, a);
    else
        tide_fail(err, TIDE_E_CHAIN,
                  "ledger %u: %s and %s tell different hashes of it: a fork, or one of them is not "
                  "of this network; take the wrong one out of rpc",
                  v->ledger, a, f->servers[other].client.name);
    end_forked(f, err);
}

static bool believes_any(struct rpc_fleet *f)
{
    for (uint32_t i = 0; i < f->count; i++)
        if (rpc_fleet_trust(f, i) == RPC_COMPARED)
            return true;
    return false;
}

/* Returns whether a server without a vote may have the ledger soon. */
static bool is_vote_awaited(struct rpc_fleet *f, const struct votes *v)
{
    for (uint32_t i = 0; i < f->count; i++)
        if (!v->known[i] && rpc_fleet_awaits(f, i, v->ledger))
            return true;
    return false;
}

/* Puts aside the servers that the majority contradicts. TIDE_E_CHAIN if no majority decides,
 * TIDE_E_IO if a further vote may decide. */
static tide_status count_out(struct rpc_fleet *f, const struct votes *v, enum rpc_thread thread,
                             struct tide_err *err)
{
    uint32_t winner = find_winner(f, v);
    if (winner == f->count)
        winner = find_stored_winner(f, v, thread);
    if (winner == f->count && v->unreadable && !believes_any(f))
        return TIDE_OK; /* the comparison is repeated once the database answers */
    if (winner == f->count && is_vote_awaited(f, v))
        return tide_fail(err, TIDE_E_IO,
                         "ledger %u: servers tell different hashes of it, and others do not have "
                         "it yet",
                         v->ledger);
    if (winner == f->count || (v->stored_known && !tells_stored(v, winner))) {
        fail_fork(f, v, err);
        return TIDE_E_CHAIN;
    }
    believe_server(f, winner); /* rpc_fleet_put_aside needs another trusted server */
    for (uint32_t i = 0; i < f->count; i++) {
        if (same_vote(v, i, winner))
            believe_server(f, i);
        if (!v->known[i] || same_vote(v, i, winner) || rpc_fleet_trust(f, i) == RPC_ASIDE)
            continue;
        tide_fail(err, TIDE_E_CHAIN, "ledger %u: %s tells another hash of it than %s%s", v->ledger,
                  f->servers[i].client.name, f->servers[winner].client.name,
                  v->stored_known ? ", whose is stored" : "");
        if (!rpc_fleet_put_aside(f, i, thread, err))
            return TIDE_E_CHAIN;
    }
    return TIDE_OK;
}

/* Asks the servers that are not aside, and have no vote yet, for the ledger's hash. all: also those
 * that did not report their ranges when they were asked last. */
static void collect_votes(struct rpc_fleet *f, struct votes *v, bool all, enum rpc_thread thread)
{
    for (uint32_t i = 0; i < f->count; i++)
        if (!v->known[i] && rpc_fleet_trust(f, i) != RPC_ASIDE && (all || f->servers[i].answered))
            v->known[i] = ask_hash(f, i, thread, v->ledger, v->hash[i]);
    const struct tide_source_options *o = f->options.source;
    tide_status status =
        o->stored_hash ? o->stored_hash(o->stored_self, v->ledger, v->stored) : TIDE_E_MISSING;
    v->stored_known = status == TIDE_OK;
    v->unreadable = status == TIDE_E_DB;
}

/* Returns whether the server delivered another hash of the ledger before, or delivers another one
 * now. */
static bool contradicts_itself(struct rpc_fleet *f, uint32_t server, enum rpc_thread thread,
                               uint32_t ledger, const uint8_t *claim)
{
    uint8_t again[TIDE_HASH_BYTES];
    pthread_mutex_lock(&f->lock);
    bool before = rpc_memory_delivered(&f->memory, ledger, server, again);
    pthread_mutex_unlock(&f->lock);
    if (before && memcmp(again, claim, TIDE_HASH_BYTES) != 0)
        return true;
    return ask_hash(f, server, thread, ledger, again) && memcmp(again, claim, TIDE_HASH_BYTES) != 0;
}

tide_status rpc_fleet_dispute(struct rpc_fleet *f, uint32_t server, enum rpc_thread thread,
                              uint32_t ledger, const uint8_t *claim, struct tide_err *err)
{
    struct votes v = { .ledger = ledger };
    const char *name = f->servers[server].client.name;
    if (contradicts_itself(f, server, thread, ledger, claim)) {
        tide_fail(err, TIDE_E_CHAIN,
                  "%s contradicts itself: ledger %u does not follow, or it tells two hashes of %u",
                  name, ledger + 1, ledger);
        return rpc_fleet_put_aside(f, server, thread, err) ? TIDE_OK : TIDE_E_CHAIN;
    }
    v.known[server] = true;
    memcpy(v.hash[server], claim, TIDE_HASH_BYTES);
    collect_votes(f, &v, true, thread);
    return count_out(f, &v, thread, err);
}

enum rpc_outcome rpc_fleet_after_dispute(struct rpc_fleet *f, tide_status status)
{
    if (status == TIDE_E_IO)
        return RPC_HELD;
    if (status)
        return RPC_END;
    return rpc_fleet_trust(f, f->current) == RPC_COMPARED ? RPC_PAGE : RPC_PAUSE;
}

tide_status rpc_fleet_note_ledger(struct rpc_fleet *f, uint32_t server, enum rpc_thread thread,
                                  uint32_t sequence, const uint8_t *hash, struct tide_err *err)
{
    uint32_t other = 0;
    pthread_mutex_lock(&f->lock);
    bool fits = rpc_memory_note(&f->memory, sequence, hash, server, &other);
    pthread_mutex_unlock(&f->lock);
    return fits ? TIDE_OK : rpc_fleet_dispute(f, server, thread, sequence, hash, err);
}

/* --- comparing ---------------------------------------------------------------------------- */

/* Returns the ledger that most servers have, by their reported ranges; 0: none answered. */
static uint32_t find_common(struct rpc_fleet *f)
{
    uint32_t common = 0, most = 0;
    pthread_mutex_lock(&f->lock);
    for (uint32_t i = 0; i < f->count; i++) {
        uint32_t ledger = f->servers[i].latest, count = 0;
        for (uint32_t k = 0; k < f->count; k++)
            count += f->servers[k].latest >= ledger && f->servers[k].oldest <= ledger;
        if (ledger && count > most) {
            most = count;
            common = ledger;
        }
    }
    pthread_mutex_unlock(&f->lock);
    return common;
}

/* Chooses a server to trust if no two can be compared: one whose newest ledger is stored, else one
 * that has the wanted ledger, else any. A chosen server must deliver its newest ledger. Returns
 * f->count if there is none. */
static uint32_t find_lone(struct rpc_fleet *f, enum rpc_thread thread, uint32_t wanted)
{
    uint32_t lone = f->count, fit = f->count;
    struct votes v = { 0 };
    for (uint32_t i = 0; i < f->count; i++) {
        const struct rpc_server *s = &f->servers[i];
        v.ledger = s->latest;
        v.known[i] = s->latest && rpc_fleet_trust(f, i) != RPC_ASIDE &&
                     ask_hash(f, i, thread, s->latest, v.hash[i]);
        v.stored_known = v.known[i] && rpc_fleet_stored_hash(f, v.ledger, v.stored);
        if (tells_stored(&v, i))
            return i;
        if (v.known[i] && lone == f->count)
            lone = i;
        if (v.known[i] && fit == f->count && s->oldest <= wanted && s->latest + 1 >= wanted)
            fit = i;
    }
    return fit < f->count ? fit : lone;
}

/* Trusts all servers that delivered the ledger if they agree, otherwise counts the votes, also of
 * servers that are slow to answer. */
static tide_status compare_votes(struct rpc_fleet *f, struct votes *v, enum rpc_thread thread,
                                 struct tide_err *err)
{
    uint32_t first = 0;
    while (!v->known[first])
        first++;
    for (uint32_t i = first; i < f->count; i++)
        if (v->known[i] && !same_vote(v, i, first)) {
            collect_votes(f, v, true, thread);
            return count_out(f, v, thread, err);
        }
    for (uint32_t i = first; i < f->count; i++)
        if (v->known[i])
            believe_server(f, i);
    return TIDE_OK;
}

tide_status rpc_fleet_compare(struct rpc_fleet *f, enum rpc_thread thread, struct tide_err *err)
{
    struct votes v = { .ledger = find_common(f) };
    uint32_t known = 0, answered = 0, lone = f->count;
    tide_status status = TIDE_OK;
    pthread_mutex_lock(&f->lock);
    uint32_t wanted = f->asked;
    pthread_mutex_unlock(&f->lock);
    if (v.ledger && f->count > 1)
        collect_votes(f, &v, false, thread);
    for (uint32_t i = 0; i < f->count; i++) {
        known += v.known[i];
        answered += f->servers[i].answered;
    }
    /* A single one of several servers is chosen only once the wanted ledger is known. */
    if (known < 2 && (answered == 1 || wanted))
        lone = find_lone(f, thread, wanted);
    if (known > 1)
        status = compare_votes(f, &v, thread, err);
    else if (lone < f->count)
        believe_server(f, lone);
    for (uint32_t i = 0; i < f->count && !status; i++)
        if (f->servers[i].answered && rpc_fleet_trust(f, i) == RPC_UNCOMPARED)
            leave_uncompared(f, i, "it gives no ledger that the others have");
    return status;
}

/* Leaves a server aside that still delivers another hash. It is compared again later. */
static void leave_aside(struct rpc_fleet *f, uint32_t server)
{
    struct rpc_server *s = &f->servers[server];
    pthread_mutex_lock(&f->lock);
    s->watch_ms = tide_now_ms() + s->aside_ms;
    pthread_mutex_unlock(&f->lock);
}

/* Compares a server that is not trusted with what is stored, else with the others, at the newest
 * ledger that both can have. The others may have been reset together with it. */
void rpc_fleet_compare_one(struct rpc_fleet *f, uint32_t server, uint32_t latest)
{
    uint8_t answer[TIDE_HASH_BYTES], known[TIDE_HASH_BYTES];
    struct tide_err err;
    uint32_t teller = 0;
    pthread_mutex_lock(&f->lock);
    enum rpc_trust trust = f->servers[server].trust;
    uint32_t ledger = f->newest_reported < latest ? f->newest_reported : latest;
    const uint8_t *found = rpc_memory_find(&f->memory, ledger, &teller);
    if (found)
        memcpy(known, found, sizeof known);
    teller = f->current;
    uint32_t wanted = f->asked;
    pthread_mutex_unlock(&f->lock);
    bool answered = ledger && ask_hash(f, server, RPC_WATCHER, ledger, answer);
    bool both = answered && (rpc_fleet_stored_hash(f, ledger, known) || found ||
                             (teller != server && ask_hash(f, teller, RPC_WATCHER, ledger, known)));
    bool other_chain =
        answered && trust == RPC_ASIDE && rpc_fleet_is_other_chain(f, wanted, ledger, answer);
    if (!other_chain && !both)
        leave_uncompared(f, server, "it gives no ledger that the others have");
    else if (!other_chain && memcmp(answer, known, TIDE_HASH_BYTES) == 0)
        believe_server(f, server);
    else if (!other_chain && trust == RPC_UNCOMPARED)
        (void)!rpc_fleet_dispute(f, server, RPC_WATCHER, ledger, answer, &err);
    else
        leave_aside(f, server);
}
