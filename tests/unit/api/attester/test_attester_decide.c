/* The attester's decisions: from the state of an intent and a server's answer to the next step. */
#include "api/attester/decide.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* --- before signing --------------------------------------------------------------------------- */

struct case_view {
    const char *name;
    struct att_view view;
    bool revoke;
    uint64_t expires_at;
    enum att_step step;
    const char *why, *detail;
};

#define NOW 1000u

/* clang-format off */
static const struct case_view views[] = {
    { "nobody yet", { .account = true, .verifier = true }, false, 0, ATT_STEP_PREPARE, "due", NULL },
    { "no account", { .verifier = true }, false, 0, ATT_STEP_WAIT, "no_account", NULL },
    { "the last number but one", { .account = true, .verifier = true, .seq = INT64_MAX - 1 }, false, 0, ATT_STEP_PREPARE, "due", NULL },
    { "the last number used", { .account = true, .verifier = true, .seq = INT64_MAX }, false, 0, ATT_STEP_WAIT, "sequence_exhausted", NULL },
    { "the last number used, there already", { .account = true, .seq = INT64_MAX, .kyc_same = true, .same = true }, false, 0, ATT_STEP_CONFIRM, "already_so", NULL },
    { "the last number used, revoke", { .account = true, .seq = INT64_MAX, .status = ATT_VERIFIED, .kyc = true, .kyc_ours = true }, true, 0, ATT_STEP_WAIT, "sequence_exhausted", NULL },
    { "not a verifier", { .account = true }, false, 0, ATT_STEP_PARK, "not_verifier", NULL },
    { "there already", { .account = true, .record = true, .status = ATT_VERIFIED, .kyc = true, .kyc_ours = true, .kyc_same = true, .same = true },
      false, 0, ATT_STEP_CONFIRM, "already_so", NULL },
    { "there already, frozen since", { .account = true, .status = ATT_VERIFIED, .frozen = true, .kyc_same = true, .same = true },
      false, 0, ATT_STEP_CONFIRM, "already_so", NULL },
    { "there, but suspended since", { .account = true, .verifier = true, .status = ATT_SUSPENDED, .kyc = true, .kyc_ours = true, .kyc_same = true },
      false, 0, ATT_STEP_PARK, "manual_review", "suspended" },
    { "suspended", { .account = true, .verifier = true, .status = ATT_SUSPENDED }, false, 0, ATT_STEP_PARK, "manual_review", "suspended" },
    { "sanctioned", { .account = true, .verifier = true, .status = ATT_SANCTIONED, .frozen = true }, false, 0, ATT_STEP_PARK, "manual_review", "sanctioned" },
    { "frozen", { .account = true, .verifier = true, .status = ATT_VERIFIED, .frozen = true }, false, 0, ATT_STEP_PARK, "manual_review", "frozen" },
    { "blocked", { .account = true, .verifier = true, .blocked = true }, false, 0, ATT_STEP_PARK, "manual_review", "jurisdiction_blocked" },
    { "a status of tomorrow", { .account = true, .verifier = true, .status = 6 }, false, 0, ATT_STEP_PARK, "manual_review", "unknown_status" },
    { "another's attestation", { .account = true, .verifier = true, .status = ATT_VERIFIED, .kyc = true }, false, 0, ATT_STEP_PREPARE, "due", NULL },
    { "revoked since the decision", { .account = true, .verifier = true, .since = "revoked_since 7" }, false, 0, ATT_STEP_PARK, "manual_review", "revoked_since 7" },
    { "suspended since the decision", { .account = true, .verifier = true, .status = ATT_SUSPENDED, .since = "status_since 7" }, false, 0, ATT_STEP_PARK, "manual_review", "suspended" },
    { "attested since, revoke", { .account = true, .kyc = true, .kyc_ours = true, .since = "attested_since 7" }, true, 0, ATT_STEP_PARK, "manual_review", "attested_since 7" },
    { "revoked since, revoke", { .account = true, .since = "status_since 7" }, true, 0, ATT_STEP_CONFIRM, "nothing_to_revoke", NULL },
    { "there already, after others", { .account = true, .kyc_same = true, .same = true, .since = "revoked_since 7" }, false, 0, ATT_STEP_CONFIRM, "already_so", NULL },
    { "changed in a ledger that is not indexed", { .account = true, .verifier = true, .unindexed = true }, false, 0, ATT_STEP_WAIT, "index_behind", NULL },
    { "lapsed record", { .account = true, .verifier = true, .status = ATT_EXPIRED }, false, 0, ATT_STEP_PREPARE, "due", NULL },
    { "ran out meanwhile", { .account = true, .verifier = true }, false, NOW, ATT_STEP_PARK, "expired", NULL },
    { "runs out later", { .account = true, .verifier = true }, false, NOW + 1, ATT_STEP_PREPARE, "due", NULL },
    { "revoke ours", { .account = true, .status = ATT_VERIFIED, .kyc = true, .kyc_ours = true }, true, 0, ATT_STEP_PREPARE, "due", NULL },
    { "revoke nothing", { .account = true, .verifier = true }, true, 0, ATT_STEP_CONFIRM, "nothing_to_revoke", NULL },
    { "revoke another's", { .account = true, .kyc = true }, true, 0, ATT_STEP_CONFIRM, "nothing_to_revoke", NULL },
    { "revoke what a former key attested", { .account = true, .verifier = true, .status = ATT_VERIFIED, .kyc = true, .kyc_former = true }, true, 0, ATT_STEP_PARK, "other_key", NULL },
    { "revoke of a suspended one", { .account = true, .status = ATT_SUSPENDED, .kyc = true, .kyc_ours = true }, true, 0, ATT_STEP_PARK, "manual_review", "suspended" },
    { "revoke of a frozen one", { .account = true, .status = ATT_VERIFIED, .frozen = true, .kyc = true, .kyc_ours = true }, true, 0, ATT_STEP_PREPARE, "due", NULL },
    { "revoke where blocked", { .account = true, .status = ATT_VERIFIED, .blocked = true, .kyc = true, .kyc_ours = true }, true, 0, ATT_STEP_PREPARE, "due", NULL },
};
/* clang-format on */

static void same(const char *a, const char *b, const char *name)
{
    bool equal = a && b ? strcmp(a, b) == 0 : a == b;
    if (!equal)
        fail_msg("%s: \"%s\", expected \"%s\"", name, a ? a : "none", b ? b : "none");
}

static void a_person_is_looked_at_before_anything_is_signed(void **state)
{
    (void)state;
    for (size_t i = 0; i < TIDE_COUNT(views); i++) {
        const struct case_view *c = &views[i];
        struct att_next next = att_decide_view(c->revoke, &c->view, c->expires_at, NOW);
        if (next.step != c->step)
            fail_msg("%s: step %d, expected %d", c->name, next.step, c->step);
        same(next.why, c->why, c->name);
        same(next.detail, c->detail, c->name);
    }
}

static void what_was_overwritten_has_a_word(void **state)
{
    static const struct {
        struct att_before before;
        bool revoke;
        const char *word;
    } cases[] = {
        { { .changed = true }, false, NULL },
        { { .changed = true, .status = ATT_VERIFIED }, false, NULL },
        { { .changed = true, .status = ATT_EXPIRED }, true, NULL },
        { { .changed = true, .status = ATT_SUSPENDED }, false, "suspended" },
        { { .changed = true, .status = ATT_SUSPENDED }, true, "suspended" },
        { { .changed = true, .status = ATT_SANCTIONED }, false, "sanctioned" },
        { { .changed = true, .status = 6 }, false, "unknown_status" },
        { { .changed = false }, false, "unchecked" },
        /* the call left another verifier's record unchanged */
        { { .changed = false }, true, NULL },
    };
    (void)state;
    for (size_t i = 0; i < TIDE_COUNT(cases); i++)
        same(att_decide_overwrote(cases[i].revoke, &cases[i].before), cases[i].word, "overwrote");
    same(att_decide_overwrote(true, NULL), "unchecked", "nobody can read it");
}

/* --- under way
 * ------------------------------------------------------------------------------------- */

/* A transaction signed at ledger 100 and valid until time 5000. The server has the ledgers from 50
 * to `latest`. */
#define FLIGHT .seq = 8, .max_time = 5000, .submit_ledger = 100
#define FOUND(ledger, time)                                                              \
    {                                                                                    \
        .status = TIDE_RPC_NOT_FOUND, .oldest = 50, .latest = ledger, .close_time = time \
    }

struct case_missing {
    const char *name;
    struct att_flight flight;
    struct tide_rpc_found found;
    enum att_step step;
};

/* clang-format off */
static const struct case_missing missing[] = {
    { "never sent", { FLIGHT }, FOUND(100, 4000), ATT_STEP_SEND },
    { "sent, same ledger", { FLIGHT, .sent_ledger = 100 }, FOUND(100, 4000), ATT_STEP_WAIT },
    { "sent, a ledger later", { FLIGHT, .sent_ledger = 100 }, FOUND(101, 4005), ATT_STEP_SEND },
    { "taken, two ledgers later", { FLIGHT, .submitted = true, .sent_ledger = 101 }, FOUND(102, 4010), ATT_STEP_SEND },
    { "taken, three ledgers later", { FLIGHT, .submitted = true, .sent_ledger = 102 }, FOUND(103, 4015), ATT_STEP_BUMP },
    { "not taken, three ledgers later", { FLIGHT, .sent_ledger = 102 }, FOUND(103, 4015), ATT_STEP_SEND },
    { "bumped", { FLIGHT, .submitted = true, .bumped = true, .sent_ledger = 103 }, FOUND(103, 4015), ATT_STEP_WAIT },
    { "too low a fee", { FLIGHT, .sent_ledger = 100, .code = ATT_TX_INSUFFICIENT_FEE }, FOUND(100, 4000), ATT_STEP_BUMP },
    { "too low a fee though bumped", { FLIGHT, .bumped = true, .sent_ledger = 100, .code = ATT_TX_INSUFFICIENT_FEE }, FOUND(101, 4005), ATT_STEP_SEND },
    { "number taken, they say", { FLIGHT, .sent_ledger = 100, .code = ATT_TX_BAD_SEQ }, FOUND(100, 4000), ATT_STEP_READ_VIEW },
    { "its last moment", { FLIGHT, .sent_ledger = 110 }, FOUND(110, 5000), ATT_STEP_WAIT },
    { "behind its last moment", { FLIGHT, .sent_ledger = 110 }, FOUND(110, 5001), ATT_STEP_READ_VIEW },
    { "the server forgot", { FLIGHT, .sent_ledger = 110 }, { .oldest = 101, .latest = 111, .close_time = 4000 }, ATT_STEP_READ_VIEW },
    { "the server just remembers", { FLIGHT, .sent_ledger = 110 }, { .oldest = 100, .latest = 110, .close_time = 4000 }, ATT_STEP_WAIT },
};

struct case_ended {
    const char *name;
    struct att_flight flight;
    struct tide_rpc_found found;
    struct att_view view;
    enum att_step step;
    const char *why;
    bool clash;
};

static const struct case_ended ended[] = {
    { "dead: too late", { FLIGHT }, FOUND(120, 5001), { .ledger = 120, .account = true, .seq = 7 }, ATT_STEP_REQUEUE, "too_late", false },
    { "the server is behind the entries", { FLIGHT }, FOUND(119, 5001), { .ledger = 120, .account = true, .seq = 7 }, ATT_STEP_WAIT, "server_behind", false },
    { "it did apply: the server lies", { FLIGHT }, FOUND(120, 5001), { .ledger = 120, .account = true, .seq = 8, .kyc = true, .kyc_ours = true, .kyc_same = true },
      ATT_STEP_CONFIRM, "chain_says_so", false },
    { "somebody else's", { FLIGHT, .code = ATT_TX_BAD_SEQ }, FOUND(101, 4005), { .ledger = 101, .account = true, .seq = 8 }, ATT_STEP_REQUEUE, "number_taken", true },
    { "twice", { FLIGHT, .bad_seq = 1 }, FOUND(101, 4005), { .ledger = 101, .account = true, .seq = 9 }, ATT_STEP_REQUEUE, "number_taken", true },
    { "three times", { FLIGHT, .bad_seq = 2 }, FOUND(101, 4005), { .ledger = 101, .account = true, .seq = 8 }, ATT_STEP_PARK, "key_in_use", true },
    { "bad number, yet free", { FLIGHT, .sent_ledger = 101, .code = ATT_TX_BAD_SEQ }, FOUND(101, 4005), { .ledger = 101, .account = true, .seq = 7 }, ATT_STEP_WAIT, "queued_there", false },
    { "bad number, yet free, later", { FLIGHT, .sent_ledger = 101, .code = ATT_TX_BAD_SEQ }, FOUND(102, 4005), { .ledger = 102, .account = true, .seq = 7 }, ATT_STEP_SEND, "again", false },
    { "window passed, never applied", { FLIGHT }, { .oldest = 500, .latest = 600, .close_time = 9000 }, { .ledger = 600, .account = true, .seq = 7 }, ATT_STEP_REQUEUE, "too_late", false },
    { "window passed, the chain says so", { FLIGHT }, { .oldest = 500, .latest = 600, .close_time = 9000 },
      { .ledger = 600, .account = true, .seq = 8, .kyc_same = true }, ATT_STEP_CONFIRM, "chain_says_so", false },
    { "window passed, no server knows", { FLIGHT }, { .oldest = 500, .latest = 600, .close_time = 9000 }, { .ledger = 600, .account = true, .seq = 8 }, ATT_STEP_PARK, "unknown_outcome", false },
    { "revoked after all", { FLIGHT, .revoke = true }, FOUND(120, 5001), { .ledger = 120, .account = true, .seq = 8 }, ATT_STEP_CONFIRM, "chain_says_so", false },
    { "not revoked", { FLIGHT, .revoke = true }, FOUND(120, 5001), { .ledger = 120, .account = true, .seq = 8, .kyc = true, .kyc_ours = true }, ATT_STEP_REQUEUE, "number_taken", true },
    { "refused once", { FLIGHT, .attempts = 1, .code = -17 }, FOUND(120, 5001), { .ledger = 120, .account = true, .seq = 7 }, ATT_STEP_REQUEUE, "too_late", false },
    { "refused five times", { FLIGHT, .attempts = 5, .code = -17 }, FOUND(120, 5001), { .ledger = 120, .account = true, .seq = 7 }, ATT_STEP_PARK, "refused", false },
    { "never taken, five times", { FLIGHT, .attempts = 5 }, FOUND(120, 5001), { .ledger = 120, .account = true, .seq = 7 }, ATT_STEP_REQUEUE, "too_late", false },
};
/* clang-format on */

static void an_envelope_is_sent_again_until_its_end_is_known(void **state)
{
    (void)state;
    for (size_t i = 0; i < TIDE_COUNT(missing); i++) {
        struct att_next next = att_decide_missing(&missing[i].flight, &missing[i].found);
        if (next.step != missing[i].step)
            fail_msg("%s: step %d (%s), expected %d", missing[i].name, next.step, next.why,
                     missing[i].step);
    }
}

static void unreadable_entries_wait_while_it_may_come(void **state)
{
    const struct att_flight flight = { FLIGHT };
    const struct tide_rpc_found early = FOUND(110, 5000), late = FOUND(120, 5001);
    (void)state;
    assert_int_equal(att_decide_unread(&flight, &early).step, ATT_STEP_WAIT);
    assert_int_equal(att_decide_unread(&flight, &late).step, ATT_STEP_PARK);
}

static void an_end_is_proven_or_a_person_looks(void **state)
{
    (void)state;
    for (size_t i = 0; i < TIDE_COUNT(ended); i++) {
        const struct case_ended *c = &ended[i];
        struct att_next next = att_decide_ended(&c->flight, &c->found, &c->view);
        if (next.step != c->step || next.clash != c->clash)
            fail_msg("%s: step %d (%s), expected %d", c->name, next.step, next.why, c->step);
        same(next.why, c->why, c->name);
    }
}

/* For every combination of facts: no new transaction is made while the signed envelope can still be
 * included, and no intent is confirmed unless the chain shows it. */
static void nothing_is_made_anew_while_it_may_still_come(void **state)
{
    (void)state;
    for (unsigned bits = 0; bits < 1u << 10; bits++) {
        struct att_flight flight = { FLIGHT,
                                     .submitted = bits & 1,
                                     .bumped = bits >> 1 & 1,
                                     .sent_ledger = bits >> 2 & 1 ? 101 : 0,
                                     .code = bits >> 3 & 1 ? ATT_TX_BAD_SEQ : 0,
                                     .bad_seq = bits >> 4 & 1 ? 2 : 0 };
        struct tide_rpc_found found = { .oldest = bits >> 5 & 1 ? 500 : 50,
                                        .latest = 600,
                                        .close_time = bits >> 6 & 1 ? 5001 : 4000 };
        struct att_view view = { .ledger = 600,
                                 .account = true,
                                 .seq = bits >> 7 & 1 ? 8 : 7,
                                 .kyc = true,
                                 .kyc_ours = true,
                                 .kyc_same = bits >> 8 & 1 };
        bool may_come = view.seq < flight.seq && found.close_time <= flight.max_time;
        struct att_next next = att_decide_ended(&flight, &found, &view);
        if (may_come && (next.step == ATT_STEP_REQUEUE || next.step == ATT_STEP_PARK))
            fail_msg("bits %x: %s", bits, next.why);
        if (next.step == ATT_STEP_CONFIRM && !view.kyc_same)
            fail_msg("bits %x: confirmed", bits);
        struct att_next first = att_decide_missing(&flight, &found);
        assert_true(first.step == ATT_STEP_READ_VIEW || first.step == ATT_STEP_SEND ||
                    first.step == ATT_STEP_BUMP || first.step == ATT_STEP_WAIT);
    }
}

/* --- words
 * --------------------------------------------------------------------------------------------- */

static void codes_have_names_and_names_codes(void **state)
{
    (void)state;
    assert_string_equal(att_code_name(-5), "txBAD_SEQ");
    assert_string_equal(att_code_name(-17), "txSOROBAN_INVALID");
    assert_string_equal(att_code_name(-99), "tx");
    assert_string_equal(att_code_name(3), "tx");
    for (int32_t code = -17; code < 0; code++)
        assert_int_equal(att_code_of(att_code_name(code)), code);
    assert_int_equal(att_code_of("PENDING"), 0);
    assert_int_equal(att_code_of(""), 0);
}

static void errors_become_words(void **state)
{
    (void)state;
    static const struct {
        const char *text, *word;
    } cases[] = {
        { "HostError: Error(Contract, #7)", "contract:7" },
        { "HostError: Error(Auth, InvalidAction)", "auth:InvalidAction" },
        { "HostError: Error(WasmVm, InvalidAction)", "wasm:InvalidAction" },
        { "Error(Contract, #12) and more", "contract:12" },
        { "Error(Nothing, #1)", NULL },
        { "Error(Contract, )", NULL },
        { "Could not unmarshal transaction", NULL },
        { "", NULL },
    };
    for (size_t i = 0; i < TIDE_COUNT(cases); i++) {
        char word[ATT_ERROR_NAME_BYTES];
        bool known = att_error_of_text(word, cases[i].text);
        assert_int_equal(known, cases[i].word != NULL);
        if (known)
            assert_string_equal(word, cases[i].word);
    }
}

int test_attester_decide(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_person_is_looked_at_before_anything_is_signed),
        cmocka_unit_test(what_was_overwritten_has_a_word),
        cmocka_unit_test(an_envelope_is_sent_again_until_its_end_is_known),
        cmocka_unit_test(unreadable_entries_wait_while_it_may_come),
        cmocka_unit_test(an_end_is_proven_or_a_person_looks),
        cmocka_unit_test(nothing_is_made_anew_while_it_may_still_come),
        cmocka_unit_test(codes_have_names_and_names_codes),
        cmocka_unit_test(errors_become_words),
    };
    return cmocka_run_group_tests_name("attester decide", tests, NULL, NULL);
}
