/* The walk over one ledger that is written byte by byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "literal.h"
#include "tidemark/meta.h"
#include "tidemark/tx.h"

struct seen {
    const struct literal *l;
    struct tide_ledger_header header;
    struct tide_ledger_tail tail;
    unsigned envelopes, txs, events[3], changes, tx_ends, upgrades, evicted, sets;
    unsigned stop_at; /* number of the event whose callback returns an error; 0: none */
    bool outside;     /* step over the transaction */
};

static bool span_is(tide_slice span, const struct literal *l, const char *from, const char *to)
{
    tide_slice want = literal_between(l, from, to);
    return span.ptr == want.ptr && span.len == want.len;
}

static tide_status see_header(void *self, const struct tide_ledger_header *h)
{
    struct seen *s = self;
    s->header = *h;
    assert_true(span_is(h->header_xdr, s->l, "header", "headerend"));
    assert_ptr_equal(h->tx_set_hash, s->l->buf.ptr + literal_at(s->l, "sethash"));
    assert_ptr_equal(h->result_hash, s->l->buf.ptr + literal_at(s->l, "resulthash"));
    return TIDE_OK;
}

static tide_status see_envelope(void *self, const struct tide_envelope *envelope)
{
    struct seen *s = self;
    s->envelopes++;
    assert_true(span_is(envelope->span, s->l, "envelope", "setend"));
    return TIDE_OK;
}

static tide_status see_set(void *self, tide_slice set)
{
    struct seen *s = self;
    s->sets++;
    assert_int_equal(s->envelopes, 1);
    assert_true(span_is(set, s->l, "set", "setend"));
    return TIDE_OK;
}

static tide_status see_tx(void *self, const struct tide_tx *tx, bool *inside)
{
    struct seen *s = self;
    s->txs++;
    assert_int_equal(tx->index, 1);
    assert_int_equal(tx->count, 1);
    assert_true(tx->successful);
    assert_int_equal(tx->fee_charged, 99);
    assert_ptr_equal(tx->invoke_hash, s->l->buf.ptr + literal_at(s->l, "callhash"));
    assert_true(span_is(tx->result_pair, s->l, "pair", "pairend"));
    *inside = !s->outside;
    return TIDE_OK;
}

static tide_status see_event(void *self, const struct tide_tx *tx, const struct tide_event *e)
{
    struct seen *s = self;
    s->events[e->level]++;
    if (s->stop_at && --s->stop_at == 0)
        return TIDE_E_STOPPED;
    assert_int_equal(e->tx, tx->index);
    assert_int_equal(e->index, 0);
    if (e->level != TIDE_EVENT_OP)
        return TIDE_OK;
    assert_int_equal(e->type, 1);
    assert_int_equal(e->contract[31], 0xc1);
    assert_int_equal(e->topic_count, 2);
    assert_true(span_is(e->topics, s->l, "topics", "data"));
    assert_true(span_is(e->data, s->l, "data", "eventsend"));
    assert_true(span_is(e->xdr, s->l, "event", "eventsend"));
    return TIDE_OK;
}

static tide_status see_change(void *self, const struct tide_tx *tx, const struct tide_change *c)
{
    static const struct {
        enum tide_section section;
        enum tide_change_kind kind;
        uint32_t index, type;
    } want[] = {
        { TIDE_SECTION_FEE, TIDE_CHANGE_STATE, 0, 0 },
        { TIDE_SECTION_FEE, TIDE_CHANGE_UPDATED, 1, 0 },
        { TIDE_SECTION_OP, TIDE_CHANGE_CREATED, 0, 6 },
        { TIDE_SECTION_OP, TIDE_CHANGE_CREATED, 1, 9 },
        { TIDE_SECTION_OP, TIDE_CHANGE_REMOVED, 2, 1 },
    };
    struct seen *s = self;
    unsigned at = s->changes++;
    assert_true(at < TIDE_COUNT(want));
    assert_int_equal(tx->index, 1);
    assert_int_equal(c->section, want[at].section);
    assert_int_equal(c->kind, want[at].kind);
    assert_int_equal(c->index, want[at].index);
    assert_int_equal(c->type, want[at].type);
    if (c->type == TIDE_ENTRY_CONTRACT_DATA) {
        assert_true(span_is(c->contract, s->l, "contract", "key"));
        assert_true(span_is(c->key, s->l, "key", "keyend"));
        assert_true(span_is(c->value, s->l, "val", "valend"));
        assert_int_equal(c->durability, 1);
        assert_int_equal(c->last_modified, 42);
    }
    if (c->type == TIDE_ENTRY_TTL) {
        assert_int_equal(c->live_until, 0x1000);
        assert_int_equal(c->key_hash[0], 0xb7);
    }
    return TIDE_OK;
}

static tide_status see_tx_end(void *self, const struct tide_tx *tx)
{
    struct seen *s = self;
    s->tx_ends++;
    assert_int_equal(tx->meta_version, 4);
    assert_int_equal(tx->op_count, 1);
    assert_true(span_is(tx->op_events, s->l, "events", "eventsend"));
    assert_true(span_is(tx->return_value, s->l, "return", "returnend"));
    assert_int_equal(tx->soroban_ext.len, 32);
    return TIDE_OK;
}

static tide_status see_upgrade(void *self, tide_slice upgrade)
{
    struct seen *s = self;
    s->upgrades++;
    assert_int_equal(upgrade.len, 8);
    return TIDE_OK;
}

static tide_status see_evicted(void *self, tide_slice key)
{
    struct seen *s = self;
    s->evicted++;
    assert_int_equal(key.len, 36);
    return TIDE_OK;
}

static tide_status see_end(void *self, const struct tide_ledger_tail *tail)
{
    ((struct seen *)self)->tail = *tail;
    return TIDE_OK;
}

static tide_status walk(struct seen *s, tide_slice lcm, struct tide_err *err)
{
    const struct tide_walk all = {
        .self = s,
        .header = see_header,
        .envelope = see_envelope,
        .tx_set = see_set,
        .tx = see_tx,
        .event = see_event,
        .change = see_change,
        .tx_end = see_tx_end,
        .upgrade = see_upgrade,
        .evicted = see_evicted,
        .end = see_end,
        .diagnostics = true,
    };
    return tide_ledger_walk(&all, lcm, err);
}

static void every_part_is_handed_out_once(void **state)
{
    (void)state;
    struct literal l;
    struct tide_err err;
    literal_open(&l, ledger_literal);
    struct seen s = { .l = &l };
    assert_int_equal(walk(&s, tide_buf_view(&l.buf), &err), TIDE_OK);
    assert_int_equal(s.header.lcm_version, 2);
    assert_int_equal(s.header.sequence, 42);
    assert_int_equal(s.header.protocol, 23);
    assert_int_equal(s.header.close_time, 1700000000);
    assert_int_equal(s.header.close_ms, 0);
    assert_false(s.header.no_tx_set);
    assert_int_equal(s.envelopes + s.sets + s.txs + s.tx_ends + s.upgrades + s.evicted, 6);
    assert_int_equal(s.events[TIDE_EVENT_OP], 1);
    assert_int_equal(s.events[TIDE_EVENT_TX], 1);
    assert_int_equal(s.events[TIDE_EVENT_DIAGNOSTIC], 1);
    assert_int_equal(s.changes, 5);
    assert_int_equal(s.tail.live_state_bytes, 1024);
    assert_int_equal(s.tail.evicted_count, 1);
    literal_close(&l);
}

static void what_is_not_wanted_is_skipped(void **state)
{
    (void)state;
    struct literal l;
    struct tide_err err;
    literal_open(&l, ledger_literal);
    struct seen s = { .l = &l, .outside = true };
    assert_int_equal(walk(&s, tide_buf_view(&l.buf), &err), TIDE_OK);
    assert_int_equal(s.changes + s.events[0] + s.events[1] + s.events[2], 0);
    assert_int_equal(s.tx_ends, 1);
    const struct tide_walk nothing = { 0 };
    assert_int_equal(tide_ledger_walk(&nothing, tide_buf_view(&l.buf), &err), TIDE_OK);
    struct tide_xdr x = tide_xdr_of(tide_buf_view(&l.buf));
    tide_ledger_skip(&x);
    assert_int_equal(tide_xdr_end(&x), TIDE_OK);
    literal_close(&l);
}

static void a_callback_ends_the_walk_with_its_own_status(void **state)
{
    (void)state;
    struct literal l;
    struct tide_err err;
    literal_open(&l, ledger_literal);
    struct seen s = { .l = &l, .stop_at = 1 };
    assert_int_equal(walk(&s, tide_buf_view(&l.buf), &err), TIDE_E_STOPPED);
    assert_int_equal(s.tx_ends, 0);
    literal_close(&l);
}

static void cut_anywhere_it_is_malformed_and_knows_more_would_help(void **state)
{
    (void)state;
    struct literal l;
    struct tide_err err;
    const struct tide_walk nothing = { 0 };
    literal_open(&l, ledger_literal);
    for (size_t len = 0; len < l.buf.len; len++) {
        uint8_t *exact = malloc(len + 1); /* exact size: a read past the end is out of bounds */
        assert_non_null(exact);
        memcpy(exact, l.buf.ptr, len);
        assert_int_equal(tide_ledger_walk(&nothing, tide_slice_of(exact, len), &err),
                         TIDE_E_DECODE);
        struct tide_xdr x = tide_xdr_of(tide_slice_of(exact, len));
        tide_ledger_skip(&x);
        assert_true(x.truncated);
        assert_true(x.fail_at <= len);
        free(exact);
    }
    tide_buf_be32(&l.buf, 0);
    assert_int_equal(tide_ledger_walk(&nothing, tide_buf_view(&l.buf), &err), TIDE_E_DECODE);
    assert_non_null(strstr(err.text, "trailing bytes"));
    literal_close(&l);
}

/* Each row names the union arm by its offset from a mark, and the expected text of the error. */
static void an_unknown_arm_is_named_with_ledger_and_offset(void **state)
{
    (void)state;
    static const struct {
        const char *mark;
        size_t after;
        const char *text;
    } arms[] = {
        { "set", 0, "GeneralizedTransactionSet arm (77)" },
        { "envelope", 0, "TransactionEnvelope arm (77)" },
        { "tx", 0, "MuxedAccount arm (77)" },
        { "contract", 0, "SCAddress arm (77)" },
        { "key", 0, "SCVal arm (77)" },
        { "keyend", 0, "ContractDataDurability (77)" },
        { "valend", 0, "LedgerEntryExt arm (77)" },
        { "event", 0, "ContractEvent ext (77)" },
        { "event", 40, "ContractEventType (77)" },
        { "return", 0, "SCVal arm (77)" },
        { "evicted", 4, "LedgerKey arm (77)" },
    };
    const struct tide_walk nothing = { 0 };
    for (size_t i = 0; i < TIDE_COUNT(arms); i++) {
        struct literal l;
        struct tide_err err;
        literal_open(&l, ledger_literal);
        size_t at = literal_at(&l, arms[i].mark) + arms[i].after;
        l.buf.ptr[at + 3] = 77;
        assert_int_equal(tide_ledger_walk(&nothing, tide_buf_view(&l.buf), &err), TIDE_E_UNKNOWN);
        assert_non_null(strstr(err.text, arms[i].text));
        assert_non_null(strstr(err.text, "ledger 42"));
        size_t told = strtoul(strstr(err.text, "at byte ") + 8, NULL, 10);
        assert_true(told >= at && told <= at + 4);
        literal_close(&l);
    }
}

static void the_envelope_gives_call_footprint_and_bids(void **state)
{
    (void)state;
    struct literal l;
    struct tide_envelope e;
    struct tide_xdr x;
    literal_open(&l, ledger_literal);
    tide_slice span = literal_between(&l, "envelope", "setend");
    assert_int_equal(tide_envelope_read(&e, span, &x), TIDE_OK);
    assert_int_equal(e.type, 2);
    assert_true(span_is(e.signed_part, &l, "tx", "txend"));
    assert_int_equal(e.source_key[0], 0xa1);
    assert_int_equal(e.fee, 100);
    assert_int_equal(e.seq_num, 9);
    assert_int_equal(e.op_count, 1);
    assert_int_equal(e.op_types[0], 24);
    assert_true(e.has_invoke);
    assert_int_equal(e.host_function, 0);
    assert_int_equal(e.contract[0], 0xc1);
    assert_true(tide_slice_eq_str(e.function, "transfer"));
    assert_int_equal(e.arg_count, 1);
    assert_int_equal(e.args.len, 8);
    assert_int_equal(e.read_only_count, 1);
    assert_int_equal(e.read_write_count, 1);
    assert_int_equal(e.instructions, 0x1000);
    assert_int_equal(e.resource_fee, 0xabc);
    struct tide_change key;
    struct tide_xdr keys = tide_xdr_of(e.read_write);
    assert_true(tide_ledger_key_data(&keys, &key));
    assert_int_equal(key.contract.len, 36);
    assert_int_equal(tide_xdr_left(&keys), 0);
    for (size_t len = 0; len < span.len; len++)
        assert_int_not_equal(tide_envelope_read(&e, tide_slice_of(span.ptr, len), &x), TIDE_OK);
    literal_close(&l);
}

int test_walk(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_part_is_handed_out_once),
        cmocka_unit_test(what_is_not_wanted_is_skipped),
        cmocka_unit_test(a_callback_ends_the_walk_with_its_own_status),
        cmocka_unit_test(cut_anywhere_it_is_malformed_and_knows_more_would_help),
        cmocka_unit_test(an_unknown_arm_is_named_with_ledger_and_offset),
        cmocka_unit_test(the_envelope_gives_call_footprint_and_bids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
