#include "indexer/archive/envelope.h"

#include "tidemark/hash.h"
#include "tidemark/sign.h"

/* XDR of stellar-core: SCPStatementType, EnvelopeType. */
enum { PREPARE, CONFIRM, EXTERNALIZE, NOMINATE };
enum { ENVELOPE_TYPE_SCP = 1 };
enum {
    SIGNATURE_BYTES_MAX = 64,
    VALUE_BYTES = 64 << 10,     /* longest value of a statement that is skipped */
    STATEMENT_BYTES_MAX = 4096, /* an EXTERNALIZE statement with the longest value is shorter */
};
/* node, slot, type, counter, value, nH, quorum set */
static_assert((4 + 32) + 8 + 4 + 4 + (4 + SCP_VALUE_BYTES_MAX) + 4 + 32 <= STATEMENT_BYTES_MAX,
              "the signature of a longest vote can be checked");
static_assert(VALUE_BYTES >= SCP_VALUE_BYTES_MAX, "a value that counts can be read");
static_assert(EXTERNALIZE == 2 && NOMINATE == 3, "XDR's numbers");

/* Reads a PublicKey, whose only type is Ed25519. */
static const uint8_t *read_node(struct tide_xdr *x)
{
    uint32_t type = tide_xdr_u32(x);
    if (!x->status && type != 0)
        tide_xdr_refuse(x, TIDE_E_UNKNOWN, "PublicKey arm", type);
    return tide_xdr_opaque(x, TIDE_HASH_BYTES).ptr;
}

static tide_slice read_ballot(struct tide_xdr *x)
{
    tide_xdr_u32(x); /* counter */
    return tide_xdr_var(x, VALUE_BYTES);
}

static void skip_prepare(struct tide_xdr *x)
{
    tide_xdr_skip(x, TIDE_HASH_BYTES);
    read_ballot(x);
    for (int i = 0; i < 2; i++) /* prepared, preparedPrime */
        if (tide_xdr_bool(x))
            read_ballot(x);
    tide_xdr_skip(x, 8); /* nC, nH */
}

static void skip_nomination(struct tide_xdr *x)
{
    tide_xdr_skip(x, TIDE_HASH_BYTES);
    for (int i = 0; i < 2; i++) { /* votes, accepted */
        uint32_t count = tide_xdr_count(x, UINT32_MAX, 4);
        for (uint32_t k = 0; k < count && !x->status; k++)
            tide_xdr_var(x, VALUE_BYTES);
    }
}

static void read_pledges(struct tide_xdr *x, struct scp_envelope *out)
{
    uint32_t type = tide_xdr_u32(x);
    switch (type) {
    case PREPARE:
        skip_prepare(x);
        return;
    case CONFIRM:
        read_ballot(x);
        tide_xdr_skip(x, 12 + TIDE_HASH_BYTES); /* nPrepared, nCommit, nH, the quorum set */
        return;
    case EXTERNALIZE:
        out->value = read_ballot(x);
        out->externalizes = true;
        tide_xdr_skip(x, 4 + TIDE_HASH_BYTES); /* nH, the quorum set */
        return;
    case NOMINATE:
        skip_nomination(x);
        return;
    default:
        tide_xdr_refuse(x, TIDE_E_UNKNOWN, "SCPStatement arm", type);
    }
}

void scp_envelope_read(struct tide_xdr *x, struct scp_envelope *out)
{
    const uint8_t *mark = x->cur;
    *out = (struct scp_envelope){ 0 };
    out->node = read_node(x);
    out->slot = tide_xdr_u64(x);
    read_pledges(x, out);
    out->statement = tide_xdr_span(x, mark);
    out->signature = tide_xdr_var(x, SIGNATURE_BYTES_MAX);
    assert(x->status != TIDE_OK || (out->node && out->statement.len > 0));
}

bool scp_envelope_holds(const struct scp_envelope *e, const uint8_t network_id[TIDE_HASH_BYTES])
{
    uint8_t bytes[TIDE_HASH_BYTES + 4 + STATEMENT_BYTES_MAX];
    static const uint8_t type[4] = { 0, 0, 0, ENVELOPE_TYPE_SCP };
    if (e->statement.len == 0 || e->statement.len > STATEMENT_BYTES_MAX)
        return false;
    memcpy(bytes, network_id, TIDE_HASH_BYTES);
    memcpy(bytes + TIDE_HASH_BYTES, type, sizeof type);
    memcpy(bytes + TIDE_HASH_BYTES + sizeof type, e->statement.ptr, e->statement.len);
    size_t len = TIDE_HASH_BYTES + sizeof type + e->statement.len;
    assert(len <= sizeof bytes);
    return tide_ed25519_holds(e->node, e->signature, tide_slice_of(bytes, len));
}

/* Skips a quorum set as the validators use it: the operator's counts, not theirs. */
static void skip_quorum_set(struct tide_xdr *x)
{
    if (!tide_xdr_enter(x))
        return;
    tide_xdr_u32(x); /* threshold */
    uint32_t count = tide_xdr_count(x, UINT32_MAX, 4 + TIDE_HASH_BYTES);
    tide_xdr_skip(x, (size_t)count * (4 + TIDE_HASH_BYTES));
    count = tide_xdr_count(x, UINT32_MAX, 12);
    for (uint32_t i = 0; i < count && !x->status; i++)
        skip_quorum_set(x);
    tide_xdr_leave(x);
}

tide_status scp_entry_walk(tide_slice entry, scp_envelope_fn each, void *self, struct tide_err *err)
{
    struct tide_xdr x = tide_xdr_of(entry);
    uint32_t version = tide_xdr_u32(&x);
    if (!x.status && version != 0)
        tide_xdr_refuse(&x, TIDE_E_UNKNOWN, "SCPHistoryEntry arm", version);
    uint32_t count = tide_xdr_count(&x, UINT32_MAX, 12);
    for (uint32_t i = 0; i < count && !x.status; i++)
        skip_quorum_set(&x);
    tide_xdr_u32(&x); /* ledgerSeq: each statement names its slot, and signs it */
    count = tide_xdr_count(&x, UINT32_MAX, 4 + TIDE_HASH_BYTES + 8);
    for (uint32_t i = 0; i < count; i++) {
        struct scp_envelope envelope;
        scp_envelope_read(&x, &envelope);
        if (x.status)
            break;
        tide_status status = each(self, &envelope, err);
        if (status)
            return status;
    }
    return tide_xdr_end(&x) ? tide_xdr_error(&x, err, "SCPHistoryEntry") : TIDE_OK;
}
