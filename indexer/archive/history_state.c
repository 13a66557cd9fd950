#include "indexer/archive/history_state.h"
#include "tidemark/hash.h"
#include "tidemark/json_members.h"
#include "tidemark/text.h"

/* Reads 64 digits into 32 bytes. */
static tide_status read_hash(uint8_t out[TIDE_HASH_BYTES], const json_t *level, const char *name,
                             struct tide_err *err)
{
    tide_slice text = tide_read_string(json_object_get(level, name));
    if (tide_hex_decode(out, TIDE_HASH_BYTES, text))
        return tide_fail(err, TIDE_E_DECODE, "%s: expected 64 hex digits", name);
    return TIDE_OK;
}

/* Checks `next`, the merge that the archiving node had begun: its hashes prove nothing. */
static tide_status check_next(const json_t *level, struct tide_err *err)
{
    const json_t *state = json_object_get(json_object_get(level, "next"), "state");
    json_int_t v = json_integer_value(state);
    if (!json_is_integer(state) || v < 0 || v > 2)
        return tide_fail(err, TIDE_E_DECODE, "next.state: expected 0..2");
    return TIDE_OK;
}

static tide_status read_level(struct history_level *out, const json_t *level, struct tide_err *err)
{
    if (!json_is_object(level))
        return tide_fail(err, TIDE_E_DECODE, "expected an object");
    tide_status status = read_hash(out->curr, level, "curr", err);
    if (!status)
        status = read_hash(out->snap, level, "snap", err);
    return status ? status : check_next(level, err);
}

static tide_status read_list(struct history_level *out, const json_t *root, const char *name,
                             struct tide_err *err)
{
    const json_t *list = json_object_get(root, name);
    if (!json_is_array(list) || json_array_size(list) != HISTORY_LEVELS)
        return tide_fail(err, TIDE_E_DECODE, "%s: expected %u levels", name, HISTORY_LEVELS);
    for (size_t i = 0; i < HISTORY_LEVELS; i++)
        if (read_level(&out[i], json_array_get(list, i), err))
            return tide_fail_context(err, "%s[%zu]", name, i);
    return TIDE_OK;
}

static tide_status read_version(uint32_t *out, const json_t *root, struct tide_err *err)
{
    const json_t *version = json_object_get(root, "version");
    json_int_t v = json_integer_value(version);
    if (!json_is_integer(version) || v < 1)
        return tide_fail(err, TIDE_E_DECODE, "version: expected a number");
    if (v > 2)
        return tide_fail(err, TIDE_E_UNKNOWN, "version: %lld; this build reads 1 and 2",
                         (long long)v);
    *out = (uint32_t)v;
    return TIDE_OK;
}

static tide_status read_head(struct history_state *out, const json_t *root, struct tide_err *err)
{
    tide_status status = read_version(&out->version, root, err);
    if (status)
        return status;
    const json_t *ledger = json_object_get(root, "currentLedger");
    json_int_t v = json_integer_value(ledger);
    if (!json_is_integer(ledger) || v < 1 || v > INT32_MAX)
        return tide_fail(err, TIDE_E_DECODE, "currentLedger: expected 1..2147483647");
    out->current_ledger = (uint32_t)v;
    const json_t *passphrase = json_object_get(root, "networkPassphrase");
    tide_slice text = tide_read_string(passphrase);
    bool may_lack = !passphrase && out->version == 1;
    if (!may_lack && (!json_is_string(passphrase) || text.len == 0 ||
                      text.len >= sizeof out->passphrase || memchr(text.ptr, 0, text.len)))
        return tide_fail(err, TIDE_E_DECODE, "networkPassphrase: expected a text");
    if (text.len)
        memcpy(out->passphrase, text.ptr, text.len);
    return TIDE_OK;
}

static tide_status read_state(struct history_state *out, const json_t *root, struct tide_err *err)
{
    tide_status status = read_head(out, root, err);
    if (!status)
        status = read_list(out->live, root, "currentBuckets", err);
    if (!status && out->version == 2)
        status = read_list(out->hot, root, "hotArchiveBuckets", err);
    if (!status && out->version == 1 && json_object_get(root, "hotArchiveBuckets"))
        status = tide_fail(err, TIDE_E_DECODE, "hotArchiveBuckets: version 1 has none");
    return status;
}

tide_status history_state_parse(struct history_state *out, tide_slice json, struct tide_err *err)
{
    json_error_t where;
    *out = (struct history_state){ 0 };
    if (json.len > HISTORY_STATE_BYTES)
        return tide_fail(err, TIDE_E_LIMIT, "more than %u bytes", HISTORY_STATE_BYTES);
    json_t *root = tide_json_load(json, JSON_REJECT_DUPLICATES, &where);
    if (!json_is_object(root)) {
        json_decref(root);
        return tide_fail(err, TIDE_E_DECODE, "line %d: %s", root ? 1 : where.line,
                         root ? "expected an object" : where.text);
    }
    tide_status status = read_state(out, root, err);
    json_decref(root);
    return status;
}

static void hash_list(uint8_t out[TIDE_HASH_BYTES], const struct history_level *levels)
{
    static_assert(sizeof(struct history_level) == (size_t)2 * TIDE_HASH_BYTES,
                  "curr and snap alone");
    struct tide_sha256 list;
    tide_sha256_init(&list);
    for (size_t i = 0; i < HISTORY_LEVELS; i++) {
        uint8_t level[TIDE_HASH_BYTES];
        struct tide_sha256 h;
        tide_sha256_init(&h);
        tide_sha256_update(&h, tide_slice_of(levels[i].curr, TIDE_HASH_BYTES));
        tide_sha256_update(&h, tide_slice_of(levels[i].snap, TIDE_HASH_BYTES));
        tide_sha256_final(&h, level);
        tide_sha256_update(&list, tide_slice_of(level, sizeof level));
    }
    tide_sha256_final(&list, out);
}

void history_state_hash(uint8_t out[TIDE_HASH_BYTES], const struct history_state *state)
{
    uint8_t lists[2][TIDE_HASH_BYTES];
    assert(state->version == 1 || state->version == 2); /* read_version accepts no other one */
    hash_list(lists[0], state->live);
    if (state->version == 1) {
        memcpy(out, lists[0], TIDE_HASH_BYTES);
        return;
    }
    hash_list(lists[1], state->hot);
    tide_sha256(out, tide_slice_of(lists, sizeof lists));
}
