/* Keys and values of the registry's entries, changes of a transaction, events and errors. */
#include "api/attester/chain/view.h"
#include "tidemark/meta.h"
#include "tidemark/scval.h"
#include "tidemark/text.h"
#include "tidemark/xdr.h"

enum { ENTRY_ACCOUNT = 0, ENTRY_DATA = 6, PERSISTENT = 1 };
enum { ADDRESS_BYTES = 44, MAP_MAX = 64, KEYS_BYTES = 8192 };
static_assert(ATT_VIEW_KEYS == ATT_KEY_INSTANCE + 1, "a key for each constant");
static_assert((int)ATT_VIEW_KEYS <= (int)TIDE_RPC_KEYS_MAX, "one call reads all keys");
static_assert((int)ADDRESS_BYTES == 12 + (int)TIDE_HASH_BYTES, "three discriminants and the key");

/* --- keys ------------------------------------------------------------------------------------- */

/* LedgerKey of the account with that ed25519 key. */
static void put_account_key(struct tide_buf *out, const uint8_t *key)
{
    tide_buf_be32(out, ENTRY_ACCOUNT);
    tide_buf_be32(out, 0);
    tide_buf_put(out, key, TIDE_HASH_BYTES);
}

/* Begins the LedgerKey of an entry of the contract. */
static void put_contract(struct tide_buf *out, const uint8_t *contract)
{
    tide_buf_be32(out, ENTRY_DATA);
    tide_buf_be32(out, 1);
    tide_buf_put(out, contract, TIDE_HASH_BYTES);
}

/* LedgerKey of the contract's instance. */
static void put_instance_key(struct tide_buf *out, const uint8_t *contract)
{
    put_contract(out, contract);
    tide_buf_be32(out, TIDE_SCV_LEDGER_KEY_CONTRACT_INSTANCE);
    tide_buf_be32(out, PERSISTENT);
}

/* The ScVal that names the entry of that key. */
static void put_argument(struct tide_buf *out, int key, const struct att_claim *claim)
{
    if (key == ATT_KEY_BLOCKED) {
        tide_buf_be32(out, TIDE_SCV_U32);
        tide_buf_be32(out, claim->jurisdiction);
        return;
    }
    tide_buf_be32(out, TIDE_SCV_ADDRESS);
    if (key == ATT_KEY_VERIFIER) {
        tide_buf_be32(out, 0);
        tide_buf_be32(out, 0);
        tide_buf_put(out, claim->verifier, TIDE_HASH_BYTES);
    } else {
        tide_buf_slice(out, claim->subject);
    }
}

/* LedgerKey of the persistent entry [variant, argument]. */
static void put_data_key(struct tide_buf *out, const uint8_t *contract, int key,
                         const struct att_claim *claim)
{
    static const char *const variants[ATT_VIEW_KEYS] = { [ATT_KEY_RECORD] = "ComplianceRec",
                                                         [ATT_KEY_KYC] = "Kyc",
                                                         [ATT_KEY_FROZEN] = "Frozen",
                                                         [ATT_KEY_BLOCKED] = "BlockedJurisdiction",
                                                         [ATT_KEY_VERIFIER] = "Verifier" };
    assert(variants[key]);
    put_contract(out, contract);
    tide_buf_be32(out, TIDE_SCV_VEC);
    tide_buf_be32(out, 1);
    tide_buf_be32(out, 2);
    tide_buf_be32(out, TIDE_SCV_SYMBOL);
    tide_xdr_put_var(out, tide_slice_str(variants[key]));
    put_argument(out, key, claim);
    tide_buf_be32(out, PERSISTENT);
}

/* The keys of att_view_read; they borrow from hold. */
struct keys {
    struct tide_buf hold;
    tide_slice of[ATT_VIEW_KEYS];
};

/* hold gets its whole room first, because it must not move. The caller releases it. */
static tide_status make_keys(struct keys *keys, const uint8_t *contract,
                             const struct att_claim *claim, struct tide_err *err)
{
    struct tide_buf *hold = &keys->hold;
    *keys = (struct keys){ 0 };
    tide_buf_init(hold, KEYS_BYTES);
    bool made = tide_buf_grow(hold, KEYS_BYTES);
    for (int i = 0; made && i < ATT_VIEW_KEYS; i++) {
        size_t from = hold->len;
        if (i == ATT_KEY_ACCOUNT)
            put_account_key(hold, claim->verifier);
        else if (i == ATT_KEY_INSTANCE)
            put_instance_key(hold, contract);
        else
            put_data_key(hold, contract, i, claim);
        made = !hold->failed;
        keys->of[i] = tide_slice_of(hold->ptr + from, hold->len - from);
    }
    return made ? TIDE_OK : tide_fail(err, TIDE_E_MEMORY, "no memory for keys");
}

tide_status att_view_hashes(uint8_t out[ATT_VIEW_KEYS][TIDE_HASH_BYTES],
                            const uint8_t contract[TIDE_HASH_BYTES], const struct att_claim *claim,
                            struct tide_err *err)
{
    struct keys keys;
    tide_status status = make_keys(&keys, contract, claim, err);
    for (int i = 0; status == TIDE_OK && i < ATT_VIEW_KEYS; i++)
        tide_sha256(out[i], keys.of[i]);
    tide_buf_release(&keys.hold);
    return status;
}

/* --- values ----------------------------------------------------------------------------------- */

/* Returns the value of a LedgerEntryData; empty if the entry is not contract data. */
static tide_slice value_of(tide_slice data)
{
    struct tide_xdr x = tide_xdr_of(data);
    bool right = tide_xdr_u32(&x) == ENTRY_DATA && tide_xdr_u32(&x) == 0;
    tide_scaddress_skip(&x);
    tide_scval_skip(&x);
    tide_xdr_skip(&x, 4);
    tide_slice value = tide_scval_span(&x);
    return right && tide_xdr_end(&x) == TIDE_OK ? value : (tide_slice){ 0 };
}

/* Returns a member of a struct, which is a map with symbols as keys; empty if it is absent or
 * the map is malformed. */
static tide_slice map_value(tide_slice map, const char *name)
{
    struct tide_xdr x = tide_xdr_of(map);
    tide_slice found = { 0 };
    if (tide_xdr_u32(&x) != TIDE_SCV_MAP || tide_xdr_u32(&x) != 1)
        return found;
    uint32_t count = tide_xdr_count(&x, MAP_MAX, 8);
    for (uint32_t i = 0; i < count && x.status == TIDE_OK; i++) {
        tide_slice key = tide_scval_span(&x);
        tide_slice value = tide_scval_span(&x);
        struct tide_xdr k = tide_xdr_of(key);
        if (tide_xdr_u32(&k) == TIDE_SCV_SYMBOL && tide_slice_eq_str(tide_xdr_var(&k, 32), name))
            found = value;
    }
    return x.status == TIDE_OK ? found : (tide_slice){ 0 };
}

static bool is_u32(tide_slice value, uint32_t *out)
{
    *out = value.len == 8 ? tide_be32(value.ptr + 4) : 0;
    return value.len == 8 && tide_scval_type_of(value) == TIDE_SCV_U32;
}

static bool is_u64(tide_slice value, uint64_t *out)
{
    *out = value.len == 12 ? tide_be64(value.ptr + 4) : 0;
    return value.len == 12 && tide_scval_type_of(value) == TIDE_SCV_U64;
}

/* An account's address is 4 (ScVal) + 4 (SCAddress) + 4 (key type) + 32 bytes. */
static bool is_account(tide_slice value, const uint8_t *key)
{
    return value.len == ADDRESS_BYTES && tide_scval_type_of(value) == TIDE_SCV_ADDRESS &&
           tide_be32(value.ptr + 4) == 0 && tide_be32(value.ptr + 8) == 0 &&
           memcmp(value.ptr + 12, key, TIDE_HASH_BYTES) == 0;
}

static bool is_metadata(tide_slice value, const uint8_t *want)
{
    return value.len == 8 + TIDE_HASH_BYTES && tide_scval_type_of(value) == TIDE_SCV_BYTES &&
           tide_be32(value.ptr + 4) == TIDE_HASH_BYTES &&
           memcmp(value.ptr + 8, want, TIDE_HASH_BYTES) == 0;
}

/* Compares the fields that Kyc and ComplianceRec share with the claim. Returns false if they are
 * unreadable. */
static bool read_terms(tide_slice value, const struct att_claim *claim, bool *same)
{
    uint32_t jurisdiction;
    uint64_t expires;
    if (!is_u32(map_value(value, "jurisdiction"), &jurisdiction) ||
        !is_u64(map_value(value, "expires_at"), &expires))
        return false;
    *same = jurisdiction == claim->jurisdiction && expires == claim->expires_at;
    return true;
}

static bool read_record(struct att_view *out, tide_slice value, const struct att_claim *claim)
{
    bool same;
    out->record = true;
    if (!read_terms(value, claim, &same) || !is_u32(map_value(value, "status"), &out->status))
        return false;
    out->same = same && out->status == ATT_VERIFIED &&
                is_account(map_value(value, "provider"), claim->verifier);
    return true;
}

static bool read_kyc(struct att_view *out, tide_slice data, const struct att_claim *claim)
{
    bool same;
    tide_slice value = value_of(data), verifier = map_value(value, "verifier");
    out->kyc = true;
    if (!read_terms(value, claim, &same) || verifier.len == 0)
        return false;
    out->kyc_ours = is_account(verifier, claim->verifier);
    out->kyc_former = claim->attested && !out->kyc_ours &&
                      is_metadata(map_value(value, "metadata"), claim->attested);
    out->kyc_same =
        same && out->kyc_ours && is_metadata(map_value(value, "metadata"), claim->metadata);
    return true;
}

static bool read_account(struct att_view *out, tide_slice data)
{
    enum { BALANCE_AT = 4 + 36, SEQ_AT = BALANCE_AT + 8 };
    if (data.len < SEQ_AT + 8 || tide_be32(data.ptr) != ENTRY_ACCOUNT)
        return false;
    out->account = true;
    out->balance = (int64_t)tide_be64(data.ptr + BALANCE_AT);
    out->seq = (int64_t)tide_be64(data.ptr + SEQ_AT);
    return true;
}

/* Returns false if the executable is not a wasm of its own, for example a reference to another
 * contract's code: the policy has no hash to allow then. */
static bool read_code(uint8_t code[TIDE_HASH_BYTES], tide_slice data)
{
    struct tide_xdr x = tide_xdr_of(value_of(data));
    bool wasm = tide_xdr_u32(&x) == TIDE_SCV_CONTRACT_INSTANCE && tide_xdr_u32(&x) == 0 &&
                tide_xdr_need(&x, TIDE_HASH_BYTES);
    if (wasm)
        memcpy(code, x.cur, TIDE_HASH_BYTES);
    return wasm;
}

/* --- the view --------------------------------------------------------------------------------- */

tide_status att_view_of(struct att_view *out, const struct tide_rpc_entries *entries,
                        const struct att_claim *claim, struct tide_err *err)
{
    const tide_slice *data = entries->data;
    const char *unreadable = NULL;
    *out = (struct att_view){ .ledger = entries->ledger,
                              .kyc_ledger = entries->modified[ATT_KEY_KYC],
                              .record_ledger = entries->modified[ATT_KEY_RECORD],
                              .frozen = data[ATT_KEY_FROZEN].len > 0,
                              .blocked = data[ATT_KEY_BLOCKED].len > 0,
                              .verifier = data[ATT_KEY_VERIFIER].len > 0 };
    if (data[ATT_KEY_ACCOUNT].len && !read_account(out, data[ATT_KEY_ACCOUNT]))
        unreadable = "the verifier's account";
    if (data[ATT_KEY_RECORD].len && !read_record(out, value_of(data[ATT_KEY_RECORD]), claim))
        unreadable = "ComplianceRec";
    if (data[ATT_KEY_KYC].len && !read_kyc(out, data[ATT_KEY_KYC], claim))
        unreadable = "Kyc";
    /* The attestation is complete only if both entries equal the claim. */
    out->same = out->same && out->kyc_same;
    out->has_code = read_code(out->code, data[ATT_KEY_INSTANCE]);
    return unreadable
               ? tide_fail(err, TIDE_E_DECODE, "%s: the ledger entry is unreadable", unreadable)
               : TIDE_OK;
}

tide_status att_view_read(struct att_view *out, struct att_rpc *rpc,
                          const uint8_t contract[TIDE_HASH_BYTES], const struct att_claim *claim,
                          struct tide_err *err)
{
    struct keys keys;
    struct tide_rpc_entries entries = { 0 };
    tide_status status = make_keys(&keys, contract, claim, err);
    if (status == TIDE_OK)
        status = att_rpc_entries(rpc, &entries, keys.of, ATT_VIEW_KEYS, err);
    tide_buf_release(&keys.hold);
    return status == TIDE_OK ? att_view_of(out, &entries, claim, err) : status;
}

/* Reads the entry of one key, and releases the key. */
static tide_status read_entry(tide_slice *data, struct att_rpc *rpc, struct tide_buf *key,
                              struct tide_err *err)
{
    struct tide_rpc_entries entries = { 0 };
    tide_slice wanted = tide_buf_view(key);
    tide_status status = key->failed ? tide_fail(err, TIDE_E_MEMORY, "no memory for a key")
                                     : att_rpc_entries(rpc, &entries, &wanted, 1, err);
    tide_buf_release(key);
    *data = entries.data[0];
    return status;
}

tide_status att_view_code(bool *has_code, uint8_t code[TIDE_HASH_BYTES], struct att_rpc *rpc,
                          const uint8_t contract[TIDE_HASH_BYTES], struct tide_err *err)
{
    struct tide_buf key;
    tide_slice data;
    tide_buf_init(&key, 256);
    put_instance_key(&key, contract);
    tide_status status = read_entry(&data, rpc, &key, err);
    *has_code = status == TIDE_OK && read_code(code, data);
    return status;
}

tide_status att_view_balance(int64_t *balance, struct att_rpc *rpc,
                             const uint8_t key[TIDE_HASH_BYTES], struct tide_err *err)
{
    struct tide_buf wanted;
    tide_slice data;
    struct att_view view = { 0 };
    tide_buf_init(&wanted, 256);
    put_account_key(&wanted, key);
    tide_status status = read_entry(&data, rpc, &wanted, err);
    *balance = status == TIDE_OK && read_account(&view, data) ? view.balance : -1;
    return status;
}

tide_status att_view_simulated(bool *known, uint32_t *status,
                               const struct tide_rpc_simulated *simulated,
                               const uint8_t contract[TIDE_HASH_BYTES],
                               const struct att_claim *claim, struct tide_err *err)
{
    struct keys keys;
    struct att_view view = { 0 };
    bool readable = true;
    *known = false;
    tide_status made = make_keys(&keys, contract, claim, err);
    for (uint32_t i = 0; made == TIDE_OK && i < simulated->change_count; i++) {
        const struct tide_rpc_change *change = &simulated->changes[i];
        if (!tide_slice_eq(change->key, keys.of[ATT_KEY_RECORD]) || change->before.len < 8)
            continue;
        /* LedgerEntry is the ledger of the last change (4 bytes), the data, and an empty
         * extension (4 bytes). */
        tide_slice data = { change->before.ptr + 4, change->before.len - 8 };
        *known = true;
        readable = read_record(&view, value_of(data), claim);
    }
    tide_buf_release(&keys.hold);
    *status = view.status;
    if (made != TIDE_OK)
        return made;
    return readable ? TIDE_OK : tide_fail(err, TIDE_E_DECODE, "stateChanges: cannot be read");
}

/* --- changes of a transaction ----------------------------------------------------------------- */

/* State of the walk over a transaction's changes. */
struct record_search {
    tide_slice key; /* LedgerKey of the record */
    const struct att_claim *claim;
    struct att_before *out;
    bool seen; /* the value before was read; later ones are the transaction's own */
};

static bool is_key(const struct tide_change *change, tide_slice key)
{
    struct tide_xdr x = tide_xdr_of(key);
    struct tide_change wanted;
    return change->type == TIDE_ENTRY_CONTRACT_DATA && tide_ledger_key_data(&x, &wanted) &&
           change->durability == wanted.durability &&
           tide_slice_eq(change->contract, wanted.contract) &&
           tide_slice_eq(change->key, wanted.key);
}

/* Network protocols record the value before a change as STATE, or as RESTORED if the entry was
 * archived. Changes outside the operation charge fees and never touch a record. */
static tide_status on_change(void *self, const struct tide_tx *tx, const struct tide_change *change)
{
    struct record_search *l = self;
    struct att_view view = { 0 };
    (void)tx;
    if (change->section != TIDE_SECTION_OP || !is_key(change, l->key))
        return TIDE_OK;
    bool before = change->kind == TIDE_CHANGE_STATE || change->kind == TIDE_CHANGE_RESTORED;
    l->out->changed |= !before;
    if (!before || l->seen)
        return TIDE_OK;
    l->seen = true;
    bool readable = read_record(&view, change->value, l->claim);
    l->out->status = view.status;
    return readable ? TIDE_OK : TIDE_E_DECODE;
}

tide_status att_view_before(struct att_before *out, tide_slice meta,
                            const uint8_t contract[TIDE_HASH_BYTES], const struct att_claim *claim,
                            struct tide_err *err)
{
    struct keys keys;
    struct record_search record_search = { .claim = claim, .out = out };
    const struct tide_walk walk = { .self = &record_search, .change = on_change };
    *out = (struct att_before){ 0 };
    tide_status status = make_keys(&keys, contract, claim, err);
    record_search.key = keys.of[ATT_KEY_RECORD];
    if (status == TIDE_OK && tide_tx_meta_walk(&walk, meta, err) != TIDE_OK)
        status = tide_fail(err, TIDE_E_DECODE, "resultMetaXdr: cannot be read");
    tide_buf_release(&keys.hold);
    return status;
}

/* --- events ----------------------------------------------------------------------------------- */

static bool is_symbol(struct tide_xdr *x, const char *name)
{
    return tide_xdr_u32(x) == TIDE_SCV_SYMBOL && tide_slice_eq_str(tide_xdr_var(x, 32), name);
}

bool att_event_is(tide_slice bytes, const uint8_t contract[TIDE_HASH_BYTES], const char *function,
                  const struct att_claim *claim)
{
    struct tide_xdr x = tide_xdr_of(bytes);
    struct tide_event event = { 0 };
    tide_event_read(&x, &event);
    if (tide_xdr_end(&x) != TIDE_OK || event.type != 1 || event.topic_count != 3 ||
        !event.contract || memcmp(event.contract, contract, TIDE_HASH_BYTES) != 0)
        return false;
    struct tide_xdr topics = tide_xdr_of(event.topics);
    if (!is_symbol(&topics, function))
        return false;
    tide_slice verifier = tide_scval_span(&topics), subject = tide_scval_span(&topics);
    return is_account(verifier, claim->verifier) && subject.len > 4 &&
           tide_scval_type_of(subject) == TIDE_SCV_ADDRESS &&
           tide_slice_eq(tide_slice_of(subject.ptr + 4, subject.len - 4), claim->subject);
}

/* --- errors ----------------------------------------------------------------------------------- */

/* Indexed by SCErrorType. */
static const char *const error_types[] = { "contract", "wasm",   "context", "storage", "object",
                                           "crypto",   "events", "budget",  "value",   "auth" };

/* The host's message contains "Error(Contract, #7)" or "Error(Auth, InvalidAction)". */
bool att_error_of_text(char out[ATT_ERROR_NAME_BYTES], const char *text)
{
    /* Names as the host prints them, in the order of error_types. */
    static const char *const names[] = { "Contract", "WasmVm", "Context", "Storage", "Object",
                                         "Crypto",   "Events", "Budget",  "Value",   "Auth" };
    static_assert(TIDE_COUNT(names) == TIDE_COUNT(error_types), "in the same order");
    static_assert(ATT_ERROR_NAME_BYTES > 8 + 1 + 24, "the longest type, a colon and the word");
    const char *at = strstr(text, "Error(");
    if (!at)
        return false;
    at += strlen("Error(");
    for (size_t i = 0; i < TIDE_COUNT(names); i++) {
        size_t len = strlen(names[i]);
        if (strncmp(at, names[i], len) != 0 || at[len] != ',')
            continue;
        at += len + 1;
        at += strspn(at, " #");
        size_t word = strspn(at, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
        snprintf(out, ATT_ERROR_NAME_BYTES, "%s:%.*s", error_types[i], word < 24 ? (int)word : 24,
                 at);
        return word > 0;
    }
    return false;
}

bool att_error_of_event(char out[ATT_ERROR_NAME_BYTES], tide_slice diagnostic)
{
    /* Indexed by SCErrorCode. */
    static const char *const codes[] = { "ArithDomain",   "IndexBounds",   "InvalidInput",
                                         "MissingValue",  "ExistingValue", "ExceededLimit",
                                         "InvalidAction", "InternalError", "UnexpectedType",
                                         "UnexpectedSize" };
    struct tide_xdr x = tide_xdr_of(diagnostic);
    struct tide_event event = { 0 };
    /* Skip in_successful_contract_call. */
    tide_xdr_skip(&x, 4);
    tide_event_read(&x, &event);
    if (x.status != TIDE_OK || event.topic_count < 2)
        return false;
    struct tide_xdr topics = tide_xdr_of(event.topics);
    if (!is_symbol(&topics, "error") || tide_xdr_u32(&topics) != TIDE_SCV_ERROR)
        return false;
    uint32_t type = tide_xdr_u32(&topics), code = tide_xdr_u32(&topics);
    if (topics.status != TIDE_OK || type >= TIDE_COUNT(error_types))
        return false;
    /* Type 0 is the contract's own error: a number. A code that is newer than this list is shown
     * as a number too. */
    if (type == 0 || code >= TIDE_COUNT(codes))
        snprintf(out, ATT_ERROR_NAME_BYTES, "%s:%u", error_types[type], code);
    else
        snprintf(out, ATT_ERROR_NAME_BYTES, "%s:%s", error_types[type], codes[code]);
    return true;
}

/* The code at index i is -i. */
/* clang-format off */
static const char *const code_names[] = {
    "txSUCCESS", "txFAILED", "txTOO_EARLY", "txTOO_LATE", "txMISSING_OPERATION", "txBAD_SEQ",
    "txBAD_AUTH", "txINSUFFICIENT_BALANCE", "txNO_ACCOUNT", "txINSUFFICIENT_FEE",
    "txBAD_AUTH_EXTRA", "txINTERNAL_ERROR", "txNOT_SUPPORTED", "txFEE_BUMP_INNER_FAILED",
    "txBAD_SPONSORSHIP", "txBAD_MIN_SEQ_AGE_OR_GAP", "txMALFORMED", "txSOROBAN_INVALID",
};
/* clang-format on */

static_assert(TIDE_COUNT(code_names) == 18, "up to txSOROBAN_INVALID, which is -17");

const char *att_code_name(int32_t code)
{
    return code <= 0 && -code < (int32_t)TIDE_COUNT(code_names) ? code_names[-code] : "tx";
}

int32_t att_code_of(const char *name)
{
    for (int32_t i = 0; i < (int32_t)TIDE_COUNT(code_names); i++)
        if (strcmp(code_names[i], name) == 0)
            return -i;
    return 0;
}

/* Writes "failed:N" with the result code of the operation if the transaction failed, else the
 * transaction's own code. TransactionResult is fee (8 bytes), code (4) and, after txFAILED, a
 * list of operation results. A fee bump has the same behind the hash of its inner transaction. */
void att_error_of_result(char out[ATT_ERROR_NAME_BYTES], tide_slice result)
{
    enum { FAILED = -1, BUMP_INNER_FAILED = -13, INNER_AT = 12 + 32 };
    size_t at = 0;
    int32_t code = result.len >= 12 ? (int32_t)tide_be32(result.ptr + 8) : 0;
    if (code == BUMP_INNER_FAILED && result.len >= INNER_AT + 12) {
        at = INNER_AT;
        code = (int32_t)tide_be32(result.ptr + at + 8);
    }
    if (code == FAILED && result.len >= at + 12 + 16) /* count, opINNER, type, code */
        snprintf(out, ATT_ERROR_NAME_BYTES, "failed:%d", (int32_t)tide_be32(result.ptr + at + 24));
    else
        snprintf(out, ATT_ERROR_NAME_BYTES, "%s", att_code_name(code));
}
