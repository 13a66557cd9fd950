/* The verifier's transactions byte for byte, and the transactions that the signer refuses. */
#include "api/attester/chain/signer.h"
#include "tidemark/scval.h"
#include "tidemark/strkey.h"
#include "tidemark/text.h"
#include "tidemark/tx.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* --- another program's transaction ------------------------------------------------------------ */

static tide_slice field(const char *json, const char *name)
{
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\": \"", name);
    const char *at = strstr(json, quoted);
    assert_non_null(at);
    at += strlen(quoted);
    return tide_slice_of(at, strcspn(at, "\""));
}

static uint64_t number(const char *json, const char *name)
{
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\":", name);
    const char *at = strstr(json, quoted);
    assert_non_null(at);
    at += strlen(quoted) + strspn(at + strlen(quoted), " \"");
    return strtoull(at, NULL, 10);
}

static char *read_vector(void)
{
    static char json[65536];
    char path[512];
    const char *shared = getenv("TIDE_SHARED");
    snprintf(path, sizeof path, "%s/fixtures/vectors/tx-invoke.json",
             shared ? shared : "../shared");
    FILE *file = fopen(path, "r");
    if (!file) {
        puts("skipped: no fixtures/vectors/tx-invoke.json in TIDE_SHARED or ../shared");
        skip();
    }
    json[fread(json, 1, sizeof json - 1, file)] = 0;
    fclose(file);
    return json;
}

struct vector {
    struct tide_buf args, soroban, auth, draft, signed_bytes, bump;
    uint8_t hash[TIDE_HASH_BYTES], bump_hash[TIDE_HASH_BYTES];
};

static void decode(struct tide_buf *out, tide_slice base64)
{
    tide_buf_init(out, ATT_ENVELOPE_MAX);
    assert_int_equal(tide_buf_base64_decode(out, base64), TIDE_OK);
}

static void read_parts(struct vector *v, const char *json)
{
    tide_buf_init(&v->args, 4096);
    const char *at = strstr(json, "\"args\"");
    for (int i = 0; i < 3; i++) {
        at = strstr(at + (i ? strcspn(at + 1, "\"") + 2 : 6), "\"AAAA");
        assert_non_null(at);
        tide_slice text = tide_slice_of(at + 1, strcspn(at + 1, "\""));
        assert_int_equal(tide_buf_base64_decode(&v->args, text), TIDE_OK);
        at += text.len;
    }
    decode(&v->soroban, field(json, "sorobanTransactionDataBase64"));
    decode(&v->auth, field(json, "authEntrySourceAccountBase64"));
    decode(&v->draft, field(json, "draftEnvelopeBase64"));
    decode(&v->signed_bytes, field(json, "signedEnvelopeBase64"));
    decode(&v->bump, field(strstr(json, "\"feeBump\""), "envelopeBase64"));
    assert_int_equal(tide_hex_decode(v->hash, TIDE_HASH_BYTES, field(json, "txHash")), TIDE_OK);
    assert_int_equal(
        tide_hex_decode(v->bump_hash, TIDE_HASH_BYTES, field(strstr(json, "\"feeBump\""), "hash")),
        TIDE_OK);
}

static void release_parts(struct vector *v)
{
    struct tide_buf *all[] = { &v->args,  &v->soroban,      &v->auth,
                               &v->draft, &v->signed_bytes, &v->bump };
    for (size_t i = 0; i < TIDE_COUNT(all); i++)
        tide_buf_release(all[i]);
}

static void key_of(uint8_t out[TIDE_HASH_BYTES], tide_slice text, enum tide_strkey want)
{
    uint8_t payload[TIDE_STRKEY_PAYLOAD_MAX];
    enum tide_strkey kind;
    size_t len;
    assert_int_equal(tide_strkey_decode(&kind, payload, &len, text), TIDE_OK);
    assert_int_equal(kind, want);
    memcpy(out, payload, TIDE_HASH_BYTES);
}

/* Returns the offset of max_time: after envelope type, source, fee, sequence number, the union arm
 * and min_time. */
static uint64_t max_time_of(const struct tide_buf *draft)
{
    return tide_be64(draft->ptr + 4 + 36 + 4 + 8 + 4 + 8);
}

/* Allows the code that the recorded footprint reads. */
static void allow_code_of(struct att_signer *signer, tide_slice soroban)
{
    const uint8_t type[] = { 0, 0, 0, 7 };
    if (!soroban.ptr) {
        fail_msg("no footprint was recorded");
        return;
    }
    const uint8_t *at = memmem(soroban.ptr, soroban.len, type, sizeof type);
    while (at && (at - soroban.ptr) % 4)
        at = memmem(at + 1, (size_t)(soroban.ptr + soroban.len - at - 1), type, sizeof type);
    if (at)
        att_signer_allow_code(signer, at + sizeof type);
}

static void the_recorded_transaction_comes_out_the_same(void **state)
{
    (void)state;
    const char *json = read_vector();
    struct vector v = { 0 };
    struct tide_buf out;
    struct tide_err err;
    struct att_signer *signer;
    struct att_policy policy = { .fee_max = 100000, .latest = UINT64_MAX };
    struct tide_call call = { .function = "attest", .arg_count = 3 };
    struct tide_draft draft = { .seq = (int64_t)number(json, "txSequence"), .call = &call };
    uint8_t seed[TIDE_HASH_BYTES], hash[TIDE_HASH_BYTES];
    read_parts(&v, json);
    key_of(seed, field(json, "secretSeed"), TIDE_STRKEY_SEED);
    key_of(call.contract, field(json, "contract"), TIDE_STRKEY_CONTRACT);
    key_of(draft.source, field(json, "source"), TIDE_STRKEY_ACCOUNT);
    memcpy(policy.contract, call.contract, TIDE_HASH_BYTES);
    tide_network_id(policy.network_id, field(json, "networkPassphrase"));
    assert_int_equal(att_signer_of(&signer, seed, &policy), TIDE_OK);
    call.args = tide_buf_view(&v.args);
    draft.max_time = max_time_of(&v.draft);
    draft.fee = (uint32_t)number(json, "draftFee");
    tide_buf_init(&out, ATT_ENVELOPE_MAX);
    assert_int_equal(tide_envelope_put(&out, &draft), TIDE_OK);
    assert_true(tide_slice_eq(tide_buf_view(&out), tide_buf_view(&v.draft)));

    tide_buf_reset(&out);
    att_put_auth(&out, &call);
    assert_true(tide_slice_eq(tide_buf_view(&out), tide_buf_view(&v.auth)));

    tide_buf_reset(&out);
    draft.fee = (uint32_t)number(json, "totalFee");
    allow_code_of(signer, tide_buf_view(&v.soroban));
    draft.soroban = tide_buf_view(&v.soroban);
    draft.auth = tide_buf_view(&v.auth);
    draft.auth_count = 1;
    assert_int_equal(tide_envelope_put(&out, &draft), TIDE_OK);
    assert_int_equal(att_sign(signer, &out, &call, hash, &err), TIDE_OK);
    assert_memory_equal(hash, v.hash, sizeof hash);
    assert_true(tide_slice_eq(tide_buf_view(&out), tide_buf_view(&v.signed_bytes)));

    /* The fee bump was signed by another account. This signer refuses it, but builds the same bytes
     * and hash. */
    struct tide_envelope e;
    struct tide_xdr x;
    uint8_t source[TIDE_HASH_BYTES];
    const char *bump = strstr(json, "\"feeBump\"");
    key_of(source, field(bump, "feeSource"), TIDE_STRKEY_ACCOUNT);
    tide_buf_reset(&out);
    assert_int_equal(tide_envelope_put_bump(&out, tide_buf_view(&v.signed_bytes), source,
                                            (int64_t)number(bump, "fee")),
                     TIDE_OK);
    assert_memory_equal(out.ptr, v.bump.ptr, out.len - 4);
    assert_int_equal(tide_envelope_read(&e, tide_buf_view(&out), &x), TIDE_OK);
    tide_envelope_hash(hash, &e, policy.network_id);
    assert_memory_equal(hash, v.bump_hash, sizeof hash);
    policy.fee_max = 1000000;
    assert_int_equal(att_sign(signer, &out, &call, hash, &err), TIDE_E_CONFLICT);
    assert_non_null(strstr(err.text, "another account"));
    att_signer_close(signer);
    tide_buf_release(&out);
    release_parts(&v);
}

/* --- what is refused
 * ------------------------------------------------------------------------------ */

struct world {
    struct att_signer *signer;
    struct tide_call call;
    struct tide_draft draft;
    struct tide_buf args, soroban, auth, out;
    struct tide_err err;
    uint8_t hash[TIDE_HASH_BYTES];
};

static void put_data_key(struct tide_buf *out, const uint8_t *contract)
{
    tide_buf_be32(out, 6);
    tide_buf_be32(out, 1);
    tide_buf_put(out, contract, TIDE_HASH_BYTES);
    tide_buf_be32(out, TIDE_SCV_LEDGER_KEY_CONTRACT_INSTANCE);
    tide_buf_be32(out, 1);
}

static void put_soroban(struct tide_buf *out, const uint8_t *read, const uint8_t *write)
{
    tide_buf_reset(out);
    tide_buf_be32(out, 0);
    tide_buf_be32(out, 1);
    put_data_key(out, read);
    tide_buf_be32(out, 1);
    put_data_key(out, write);
    for (int i = 0; i < 3; i++)
        tide_buf_be32(out, 1000);
    tide_buf_be64(out, 50000);
}

static const uint8_t subject[40] = { [8] = 9 }; /* SCAddress of an account */

static int open_world(void **state)
{
    struct world *w = calloc(1, sizeof *w);
    assert_non_null(w);
    struct att_policy policy = { .fee_max = 100000, .latest = UINT64_MAX };
    const uint8_t seed[TIDE_HASH_BYTES] = { 1, 2, 3 };
    memset(policy.contract, 0xcc, TIDE_HASH_BYTES);
    memset(policy.network_id, 0x11, TIDE_HASH_BYTES);
    assert_int_equal(att_signer_of(&w->signer, seed, &policy), TIDE_OK);
    struct tide_buf *all[] = { &w->args, &w->soroban, &w->auth, &w->out };
    for (size_t i = 0; i < TIDE_COUNT(all); i++)
        tide_buf_init(all[i], ATT_ENVELOPE_MAX);
    struct att_claim words = { .subject = tide_slice_of(subject, sizeof subject),
                               .jurisdiction = 756,
                               .expires_at = 1800000000 };
    memcpy(words.verifier, att_signer_public(w->signer), TIDE_HASH_BYTES);
    w->call = (struct tide_call){ .function = "attest" };
    memcpy(w->call.contract, policy.contract, TIDE_HASH_BYTES);
    w->call.arg_count = att_put_args(&w->args, &words, false);
    w->call.args = tide_buf_view(&w->args);
    att_put_auth(&w->auth, &w->call);
    put_soroban(&w->soroban, policy.contract, policy.contract);
    w->draft =
        (struct tide_draft){ .fee = 50100, .seq = 7, .max_time = 1700000000, .call = &w->call };
    memcpy(w->draft.source, att_signer_public(w->signer), TIDE_HASH_BYTES);
    w->draft.auth = tide_buf_view(&w->auth);
    w->draft.auth_count = 1;
    w->draft.soroban = tide_buf_view(&w->soroban);
    *state = w;
    return 0;
}

static int close_world(void **state)
{
    struct world *w = *state;
    struct tide_buf *all[] = { &w->args, &w->soroban, &w->auth, &w->out };
    for (size_t i = 0; i < TIDE_COUNT(all); i++)
        tide_buf_release(all[i]);
    att_signer_close(w->signer);
    free(w);
    return 0;
}

static tide_status sign(struct world *w, const struct tide_call *meant)
{
    tide_buf_reset(&w->out);
    assert_int_equal(tide_envelope_put(&w->out, &w->draft), TIDE_OK);
    return att_sign(w->signer, &w->out, meant, w->hash, &w->err);
}

static void refused(struct world *w, const struct tide_call *meant, const char *why)
{
    struct tide_buf before;
    tide_buf_init(&before, ATT_ENVELOPE_MAX);
    assert_int_equal(tide_envelope_put(&before, &w->draft), TIDE_OK);
    assert_int_equal(sign(w, meant), TIDE_E_CONFLICT);
    if (!strstr(w->err.text, why))
        fail_msg("expected \"%s\", got \"%s\"", why, w->err.text);
    assert_true(tide_slice_eq(tide_buf_view(&before), tide_buf_view(&w->out)));
    tide_buf_release(&before);
}

static void an_attestation_is_signed_and_bumped(void **state)
{
    struct world *w = *state;
    struct tide_buf bump;
    assert_int_equal(sign(w, &w->call), TIDE_OK);
    tide_buf_init(&bump, ATT_ENVELOPE_MAX);
    assert_int_equal(tide_envelope_put_bump(&bump, tide_buf_view(&w->out), w->draft.source, 90000),
                     TIDE_OK);
    assert_int_equal(att_sign(w->signer, &bump, &w->call, w->hash, &w->err), TIDE_OK);
    tide_buf_reset(&bump);
    assert_int_equal(tide_envelope_put_bump(&bump, tide_buf_view(&w->out), w->draft.source, 100001),
                     TIDE_OK);
    assert_int_equal(att_sign(w->signer, &bump, &w->call, w->hash, &w->err), TIDE_E_CONFLICT);
    tide_buf_release(&bump);
}

static void another_call_is_refused(void **state)
{
    struct world *w = *state;
    struct tide_call other = w->call;
    w->draft.call = &other;
    other.contract[0] ^= 1;
    refused(w, &other, "not the compliance registry");
    other = w->call;
    other.function = "suspend_account";
    refused(w, &other, "a function");
    refused(w, &w->call, "a function");
    other = w->call;
    w->args.ptr[w->args.len - 1] ^= 1; /* changes the arguments of call and envelope */
    /* the authorisation still has the old arguments */
    assert_int_equal(sign(w, &w->call), TIDE_E_CONFLICT);
    assert_non_null(strstr(w->err.text, "authorisation"));
    w->args.ptr[w->args.len - 1] ^= 1;
    other.arg_count = 2;
    other.args.len = 4 + 40 + 4 + 40;
    refused(w, &w->call, "arguments");
}

static void another_account_or_network_is_refused(void **state)
{
    struct world *w = *state;
    uint8_t hash[TIDE_HASH_BYTES];
    assert_int_equal(sign(w, &w->call), TIDE_OK);
    memcpy(hash, w->hash, sizeof hash);
    w->draft.source[3] ^= 1;
    refused(w, &w->call, "another account");
    w->draft.source[3] ^= 1;
    struct att_signer *elsewhere;
    struct att_policy policy = *att_signer_policy(w->signer);
    const uint8_t seed[TIDE_HASH_BYTES] = { 1, 2, 3 };
    policy.network_id[0] ^= 1;
    assert_int_equal(att_signer_of(&elsewhere, seed, &policy), TIDE_OK);
    tide_buf_reset(&w->out);
    assert_int_equal(tide_envelope_put(&w->out, &w->draft), TIDE_OK);
    assert_int_equal(att_sign(elsewhere, &w->out, &w->call, w->hash, &w->err), TIDE_OK);
    /* the signature is for another hash, invalid on the first network */
    assert_memory_not_equal(w->hash, hash, sizeof hash);
    att_signer_close(elsewhere);
}

static void a_signed_envelope_is_not_signed_again(void **state)
{
    struct world *w = *state;
    assert_int_equal(sign(w, &w->call), TIDE_OK);
    assert_int_equal(att_sign(w->signer, &w->out, &w->call, w->hash, &w->err), TIDE_E_CONFLICT);
}

static void fees_have_a_ceiling(void **state)
{
    struct world *w = *state;
    w->draft.fee = 100000;
    assert_int_equal(sign(w, &w->call), TIDE_OK);
    w->draft.fee = 100001;
    refused(w, &w->call, "attester_fee_max");
    w->draft.fee = 0;
    refused(w, &w->call, "attester_fee_max");
}

static void authorisations_are_of_the_source_and_the_call_alone(void **state)
{
    struct world *w = *state;
    w->auth.ptr[3] = 1; /* an address's credentials */
    tide_buf_reset(&w->out);
    assert_int_equal(tide_envelope_put(&w->out, &w->draft), TIDE_OK);
    assert_int_equal(att_sign(w->signer, &w->out, &w->call, w->hash, &w->err), TIDE_E_CONFLICT);
    w->auth.ptr[3] = 0;
    struct tide_call other = w->call;
    other.function = "revoke";
    tide_buf_reset(&w->auth);
    att_put_auth(&w->auth, &other);
    w->draft.auth = tide_buf_view(&w->auth);
    refused(w, &w->call, "authorisation");
    tide_buf_reset(&w->auth);
    att_put_auth(&w->auth, &w->call);
    att_put_auth(&w->auth, &w->call);
    w->draft.auth = tide_buf_view(&w->auth);
    w->draft.auth_count = 2;
    refused(w, &w->call, "authorisation");
    w->draft.auth_count = 0;
    w->draft.auth.len = 0;
    assert_int_equal(sign(w, &w->call), TIDE_OK);
}

static void footprints_stay_within_the_contract(void **state)
{
    struct world *w = *state;
    uint8_t other[TIDE_HASH_BYTES] = { 5 };
    put_soroban(&w->soroban, w->call.contract, other);
    refused(w, &w->call, "footprint");
    put_soroban(&w->soroban, other, w->call.contract);
    refused(w, &w->call, "footprint");
    w->draft.soroban.len = 0;
    refused(w, &w->call, "footprint");
}

static void put_code_key(struct tide_buf *out, const uint8_t *code)
{
    tide_buf_be32(out, 7);
    tide_buf_put(out, code, TIDE_HASH_BYTES);
}

static void put_count_key(struct tide_buf *out, const uint8_t *contract, uint32_t durability)
{
    tide_buf_be32(out, 6);
    tide_buf_be32(out, 1);
    tide_buf_put(out, contract, TIDE_HASH_BYTES);
    tide_buf_be32(out, TIDE_SCV_U32);
    tide_buf_be32(out, 7);
    tide_buf_be32(out, durability);
}

/* Writes a footprint that writes the instance [0], a temporary entry [1] and code [2], and reads
 * the code `read` if it is given. `restored` are the indexes of archived entries. */
static void put_restoring(struct world *w, const uint8_t *code, const uint8_t *read, uint32_t count,
                          const uint32_t *restored)
{
    tide_buf_reset(&w->soroban);
    tide_buf_be32(&w->soroban, count > 0);
    if (count)
        tide_buf_be32(&w->soroban, count);
    for (uint32_t i = 0; i < count; i++)
        tide_buf_be32(&w->soroban, restored[i]);
    tide_buf_be32(&w->soroban, read != NULL);
    if (read)
        put_code_key(&w->soroban, read);
    tide_buf_be32(&w->soroban, code ? 3 : 2);
    put_data_key(&w->soroban, w->call.contract);
    put_count_key(&w->soroban, w->call.contract, 0);
    if (code)
        put_code_key(&w->soroban, code);
    for (int i = 0; i < 3; i++)
        tide_buf_be32(&w->soroban, 1000);
    tide_buf_be64(&w->soroban, 50000);
    w->draft.soroban = tide_buf_view(&w->soroban);
}

static const uint8_t code[TIDE_HASH_BYTES] = { 0xc0, 0xde }, foreign[TIDE_HASH_BYTES] = { 0xf0 };

/* From protocol 23 on, a simulation names archived entries, and the call restores them. */
static void archived_entries_and_code_are_restored(void **state)
{
    struct world *w = *state;
    att_signer_allow_code(w->signer, code);
    put_restoring(w, code, NULL, 2, (const uint32_t[]){ 0, 2 });
    assert_int_equal(sign(w, &w->call), TIDE_OK);
    assert_true(att_restores_code(tide_buf_view(&w->out)));
    put_restoring(w, code, NULL, 1, (const uint32_t[]){ 2 });
    assert_int_equal(sign(w, &w->call), TIDE_OK);
    put_restoring(w, NULL, code, 1, (const uint32_t[]){ 0 });
    assert_int_equal(sign(w, &w->call), TIDE_OK);
    assert_false(att_restores_code(tide_buf_view(&w->out)));
    put_restoring(w, NULL, code, 0, NULL);
    assert_int_equal(sign(w, &w->call), TIDE_OK);
    w->draft.fee = 100001;
    put_restoring(w, code, NULL, 2, (const uint32_t[]){ 0, 2 });
    refused(w, &w->call, "attester_fee_max");
}

static void nothing_else_is_restored(void **state)
{
    static const uint32_t lists[][3] = {
        { 0, 1, 2 },                 /* a temporary entry */
        { 2, 0 },          { 0, 0 }, /* not in order, twice */
        { 2, 3 },          { 0 },    /* index out of range; code that is written but not restored */
        { 2, UINT32_MAX }, { 0, 2, 2 } /* no such index; twice */
    };
    static const uint32_t counts[] = { 3, 2, 2, 2, 1, 2, 3 };
    struct world *w = *state;
    att_signer_allow_code(w->signer, code);
    for (size_t i = 0; i < TIDE_COUNT(lists); i++) {
        put_restoring(w, code, NULL, counts[i], lists[i]);
        refused(w, &w->call, "footprint");
    }
    put_restoring(w, code, NULL, 0, NULL);
    refused(w, &w->call, "footprint");
    put_restoring(w, foreign, NULL, 2, (const uint32_t[]){ 0, 2 });
    refused(w, &w->call, "footprint");
    put_restoring(w, NULL, foreign, 0, NULL);
    refused(w, &w->call, "footprint");
    att_signer_allow_code(w->signer, NULL);
    put_restoring(w, code, NULL, 2, (const uint32_t[]){ 0, 2 });
    refused(w, &w->call, "footprint");
    put_restoring(w, NULL, code, 0, NULL);
    refused(w, &w->call, "footprint");
}

/* --- the key's file
 * ----------------------------------------------------------------------------------- */

static void seeds_are_read_strictly(void **state)
{
    static const struct {
        const char *text;
        bool good;
    } cases[] = {
        { "SAPANCX5MSXWCWPUH7Z4E63KOPE3XT7KS2ALXYSM2X4Y6NA2JCIVS3CU\n", true },
        { "SAPANCX5MSXWCWPUH7Z4E63KOPE3XT7KS2ALXYSM2X4Y6NA2JCIVS3CV\n", false },
        { "GA6LXTUYZZYOISGLPG4XXYRTQSCQSOFTNLSC5CRRKPTLLDOQPQ5CVSDS\n", false },
        { "SAPANCX5MSXWCWPUH7Z4E63KOPE3XT7KS2ALXYSM2X4Y6NA2JCIVS3CU \n", false },
        { "\n", false },
    };
    char path[] = "/tmp/attester.XXXXXX";
    struct att_policy policy = { .fee_max = 1, .latest = UINT64_MAX };
    struct tide_err err;
    (void)state;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    for (size_t i = 0; i < TIDE_COUNT(cases); i++) {
        struct att_signer *signer = NULL;
        size_t len = strlen(cases[i].text);
        assert_int_equal(ftruncate(fd, 0), 0);
        assert_int_equal(pwrite(fd, cases[i].text, len, 0), (int)len);
        tide_status status = att_signer_open(&signer, path, &policy, &err);
        assert_int_equal(status, cases[i].good ? TIDE_OK : TIDE_E_CONFIG);
        if (cases[i].good)
            assert_string_equal(att_signer_address(signer),
                                "GA6LXTUYZZYOISGLPG4XXYRTQSCQSOFTNLSC5CRRKPTLLDOQPQ5CVSDS");
        else
            assert_null(strstr(err.text, "SAPAN"));
        att_signer_close(signer);
    }
    assert_int_equal(fchmod(fd, 0644), 0);
    struct att_signer *signer;
    assert_int_equal(att_signer_open(&signer, path, &policy, &err), TIDE_E_CONFIG);
    close(fd);
    unlink(path);
}

int test_attester_sign(void)
{
#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, open_world, close_world)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_recorded_transaction_comes_out_the_same),
        IN_WORLD(an_attestation_is_signed_and_bumped),
        IN_WORLD(another_call_is_refused),
        IN_WORLD(another_account_or_network_is_refused),
        IN_WORLD(a_signed_envelope_is_not_signed_again),
        IN_WORLD(fees_have_a_ceiling),
        IN_WORLD(authorisations_are_of_the_source_and_the_call_alone),
        IN_WORLD(footprints_stay_within_the_contract),
        IN_WORLD(archived_entries_and_code_are_restored),
        IN_WORLD(nothing_else_is_restored),
        cmocka_unit_test(seeds_are_read_strictly),
    };
    return cmocka_run_group_tests_name("attester sign", tests, NULL, NULL);
}
