#include "api/hot/lookup.h"

uint64_t tide_lookup_now(const struct tide_hot_meta *meta, int64_t wall_ms)
{
    int64_t wall = wall_ms / 1000;
    return wall > 0 && (uint64_t)wall > meta->close_time ? (uint64_t)wall : meta->close_time;
}

uint64_t tide_lookup_fed_age_ms(const struct tide_hot_meta *meta, int64_t host_ms)
{
    if (TIDE_UNLIKELY(memcmp(meta->boot, tide_boot_id(), sizeof meta->boot) != 0))
        return TIDE_LOOKUP_AGE_MAX;
    /* The feeder may have read the clock after the worker's turn began. */
    return host_ms > meta->fed_ms ? (uint64_t)(host_ms - meta->fed_ms) : 0;
}

/* Ages add up to at most the largest that is told. */
static uint64_t aged(uint64_t age_ms, uint64_t since_ms)
{
    return age_ms < TIDE_LOOKUP_AGE_MAX - since_ms ? age_ms + since_ms : TIDE_LOOKUP_AGE_MAX;
}

uint64_t tide_lookup_age_ms(const struct tide_hot_meta *meta, int64_t host_ms)
{
    return aged(meta->aged_ms, tide_lookup_fed_age_ms(meta, host_ms));
}

uint64_t tide_lookup_closed_age_ms(const struct tide_hot_meta *meta, int64_t wall_ms,
                                   int64_t host_ms)
{
    uint64_t age = aged(meta->closed_age_ms, tide_lookup_fed_age_ms(meta, host_ms));
    int64_t by_wall = wall_ms - (int64_t)meta->close_time * 1000;
    return by_wall > 0 && (uint64_t)by_wall > age ? (uint64_t)by_wall : age;
}

void tide_lookup_standing(struct tide_reader *reader, const struct tide_hot_address *who,
                          struct tide_standing *out, const struct tide_hot_person **person)
{
    struct tide_hot_key key = tide_hot_key_address(TIDE_HOT_PERSON, who);
    *person = tide_reader_get(reader, &key);
    bool blocked = tide_reader_blocked(reader, *person ? (*person)->jurisdiction : 0);
    tide_rule_standing(out, *person, blocked, reader->now);
}

struct wanted {
    enum tide_role role;
    const char *role_name; /* NULL: any */
    const struct tide_hot_contract *found;
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
    w->found = contract;
    return false;
}

const struct tide_hot_contract *tide_lookup_contract(struct tide_reader *reader,
                                                     enum tide_role role, const char *role_name,
                                                     struct tide_hot_address *address)
{
    if (role < TIDE_ROLE_synth_token) {
        const struct tide_hot_address *own = &reader->meta->contracts[role];
        struct tide_hot_key key = tide_hot_key_address(TIDE_HOT_CONTRACT, own);
        if (address)
            *address = *own;
        return own->kind ? tide_reader_get(reader, &key) : NULL;
    }
    struct wanted wanted = { .role = role, .role_name = role_name };
    struct tide_hot_key prefix = tide_hot_key(TIDE_HOT_CONTRACT);
    tide_reader_scan(reader, &prefix, find_contract, &wanted);
    if (address)
        *address = wanted.address;
    return wanted.found;
}

bool tide_lookup_gate(struct tide_reader *reader, const struct tide_standing *standing,
                      const struct tide_hot_person *person, enum tide_role role)
{
    const struct tide_hot_address *caller = &reader->meta->contracts[role];
    if (!person || !person->whitelisted || caller->kind == 0)
        return standing->compliant;
    struct tide_hot_key key = tide_hot_key_address(TIDE_HOT_PERSON, caller);
    return tide_rule_gate(standing, person, tide_reader_get(reader, &key));
}

bool tide_lookup_quote(struct tide_reader *reader, struct tide_hot_address *out)
{
    return tide_lookup_contract(reader, TIDE_ROLE_stellar_asset, "usdc", out) != NULL;
}

bool tide_lookup_window(struct tide_reader *reader, const struct tide_hot_symbol *id,
                        struct tide_window *out)
{
    struct tide_hot_key key = tide_hot_key_symbol(TIDE_HOT_POOL, id);
    const struct tide_hot_pool *pool = tide_reader_get(reader, &key);
    if (!pool)
        return false;
    key = tide_hot_key_tick(id,
                            reader->now > TIDE_HOT_WINDOW_S ? reader->now - TIDE_HOT_WINDOW_S : 0);
    const struct tide_hot_tick *start =
        tide_reader_floor(reader, &key, 1 + sizeof(struct tide_hot_symbol));
    tide_rule_window(out, pool, start);
    return true;
}

uint32_t tide_lookup_decimals(struct tide_reader *reader, const struct tide_hot_address *token)
{
    struct tide_hot_key key = tide_hot_key_address(TIDE_HOT_CONTRACT, token);
    const struct tide_hot_contract *contract = tide_reader_get(reader, &key);
    tide_reader_need(reader, PROJECT_TOKEN);
    tide_reader_need(reader, PROJECT_ASSET);
    return contract && contract->has_instance ? contract->decimals : TIDE_JSON_UNKNOWN;
}

bool tide_lookup_is_watched(struct tide_reader *reader, const struct tide_hot_address *token)
{
    struct tide_hot_key key = tide_hot_key_address(TIDE_HOT_CONTRACT, token);
    const struct tide_hot_contract *contract = tide_reader_get(reader, &key);
    return contract && contract->watched;
}

uint32_t tide_lookup_misnamed(const struct tide_hot_meta *meta)
{
    uint32_t misnamed = 0;
    for (int role = 0; role < (int)TIDE_ROLE_synth_token; role++) {
        const struct tide_hot_address *named = &meta->dao_named[role];
        if (named->kind && !tide_hot_address_eq(named, &meta->contracts[role]))
            misnamed |= 1u << role;
    }
    return misnamed;
}
