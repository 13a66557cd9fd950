#include "schema/catalogue/quorum_read.h"
#include "tidemark/json_members.h"
#include "tidemark/strkey.h"

enum { NESTING_MAX = 4 };

/* One reading: the quorum set, and the place in the file for messages. */
struct reading {
    struct tide_quorum *quorum;
    struct tide_members_reader at;
};

static tide_status read_key(struct reading *r, uint16_t set, const json_t *value)
{
    struct tide_quorum *q = r->quorum;
    enum tide_strkey kind;
    uint8_t key[TIDE_STRKEY_PAYLOAD_MAX];
    size_t len = 0;
    if (tide_strkey_decode(&kind, key, &len, tide_read_string(value)) ||
        kind != TIDE_STRKEY_ACCOUNT || len != TIDE_HASH_BYTES)
        return tide_read_refuse(&r->at, "expected a validator's public key G…");
    if (tide_quorum_find(q, key) >= 0)
        return tide_read_refuse(&r->at, "the key occurs twice; each validator has one vote");
    if (q->count == TIDE_VALIDATORS_MAX)
        return tide_read_refuse(&r->at, "more than 1000 validators");
    memcpy(q->validators[q->count].key, key, TIDE_HASH_BYTES);
    q->validators[q->count++].set = set;
    return TIDE_OK;
}

static tide_status read_set(struct reading *r, uint16_t parent, unsigned depth,
                            const json_t *value);

/* Reads one list of members. Keys if depth is 0, else inner sets of that depth. */
static tide_status read_members(struct reading *r, const char *name, uint16_t set, unsigned depth,
                                const json_t *list)
{
    size_t i;
    json_t *value;
    size_t outer = tide_read_enter(&r->at, name);
    if (list && !json_is_array(list))
        return tide_read_refuse(&r->at, "expected a list");
    json_array_foreach((json_t *)(uintptr_t)list, i, value)
    {
        char number[24];
        snprintf(number, sizeof number, "%zu", i);
        size_t inner = tide_read_enter(&r->at, number);
        tide_status status = depth ? read_set(r, set, depth, value) : read_key(r, set, value);
        if (status)
            return status;
        tide_read_leave(&r->at, inner);
    }
    tide_read_leave(&r->at, outer);
    return TIDE_OK;
}

static tide_status read_threshold(struct reading *r, uint16_t *out, const json_t *object)
{
    const json_t *value = json_object_get(object, "threshold");
    size_t members = json_array_size(json_object_get(object, "validators")) +
                     json_array_size(json_object_get(object, "innerSets"));
    json_int_t v = json_integer_value(value);
    tide_read_enter(&r->at, "threshold");
    if (!json_is_integer(value) || v < 1 || v > UINT16_MAX || (uint64_t)v > members) {
        char expected[64];
        snprintf(expected, sizeof expected, "expected 1 to %zu, the number of members", members);
        return tide_read_refuse(&r->at, members ? expected : "the set has no members");
    }
    *out = (uint16_t)v;
    return TIDE_OK;
}

static tide_status check_members(struct reading *r, const json_t *value)
{
    const char *name;
    json_t *member;
    if (!json_is_object(value))
        return tide_read_refuse(&r->at, "expected a quorum set");
    json_object_foreach((json_t *)(uintptr_t)value, name, member)
    {
        if (strcmp(name, "threshold") != 0 && strcmp(name, "validators") != 0 &&
            strcmp(name, "innerSets") != 0) {
            tide_read_enter(&r->at, name);
            return tide_read_refuse(&r->at,
                                    "unknown; expected threshold, validators and innerSets");
        }
    }
    return TIDE_OK;
}

static tide_status read_set(struct reading *r, uint16_t parent, unsigned depth, const json_t *value)
{
    struct tide_quorum *q = r->quorum;
    size_t outer = strlen(r->at.path);
    tide_status status = check_members(r, value);
    if (!status && depth > NESTING_MAX)
        status = tide_read_refuse(&r->at, "nested deeper than 4 levels");
    if (!status && q->set_count == TIDE_QUORUM_SETS_MAX)
        status = tide_read_refuse(&r->at, "more than 1000 sets");
    if (status)
        return status;
    uint16_t set = (uint16_t)q->set_count++;
    q->sets[set].parent = parent;
    status = read_threshold(r, &q->sets[set].threshold, value);
    if (status)
        return status;
    tide_read_leave(&r->at, outer);
    status = read_members(r, "validators", set, 0, json_object_get(value, "validators"));
    return status
               ? status
               : read_members(r, "innerSets", set, depth + 1, json_object_get(value, "innerSets"));
}

tide_status tide_quorum_read(struct tide_quorum *out, const json_t *value, struct tide_err *err)
{
    struct reading r = { .quorum = out, .at = { .err = err } };
    memset(out, 0, sizeof *out);
    tide_read_enter(&r.at, "validators");
    return read_set(&r, 0, 0, value);
}
