/* Moves of a row, one fenced statement each; the attester's fees, notes and heartbeat. The trigger
 * kyc.audit_move writes the audit of a move. */
#include "api/attester/outbox/outbox_impl.h"

/* Parts of the statements. $1 is the row, $2 the hash of the envelope that this process knows
 * (NULL: none). The fence matches no row if another process moved it. */
#define MOVE "UPDATE kyc.outbox o SET updated_at = clock_timestamp(), "
#define FENCE                                                                   \
    " WHERE o.id = $1::bigint AND o.state IN ('queued', 'signed', 'submitted')" \
    " AND o.tx_hash IS NOT DISTINCT FROM $2::bytea"
#define MOVED " RETURNING 1"

/* Runs a move. Fails with TIDE_E_FENCED if the statement changed no row; values[0] is the row's
 * id. */
static tide_status run_move(struct att_outbox *o, const char *sql, const char *const *values,
                            size_t count, struct tide_err *err)
{
    assert(o->pg); /* att_outbox_ready connected */
    struct tide_pg_rows rows;
    tide_status status = tide_pg_query(o->pg, &rows, sql, values, count, err);
    if (status == TIDE_OK && rows.count == 0)
        status =
            tide_fail(err, TIDE_E_FENCED, "kyc.outbox %s was moved by another process", values[0]);
    tide_pg_rows_release(&rows);
    return status;
}

/* Runs a move of which values[index] is that envelope. */
static tide_status run_with_envelope(struct att_outbox *o, const char *sql, const char **values,
                                     size_t count, size_t index, const struct tide_buf *envelope,
                                     struct tide_err *err)
{
    struct tide_buf text;
    tide_buf_init(&text, (size_t)4 * ATT_ENVELOPE_MAX);
    tide_buf_str(&text, "\\x");
    tide_buf_hex(&text, tide_buf_view(envelope));
    tide_buf_u8(&text, 0);
    values[index] = (const char *)text.ptr;
    tide_status status = text.failed ? tide_fail(err, TIDE_E_MEMORY, "no memory for a statement")
                                     : run_move(o, sql, values, count, err);
    tide_buf_release(&text);
    return status;
}

/* --- envelopes -------------------------------------------------------------------------------- */

/* A newer row whose MAC is not checked yet prevents the signature, as a newer decision does. The
 * bid is stored in the same transaction: no envelope escapes the budget. */
static const char signed_sql[] =
    "WITH moved AS (UPDATE kyc.outbox o SET updated_at = clock_timestamp(), state = 'signed',"
    " tx_hash = $2::bytea, seq = $3::bigint, envelope = $4::bytea, max_time = $5::bigint,"
    " submit_ledger = $6::bigint, sent_ledger = NULL, last_status = NULL, reason = NULL,"
    " attempts = least(attempts, 999999) + 1 WHERE o.id = $1::bigint AND o.state = 'queued' AND"
    " o.genuine AND NOT " ATT_HELD_BACK " RETURNING o.id),"
    " fee AS (INSERT INTO kyc.attester_fee (deployment, verifier, tx_hash, outbox, bid) SELECT"
    " $7::int, $8, $2::bytea, m.id, $9::bigint FROM moved m) SELECT 1 FROM moved";

tide_status att_outbox_signed(struct att_outbox *outbox, const struct att_row *row,
                              const char *verifier, int64_t bid, struct tide_err *err)
{
    assert(row->state == ATT_QUEUED && row->envelope.len > 0);
    assert(bid > 0 && row->max_time > 0);
    assert(outbox->deployment > 0); /* att_outbox_ready succeeded */
    const char *values[] = { TIDE_PG_NUMBER(row->id),
                             TIDE_PG_HASH(row->hash),
                             TIDE_PG_NUMBER(row->seq),
                             NULL,
                             TIDE_PG_NUMBER(row->max_time),
                             TIDE_PG_NUMBER(row->submit_ledger),
                             TIDE_PG_NUMBER(outbox->deployment),
                             verifier,
                             TIDE_PG_NUMBER(bid) };
    return run_with_envelope(outbox, signed_sql, values, TIDE_COUNT(values), 3, &row->envelope,
                             err);
}

/* Adds its own note to the audit: the state stays the same, so the trigger writes none. */
static const char bumped_sql[] =
    "WITH moved AS (" MOVE "bump_envelope = $3::bytea, bump_hash = $4::bytea, bump_fee = "
    "$5::bigint, sent_ledger = NULL" FENCE
    " AND o.bump_envelope IS NULL RETURNING o.id, o.session_id, o.decision_rev, o.action),"
    " fee AS (UPDATE kyc.attester_fee SET bid = greatest(bid, $5::bigint) WHERE tx_hash ="
    " $2::bytea) SELECT kyc.note('attester', 'bumped', m.session_id, jsonb_build_object('id', m.id,"
    " 'rev', m.decision_rev, 'action', m.action, 'hash', encode($2::bytea, 'hex'), 'bump',"
    " encode($4::bytea, 'hex'), 'fee', $5::bigint)) FROM moved m";

tide_status att_outbox_bumped(struct att_outbox *outbox, const struct att_row *row, int64_t fee,
                              const uint8_t hash[TIDE_HASH_BYTES], struct tide_err *err)
{
    assert(row->state != ATT_QUEUED && row->bump.len > 0);
    const char *values[] = { TIDE_PG_NUMBER(row->id), TIDE_PG_HASH(row->hash), NULL,
                             TIDE_PG_HASH(hash), TIDE_PG_NUMBER(fee) };
    return run_with_envelope(outbox, bumped_sql, values, TIDE_COUNT(values), 2, &row->bump, err);
}

/* --- fees ------------------------------------------------------------------------------------- */

tide_status att_outbox_spent(struct att_outbox *outbox, uint64_t *stroops, struct tide_err *err)
{
    return tide_pg_value(
        outbox->pg,
        "SELECT least(coalesce(sum(coalesce(charged, bid)), 0), 9e18)::bigint FROM"
        " kyc.attester_fee WHERE deployment = $1::int AND signed_at > statement_timestamp() -"
        " interval '1 day'",
        (const char *[]){ TIDE_PG_NUMBER(outbox->deployment) }, 1, stroops, err);
}

tide_status att_outbox_charged(struct att_outbox *outbox, const struct att_row *row,
                               int64_t stroops, struct tide_err *err)
{
    assert(row->state != ATT_QUEUED);
    return tide_pg_query(
        outbox->pg, NULL,
        "UPDATE kyc.attester_fee SET charged = $2::bigint WHERE tx_hash = $1::bytea",
        (const char *[]){ TIDE_PG_HASH(row->hash), TIDE_PG_NUMBER(stroops) }, 2, err);
}

/* --- moves ------------------------------------------------------------------------------------ */

#define NO_ENVELOPE                                                                      \
    "state = 'queued', seq = NULL, envelope = NULL, tx_hash = NULL,"                     \
    " submit_ledger = NULL, sent_ledger = NULL, bump_envelope = NULL, bump_hash = NULL," \
    " bump_fee = NULL, next_try = clock_timestamp()"
/* From the fourth envelope on, each pause doubles, up to an hour. This bounds the number of
 * signatures if no envelope reaches the chain. */
#define EVER_LATER                                                                  \
    " + interval '1 s' * CASE WHEN o.attempts > 3 THEN least(3600, power(2, least(" \
    "o.attempts, 20) - 3)) ELSE 0 END"

/* with: how many of the caller's values the statement takes, as $3 and on. bad_seq counts clashes
 * in a row, so a requeue for another reason resets it. */
static const struct {
    const char *sql;
    uint32_t with;
} moves[] = {
    [ATT_MOVE_SENT] = { MOVE "sent_ledger = $3::bigint, last_status = $4" FENCE MOVED, 2 },
    [ATT_MOVE_SUBMITTED] = { MOVE "state = 'submitted', sent_ledger = $3::bigint,"
                                  " last_status = $4" FENCE MOVED,
                             2 },
    [ATT_MOVE_CONFIRMED] = { MOVE "state = 'confirmed', confirmed_ledger = $3::bigint,"
                                  " last_status = $4, reason = NULL, attention = $5" FENCE MOVED,
                             3 },
    [ATT_MOVE_PARKED] = { MOVE "state = 'parked', reason = $3,"
                               " last_status = coalesce($4, o.last_status)" FENCE MOVED,
                          2 },
    [ATT_MOVE_REQUEUED] = { MOVE NO_ENVELOPE EVER_LATER
                            ", max_time = NULL, last_status = $3, bad_seq = CASE WHEN $4::bool THEN"
                            " least(o.bad_seq, 999999) + 1 ELSE 0 END" FENCE MOVED,
                            2 },
    [ATT_MOVE_SUPERSEDED] = { MOVE "state = 'superseded', last_status = $3, reason = NULL" FENCE
                                   " AND o.state = 'queued'" MOVED,
                              1 },
    [ATT_MOVE_POSTPONED] = { MOVE "next_try = clock_timestamp() + $3::int * interval '1 ms',"
                                  " last_status = $4" FENCE " AND o.state = 'queued'" MOVED,
                             2 },
};

tide_status att_outbox_move(struct att_outbox *outbox, const struct att_row *row,
                            enum att_move move, const char *const with[3], struct tide_err *err)
{
    assert(move < TIDE_COUNT(moves));
    /* an envelope is stored before it is sent, and is followed to its end */
    assert(move > ATT_MOVE_SUBMITTED || row->state != ATT_QUEUED);
    assert(move < ATT_MOVE_SUPERSEDED || row->state == ATT_QUEUED);
    const char *known = row->state == ATT_QUEUED ? NULL : TIDE_PG_HASH(row->hash);
    const char *values[] = { TIDE_PG_NUMBER(row->id), known, with[0], with[1], with[2] };
    return run_move(outbox, moves[move].sql, values, 2 + moves[move].with, err);
}

/* --- MACs ------------------------------------------------------------------------------------- */

/* A result is stored once: genuine IS NULL excludes rows that were checked before. */
static const char genuine_sql[] =
    "UPDATE kyc.outbox SET genuine = true WHERE id = ANY ($1::bigint[]) AND genuine IS NULL";
/* Rows that ended already keep their state and reason. */
static const char forged_sql[] =
    "UPDATE kyc.outbox o SET updated_at = clock_timestamp(), genuine = false, reason = CASE WHEN"
    " o.state IN ('queued', 'signed', 'submitted') THEN 'not_signed' ELSE o.reason END, state ="
    " CASE WHEN o.state IN ('queued', 'signed', 'submitted') THEN 'parked' ELSE o.state END"
    " WHERE o.id = ANY ($1::bigint[]) AND o.genuine IS NULL";

tide_status att_outbox_store_genuine(struct att_outbox *outbox, const char *ids, bool genuine,
                                     struct tide_err *err)
{
    assert(ids[0] == '{'); /* an array literal */
    return tide_pg_query(outbox->pg, NULL, genuine ? genuine_sql : forged_sql,
                         (const char *[]){ ids }, 1, err);
}

/* This statement has no fence of the envelope: the field that cannot be read may be one that the
 * fence compares. */
static const char reject_sql[] =
    MOVE "state = 'parked', reason = 'bad_row' WHERE o.id = $1::bigint AND o.state IN ('queued',"
         " 'signed', 'submitted')" MOVED;

tide_status att_outbox_reject(struct att_outbox *outbox, uint64_t id, struct tide_err *err)
{
    return run_move(outbox, reject_sql, (const char *[]){ TIDE_PG_NUMBER(id) }, 1, err);
}

/* --- decisions of people ---------------------------------------------------------------------- */

tide_status att_outbox_note(struct att_outbox *outbox, const char *what, const char *about,
                            const char *detail, struct tide_err *err)
{
    const char *values[] = { what, about, detail };
    return tide_pg_query(outbox->pg, NULL, "SELECT kyc.note('attester', $1, $2, $3::jsonb)", values,
                         3, err);
}

/* The console calls the same functions (migrations/0006_kyc_console.sql). */
static const char release_sql[] = "SELECT kyc.release($2::smallint, $1::bigint, $3)";
static const char attended_sql[] =
    "SELECT kyc.attend($2::smallint, $1::bigint, 'attester', NULL, $3)";

tide_status att_outbox_review(struct att_outbox *outbox, uint64_t id, const char *who,
                              bool attended, bool *found, struct tide_err *err)
{
    assert(who); /* the audit names a person */
    uint64_t done;
    tide_status status = tide_pg_value(
        outbox->pg, attended ? attended_sql : release_sql,
        (const char *[]){ TIDE_PG_NUMBER(id), TIDE_PG_NUMBER(outbox->deployment), who }, 3, &done,
        err);
    *found = done != 0;
    return status;
}

/* --- the attester's own state ----------------------------------------------------------------- */

/* Counts are added to the stored ones, so they survive a restart. The last error and the last
 * times stay until newer ones replace them. */
static const char heartbeat_sql[] =
    "INSERT INTO kyc.attester AS a (deployment, verifier, state, ledger, balance, sent, confirmed,"
    " parked, failures, confirmed_at, failed_at, error, standing) VALUES ($1::int, $2, $3, "
    "$4::bigint,"
    " $5::bigint, $6::bigint, $7::bigint, $8::bigint, $9::bigint,"
    " CASE WHEN $7::bigint > 0 THEN clock_timestamp() END,"
    " CASE WHEN $9::bigint > 0 THEN clock_timestamp() END, $10, $11::bigint)"
    " ON CONFLICT (deployment, verifier) DO UPDATE SET heartbeat_at = clock_timestamp(),"
    " state = excluded.state, ledger = excluded.ledger, balance = excluded.balance,"
    " sent = a.sent + excluded.sent, confirmed = a.confirmed + excluded.confirmed,"
    " parked = a.parked + excluded.parked, failures = a.failures + excluded.failures,"
    " confirmed_at = coalesce(excluded.confirmed_at, a.confirmed_at),"
    " failed_at = coalesce(excluded.failed_at, a.failed_at), standing = excluded.standing,"
    " error = coalesce(excluded.error, a.error)";

tide_status att_outbox_heartbeat(struct att_outbox *outbox, const struct att_heartbeat *heartbeat,
                                 struct tide_err *err)
{
    const struct att_tally *t = &heartbeat->tally;
    assert(outbox->deployment > 0); /* att_outbox_ready succeeded */
    const char *values[] = { TIDE_PG_NUMBER(outbox->deployment),
                             heartbeat->verifier,
                             heartbeat->state,
                             TIDE_PG_NUMBER(heartbeat->ledger),
                             heartbeat->balance < 0 ? NULL : TIDE_PG_NUMBER(heartbeat->balance),
                             TIDE_PG_NUMBER(t->sent),
                             TIDE_PG_NUMBER(t->confirmed),
                             TIDE_PG_NUMBER(t->parked),
                             TIDE_PG_NUMBER(t->failures),
                             heartbeat->error,
                             TIDE_PG_NUMBER(heartbeat->standing) };
    return tide_pg_query(outbox->pg, NULL, heartbeat_sql, values, TIDE_COUNT(values), err);
}

tide_status att_outbox_standing(struct att_outbox *outbox, uint64_t *count, struct tide_err *err)
{
    return tide_pg_value(
        outbox->pg, "SELECT count(*) FROM (SELECT o.id" ATT_STANDING " LIMIT 1000) AS s",
        (const char *[]){ TIDE_PG_NUMBER(outbox->deployment), outbox->options.contract }, 2, count,
        err);
}
