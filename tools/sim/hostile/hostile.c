/* The attackers of a chain: their accounts, and the choice of the next attack. */
#include "tools/sim/hostile/hostile_impl.h"

#include <stdlib.h>
#include <string.h>

/* attacks of a ledger; ledgers that the population needs to start */
enum { MOST_A_LEDGER = 6, AFTER_DEPLOYMENT = 16 };

/* An attack, as attacks.def lists it. */
struct kind {
    const char *name;
    uint32_t weight;
    void (*run)(struct hostile *h);
};

static const struct kind kinds[HOSTILE_ATTACKS] = {
#define HOSTILE_ATTACK(name, weight, doc) { #name, weight, hostile_##name },
#include "tidemark/limits.h"
#include "tools/sim/hostile/attacks.def"
#undef HOSTILE_ATTACK
};

/* A name is compared whole: "code" is no prefix of another one's. */
tide_status hostile_parse(uint32_t *attacks, const char *list, struct tide_err *err)
{
    *attacks = 0;
    for (const char *at = list; *at;) {
        size_t len = strcspn(at, ",");
        uint32_t i = 0;
        while (i < HOSTILE_ATTACKS &&
               !(strlen(kinds[i].name) == len && memcmp(kinds[i].name, at, len) == 0))
            i++;
        if (i == HOSTILE_ATTACKS)
            return tide_fail(err, TIDE_E_USAGE, "--hostile-attacks: unknown attack %.*s", (int)len,
                             at);
        *attacks |= 1u << i;
        at += len + (at[len] == ',');
    }
    return TIDE_OK;
}

/* Creates the attackers' accounts. They exist in the ledger's changes only, not in the model. */
static tide_status create_accounts(struct hostile *h)
{
    const struct chain_options *options = &h->chain->options;
    for (uint32_t i = 0; i < HOSTILE_ACCOUNTS; i++) {
        char name[32];
        h->accounts[i] = (struct lcm_account){ .balance = 50000000LL * 10000000,
                                               .seq = (int64_t)options->first_ledger << 32,
                                               .modified = options->first_ledger - 1 };
        snprintf(name, sizeof name, "attacker %u", i);
        if (parties_key(&h->chain->parties, h->accounts[i].key, options->seed, name) != TIDE_OK)
            return TIDE_E_MEMORY;
    }
    return TIDE_OK;
}

/* Returns the attack's weight; 0 if it cannot happen now. A named attack of weight 0 gets weight
 * 1. */
static uint32_t weight_of(const struct hostile *h, uint32_t i)
{
    uint32_t chosen = h->options.attacks ? h->options.attacks : UINT32_MAX;
    if (!(chosen >> i & 1) || (i == HOSTILE_scorch && !hostile_all(h)))
        return 0;
    if (i == HOSTILE_flood && (h->flooded || !h->options.attacks))
        return 0;
    return kinds[i].weight || !h->options.attacks ? kinds[i].weight : 1;
}

/* Runs one random attack. */
static void attack_once(struct hostile *h)
{
    uint32_t total = 0, i = 0;
    for (uint32_t k = 0; k < HOSTILE_ATTACKS; k++)
        total += weight_of(h, k);
    if (total == 0)
        return;
    uint32_t luck = dice_of(&h->dice, total);
    while (luck >= weight_of(h, i))
        luck -= weight_of(h, i++);
    kinds[i].run(h);
}

/* Returns true while the protocol is being deployed, when there is nothing to attack. */
static bool is_before_attacks(const struct hostile *h)
{
    return !h->chain->deployed ||
           h->chain->ledger < h->chain->options.first_ledger + AFTER_DEPLOYMENT;
}

/* Callback of the chain: adds the attacks of the ledger that is being made, behind its last
 * ordinary transaction. */
static void attack_ledger(void *attackers)
{
    struct hostile *h = attackers;
    if (is_before_attacks(h))
        return;
    uint32_t count = dice_of(&h->dice, MOST_A_LEDGER + 1);
    for (uint32_t i = 0; i < count; i++)
        attack_once(h);
    hostile_evict(h);
}

tide_status hostile_open(struct hostile **out, struct chain *chain,
                         const struct hostile_options *options)
{
    *out = NULL;
    if (!options->seed)
        return TIDE_OK;
    struct hostile *h = calloc(1, sizeof *h);
    *out = h;
    if (!h)
        return TIDE_E_MEMORY;
    h->chain = chain;
    h->options = *options;
    h->dice.state = options->seed * 0x2545f4914f6cdd1du + options->seed;
    h->entries = calloc(HOSTILE_ENTRIES, sizeof *h->entries);
    for (size_t i = 0; i < TIDE_COUNT(h->buffers); i++)
        tide_buf_init(&h->buffers[i], TIDE_LEDGER_BYTES_MAX);
    chain->attack = attack_ledger;
    chain->attackers = h;
    return h->entries ? create_accounts(h) : TIDE_E_MEMORY;
}

void hostile_close(struct hostile *h)
{
    if (!h)
        return;
    hostile_forget(h);
    for (size_t i = 0; i < TIDE_COUNT(h->buffers); i++)
        tide_buf_release(&h->buffers[i]);
    free(h);
}
