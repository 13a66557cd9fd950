/* The prover's statements. */
#include "indexer/prove/prover_impl.h"
#include "tidemark/buf.h"
#include "tidemark/failpoint.h"
#include "tidemark/text.h"

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
    tide_status status = tide_pg_connect(&p->pg, &to, err);
    return status == TIDE_OK
               ? tide_pg_run(p->pg, "SET lock_timeout = '2s'; SET statement_timeout = '30s'", "SET",
                             err)
               : status;
}

tide_status prove_read_place(struct proving *p, struct tide_err *err)
{
    struct tide_pg_rows rows;
    tide_status status = tide_pg_query(
        p->pg, &rows,
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
