/* Moves of a row, one fenced statement each. The trigger kyc.audit_move writes the audit. */
#include "api/attester/outbox/outbox_impl.h"

/* Parts of the statements. $1 is the row, $2 the hash of the envelope that this process knows
 * (NULL: none). The fence matches no row if another process moved it. */
#define MOVE "UPDATE kyc.outbox o SET updated_at = clock_timestamp(), "
#define FENCE                                                                   \
    " WHERE o.id = $1::bigint AND o.state IN ('queued', 'signed', 'submitted')" \
    " AND o.tx_hash IS NOT DISTINCT FROM $2::bytea"
#define MOVED " RETURNING 1"

/* The values of FENCE: $1 is id, $2 is envelope. */
struct fence {
    char id[24];
    char hash[2 * TIDE_HASH_BYTES + 3];
    const char *envelope; /* hash, or NULL */
};

static void fill_fence(struct fence *fence, const struct att_row *row)
{
    snprintf(fence->id, sizeof fence->id, "%" PRIu64, row->id);
    static_assert(sizeof fence->hash == 2 + 2 * sizeof row->hash + 1, "as a bytea literal");
    tide_bytea_text(fence->hash, tide_slice_of(row->hash, TIDE_HASH_BYTES));
    fence->envelope = row->state == ATT_QUEUED ? NULL : fence->hash;
}

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

/* Runs a move with two more texts, $3 and $4; either may be NULL. */
static tide_status move_row(struct att_outbox *o, const struct att_row *row, const char *sql,
                            const char *third, const char *fourth, struct tide_err *err)
{
    struct fence fence;
    fill_fence(&fence, row);
    return run_move(o, sql, (const char *[]){ fence.id, fence.envelope, third, fourth }, 4, err);
}

/* Runs a move whose $3 is a number. */
static tide_status move_counted(struct att_outbox *o, const struct att_row *row, const char *sql,
                                uint32_t third, const char *fourth, struct tide_err *err)
{
    char number[16];
    snprintf(number, sizeof number, "%u", third);
    return move_row(o, row, sql, number, fourth, err);
}

/* Appends a bytea literal, NUL-terminated. */
static void put_literal(struct tide_buf *out, tide_slice bytes)
{
    tide_buf_str(out, "\\x");
    tide_buf_hex(out, bytes);
    tide_buf_u8(out, 0);
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
    struct fence fence;
    struct tide_buf bytes;
    char seq[24], max_time[24], ledger[16], deployment[16], stroops[24];
    fill_fence(&fence, row);
    snprintf(deployment, sizeof deployment, "%u", outbox->deployment);
    snprintf(stroops, sizeof stroops, "%" PRId64, bid);
    snprintf(seq, sizeof seq, "%" PRId64, row->seq);
    snprintf(max_time, sizeof max_time, "%" PRIu64, row->max_time);
    snprintf(ledger, sizeof ledger, "%u", row->submit_ledger);
    tide_buf_init(&bytes, (size_t)4 * ATT_ENVELOPE_MAX);
    put_literal(&bytes, tide_buf_view(&row->envelope));
    const char *values[] = { fence.id, fence.hash, seq,        (const char *)bytes.ptr,
                             max_time, ledger,     deployment, verifier,
                             stroops };
    tide_status status = bytes.failed
                             ? tide_fail(err, TIDE_E_MEMORY, "no memory for a statement")
                             : run_move(outbox, signed_sql, values, TIDE_COUNT(values), err);
    tide_buf_release(&bytes);
    return status;
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
    struct fence fence;
    struct tide_buf bytes;
    char literal[2 * TIDE_HASH_BYTES + 3], stroops[24];
    fill_fence(&fence, row);
    tide_bytea_text(literal, tide_slice_of(hash, TIDE_HASH_BYTES));
    snprintf(stroops, sizeof stroops, "%" PRId64, fee);
    tide_buf_init(&bytes, (size_t)4 * ATT_ENVELOPE_MAX);
    put_literal(&bytes, tide_buf_view(&row->bump));
    const char *values[] = { fence.id, fence.envelope, (const char *)bytes.ptr, literal, stroops };
    tide_status status = bytes.failed ? tide_fail(err, TIDE_E_MEMORY, "no memory for a statement")
                                      : run_move(outbox, bumped_sql, values, 5, err);
    tide_buf_release(&bytes);
    return status;
}

/* --- fees ------------------------------------------------------------------------------------- */

tide_status att_outbox_spent(struct att_outbox *outbox, int64_t *stroops, struct tide_err *err)
{
    struct tide_pg_rows rows;
    char deployment[16];
    snprintf(deployment, sizeof deployment, "%u", outbox->deployment);
    tide_status status = tide_pg_query(
        outbox->pg, &rows,
        "SELECT least(coalesce(sum(coalesce(charged, bid)), 0), 9e18)::bigint FROM"
        " kyc.attester_fee WHERE deployment = $1::int AND signed_at > statement_timestamp() -"
        " interval '1 day'",
        (const char *[]){ deployment }, 1, err);
    if (status != TIDE_OK)
        return status;
    *stroops = (int64_t)tide_pg_u64(&rows, 0, 0);
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

tide_status att_outbox_charged(struct att_outbox *outbox, const struct att_row *row,
                               int64_t stroops, struct tide_err *err)
{
    assert(row->state != ATT_QUEUED);
    struct fence fence;
    char text[24];
    fill_fence(&fence, row);
    snprintf(text, sizeof text, "%" PRId64, stroops);
    return tide_pg_query(
        outbox->pg, NULL,
        "UPDATE kyc.attester_fee SET charged = $2::bigint WHERE tx_hash = $1::bytea",
        (const char *[]){ fence.hash, text }, 2, err);
}

/* --- sending ---------------------------------------------------------------------------------- */

static const char submitted_sql[] =
    MOVE "state = 'submitted', sent_ledger = $3::bigint, last_status = $4" FENCE MOVED;

/* The state stays the same, so the audit gets no row. */
static const char status_sql[] =
    "UPDATE kyc.outbox o SET updated_at = clock_timestamp(), sent_ledger = $3::bigint,"
    " last_status = $4" FENCE " RETURNING 1";

tide_status att_outbox_sent(struct att_outbox *outbox, const struct att_row *row, bool accepted,
                            const char *last_status, struct tide_err *err)
{
    assert(row->state != ATT_QUEUED); /* an envelope is stored before it is sent */
    bool submitted = accepted && row->state != ATT_SUBMITTED;
    return move_counted(outbox, row, submitted ? submitted_sql : status_sql, row->sent_ledger,
                        last_status, err);
}

/* --- ends ------------------------------------------------------------------------------------- */

static const char confirmed_sql[] =
    MOVE "state = 'confirmed', confirmed_ledger = $3::bigint, last_status = $4, reason = NULL,"
         " attention = $5" FENCE MOVED;

tide_status att_outbox_confirmed(struct att_outbox *outbox, const struct att_row *row,
                                 uint32_t ledger, const char *last_status, const char *attention,
                                 struct tide_err *err)
{
    struct fence fence;
    char number[16];
    fill_fence(&fence, row);
    snprintf(number, sizeof number, "%u", ledger);
    return run_move(outbox, confirmed_sql,
                    (const char *[]){ fence.id, fence.envelope, number, last_status, attention }, 5,
                    err);
}

static const char parked_sql[] =
    MOVE "state = 'parked', reason = $3, last_status = coalesce($4, o.last_status)" FENCE MOVED;

tide_status att_outbox_parked(struct att_outbox *outbox, const struct att_row *row,
                              const char *reason, const char *detail, struct tide_err *err)
{
    assert(reason);
    return move_row(outbox, row, parked_sql, reason, detail, err);
}

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
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, id);
    return run_move(outbox, reject_sql, (const char *[]){ text }, 1, err);
}

#define NO_ENVELOPE                                                                      \
    "state = 'queued', seq = NULL, envelope = NULL, tx_hash = NULL,"                     \
    " submit_ledger = NULL, sent_ledger = NULL, bump_envelope = NULL, bump_hash = NULL," \
    " bump_fee = NULL, next_try = clock_timestamp()"
/* From the fourth envelope on, each pause doubles, up to an hour. This bounds the number of
 * signatures if no envelope reaches the chain. */
#define EVER_LATER                                                                  \
    " + interval '1 s' * CASE WHEN o.attempts > 3 THEN least(3600, power(2, least(" \
    "o.attempts, 20) - 3)) ELSE 0 END"

/* bad_seq counts clashes in a row, so a requeue for another reason resets it. */
static const char requeued_sql[] = MOVE NO_ENVELOPE EVER_LATER
    ", max_time = NULL, last_status = $3, bad_seq = CASE WHEN $4::bool THEN"
    " least(o.bad_seq, 999999) + 1 ELSE 0 END" FENCE MOVED;

tide_status att_outbox_requeued(struct att_outbox *outbox, const struct att_row *row, bool clash,
                                const char *last_status, struct tide_err *err)
{
    return move_row(outbox, row, requeued_sql, last_status, clash ? "true" : "false", err);
}

static const char superseded_sql[] = MOVE
    "state = 'superseded', last_status = $3, reason = $4" FENCE " AND o.state = 'queued'" MOVED;

tide_status att_outbox_superseded(struct att_outbox *outbox, const struct att_row *row,
                                  struct tide_err *err)
{
    assert(row->state == ATT_QUEUED); /* an envelope under way is followed to its end */
    return move_row(outbox, row, superseded_sql, "newer_decision", NULL, err);
}

static const char postponed_sql[] =
    "UPDATE kyc.outbox o SET updated_at = clock_timestamp(), next_try = clock_timestamp() +"
    " $3::int * interval '1 ms', last_status = $4" FENCE " AND o.state = 'queued' RETURNING 1";

tide_status att_outbox_postponed(struct att_outbox *outbox, const struct att_row *row, uint32_t ms,
                                 const char *last_status, struct tide_err *err)
{
    assert(row->state == ATT_QUEUED);
    return move_counted(outbox, row, postponed_sql, ms, last_status, err);
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

/* Calls a function of the database with row id and the person's name. Sets *found to its result. */
static tide_status record_review(struct att_outbox *o, const char *sql, uint64_t id,
                                 const char *who, bool *found, struct tide_err *err)
{
    assert(who); /* the audit names a person */
    struct tide_pg_rows rows;
    char number[24], deployment[16];
    snprintf(number, sizeof number, "%" PRIu64, id);
    snprintf(deployment, sizeof deployment, "%u", o->deployment);
    tide_status status =
        tide_pg_query(o->pg, &rows, sql, (const char *[]){ number, deployment, who }, 3, err);
    *found = status == TIDE_OK && tide_pg_bool(&rows, 0, 0);
    tide_pg_rows_release(&rows);
    return status;
}

tide_status att_outbox_release_parked(struct att_outbox *outbox, uint64_t id, const char *who,
                                      bool *found, struct tide_err *err)
{
    return record_review(outbox, release_sql, id, who, found, err);
}

tide_status att_outbox_attended(struct att_outbox *outbox, uint64_t id, const char *who,
                                bool *found, struct tide_err *err)
{
    return record_review(outbox, attended_sql, id, who, found, err);
}
