/* The line of a ledger: its header whole, its counts, what its hashes prove. */
#include "indexer/dump/sink.h"

#include "tidemark/sign.h"
#include "tidemark/strkey.h"
#include "tidemark/text.h"

/* ---- the header ---- */

/* What the walk does not hand out. */
struct details {
    struct tide_buf *upgrades;
    const uint8_t *node; /* proposer; NULL: unsigned value */
    tide_slice signature;
    const uint8_t *signed_hash; /* the tx set hash that was signed */
};

static void put_hex_list(struct tide_buf *b, const char *name, struct tide_xdr *x, uint32_t count,
                         uint32_t fixed)
{
    dump_put_name(b, name);
    tide_buf_u8(b, '[');
    for (uint32_t i = 0; i < count; i++) {
        tide_slice bytes = fixed ? tide_xdr_opaque(x, fixed) : tide_xdr_var(x, UINT32_MAX);
        tide_buf_str(b, i ? ",\"" : "\"");
        tide_buf_hex(b, bytes);
        tide_buf_u8(b, '"');
    }
    tide_buf_u8(b, ']');
}

static void put_scp_value(struct tide_buf *b, struct tide_xdr *x, struct details *d)
{
    d->signed_hash = tide_xdr_opaque(x, 32).ptr;
    dump_put_hex(b, "txSetHash", tide_slice_of(d->signed_hash, 32));
    dump_put_name(b, "closeTime");
    tide_buf_putf(b, "\"%" PRIu64 "\"", tide_xdr_u64(x));
    put_hex_list(b, "scpUpgrades", x, tide_xdr_u32(x), 0);
    uint32_t ext = tide_xdr_u32(x);
    dump_put_u64(b, "scpValueExt", ext);
    if (ext == 2) {
        d->signed_hash = tide_xdr_opaque(x, 32).ptr;
        tide_xdr_skip(x, 36);
    }
    if (ext != 0) {
        tide_xdr_skip(x, 4);
        d->node = tide_xdr_opaque(x, 32).ptr;
        d->signature = tide_xdr_var(x, 64);
    }
}

static void put_header(struct tide_buf *b, const struct tide_ledger_header *h, struct details *d)
{
    struct tide_xdr x = tide_xdr_of(h->header_xdr);
    dump_put_u64(b, "lcmVersion", h->lcm_version);
    dump_put_u64(b, "sequence", h->sequence);
    dump_put_hex(b, "hash", tide_slice_of(h->hash, 32));
    dump_put_u64(b, "protocolVersion", tide_xdr_u32(&x));
    dump_put_hex(b, "previousLedgerHash", tide_xdr_opaque(&x, 32));
    put_scp_value(b, &x, d);
    dump_put_hex(b, "txSetResultHash", tide_xdr_opaque(&x, 32));
    dump_put_hex(b, "bucketListHash", tide_xdr_opaque(&x, 32));
    tide_xdr_skip(&x, 4);
    dump_put_i64_text(b, "totalCoins", tide_xdr_i64(&x));
    dump_put_i64_text(b, "feePool", tide_xdr_i64(&x));
    dump_put_u64(b, "inflationSeq", tide_xdr_u32(&x));
    dump_put_name(b, "idPool");
    tide_buf_putf(b, "\"%" PRIu64 "\"", tide_xdr_u64(&x));
    dump_put_u64(b, "baseFee", tide_xdr_u32(&x));
    dump_put_u64(b, "baseReserve", tide_xdr_u32(&x));
    dump_put_u64(b, "maxTxSetSize", tide_xdr_u32(&x));
    put_hex_list(b, "skipList", &x, 4, 32);
    dump_put_u64(b, "headerExt", tide_xdr_u32(&x));
    dump_put_base64(b, "headerXdrBase64", h->header_xdr);
}

static void put_meta_ext(struct tide_buf *b, const struct dump_sink *s)
{
    if (s->header.lcm_version == 0) {
        dump_put_null(b, "lcmExt");
        dump_put_null(b, "sorobanFeeWrite1KB");
        return;
    }
    uint32_t arm = tide_be32(s->lcm.ptr + 4);
    dump_put_u64(b, "lcmExt", arm);
    if (arm == 1)
        dump_put_i64_text(b, "sorobanFeeWrite1KB", (int64_t)tide_be64(s->lcm.ptr + 12));
    else
        dump_put_null(b, "sorobanFeeWrite1KB");
}

/* ---- the transaction set ---- */

static uint32_t skip_envelopes(struct tide_xdr *x)
{
    uint32_t count = tide_xdr_u32(x);
    for (uint32_t i = 0; i < count && x->status == TIDE_OK; i++)
        tide_envelope_skip(x);
    return count;
}

static void put_classic_phase(struct tide_buf *b, struct tide_xdr *x)
{
    uint32_t components = tide_xdr_u32(x);
    uint64_t txs = 0;
    for (uint32_t i = 0; i < components && x->status == TIDE_OK; i++) {
        tide_xdr_skip(x, 4);
        if (tide_xdr_bool(x))
            tide_xdr_skip(x, 8);
        txs += skip_envelopes(x);
    }
    dump_put_u64(b, "components", components);
    dump_put_u64(b, "txs", txs);
}

static void put_parallel_phase(struct tide_buf *b, struct tide_xdr *x)
{
    uint64_t txs = 0;
    if (tide_xdr_bool(x))
        dump_put_i64_text(b, "baseFee", tide_xdr_i64(x));
    else
        dump_put_null(b, "baseFee");
    uint32_t stages = tide_xdr_u32(x);
    dump_put_u64(b, "stages", stages);
    dump_put_name(b, "clusters");
    tide_buf_u8(b, '[');
    for (uint32_t i = 0; i < stages && x->status == TIDE_OK; i++) {
        uint32_t clusters = tide_xdr_u32(x);
        tide_buf_putf(b, "%s%" PRIu32, i ? "," : "", clusters);
        for (uint32_t j = 0; j < clusters && x->status == TIDE_OK; j++)
            txs += skip_envelopes(x);
    }
    tide_buf_u8(b, ']');
    dump_put_u64(b, "txs", txs);
}

void dump_put_phases(struct tide_buf *b, tide_slice tx_set)
{
    struct tide_xdr x = tide_xdr_of(tx_set);
    tide_xdr_skip(&x, 36); /* arm, previousLedgerHash */
    uint32_t phases = tide_xdr_u32(&x);
    for (uint32_t i = 0; i < phases && x.status == TIDE_OK; i++) {
        uint32_t arm = tide_xdr_u32(&x);
        tide_buf_str(b, i ? ",{" : "{");
        dump_put_u64(b, "v", arm);
        if (arm == 0)
            put_classic_phase(b, &x);
        else
            put_parallel_phase(b, &x);
        tide_buf_u8(b, '}');
    }
}

/* ---- counts ---- */

static void put_section(struct tide_buf *b, const char *section, uint32_t counts[5][10])
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
                dump_put_name(b, section);
                tide_buf_u8(b, '{');
                open = true;
            }
            char name[48];
            snprintf(name, sizeof name, "%s/%s", kinds[kind], types[type]);
            dump_put_u64(b, name, counts[kind][type]);
        }
    if (open)
        tide_buf_u8(b, '}');
}

static void put_counts(struct dump_sink *s)
{
    static const char *const sections[] = {
        "fee", "txBefore", "op", "txAfter", "postFee", "upgrade"
    };
    struct tide_buf *b = &s->line;
    dump_put_u64(b, "txCount", s->tx_count);
    dump_put_u64(b, "successCount", s->success_count);
    dump_put_name(b, "eventCounts");
    tide_buf_u8(b, '{');
    dump_put_u64(b, "op", s->events[TIDE_EVENT_OP]);
    dump_put_u64(b, "tx", s->events[TIDE_EVENT_TX]);
    dump_put_u64(b, "diagnostic", s->events[TIDE_EVENT_DIAGNOSTIC]);
    tide_buf_u8(b, '}');
    dump_put_name(b, "changeCounts");
    tide_buf_u8(b, '{');
    for (size_t i = 0; i < TIDE_COUNT(sections); i++)
        put_section(b, sections[i], s->changes[i]);
    tide_buf_u8(b, '}');
}

/* ---- proofs ---- */

static void put_check(struct tide_buf *b, const char *name, enum tide_check check)
{
    if (check == TIDE_CHECK_NONE)
        dump_put_null(b, name);
    else
        dump_put_bool(b, name, check == TIDE_CHECK_HOLDS);
}

/* The proposer signs networkId, 4 (SCPVALUE), txSetHash, closeTime: raw, not hashed. */
static bool signature_holds(const struct dump_sink *s, const struct details *d)
{
    uint8_t message[32 + 4 + 32 + 8] = { 0 };
    uint64_t close_time = __builtin_bswap64(s->header.close_time);
    memcpy(message, s->network_id, 32);
    message[35] = 4;
    memcpy(message + 36, d->signed_hash, 32);
    memcpy(message + 68, &close_time, 8);
    return tide_ed25519_holds(d->node, d->signature, tide_slice_of(message, sizeof message));
}

static void put_signature(const struct dump_sink *s, struct tide_buf *b, const struct details *d)
{
    if (!d->node) {
        dump_put_null(b, "scpValueSignature");
        return;
    }
    dump_put_name(b, "scpValueSignature");
    tide_buf_u8(b, '{');
    dump_put_strkey(b, "nodeID", TIDE_STRKEY_ACCOUNT, d->node);
    if (s->options->passphrase.len)
        dump_put_bool(b, "rawMessageOk", signature_holds(s, d));
    else
        dump_put_null(b, "rawMessageOk");
    tide_buf_u8(b, '}');
}

static void put_verification(struct dump_sink *s, const struct details *d, bool linked)
{
    struct tide_buf *b = &s->line;
    const struct tide_ledger_proof *p = tide_proof_findings(s->verify);
    dump_put_name(b, "verification");
    tide_buf_u8(b, '{');
    put_check(b, "headerHash", p->header);
    if (s->last_sequence && s->last_sequence + 1 == s->header.sequence)
        dump_put_bool(b, "previousLink", linked);
    else
        dump_put_null(b, "previousLink");
    put_check(b, "txSetResultHash", p->results);
    put_check(b, "txSetHash", p->tx_set);
    if (p->tx_set == TIDE_CHECK_EXEMPT)
        dump_put_bool(b, "txSetExempt", true);
    put_check(b, "txSetPreviousLedgerHash", p->tx_set_previous);
    put_check(b, "allTxHashesMatchEnvelopes", p->envelopes);
    dump_put_name(b, "invokePreimages");
    tide_buf_u8(b, '{');
    dump_put_u64(b, "ok", p->calls_verified);
    dump_put_u64(b, "rewritten", p->calls_rewritten);
    dump_put_u64(b, "bad", p->calls_unverified);
    tide_buf_u8(b, '}');
    put_signature(s, b, d);
    tide_buf_u8(b, '}');
}

static void put_list(struct tide_buf *b, const char *name, const struct tide_buf *members)
{
    dump_put_name(b, name);
    tide_buf_u8(b, '[');
    tide_buf_slice(b, tide_buf_view(members));
    tide_buf_u8(b, ']');
    b->failed |= members->failed;
}

void dump_put_ledger(struct dump_sink *s, const struct tide_ledger_tail *tail, bool linked)
{
    struct tide_buf *b = &s->line;
    struct details d = { 0 };
    put_header(b, &s->header, &d);
    put_meta_ext(b, s);
    dump_put_bool(b, "txSetGeneralized", s->header.lcm_version > 0);
    if (s->header.lcm_version > 0)
        put_list(b, "txSetPhases", &s->phases);
    else
        dump_put_null(b, "txSetPhases");
    dump_put_u64(b, "scpInfoCount", tail->scp_count);
    dump_put_u64(b, "upgradesProcessingCount", tail->upgrade_count);
    put_list(b, "upgrades", &s->upgrades);
    if (s->header.lcm_version > 0) {
        dump_put_name(b, "totalByteSizeOfLiveSorobanState");
        tide_buf_putf(b, "\"%" PRIu64 "\"", tail->live_state_bytes);
    } else {
        dump_put_null(b, "totalByteSizeOfLiveSorobanState");
    }
    put_list(b, "evictedKeys", &s->evicted);
    put_counts(s);
    put_verification(s, &d, linked);
}
