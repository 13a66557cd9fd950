/* A lake and RPC as one source: history from the lake, the tip from RPC. If neither has a ledger,
 * the error names both reasons. */
#include "indexer/source/source.h"
#include "tidemark/log.h"

struct joined {
    struct tide_source_options options;
    struct tide_source lake, rpc;
    bool on_lake;        /* the lake gave the last ledger, or is asked first */
    uint32_t next, last; /* ledgers: next one wanted, last one wanted (0: no end) */
    uint32_t lake_last;  /* the newest ledger that the lake gave */
    uint32_t doubted; /* a ledger whose copy in the lake is damaged, and for which RPC was asked */
};

static struct tide_source *current(struct joined *j)
{
    return j->on_lake ? &j->lake : &j->rpc;
}

static tide_status next_of_current(struct joined *j, tide_slice *lcm, uint32_t *sequence,
                                   struct tide_err *err)
{
    assert(current(j)->ops);
    return current(j)->ops->next(current(j)->self, lcm, sequence, err);
}

/* Opens the lake, if it did not answer when this source was opened. */
static tide_status open_lake(struct joined *j, struct tide_err *err)
{
    return j->lake.ops ? TIDE_OK : tide_lake_open(&j->lake, &j->options, err);
}

/* Makes the lake or RPC the current source, from the next ledger on. */
static tide_status switch_to(struct joined *j, bool lake, struct tide_err *err)
{
    tide_status status = lake ? open_lake(j, err) : TIDE_OK;
    if (status)
        return status;
    assert(j->next > 0); /* joined_seek has chosen the first one */
    j->on_lake = lake;
    tide_log(TIDE_INFO, "source.turned", "to=%s ledger=%u", current(j)->ops->name, j->next);
    return current(j)->ops->seek(current(j)->self, j->next, j->last, err);
}

/* Fails with the reasons of both. TIDE_E_IO if one did not answer: it may have the ledger. */
static tide_status fail_both(const struct joined *j, const struct tide_err *lake,
                             const struct tide_err *rpc, struct tide_err *err)
{
    char first[TIDE_ERR_TEXT_MAX / 2], second[TIDE_ERR_TEXT_MAX / 2];
    snprintf(first, sizeof first, "%.370s", lake->text);
    snprintf(second, sizeof second, "%.370s", rpc->text);
    assert(lake->code != TIDE_OK && rpc->code != TIDE_OK);
    bool away = lake->code == TIDE_E_IO || rpc->code == TIDE_E_IO;
    return tide_fail(err, away ? TIDE_E_IO : TIDE_E_MISSING,
                     "ledger %u is neither in the lake (%.300s) nor at RPC (%.300s)", j->next,
                     first, second);
}

/* Returns whether RPC may have a ledger that the lake did not give: the lake's end, a hole, or a
 * lake that is away, or whose object is damaged, too large or newer than this build. */
static bool may_be_elsewhere(tide_status status)
{
    return status == TIDE_E_EOF || status == TIDE_E_MISSING || status == TIDE_E_IO ||
           status == TIDE_E_DECODE || status == TIDE_E_LIMIT || status == TIDE_E_UNKNOWN;
}

static tide_status joined_next(void *self, tide_slice *lcm, uint32_t *sequence,
                               struct tide_err *err)
{
    struct joined *j = self;
    struct tide_err lake = { 0 };
    bool asked_lake = false;
    if (j->last && j->next > j->last)
        return tide_fail(err, TIDE_E_EOF, "ledger %u, the last one wanted, is read", j->last);
    tide_status status = next_of_current(j, lcm, sequence, err);
    if (j->on_lake && may_be_elsewhere(status)) {
        asked_lake = true;
        lake = *err;
        status = switch_to(j, false, err);
        if (!status)
            status = next_of_current(j, lcm, sequence, err);
    }
    if (!j->on_lake && (status == TIDE_E_MISSING || status == TIDE_E_IO)) {
        struct tide_err rpc = *err;
        if (asked_lake)
            return fail_both(j, &lake, &rpc, err);
        status = switch_to(j, true, err);
        if (!status)
            status = next_of_current(j, lcm, sequence, err);
        if (may_be_elsewhere(status)) {
            lake = *err;
            return fail_both(j, &lake, &rpc, err);
        }
    }
    assert(status || !j->on_lake || *sequence == j->next); /* the lake counts its ledgers */
    if (!status)
        j->next = *sequence + 1;
    if (!status && j->on_lake)
        j->lake_last = *sequence;
    return status;
}

static void joined_done(void *self)
{
    struct joined *j = self;
    if (current(j)->ops && current(j)->ops->done)
        current(j)->ops->done(current(j)->self);
}

/* Asks the source of the ledger for a fresh copy. If the lake's copy is damaged again, asks RPC
 * once. */
static bool joined_refetch(void *self, uint32_t ledger, struct tide_err *err)
{
    struct joined *j = self;
    char quoted[TIDE_ERR_TEXT_MAX + 64];
    struct tide_err ignored;
    assert(ledger > 0 && ledger < j->next);
    if (ledger > j->lake_last)
        return tide_source_refetch(&j->rpc, ledger, err);
    j->on_lake = true;
    j->next = ledger;
    bool again = tide_source_refetch(&j->lake, ledger, err);
    if (again || j->doubted == ledger)
        return again;
    j->doubted = ledger;
    j->lake_last = ledger - 1;
    tide_log(TIDE_WARN, "lake.damaged", "again=false error=%s",
             tide_log_quote(quoted, sizeof quoted, err->text));
    return switch_to(j, false, &ignored) == TIDE_OK;
}

static tide_status joined_range(void *self, uint32_t *first, uint32_t *last, struct tide_err *err)
{
    struct joined *j = self;
    uint32_t newest = 0, oldest = 0;
    struct tide_err ignored;
    *first = *last = 0;
    (void)err;
    if (j->lake.ops && j->lake.ops->range(j->lake.self, first, last, &ignored))
        *first = *last = 0;
    if (j->rpc.ops->range(j->rpc.self, &oldest, &newest, &ignored) == TIDE_OK && newest > *last)
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
    j->lake_last = 0;
    return switch_to(j, j->lake.ops != NULL, err);
}

static bool joined_finite(void *self)
{
    const struct joined *j = self;
    return j->last && j->next > j->last;
}

/* The lake is never at the tip: RPC has later ledgers. */
static bool joined_newest(void *self)
{
    struct joined *j = self;
    return !j->on_lake && j->rpc.ops->newest(j->rpc.self);
}

static int64_t joined_trouble(void *self, char *text, size_t size)
{
    struct joined *j = self;
    return j->rpc.ops->trouble(j->rpc.self, text, size);
}

static void joined_close(void *self)
{
    struct joined *j = self;
    if (j->lake.ops)
        j->lake.ops->close(j->lake.self);
    if (j->rpc.ops)
        j->rpc.ops->close(j->rpc.self);
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
    .close = joined_close,
};

tide_status tide_joined_open(struct tide_source *out, const struct tide_source_options *options,
                             struct tide_err *err)
{
    struct joined *j = calloc(1, sizeof *j);
    if (!j)
        return tide_fail(err, TIDE_E_MEMORY, "source: out of memory");
    j->options = *options;
    tide_status status = tide_lake_open(&j->lake, options, err);
    if (status == TIDE_E_IO) {
        char quoted[TIDE_ERR_TEXT_MAX + 64];
        tide_log(TIDE_WARN, "lake.unreachable", "error=%s",
                 tide_log_quote(quoted, sizeof quoted, err->text));
        status = TIDE_OK;
    }
    if (!status)
        status = tide_rpc_open(&j->rpc, options, err);
    if (status) {
        joined_close(j);
        return status;
    }
    *out = (struct tide_source){ &joined_ops, j };
    return TIDE_OK;
}
