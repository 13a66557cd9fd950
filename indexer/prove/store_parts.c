/* The statements that store parts of proofs. */
#include "indexer/prove/prover_impl.h"
#include "tidemark/failpoint.h"
#include "tidemark/limits.h"
#include "tidemark/text.h"

enum { NUMBER_BYTES = 12 };

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
    tide_status status = tide_pg_query(
        p->pg, &rows,
        "SELECT DISTINCT t.ledger FROM chain.tx AS t WHERE t.deployment = $1::integer AND t.ledger"
        " BETWEEN $2::integer AND $3::integer",
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
    tide_status status = tide_pg_query(
        p->pg, &rows,
        "SELECT max(t.ledger) FROM chain.tx AS t WHERE t.deployment = $1::integer AND t.ledger"
        " BETWEEN $2::integer AND $3::integer AND NOT EXISTS (SELECT FROM chain.proof_ledger AS k"
        " WHERE k.deployment = t.deployment AND k.ledger = t.ledger AND k.results IS NOT NULL)",
        (const char *[]){ p->deployment, first, last }, 3, err);
    if (status != TIDE_OK)
        return status;
    *found = (uint32_t)tide_pg_u64(&rows, 0, 0);
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

/* Runs a statement with $1 deployment, $2 ledger, $3 bytes or NULL if there are none, $4 a text. */
static tide_status store_part(struct proving *p, const char *sql, uint32_t ledger, tide_slice bytes,
                              const char *text, struct tide_err *err)
{
    char number[NUMBER_BYTES];
    struct tide_buf hex;
    if (TIDE_FAILPOINT("prove.part"))
        return tide_fail(err, TIDE_E_DB, "failpoint");
    snprintf(number, sizeof number, "%u", ledger);
    tide_buf_init(&hex, 2 * (size_t)TIDE_LEDGER_BYTES_MAX + 3);
    tide_buf_str(&hex, "\\x");
    tide_buf_hex(&hex, bytes);
    tide_buf_u8(&hex, 0);
    const char *values[] = { p->deployment, number, bytes.len ? (const char *)hex.ptr : NULL,
                             text };
    tide_status status = hex.failed ? tide_fail(err, TIDE_E_MEMORY, "parts")
                                    : tide_pg_query(p->pg, NULL, sql, values, text ? 4 : 3, err);
    tide_buf_release(&hex);
    return status;
}

tide_status prove_store_header(struct proving *p, uint32_t ledger, tide_slice header,
                               struct tide_err *err)
{
    return store_part(p,
                      "INSERT INTO chain.proof_ledger (deployment, ledger, header) VALUES"
                      " ($1::integer, $2::integer, $3::bytea) ON CONFLICT DO NOTHING",
                      ledger, header, NULL, err);
}

tide_status prove_store_results(struct proving *p, uint32_t ledger, tide_slice results,
                                struct tide_err *err)
{
    return store_part(p,
                      "UPDATE chain.proof_ledger SET results = $3::bytea WHERE deployment ="
                      " $1::integer AND ledger = $2::integer",
                      ledger, results, NULL, err);
}

tide_status prove_store_votes(struct proving *p, uint32_t ledger, tide_slice set,
                              const struct tide_buf *envelopes, struct tide_err *err)
{
    struct tide_buf array;
    tide_buf_init(&array, envelopes->len + 3);
    tide_buf_u8(&array, '{');
    tide_buf_slice(&array, tide_buf_view(envelopes));
    tide_buf_put(&array, "}", 2);
    tide_status status =
        array.failed ? tide_fail(err, TIDE_E_MEMORY, "parts: envelopes")
                     : store_part(p,
                                  "INSERT INTO chain.proof_vote (deployment, ledger, tx_set,"
                                  " envelopes) VALUES ($1::integer, $2::integer, $3::bytea,"
                                  " $4::bytea[]) ON CONFLICT DO NOTHING",
                                  ledger, set, (const char *)array.ptr, err);
    tide_buf_release(&array);
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
