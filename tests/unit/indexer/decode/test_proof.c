/* Proofs by hashes: the test fills in the hashes of a ledger, then breaks them one by one. Also
 * calls whose events an exporter rewrote. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <time.h>

#include <cmocka.h>

#include "indexer/decode/proof.h"
#include "tests/unit/schema/wire/literal.h"
#include "tidemark/hash.h"
#include "tidemark/tx.h"

static const uint8_t network[TIDE_HASH_BYTES] = { 9, 8, 7 };

static void hash_parts(struct literal *l, const char *mark, tide_slice a, tide_slice b)
{
    struct tide_sha256 h;
    tide_sha256_init(&h);
    tide_sha256_update(&h, a);
    tide_sha256_update(&h, b);
    tide_sha256_final(&h, l->buf.ptr + literal_at(l, mark));
}

/* Fills in the hashes from the innermost to the outermost: call, transaction, result set, set,
 * header. */
static void open_proved(struct literal *l)
{
    static const uint8_t one[4] = { 0, 0, 0, 1 }, tx_type[4] = { 0, 0, 0, 2 };
    struct tide_sha256 h;
    literal_open(l, ledger_literal);
    hash_parts(l, "callhash", literal_between(l, "return", "returnend"),
               literal_between(l, "events", "eventsend"));
    tide_sha256_init(&h);
    tide_sha256_update(&h, tide_slice_of(network, TIDE_HASH_BYTES));
    tide_sha256_update(&h, tide_slice_of(tx_type, 4));
    tide_sha256_update(&h, literal_between(l, "tx", "txend"));
    tide_sha256_final(&h, l->buf.ptr + literal_at(l, "txhash"));
    hash_parts(l, "resulthash", tide_slice_of(one, 4), literal_between(l, "pair", "pairend"));
    hash_parts(l, "sethash", literal_between(l, "set", "setend"), (tide_slice){ 0 });
    hash_parts(l, "hash", literal_between(l, "header", "headerend"), (tide_slice){ 0 });
}

struct run {
    struct tide_proof_check *verify;
    enum tide_call_proof call;
    bool joined;
};

static tide_status on_header(void *self, const struct tide_ledger_header *h)
{
    tide_proof_header(((struct run *)self)->verify, h);
    return TIDE_OK;
}

static tide_status on_envelope(void *self, const struct tide_envelope *envelope)
{
    return tide_proof_envelope(((struct run *)self)->verify, envelope);
}

static tide_status on_set(void *self, tide_slice set)
{
    tide_proof_tx_set(((struct run *)self)->verify, set);
    return TIDE_OK;
}

static tide_status on_tx(void *self, const struct tide_tx *tx, bool *inside)
{
    struct run *r = self;
    (void)inside;
    tide_proof_tx(r->verify, tx);
    r->joined = tide_proof_find(r->verify, tx->hash).len > 0;
    return TIDE_OK;
}

static tide_status on_tx_end(void *self, const struct tide_tx *tx)
{
    struct run *r = self;
    r->call = tide_proof_tx_end(r->verify, tx);
    return TIDE_OK;
}

static struct tide_ledger_proof prove(struct run *r, tide_slice lcm)
{
    struct tide_err err;
    const struct tide_walk walk = { .self = r,
                                    .header = on_header,
                                    .envelope = on_envelope,
                                    .tx_set = on_set,
                                    .tx = on_tx,
                                    .tx_end = on_tx_end };
    assert_int_equal(tide_ledger_walk(&walk, lcm, &err), TIDE_OK);
    tide_proof_end(r->verify);
    return *tide_proof_findings(r->verify);
}

static void a_true_ledger_holds_at_every_level(void **state)
{
    (void)state;
    struct literal l;
    open_proved(&l);
    for (int level = TIDE_PROOF_CHAIN; level <= TIDE_PROOF_EVENTS; level++) {
        for (int known = 0; known < 2; known++) {
            struct run r = { 0 };
            const char *what;
            assert_int_equal(
                tide_proof_open(&r.verify, (enum tide_proof)level, known ? network : NULL),
                TIDE_OK);
            struct tide_ledger_proof p = prove(&r, tide_buf_view(&l.buf));
            enum tide_check results =
                level >= TIDE_PROOF_RESULTS ? TIDE_CHECK_HOLDS : TIDE_CHECK_NONE;
            assert_int_equal(p.header, TIDE_CHECK_HOLDS);
            assert_int_equal(p.results, results);
            assert_int_equal(p.tx_set, results);
            assert_int_equal(p.tx_set_previous, results);
            assert_int_equal(p.envelopes, known ? TIDE_CHECK_HOLDS : TIDE_CHECK_NONE);
            assert_int_equal(r.joined, known);
            assert_int_equal(p.calls_verified, level == TIDE_PROOF_EVENTS);
            assert_int_equal(r.call,
                             level == TIDE_PROOF_EVENTS ? TIDE_CALL_VERIFIED : TIDE_CALL_NONE);
            assert_true(tide_proof_holds(r.verify, &what));
            /* the same object then proves the next ledger */
            p = prove(&r, tide_buf_view(&l.buf));
            assert_int_equal(p.header, TIDE_CHECK_HOLDS);
            assert_int_equal(p.calls_verified, level == TIDE_PROOF_EVENTS);
            tide_proof_close(r.verify);
        }
    }
    literal_close(&l);
}

static void each_altered_byte_is_caught_by_the_check_it_belongs_to(void **state)
{
    (void)state;
    static const struct {
        const char *mark;
        size_t after;
        const char *what; /* NULL: only the call */
    } cases[] = {
        { "header", 200, "header hash" },
        { "hash", 0, "header hash" },
        { "pair", 39, "result set hash" }, /* fee charged                     */
        { "callhash", 5, "result set hash" },
        { "set", 20, "transaction set hash" },   /* its previous hash               */
        { "txend", 12, "transaction set hash" }, /* a signature                     */
        { "data", 8, NULL },                     /* an event's amount               */
        { "topics", 8, NULL },                   /* its name                        */
    };
    for (size_t i = 0; i < TIDE_COUNT(cases); i++) {
        struct literal l;
        struct run r = { 0 };
        const char *what = NULL;
        open_proved(&l);
        l.buf.ptr[literal_at(&l, cases[i].mark) + cases[i].after] ^= 1;
        assert_int_equal(tide_proof_open(&r.verify, TIDE_PROOF_EVENTS, network), TIDE_OK);
        struct tide_ledger_proof p = prove(&r, tide_buf_view(&l.buf));
        if (cases[i].what) {
            assert_false(tide_proof_holds(r.verify, &what));
            assert_string_equal(what, cases[i].what);
        } else {
            assert_true(tide_proof_holds(r.verify, &what));
            assert_int_equal(r.call, TIDE_CALL_UNVERIFIED);
            assert_int_equal(p.calls_unverified, 1);
        }
        tide_proof_close(r.verify);
        literal_close(&l);
    }
}

static void an_envelope_of_another_network_is_not_of_the_results(void **state)
{
    (void)state;
    static const uint8_t other[TIDE_HASH_BYTES] = { 1 };
    struct literal l;
    struct run r = { 0 };
    open_proved(&l);
    assert_int_equal(tide_proof_open(&r.verify, TIDE_PROOF_CHAIN, other), TIDE_OK);
    struct tide_ledger_proof p = prove(&r, tide_buf_view(&l.buf));
    assert_int_equal(p.envelopes, TIDE_CHECK_FAILS);
    assert_false(r.joined);
    tide_proof_close(r.verify);
    literal_close(&l);
}

/* ---- rewritten events ---- */

#define SAC      "32*d7"
#define ISSUER   "32*15"
#define ALICE    "00000012 00000000 00000000 32*a1 "
#define BOB      "00000012 00000000 00000000 32*b0 "
#define ISSUER_A "00000012 00000000 00000000 " ISSUER " "
#define ADMIN_A  "00000012 00000001 32*ad "
#define HEAD(n)  "00000000 00000001 " SAC " 00000001 00000000 0000000" #n " "
#define AMOUNT   "0000000a 0000000000000000 0000000000000005 "
#define MINT     "0000000f 00000004 6d696e74 "
#define BURN     "0000000f 00000004 6275726e "
#define TRANSFER "0000000f 00000008 7472616e73666572 "
/* "USD:G…" of the issuer 15…15; the text was made by an independent encoder */
#define ASSET                                                          \
    "0000000e 0000003c 5553443a "                                      \
    "47414b524b46495643554b524b46495643554b524b46495643554b524b464956" \
    "43554b524b46495643554b524b46495643554b524c323647 "

struct rewriting {
    const char *count;
    const char *now;    /* as the export has them */
    const char *before; /* as the host hashed them; count in front */
    enum tide_call_proof proof;
};

static enum tide_call_proof prove_call(const struct rewriting *c)
{
    struct literal now;
    struct literal before;
    struct tide_proof_check *verify;
    static const uint8_t nothing[4] = { 0, 0, 0, 1 }; /* ScVal void */
    uint8_t hash[TIDE_HASH_BYTES];
    char text[8192];
    snprintf(text, sizeof text, "%s %s", c->count, c->now);
    literal_open(&now, text);
    snprintf(text, sizeof text, "00000001 %s", c->before);
    literal_open(&before, text);
    tide_sha256(hash, tide_buf_view(&before.buf));
    struct tide_tx tx = { .index = 1,
                          .count = 1,
                          .successful = true,
                          .invoke_hash = hash,
                          .hash = hash,
                          .return_value = tide_slice_of(nothing, 4),
                          .op_events = tide_buf_view(&now.buf) };
    assert_int_equal(tide_proof_open(&verify, TIDE_PROOF_EVENTS, NULL), TIDE_OK);
    enum tide_call_proof proof = tide_proof_tx_end(verify, &tx);
    tide_proof_close(verify);
    literal_close(&now);
    literal_close(&before);
    return proof;
}

static void rewritten_asset_events_are_turned_back(void **state)
{
    (void)state;
    static const struct rewriting cases[] = {
        { "00000001", HEAD(3) MINT ALICE ASSET AMOUNT, "00000001 " HEAD(3) MINT ALICE ASSET AMOUNT,
          TIDE_CALL_VERIFIED },
        { "00000001", HEAD(3) MINT ALICE ASSET AMOUNT,
          "00000001 " HEAD(4) TRANSFER ISSUER_A ALICE ASSET AMOUNT, TIDE_CALL_REWRITTEN },
        { "00000001", HEAD(3) MINT ALICE ASSET AMOUNT,
          "00000001 " HEAD(4) MINT ISSUER_A ALICE ASSET AMOUNT, TIDE_CALL_REWRITTEN },
        { "00000001", HEAD(3) BURN ALICE ASSET AMOUNT,
          "00000001 " HEAD(4) TRANSFER ALICE ISSUER_A ASSET AMOUNT, TIDE_CALL_REWRITTEN },
        /* both ambiguities together: one mint was a transfer, the other event lacked its admin */
        { "00000002", HEAD(3) MINT ALICE ASSET AMOUNT HEAD(3) MINT BOB ASSET AMOUNT,
          "00000002 " HEAD(4) TRANSFER ISSUER_A ALICE ASSET AMOUNT HEAD(4)
              MINT ISSUER_A BOB ASSET AMOUNT,
          TIDE_CALL_REWRITTEN },
        { "00000003",
          HEAD(3) BURN ALICE ASSET AMOUNT HEAD(3) MINT BOB ASSET AMOUNT HEAD(3)
              BURN BOB ASSET AMOUNT,
          "00000003 " HEAD(4) TRANSFER ALICE ISSUER_A ASSET AMOUNT HEAD(4)
              TRANSFER ISSUER_A BOB ASSET AMOUNT HEAD(3) BURN BOB ASSET AMOUNT,
          TIDE_CALL_REWRITTEN },
        /* the exporter's reconciling events come first */
        { "00000003",
          HEAD(3) MINT BOB ASSET AMOUNT HEAD(3) BURN BOB ASSET AMOUNT HEAD(4)
              TRANSFER ALICE BOB ASSET AMOUNT,
          "00000001 " HEAD(4) TRANSFER ALICE BOB ASSET AMOUNT, TIDE_CALL_REWRITTEN },
        /* an altered amount matches none of the rewritten forms */
        { "00000001", HEAD(3) MINT ALICE ASSET "0000000a 0000000000000000 0000000000000006 ",
          "00000001 " HEAD(4) MINT ISSUER_A ALICE ASSET AMOUNT, TIDE_CALL_UNVERIFIED },
        { "00000001", HEAD(4) TRANSFER ALICE BOB ASSET AMOUNT,
          "00000001 " HEAD(4) TRANSFER BOB ALICE ASSET AMOUNT, TIDE_CALL_UNVERIFIED },
        { "00000000", "", "00000001 " HEAD(3) MINT ALICE ASSET AMOUNT, TIDE_CALL_UNVERIFIED },
    };
    for (size_t i = 0; i < TIDE_COUNT(cases); i++) {
        enum tide_call_proof proof = prove_call(&cases[i]);
        if (proof != cases[i].proof)
            print_message("case %zu\n", i);
        assert_int_equal(proof, cases[i].proof);
    }
}

static void clawback_and_set_authorized_get_their_admin_back(void **state)
{
    (void)state;
    static const struct rewriting cases[] = {
        { "00000001", HEAD(3) "0000000f 00000008 636c61776261636b " ALICE ASSET AMOUNT,
          "00000001 " HEAD(4) "0000000f 00000008 636c61776261636b " ISSUER_A ALICE ASSET AMOUNT,
          TIDE_CALL_REWRITTEN },
        { "00000001",
          HEAD(3) "0000000f 0000000e 7365745f617574686f72697a6564 0000 " ALICE ASSET
                  "00000000 00000001 ",
          "00000001 " HEAD(4) "0000000f 0000000e 7365745f617574686f72697a6564 0000 " ISSUER_A ALICE
              ASSET "00000000 00000001 ",
          TIDE_CALL_REWRITTEN },
        /* the admin is a contract that emitted in the same call */
        { "00000002",
          HEAD(3) MINT ALICE ASSET AMOUNT
          "00000000 00000001 32*ad 00000001 00000000 00000000 00000001 ",
          "00000002 " HEAD(4) MINT ADMIN_A ALICE ASSET AMOUNT
          "00000000 00000001 32*ad 00000001 00000000 00000000 00000001 ",
          TIDE_CALL_REWRITTEN },
    };
    for (size_t i = 0; i < TIDE_COUNT(cases); i++)
        assert_int_equal(prove_call(&cases[i]), cases[i].proof);
}

/* The search through a thousand ambiguous mints ends in bounded time, without a proof. */
static void the_search_is_bounded(void **state)
{
    (void)state;
    struct literal one;
    struct tide_buf events;
    struct tide_proof_check *verify;
    static const uint8_t nothing[4] = { 0, 0, 0, 1 }, goal[TIDE_HASH_BYTES] = { 1 };
    literal_open(&one, HEAD(3) MINT ALICE ASSET AMOUNT);
    for (uint32_t count = 200; count <= 1000; count += 800) {
        tide_buf_init(&events, 4 << 20);
        tide_buf_be32(&events, count);
        for (uint32_t i = 0; i < count; i++)
            tide_buf_slice(&events, tide_buf_view(&one.buf));
        struct tide_tx tx = { .successful = true,
                              .invoke_hash = goal,
                              .hash = goal,
                              .return_value = tide_slice_of(nothing, 4),
                              .op_events = tide_buf_view(&events) };
        assert_int_equal(tide_proof_open(&verify, TIDE_PROOF_EVENTS, NULL), TIDE_OK);
        assert_int_equal(tide_proof_tx_end(verify, &tx), TIDE_CALL_UNVERIFIED);
        tide_proof_close(verify);
        tide_buf_release(&events);
    }
    literal_close(&one);
}

/* --- chosen transactions ------------------------------------------------------------------ */

enum { CHOSEN = 1 << 15, CHOSEN_FROM = 64 };

/* The envelope of a transaction without operations, with this sequence number. */
static tide_slice make_envelope(uint8_t out[72], uint64_t sequence)
{
    memset(out, 0, 72);
    out[3] = 2; /* type; the source account is 0, the fee comes at 40 */
    for (int i = 0; i < 8; i++)
        out[44 + i] = (uint8_t)(sequence >> (56 - 8 * i));
    return tide_slice_of(out, 72);
}

/* Returns whether the first bytes of the hash are among the lowest of CHOSEN_FROM. */
static bool is_low(const uint8_t *hash)
{
    uint32_t word;
    memcpy(&word, hash, sizeof word);
    return (word & (2 * CHOSEN - 1)) < 2 * CHOSEN / CHOSEN_FROM;
}

/* Adds CHOSEN envelopes, chosen: whose hashes are alike. Returns the CPU time of the table. */
static clock_t add_envelopes(bool chosen)
{
    static uint8_t bytes[CHOSEN][72];
    struct tide_proof_check *verify;
    struct tide_envelope envelope;
    struct tide_xdr x;
    uint64_t sequence = 0;
    for (uint32_t i = 0; i < CHOSEN; sequence++) {
        uint8_t hash[TIDE_HASH_BYTES];
        tide_slice one = make_envelope(bytes[i], sequence);
        assert_int_equal(tide_envelope_read(&envelope, one, &x), TIDE_OK);
        tide_envelope_hash(hash, &envelope, network);
        i += !chosen || is_low(hash);
    }
    assert_int_equal(tide_proof_open(&verify, TIDE_PROOF_CHAIN, network), TIDE_OK);
    clock_t began = clock();
    for (uint32_t i = 0; i < CHOSEN; i++) {
        assert_int_equal(tide_envelope_read(&envelope, tide_slice_of(bytes[i], 72), &x), TIDE_OK);
        assert_int_equal(tide_proof_envelope(verify, &envelope), TIDE_OK);
    }
    clock_t took = clock() - began;
    tide_proof_close(verify);
    return took + 1;
}

/* A server can send a transaction set of its own making: no hash of it is compared before its end.
 * (Placed by their first bytes, these took more than a hundred times as long.) */
static void chosen_transactions_cost_no_more_than_others(void **state)
{
    (void)state;
    clock_t others = add_envelopes(false), chosen = add_envelopes(true);
    if (chosen > 10 * others)
        fail_msg("chosen transactions took %ld times as long", (long)(chosen / others));
}

int test_proof(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_true_ledger_holds_at_every_level),
        cmocka_unit_test(each_altered_byte_is_caught_by_the_check_it_belongs_to),
        cmocka_unit_test(an_envelope_of_another_network_is_not_of_the_results),
        cmocka_unit_test(rewritten_asset_events_are_turned_back),
        cmocka_unit_test(clawback_and_set_authorized_get_their_admin_back),
        cmocka_unit_test(the_search_is_bounded),
        cmocka_unit_test(chosen_transactions_cost_no_more_than_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
