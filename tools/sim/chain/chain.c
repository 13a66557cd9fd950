/* Making a chain: opening the model, and the steps of one ledger, with fees first and refunds
 * last. */
#include "tools/sim/chain/chain.h"
#include "tidemark/xdr.h"

/* Returns the role of contract number `place` of the parties. Contracts behind the tokens are
 * wallets. */
static enum tide_role role_of(uint32_t place)
{
    static const enum tide_role roles[PARTY_TOKEN] = {
        TIDE_ROLE_liquidity_pool,   TIDE_ROLE_synthetic_engine,
        TIDE_ROLE_stability_pool,   TIDE_ROLE_compliance_registry,
        TIDE_ROLE_partner_registry, TIDE_ROLE_earnings_distributor,
        TIDE_ROLE_oracle,           TIDE_ROLE_dao_governance,
        TIDE_ROLE_stellar_asset,    TIDE_ROLE_stellar_asset,
    };
    assert(place < PARTY_CONTRACTS);
    if (place < PARTY_TOKEN)
        return roles[place];
    return place < PARTY_TOKEN + PARTY_MARKETS ? TIDE_ROLE_synth_token : TIDE_ROLE_wallet;
}

/* Creates the accounts as genesis would, and registers the contracts, which the deployment
 * creates. */
static void create_world(struct chain *chain)
{
    static const int64_t start = 4000000LL * 10000000; /* stroops that every account starts with */
    struct sim_host *host = &chain->host;
    uint32_t usdc = sim_asset_add(host, "USDC", chain_addr(chain, PARTY_ISSUER));
    for (uint32_t i = 0; i < chain->parties.account_count; i++) {
        struct sim_account *account = sim_account_add(host, chain_addr(chain, (party_ref)i), start);
        /* an account's first sequence number is its ledger's number, shifted */
        account->seq = (int64_t)chain->options.first_ledger << 32;
        if (i == PARTY_ISSUER) {
            account->flags = 2; /* AUTH_REVOCABLE */
            account->subentries = 1;
        } else {
            sim_trust(account, usdc);
        }
        chain->accounts[i] = account;
    }
    for (uint32_t i = 0; i < PARTY_CONTRACTS; i++) {
        struct sim_contract *contract =
            sim_contract_add(host, chain_addr(chain, parties_contract(i)), role_of(i),
                             chain->parties.contracts[i].name);
        contract->asset = i == PARTY_USDC ? usdc : 0;
        /* The first market's token emits the protocol's events, each other one those of another
         * library, as tokens that the chain names may. */
        bool token = i >= PARTY_TOKEN && i < (uint32_t)PARTY_TOKEN + PARTY_MARKETS;
        contract->forms = token ? i - PARTY_TOKEN : 0;
    }
    lcm_put_asset4(&chain->asset, "USDC", chain->parties.accounts[PARTY_ISSUER].id);
}

tide_status chain_open(struct chain *chain, const struct chain_options *options)
{
    *chain = (struct chain){ .options = *options,
                             .random = options->seed * 0x2545f4914f6cdd1du + 1,
                             .ledger = options->first_ledger - 1,
                             .now = options->start_time,
                             .pace = options->full ? options->close_step : 0 };
    /* Slots must hold the founders' calls of one ledger and some urgent calls. */
    uint32_t founders = chain_founders(options->txs);
    uint32_t users = options->addresses ? options->addresses : founders;
    assert(users >= founders);
    chain->slot_max = founders + 64;
    if (parties_open(&chain->parties, options->passphrase, options->seed, users) != TIDE_OK)
        return TIDE_E_MEMORY;
    chain->accounts = calloc(chain->parties.account_count, sizeof(struct sim_account *));
    chain->slots = calloc(chain->slot_max, sizeof *chain->slots);
    if (!chain->accounts || !chain->slots || tide_arena_open(&chain->arena, SIM_ARENA) != TIDE_OK ||
        workload_open(&chain->workload, &chain->parties, options->seed, options->profile,
                      founders) != TIDE_OK)
        return TIDE_E_MEMORY;
    chain->workload.strict_auth = options->strict_auth;
    chain->workload.catalog_native = options->catalog_native;
    for (uint32_t i = 0; i < chain->slot_max; i++)
        workload_call_init(&chain->slots[i].call);
    for (size_t i = 0; i < TIDE_COUNT(chain->buffers); i++)
        tide_buf_init(&chain->buffers[i], SIM_ARENA);
    tide_buf_init(&chain->asset, 64);
    sim_open(&chain->host, chain->parties.network_id, sim_classes);
    chain->host.strict_auth = options->strict_auth;
    if (options->life) {
        chain->host.persistent_life = options->life;
        /* shorter than persistent, as on the network */
        chain->host.temporary_life = options->life / 4 + 1;
    }
    create_world(chain);
    chain->lcm.version = options->version;
    chain->lcm.shuffle = options->shuffle;
    chain->lcm.milliseconds = options->milliseconds;
    snprintf(chain->lcm.passphrase, sizeof chain->lcm.passphrase, "%s", options->passphrase);
    chain->lcm.keys = &chain->parties.keys;
    lcm_open(&chain->lcm);
    return chain_strangers(chain);
}

void chain_close(struct chain *chain)
{
    for (uint32_t i = 0; chain->slots && i < chain->slot_max; i++)
        workload_call_release(&chain->slots[i].call);
    free(chain->slots);
    free(chain->accounts);
    free(chain->lapsed);
    sim_close(&chain->host);
    lcm_close(&chain->lcm);
    for (size_t i = 0; i < TIDE_COUNT(chain->buffers); i++)
        tide_buf_release(&chain->buffers[i]);
    tide_buf_release(&chain->asset);
    tide_arena_close(&chain->arena);
    workload_close(&chain->workload);
    parties_close(&chain->parties);
}

/* Returns true if a client's transactions use the account, or an account that the arguments
 * name. */
static bool is_held(struct chain *chain, uint32_t account, tide_slice args)
{
    const struct chain_guests *guests = &chain->guests;
    return guests->holds && guests->holds(guests->self, account, args);
}

/* Returns whether the outsider sends the call for its caller: one call in eight, not by chance, so
 * that the chain's random numbers stay the same. */
static bool is_relayed(struct chain *chain, const struct chain_slot *slot)
{
    uint32_t place = (uint32_t)(slot - chain->slots);
    return (chain->ledger + 3 * place) % 8 == 0 && slot->call.source != PARTY_OUTSIDER &&
           !is_held(chain, PARTY_OUTSIDER, (tide_slice){ 0 });
}

/* Charges the fee of a call. The bid must not depend on the call's effects, because fees are
 * charged before any call runs. One call in forty is wrapped in a fee bump that a further account
 * pays. */
static void charge_fee(struct chain *chain, struct chain_slot *slot)
{
    slot->bumped = chain_random(chain) % 40 == 0;
    assert(slot->call.source < chain->parties.account_count);
    bool relayed = is_relayed(chain, slot);
    slot->sender = chain->accounts[relayed ? (uint32_t)PARTY_OUTSIDER : slot->call.source];
    slot->payer =
        !slot->bumped ? slot->sender : chain->accounts[relayed ? PARTY_DEPLOYER : PARTY_OUTSIDER];
    /* inclusion fee, resources, bytes of arguments */
    slot->fee = 100 + 60000 + (int64_t)slot->call.args.len * 10;
    assert(slot->fee <= UINT32_MAX && "a bid is a 32-bit number");
    slot->before = chain_account(slot->payer);
    slot->payer->balance -= slot->fee;
    slot->payer->modified = chain->ledger;
    slot->after = chain_account(slot->payer);
}

/* Gives back the unused part of the fee. In version 1, the refund stands with the transaction
 * instead. */
static void refund_fee(struct chain *chain, struct chain_slot *slot, uint32_t index)
{
    assert(slot->payer && index < chain->lcm.tx_count);
    if (chain->lcm.version == 1 || slot->refund == 0)
        return;
    uint32_t count = 0;
    tide_buf_reset(&chain->fee_changes);
    chain_move(chain, &chain->fee_changes, &count, slot->payer, slot->refund);
    lcm_refund(&chain->lcm, index, &(struct lcm_list){ tide_buf_view(&chain->fee_changes), count });
}

/* Gathers the calls of one ledger of the deployment. The workload marks the calls that must be a
 * ledger's last. */
static void gather_deployment(struct chain *chain)
{
    bool more = true, end = false;
    while (more && !end && chain->slot_count < chain->slot_max) {
        struct workload_call *call = &chain->slots[chain->slot_count].call;
        more = workload_deploy(&chain->workload, chain->now, call);
        /* workload_deploy returns a step without a call too; its slot is used for the next step. */
        chain->slot_count += more && (call->create || call->fn[0]);
        end = more && call->ledger_end && chain->slot_count > 0;
    }
    chain->deployed = !more;
}

/* While clients are active, the workload leaves their accounts and the protocol's switches
 * alone. */
static void respect_guests(struct chain *chain)
{
    const struct chain_guests *guests = &chain->guests;
    if (!guests->present || !guests->present(guests->self))
        return;
    /* Clients may act as the admin or the DAO; the workload then changes nothing that these could
     * have stopped. */
    workload_keep_calm(&chain->workload, is_held(chain, PARTY_ADMIN, (tide_slice){ 0 }) ||
                                             is_held(chain, PARTY_DAOWALLET, (tide_slice){ 0 }));
}

/* Gets the workload's next call. Returns false if the call must be left out because a client uses
 * its accounts. A call that undoes a disturbance is made whatever its arguments name. */
static bool next_call(struct chain *chain, struct workload_call *call)
{
    uint32_t heals = chain->workload.heal_count;
    workload_next(&chain->workload, call);
    bool healing = chain->workload.heal_count < heals;
    return !is_held(chain, call->source, healing ? (tide_slice){ 0 } : tide_buf_view(&call->args));
}

/* Returns how many calls this ledger gets: exactly txs, or 0 to 2 * txs. */
static uint32_t wanted_calls(struct chain *chain)
{
    uint32_t most = chain->options.txs * 2;
    if (chain->options.full)
        return chain->options.txs;
    return most ? (uint32_t)(chain_random(chain) % (most + 1)) : 0;
}

/* Gathers the calls of one ledger of the population. Urgent calls, such as price updates, may
 * exceed the wanted number. */
static void gather_population(struct chain *chain)
{
    struct workload *workload = &chain->workload;
    uint32_t wanted = wanted_calls(chain);
    workload_ledger(workload, chain->ledger, chain->now);
    respect_guests(chain);
    while ((chain->slot_count < wanted || workload_urgent(workload)) &&
           chain->slot_count < chain->slot_max) {
        if (next_call(chain, &chain->slots[chain->slot_count].call))
            chain->slot_count++;
        else if (wanted) /* a call left out is not made up for, so the loop ends */
            wanted--;
    }
}

/* Returns whether the next ledger closes in the second of the newest one, half a second later. */
static bool closes_within_second(const struct chain *chain)
{
    return chain->options.milliseconds && chain->deployed && chain->lcm.close_ms < SIM_HALF_SECOND;
}

/* Returns the close time of the next ledger: see not_before and pace. Time advances, by
 * milliseconds within a second. */
static uint64_t close_time(struct chain *chain)
{
    if (chain->not_before)
        return chain->not_before > chain->now ? chain->not_before : chain->now + 1;
    if (chain->pace)
        return chain->now + chain->pace;
    if (closes_within_second(chain))
        return chain->now;
    uint32_t step = chain->options.close_step;
    chain->workload.even =
        chain->ledger - chain->options.first_ledger + WORKLOAD_EVEN >= chain->options.past;
    return chain->now + (chain->deployed ? workload_pause(&chain->workload, step) : step);
}

static void charge_all(struct chain *chain)
{
    for (uint32_t i = 0; i < chain->slot_count; i++)
        charge_fee(chain, &chain->slots[i]);
}

/* Charges all fees and applies the classic transactions. Strangers draw random numbers of the
 * chain, like fees, so the order of the calls here decides bytes. */
static void begin_ledger(struct chain *chain)
{
    const struct chain_guests *guests = &chain->guests;
    if (!guests->gather || guests->gather(guests->self) == 0) {
        chain_add_foreign(chain);
        charge_all(chain);
        return;
    }
    guests->charge(guests->self);
    charge_all(chain);
    guests->classic(guests->self);
    chain_add_foreign(chain);
}

static void end_ledger(struct chain *chain, uint32_t first)
{
    assert(chain->slot_count <= chain->slot_max);
    const struct chain_guests *guests = &chain->guests;
    /* A payer may have several transactions: refunds follow the order of the transactions. */
    if (guests->refund)
        guests->refund(guests->self);
    for (uint32_t i = 0; i < chain->slot_count; i++)
        refund_fee(chain, &chain->slots[i], first + i);
    if (chain->options.observer.ledger)
        chain->options.observer.ledger(chain->options.observer.self, chain->ledger, chain->now);
}

tide_status chain_ledger(struct chain *chain, tide_slice *lcm)
{
    uint64_t before = chain->now;
    chain->ledger++;
    chain->now = close_time(chain);
    chain->slot_count = 0;
    chain->index = 0;
    sim_ledger(&chain->host, chain->ledger, chain->now);
    lcm_begin(&chain->lcm, chain->ledger, chain->now);
    if (chain->options.milliseconds)
        chain->lcm.close_ms = chain->now == before
                                  ? chain->lcm.close_ms + SIM_HALF_SECOND
                                  : (uint32_t)(chain->ledger * 37u % SIM_HALF_SECOND);
    if (chain->deployed)
        gather_population(chain);
    else
        gather_deployment(chain);
    begin_ledger(chain);
    /* Client calls come first, so they mostly find the state on which they were simulated. */
    if (chain->guests.invoke)
        chain->guests.invoke(chain->guests.self);
    uint32_t first = chain->index;
    for (uint32_t i = 0; i < chain->slot_count; i++)
        chain_call(chain, &chain->slots[i]);
    /* The deployer pays for restorations and extensions: a client that uses the deployer's account
     * would lose its sequence number. */
    if (chain->deployed && !is_held(chain, PARTY_DEPLOYER, (tide_slice){ 0 }))
        chain_ttl(chain);
    if (chain->attack)
        chain->attack(chain->attackers);
    end_ledger(chain, first);
    return lcm_end(&chain->lcm, lcm);
}
