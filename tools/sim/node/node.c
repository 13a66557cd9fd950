/* A node: opening, closing, and the next ledger. */
#include "tools/sim/node/node_impl.h"

/* Allocates everything. A failure leaves a node that node_close can close. */
static tide_status open_all(struct sim_node *node, const struct chain_options *options)
{
    struct chain_options own = *options;
    snprintf(node->passphrase, sizeof node->passphrase, "%s", options->passphrase);
    own.passphrase = node->passphrase;
    for (size_t i = 0; i < TIDE_COUNT(node->buffers); i++)
        tide_buf_init(&node->buffers[i], SIM_ARENA);
    node->random = options->seed ^ 0x74696465; /* another sequence than the workload's */
    node->queue = calloc(NODE_QUEUE_MAX, sizeof *node->queue);
    node->bans = calloc(NODE_BANS_MAX, sizeof *node->bans);
    node->nonces = calloc(NODE_NONCES_MAX, sizeof *node->nonces);
    tide_status status = chain_open(&node->chain, &own);
    if (!node->queue || !node->bans || !node->nonces)
        status = TIDE_E_MEMORY;
    if (status == TIDE_OK)
        status = node_friendbot_open(node);
    node->chain.guests = node_guests(node);
    return status;
}

tide_status node_open(struct sim_node **out, const struct chain_options *options,
                      struct tide_err *err)
{
    struct sim_node *node = calloc(1, sizeof *node);
    if (!node)
        return tide_fail(err, TIDE_E_MEMORY, "no memory for the chain");
    tide_status status = open_all(node, options);
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
    for (size_t i = 0; i < TIDE_COUNT(node->buffers); i++)
        tide_buf_release(&node->buffers[i]);
    for (uint32_t i = 0; i < node->waiting; i++)
        free(node->queue[i].bytes);
    free(node->queue);
    free(node->bans);
    free(node->nonces);
    chain_close(&node->chain);
    free(node);
}

tide_status node_ledger(struct sim_node *node, tide_slice *lcm)
{
    for (uint32_t i = 0; i < node->waiting; i++)
        node->queue[i].chosen = node->queue[i].done = false;
    tide_status status = chain_ledger(&node->chain, lcm);
    if (status == TIDE_OK)
        node_age(node);
    return status;
}

void node_pace(struct sim_node *node, uint32_t seconds)
{
    node->chain.pace = seconds;
}

void node_hold(struct sim_node *node, uint32_t ledgers)
{
    node->hold = ledgers;
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

const struct parties *node_parties(const struct sim_node *node)
{
    return &node->chain.parties;
}
