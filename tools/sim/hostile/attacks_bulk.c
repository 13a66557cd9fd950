/* Bulk: as many events and entries in one operation as --hostile-bulk says, most of them equal.
 * Work for them must grow as their number does. */
#include "tools/sim/hostile/hostile_impl.h"

enum { BULK = 100, BULKS = 3 };

struct bulk {
    struct attack a;
    uint32_t count;
    const struct sim_contract *ours[TIDE_ROLE_COUNT]; /* one of each role; NULL: there is none */
};

static void find_ours(struct bulk *c, struct hostile *h)
{
    for (uint32_t place = 0; place < PARTY_TOKEN + PARTY_MARKETS; place++) {
        const struct sim_contract *one =
            sim_contract_find(&h->chain->host, chain_addr(h->chain, parties_contract(place)));
        if (one && one->role < TIDE_ROLE_COUNT && !c->ours[one->role])
            c->ours[one->role] = one;
    }
}

static void begin(struct bulk *c, struct hostile *h)
{
    *c = (struct bulk){ .count = h->options.bulk ? h->options.bulk : BULK };
    find_ours(c, h);
    attack_begin(&c->a, h);
    c->a.own_instance = true;
    for (uint32_t role = 0; role < TIDE_ROLE_COUNT; role++)
        if (c->ours[role])
            attack_instance(&c->a, c->ours[role]->address.key);
    attack_call(&c->a, c->ours[TIDE_ROLE_earnings_distributor]->address.key, TIDE_SLICE("bulk"));
}

/* Every second one has the fields of all others of its kind. Kinds take turns: what belongs to what
 * comes next in an operation is far from it, or near. */
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

/* versions: of one entry of each kind, else as many new entries. */
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

void hostile_bulk(struct hostile *h)
{
    struct bulk c;
    if (!hostile_all(h) || h->bulks == BULKS || h->bulk_at == h->chain->ledger)
        return;
    begin(&c, h);
    if (h->bulks == 0)
        put_events(&c);
    else
        put_entries(&c, h->bulks == 2);
    assert(!h->chain->events_xdr.failed && !h->chain->changes.failed); /* 480 of each fit */
    attack_end(&c.a, LCM_OP_INVOKE, 0);
    h->bulks++;
    h->bulk_at = h->chain->ledger;
}
