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
    const struct tide_entry_key entry = { .table = "compliance_registry_kyc",
                                          .contract = registry,
                                          .variant = "Kyc",
                                          .count = 1,
                                          .parts = { TIDE_PART_ADDRESS(who) } };
    return tide_history_key(key, &entry, err);
}

/* True if KYC signed the attestation for this session. The hash is keyed: no other program
 * can make it. */
static bool is_of_session(const struct worker *w, const struct worker_session *session,
                          const uint8_t metadata[TIDE_HASH_BYTES])
{
    uint8_t hash[TIDE_HASH_BYTES];
    for (uint32_t rev = 1; rev <= REVISIONS; rev++) {
        tide_kyc_meta_hash(hash, w->all->options.settings->metadata_key, session->provider,
                           session->provider_id, rev);
        if (memcmp(hash, metadata, sizeof hash) == 0)
            return true;
    }
    return false;
}

/* True if the chain's attestation is of this approval: made after the provider's decision, as far
 * as clocks agree, of the same country, and not to a later end than it may have now. */
static bool is_of_approval(const struct worker *w, const struct tide_kyc_plan *plan,
                           const struct tide_pg_rows *rows, int64_t now)
{
    int64_t end = (int64_t)tide_pg_u64(rows, 0, 1), made = (int64_t)tide_pg_u64(rows, 0, 2);
    return tide_pg_u64(rows, 0, 3) == plan->jurisdiction && end > now &&
           end <= plan->attested_until &&
           made + (int64_t)w->all->options.skew_s >= plan->decided_ms / 1000;
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
    status = tide_pg_query(w->context.pg, &rows,
                           "SELECT * FROM kyc.forgotten_attestation($1::smallint, $2, $3::bytea)",
                           (const char *[]){ w->context.deployment_text, session->address, key }, 3,
                           err);
    if (status != TIDE_OK)
        return status;
    if (rows.count == 1 && tide_pg_bytes(&rows, 0, 0, metadata, sizeof metadata) &&
        is_of_session(w, session, metadata) && is_of_approval(w, plan, &rows, now)) {
        tide_bytea_text(meta, tide_slice_of(metadata, sizeof metadata));
        plan->attested_until = (int64_t)tide_pg_u64(&rows, 0, 1);
    }
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}
