/* Any bytes as an answer of Stellar RPC to the attester. The first byte chooses the request. The
 * rest is the result in the answer, the whole answer, or XDR in plain bytes, so that the fuzzer
 * reaches the code behind base64. The target reads each accepted value to its last byte and
 * checks its parts against each other.
 *
 * The corpus was recorded between the attester and the simulated network; the person, the contract
 * and the verifier below are that recording's. */
#include "api/attester/chain/signer.h"
#include "api/attester/chain/view.h"
#include "api/attester/decide.h"
#include "tests/fuzz/fuzz.h"
#include "tidemark/scval.h"
#include "tidemark/strkey.h"
#include "tidemark/tx.h"

#include <stdlib.h>

enum asked {
    TIP,
    ENTRIES,
    SIMULATE,
    SEND,
    FIND,
    FEE,
    WHOLE,  /* an answer with its JSON-RPC around it */
    META,   /* TransactionMeta */
    ENTRY,  /* a byte: of which key; LedgerEntryData */
    EVENT,  /* ContractEvent, and DiagnosticEvent */
    RESULT, /* TransactionResult */
    TEXT,   /* a simulation's error */
    DATA,   /* SorobanTransactionData that the attester would sign */
    ASKED_COUNT
};

static const char passphrase[] = "Tidemark Simulated Network ; not a real one";
static const char contract_text[] = "CAV5BJGAMLTXCHYKF3WKDR2KJEWEEIJW6MGUDX7KX5KKEDA2SVFRTFUS";
static const char verifier_text[] = "GAFKXLA2NXHTA2QLNSMEVRO3QJBMKT2WVADTEY6Q3QWWHNZXCQZQIJH7";
static const char subject_text[] = "GAAACAQDAQCQMBYIBEFAWDANBYHRAEISCMKBKFQXDAMRUGY4DUPB7JZX";

struct world {
    enum asked asked;
    tide_slice said;
    int64_t now_ms;
    uint8_t contract[TIDE_STRKEY_PAYLOAD_MAX], subject[44];
    struct att_claim words;
};

static int64_t now_of(void *self)
{
    return ((struct world *)self)->now_ms += 1000;
}

/* --- a server that answers with the fuzzer's bytes -------------------------------------------- */

static uint64_t id_of(tide_slice request)
{
    const char *at = memmem(request.ptr, request.len, "\"id\":", 5);
    return at ? strtoull(at + 5, NULL, 10) : 0;
}

static tide_status answer_request(void *self, const struct tide_http_request *request,
                                  struct tide_buf *body, struct tide_http_answer *how,
                                  struct tide_err *err)
{
    struct world *w = self;
    bool network = memmem(request->body.ptr, request->body.len, "getNetwork", 10) != NULL;
    (void)err;
    *how = (struct tide_http_answer){ .code = 200 };
    if (!network && w->asked == WHOLE) {
        tide_buf_slice(body, w->said);
        return TIDE_OK;
    }
    tide_buf_putf(body, "{\"jsonrpc\":\"2.0\",\"id\":%llu,\"result\":",
                  (unsigned long long)id_of(request->body));
    if (network)
        tide_buf_putf(body, "{\"passphrase\":\"%s\"}", passphrase);
    else
        tide_buf_slice(body, w->said);
    tide_buf_str(body, "}");
    return TIDE_OK;
}

/* --- reading ---------------------------------------------------------------------------------- */

static void read_bytes(tide_slice bytes)
{
    volatile uint8_t sum = 0;
    for (size_t i = 0; i < bytes.len; i++)
        sum = (uint8_t)(sum + bytes.ptr[i]);
}

static void check_view(const struct att_view *view)
{
    struct att_next attest = att_decide_view(false, view, 5000, 1000);
    struct att_next revoke = att_decide_view(true, view, 0, 1000);
    bool held = view->status == ATT_SUSPENDED || view->status == ATT_SANCTIONED || view->frozen;
    assert(attest.why && revoke.why);
    assert(!view->same || (view->kyc_same && view->status == ATT_VERIFIED));
    assert(!(held && !view->same) || attest.step != ATT_STEP_PREPARE);
    assert(!view->kyc_same || view->kyc_ours);
    assert(!view->kyc_ours || view->kyc);
}

static void read_event(struct world *w, tide_slice event)
{
    char word[ATT_ERROR_NAME_BYTES] = "";
    read_bytes(event);
    (void)att_event_is(event, w->contract, "attest", &w->words);
    if (att_error_of_event(word, event))
        assert(*word && strlen(word) < sizeof word);
}

static void read_meta(struct world *w, tide_slice meta)
{
    struct att_before before;
    struct tide_err err = { 0 };
    tide_status status = att_view_before(&before, meta, w->contract, &w->words, &err);
    assert(status == TIDE_OK || status == TIDE_E_DECODE);
    const char *word = att_decide_overwrote(false, status == TIDE_OK ? &before : NULL);
    assert(status == TIDE_OK || strcmp(word, "unchecked") == 0);
    assert(status != TIDE_OK || before.status != ATT_SUSPENDED || word);
}

static void read_found(struct world *w, const struct tide_rpc_found *found)
{
    static const uint8_t none[TIDE_HASH_BYTES];
    char word[ATT_ERROR_NAME_BYTES];
    assert(found->event_count <= TIDE_RPC_LIST_MAX && found->diagnostic_count <= TIDE_RPC_LIST_MAX);
    assert(found->status == TIDE_RPC_NOT_FOUND ||
           (found->ledger && found->ledger <= found->latest));
    for (uint32_t i = 0; i < found->event_count; i++)
        read_event(w, found->events[i]);
    for (uint32_t i = 0; i < found->diagnostic_count; i++)
        read_event(w, found->diagnostics[i]);
    att_error_of_result(word, found->result);
    (void)att_envelope_is(found->envelope, none, none);
    read_meta(w, found->meta);
}

static void read_simulated(struct world *w, const struct tide_rpc_simulated *s)
{
    struct tide_err err = { 0 };
    char word[ATT_ERROR_NAME_BYTES];
    bool told;
    uint32_t status;
    assert(s->change_count <= TIDE_RPC_LIST_MAX && (s->error[0] || s->data.len));
    read_bytes(s->data);
    for (uint32_t i = 0; i < s->auth_count; i++)
        read_bytes(s->auth[i]);
    (void)att_error_of_text(word, s->error);
    if (att_view_simulated(&told, &status, s, w->contract, &w->words, &err) != TIDE_OK)
        assert(*err.text);
}

/* The signer signs only what its policy allows, whatever a server asks for. */
static void sign(struct world *w, tide_slice data)
{
    static const uint8_t seed[TIDE_HASH_BYTES] = { 7 };
    struct att_policy policy = { .fee_max = 1000, .latest = UINT64_MAX };
    struct att_signer *signer;
    struct tide_buf args, envelope;
    struct tide_envelope e;
    struct tide_xdr x;
    struct tide_err err;
    uint8_t hash[TIDE_HASH_BYTES];
    memcpy(policy.contract, w->contract, TIDE_HASH_BYTES);
    if (att_signer_of(&signer, seed, &policy) != TIDE_OK)
        return;
    tide_buf_init(&args, ATT_ENVELOPE_MAX);
    tide_buf_init(&envelope, ATT_ENVELOPE_MAX);
    struct att_claim words = w->words;
    memcpy(words.verifier, att_signer_public(signer), TIDE_HASH_BYTES);
    struct tide_call call = { .function = "attest" };
    memcpy(call.contract, w->contract, TIDE_HASH_BYTES);
    call.arg_count = att_put_args(&args, &words, false);
    call.args = tide_buf_view(&args);
    struct tide_draft draft = {
        .fee = 500, .seq = 5, .max_time = 9, .call = &call, .soroban = data
    };
    memcpy(draft.source, words.verifier, TIDE_HASH_BYTES);
    if (tide_envelope_put(&envelope, &draft) == TIDE_OK &&
        att_sign(signer, &envelope, &call, hash, &err) == TIDE_OK) {
        tide_status status = tide_envelope_read(&e, tide_buf_view(&envelope), &x);
        assert(status == TIDE_OK && e.op_count == 1 && tide_slice_eq_str(e.function, "attest"));
        assert(tide_slice_eq(e.soroban, data) && tide_slice_eq(e.args, call.args) && e.fee == 500);
        (void)status;
    }
    tide_buf_release(&args);
    tide_buf_release(&envelope);
    att_signer_close(signer);
}

/* --- asking ----------------------------------------------------------------------------------- */

static tide_status ask_view(struct world *w, struct att_rpc *rpc, struct tide_err *err)
{
    struct att_view view;
    tide_status status = att_view_read(&view, rpc, w->contract, &w->words, err);
    if (status == TIDE_OK)
        check_view(&view);
    return status;
}

static tide_status call_server(struct world *w, struct att_rpc *rpc, struct tide_err *err)
{
    static const uint8_t hash[TIDE_HASH_BYTES];
    struct att_tip tip;
    struct tide_rpc_simulated simulated;
    struct tide_rpc_sent sent;
    struct tide_rpc_found found;
    int64_t number;
    tide_status status;
    switch ((int)w->asked) {
    case ENTRIES:
        return ask_view(w, rpc, err);
    case SIMULATE:
        status = att_rpc_simulate(rpc, &simulated, TIDE_SLICE("draft"), err);
        if (status == TIDE_OK)
            read_simulated(w, &simulated);
        return status;
    case SEND:
        status = att_rpc_send(rpc, &sent, TIDE_SLICE("signed"), err);
        assert(status != TIDE_OK || sent.status <= TIDE_RPC_ERROR);
        return status;
    case FIND:
        status = att_rpc_find(rpc, &found, hash, err);
        if (status == TIDE_OK)
            read_found(w, &found);
        return status;
    case FEE:
        status = att_rpc_fee(rpc, &number, err);
        assert(status != TIDE_OK || (number >= 100 && number <= UINT32_MAX));
        return status;
    default:
        return att_rpc_tip(rpc, &tip, err);
    }
}

static void talk(struct world *w)
{
    static struct tide_config config; /* large; the same each time */
    const struct tide_clock clock = { .self = w, .now_ms = now_of, .wall_ms = now_of };
    const struct att_rpc_options options = { .config = &config,
                                             .passphrase = passphrase,
                                             .clock = &clock,
                                             .self = w,
                                             .call = answer_request };
    struct att_rpc *rpc;
    struct tide_err err = { 0 };
    tide_config_defaults(&config);
    snprintf(config.rpc, sizeof config.rpc, "http://one.example,http://two.example");
    if (att_rpc_open(&rpc, &options, &err) != TIDE_OK)
        abort();
    /* Reads the answer twice: state left by the first reading must not spoil the second. */
    for (int i = 0; i < 2; i++) {
        tide_status status = call_server(w, rpc, &err);
        assert(status == TIDE_OK || *err.text);
    }
    att_rpc_close(rpc);
}

static void read_plain(struct world *w)
{
    struct tide_rpc_entries entries = { .ledger = 9 };
    struct att_view view;
    struct tide_err err;
    char text[300], word[ATT_ERROR_NAME_BYTES];
    switch ((int)w->asked) {
    case META:
        read_meta(w, w->said);
        break;
    case ENTRY:
        if (w->said.len == 0)
            break;
        entries.data[w->said.ptr[0] % ATT_VIEW_KEYS] =
            tide_slice_of(w->said.ptr + 1, w->said.len - 1);
        if (att_view_of(&view, &entries, &w->words, &err) == TIDE_OK)
            check_view(&view);
        break;
    case EVENT:
        read_event(w, w->said);
        break;
    case RESULT:
        att_error_of_result(word, w->said);
        assert(*word && strlen(word) < sizeof word);
        break;
    case TEXT:
        snprintf(text, sizeof text, "%.*s", (int)(w->said.len < 290 ? w->said.len : 290),
                 (const char *)w->said.ptr);
        if (att_error_of_text(word, text))
            assert(strlen(word) < sizeof word);
        break;
    default:
        sign(w, w->said);
    }
}

static void decode(uint8_t *out, const char *text)
{
    enum tide_strkey kind;
    size_t len;
    if (tide_strkey_decode(&kind, out, &len, tide_slice_str(text)) != TIDE_OK)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct world w = { .asked = (enum asked)(data[0] % ASKED_COUNT) };
    uint8_t key[TIDE_STRKEY_PAYLOAD_MAX];
    decode(w.contract, contract_text);
    decode(key, verifier_text);
    memcpy(w.words.verifier, key, TIDE_HASH_BYTES);
    size_t len = tide_strkey_to_address(w.subject, tide_slice_str(subject_text));
    w.words.subject = tide_slice_of(w.subject, len);
    w.words.jurisdiction = 756;
    w.words.expires_at = 4102444800;
    uint8_t *said = malloc(size); /* exact size: a read past the end shows */
    if (!said)
        return 0;
    memcpy(said, data + 1, size - 1);
    w.said = tide_slice_of(said, size - 1);
    if (w.asked <= WHOLE)
        talk(&w);
    else
        read_plain(&w);
    free(said);
    return 0;
}
