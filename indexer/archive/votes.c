#include "indexer/archive/votes.h"

enum {
    /* Values of a ledger that validators signed: one, unless some contradict. A validator begins at
     * most one, so fewer than VALUES_MAX that contradict cannot keep the others' value out. */
    VALUES_MAX = 16,
    CHECKS_EACH = 4, /* signature checks in one file, for each ledger and validator */
};

struct votes {
    struct votes_options options;
    uint64_t checks_left;
    struct ledger_votes {
        uint32_t count;
        struct tide_signers begun; /* validators that signed one of the values first */
        struct vote_value values[VALUES_MAX];
    } ledgers[];
};

static_assert(sizeof(struct ledger_votes) <= 24 << 10, "the memory that votes.h states");

tide_status votes_open(struct votes **out, const struct votes_options *options)
{
    assert(options->first <= options->last);
    uint32_t count = options->last - options->first + 1;
    assert(count <= VOTES_LEDGERS_MAX);
    struct votes *v = calloc(1, sizeof *v + count * sizeof v->ledgers[0]);
    if (!v)
        return TIDE_E_MEMORY;
    v->options = *options;
    *out = v;
    return TIDE_OK;
}

void votes_close(struct votes *votes)
{
    free(votes);
}

void votes_begin_file(struct votes *v)
{
    uint64_t ledgers = v->options.last - v->options.first + 1;
    v->checks_left = ledgers * v->options.quorum->count * CHECKS_EACH;
}

/* Returns the value of those bytes, a free entry for it, or NULL if there is none. */
static struct vote_value *find_value(struct ledger_votes *l, tide_slice bytes)
{
    for (uint32_t i = 0; i < l->count; i++)
        if (tide_slice_eq(tide_slice_of(l->values[i].bytes, l->values[i].len), bytes))
            return &l->values[i];
    return l->count < VALUES_MAX ? &l->values[l->count] : NULL;
}

tide_status votes_add(void *self, const struct scp_envelope *e, struct tide_err *err)
{
    struct votes *v = self;
    const struct votes_options *o = &v->options;
    if (!e->externalizes || e->slot < o->first || e->slot > o->last || e->value.len == 0 ||
        e->value.len > SCP_VALUE_BYTES_MAX)
        return TIDE_OK;
    struct ledger_votes *l = &v->ledgers[e->slot - o->first];
    assert(e->slot - o->first < VOTES_LEDGERS_MAX);
    int validator = tide_quorum_find(o->quorum, e->node);
    assert(validator < (int)o->quorum->count);
    struct vote_value *value = validator < 0 ? NULL : find_value(l, e->value);
    if (!value || tide_signers_has(&value->signers, (uint32_t)validator) ||
        (value->len == 0 && tide_signers_has(&l->begun, (uint32_t)validator)))
        return TIDE_OK;
    bool is_checked = e->slot >= o->checked_from;
    if (is_checked && v->checks_left-- == 0)
        return tide_fail(err, TIDE_E_LIMIT, "too many votes that do not hold");
    if (is_checked && !scp_envelope_holds(e, o->network_id))
        return TIDE_OK;
    if (value->len == 0) {
        assert(l->count < VALUES_MAX && value == &l->values[l->count]);
        memcpy(value->bytes, e->value.ptr, e->value.len);
        value->len = (uint32_t)e->value.len;
        l->count++;
        tide_signers_add(&l->begun, (uint32_t)validator);
    }
    tide_signers_add(&value->signers, (uint32_t)validator);
    return TIDE_OK;
}

const struct vote_value *votes_decided(const struct votes *v, uint32_t ledger)
{
    assert(ledger >= v->options.first && ledger <= v->options.last);
    const struct ledger_votes *l = &v->ledgers[ledger - v->options.first];
    for (uint32_t i = 0; i < l->count; i++)
        if (tide_quorum_satisfied(v->options.quorum, &l->values[i].signers))
            return &l->values[i];
    return NULL;
}

bool votes_read_decided(const struct votes *v, uint32_t ledger, struct tide_stellar_value *out)
{
    const struct vote_value *value = votes_decided(v, ledger);
    return value && tide_stellar_value_of(out, tide_slice_of(value->bytes, value->len)) == TIDE_OK;
}

uint32_t votes_highest(const struct votes *v, uint32_t below)
{
    uint32_t ledger = below < v->options.last ? below : v->options.last;
    for (; ledger >= v->options.first && ledger > 0; ledger--)
        if (votes_decided(v, ledger))
            return ledger;
    return 0;
}

uint32_t votes_most(const struct votes *v)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i <= v->options.last - v->options.first; i++) {
        for (uint32_t k = 0; k < v->ledgers[i].count; k++) {
            uint32_t signers = tide_signers_count(&v->ledgers[i].values[k].signers);
            most = signers > most ? signers : most;
        }
    }
    return most;
}
