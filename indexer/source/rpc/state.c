/* The fleet's knowledge of each server: its range, its failures, whether it is trusted or waited
 * for, and which hashes of ledgers it told. */
#include "indexer/source/rpc/fleet_impl.h"
#include "tidemark/clock.h"
#include "tidemark/log.h"

enum { RETRY_MS = 500 };    /* first pause after a failure of a server; doubles, with jitter */
enum { FAR_LEDGERS = 720 }; /* about an hour: a server so far behind is not a back end that lags */

/* --- hashes that servers told ------------------------------------------------------------- */

const uint8_t *rpc_memory_find(const struct rpc_memory *memory, uint32_t sequence, uint32_t *server)
{
    uint32_t at = sequence % RPC_MEMORY_LEDGERS;
    for (uint32_t i = 0; sequence && i < TIDE_RPC_SERVERS_MAX; i++) {
        if (memory->delivered[i][at].sequence != sequence)
            continue;
        *server = i;
        return memory->delivered[i][at].hash;
    }
    return NULL;
}

bool rpc_memory_note(struct rpc_memory *memory, uint32_t sequence, const uint8_t *hash,
                     uint32_t server, uint32_t *other)
{
    uint32_t at = sequence % RPC_MEMORY_LEDGERS;
    assert(server < TIDE_RPC_SERVERS_MAX);
    const uint8_t *known = rpc_memory_find(memory, sequence, other);
    if (known && memcmp(known, hash, TIDE_HASH_BYTES) != 0)
        return false;
    if (sequence < memory->delivered[server][at].sequence)
        return true; /* an older ledger does not replace a newer one */
    memory->delivered[server][at].sequence = sequence;
    memcpy(memory->delivered[server][at].hash, hash, TIDE_HASH_BYTES);
    return true;
}

bool rpc_memory_delivered(const struct rpc_memory *memory, uint32_t sequence, uint32_t server,
                          uint8_t hash[TIDE_HASH_BYTES])
{
    uint32_t at = sequence % RPC_MEMORY_LEDGERS;
    assert(server < TIDE_RPC_SERVERS_MAX);
    if (!sequence || memory->delivered[server][at].sequence != sequence)
        return false;
    memcpy(hash, memory->delivered[server][at].hash, TIDE_HASH_BYTES);
    return true;
}

/* --- reported ranges ---------------------------------------------------------------------- */

void rpc_fleet_recount(struct rpc_fleet *f, uint32_t least)
{
    f->newest_reported = least;
    for (uint32_t i = 0; i < f->count; i++)
        if (f->servers[i].trust == RPC_COMPARED && !f->servers[i].overstated &&
            f->servers[i].latest > f->newest_reported)
            f->newest_reported = f->servers[i].latest;
}

void rpc_fleet_note_range(struct rpc_fleet *f, uint32_t server, uint32_t oldest, uint32_t latest)
{
    pthread_mutex_lock(&f->lock);
    if (oldest)
        f->servers[server].oldest = oldest;
    if (latest) {
        f->servers[server].latest = latest;
        f->servers[server].latest_ms = tide_now_ms();
        f->servers[server].silent = false;
        f->servers[server].mute_ms = 0;
        f->servers[server].late = f->servers[server].late && latest < f->newest_reported;
    }
    if (latest > f->newest_reported && !f->servers[server].overstated &&
        f->servers[server].trust == RPC_COMPARED)
        f->newest_reported = latest;
    pthread_mutex_unlock(&f->lock);
}

void rpc_fleet_note_silent(struct rpc_fleet *f, uint32_t server)
{
    pthread_mutex_lock(&f->lock);
    f->servers[server].silent = true;
    pthread_mutex_unlock(&f->lock);
}

bool rpc_fleet_has_ledger(const struct rpc_server *s, uint64_t ledger)
{
    return !s->silent && s->trust == RPC_COMPARED && s->latest >= ledger;
}

/* --- failures ----------------------------------------------------------------------------- */

void rpc_fleet_set_trouble(struct rpc_fleet *f, const char *text)
{
    pthread_mutex_lock(&f->lock);
    if (text && !f->trouble_ms)
        f->trouble_ms = tide_now_ms();
    else if (!text)
        f->trouble_ms = 0;
    if (text)
        snprintf(f->trouble, sizeof f->trouble, "%s", text);
    pthread_mutex_unlock(&f->lock);
}

uint32_t rpc_fleet_pause(struct rpc_fleet *f, uint32_t failures, uint32_t asked_ms)
{
    const struct tide_config *c = f->config;
    uint32_t ms = tide_retry_pause_ms(&f->retry, RETRY_MS, c->retry_ms_max, failures);
    return asked_ms > ms ? asked_ms : ms;
}

void rpc_fleet_note_failure(struct rpc_fleet *f, uint32_t server, uint32_t asked_ms,
                            const struct tide_err *err)
{
    struct rpc_server *s = &f->servers[server];
    int64_t now = tide_now_ms();
    uint32_t ms = rpc_fleet_pause(f, s->failures, asked_ms);
    s->retry_ms = now + ms;
    s->slow = false;
    rpc_fleet_note_silent(f, server);
    if (s->failures++ && now - s->logged_ms < RPC_LOG_MS)
        return;
    char quoted[TIDE_ERR_TEXT_MAX + 64];
    s->logged_ms = now;
    tide_log(TIDE_WARN, "rpc.failed", "failures=%u pause_ms=%u error=%s", s->failures, ms,
             tide_log_quote(quoted, sizeof quoted, err->text));
}

void rpc_fleet_note_success(struct rpc_fleet *f, uint32_t server)
{
    struct rpc_server *s = &f->servers[server];
    if (s->failures)
        tide_log(TIDE_INFO, "rpc.healed", "server=%s failures=%u", s->client.name, s->failures);
    s->failures = 0;
}

static bool is_stopping(const struct rpc_fleet *f)
{
    return f->options.cancelled && f->options.cancelled(f->options.self);
}

bool rpc_fleet_is_late(const struct rpc_fleet *f)
{
    return f->greet_until_ms && tide_now_ms() >= f->greet_until_ms && !is_stopping(f);
}

bool rpc_fleet_cancelled(void *self)
{
    struct rpc_fleet *f = self;
    if (is_stopping(f) || rpc_fleet_is_late(f))
        return true;
    pthread_mutex_lock(&f->lock);
    uint32_t latest = f->servers[f->current].latest;
    for (uint32_t i = 0; f->asked > latest && i < f->count; i++)
        if (i != f->current && !f->servers[i].overstated &&
            rpc_fleet_has_ledger(&f->servers[i], (uint64_t)f->asked + RPC_LAG_LEDGERS))
            f->overtaken = true;
    bool overtaken = f->overtaken;
    pthread_mutex_unlock(&f->lock);
    return overtaken;
}

/* --- trust -------------------------------------------------------------------------------- */

enum rpc_trust rpc_fleet_trust(struct rpc_fleet *f, uint32_t server)
{
    pthread_mutex_lock(&f->lock);
    enum rpc_trust trust = f->servers[server].trust;
    pthread_mutex_unlock(&f->lock);
    return trust;
}

static bool awaits(const struct rpc_fleet *f, uint32_t server, uint32_t ledger)
{
    const struct rpc_server *s = &f->servers[server];
    int64_t now = tide_now_ms();
    uint64_t lag = RPC_LAG_LEDGERS;
    bool answers = !s->mute_ms || now - s->mute_ms < RPC_GREET_MS;
    return f->config->rpc_confirm_ms && s->trust == RPC_COMPARED && answers && now >= s->left_ms &&
           s->oldest <= ledger && s->latest + lag > ledger;
}

bool rpc_fleet_awaits(struct rpc_fleet *f, uint32_t server, uint32_t ledger)
{
    pthread_mutex_lock(&f->lock);
    bool yes = awaits(f, server, ledger);
    pthread_mutex_unlock(&f->lock);
    return yes;
}

uint32_t rpc_fleet_confirmable(const struct rpc_fleet *f, uint32_t ledger)
{
    uint32_t newest = 0;
    bool any = false;
    for (uint32_t i = 0; i < f->count; i++) {
        if (i == f->current || !awaits(f, i, ledger))
            continue;
        any = true;
        newest = f->servers[i].latest > newest ? f->servers[i].latest : newest;
    }
    return any ? newest : UINT32_MAX;
}

bool rpc_fleet_stored_hash(struct rpc_fleet *f, uint32_t ledger, uint8_t hash[TIDE_HASH_BYTES])
{
    const struct tide_source_options *o = f->options.source;
    return ledger && o->stored_hash && o->stored_hash(o->stored_self, ledger, hash) == TIDE_OK;
}

bool rpc_fleet_is_other_chain(struct rpc_fleet *f, uint32_t wanted, uint32_t ledger,
                              const uint8_t hash[TIDE_HASH_BYTES])
{
    const struct tide_source_options *o = f->options.source;
    uint8_t stored[TIDE_HASH_BYTES];
    tide_status status =
        o->stored_hash ? o->stored_hash(o->stored_self, ledger, stored) : TIDE_E_DB;
    if (status == TIDE_E_MISSING)
        return wanted > ledger && wanted - ledger > FAR_LEDGERS &&
               rpc_fleet_stored_hash(f, wanted - 1, stored);
    return status == TIDE_OK && memcmp(hash, stored, TIDE_HASH_BYTES) != 0;
}
