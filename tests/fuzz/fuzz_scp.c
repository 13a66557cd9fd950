/* Any bytes as a record of a checkpoint's scp/ or transactions/ file, and as a value. */
#include "indexer/archive/tx_set.h"
#include "indexer/archive/votes.h"
#include "tests/fuzz/promise.h"
#include "tidemark/stellar_value.h"

struct seen {
    tide_slice entry;
    struct votes *votes;
};

static tide_status take_envelope(void *self, const struct scp_envelope *e, struct tide_err *err)
{
    struct seen *s = self;
    struct tide_stellar_value value;
    PROMISE(inside(e->statement, s->entry) && inside(e->value, s->entry));
    PROMISE(inside(tide_slice_of(e->node, TIDE_HASH_BYTES), s->entry));
    (void)!tide_stellar_value_of(&value, e->value);
    return votes_add(s->votes, e, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct tide_quorum quorum = { .count = 1, .set_count = 1, .sets = { { 1, 0 } } };
    static const uint8_t network[TIDE_HASH_BYTES];
    struct seen s = { .entry = tide_slice_of(data, size) };
    struct tide_err err = { 0 };
    const uint8_t *previous = NULL;
    struct tide_stellar_value value;
    if (size >= 48) /* the first envelope's key, if there is no quorum set */
        memcpy(quorum.validators[0].key, data + size - 32, TIDE_HASH_BYTES);
    const struct votes_options options = { &quorum, network, 1, 64, 1 };
    if (votes_open(&s.votes, &options) != TIDE_OK)
        return 0;
    votes_begin_file(s.votes);
    if (scp_entry_walk(s.entry, take_envelope, &s, &err) != TIDE_OK)
        PROMISE(*err.text);
    PROMISE(votes_most(s.votes) <= 1);
    votes_close(s.votes);
    (void)!tide_stellar_value_of(&value, s.entry);
    if (size >= TIDE_HASH_BYTES && tx_set_previous(s.entry, data, &previous) == TIDE_OK)
        PROMISE(!previous || inside(tide_slice_of(previous, TIDE_HASH_BYTES), s.entry));
    return 0;
}
