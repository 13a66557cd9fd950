#include "tidemark/history_lookup.h"

#include <stdlib.h>

static struct tide_hot_address owner(const struct tide_history *history, enum tide_role role)
{
    return history->contracts[role];
}

static struct tide_entry_key by_address(const struct tide_history *history, enum tide_role role,
                                        const char *variant, const struct tide_hot_address *who)
{
    return (struct tide_entry_key){ .contract = owner(history, role),
                                    .variant = variant,
                                    .count = 1,
                                    .parts = { TIDE_PART_ADDRESS(*who) } };
}

static struct tide_entry_key by_symbol(const struct tide_history *history, enum tide_role role,
                                       const char *variant, const struct tide_hot_symbol *symbol)
{
    return (struct tide_entry_key){ .contract = owner(history, role),
                                    .variant = variant,
                                    .count = 1,
                                    .parts = { TIDE_PART_SYMBOL(tide_hot_symbol_slice(symbol)) } };
}

static tide_status put_empty(struct tide_hot_sink *sink, const struct tide_hot_address *who,
                             struct tide_err *err)
{
    struct tide_hot_key key = tide_hot_key_address(TIDE_HOT_PERSON, who);
    struct tide_hot_person person;
    bool found;
    tide_status status = sink->get(sink->self, &key, &person, &found, err);
    return status == TIDE_OK && !found ? sink->put(sink->self, &key, &person, err) : status;
}

tide_status tide_history_people(struct tide_history *history, struct record_set *set,
                                const struct tide_hot_address *who, uint32_t count,
                                struct tide_err *err)
{
    static const struct {
        enum project_source_id source;
        const char *variant;
    } parts[] = { { PROJECT_REC, "ComplianceRec" },
                  { PROJECT_FROZEN, "Frozen" },
                  { PROJECT_WHITELIST, "Whitelist" } };
    struct tide_hot_sink sink = record_set_sink(set);
    struct tide_entry_key *keys = calloc(count + 1, sizeof *keys);
    tide_status status = keys ? TIDE_OK : tide_fail(err, TIDE_E_MEMORY, "people");
    for (size_t p = 0; p < TIDE_COUNT(parts) && status == TIDE_OK; p++) {
        assert(keys);
        for (uint32_t i = 0; i < count; i++)
            keys[i] = by_address(history, TIDE_ROLE_compliance_registry, parts[p].variant, &who[i]);
        status = tide_history_records(history, &sink, parts[p].source, keys, count, err);
    }
    for (uint32_t i = 0; i < count && status == TIDE_OK; i++)
        status = put_empty(&sink, &who[i], err);
    free(keys);
    return status;
}

tide_status tide_history_person(struct tide_history *history, struct record_set *set,
                                const struct tide_hot_address *who, struct tide_err *err)
{
    return tide_history_people(history, set, who, 1, err);
}

tide_status tide_history_pool(struct tide_history *history, struct record_set *set,
                              const struct tide_hot_symbol *id, struct tide_err *err)
{
    struct tide_hot_sink sink = record_set_sink(set);
    struct tide_entry_key key = by_symbol(history, TIDE_ROLE_liquidity_pool, "Pool", id);
    return tide_history_record(history, &sink, PROJECT_POOL, &key, err);
}

tide_status tide_history_feed(struct tide_history *history, struct record_set *set,
                              const struct tide_hot_symbol *asset, struct tide_err *err)
{
    struct tide_hot_sink sink = record_set_sink(set);
    struct tide_entry_key key = by_symbol(history, TIDE_ROLE_oracle, "Feed", asset);
    return tide_history_record(history, &sink, PROJECT_FEED, &key, err);
}

tide_status tide_history_partner(struct tide_history *history, struct record_set *set, uint32_t id,
                                 struct tide_err *err)
{
    struct tide_hot_sink sink = record_set_sink(set);
    struct tide_entry_key key = { .contract = owner(history, TIDE_ROLE_partner_registry),
                                  .variant = "Partner",
                                  .count = 1,
                                  .parts = { TIDE_PART_U32(id) } };
    return tide_history_record(history, &sink, PROJECT_PARTNER, &key, err);
}
