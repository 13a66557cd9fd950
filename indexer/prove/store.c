/* The prover's statements. */
#include "indexer/database/query.h"
#include "indexer/prove/prover_impl.h"
#include "tidemark/buf.h"
#include "tidemark/failpoint.h"
#include "tidemark/limits.h"
#include "tidemark/text.h"

#include <stddef.h>

enum { SILENCE_MS = 60000, HEX_BYTES = 2 * TIDE_HASH_BYTES + 3, NUMBER_BYTES = 12 };

tide_status prove_connect(struct proving *p, struct tide_err *err)
{
    const struct tide_pg_options to = { .conninfo = p->config.database_url,
                                        .application = "tidemark-prover",
                                        .server = TIDE_PG_WRITABLE,
                                        .silence_ms = SILENCE_MS,
                                        .stopped = p->stopping,
                                        .stopped_self = p->stopping_self };
    if (p->pg && tide_pg_alive(p->pg))
        return TIDE_OK;
    memset(p->prepared, 0, sizeof p->prepared);
    tide_status status = tide_pg_connect(&p->pg, &to, err);
    return status == TIDE_OK ? tide_pg_run(p->pg,
                                           TIDE_COMPRESSION_SQL
                                           "SET plan_cache_mode = force_generic_plan;"
                                           "SET lock_timeout = '2s'; SET statement_timeout = '30s'",
                                           "SET", err)
                             : status;
}

/* Runs a statement that the session keeps: it is read and planned once, which would cost more than
 * to run it. */
static tide_status run_kept(struct proving *p, struct tide_pg_rows *rows, enum prove_statement what,
                            const char *sql, const char *const *values, size_t count,
                            struct tide_err *err)
{
    char name[NUMBER_BYTES];
    snprintf(name, sizeof name, "prove%u", (unsigned)what);
    tide_status status = p->prepared[what] ? TIDE_OK : tide_pg_prepare(p->pg, name, sql, err);
    p->prepared[what] = status == TIDE_OK;
    return status == TIDE_OK ? tide_pg_execute(p->pg, rows, name, values, count, err) : status;
}

tide_status prove_read_place(struct proving *p, struct tide_err *err)
{
    struct tide_pg_rows rows;
    tide_status status = run_kept(
        p, &rows, PROVE_PLACE,
        "SELECT v.from_ledger, c.ledger, chain.proven_through(c.deployment), (SELECT s.ledger FROM"
        " chain.proof_state AS s WHERE s.deployment = c.deployment) FROM chain.cursor AS c"
        " JOIN chain.coverage AS v ON v.deployment = c.deployment AND c.ledger BETWEEN"
        " v.from_ledger AND v.to_ledger WHERE c.deployment = $1::integer",
        (const char *[]){ p->deployment }, 1, err);
    if (status != TIDE_OK)
        return status;
    p->from = p->to = p->proven = p->parts.state = 0;
    if (rows.count == 1) {
        p->from = (uint32_t)tide_pg_u64(&rows, 0, 0);
        p->to = (uint32_t)tide_pg_u64(&rows, 0, 1);
        p->proven = (uint32_t)tide_pg_u64(&rows, 0, 2);
        p->parts.state = (uint32_t)tide_pg_u64(&rows, 0, 3);
    }
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

static void put_hash(char out[HEX_BYTES], const uint8_t hash[TIDE_HASH_BYTES])
{
    memcpy(out, "\\x", 2);
    tide_hex(out + 2, tide_slice_of(hash, TIDE_HASH_BYTES));
    out[HEX_BYTES - 1] = '\0';
}

/* Runs a statement with $1 deployment, $2 ledger, $3 our hash, $4 the signed hash, $5 signers. */
static tide_status store_row(struct proving *p, const struct checkpoint_proof *proof,
                             const char *sql, bool *stored, struct tide_err *err)
{
    char ledger[NUMBER_BYTES], ours[HEX_BYTES], theirs[HEX_BYTES];
    struct tide_buf signers;
    struct tide_pg_rows rows = { 0 };
    assert(proof->ledger + 1 >= p->task.first && proof->ledger < p->task.last);
    snprintf(ledger, sizeof ledger, "%u", proof->ledger);
    put_hash(ours, p->hashes[proof->ledger + 1 - p->task.first]);
    put_hash(theirs, proof->hash);
    const char *keys = checkpoint_put_signers(&p->quorum, &proof->signers, &signers);
    const char *values[] = { p->deployment, ledger, ours, theirs, keys };
    tide_status status = keys ? tide_pg_query(p->pg, &rows, sql, values, TIDE_COUNT(values), err)
                              : tide_fail(err, TIDE_E_MEMORY, "prover: signers");
    *stored = status == TIDE_OK && rows.affected == 1;
    tide_pg_rows_release(&rows);
    tide_buf_release(&signers);
    return status;
}

tide_status prove_store(struct proving *p, const struct checkpoint_proof *proof, bool *stored,
                        struct tide_err *err)
{
    if (TIDE_FAILPOINT("prove.store"))
        return tide_fail(err, TIDE_E_DB, "failpoint");
    return store_row(p, proof,
                     "INSERT INTO chain.checkpoint (deployment, ledger, hash, signed_by)"
                     " SELECT l.deployment, l.ledger, l.hash, $5::text[] FROM chain.ledger AS l"
                     " WHERE l.deployment = $1::integer AND l.ledger = $2::integer"
                     " AND l.hash = $3::bytea AND l.hash = $4::bytea ON CONFLICT DO NOTHING",
                     stored, err);
}

tide_status prove_store_fork(struct proving *p, const struct checkpoint_proof *proof, bool *stored,
                             struct tide_err *err)
{
    if (TIDE_FAILPOINT("prove.fork"))
        return tide_fail(err, TIDE_E_DB, "failpoint");
    return store_row(
        p, proof,
        "INSERT INTO chain.fork AS f (deployment, ledger, hash, signed_hash, signed_by)"
        " SELECT l.deployment, l.ledger, l.hash, $4::bytea, $5::text[] FROM"
        " chain.ledger AS l WHERE l.deployment = $1::integer AND l.ledger ="
        " $2::integer AND l.hash = $3::bytea ON CONFLICT (deployment) DO UPDATE SET"
        " found_at = f.found_at",
        stored, err);
}

tide_status prove_store_state(struct proving *p, const char *trouble, struct tide_err *err)
{
    return tide_pg_query(
        p->pg, NULL,
        "INSERT INTO chain.prover AS b (deployment, trouble, trouble_at) VALUES ($1::integer,"
        " nullif($2, ''), CASE WHEN $2 <> '' THEN clock_timestamp() END) ON CONFLICT (deployment)"
        " DO UPDATE SET asked_at = clock_timestamp(), trouble = excluded.trouble, trouble_at ="
        " CASE WHEN excluded.trouble IS NOT NULL THEN coalesce(b.trouble_at, clock_timestamp())"
        " END",
        (const char *[]){ p->deployment, trouble }, 2, err);
}

/* --- parts of proofs -------------------------------------------------------------------- */

enum {
    PARTS_BYTES = 1 << 20, /* a statement has about so many, or a part that is larger */
    PARTS_BYTES_MAX = 2 * TIDE_LEDGER_BYTES_MAX + 2 * PARTS_BYTES
};

uint32_t prove_oldest_kept(const struct proving *p)
{
    uint32_t ledgers = p->config.proof_ledgers;
    return p->to - p->from < ledgers ? p->from : p->to - ledgers + 1;
}

tide_status prove_wanted(struct proving *p, uint32_t checkpoint, bool wanted[CHECKPOINT_LEDGERS],
                         struct tide_err *err)
{
    char from[NUMBER_BYTES], to[NUMBER_BYTES];
    struct tide_pg_rows rows;
    uint32_t first = sweep_window_first(checkpoint);
    uint32_t oldest = prove_oldest_kept(p);
    snprintf(from, sizeof from, "%u", first > oldest ? first : oldest);
    snprintf(to, sizeof to, "%u", p->proven < checkpoint ? p->proven : checkpoint - 1);
    tide_status status = run_kept(
        p, &rows, PROVE_WANTED,
        "SELECT l.ledger FROM chain.ledger AS l WHERE l.deployment = $1::integer AND l.ledger"
        " BETWEEN $2::integer AND $3::integer AND l.our_txs > 0",
        (const char *[]){ p->deployment, from, to }, 3, err);
    if (status != TIDE_OK)
        return status;
    for (uint32_t i = 0; i < rows.count; i++) {
        uint32_t ledger = (uint32_t)tide_pg_u64(&rows, i, 0);
        assert(ledger + CHECKPOINT_LEDGERS - checkpoint < CHECKPOINT_LEDGERS);
        wanted[ledger + CHECKPOINT_LEDGERS - checkpoint] = true;
    }
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

tide_status prove_find_unproven(struct proving *p, uint32_t from, uint32_t to, uint32_t *found,
                                struct tide_err *err)
{
    char first[NUMBER_BYTES], last[NUMBER_BYTES];
    struct tide_pg_rows rows;
    snprintf(first, sizeof first, "%u", from);
    snprintf(last, sizeof last, "%u", to);
    tide_status status = run_kept(
        p, &rows, PROVE_UNPROVEN,
        "SELECT l.ledger FROM chain.ledger AS l WHERE l.deployment = $1::integer AND l.ledger"
        " BETWEEN $2::integer AND $3::integer AND l.our_txs > 0 AND (SELECT k.results IS NULL FROM"
        " chain.proof_ledger AS k WHERE k.deployment = l.deployment AND k.ledger = l.ledger)"
        " IS NOT FALSE ORDER BY l.ledger DESC LIMIT 1",
        (const char *[]){ p->deployment, first, last }, 3, err);
    if (status != TIDE_OK)
        return status;
    *found = rows.count ? (uint32_t)tide_pg_u64(&rows, 0, 0) : 0;
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

/* Writes bytes as PostgreSQL takes them. Returns NULL without memory. */
static const char *put_bytes(struct tide_buf *out, tide_slice bytes)
{
    tide_buf_init(out, 2 * (size_t)TIDE_LEDGER_BYTES_MAX + 3);
    tide_buf_str(out, "\\x");
    tide_buf_hex(out, bytes);
    tide_buf_u8(out, 0);
    return out->failed ? NULL : (const char *)out->ptr;
}

/* --- headers and results ------------------------------------------------------------------- */

void prove_parts_init(struct ledger_parts *parts)
{
    tide_buf_init(&parts->places, PARTS_BYTES_MAX);
    tide_buf_init(&parts->hex, PARTS_BYTES_MAX);
}

void prove_parts_release(struct ledger_parts *parts)
{
    tide_buf_release(&parts->places);
    tide_buf_release(&parts->hex);
}

bool prove_parts_full(const struct ledger_parts *parts)
{
    return parts->hex.len >= PARTS_BYTES;
}

tide_status prove_parts_add(struct ledger_parts *parts, uint32_t ledger, tide_slice header,
                            tide_slice results, struct tide_err *err)
{
    if (!parts->hex.len)
        tide_buf_str(&parts->hex, "\\x");
    tide_buf_putf(&parts->places, "%c%u,%zu,%zu,%zu", parts->places.len ? ',' : '{', ledger,
                  parts->hex.len / 2, header.len, results.len);
    tide_buf_hex(&parts->hex, header);
    tide_buf_hex(&parts->hex, results);
    return parts->places.failed || parts->hex.failed
               ? tide_fail(err, TIDE_E_MEMORY, "parts: ledgers")
               : TIDE_OK;
}

tide_status prove_parts_store(struct proving *p, struct ledger_parts *parts, struct tide_err *err)
{
    if (!parts->places.len)
        return TIDE_OK;
    if (TIDE_FAILPOINT("prove.part"))
        return tide_fail(err, TIDE_E_DB, "failpoint");
    tide_buf_put(&parts->places, "}", 2);
    tide_buf_u8(&parts->hex, 0);
    if (parts->places.failed || parts->hex.failed)
        return tide_fail(err, TIDE_E_MEMORY, "parts: ledgers");
    const char *values[] = { p->deployment, (const char *)parts->places.ptr,
                             (const char *)parts->hex.ptr };
    tide_status status = run_kept(
        p, NULL, PROVE_LEDGERS,
        "INSERT INTO chain.proof_ledger AS k (deployment, ledger, header, results) SELECT"
        " $1::integer, a[i], substring($3::bytea FROM a[i + 1] FOR a[i + 2]), CASE WHEN a[i + 3]"
        " > 0 THEN substring($3::bytea FROM a[i + 1] + a[i + 2] FOR a[i + 3]) END FROM (SELECT"
        " $2::integer[] AS a) AS p, generate_series(1, cardinality(a), 4) AS i ON CONFLICT"
        " (deployment, ledger) DO UPDATE SET results = excluded.results WHERE k.results IS NULL"
        " AND excluded.results IS NOT NULL",
        values, TIDE_COUNT(values), err);
    tide_buf_reset(&parts->places);
    tide_buf_reset(&parts->hex);
    return status;
}

/* --- votes and states ---------------------------------------------------------------------- */

/* Writes elements as an array in PostgreSQL's form. Returns NULL without memory. */
static const char *put_array(struct tide_buf *array, const struct tide_buf *elements)
{
    tide_buf_init(array, elements->len + 3);
    tide_buf_u8(array, '{');
    tide_buf_slice(array, tide_buf_view(elements));
    tide_buf_put(array, "}", 2);
    return array->failed ? NULL : (const char *)array->ptr;
}

tide_status prove_store_votes(struct proving *p, uint32_t ledger, tide_slice set,
                              const struct tide_buf *envelopes, struct tide_err *err)
{
    char number[NUMBER_BYTES];
    struct tide_buf hex, array;
    if (TIDE_FAILPOINT("prove.part"))
        return tide_fail(err, TIDE_E_DB, "failpoint");
    snprintf(number, sizeof number, "%u", ledger);
    const char *tx_set = put_bytes(&hex, set);
    const char *text = put_array(&array, envelopes);
    const char *values[] = { p->deployment, number, set.len ? tx_set : NULL, text };
    tide_status status =
        tx_set && text
            ? tide_pg_query(p->pg, NULL,
                            "INSERT INTO chain.proof_vote (deployment, ledger, tx_set, envelopes)"
                            " VALUES ($1::integer, $2::integer, $3::bytea, $4::bytea[])"
                            " ON CONFLICT DO NOTHING",
                            values, TIDE_COUNT(values), err)
            : tide_fail(err, TIDE_E_MEMORY, "parts: votes");
    tide_buf_release(&hex);
    tide_buf_release(&array);
    return status;
}

static tide_slice bucket_hashes(const struct history_state *state)
{
    static_assert(offsetof(struct history_state, hot) ==
                      offsetof(struct history_state, live) + sizeof state->live,
                  "the hot archive's hashes follow");
    size_t lists = state->version == 1 ? 1 : 2;
    return tide_slice_of(state->live[0].curr, lists * sizeof state->live);
}

tide_status prove_store_buckets(struct proving *p, const struct proof_state *state, tide_slice set,
                                const struct tide_buf *envelopes, struct tide_err *err)
{
    enum { BUCKETS, HEADERS, SET, ENVELOPES, TEXTS };
    char ledger[NUMBER_BYTES], count[NUMBER_BYTES], voted[NUMBER_BYTES];
    struct tide_buf texts[TEXTS];
    const char *buckets = put_bytes(&texts[BUCKETS], bucket_hashes(state->buckets));
    const char *headers = put_bytes(&texts[HEADERS], tide_buf_view(state->headers));
    const char *tx_set = put_bytes(&texts[SET], set);
    const char *array = put_array(&texts[ENVELOPES], envelopes);
    snprintf(ledger, sizeof ledger, "%u", state->ledger);
    snprintf(count, sizeof count, "%u", state->header_count);
    snprintf(voted, sizeof voted, "%u", state->signed_ledger);
    const char *values[] = { p->deployment,           ledger, buckets, count, headers, voted,
                             set.len ? tx_set : NULL, array };
    tide_status status =
        buckets && headers && tx_set && array
            ? tide_pg_query(p->pg, NULL,
                            "INSERT INTO chain.proof_state VALUES ($1::integer, $2::integer,"
                            " $3::bytea, $4::integer, $5::bytea, $6::integer, $7::bytea,"
                            " $8::bytea[]) ON CONFLICT (deployment) DO UPDATE SET ledger ="
                            " excluded.ledger, buckets = excluded.buckets, header_count ="
                            " excluded.header_count, headers = excluded.headers, signed_ledger ="
                            " excluded.signed_ledger, tx_set = excluded.tx_set, envelopes ="
                            " excluded.envelopes",
                            values, TIDE_COUNT(values), err)
            : tide_fail(err, TIDE_E_MEMORY, "parts: a state");
    for (int i = 0; i < TEXTS; i++)
        tide_buf_release(&texts[i]);
    return status;
}

tide_status prove_drop_parts(struct proving *p, struct tide_err *err)
{
    char oldest[NUMBER_BYTES];
    if (TIDE_FAILPOINT("prove.drop"))
        return tide_fail(err, TIDE_E_DB, "failpoint");
    snprintf(oldest, sizeof oldest, "%u", prove_oldest_kept(p));
    return tide_pg_query(p->pg, NULL,
                         "WITH v AS (DELETE FROM chain.proof_vote WHERE deployment = $1::integer"
                         " AND ledger <= $2::integer) DELETE FROM chain.proof_ledger WHERE"
                         " deployment = $1::integer AND ledger < $2::integer",
                         (const char *[]){ p->deployment, oldest }, 2, err);
}
