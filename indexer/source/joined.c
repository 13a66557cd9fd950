/* A lake and RPC as one source: history from the lake, the tip from RPC, and each alone while the
 * other one has nothing. The source that gave the last ledger is asked first. If it has no further
 * one, the other one is asked, and neither is waited for longer than PATIENCE_MS. A source is
 * positioned only when it is asked for a ledger other than the one behind its last one, so what it
 * fetches goes on while the other one is asked. */
#include "indexer/source/source.h"
#include "tidemark/clock.h"
#include "tidemark/log.h"

#include <stdatomic.h>

enum {
    PATIENCE_MS = 3000,
    LATE_MS = 10000,   /* RPC gave nothing for so long: the lake is asked, too */
    REOPEN_MS = 10000, /* pause between two attempts to open the lake */
};

struct side {
    struct tide_source source; /* ops is NULL: not open yet */
    uint32_t at;               /* the ledger that it gives next; 0: not known */
    tide_status status;        /* result of the last call of next */
    struct tide_err err;
    int64_t asked_ms;
};

struct joined {
    struct tide_source_options options;
    struct side lake, rpc;
    bool on_lake;        /* the lake is asked first */
    bool gave_lake;      /* the lake gave the last ledger */
    uint32_t next, last; /* ledgers: next one wanted, last one wanted (0: no end) */
    uint32_t lake_last;  /* the newest ledger that the lake gave */
    uint32_t doubted; /* a ledger whose copy in the lake is damaged, and for which RPC was asked */
    int64_t gave_ms;  /* time of the last ledger */
    /* Read by any thread: */
    atomic_bool lake_open;
    atomic_bool lake_counts; /* the lake was asked since RPC gave the last ledger */
    atomic_uint ahead; /* RPC has this ledger, and no longer the next one; 0: it may have it */
};

static bool is_endless(const struct joined *j)
{
    return !j->last && !j->options.config->stop_at_end;
}

/* Opens the lake, if it did not answer when this source was opened. */
static tide_status open_lake(struct joined *j, struct tide_err *err)
{
    tide_status status =
        j->lake.source.ops ? TIDE_OK : tide_lake_open(&j->lake.source, &j->options, err);
    if (!status)
        atomic_store(&j->lake_open, true);
    return status;
}

/* Asks one of the two for the next ledger. */
static tide_status ask_side(struct joined *j, struct side *s, tide_slice *lcm, uint32_t *sequence,
                            struct tide_err *err)
{
    assert(j->next > 0); /* joined_seek has chosen the first one */
    tide_status status = s == &j->lake ? open_lake(j, err) : TIDE_OK;
    if (!status && s->at != j->next)
        status = s->source.ops->seek(s->source.self, j->next, j->last, err);
    if (!status) {
        s->at = j->next;
        status = s->source.ops->next(s->source.self, lcm, sequence, err);
    }
    s->asked_ms = tide_now_ms();
    s->status = status;
    if (status) {
        s->err = *err;
        return status;
    }
    bool lake = s == &j->lake;
    assert(!lake || *sequence == j->next); /* the lake counts its ledgers */
    if (j->gave_lake != lake || !j->gave_ms)
        tide_log(TIDE_INFO, "source.turned", "to=%s ledger=%u", s->source.ops->name, *sequence);
    j->on_lake = j->gave_lake = lake;
    j->gave_ms = s->asked_ms;
    j->next = s->at = *sequence + 1;
    j->lake_last = lake ? *sequence : j->lake_last;
    atomic_store(&j->lake_counts, lake);
    atomic_store(&j->ahead, 0);
    return TIDE_OK;
}

/* Returns whether the other source may have a ledger that this one did not give: its end, a hole,
 * or a source that is away, or whose copy is damaged, too large or newer than this build. */
static bool may_be_elsewhere(tide_status status)
{
    return status == TIDE_E_EOF || status == TIDE_E_MISSING || status == TIDE_E_IO ||
           status == TIDE_E_DECODE || status == TIDE_E_LIMIT || status == TIDE_E_UNKNOWN;
}

/* Fails with the reasons of both. TIDE_E_IO if one did not answer, or may have the ledger later. */
static tide_status fail_both(const struct joined *j, struct tide_err *err)
{
    char first[TIDE_ERR_TEXT_MAX / 2], second[TIDE_ERR_TEXT_MAX / 2];
    snprintf(first, sizeof first, "%.370s", j->lake.err.text);
    snprintf(second, sizeof second, "%.370s", j->rpc.err.text);
    bool later = j->lake.status == TIDE_E_IO || j->rpc.status == TIDE_E_IO ||
                 (is_endless(j) && j->lake.status == TIDE_E_EOF);
    return tide_fail(err, later ? TIDE_E_IO : TIDE_E_MISSING,
                     "ledger %u is neither in the lake (%.300s) nor at RPC (%.300s)", j->next,
                     first, second);
}

/* Neither source gave the ledger. Returns TIDE_E_EOF if it is the network's next one, as far as the
 * sources that answer know. */
static tide_status end_both(struct joined *j, struct tide_err *err)
{
    uint32_t oldest = 0, newest = 0;
    struct tide_err ignored;
    bool away = j->rpc.status == TIDE_E_IO && is_endless(j);
    if (j->rpc.status == TIDE_E_MISSING &&
        j->rpc.source.ops->range(j->rpc.source.self, &oldest, &newest, &ignored) == TIDE_OK)
        atomic_store(&j->ahead, newest);
    if (j->rpc.status == TIDE_E_EOF || (j->lake.status == TIDE_E_EOF && away)) {
        *err = j->rpc.status == TIDE_E_EOF ? j->rpc.err : j->lake.err;
        return TIDE_E_EOF;
    }
    return fail_both(j, err);
}

/* Returns whether the lake is to be asked for a ledger that RPC did not give. While RPC, which gave
 * the last one, merely waits for the next, the lake is left alone: RPC has it first. */
static bool is_lake_due(const struct joined *j)
{
    int64_t asked_ms = tide_now_ms() - j->lake.asked_ms, now = tide_now_ms();
    if (!j->lake.source.ops && j->lake.asked_ms && asked_ms < REOPEN_MS)
        return false;
    bool waits = j->rpc.status == TIDE_E_EOF && is_endless(j);
    if (waits && !j->gave_lake && now - j->gave_ms < LATE_MS)
        return false;
    return (j->lake.at != j->next && !waits) || !j->lake.asked_ms ||
           (is_endless(j) && asked_ms >= j->options.config->poll_ms);
}

static tide_status joined_next(void *self, tide_slice *lcm, uint32_t *sequence,
                               struct tide_err *err)
{
    struct joined *j = self;
    if (j->last && j->next > j->last)
        return tide_fail(err, TIDE_E_EOF, "ledger %u, the last one wanted, is read", j->last);
    if (j->on_lake) {
        tide_status status = ask_side(j, &j->lake, lcm, sequence, err);
        if (!may_be_elsewhere(status))
            return status;
        j->on_lake = false;
    }
    tide_status status = ask_side(j, &j->rpc, lcm, sequence, err);
    if (status != TIDE_E_EOF && status != TIDE_E_MISSING && status != TIDE_E_IO)
        return status;
    if (is_lake_due(j)) {
        atomic_store(&j->lake_counts, true);
        status = ask_side(j, &j->lake, lcm, sequence, err);
        if (!may_be_elsewhere(status))
            return status;
    }
    return end_both(j, err);
}

static void joined_done(void *self)
{
    struct joined *j = self;
    const struct tide_source *source = j->gave_lake ? &j->lake.source : &j->rpc.source;
    if (source->ops && source->ops->done)
        source->ops->done(source->self);
}

/* Asks the source of the ledger for a fresh copy. If the lake's copy is damaged again, asks RPC
 * once. */
static bool joined_refetch(void *self, uint32_t ledger, struct tide_err *err)
{
    struct joined *j = self;
    char quoted[TIDE_ERR_TEXT_MAX + 64];
    assert(ledger > 0 && ledger < j->next);
    bool lake = ledger <= j->lake_last;
    struct side *s = lake ? &j->lake : &j->rpc;
    bool again = tide_source_refetch(&s->source, ledger, err);
    if (!again && (!lake || j->doubted == ledger))
        return false;
    j->next = ledger;
    j->on_lake = lake && again;
    s->at = again ? ledger : 0;
    if (again)
        return true;
    j->doubted = ledger;
    j->lake_last = ledger - 1;
    tide_log(TIDE_WARN, "lake.damaged", "again=false error=%s",
             tide_log_quote(quoted, sizeof quoted, err->text));
    return true;
}

static tide_status joined_range(void *self, uint32_t *first, uint32_t *last, struct tide_err *err)
{
    struct joined *j = self;
    const struct tide_source *lake = &j->lake.source, *rpc = &j->rpc.source;
    uint32_t newest = 0, oldest = 0;
    struct tide_err ignored;
    *first = *last = 0;
    (void)err;
    if (lake->ops && lake->ops->range(lake->self, first, last, &ignored))
        *first = *last = 0;
    if (rpc->ops->range(rpc->self, &oldest, &newest, &ignored) == TIDE_OK && newest > *last)
        *last = newest;
    if (*first == 0)
        *first = oldest;
    return TIDE_OK;
}

/* Begins with the lake, which costs less. RPC takes over where the lake ends. */
static tide_status joined_seek(void *self, uint32_t first, uint32_t last, struct tide_err *err)
{
    struct joined *j = self;
    uint32_t oldest = 0, newest = 0;
    if (first == 0) {
        tide_status status = joined_range(j, &oldest, &newest, err);
        if (status || oldest == 0)
            return status ? status
                          : tide_fail(err, TIDE_E_MISSING,
                                      "lake, rpc: no ledger found; set "
                                      "first_ledger");
        first = oldest;
    }
    j->next = first;
    j->last = last;
    j->lake_last = j->lake.at = j->rpc.at = 0;
    j->on_lake = j->lake.source.ops != NULL;
    return TIDE_OK;
}

static bool joined_finite(void *self)
{
    const struct joined *j = self;
    return j->last && j->next > j->last;
}

/* While the lake gives ledgers, its end shows the tip. */
static bool joined_newest(void *self)
{
    struct joined *j = self;
    return !j->gave_lake && j->rpc.source.ops->newest(j->rpc.source.self);
}

/* The lake's trouble counts while the lake is needed. */
static int64_t joined_trouble(void *self, char *text, size_t size)
{
    struct joined *j = self;
    char lake[TIDE_ERR_TEXT_MAX / 2] = "";
    int64_t lake_ms = 0;
    int64_t rpc_ms = j->rpc.source.ops->trouble(j->rpc.source.self, text, size);
    if (atomic_load(&j->lake_open) && atomic_load(&j->lake_counts))
        lake_ms = j->lake.source.ops->trouble(j->lake.source.self, lake, sizeof lake);
    size_t len = rpc_ms ? strlen(text) : 0;
    if (lake_ms)
        snprintf(text + len, size - len, "%s%s", len ? "; lake: " : "", lake);
    return rpc_ms > lake_ms ? rpc_ms : lake_ms;
}

static uint32_t joined_ahead(void *self)
{
    struct joined *j = self;
    uint32_t rpc = atomic_load(&j->ahead), lake = 0;
    if (atomic_load(&j->lake_open) && atomic_load(&j->lake_counts))
        lake = j->lake.source.ops->ahead(j->lake.source.self);
    return rpc > lake ? rpc : lake;
}

static void joined_close(void *self)
{
    struct joined *j = self;
    if (j->lake.source.ops)
        j->lake.source.ops->close(j->lake.source.self);
    if (j->rpc.source.ops)
        j->rpc.source.ops->close(j->rpc.source.self);
    free(j);
}

static const struct tide_source_ops joined_ops = {
    .name = "joined",
    .seek = joined_seek,
    .next = joined_next,
    .done = joined_done,
    .refetch = joined_refetch,
    .range = joined_range,
    .finite = joined_finite,
    .newest = joined_newest,
    .trouble = joined_trouble,
    .ahead = joined_ahead,
    .close = joined_close,
};

/* Opens a lake and RPC as one source: history from the lake, the tip from RPC. */
static tide_status tide_joined_open(struct tide_source *out,
                                    const struct tide_source_options *options, struct tide_err *err)
{
    struct joined *j = calloc(1, sizeof *j);
    if (!j)
        return tide_fail(err, TIDE_E_MEMORY, "source: out of memory");
    j->options = *options;
    j->options.patience_ms = options->config->stop_at_end ? 0 : PATIENCE_MS;
    tide_status status = open_lake(j, err);
    if (status == TIDE_E_IO) {
        char quoted[TIDE_ERR_TEXT_MAX + 64];
        tide_log(TIDE_WARN, "lake.unreachable", "error=%s",
                 tide_log_quote(quoted, sizeof quoted, err->text));
        j->lake.asked_ms = tide_now_ms();
        j->lake.status = status;
        j->lake.err = *err;
        status = TIDE_OK;
    }
    if (!status)
        status = tide_rpc_open(&j->rpc.source, &j->options, err);
    if (status) {
        joined_close(j);
        return status;
    }
    *out = (struct tide_source){ &joined_ops, j };
    return TIDE_OK;
}

/* --- choosing a source ------------------------------------------------------------------ */

bool tide_source_refetch(const struct tide_source *source, uint32_t ledger, struct tide_err *err)
{
    bool content = err->code == TIDE_E_DECODE || err->code == TIDE_E_UNKNOWN ||
                   err->code == TIDE_E_LIMIT || err->code == TIDE_E_RANGE ||
                   err->code == TIDE_E_CHAIN;
    return content && source->ops->refetch && source->ops->refetch(source->self, ledger, err);
}

tide_status tide_source_check(const struct tide_config *config, struct tide_err *err)
{
    bool lake = *config->lake, stream = *config->stream, rpc = *config->rpc;
    if (!lake && !stream && !rpc)
        return tide_fail(err, TIDE_E_CONFIG, "lake, rpc, stream: one of them must be set");
    if (stream && (lake || rpc))
        return tide_fail(err, TIDE_E_CONFIG,
                         "stream and %s: a stream stands alone; only lake and rpc go together",
                         lake ? "lake" : "rpc");
    return TIDE_OK;
}

tide_status tide_source_open(struct tide_source *out, const struct tide_source_options *options,
                             struct tide_err *err)
{
    const struct tide_config *c = options->config;
    tide_status status = tide_source_check(c, err);
    if (status != TIDE_OK)
        return status;
    if (*c->stream)
        return tide_stream_open(out, options, err);
    if (*c->lake && *c->rpc)
        return tide_joined_open(out, options, err);
    return *c->lake ? tide_lake_open(out, options, err) : tide_rpc_open(out, options, err);
}
