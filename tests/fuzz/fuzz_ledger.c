/* A LedgerCloseMeta: two walks with every callback see the same parts and end where the skipper
 * ends. Proofs of every level run on those parts. */
#include "tests/fuzz/promise.h"

#include "indexer/decode/proof.h"
#include "tidemark/meta.h"
#include "tidemark/tx.h"

struct sight {
    tide_slice lcm;
    struct tide_proof_check *verify;
    uint32_t sum;
    uint32_t calls;
};

static void check_part(struct sight *s, tide_slice part)
{
    PROMISE(inside(part, s->lcm));
    s->sum = s->sum * 17 + sum_bytes(part);
    s->calls++;
}

static tide_status on_header(void *self, const struct tide_ledger_header *h)
{
    struct sight *s = self;
    check_part(s, h->header_xdr);
    check_part(s, h->history_entry);
    check_part(s, tide_slice_of(h->hash, 32));
    check_part(s, tide_slice_of(h->previous_hash, 32));
    check_part(s, tide_slice_of(h->bucket_hash, 32));
    tide_proof_header(s->verify, h);
    return TIDE_OK;
}

static tide_status on_envelope(void *self, const struct tide_envelope *envelope)
{
    struct sight *s = self;
    struct tide_envelope e;
    struct tide_xdr x;
    check_part(s, envelope->span);
    PROMISE(tide_envelope_read(&e, envelope->span, &x) == TIDE_OK); /* the walk has read it */
    PROMISE(e.args.ptr == envelope->args.ptr && e.read_write.len == envelope->read_write.len);
    check_part(s, e.args);
    check_part(s, e.read_only);
    check_part(s, e.read_write);
    return tide_proof_envelope(s->verify, envelope);
}

static tide_status on_tx_set(void *self, tide_slice set)
{
    struct sight *s = self;
    check_part(s, set);
    tide_proof_tx_set(s->verify, set);
    return TIDE_OK;
}

static tide_status on_tx(void *self, const struct tide_tx *tx, bool *in)
{
    struct sight *s = self;
    check_part(s, tx->result_pair);
    tide_proof_tx(s->verify, tx);
    *in = true;
    return TIDE_OK;
}

static tide_status on_event(void *self, const struct tide_tx *tx, const struct tide_event *e)
{
    struct sight *s = self;
    (void)tx;
    check_part(s, e->xdr);
    PROMISE(inside(e->topics, e->xdr) && inside(e->data, e->xdr));
    return TIDE_OK;
}

static tide_status on_change(void *self, const struct tide_tx *tx, const struct tide_change *c)
{
    struct sight *s = self;
    (void)tx;
    check_part(s, c->entry);
    if (c->type == TIDE_ENTRY_CONTRACT_DATA)
        PROMISE(inside(c->key, c->entry) && inside(c->value, c->entry) && c->key.len >= 4);
    return TIDE_OK;
}

static tide_status on_tx_end(void *self, const struct tide_tx *tx)
{
    struct sight *s = self;
    check_part(s, tx->return_value);
    check_part(s, tx->op_events);
    s->sum += tide_proof_tx_end(s->verify, tx);
    return TIDE_OK;
}

static tide_status on_key(void *self, tide_slice key)
{
    check_part(self, key);
    return TIDE_OK;
}

static tide_status walk(struct sight *s)
{
    struct tide_err err;
    const struct tide_walk all = { .self = s,
                                   .header = on_header,
                                   .envelope = on_envelope,
                                   .tx_set = on_tx_set,
                                   .tx = on_tx,
                                   .event = on_event,
                                   .change = on_change,
                                   .tx_end = on_tx_end,
                                   .upgrade = on_key,
                                   .evicted = on_key,
                                   .diagnostics = true };
    tide_status status = tide_ledger_walk(&all, s->lcm, &err);
    if (status == TIDE_OK)
        tide_proof_end(s->verify);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t network[TIDE_HASH_BYTES] = { 1 };
    struct sight first = { .lcm = tide_slice_of(data, size) };
    PROMISE(tide_proof_open(&first.verify, TIDE_PROOF_EVENTS, network) == TIDE_OK);
    struct sight again = first;
    tide_status status = walk(&first);
    PROMISE(walk(&again) == status && first.sum == again.sum && first.calls == again.calls);
    tide_proof_close(first.verify);

    struct tide_xdr x = tide_xdr_of(first.lcm);
    tide_ledger_skip(&x);
    PROMISE(tide_xdr_end(&x) == status);
    PROMISE(x.fail_at <= size);
    return 0;
}
