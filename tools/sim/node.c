#include "tools/sim/node.h"

struct sim_node {
    struct chain chain;
    char passphrase[256];
};

tide_status node_open(struct sim_node **out, const struct chain_options *options,
                      struct tide_err *err)
{
    struct sim_node *node = calloc(1, sizeof *node);
    if (!node)
        return tide_fail(err, TIDE_E_MEMORY, "no memory for the chain");
    struct chain_options own = *options;
    snprintf(node->passphrase, sizeof node->passphrase, "%s", options->passphrase);
    own.passphrase = node->passphrase;
    tide_status status = chain_open(&node->chain, &own);
    if (status != TIDE_OK) {
        node_close(node);
        return tide_fail(err, status, "no memory for the chain");
    }
    *out = node;
    return TIDE_OK;
}

void node_close(struct sim_node *node)
{
    if (!node)
        return;
    chain_close(&node->chain);
    free(node);
}

tide_status node_ledger(struct sim_node *node, tide_slice *lcm)
{
    return chain_ledger(&node->chain, lcm);
}

void node_pace(struct sim_node *node, uint32_t seconds)
{
    node->chain.pace = seconds;
}

struct node_latest node_latest(const struct sim_node *node)
{
    const struct chain *chain = &node->chain;
    struct node_latest out = { .protocol = lcm_protocol(&chain->lcm) };
    if (chain->ledger < chain->options.first_ledger)
        return out;
    out.sequence = chain->ledger;
    out.close_time = chain->now;
    memcpy(out.hash, chain->lcm.previous_hash, TIDE_HASH_BYTES);
    return out;
}

const struct cast *node_cast(const struct sim_node *node)
{
    return &node->chain.cast;
}

void node_hold(struct sim_node *node, uint32_t ledgers)
{
    (void)node;
    (void)ledgers;
}

const char *node_status_name(enum node_status status)
{
    static const char *const names[] = { "PENDING", "DUPLICATE", "TRY_AGAIN_LATER", "ERROR" };
    return names[status];
}

/* Not made yet: each of these says so. */

tide_status node_send(struct sim_node *node, tide_slice envelope, struct node_sent *out)
{
    (void)node;
    (void)envelope;
    *out = (struct node_sent){ 0 };
    return TIDE_E_UNKNOWN;
}

tide_status node_simulate(struct sim_node *node, const struct node_simulate *in,
                          struct node_simulated *out)
{
    (void)node;
    (void)in;
    *out = (struct node_simulated){ 0 };
    return TIDE_E_UNKNOWN;
}

tide_status node_entry(struct sim_node *node, tide_slice key, struct node_entry *out)
{
    (void)node;
    (void)key;
    *out = (struct node_entry){ 0 };
    return TIDE_E_MISSING;
}

tide_status node_fund(struct sim_node *node, const uint8_t key[TIDE_HASH_BYTES],
                      uint8_t hash[TIDE_HASH_BYTES])
{
    (void)node;
    (void)key;
    memset(hash, 0, TIDE_HASH_BYTES);
    return TIDE_E_UNKNOWN;
}
