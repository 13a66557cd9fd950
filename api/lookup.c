#include "api/lookup.h"

uint64_t tide_lookup_now(const struct tide_hot_meta *meta, const struct tide_clock *clock)
{
    int64_t wall = clock->wall_ms(clock->self) / 1000;
    return wall > 0 && (uint64_t)wall > meta->close_time ? (uint64_t)wall : meta->close_time;
}

uint64_t tide_lookup_age_ms(const struct tide_hot_meta *meta, const struct tide_clock *clock)
{
    int64_t age = clock->wall_ms(clock->self) - meta->fed_ms;
    return age > 0 ? (uint64_t)age : 0;
}

enum tide_lookup_trust tide_lookup_trust(const struct tide_hot_meta *meta, uint64_t max_age_ms,
                                         const struct tide_clock *clock)
{
    if (!meta->compliance_complete)
        return TIDE_TRUST_INCOMPLETE;
    return tide_lookup_age_ms(meta, clock) > max_age_ms ? TIDE_TRUST_STALE : TIDE_TRUST_YES;
}

void tide_lookup_standing(struct tide_hot_reader *reader, const struct tide_hot_meta *meta,
                          const struct tide_hot_address *who, uint64_t now,
                          struct tide_standing *out, const struct tide_hot_person **person)
{
    struct tide_hot_key key = tide_hot_key_address(TIDE_HOT_PERSON, who);
    *person = tide_hot_get(reader, &key);
    bool blocked = tide_hot_blocked(reader, meta, *person ? (*person)->jurisdiction : 0);
    tide_rule_standing(out, *person, blocked, now);
}

/* The contract of that role; the first by address where there are several. */
struct wanted {
    enum tide_role role;
    const char *role_name; /* NULL: any */
    bool found;
    struct tide_hot_address address;
};

static bool find_contract(void *self, tide_slice key, const void *record)
{
    struct wanted *w = self;
    const struct tide_hot_contract *contract = record;
    if (contract->role != w->role ||
        (w->role_name && strcmp(contract->role_name, w->role_name) != 0))
        return true;
    memcpy(&w->address, key.ptr + 1, sizeof w->address);
    w->found = true;
    return false;
}

static bool contract_of(struct tide_hot_reader *reader, struct wanted *wanted)
{
    struct tide_hot_key prefix = tide_hot_key(TIDE_HOT_CONTRACT);
    tide_hot_scan(reader, &prefix, NULL, find_contract, wanted);
    return wanted->found;
}

bool tide_lookup_gate(struct tide_hot_reader *reader, const struct tide_hot_meta *meta,
                      const struct tide_standing *standing, const struct tide_hot_person *person,
                      enum tide_role role)
{
    struct wanted caller = { .role = role };
    (void)meta;
    if (!person || !person->whitelisted || !contract_of(reader, &caller))
        return standing->compliant;
    struct tide_hot_key key = tide_hot_key_address(TIDE_HOT_PERSON, &caller.address);
    return tide_rule_gate(standing, person, tide_hot_get(reader, &key));
}

bool tide_lookup_quote(struct tide_hot_reader *reader, struct tide_hot_address *out)
{
    struct wanted usdc = { .role = TIDE_ROLE_stellar_asset, .role_name = "usdc" };
    bool found = contract_of(reader, &usdc);
    *out = usdc.address;
    return found;
}

bool tide_lookup_window(struct tide_hot_reader *reader, const struct tide_hot_symbol *id,
                        uint64_t now, struct tide_window *out)
{
    struct tide_hot_key key = tide_hot_key_symbol(TIDE_HOT_POOL, id);
    const struct tide_hot_pool *pool = tide_hot_get(reader, &key);
    if (!pool)
        return false;
    key = tide_hot_key_tick(id, now > TIDE_HOT_WINDOW_S ? now - TIDE_HOT_WINDOW_S : 0);
    tide_rule_window(out, pool, tide_hot_floor(reader, &key, 1 + sizeof(struct tide_hot_symbol)));
    return true;
}

struct deepest {
    const struct tide_hot_address *token, *quote;
    const struct tide_hot_pool *pool;
    tide_raw_i128 depth;
};

static bool measure(void *self, tide_slice key, const void *record)
{
    struct deepest *d = self;
    const struct tide_hot_pool *pool = record;
    bool first = tide_hot_address_eq(&pool->token_a, d->quote);
    (void)key;
    if (!tide_hot_address_eq(first ? &pool->token_b : &pool->token_a, d->token) ||
        (!first && !tide_hot_address_eq(&pool->token_b, d->quote)))
        return true;
    tide_raw_i128 depth = tide_hot_i128(first ? pool->reserve_a : pool->reserve_b);
    if (!d->pool || depth > d->depth) {
        d->pool = pool;
        d->depth = depth;
    }
    return true;
}

const struct tide_hot_pool *tide_lookup_pool(struct tide_hot_reader *reader,
                                             const struct tide_hot_address *token,
                                             const struct tide_hot_address *quote)
{
    struct tide_hot_key prefix = tide_hot_key(TIDE_HOT_POOL);
    struct deepest d = { .token = token, .quote = quote };
    tide_hot_scan(reader, &prefix, NULL, measure, &d);
    return d.pool;
}
