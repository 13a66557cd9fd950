/* Every union arm of the protocol, from the shared fixtures: single values of each type, and
 * ledgers that together hold every arm. Skipped where the fixtures are absent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "indexer/source/split.h"
#include "tidemark/buf.h"
#include "tidemark/meta.h"
#include "tidemark/text.h"
#include "tidemark/tx.h"
#include "tidemark/xdr_skip.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[1024];

static bool find_fixtures(void)
{
    const char *shared = getenv("TIDE_SHARED");
    const char *const tried[] = { shared ? shared : "", TIDE_SOURCE_DIR "/../shared",
                                  TIDE_SOURCE_DIR "/../../shared" };
    for (size_t i = 0; i < TIDE_COUNT(tried); i++) {
        snprintf(folder, sizeof folder, "%s/fixtures/synthetic", tried[i]);
        if (*tried[i] && access(folder, R_OK) == 0)
            return true;
    }
    return false;
}

static struct tide_buf read_fixture(const char *name)
{
    char path[1200];
    struct tide_buf buf;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    tide_buf_init(&buf, 16 << 20);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t len;
    do {
        uint8_t *room = tide_buf_room(&buf, 1 << 16);
        assert_non_null(room);
        len = fread(room, 1, 1 << 16, file);
        buf.len += len;
    } while (len);
    fclose(file);
    return buf;
}

static void step_key(struct tide_xdr *x)
{
    struct tide_change key;
    skip_ledger_key(x, &key);
}

static void step_entry(struct tide_xdr *x)
{
    struct tide_change entry;
    skip_ledger_entry(x, &entry);
}

static void step_event(struct tide_xdr *x)
{
    struct tide_event event;
    tide_event_read(x, &event);
}

static void step_result(struct tide_xdr *x)
{
    struct tide_tx tx = { 0 };
    skip_operation_result(x, &tx);
}

static const struct {
    const char *type;
    void (*step)(struct tide_xdr *x);
} types[] = {
    { "SCVal", tide_scval_skip },
    { "SCAddress", tide_scaddress_skip },
    { "Asset", skip_asset },
    { "TrustLineAsset", skip_trust_line_asset },
    { "MuxedAccount", skip_muxed_account },
    { "SignerKey", skip_signer_key },
    { "ClaimPredicate", skip_claim_predicate },
    { "ClaimableBalanceID", skip_claimable_balance_id },
    { "OfferEntry", skip_offer_entry },
    { "ConfigSettingEntry", skip_config_setting_entry },
    { "LedgerKey", step_key },
    { "LedgerEntry", step_entry },
    { "ContractEvent", step_event },
    { "OperationResult", step_result },
    { "TransactionEnvelope", tide_envelope_skip },
    { "SCPHistoryEntry", skip_scp_history_entry },
    { "LedgerCloseMeta", tide_ledger_skip },
};

/* Reads the value in memory of its exact size, then cut at every byte. */
static void check_value(void (*step)(struct tide_xdr *x), tide_slice value)
{
    for (size_t len = 0; len <= value.len; len++) {
        uint8_t *exact = malloc(len + 1);
        assert_non_null(exact);
        memcpy(exact, value.ptr, len);
        struct tide_xdr x = tide_xdr_of(tide_slice_of(exact, len));
        step(&x);
        assert_int_equal(tide_xdr_end(&x), len == value.len ? TIDE_OK : TIDE_E_DECODE);
        assert_int_equal(x.truncated, len != value.len);
        free(exact);
    }
}

/* Returns the text between "name": " and the next quote. */
static tide_slice member(tide_slice line, const char *name)
{
    char quoted[32];
    snprintf(quoted, sizeof quoted, "\"%s\": \"", name);
    const uint8_t *at = memmem(line.ptr, line.len, quoted, strlen(quoted));
    if (!at)
        return (tide_slice){ 0 };
    at += strlen(quoted);
    const uint8_t *end = memchr(at, '"', (size_t)(line.ptr + line.len - at));
    assert_non_null(end);
    return tide_slice_of(at, (size_t)(end - at));
}

static void single_values_of_each_type_are_stepped_over_exactly(void **state)
{
    (void)state;
    struct tide_buf file = read_fixture("xdr-types.jsonl");
    unsigned seen[TIDE_COUNT(types)] = { 0 };
    uint8_t value[8192];
    for (size_t at = 0; at < file.len;) {
        const uint8_t *newline = memchr(file.ptr + at, '\n', file.len - at);
        size_t end = newline ? (size_t)(newline - file.ptr) : file.len;
        tide_slice line = tide_slice_of(file.ptr + at, end - at);
        tide_slice type = member(line, "type");
        tide_slice hex = member(line, "hex");
        at = end + 1;
        for (size_t i = 0; i < TIDE_COUNT(types); i++) {
            if (!tide_slice_eq_str(type, types[i].type))
                continue;
            assert_true(hex.len / 2 <= sizeof value);
            assert_int_equal(tide_hex_decode(value, hex.len / 2, hex), TIDE_OK);
            check_value(types[i].step, tide_slice_of(value, hex.len / 2));
            seen[i]++;
        }
    }
    for (size_t i = 0; i < TIDE_COUNT(types); i++)
        assert_true(seen[i] > 0);
    tide_buf_release(&file);
}

/* Sets each word to values that no arm has: the reader returns an error or reads other values, and
 * never crashes. */
static void alter_words(tide_slice frame)
{
    static const uint32_t values[] = { 0x7fffffff, 0xffffffff, 0x00000063 };
    uint8_t *copy = malloc(frame.len);
    struct tide_err err;
    const struct tide_walk nothing = { .diagnostics = true };
    assert_non_null(copy);
    for (size_t at = 0; at + 4 <= frame.len; at += 4) {
        for (size_t i = 0; i < TIDE_COUNT(values); i++) {
            uint32_t word = __builtin_bswap32(values[i]);
            memcpy(copy, frame.ptr, frame.len);
            memcpy(copy + at, &word, 4);
            tide_status status = tide_ledger_walk(&nothing, tide_slice_of(copy, frame.len), &err);
            assert_true(status == TIDE_OK || status == TIDE_E_DECODE || status == TIDE_E_UNKNOWN ||
                        status == TIDE_E_LIMIT);
        }
    }
    free(copy);
}

static void ledgers_that_hold_every_arm_are_walked_to_their_last_byte(void **state)
{
    (void)state;
    struct tide_buf file = read_fixture("lcm-all-arms.xdr");
    struct tide_split split = { 0 };
    struct tide_err err;
    tide_slice in = tide_buf_view(&file);
    tide_slice lcm;
    const struct tide_walk nothing = { .diagnostics = true };
    unsigned frames = 0;
    tide_status status;
    while ((status = tide_split_next(&split, &in, true, &lcm, &err)) == TIDE_OK) {
        assert_int_equal(tide_ledger_walk(&nothing, lcm, &err), TIDE_OK);
        check_value(tide_ledger_skip, lcm);
        alter_words(lcm);
        frames++;
    }
    assert_int_equal(status, TIDE_E_EOF);
    assert_int_equal(frames, 220);
    tide_buf_release(&file);
}

int test_wire_types(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_values_of_each_type_are_stepped_over_exactly),
        cmocka_unit_test(ledgers_that_hold_every_arm_are_walked_to_their_last_byte),
    };
    if (!find_fixtures()) {
        fprintf(stderr, "skipped: no shared fixtures (set TIDE_SHARED)\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
