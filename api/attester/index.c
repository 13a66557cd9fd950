/* Queries of the index about a person and about an envelope. */
#include "api/attester/index.h"
#include "api/attester/outbox/outbox_impl.h"
#include "tidemark/strkey.h"

#include <stdlib.h>

/* True if one contiguous range of ledgers covers the registry's creation and the newest ledger.
 * With a gap, a change of the person's entries could be missing. */
static const char complete_sql[] =
    "SELECT EXISTS (SELECT FROM chain.cursor AS c JOIN chain.coverage AS v ON v.deployment ="
    " c.deployment AND c.ledger BETWEEN v.from_ledger AND v.to_ledger WHERE c.deployment = $1::int"
    " AND v.from_ledger <= (SELECT min(s.ledger) FROM chain.contract_seen AS s WHERE s.deployment ="
    " c.deployment AND s.contract = $2 AND s.what = 'created'))";

tide_status att_index_read(struct att_index *out, struct att_outbox *outbox,
                           const struct tide_clock *clock, uint32_t skew_s, struct tide_err *err)
{
    struct tide_clocks clocks;
    uint64_t fork, complete;
    const char *values[] = { TIDE_PG_NUMBER(outbox->deployment), outbox->options.contract };
    *out = (struct att_index){ 0 };
    tide_status status =
        tide_pg_value(outbox->pg, "SELECT ledger FROM chain.fork WHERE deployment = $1::int",
                      values, 1, &fork, err);
    out->fork = (uint32_t)fork;
    if (status == TIDE_OK)
        status = tide_clocks_read(&clocks, outbox->pg, clock, outbox->deployment, err);
    if (status != TIDE_OK)
        return status;
    out->clocks = tide_clocks_judge(&clocks, skew_s);
    tide_clocks_say(out->text, &clocks, out->clocks);
    out->ledger = clocks.ledger;
    out->closed_at = (uint64_t)clocks.chain_ms / 1000;
    if (out->clocks != TIDE_CLOCKS_AGREE || !out->ledger)
        return TIDE_OK;
    status = tide_pg_value(outbox->pg, complete_sql, values, 2, &complete, err);
    out->follows = complete != 0;
    return status;
}

/* --- values of statements --------------------------------------------------------------------- */

/* Writes the verifier's address. */
static const char *verifier_of(char out[TIDE_STRKEY_TEXT_MAX], const struct att_claim *claim)
{
    size_t len = tide_strkey_encode(out, TIDE_STRKEY_ACCOUNT,
                                    tide_slice_of(claim->verifier, TIDE_HASH_BYTES));
    assert(len > 0 && len < TIDE_STRKEY_TEXT_MAX);
    out[len] = 0;
    return out;
}

/* --- the person ------------------------------------------------------------------------------- */

/* $2 to $6 are hashes of keys: record, kyc, frozen, blocked, verifier. $7 to $11 are the claim:
 * verifier, jurisdiction, end, metadata, metadata of the attestation to revoke. Status 2 is
 * Verified. */
static const char view_sql[] =
    "SELECT c.ledger, r.key_hash IS NOT NULL, coalesce(r.status, 0), coalesce(r.status = 2 AND"
    " r.provider = $7 AND r.jurisdiction = $8::bigint AND r.expires_at = $9::numeric, false),"
    " k.key_hash IS NOT NULL, coalesce(k.verifier = $7, false), coalesce(k.verifier = $7 AND"
    " k.jurisdiction = $8::bigint AND k.expires_at = $9::numeric AND k.metadata = $10::bytea,"
    " false), coalesce(k.verifier <> $7 AND k.metadata = $11::bytea, false), coalesce(k.ledger, 0),"
    " EXISTS (SELECT FROM state.compliance_registry_frozen WHERE deployment = $1::int AND key_hash"
    " = $4::bytea), EXISTS (SELECT FROM state.compliance_registry_blocked_jurisdiction WHERE"
    " deployment = $1::int AND key_hash = $5::bytea), EXISTS (SELECT FROM"
    " state.compliance_registry_verifier WHERE deployment = $1::int AND key_hash = $6::bytea)"
    " FROM chain.cursor AS c LEFT JOIN state.compliance_registry_compliance_rec AS r ON"
    " r.deployment = c.deployment AND r.key_hash = $2::bytea LEFT JOIN"
    " state.compliance_registry_kyc AS k ON k.deployment = c.deployment AND k.key_hash = $3::bytea"
    " WHERE c.deployment = $1::int";

tide_status att_index_view(struct att_view *out, struct att_outbox *outbox,
                           const uint8_t contract[TIDE_HASH_BYTES], const struct att_claim *claim,
                           struct tide_err *err)
{
    enum {
        LEDGER,
        RECORD,
        STATUS,
        SAME,
        KYC,
        OURS,
        KYC_SAME,
        FORMER,
        SINCE,
        FROZEN,
        BLOCKED,
        VERIFIER
    };
    struct tide_pg_rows rows;
    uint8_t keys[ATT_VIEW_KEYS][TIDE_HASH_BYTES]; /* the index has no other name of an entry */
    char verifier[TIDE_STRKEY_TEXT_MAX];
    tide_status status = att_view_hashes(keys, contract, claim, err);
    if (status != TIDE_OK)
        return status;
    const char *values[] = { TIDE_PG_NUMBER(outbox->deployment),
                             TIDE_PG_HASH(keys[ATT_KEY_RECORD]),
                             TIDE_PG_HASH(keys[ATT_KEY_KYC]),
                             TIDE_PG_HASH(keys[ATT_KEY_FROZEN]),
                             TIDE_PG_HASH(keys[ATT_KEY_BLOCKED]),
                             TIDE_PG_HASH(keys[ATT_KEY_VERIFIER]),
                             verifier_of(verifier, claim),
                             TIDE_PG_NUMBER(claim->jurisdiction),
                             TIDE_PG_NUMBER(claim->expires_at),
                             TIDE_PG_HASH(claim->metadata),
                             claim->attested ? TIDE_PG_HASH(claim->attested) : NULL };
    status = tide_pg_query(outbox->pg, &rows, view_sql, values, TIDE_COUNT(values), err);
    if (status != TIDE_OK)
        return status;
    assert(rows.columns == VERIFIER + 1);
    out->ledger = (uint32_t)tide_pg_u64(&rows, 0, LEDGER);
    out->record = tide_pg_bool(&rows, 0, RECORD);
    out->status = (uint32_t)tide_pg_u64(&rows, 0, STATUS);
    out->kyc = tide_pg_bool(&rows, 0, KYC);
    out->kyc_ours = tide_pg_bool(&rows, 0, OURS);
    out->kyc_same = tide_pg_bool(&rows, 0, KYC_SAME);
    out->kyc_former = tide_pg_bool(&rows, 0, FORMER);
    out->kyc_ledger = (uint32_t)tide_pg_u64(&rows, 0, SINCE);
    out->same = out->kyc_same && tide_pg_bool(&rows, 0, SAME);
    out->frozen = tide_pg_bool(&rows, 0, FROZEN);
    out->blocked = tide_pg_bool(&rows, 0, BLOCKED);
    out->verifier = tide_pg_bool(&rows, 0, VERIFIER);
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

/* --- what the chain says after the decision --------------------------------------------------- */

/* k are versions of the Kyc entry, r of the record. An attestation ($5 false) is contradicted by a
 * revocation, by another attestation of the same key, and by a record that is not Verified; a
 * revocation by an attestation of the same key. d is when it was decided. An attestation may be
 * queued long after that: what it says was queued before, for another session, or a restored
 * database asked the provider again. Without a time of the provider, the session's begin counts.
 * A suspension (3) that the protocol's people have lifted counts no more; only their call has that
 * reason. */
static const char since_sql[] =
    "WITH d AS (SELECT CASE WHEN o.reviewed_at IS NOT NULL THEN o.reviewed_at WHEN $5::bool THEN"
    " o.created_at ELSE least(o.created_at, (SELECT min(p.created_at) FROM kyc.outbox AS p WHERE"
    " p.deployment = o.deployment AND p.subject = o.subject AND p.genuine IS NOT FALSE AND"
    " p.action = 'attest' AND p.meta_hash = o.meta_hash), CASE s.state WHEN 'approved' THEN"
    " coalesce(s.decision_at, s.created_at) END) END AS at FROM kyc.outbox AS o JOIN kyc.session"
    " AS s ON s.id = o.session_id WHERE o.id = $2::bigint), c AS (SELECT k.ledger, k.tx, CASE WHEN "
    "k.removed THEN CASE WHEN NOT $5::bool "
    "THEN"
    " 'revoked_since' END WHEN k.verifier = $6 AND ($5::bool OR NOT (k.jurisdiction = $7::bigint "
    "AND"
    " k.expires_at = $8::numeric AND k.metadata = $9::bytea)) THEN 'attested_since' END AS what "
    "FROM"
    " d, history.compliance_registry_kyc AS k WHERE k.deployment = $1::int AND k.key_hash ="
    " $3::bytea AND k.closed_at > d.at UNION ALL SELECT r.ledger, r.tx, CASE WHEN NOT $5::bool AND"
    " NOT r.removed AND r.status <> 2 AND NOT (r.status = 3 AND EXISTS (SELECT FROM"
    " history.compliance_registry_compliance_rec AS l WHERE l.deployment = r.deployment AND"
    " l.key_hash = r.key_hash AND (l.ledger, l.tx, l.seq) > (r.ledger, r.tx, r.seq) AND NOT"
    " l.removed AND l.status = 2 AND l.reason = 'unsuspend')) THEN 'status_since' END FROM d,"
    " history.compliance_registry_compliance_rec AS r WHERE r.deployment = $1::int AND r.key_hash ="
    " $4::bytea AND r.closed_at > d.at) SELECT c.what, c.ledger FROM c WHERE c.what IS NOT NULL AND"
    " NOT EXISTS (SELECT FROM chain.tx AS t JOIN kyc.outbox AS o ON t.hash IN (o.tx_hash,"
    " o.bump_hash) WHERE t.deployment = $1::int AND t.ledger = c.ledger AND t.tx = c.tx)"
    " ORDER BY c.ledger DESC, c.tx DESC, c.what LIMIT 1";

/* Runs a statement about the intent and its claim: $1 the deployment, $2 the intent, $3 and $4 the
 * keys of the Kyc entry and of the record, $5 whether it revokes, $6 to $9 what it attests. */
static tide_status query_intent(struct tide_pg_rows *rows, const char *sql,
                                struct att_outbox *outbox, const struct att_row *row,
                                const uint8_t contract[TIDE_HASH_BYTES],
                                const struct att_claim *claim, struct tide_err *err)
{
    uint8_t keys[ATT_VIEW_KEYS][TIDE_HASH_BYTES];
    char verifier[TIDE_STRKEY_TEXT_MAX];
    *rows = (struct tide_pg_rows){ 0 };
    tide_status status = att_view_hashes(keys, contract, claim, err);
    if (status != TIDE_OK)
        return status;
    const char *values[] = {
        TIDE_PG_NUMBER(outbox->deployment),  TIDE_PG_NUMBER(row->id),
        TIDE_PG_HASH(keys[ATT_KEY_KYC]),     TIDE_PG_HASH(keys[ATT_KEY_RECORD]),
        TIDE_PG_BOOL(row->revoke),           verifier_of(verifier, claim),
        TIDE_PG_NUMBER(claim->jurisdiction), TIDE_PG_NUMBER(claim->expires_at),
        TIDE_PG_HASH(claim->metadata)
    };
    return tide_pg_query(outbox->pg, rows, sql, values, TIDE_COUNT(values), err);
}

tide_status att_index_since(struct att_view *out, struct att_outbox *outbox,
                            const struct att_row *row, const uint8_t contract[TIDE_HASH_BYTES],
                            const struct att_claim *claim, struct tide_err *err)
{
    struct tide_pg_rows rows;
    out->since[0] = 0;
    tide_status status = query_intent(&rows, since_sql, outbox, row, contract, claim, err);
    if (status == TIDE_OK && rows.count)
        snprintf(out->since, sizeof out->since, "%s %s", tide_pg_text(&rows, 0, 0),
                 tide_pg_text(&rows, 0, 1));
    tide_pg_rows_release(&rows);
    return status;
}

/* --- an envelope ------------------------------------------------------------------------------ */

/* Both hashes come from the row: the network reports a bumped transaction under the hash of its
 * fee bump. t is the transaction, k the Kyc entry as the transaction left it, b the record
 * before it. A revocation ($5) succeeded if the entry is gone or belongs to another verifier. */
static const char find_sql[] =
    "WITH t AS (SELECT t.* FROM kyc.outbox AS o JOIN chain.tx AS t ON t.deployment = $1::int AND"
    " t.hash IN (o.tx_hash, o.bump_hash) WHERE o.id = $2::bigint ORDER BY t.ledger LIMIT 1),"
    " k AS (SELECT k.* FROM t JOIN history.compliance_registry_kyc AS k ON k.deployment = $1::int"
    " AND k.key_hash = $3::bytea AND k.ledger = t.ledger AND k.tx = t.tx ORDER BY k.seq DESC"
    " LIMIT 1), b AS (SELECT r.status FROM t, LATERAL (SELECT CASE WHEN r.removed THEN 0 ELSE"
    " r.status END AS status FROM history.compliance_registry_compliance_rec AS r WHERE"
    " r.deployment = $1::int AND r.key_hash = $4::bytea AND (r.ledger, r.tx) < (t.ledger, t.tx)"
    " ORDER BY r.ledger DESC, r.tx DESC, r.seq DESC LIMIT 1) AS r)"
    " SELECT t.ok, t.ledger, t.result_code, t.fee_charged, coalesce((SELECT CASE WHEN $5::bool THEN"
    " k.removed OR k.verifier <> $6 ELSE NOT k.removed AND k.verifier = $6 AND k.jurisdiction ="
    " $7::bigint AND k.expires_at = $8::numeric AND k.metadata = $9::bytea END FROM k), false),"
    " EXISTS (SELECT FROM history.compliance_registry_compliance_rec AS r WHERE r.deployment ="
    " $1::int AND r.key_hash = $4::bytea AND r.ledger = t.ledger AND r.tx = t.tx),"
    " coalesce((SELECT status FROM b), 0) FROM t";

tide_status att_index_find(struct att_indexed *out, struct att_outbox *outbox,
                           const struct att_row *row, const uint8_t contract[TIDE_HASH_BYTES],
                           const struct att_claim *claim, struct tide_err *err)
{
    assert(row->id > 0);
    enum { OK, LEDGER, CODE, FEE, MEANT, CHANGED, STATUS };
    struct tide_pg_rows rows;
    *out = (struct att_indexed){ 0 };
    tide_status status = query_intent(&rows, find_sql, outbox, row, contract, claim, err);
    if (status != TIDE_OK)
        return status;
    assert(rows.columns == STATUS + 1);
    out->found = rows.count > 0;
    if (out->found) {
        const char *code = tide_pg_text(&rows, 0, CODE);
        out->ok = tide_pg_bool(&rows, 0, OK);
        out->ledger = (uint32_t)tide_pg_u64(&rows, 0, LEDGER);
        out->code = (int32_t)strtol(code, NULL, 10);
        out->fee = (int64_t)tide_pg_u64(&rows, 0, FEE);
        out->as_meant = tide_pg_bool(&rows, 0, MEANT);
        out->before = (struct att_before){ .changed = tide_pg_bool(&rows, 0, CHANGED),
                                           .status = (uint32_t)tide_pg_u64(&rows, 0, STATUS) };
    }
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}
