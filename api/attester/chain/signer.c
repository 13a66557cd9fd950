/* Key handling, the signing policy, and signing. */
#include "api/attester/chain/signer.h"
#include "api/base/secret.h"
#include "tidemark/meta.h"
#include "tidemark/scval.h"
#include "tidemark/sign.h"
#include "tidemark/strkey.h"

#include <stdlib.h>

enum { SEED_FILE_MAX = 256, PERSISTENT = 1 };

struct att_signer {
    struct tide_sign *key;
    struct att_policy policy;
    char address[TIDE_STRKEY_TEXT_MAX];
};

/* --- the call --------------------------------------------------------------------------------- */

uint32_t att_put_args(struct tide_buf *out, const struct att_claim *claim, bool revoke)
{
    tide_buf_be32(out, TIDE_SCV_ADDRESS);
    tide_buf_be32(out, 0); /* an account */
    tide_buf_be32(out, 0); /* ed25519 */
    tide_buf_put(out, claim->verifier, TIDE_HASH_BYTES);
    tide_buf_be32(out, TIDE_SCV_ADDRESS);
    tide_buf_slice(out, claim->subject);
    if (revoke)
        return 2;
    tide_buf_be32(out, TIDE_SCV_U32);
    tide_buf_be32(out, claim->jurisdiction);
    tide_buf_be32(out, TIDE_SCV_U64);
    tide_buf_be64(out, claim->expires_at);
    tide_buf_be32(out, TIDE_SCV_BYTES);
    tide_xdr_put_var(out, tide_slice_of(claim->metadata, TIDE_HASH_BYTES));
    return 5;
}

void att_put_auth(struct tide_buf *out, const struct tide_call *call)
{
    tide_buf_be32(out, 0); /* SorobanCredentials: source account */
    tide_buf_be32(out, 0); /* a contract's function */
    tide_call_put(out, call);
    tide_buf_be32(out, 0); /* number of sub-invocations */
}

bool att_envelope_is(tide_slice envelope, const uint8_t network_id[TIDE_HASH_BYTES],
                     const uint8_t hash[TIDE_HASH_BYTES])
{
    struct tide_envelope e;
    struct tide_xdr x;
    uint8_t own[TIDE_HASH_BYTES];
    if (tide_envelope_read(&e, envelope, &x) != TIDE_OK)
        return false;
    if (e.type == TIDE_ENVELOPE_BUMP) { /* hash the wrapped transaction as if it stood alone */
        e.type = TIDE_ENVELOPE_TX;
        e.signed_part = e.inner_signed_part;
    }
    tide_envelope_hash(own, &e, network_id);
    return memcmp(own, hash, TIDE_HASH_BYTES) == 0;
}

/* --- the key ---------------------------------------------------------------------------------- */

tide_status att_signer_of(struct att_signer **out, const uint8_t seed[TIDE_HASH_BYTES],
                          const struct att_policy *policy)
{
    struct att_signer *signer = calloc(1, sizeof *signer);
    if (!signer)
        return TIDE_E_MEMORY;
    signer->policy = *policy;
    if (tide_sign_open(&signer->key, seed) != TIDE_OK) {
        free(signer);
        return TIDE_E_MEMORY;
    }
    size_t len = tide_strkey_encode(signer->address, TIDE_STRKEY_ACCOUNT,
                                    tide_slice_of(tide_sign_public(signer->key), TIDE_HASH_BYTES));
    assert(len > 0 && len < sizeof signer->address);
    signer->address[len] = 0;
    *out = signer;
    return TIDE_OK;
}

/* Decodes the seed in the file. Fails with TIDE_E_CONFIG; the message never quotes the content. */
static tide_status read_seed(uint8_t seed[TIDE_STRKEY_PAYLOAD_MAX], struct tide_buf *text,
                             const char *path, struct tide_err *err)
{
    enum tide_strkey kind;
    size_t len = 0;
    tide_status status = tide_secret_file(text, path, err);
    if (status != TIDE_OK)
        return status;
    if (tide_strkey_decode(&kind, seed, &len, tide_buf_view(text)) != TIDE_OK ||
        kind != TIDE_STRKEY_SEED || len != TIDE_SEED_BYTES)
        return tide_fail(err, TIDE_E_CONFIG, "%s: not a seed; expected S and 55 more characters",
                         path);
    return TIDE_OK;
}

tide_status att_signer_open(struct att_signer **out, const char *path,
                            const struct att_policy *policy, struct tide_err *err)
{
    uint8_t seed[TIDE_STRKEY_PAYLOAD_MAX];
    struct tide_buf text;
    tide_buf_init(&text, SEED_FILE_MAX);
    tide_status status = read_seed(seed, &text, path, err);
    if (status == TIDE_OK && att_signer_of(out, seed, policy) != TIDE_OK)
        status = tide_fail(err, TIDE_E_MEMORY, "no memory for a key");
    /* The whole buffer is wiped, including bytes behind its length. */
    if (text.ptr)
        tide_sign_wipe(text.ptr, text.cap);
    tide_sign_wipe(seed, sizeof seed);
    tide_buf_release(&text);
    return status;
}

void att_signer_close(struct att_signer *signer)
{
    if (!signer)
        return;
    tide_sign_close(signer->key);
    free(signer);
}

const uint8_t *att_signer_public(const struct att_signer *signer)
{
    return tide_sign_public(signer->key);
}

const char *att_signer_address(const struct att_signer *signer)
{
    return signer->address;
}

const struct att_policy *att_signer_policy(const struct att_signer *signer)
{
    return &signer->policy;
}

void att_signer_allow_until(struct att_signer *signer, uint64_t latest)
{
    signer->policy.latest = latest;
}

void att_signer_allow_code(struct att_signer *signer, const uint8_t *code)
{
    signer->policy.has_code = code != NULL;
    if (code)
        memcpy(signer->policy.code, code, TIDE_HASH_BYTES);
}

/* --- the policy ------------------------------------------------------------------------------- */

/* Reads the transaction's list of archived entries: increasing indices into the read-write part
 * of the footprint. */
struct restored {
    struct tide_xdr x;
    /* Indices that were not read yet. */
    uint32_t left;
    uint64_t next; /* the current index; UINT64_MAX: none left */
};

static void next_restored(struct restored *r)
{
    r->next = r->left ? tide_xdr_u32(&r->x) : UINT64_MAX;
    r->left -= r->left > 0;
}

static struct restored restored_of(tide_slice soroban)
{
    struct restored r = { .x = tide_xdr_of(soroban) };
    if (tide_xdr_u32(&r.x) == 1)
        r.left = tide_xdr_count(&r.x, UINT32_MAX, 4);
    next_restored(&r);
    return r;
}

/* Returns true if the policy allows this key of the footprint. Allowed are the registry's
 * entries and the code that its instance names. Code may be written only by its restoration, and
 * only persistent entries can be archived. */
static bool key_allowed(struct tide_xdr *x, const struct att_policy *policy, bool writes,
                        bool restored)
{
    uint32_t type = tide_xdr_u32(x);
    if (type == TIDE_ENTRY_CONTRACT_CODE) {
        bool known = policy->has_code && tide_xdr_need(x, TIDE_HASH_BYTES) &&
                     memcmp(x->cur, policy->code, TIDE_HASH_BYTES) == 0;
        tide_xdr_skip(x, TIDE_HASH_BYTES);
        return known && writes == restored;
    }
    bool ours = tide_xdr_need(x, 4 + TIDE_HASH_BYTES) && tide_be32(x->cur) == 1 &&
                memcmp(x->cur + 4, policy->contract, TIDE_HASH_BYTES) == 0;
    if (type != TIDE_ENTRY_CONTRACT_DATA || !ours)
        return false;
    tide_scaddress_skip(x);
    tide_scval_skip(x);
    bool persistent = tide_xdr_u32(x) == PERSISTENT;
    return x->status == TIDE_OK && (persistent || !restored);
}

static bool reads_allowed(const struct tide_envelope *e, const struct att_policy *policy)
{
    struct tide_xdr x = tide_xdr_of(e->read_only);
    for (uint32_t i = 0; i < e->read_only_count; i++)
        if (!key_allowed(&x, policy, false, false))
            return false;
    return tide_xdr_end(&x) == TIDE_OK;
}

/* Returns true if every written key is allowed. An index that is out of range or out of order
 * never matches a key, so the list does not reach its end, and the result is false. */
static bool writes_allowed(const struct tide_envelope *e, const struct att_policy *policy)
{
    struct tide_xdr x = tide_xdr_of(e->read_write);
    struct restored r = restored_of(e->soroban);
    for (uint32_t i = 0; i < e->read_write_count; i++) {
        bool restored = i == r.next;
        if (!key_allowed(&x, policy, true, restored))
            return false;
        if (restored)
            next_restored(&r);
    }
    return tide_xdr_end(&x) == TIDE_OK && r.next == UINT64_MAX && r.x.status == TIDE_OK;
}

/* True if the envelope has no authorisation, or exactly the one that att_put_auth makes. */
static bool has_expected_auth(const struct tide_envelope *e, const struct tide_call *meant)
{
    struct tide_buf wanted;
    if (e->auth_count == 0)
        return true;
    tide_buf_init(&wanted, ATT_ENVELOPE_MAX);
    att_put_auth(&wanted, meant);
    bool same =
        !wanted.failed && e->auth_count == 1 && tide_slice_eq(tide_buf_view(&wanted), e->auth);
    tide_buf_release(&wanted);
    return same;
}

static bool is_known_function(tide_slice function)
{
    return tide_slice_eq_str(function, "attest") || tide_slice_eq_str(function, "revoke");
}

/* Returns the first rule that the call breaks, or NULL. */
static const char *find_call_breach(const struct att_signer *s, const struct tide_envelope *e,
                                    const struct tide_call *meant)
{
    if (!e->has_invoke || e->host_function != 0 || e->first_op != TIDE_OP_INVOKE)
        return "the operation does not call a contract";
    if (!e->contract || memcmp(e->contract, s->policy.contract, TIDE_HASH_BYTES) != 0)
        return "the contract called is not the compliance registry";
    if (!is_known_function(e->function) || !tide_slice_eq_str(e->function, meant->function))
        return "the envelope calls a function that differs from the intent's";
    if (e->arg_count != meant->arg_count || !tide_slice_eq(e->args, meant->args))
        return "the arguments differ from the intent's";
    if (!has_expected_auth(e, meant))
        return "an authorisation goes beyond the call itself";
    return NULL;
}

static bool is_own_key(const struct att_signer *s, const uint8_t *key)
{
    return key && memcmp(key, att_signer_public(s), TIDE_HASH_BYTES) == 0;
}

/* Returns the first rule that the envelope breaks, or NULL. */
static const char *find_breach(const struct att_signer *s, const struct tide_envelope *e,
                               const struct tide_call *meant)
{
    if (e->type != TIDE_ENVELOPE_TX && e->type != TIDE_ENVELOPE_BUMP)
        return "the envelope is neither a transaction nor a fee bump";
    if (!is_own_key(s, e->source_key) || !is_own_key(s, e->fee_source_key))
        return "source or payer is another account than the verifier";
    if (e->op_count != 1 || e->op_source.len)
        return "more than one operation, or one with a source of its own";
    if (e->fee <= 0 || e->fee > s->policy.fee_max)
        return "the fee is 0 or above attester_fee_max";
    if (e->preconditions != 1 || e->max_time == 0 || e->max_time > s->policy.latest)
        return "the time bounds are missing or end later than attester_valid_s allows";
    if (!e->has_soroban || !reads_allowed(e, &s->policy) || !writes_allowed(e, &s->policy))
        return "the footprint goes beyond the compliance registry";
    return find_call_breach(s, e, meant);
}

bool att_restores_code(tide_slice envelope)
{
    struct tide_envelope e;
    struct tide_xdr x, keys;
    struct tide_change key;
    if (tide_envelope_read(&e, envelope, &x) != TIDE_OK)
        return false;
    keys = tide_xdr_of(e.read_write);
    for (uint32_t i = 0; i < e.read_write_count; i++) {
        (void)tide_ledger_key_data(&keys, &key);
        if (keys.status == TIDE_OK && key.type == TIDE_ENTRY_CONTRACT_CODE)
            return true;
    }
    return false;
}

/* --- signing ---------------------------------------------------------------------------------- */

tide_status att_sign(struct att_signer *signer, struct tide_buf *envelope,
                     const struct tide_call *meant, uint8_t hash[TIDE_HASH_BYTES],
                     struct tide_err *err)
{
    struct tide_envelope e;
    struct tide_xdr x;
    size_t before = envelope->len;
    if (tide_envelope_read(&e, tide_buf_view(envelope), &x) != TIDE_OK ||
        tide_be32(envelope->ptr + before - 4) != 0)
        return tide_fail(err, TIDE_E_CONFLICT,
                         "refused to sign: the bytes are not an unsigned envelope");
    const char *why = find_breach(signer, &e, meant);
    if (why)
        return tide_fail(err, TIDE_E_CONFLICT, "refused to sign: %s", why);
    tide_envelope_hash(hash, &e, signer->policy.network_id);
    if (tide_envelope_sign(envelope, signer->key, hash) == TIDE_OK)
        return TIDE_OK;
    return tide_fail(err, TIDE_E_LIMIT, "the envelope is too large");
}
