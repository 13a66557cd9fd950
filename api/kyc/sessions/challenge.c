/* Writes, reads and weighs SEP-10 challenges. */
#include "api/kyc/sessions/challenge.h"
#include "tidemark/text.h"
#include "tidemark/xdr.h"

enum { FEE = 200, MANAGE_DATA = 10, ENVELOPE_TX = 2, TIME_BOUNDS = 1, DATA_MAX = 64 };

static const char auth_name[] = " auth", domain_name[] = "web_auth_domain";
static_assert(TIDE_KYC_HOME_DOMAIN_MAX + sizeof auth_name - 1 == DATA_MAX, "the longest name");
static_assert(sizeof domain_name - 1 <= DATA_MAX, "the protocol's limit of a name");
static_assert(TIDE_KYC_NONCE_BYTES % 3 == 0 && TIDE_KYC_NONCE_BYTES / 3 * 4 <= DATA_MAX,
              "base64 of a nonce is a value");

/* --- writing ---------------------------------------------------------------------------- */

static void put_key(struct tide_buf *buf, const uint8_t *key)
{
    tide_buf_be32(buf, 0); /* ed25519 */
    tide_buf_put(buf, key, TIDE_HASH_BYTES);
}

/* Appends a ManageData operation. */
static void put_data(struct tide_buf *buf, const uint8_t *source, tide_slice name, tide_slice value)
{
    tide_buf_be32(buf, 1);
    put_key(buf, source);
    tide_buf_be32(buf, MANAGE_DATA);
    tide_xdr_put_var(buf, name);
    tide_buf_be32(buf, 1);
    tide_xdr_put_var(buf, value);
}

/* Appends the challenge's transaction, without signatures. */
static void put_transaction(struct tide_buf *buf, const struct tide_kyc_challenger *who,
                            const uint8_t *account, tide_slice nonce, uint64_t now)
{
    char name[DATA_MAX + 1];
    int len = snprintf(name, sizeof name, "%s%s", who->home_domain, auth_name);
    assert(len > 0 && len <= DATA_MAX && strlen(who->web_domain) <= DATA_MAX);
    put_key(buf, who->server);
    tide_buf_be32(buf, FEE);
    tide_buf_be64(buf, 0); /* no account has sequence -1, so the transaction can never be applied */
    tide_buf_be32(buf, TIME_BOUNDS);
    tide_buf_be64(buf, now);
    tide_buf_be64(buf, now + TIDE_KYC_CHALLENGE_S);
    tide_buf_be32(buf, 0); /* no memo */
    tide_buf_be32(buf, 2);
    put_data(buf, account, tide_slice_of(name, (size_t)len), nonce);
    put_data(buf, who->server, tide_slice_str(domain_name), tide_slice_str(who->web_domain));
    tide_buf_be32(buf, 0);
}

/* Computes the hash that is signed: network id, envelope type, transaction. */
static void hash_transaction(uint8_t out[TIDE_HASH_BYTES], const struct tide_kyc_challenger *who,
                             tide_slice transaction)
{
    static const uint8_t kind[4] = { 0, 0, 0, ENVELOPE_TX };
    struct tide_sha256 sha;
    tide_sha256_init(&sha);
    tide_sha256_update(&sha, tide_slice_of(who->network_id, TIDE_HASH_BYTES));
    tide_sha256_update(&sha, tide_slice_of(kind, sizeof kind));
    tide_sha256_update(&sha, transaction);
    tide_sha256_final(&sha, out);
}

/* Writes transaction and signature. The signature's hint is the last four bytes of the server's
 * key. */
tide_status tide_kyc_challenge_write(struct tide_buf *out, const struct tide_kyc_challenger *who,
                                     const uint8_t *account,
                                     const uint8_t nonce[TIDE_KYC_NONCE_BYTES], uint64_t now,
                                     struct tide_sign *sign)
{
    uint8_t hash[TIDE_HASH_BYTES], signature[TIDE_SIGNATURE_BYTES];
    struct tide_buf text;
    tide_buf_init(&text, DATA_MAX);
    tide_buf_base64(&text, tide_slice_of(nonce, TIDE_KYC_NONCE_BYTES));
    tide_buf_be32(out, ENVELOPE_TX);
    size_t mark = out->len;
    put_transaction(out, who, account, tide_buf_view(&text), now);
    bool failed = text.failed || out->failed;
    tide_buf_release(&text);
    if (failed)
        return TIDE_E_MEMORY;
    assert(out->len > mark);
    hash_transaction(hash, who, tide_slice_of(out->ptr + mark, out->len - mark));
    tide_sign(sign, signature, tide_slice_of(hash, sizeof hash));
    tide_buf_be32(out, 1);
    tide_buf_put(out, who->server + TIDE_HASH_BYTES - 4, 4);
    tide_xdr_put_var(out, tide_slice_of(signature, sizeof signature));
    return out->failed ? TIDE_E_MEMORY : TIDE_OK;
}

/* --- reading ---------------------------------------------------------------------------- */

static bool is_key(struct tide_xdr *x, const uint8_t *key)
{
    bool plain = tide_xdr_u32(x) == 0;
    tide_slice have = tide_xdr_opaque(x, TIDE_HASH_BYTES);
    return plain && have.len == TIDE_HASH_BYTES && memcmp(have.ptr, key, have.len) == 0;
}

/* Reads one ManageData operation into *value. Returns false unless source and name are as given. */
static bool is_data(struct tide_xdr *x, const uint8_t *source, const char *name, tide_slice *value)
{
    bool fits = tide_xdr_bool(x) && is_key(x, source) && tide_xdr_u32(x) == MANAGE_DATA;
    fits &= tide_slice_eq_str(tide_xdr_var(x, DATA_MAX), name);
    fits &= tide_xdr_bool(x);
    *value = tide_xdr_var(x, DATA_MAX);
    return fits && x->status == TIDE_OK;
}

/* True for base64 of a nonce. The server stores no nonces: a used challenge is recorded by its
 * hash. */
static bool is_nonce(tide_slice value)
{
    struct tide_buf raw;
    tide_buf_init(&raw, TIDE_KYC_NONCE_BYTES);
    bool fits = tide_buf_base64_decode(&raw, value) == TIDE_OK && raw.len == TIDE_KYC_NONCE_BYTES;
    tide_buf_release(&raw);
    return fits;
}

/* Returns NULL if the transaction is one that put_transaction writes, else a text that says what is
 * wrong. */
static const char *read_transaction(struct tide_xdr *x, const struct tide_kyc_challenger *who,
                                    const uint8_t *account, uint64_t now, uint64_t *until)
{
    char name[DATA_MAX + 1];
    tide_slice value;
    snprintf(name, sizeof name, "%s%s", who->home_domain, auth_name);
    if (!is_key(x, who->server))
        return "its source is not this server's key";
    tide_xdr_skip(x, 4); /* the fee, which is never charged */
    if (tide_xdr_u64(x) != 0)
        return "its sequence is not 0";
    if (tide_xdr_u32(x) != TIME_BOUNDS)
        return "it has no time bounds";
    uint64_t from = tide_xdr_u64(x);
    *until = tide_xdr_u64(x);
    if (now < from || now > *until || *until - from > TIDE_KYC_CHALLENGE_S)
        return "it has expired";
    if (tide_xdr_u32(x) != 0 || tide_xdr_u32(x) != 2)
        return "it has a memo, or not two operations";
    if (!is_data(x, account, name, &value) || !is_nonce(value))
        return "its first operation is not this account's";
    if (!is_data(x, who->server, domain_name, &value) || !tide_slice_eq_str(value, who->web_domain))
        return "its second operation is not this server's";
    return tide_xdr_u32(x) == 0 && x->status == TIDE_OK ? NULL : "it is malformed";
}

/* The hint is the end of the signer's key; comparing it first saves most verifications. */
static bool is_signed_by(const uint8_t *key, tide_slice hint, tide_slice signature,
                         const uint8_t hash[TIDE_HASH_BYTES])
{
    assert(hint.len == 4 && hint.ptr);
    return memcmp(hint.ptr, key + TIDE_HASH_BYTES - 4, 4) == 0 &&
           tide_ed25519_holds(key, signature, tide_slice_of(hash, TIDE_HASH_BYTES));
}

/* Reads the signatures: this server's exactly once, the client's in any order. Collects the
 * client's signatures; their signers are not known yet. */
static const char *read_signatures(struct tide_kyc_proof *out, struct tide_xdr *x,
                                   const struct tide_kyc_challenger *who)
{
    bool ours = false;
    uint32_t count = tide_xdr_count(x, TIDE_KYC_SIGNATURES_MAX + 1, 8);
    for (uint32_t i = 0; i < count; i++) {
        tide_slice hint = tide_xdr_opaque(x, 4);
        tide_slice signature = tide_xdr_var(x, TIDE_SIGNATURE_BYTES);
        if (x->status != TIDE_OK || signature.len != TIDE_SIGNATURE_BYTES)
            return "it is malformed";
        bool server = is_signed_by(who->server, hint, signature, out->hash);
        if (server && ours)
            return "this server has signed it twice";
        ours |= server;
        if (server)
            continue;
        if (out->count == TIDE_KYC_SIGNATURES_MAX)
            return "it has too many signatures";
        memcpy(out->signatures[out->count].hint, hint.ptr, 4);
        memcpy(out->signatures[out->count++].signature, signature.ptr, signature.len);
    }
    if (tide_xdr_end(x) != TIDE_OK)
        return "it is malformed";
    if (!ours)
        return "this server has not signed it";
    return out->count ? NULL : "the account has not signed it";
}

const char *tide_kyc_challenge_read(struct tide_kyc_proof *out,
                                    const struct tide_kyc_challenger *who, const uint8_t *account,
                                    tide_slice envelope, uint64_t now)
{
    struct tide_xdr x = tide_xdr_of(envelope);
    *out = (struct tide_kyc_proof){ 0 };
    if (memcmp(account, who->server, TIDE_HASH_BYTES) == 0)
        return "the account is this server's own key";
    if (tide_xdr_u32(&x) != ENVELOPE_TX)
        return "it is not a transaction envelope (v1)";
    const uint8_t *mark = x.cur;
    const char *wrong = read_transaction(&x, who, account, now, &out->until);
    if (wrong)
        return wrong;
    hash_transaction(out->hash, who, tide_xdr_span(&x, mark));
    return read_signatures(out, &x, who);
}

/* --- weighing --------------------------------------------------------------------------- */

/* Returns the index of the signer of one signature, or TIDE_KYC_SIGNERS_MAX if no remaining signer
 * made it. signed_before has a bit for each signer that is used up. */
static uint32_t signer_of(const struct tide_kyc_proof *proof, uint32_t which,
                          const struct tide_kyc_signers *signers, uint32_t signed_before)
{
    tide_slice hint = tide_slice_of(proof->signatures[which].hint, 4);
    tide_slice signature = tide_slice_of(proof->signatures[which].signature, TIDE_SIGNATURE_BYTES);
    for (uint32_t i = 0; i < signers->count; i++)
        if (signers->list[i].weight && !(signed_before >> i & 1) &&
            is_signed_by(signers->list[i].key, hint, signature, proof->hash))
            return i;
    return TIDE_KYC_SIGNERS_MAX;
}

/* A threshold of 0 still needs a signer of weight 1 or more. */
const char *tide_kyc_proof_weigh(const struct tide_kyc_proof *proof,
                                 const struct tide_kyc_signers *signers)
{
    static_assert(TIDE_KYC_SIGNERS_MAX <= 32, "a bit for each");
    uint64_t weight = 0, least = signers->medium ? signers->medium : 1;
    uint32_t signed_before = 0;
    assert(proof->count <= TIDE_KYC_SIGNATURES_MAX && signers->count <= TIDE_KYC_SIGNERS_MAX);
    for (uint32_t i = 0; i < proof->count; i++) {
        uint32_t signer = signer_of(proof, i, signers, signed_before);
        if (signer == TIDE_KYC_SIGNERS_MAX)
            return "a signature is neither this server's nor a signer's of the account, or is "
                   "there "
                   "twice";
        assert(signer < signers->count && !(signed_before >> signer & 1));
        signed_before |= 1u << signer;
        weight += signers->list[signer].weight;
    }
    return weight >= least ? NULL : "its signatures do not reach the account's medium threshold";
}
