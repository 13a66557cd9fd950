/* Finds the attestation of an approval that this database forgot, because it was restored to a time
 * before. The provider tells the approval again, and it must not be attested a second time. */
#include "api/kyc/worker/worker_impl.h"
#include "tidemark/history_lookup.h"
#include "tidemark/ledger_value.h"
#include "tidemark/text.h"

#include <stdio.h>

/* A forgotten attestation has the hash of one of the session's first revisions. */
enum { REVISIONS = 64 };

/* Writes the hash of the key of the person's Kyc entry. *known false: the deployment has no
 * registry. */
static tide_status read_key(struct worker *w, const char *address, char key[TIDE_KEY_TEXT],
                            bool *known, struct tide_err *err)
{
    struct tide_pg_rows rows;
    struct tide_hot_address registry, who;
    tide_status status = tide_pg_query(
        w->context.pg, &rows,
        "SELECT c ->> 'address' FROM chain.deployment AS d, jsonb_array_elements(d.contracts) AS c"
        " WHERE d.id = $1::smallint AND c ->> 'role' = 'compliance_registry'",
        (const char *[]){ w->context.deployment_text }, 1, err);
    if (status != TIDE_OK)
        return status;
    *known = rows.count == 1 && tide_hot_address_parse(&registry, tide_pg_slice(&rows, 0, 0)) &&
             tide_hot_address_parse(&who, tide_slice_str(address));
    tide_pg_rows_release(&rows);
    if (!*known)
        return TIDE_OK;
    const struct tide_entry_key entry = {
        .contract = registry, .variant = "Kyc", .count = 1, .parts = { TIDE_PART_ADDRESS(who) }
    };
    return tide_history_key(key, &entry, err);
}

/* Writes the hashes that KYC may have signed for this session, as an array. A hash is keyed: no
 * other program can make it. */
static void put_hashes(struct tide_buf *out, const struct worker *w,
                       const struct worker_session *session)
{
    uint8_t hash[TIDE_HASH_BYTES];
    for (uint32_t rev = 1; rev <= REVISIONS; rev++) {
        tide_kyc_meta_hash(hash, w->all->options.settings->metadata_key, session->provider,
                           session->provider_id, rev);
        tide_buf_str(out, rev == 1 ? "{\"\\\\x" : ",\"\\\\x");
        tide_buf_hex(out, tide_slice_of(hash, sizeof hash));
        tide_buf_str(out, "\"");
    }
    tide_buf_str(out, "}");
    tide_buf_u8(out, 0);
}

/* True if the chain's attestation is of this approval: made after the provider's decision, as far
 * as clocks agree, and not to a later end than it may have now. */
static bool is_of_approval(const struct worker *w, const struct tide_kyc_plan *plan,
                           const struct tide_pg_rows *rows, int64_t now)
{
    int64_t end = (int64_t)tide_pg_u64(rows, 0, 1), made = (int64_t)tide_pg_u64(rows, 0, 2);
    return end > now && end <= plan->attested_until &&
           made + (int64_t)w->all->options.config->clock_skew_s >= plan->decided_ms / 1000;
}

static tide_status ask_attestation(struct worker *w, const struct worker_session *session,
                                   const struct tide_kyc_plan *plan, const char *key,
                                   struct tide_pg_rows *rows, struct tide_err *err)
{
    struct tide_buf hashes;
    tide_buf_init(&hashes, REVISIONS * 80);
    put_hashes(&hashes, w, session);
    const char *const values[] = { w->context.deployment_text, session->address, key,
                                   (const char *)hashes.ptr, TIDE_PG_NUMBER(plan->jurisdiction) };
    tide_status status =
        hashes.failed
            ? tide_fail(err, TIDE_E_MEMORY, "hashes of attestations")
            : tide_pg_query(w->context.pg, rows,
                            "SELECT * FROM kyc.forgotten_attestation($1::smallint, $2, $3::bytea,"
                            " $4::bytea[], $5::bigint)",
                            values, TIDE_COUNT(values), err);
    tide_buf_release(&hashes);
    return status;
}

tide_status worker_recall(struct worker *w, const struct worker_session *session,
                          struct tide_kyc_plan *plan, char meta[WORKER_META_BYTES], int64_t now,
                          struct tide_err *err)
{
    char key[TIDE_KEY_TEXT];
    uint8_t metadata[TIDE_HASH_BYTES];
    struct tide_pg_rows rows;
    bool known = false;
    meta[0] = 0;
    if (plan->action != TIDE_KYC_ATTEST || plan->parked[0])
        return TIDE_OK;
    tide_status status = read_key(w, session->address, key, &known, err);
    if (status != TIDE_OK || !known)
        return status;
    status = ask_attestation(w, session, plan, key, &rows, err);
    if (status != TIDE_OK)
        return status;
    if (rows.count == 1 && tide_pg_bytes(&rows, 0, 0, metadata, sizeof metadata) &&
        is_of_approval(w, plan, &rows, now)) {
        tide_bytea_text(meta, tide_slice_of(metadata, sizeof metadata));
        plan->attested_until = (int64_t)tide_pg_u64(&rows, 0, 1);
    }
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}
