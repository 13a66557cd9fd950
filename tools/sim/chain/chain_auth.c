/* The body of a call's operation: the host function, and the authorisations with their
 * signatures. */
#include "tidemark/scval.h"
#include "tidemark/xdr.h"
#include "tools/sim/chain/chain_call.h"

void chain_put_addr(struct tide_buf *buf, struct sim_addr party)
{
    if (party.kind == SIM_ACCOUNT)
        lcm_put_address_account(buf, party.key);
    else
        lcm_put_address_contract(buf, party.key);
}

/* The mixing makes nonces look random; the shift keeps them positive. */
int64_t chain_nonce(const struct chain_making *m, uint32_t i)
{
    assert(i < 1u << 12 && m->chain->index < 1u << 20 && "equal nonces would clash");
    uint64_t z = ((uint64_t)m->chain->ledger << 32 | (uint64_t)m->chain->index << 12 | i) *
                 0x9e3779b97f4a7c15u;
    return (int64_t)((z ^ (z >> 29)) * 0xbf58476d1ce4e5b9u >> 1);
}

void chain_nonce_key(struct tide_buf *key, int64_t nonce)
{
    tide_buf_be32(key, TIDE_SCV_LEDGER_KEY_NONCE);
    tide_buf_be64(key, (uint64_t)nonce);
}

/* Appends a SorobanAuthorizedFunction of that call, without its sub-invocations. */
static void put_invocation_head(struct tide_buf *buf, const struct sim_frame *frame)
{
    tide_buf_be32(buf, 0); /* contract function */
    chain_put_addr(buf, frame->contract->address);
    tide_xdr_put_var(buf, tide_slice_str(frame->fn));
    tide_buf_be32(buf, frame->arg_count);
    for (uint32_t i = 0; i < frame->arg_count; i++)
        sim_val_xdr(buf, &frame->args[i]);
}

/* Appends the authorisation of a party: the first call that required it is the root, the other
 * calls that required it stand directly below. */
static void put_invocation(const struct chain_making *m, struct tide_buf *buf, uint32_t first)
{
    const struct sim_auth *auths = m->out->auths;
    uint32_t more = 0;
    put_invocation_head(buf, &m->out->frames[auths[first].frame]);
    for (uint32_t i = first + 1; i < m->out->auth_count; i++)
        more += sim_addr_eq(auths[i].party, auths[first].party);
    tide_buf_be32(buf, more);
    for (uint32_t i = first + 1; i < m->out->auth_count; i++) {
        if (!sim_addr_eq(auths[i].party, auths[first].party))
            continue;
        put_invocation_head(buf, &m->out->frames[auths[i].frame]);
        tide_buf_be32(buf, 0);
    }
}

void chain_auth_hash(const uint8_t network_id[TIDE_HASH_BYTES], const struct chain_signed *what,
                     uint8_t out[TIDE_HASH_BYTES])
{
    struct tide_buf head;
    struct tide_sha256 h;
    tide_buf_init(&head, 256);
    tide_buf_be32(&head, 9); /* ENVELOPE_TYPE_SOROBAN_AUTHORIZATION */
    tide_buf_put(&head, network_id, TIDE_HASH_BYTES);
    tide_buf_be64(&head, (uint64_t)what->nonce);
    tide_buf_be32(&head, what->expires);
    tide_sha256_init(&h);
    tide_sha256_update(&h, tide_buf_view(&head));
    tide_sha256_update(&h, what->invocation);
    tide_sha256_final(&h, out);
    tide_buf_release(&head);
}

const uint8_t *chain_signer(const struct parties *parties, struct sim_addr party)
{
    /* An account signs with its own key. */
    if (party.kind == SIM_ACCOUNT)
        return NULL;
    for (uint32_t i = 0; i < PARTY_CONTRACTS; i++) {
        if (memcmp(parties->contracts[i].id, party.key, TIDE_HASH_BYTES) == 0)
            return parties->signers[i];
    }
    return NULL;
}

void chain_put_signature(struct tide_buf *buf, const uint8_t key[TIDE_HASH_BYTES],
                         const uint8_t signature[TIDE_SIGNATURE_BYTES])
{
    /* An ScVal Vec of one Map with two pairs, sorted by their keys. */
    lcm_put_vec(buf, 1);
    lcm_put_map(buf, 2);
    lcm_put_symbol(buf, "public_key");
    tide_buf_be32(buf, TIDE_SCV_BYTES);
    tide_xdr_put_var(buf, tide_slice_of(key, TIDE_HASH_BYTES));
    lcm_put_symbol(buf, "signature");
    tide_buf_be32(buf, TIDE_SCV_BYTES);
    tide_xdr_put_var(buf, tide_slice_of(signature, TIDE_SIGNATURE_BYTES));
}

/* Appends credentials with a signature over the invocation, its nonce and its last ledger. */
static void put_address_credentials(struct chain_making *m, uint32_t i, tide_slice invocation)
{
    assert(i < m->out->auth_count);
    struct chain *chain = m->chain;
    struct tide_buf *buf = &chain->body;
    struct sim_addr party = m->out->auths[i].party;
    const uint8_t *signer = chain_signer(&chain->parties, party);
    uint8_t hash[TIDE_HASH_BYTES], signature[TIDE_SIGNATURE_BYTES] = { 0 };
    struct chain_signed what = { .nonce = chain_nonce(m, i),
                                 .expires = chain->ledger + SIM_NONCE_LIFE,
                                 .invocation = invocation };
    chain_auth_hash(chain->parties.network_id, &what, hash);
    signer = signer ? signer : party.key; /* accounts sign with their own key */
    bool made = keys_sign(&chain->parties.keys, signature, signer, hash);
    assert(made);
    (void)made;
    tide_buf_be32(buf, 1);
    chain_put_addr(buf, party);
    tide_buf_be64(buf, (uint64_t)what.nonce);
    tide_buf_be32(buf, what.expires);
    chain_put_signature(buf, signer, signature);
}

/* Appends one authorisation. The transaction's source authorises by its signature on the
 * envelope. */
static void put_auth(struct chain_making *m, uint32_t i)
{
    assert(i < m->out->auth_count);
    struct tide_buf *invocation = &m->chain->answer;
    struct sim_addr source = chain_addr(m->chain, (party_ref)m->slot->call.source);
    tide_buf_reset(invocation);
    put_invocation(m, invocation, i);
    if (sim_addr_eq(m->out->auths[i].party, source))
        tide_buf_be32(&m->chain->body, 0);
    else
        put_address_credentials(m, i, tide_buf_view(invocation));
    tide_buf_slice(&m->chain->body, tide_buf_view(invocation));
}

/* Appends the list of authorisations, one for each party. */
static void put_auths(struct chain_making *m)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < m->out->auth_count; i++)
        count += m->out->auths[i].first;
    tide_buf_be32(&m->chain->body, count);
    for (uint32_t i = 0; i < m->out->auth_count; i++) {
        if (m->out->auths[i].first)
            put_auth(m, i);
    }
}

/* Appends CreateContractArgs, or CreateContractArgsV2 if the constructor has arguments. Contracts
 * of Stellar assets are created from the asset, others from the deployer's address and a salt.
 * Their code is the empty wasm. */
static void put_create(struct chain_making *m, struct tide_buf *buf)
{
    uint32_t place = m->slot->call.contract;
    uint8_t hash[TIDE_HASH_BYTES];
    if (place == PARTY_USDC || place == PARTY_XLM) {
        tide_buf_be32(buf, 1); /* from asset */
        if (place == PARTY_XLM)
            tide_buf_be32(buf, 0);
        else
            tide_buf_slice(buf, tide_buf_view(&m->chain->asset));
        tide_buf_be32(buf, 1); /* executable: Stellar asset */
    } else {
        tide_buf_be32(buf, 0); /* from address */
        lcm_put_address_account(buf, m->chain->parties.accounts[PARTY_DEPLOYER].id);
        parties_salt(hash, m->chain->options.seed, place);
        tide_buf_put(buf, hash, sizeof hash);
        tide_sha256(hash, (tide_slice){ 0 });
        tide_buf_be32(buf, 0); /* executable: wasm */
        tide_buf_put(buf, hash, sizeof hash);
    }
    if (m->slot->call.arg_count == 0)
        return;
    tide_buf_be32(buf, m->slot->call.arg_count);
    tide_buf_slice(buf, tide_buf_view(&m->slot->call.args));
}

void chain_create_body(struct chain_making *m)
{
    struct tide_buf *buf = &m->chain->body;
    bool v2 = m->slot->call.arg_count > 0;
    tide_buf_be32(buf, v2 ? 3 : 1); /* create contract */
    put_create(m, buf);
    tide_buf_be32(buf, v2); /* the older ones have no authorisation */
    if (!v2)
        return;
    /* The caller's signature authorises the creation, with the constructor's arguments. */
    lcm_words(buf, 0, 2);
    put_create(m, buf);
    tide_buf_be32(buf, 0); /* nothing below */
}

void chain_invoke_body(struct chain_making *m)
{
    struct tide_buf *buf = &m->chain->body;
    const struct workload_call *call = &m->slot->call;
    tide_buf_be32(buf, 0); /* invoke contract */
    chain_put_addr(buf, m->contract->address);
    tide_xdr_put_var(buf, tide_slice_str(call->fn));
    tide_buf_be32(buf, call->arg_count);
    tide_buf_slice(buf, tide_buf_view(&call->args));
    put_auths(m);
}
