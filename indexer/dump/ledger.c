/* Writes the line of a ledger: its whole header, its counts, and the results of the hash checks. */
#include "indexer/dump/dump_impl.h"

#include "tidemark/sign.h"
#include "tidemark/stellar_value.h"
#include "tidemark/strkey.h"
#include "tidemark/text.h"

/* ---- the header ---- */

static void put_hex_list(struct tide_json *j, const char *name, struct tide_xdr *x, uint32_t count,
                         uint32_t fixed)
{
    tide_json_name(j, name);
    tide_json_open(j, '[');
    for (uint32_t i = 0; i < count; i++) {
        tide_slice bytes = fixed ? tide_xdr_opaque(x, fixed) : tide_xdr_var(x, UINT32_MAX);
        tide_json_hex(j, NULL, bytes);
    }
    tide_json_close(j, ']');
}

static void put_scp_value(struct tide_json *j, struct tide_xdr *x, struct tide_stellar_value *v)
{
    tide_stellar_value_read(x, v);
    struct tide_xdr upgrades = tide_xdr_of(v->upgrades);
    tide_json_hex(j, "txSetHash", tide_slice_of(v->tx_set_hash, 32));
    tide_json_u64(j, "closeTime", v->close_time);
    if (v->type >= TIDE_VALUE_SIGNED_MS)
        tide_json_u64(j, "closeTimeMs", v->close_time * 1000 + v->close_ms);
    put_hex_list(j, "scpUpgrades", &upgrades, v->upgrade_count, 0);
    tide_json_number(j, "scpValueExt", v->type);
}

static void put_header(struct tide_json *j, const struct tide_ledger_header *h,
                       struct tide_stellar_value *value)
{
    struct tide_xdr x = tide_xdr_of(h->header_xdr);
    tide_json_number(j, "lcmVersion", h->lcm_version);
    tide_json_number(j, "sequence", h->sequence);
    tide_json_hex(j, "hash", tide_slice_of(h->hash, 32));
    tide_json_number(j, "protocolVersion", tide_xdr_u32(&x));
    tide_json_hex(j, "previousLedgerHash", tide_xdr_opaque(&x, 32));
    put_scp_value(j, &x, value);
    tide_json_hex(j, "txSetResultHash", tide_xdr_opaque(&x, 32));
    tide_json_hex(j, "bucketListHash", tide_xdr_opaque(&x, 32));
    tide_xdr_skip(&x, 4);
    tide_json_i64(j, "totalCoins", tide_xdr_i64(&x));
    tide_json_i64(j, "feePool", tide_xdr_i64(&x));
    tide_json_number(j, "inflationSeq", tide_xdr_u32(&x));
    tide_json_u64(j, "idPool", tide_xdr_u64(&x));
    tide_json_number(j, "baseFee", tide_xdr_u32(&x));
    tide_json_number(j, "baseReserve", tide_xdr_u32(&x));
    tide_json_number(j, "maxTxSetSize", tide_xdr_u32(&x));
    put_hex_list(j, "skipList", &x, 4, 32);
    tide_json_number(j, "headerExt", tide_xdr_u32(&x));
    tide_json_base64(j, "headerXdrBase64", h->header_xdr);
}

static void put_meta_ext(struct tide_json *j, const struct dump_sink *s)
{
    if (s->header.lcm_version == 0) {
        tide_json_null(j, "lcmExt");
        tide_json_null(j, "sorobanFeeWrite1KB");
        return;
    }
    assert(s->lcm.len >= 20);
    uint32_t arm = tide_be32(s->lcm.ptr + 4);
    tide_json_number(j, "lcmExt", arm);
    if (arm == 1)
        tide_json_i64(j, "sorobanFeeWrite1KB", (int64_t)tide_be64(s->lcm.ptr + 12));
    else
        tide_json_null(j, "sorobanFeeWrite1KB");
}

/* ---- the transaction set ---- */

/* Steps over a list of envelopes and returns their number. */
static uint32_t skip_envelopes(struct tide_xdr *x)
{
    uint32_t count = tide_xdr_u32(x);
    for (uint32_t i = 0; i < count && x->status == TIDE_OK; i++)
        tide_envelope_skip(x);
    return count;
}

/* A classic phase has components, each with an optional base fee and its envelopes. */
static void put_classic_phase(struct tide_json *j, struct tide_xdr *x)
{
    uint32_t components = tide_xdr_u32(x);
    uint64_t txs = 0;
    for (uint32_t i = 0; i < components && x->status == TIDE_OK; i++) {
        tide_xdr_skip(x, 4);
        if (tide_xdr_bool(x))
            tide_xdr_skip(x, 8);
        txs += skip_envelopes(x);
    }
    tide_json_number(j, "components", components);
    tide_json_number(j, "txs", txs);
}

/* A parallel phase has stages of clusters. Clusters of a stage do not conflict. */
static void put_parallel_phase(struct tide_json *j, struct tide_xdr *x)
{
    uint64_t txs = 0;
    if (tide_xdr_bool(x))
        tide_json_i64(j, "baseFee", tide_xdr_i64(x));
    else
        tide_json_null(j, "baseFee");
    uint32_t stages = tide_xdr_u32(x);
    tide_json_number(j, "stages", stages);
    tide_json_name(j, "clusters");
    tide_json_open(j, '[');
    for (uint32_t i = 0; i < stages && x->status == TIDE_OK; i++) {
        uint32_t clusters = tide_xdr_u32(x);
        tide_json_number(j, NULL, clusters);
        for (uint32_t k = 0; k < clusters && x->status == TIDE_OK; k++)
            txs += skip_envelopes(x);
    }
    tide_json_close(j, ']');
    tide_json_number(j, "txs", txs);
}

void dump_put_phases(struct tide_json *j, tide_slice tx_set)
{
    struct tide_xdr x = tide_xdr_of(tx_set);
    tide_xdr_skip(&x, 36); /* arm, previousLedgerHash */
    uint32_t phases = tide_xdr_u32(&x);
    for (uint32_t i = 0; i < phases && x.status == TIDE_OK; i++) {
        uint32_t arm = tide_xdr_u32(&x);
        tide_json_open(j, '{');
        tide_json_number(j, "v", arm);
        if (arm == 0)
            put_classic_phase(j, &x);
        else
            put_parallel_phase(j, &x);
        tide_json_close(j, '}');
    }
}

/* ---- counts ---- */

/* Writes the counts of one section that are not 0, by kind and type of entry. */
static void put_section(struct tide_json *j, const char *section, uint32_t counts[5][10])
{
    static const char *const kinds[] = { "CREATED", "UPDATED", "REMOVED", "STATE", "RESTORED" };
    static const char *const types[] = {
        "ACCOUNT",        "TRUSTLINE",     "OFFER",         "DATA",           "CLAIMABLE_BALANCE",
        "LIQUIDITY_POOL", "CONTRACT_DATA", "CONTRACT_CODE", "CONFIG_SETTING", "TTL"
    };
    bool open = false;
    for (size_t kind = 0; kind < TIDE_COUNT(kinds); kind++)
        for (size_t type = 0; type < TIDE_COUNT(types); type++) {
            if (counts[kind][type] == 0)
                continue;
            if (!open) {
                tide_json_name(j, section);
                tide_json_open(j, '{');
                open = true;
            }
            char name[48];
            snprintf(name, sizeof name, "%s/%s", kinds[kind], types[type]);
            tide_json_number(j, name, counts[kind][type]);
        }
    if (open)
        tide_json_close(j, '}');
}

static void put_counts(struct dump_sink *s)
{
    static const char *const sections[] = {
        "fee", "txBefore", "op", "txAfter", "postFee", "upgrade"
    };
    struct tide_json *j = &s->json;
    tide_json_number(j, "txCount", s->tx_count);
    tide_json_number(j, "successCount", s->success_count);
    tide_json_name(j, "eventCounts");
    tide_json_open(j, '{');
    tide_json_number(j, "op", s->events[TIDE_EVENT_OP]);
    tide_json_number(j, "tx", s->events[TIDE_EVENT_TX]);
    tide_json_number(j, "diagnostic", s->events[TIDE_EVENT_DIAGNOSTIC]);
    tide_json_close(j, '}');
    tide_json_name(j, "changeCounts");
    tide_json_open(j, '{');
    for (size_t i = 0; i < TIDE_COUNT(sections); i++)
        put_section(j, sections[i], s->changes[i]);
    tide_json_close(j, '}');
}

/* ---- proofs ---- */

/* Writes null for a check that was not made. */
static void put_check(struct tide_json *j, const char *name, enum tide_check check)
{
    if (check == TIDE_CHECK_NONE)
        tide_json_null(j, name);
    else
        tide_json_bool(j, name, check == TIDE_CHECK_HOLDS);
}

static bool signature_holds(const struct dump_sink *s, const struct tide_stellar_value *value)
{
    uint8_t message[TIDE_VALUE_SIGNED_BYTES];
    size_t len = tide_stellar_value_signed(message, value, s->network_id);
    return tide_ed25519_holds(value->node, value->signature, tide_slice_of(message, len));
}

static void put_signature(const struct dump_sink *s, struct tide_json *j,
                          const struct tide_stellar_value *value)
{
    if (!value->node) {
        tide_json_null(j, "scpValueSignature");
        return;
    }
    tide_json_name(j, "scpValueSignature");
    tide_json_open(j, '{');
    dump_put_strkey(j, "nodeID", TIDE_STRKEY_ACCOUNT, value->node);
    if (s->options->passphrase.len)
        tide_json_bool(j, "rawMessageOk", signature_holds(s, value));
    else
        tide_json_null(j, "rawMessageOk");
    tide_json_close(j, '}');
}

/* Writes the results of the checks. previousLink is null unless the file has the ledger before this
 * one. */
static void put_verification(struct dump_sink *s, const struct tide_stellar_value *value,
                             bool linked)
{
    struct tide_json *j = &s->json;
    const struct tide_ledger_proof *p = tide_proof_findings(s->verify);
    tide_json_name(j, "verification");
    tide_json_open(j, '{');
    put_check(j, "headerHash", p->header);
    if (s->last_sequence && s->last_sequence + 1 == s->header.sequence)
        tide_json_bool(j, "previousLink", linked);
    else
        tide_json_null(j, "previousLink");
    put_check(j, "txSetResultHash", p->results);
    put_check(j, "txSetHash", p->tx_set);
    if (p->tx_set == TIDE_CHECK_EXEMPT)
        tide_json_bool(j, "txSetExempt", true);
    put_check(j, "txSetPreviousLedgerHash", p->tx_set_previous);
    put_check(j, "allTxHashesMatchEnvelopes", p->envelopes);
    tide_json_name(j, "invokePreimages");
    tide_json_open(j, '{');
    tide_json_number(j, "ok", p->calls_verified);
    tide_json_number(j, "rewritten", p->calls_rewritten);
    tide_json_number(j, "bad", p->calls_unverified);
    tide_json_close(j, '}');
    put_signature(s, j, value);
    tide_json_close(j, '}');
}

static void put_list(struct tide_json *j, const char *name, const struct tide_buf *members)
{
    tide_json_name(j, name);
    tide_json_open(j, '[');
    tide_buf_slice(j->buf, tide_buf_view(members));
    tide_json_close(j, ']');
    j->buf->failed |= members->failed;
}

void dump_put_ledger(struct dump_sink *s, const struct tide_ledger_tail *tail, bool linked)
{
    struct tide_json *j = &s->json;
    struct tide_stellar_value value;
    put_header(j, &s->header, &value);
    assert(value.signed_hash);
    put_meta_ext(j, s);
    tide_json_bool(j, "txSetGeneralized", s->header.lcm_version > 0);
    if (s->header.lcm_version > 0)
        put_list(j, "txSetPhases", &s->phases);
    else
        tide_json_null(j, "txSetPhases");
    tide_json_number(j, "scpInfoCount", tail->scp_count);
    tide_json_number(j, "upgradesProcessingCount", tail->upgrade_count);
    put_list(j, "upgrades", &s->upgrades);
    if (s->header.lcm_version > 0) {
        tide_json_u64(j, "totalByteSizeOfLiveSorobanState", tail->live_state_bytes);
    } else {
        tide_json_null(j, "totalByteSizeOfLiveSorobanState");
    }
    put_list(j, "evictedKeys", &s->evicted);
    put_counts(s);
    put_verification(s, &value, linked);
}
