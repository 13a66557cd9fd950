/* Recording: the authorisation entries that a simulated call requires, unsigned. */
#include "tidemark/scval.h"
#include "tidemark/xdr.h"
#include "tools/sim/node/node_impl.h"

#define NONE UINT32_MAX /* no step */

/* Returns a random nonce (splitmix64), positive. */
static int64_t next_nonce(struct sim_node *node)
{
    uint64_t z = (node->random += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (int64_t)((z ^ (z >> 31)) >> 1);
}

/* Returns the step of the nearest frame above for which the same address has an entry, or NONE. */
static uint32_t step_above(const struct node_auths *auths, const struct sim_outcome *out,
                           const struct sim_auth *auth)
{
    for (uint32_t f = auth->frame, up; (up = out->frames[f].parent) != f; f = up) {
        for (uint32_t s = 0; s < auths->step_count; s++) {
            if (auths->steps[s].frame == up &&
                sim_addr_eq(auths->grants[auths->steps[s].grant].party, auth->party))
                return s;
        }
    }
    return NONE;
}

/* Adds a required authorisation to the tree of its party, or begins a tree. The network's
 * simulation records trees only at the root call, hence NODE_NOT_ROOT. */
static const char *record_auth(struct sim_node *node, const struct sim_outcome *out,
                               const struct sim_auth *auth, const uint8_t *source)
{
    struct node_auths *auths = &node->auths;
    uint32_t above = step_above(auths, out, auth);
    if (auths->step_count == NODE_STEPS_MAX || auths->grant_count == NODE_AUTHS_MAX)
        return NODE_NO_RESOURCES;
    if (above == NONE) {
        if (auth->frame != 0)
            return NODE_NOT_ROOT;
        struct node_grant *grant = &auths->grants[auths->grant_count++];
        *grant =
            (struct node_grant){ .party = auth->party, .root = auths->step_count, .used = true };
        grant->arm = !sim_addr_eq(auth->party, node_account(source));
        grant->nonce = grant->arm ? next_nonce(node) : 0;
    }
    uint32_t at = auths->step_count++;
    auths->steps[at] = (struct node_step){ .parent = above == NONE ? at : above,
                                           .grant = above == NONE ? auths->grant_count - 1
                                                                  : auths->steps[above].grant,
                                           .frame = auth->frame };
    return NULL;
}

/* Appends a step and those below it as SorobanAuthorizedInvocation. */
static void put_step(struct sim_node *node, const struct sim_outcome *out, uint32_t at)
{
    assert(at < node->auths.step_count);
    const struct node_auths *auths = &node->auths;
    const struct sim_frame *frame = &out->frames[auths->steps[at].frame];
    struct tide_buf *buf = &node->auth_xdr;
    uint32_t below = 0;
    tide_buf_be32(buf, 0); /* a function of a contract */
    chain_put_addr(buf, frame->contract->address);
    tide_xdr_put_var(buf, tide_slice_str(frame->fn));
    tide_buf_be32(buf, frame->arg_count);
    for (uint32_t i = 0; i < frame->arg_count; i++)
        sim_val_xdr(buf, &frame->args[i]);
    for (uint32_t s = at + 1; s < auths->step_count; s++)
        below += auths->steps[s].parent == at;
    tide_buf_be32(buf, below);
    for (uint32_t s = at + 1; s < auths->step_count; s++) {
        if (auths->steps[s].parent == at)
            put_step(node, out, s);
    }
}

/* Appends an entry with an empty signature. */
static void put_grant(struct sim_node *node, const struct sim_outcome *out, uint32_t i)
{
    assert(i < node->auths.grant_count);
    const struct node_grant *grant = &node->auths.grants[i];
    struct tide_buf *buf = &node->auth_xdr;
    tide_buf_be32(buf, grant->arm);
    if (grant->arm) {
        chain_put_addr(buf, grant->party);
        tide_buf_be64(buf, (uint64_t)grant->nonce);
        lcm_words(buf, 0, TIDE_SCV_VOID); /* the signer sets the expiry */
    }
    put_step(node, out, grant->root);
}

const char *node_auths_record(struct sim_node *node, const struct sim_outcome *out,
                              const uint8_t *source)
{
    struct node_auths *auths = &node->auths;
    size_t at[NODE_AUTHS_MAX + 1] = { 0 };
    auths->grant_count = auths->step_count = 0;
    for (uint32_t i = 0; i < out->auth_count; i++) {
        const char *why = NULL;
        if (!node_auth_by_contract(node, out, &out->auths[i]))
            why = record_auth(node, out, &out->auths[i], source);
        if (why)
            return why;
    }
    tide_buf_reset(&node->auth_xdr);
    for (uint32_t i = 0; i < auths->grant_count; i++) {
        put_grant(node, out, i);
        at[i + 1] = node->auth_xdr.len;
    }
    /* The slices are made once the buffer no longer moves. */
    for (uint32_t i = 0; i < auths->grant_count; i++)
        node->items[i] = tide_slice_of(node->auth_xdr.ptr + at[i], at[i + 1] - at[i]);
    return node->auth_xdr.failed ? NODE_NO_RESOURCES : NULL;
}
