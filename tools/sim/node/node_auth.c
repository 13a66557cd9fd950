/* Authorisation as on the network: trees of calls that an address has authorised, matched with the
 * calls that required it, in the order in which these ran. */
#include "tidemark/sign.h"
#include "tidemark/xdr_skip.h"
#include "tools/sim/node/node_impl.h"

#define NOT_YET UINT32_MAX /* no step, or no frame yet */

/* --- reading ------------------------------------------------------------------------ */

/* Reads an SCAddress of an account or a contract. */
static struct sim_addr read_address(struct tide_xdr *x)
{
    struct sim_addr out = { .kind = tide_xdr_u32(x) };
    if (out.kind == SIM_ACCOUNT)
        tide_xdr_skip(x, 4);
    tide_slice key = tide_xdr_opaque(x, TIDE_HASH_BYTES);
    if (key.len)
        memcpy(out.key, key.ptr, TIDE_HASH_BYTES);
    return out;
}

/* Returns true if an account or contract address follows. Other addresses have no signature. */
static bool plain_address(const struct tide_xdr *x)
{
    return tide_xdr_left(x) >= 4 && tide_be32(x->cur) <= SIM_CONTRACT;
}

/* Reads a SorobanAuthorizedFunction. Returns false if it is not a contract's function. */
static bool read_function(struct node_step *step, struct tide_xdr *x)
{
    step->callable = tide_xdr_u32(x) == 0;
    if (!step->callable || !plain_address(x))
        return false;
    step->contract = read_address(x);
    step->function = tide_xdr_var(x, 32);
    step->arg_count = tide_xdr_u32(x);
    const uint8_t *mark = x->cur;
    for (uint32_t i = 0; i < step->arg_count && x->status == TIDE_OK; i++)
        tide_scval_skip(x);
    step->args = tide_xdr_span(x, mark);
    return true;
}

/* Reads a call and the calls below it. Returns false if there are too many, or if one is not a
 * contract's function. */
static bool read_steps(struct node_auths *auths, struct tide_xdr *x, uint32_t parent)
{
    if (auths->step_count == NODE_STEPS_MAX)
        return false;
    uint32_t at = auths->step_count++;
    struct node_step *step = &auths->steps[at];
    *step = (struct node_step){ .parent = parent == NOT_YET ? at : parent, .frame = NOT_YET };
    if (!read_function(step, x))
        return false;
    uint32_t below = tide_xdr_u32(x);
    bool whole = true;
    for (uint32_t i = 0; i < below && whole && x->status == TIDE_OK; i++)
        whole = read_steps(auths, x, at);
    return whole;
}

/* Reads one SorobanAuthorizationEntry. The grant's steps are those from its root to the next
 * grant's root. */
static bool read_grant(struct node_auths *auths, struct tide_xdr *x, const uint8_t *source)
{
    struct node_grant *grant = &auths->grants[auths->grant_count++];
    *grant = (struct node_grant){ .arm = tide_xdr_u32(x), .root = auths->step_count };
    grant->party = node_account(source);
    if (grant->arm > 1)
        return false; /* credentials of a newer kind */
    if (grant->arm) {
        const uint8_t *mark = x->cur;
        if (!plain_address(x))
            return false;
        grant->party = read_address(x);
        grant->address = tide_xdr_span(x, mark);
        grant->nonce = tide_xdr_i64(x);
        grant->expires = tide_xdr_u32(x);
        grant->signature = tide_scval_span(x);
    }
    const uint8_t *mark = x->cur;
    bool whole = read_steps(auths, x, NOT_YET);
    grant->invocation = tide_xdr_span(x, mark);
    return whole;
}

bool node_auths_read(struct sim_node *node, const struct node_tx *tx)
{
    struct tide_xdr x = tide_xdr_of(tx->env.auth);
    struct node_auths *auths = &node->auths;
    auths->grant_count = auths->step_count = 0;
    if (tx->env.auth_count > NODE_AUTHS_MAX)
        return false;
    for (uint32_t i = 0; i < tx->env.auth_count; i++) {
        if (!read_grant(auths, &x, tx->op_source))
            return false;
    }
    return x.status == TIDE_OK;
}

/* --- signatures ---------------------------------------------------------------------- */

/* Reads an account's signature: a Vec of one Map {public_key, signature}. */
static bool read_signature(tide_slice value, tide_slice *key, tide_slice *signature)
{
    static const uint8_t head[] = { 0, 0, 0, 16, 0, 0, 0, 1, 0, 0, 0, 1,
                                    0, 0, 0, 17, 0, 0, 0, 1, 0, 0, 0, 2 };
    struct tide_xdr x = tide_xdr_of(value);
    tide_slice start = tide_xdr_opaque(&x, sizeof head);
    if (!tide_slice_eq(start, tide_slice_of(head, sizeof head)))
        return false;
    bool named = tide_xdr_u32(&x) == TIDE_SCV_SYMBOL;
    named = named && tide_slice_eq_str(tide_xdr_var(&x, 32), "public_key");
    named = named && tide_xdr_u32(&x) == TIDE_SCV_BYTES;
    *key = tide_xdr_var(&x, TIDE_HASH_BYTES);
    named = named && tide_xdr_u32(&x) == TIDE_SCV_SYMBOL;
    named = named && tide_slice_eq_str(tide_xdr_var(&x, 32), "signature");
    named = named && tide_xdr_u32(&x) == TIDE_SCV_BYTES;
    *signature = tide_xdr_var(&x, TIDE_SIGNATURE_BYTES);
    return named && tide_xdr_end(&x) == TIDE_OK && key->len == TIDE_HASH_BYTES;
}

/* Returns the key that signs for an address: an account's own, or a wallet's owner's. Returns NULL
 * for other addresses and missing accounts. */
static const uint8_t *signer_of(struct sim_node *node, const struct node_grant *grant)
{
    if (grant->party.kind == SIM_ACCOUNT)
        return sim_account_find(&node->chain.host, grant->party) ? grant->party.key : NULL;
    const struct sim_contract *contract = sim_contract_find(&node->chain.host, grant->party);
    if (!contract || contract->role != TIDE_ROLE_wallet)
        return NULL;
    return chain_signer(&node->chain.parties, grant->party);
}

static bool is_nonce_used(const struct sim_node *node, struct sim_addr party, int64_t nonce)
{
    for (uint32_t i = 0; i < node->nonce_count; i++) {
        if (node->nonces[i].nonce == nonce && sim_addr_eq(node->nonces[i].party, party))
            return true;
    }
    return false;
}

/* Returns NULL if the grant's credentials are valid, else the reason of the refusal. The source has
 * authorised by signing the envelope. */
static const char *authenticate(struct sim_node *node, const struct node_grant *grant,
                                uint32_t ledger)
{
    uint8_t hash[TIDE_HASH_BYTES];
    tide_slice key, signature;
    if (grant->arm == 0)
        return NULL;
    if (grant->expires < ledger || grant->expires > ledger + SIM_NONCE_LIFE)
        return NODE_LATE_SIGNATURE;
    if (is_nonce_used(node, grant->party, grant->nonce))
        return NODE_USED_NONCE;
    const uint8_t *signer = signer_of(node, grant);
    if (!signer || !read_signature(grant->signature, &key, &signature) ||
        memcmp(key.ptr, signer, TIDE_HASH_BYTES) != 0)
        return NODE_BAD_SIGNATURE;
    struct chain_signed what = { .nonce = grant->nonce,
                                 .expires = grant->expires,
                                 .invocation = grant->invocation };
    chain_auth_hash(node->chain.parties.network_id, &what, hash);
    if (!tide_ed25519_holds(signer, signature, tide_slice_of(hash, sizeof hash)))
        return NODE_BAD_SIGNATURE;
    return NULL;
}

/* --- matching --------------------------------------------------------------------------- */

/* Returns true if the step names the frame's contract, function and arguments. */
static bool same_call(struct sim_node *node, const struct node_step *step,
                      const struct sim_frame *frame)
{
    if (!sim_addr_eq(step->contract, frame->contract->address) ||
        step->arg_count != frame->arg_count || !tide_slice_eq_str(step->function, frame->fn))
        return false;
    tide_buf_reset(&node->answer);
    for (uint32_t i = 0; i < frame->arg_count; i++)
        sim_val_xdr(&node->answer, &frame->args[i]);
    return !node->answer.failed && tide_slice_eq(tide_buf_view(&node->answer), step->args);
}

/* Finds the unused step of the grant that fits the frame. Below a matched call, it must be a child
 * of that call's step; else it must be the root. Returns NOT_YET if there is none. */
static uint32_t find_step(struct sim_node *node, const struct sim_outcome *out, uint32_t grant,
                          uint32_t frame)
{
    const struct node_auths *auths = &node->auths;
    uint32_t first = auths->grants[grant].root;
    uint32_t end =
        grant + 1 < auths->grant_count ? auths->grants[grant + 1].root : auths->step_count;
    uint32_t above = NOT_YET;
    /* Walks up to the nearest frame that a step of this grant has matched. */
    for (uint32_t f = frame, up; above == NOT_YET && (up = out->frames[f].parent) != f; f = up) {
        for (uint32_t s = first; s < end; s++)
            above = auths->steps[s].frame == up ? s : above;
    }
    for (uint32_t s = first; s < end; s++) {
        const struct node_step *step = &auths->steps[s];
        bool here = above == NOT_YET ? s == first : step->parent == above && s != above;
        if (here && step->frame == NOT_YET && same_call(node, step, &out->frames[frame]))
            return s;
    }
    return NOT_YET;
}

bool node_auth_by_contract(struct sim_node *node, const struct sim_outcome *out,
                           const struct sim_auth *auth)
{
    const struct sim_contract *contract = sim_contract_find(&node->chain.host, auth->party);
    if (!contract || contract->role == TIDE_ROLE_wallet)
        return false;
    for (uint32_t f = auth->frame, up; (up = out->frames[f].parent) != f; f = up) {
        if (out->frames[up].contract == contract)
            return true;
    }
    return false;
}

/* Finds a grant for one required authorisation and uses its step. The credentials are checked at
 * the first use. */
static const char *cover_auth(struct sim_node *node, const struct sim_outcome *out,
                              const struct sim_auth *auth, uint32_t ledger)
{
    struct node_auths *auths = &node->auths;
    if (node_auth_by_contract(node, out, auth))
        return NULL;
    for (uint32_t g = 0; g < auths->grant_count; g++) {
        struct node_grant *grant = &auths->grants[g];
        if (!sim_addr_eq(grant->party, auth->party))
            continue;
        uint32_t step = find_step(node, out, g, auth->frame);
        if (step == NOT_YET)
            continue;
        const char *why = grant->used ? NULL : authenticate(node, grant, ledger);
        if (why)
            return why;
        grant->used = true;
        auths->steps[step].frame = auth->frame;
        return NULL;
    }
    return NODE_NO_AUTH;
}

const char *node_auths_cover(struct sim_node *node, const struct sim_outcome *out, uint32_t ledger)
{
    for (uint32_t i = 0; i < out->auth_count; i++) {
        const char *why = cover_auth(node, out, &out->auths[i], ledger);
        if (why)
            return why;
    }
    return NULL;
}

/* --- nonces --------------------------------------------------------------------------------- */

bool node_nonce_use(struct sim_node *node, const struct node_grant *grant)
{
    if (node->nonce_count == NODE_NONCES_MAX)
        return false;
    node->nonces[node->nonce_count++] = (struct node_nonce){ .party = grant->party,
                                                             .nonce = grant->nonce,
                                                             .expires = grant->expires,
                                                             .ledger = node->chain.ledger };
    return true;
}

/* The order of the nonces does not matter, so the last one fills the gap. */
void node_nonces_age(struct sim_node *node)
{
    for (uint32_t i = 0; i < node->nonce_count;) {
        if (node->nonces[i].expires < node->chain.ledger)
            node->nonces[i] = node->nonces[--node->nonce_count];
        else
            i++;
    }
}
