#include "tidemark/project.h"

/* --- people -------------------------------------------------------------------- */

/* Reads the person of the row. An address that is neither G nor C cannot be asked for, so *skip is
 * set. */
static tide_status begin_person(struct project_row *row, struct tide_hot_key *key,
                                struct tide_hot_person *person, bool *skip, struct tide_err *err)
{
    assert(row->sink);
    bool found;
    struct tide_hot_address address = project_address(row, 0);
    *skip = address.kind == 0;
    *key = tide_hot_key_address(TIDE_HOT_PERSON, &address);
    return *skip ? TIDE_OK : row->sink->get(row->sink->self, key, person, &found, err);
}

/* Moves the person's CHANGED record to the row's ledger. Does nothing while changes_from is 0:
 * while a generation is built, and for records of the past. */
static tide_status note_change(struct project_row *row, const struct tide_hot_key *key,
                               struct tide_hot_person *person, struct tide_err *err)
{
    assert(key->bytes[0] == TIDE_HOT_PERSON);
    struct tide_hot_meta meta;
    struct tide_hot_address address;
    struct tide_hot_key at = tide_hot_key(TIDE_HOT_META);
    bool found;
    memcpy(&address, key->bytes + 1, sizeof address);
    tide_status status = row->sink->get(row->sink->self, &at, &meta, &found, err);
    if (status != TIDE_OK || !found || meta.changes_from == 0)
        return status;
    if (person->changed) {
        at = tide_hot_key_changed(person->changed, &address);
        status = row->sink->drop(row->sink->self, &at, err);
    }
    person->changed = row->ledger;
    at = tide_hot_key_changed(row->ledger, &address);
    const struct tide_hot_changed mark = { 0 };
    return status == TIDE_OK ? row->sink->put(row->sink->self, &at, &mark, err) : status;
}

static tide_status put_person(struct project_row *row, const struct tide_hot_key *key,
                              struct tide_hot_person *person, struct tide_err *err)
{
    tide_status status = note_change(row, key, person, err);
    if (status != TIDE_OK)
        return status;
    if (!person->recorded && !person->frozen && !person->whitelisted)
        return row->sink->drop(row->sink->self, key, err);
    return row->sink->put(row->sink->self, key, person, err);
}

tide_status project_rec(struct project_row *row, struct tide_err *err)
{
    struct tide_hot_key key;
    struct tide_hot_person person;
    bool skip;
    tide_status status = begin_person(row, &key, &person, &skip, err);
    if (status != TIDE_OK || skip)
        return status;
    struct tide_hot_person now = { .frozen = person.frozen,
                                   .whitelisted = person.whitelisted,
                                   .changed = person.changed };
    if (!row->removed) {
        now.recorded = 1;
        now.ledger = row->ledger;
        now.status = (uint32_t)project_u64(row, 1);
        now.jurisdiction = (uint32_t)project_u64(row, 2);
        now.expires_at = project_u64(row, 3);
        now.updated_at = project_u64(row, 4);
        now.provider = project_address(row, 5);
        now.reason = project_symbol(row, 6);
    }
    return put_person(row, &key, &now, err);
}

tide_status project_frozen(struct project_row *row, struct tide_err *err)
{
    struct tide_hot_key key;
    struct tide_hot_person person;
    bool skip;
    tide_status status = begin_person(row, &key, &person, &skip, err);
    person.frozen = !row->removed;
    return status != TIDE_OK || skip ? status : put_person(row, &key, &person, err);
}

tide_status project_whitelist(struct project_row *row, struct tide_err *err)
{
    struct tide_hot_key key;
    struct tide_hot_person person;
    bool skip;
    tide_status status = begin_person(row, &key, &person, &skip, err);
    person.whitelisted = !row->removed;
    return status != TIDE_OK || skip ? status : put_person(row, &key, &person, err);
}

/* --- marks: present or not --------------------------------------------------------- */

static tide_status put_mark(struct project_row *row, const struct tide_hot_key *key,
                            struct tide_err *err)
{
    struct tide_hot_verifier record = { .ledger = row->ledger };
    _Static_assert(sizeof(struct tide_hot_verifier) == sizeof(struct tide_hot_provider) &&
                       sizeof(struct tide_hot_verifier) == sizeof(struct tide_hot_collateral) &&
                       sizeof(struct tide_hot_verifier) == sizeof(struct tide_hot_blocked),
                   "marks are alike");
    return row->removed ? row->sink->drop(row->sink->self, key, err)
                        : row->sink->put(row->sink->self, key, &record, err);
}

static tide_status mark_address(struct project_row *row, enum tide_hot_kind kind,
                                struct tide_err *err)
{
    assert(kind == TIDE_HOT_VERIFIER || kind == TIDE_HOT_PROVIDER || kind == TIDE_HOT_COLLATERAL);
    struct tide_hot_address address = project_address(row, 0);
    struct tide_hot_key key = tide_hot_key_address(kind, &address);
    return address.kind ? put_mark(row, &key, err) : TIDE_OK;
}

tide_status project_verifier(struct project_row *row, struct tide_err *err)
{
    return mark_address(row, TIDE_HOT_VERIFIER, err);
}

tide_status project_provider(struct project_row *row, struct tide_err *err)
{
    return mark_address(row, TIDE_HOT_PROVIDER, err);
}

tide_status project_collateral(struct project_row *row, struct tide_err *err)
{
    return mark_address(row, TIDE_HOT_COLLATERAL, err);
}

tide_status project_blocked(struct project_row *row, struct tide_err *err)
{
    uint32_t code = (uint32_t)project_u64(row, 0);
    struct tide_hot_key key = tide_hot_key_u32(TIDE_HOT_BLOCKED, code);
    tide_status status = put_mark(row, &key, err);
    if (status != TIDE_OK)
        return status;
    struct tide_hot_meta meta;
    bool found;
    key = tide_hot_key(TIDE_HOT_META);
    status = row->sink->get(row->sink->self, &key, &meta, &found, err);
    uint8_t bit = (uint8_t)(1u << code % 8);
    if (meta.changes_from)
        meta.blocked_at = row->ledger;
    if (code < TIDE_HOT_CODES && row->removed)
        meta.blocked[code / 8] &= (uint8_t)~bit;
    else if (code < TIDE_HOT_CODES)
        meta.blocked[code / 8] |= bit;
    return status == TIDE_OK ? row->sink->put(row->sink->self, &key, &meta, err) : status;
}
