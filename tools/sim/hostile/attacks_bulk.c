/* Bulk: one operation with as many events or entries as --hostile-bulk says, most of them equal.
 * The time that an index needs for them must grow in proportion to their number. */
#include "tools/sim/hostile/hostile_impl.h"

enum { BULK = 100, BULKS = 3 }; /* repetitions by default; bulk attacks of a chain */

/* A bulk transaction that is being made. */
struct bulk {
    struct attack a;
    uint32_t count;
    /* one contract of each role; NULL: there is none */
    const struct sim_contract *ours[TIDE_ROLE_COUNT];
};

/* Finds the first deployed contract of each role. */
static void find_contracts(struct bulk *c, struct hostile *h)
{
    for (uint32_t place = 0; place < PARTY_TOKEN + PARTY_MARKETS; place++) {
        const struct sim_contract *one =
            sim_contract_find(&h->chain->host, chain_addr(h->chain, parties_contract(place)));
        if (one && one->role < TIDE_ROLE_COUNT && !c->ours[one->role])
            c->ours[one->role] = one;
    }
}

/* Begins a call that lists all these contracts as running. */
static void begin_bulk(struct bulk *c, struct hostile *h)
{
    *c = (struct bulk){ .count = h->options.bulk ? h->options.bulk : BULK };
    find_contracts(c, h);
    attack_begin(&c->a, h);
    c->a.own_instance = true;
    for (uint32_t role = 0; role < TIDE_ROLE_COUNT; role++)
        if (c->ours[role])
            attack_instance(&c->a, c->ours[role]->address.key);
    attack_call(&c->a, c->ours[TIDE_ROLE_earnings_distributor]->address.key, TIDE_SLICE("bulk"));
}

/* Writes the events. Every second one of a kind has the same fields, because its dice are reset to
 * a state of the kind. The kinds take turns, so that equal events stand both near and far from each
 * other. */
static void put_events(struct bulk *c)
{
    struct hostile *h = c->a.h;
    for (uint32_t i = 0; i < c->count; i++)
        for (uint32_t k = 0; k < TIDE_EV_COUNT; k++) {
            const struct tide_kind *kind = &tide_events()[k];
            const struct sim_contract *ours = c->ours[kind->role];
            struct dice others = h->dice;
            if (!ours || kind->system)
                continue;
            if (i % 2 == 0)
                h->dice.state = k;
            hostile_put_event_of(h, &c->a.chain->events_xdr, ours->address.key, kind,
                                 STYLE_EXTREME);
            if (i % 2 == 0)
                h->dice = others;
            c->a.events++;
        }
}

/* Writes the entries of each kind: versions of one entry, or new entries. */
static void put_entries(struct bulk *c, bool versions)
{
    struct hostile *h = c->a.h;
    struct tide_buf address;
    tide_buf_init(&address, 64);
    for (uint32_t k = 0; k < TIDE_EN_COUNT; k++) {
        const struct tide_kind *kind = &tide_entries()[k];
        const struct sim_contract *ours = c->ours[kind->role];
        if (!ours)
            continue;
        tide_buf_reset(&address);
        lcm_put_address_contract(&address, ours->address.key);
        for (uint32_t i = 0; i < c->count; i++) {
            if (i == 0 || !versions)
                hostile_put_entry(h, kind, STYLE_EXTREME);
            const struct lcm_data data = { tide_buf_view(&address), tide_buf_view(&h->key),
                                           kind->temporary ? SIM_TEMPORARY : SIM_PERSISTENT };
            if (i == 0 || !versions) {
                attack_key(&c->a, true, &data);
                attack_create(&c->a, &data, tide_buf_view(&h->value));
            } else {
                attack_update(&c->a, &data, tide_buf_view(&h->value));
            }
        }
    }
    tide_buf_release(&address);
}

/* The first bulk has events, the second new entries, the third versions. */
void hostile_bulk(struct hostile *h)
{
    struct bulk c;
    if (!hostile_all(h) || h->bulks == BULKS || h->bulk_at == h->chain->ledger)
        return;
    begin_bulk(&c, h);
    if (h->bulks == 0)
        put_events(&c);
    else
        put_entries(&c, h->bulks == 2);
    assert(!h->chain->events_xdr.failed && !h->chain->changes.failed); /* 480 of each fit */
    attack_end(&c.a, LCM_OP_INVOKE, 0);
    h->bulks++;
    h->bulk_at = h->chain->ledger;
}
