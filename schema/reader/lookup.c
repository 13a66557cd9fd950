#include "tidemark/lookup.h"
#include "tidemark/json.h"

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
    const char *role_name; /* NULL: any role name */
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
    assert(role < TIDE_ROLE_COUNT);
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
    assert(role < TIDE_ROLE_synth_token);
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
    key = tide_hot_key_symbol(TIDE_HOT_TRADE, id); /* a past trade is read with the tick */
    tide_rule_window(out, pool, tide_reader_get(reader, &key), start);
    return true;
}

/* Returns the token's record, or NULL if its instance is not known. */
static const struct tide_hot_contract *find_token(struct tide_reader *reader,
                                                  const struct tide_hot_address *token)
{
    struct tide_hot_key key = tide_hot_key_address(TIDE_HOT_CONTRACT, token);
    const struct tide_hot_contract *contract = tide_reader_get(reader, &key);
    return contract && contract->has_instance ? contract : NULL;
}

uint32_t tide_lookup_decimals(struct tide_reader *reader, const struct tide_hot_address *token)
{
    const struct tide_hot_contract *contract = find_token(reader, token);
    return contract && contract->has_decimals ? contract->decimals : TIDE_JSON_UNKNOWN;
}

struct common {
    struct tide_reader *reader;
    uint32_t decimals;
    bool any;
};

/* Returns false, which ends the scan, when the tokens have no decimals in common. */
static bool compare_decimals(void *self, tide_slice key, const void *record)
{
    struct common *common = self;
    struct tide_hot_address token;
    (void)record;
    assert(key.len == 1 + sizeof token);
    memcpy(&token, key.ptr + 1, sizeof token);
    uint32_t decimals = tide_lookup_decimals(common->reader, &token);
    bool same = !common->any || decimals == common->decimals;
    common->decimals = same ? decimals : TIDE_JSON_UNKNOWN;
    common->any = true;
    return common->decimals != TIDE_JSON_UNKNOWN;
}

uint32_t tide_lookup_collateral_decimals(struct tide_reader *reader)
{
    struct common common = { .reader = reader, .decimals = TIDE_JSON_UNKNOWN };
    struct tide_hot_key tokens = tide_hot_key(TIDE_HOT_COLLATERAL);
    tide_reader_scan(reader, &tokens, compare_decimals, &common);
    return common.decimals;
}

const struct tide_hot_name *tide_lookup_symbol(struct tide_reader *reader,
                                               const struct tide_hot_address *token)
{
    const struct tide_hot_contract *contract = find_token(reader, token);
    return contract && contract->symbol.len ? &contract->symbol : NULL;
}

bool tide_lookup_is_watched(struct tide_reader *reader, const struct tide_hot_address *token)
{
    struct tide_hot_key key = tide_hot_key_address(TIDE_HOT_CONTRACT, token);
    const struct tide_hot_contract *contract = tide_reader_get(reader, &key);
    return contract && contract->watched;
}
