/* Asks Stellar RPC servers for the signers of an account. */
#include "api/kyc/sessions/account.h"
#include "tidemark/log.h"
#include "tidemark/rpc.h"
#include "tidemark/xdr.h"

enum {
    CALL_MS = 2000,
    AWAY_MS = 1000,
    ANSWER_MAX = 64 << 10,
    BEHIND_LEDGERS = 20, /* about two minutes; a change of signers in them is missed */
    LIST_MAX = 20        /* the protocol's limit of signers beside the account's own key */
};

/* Values of the protocol's XDR: LedgerEntryType, SignerKeyType, and the longest signed payload. */
enum { ACCOUNT = 0, ED25519 = 0, SIGNED_PAYLOAD = 3, PAYLOAD_MAX = 64 };
static_assert(LIST_MAX + 1 == TIDE_KYC_SIGNERS_MAX, "the account's own key and its signers");

/* --- the entry -------------------------------------------------------------------------------- */

/* Returns the public key of a SignerKey, or NULL. Hash and payload signers authorize transactions;
 * they cannot sign a challenge. */
static const uint8_t *read_signer_key(struct tide_xdr *x)
{
    uint32_t kind = tide_xdr_u32(x);
    tide_slice key = tide_xdr_opaque(x, TIDE_HASH_BYTES);
    if (kind == SIGNED_PAYLOAD)
        tide_xdr_var(x, PAYLOAD_MAX);
    return kind == ED25519 && x->status == TIDE_OK ? key.ptr : NULL;
}

static void add_signer(struct tide_kyc_signers *out, const uint8_t *key, uint32_t weight)
{
    assert(out->count < TIDE_KYC_SIGNERS_MAX);
    memcpy(out->list[out->count].key, key, TIDE_HASH_BYTES);
    out->list[out->count++].weight = weight;
}

/* Reads the fields of AccountEntry up to its signers. The master key's weight is the first
 * threshold byte, the medium threshold the third. */
tide_status tide_kyc_signers_read(struct tide_kyc_signers *out,
                                  const uint8_t account[TIDE_HASH_BYTES], tide_slice entry,
                                  struct tide_err *err)
{
    struct tide_xdr x = tide_xdr_of(entry);
    *out = (struct tide_kyc_signers){ 0 };
    bool ours = tide_xdr_u32(&x) == ACCOUNT && tide_xdr_u32(&x) == ED25519;
    tide_slice id = tide_xdr_opaque(&x, TIDE_HASH_BYTES);
    ours &= id.len == TIDE_HASH_BYTES && memcmp(id.ptr, account, id.len) == 0;
    tide_xdr_skip(&x, 8 + 8 + 4); /* balance, sequence, subentries */
    if (tide_xdr_bool(&x))
        tide_xdr_skip(&x, 4 + TIDE_HASH_BYTES); /* inflation destination */
    tide_xdr_skip(&x, 4);                       /* flags */
    tide_xdr_var(&x, 32);                       /* home domain */
    tide_slice thresholds = tide_xdr_opaque(&x, 4);
    uint32_t count = tide_xdr_count(&x, LIST_MAX, 8);
    if (x.status != TIDE_OK || !ours)
        return tide_fail(err, TIDE_E_DECODE, "rpc: the entry is not the account's");
    add_signer(out, account, thresholds.ptr[0]);
    out->medium = thresholds.ptr[2];
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *key = read_signer_key(&x);
        uint32_t weight = tide_xdr_u32(&x);
        if (key && x.status == TIDE_OK)
            add_signer(out, key, weight);
    }
    return x.status == TIDE_OK
               ? TIDE_OK
               : tide_fail(err, TIDE_E_DECODE, "rpc: the account's signers are malformed");
}

/* --- one server ------------------------------------------------------------------------------- */

/* Sends a request of the client with the context's HTTP client, in the time that KYC has. */
static tide_status send_request(void *self, const struct tide_http_request *request,
                                struct tide_buf *body, struct tide_http_answer *answer,
                                struct tide_err *err)
{
    struct tide_http_request bounded = *request;
    bounded.timeout_ms = CALL_MS;
    return tide_http_call(((struct tide_kyc_context *)self)->http, &bounded, body, answer, err);
}

/* Asks one server for the account's signers. Fails if its newest ledger is below least. */
static tide_status ask_server(struct tide_kyc_context *context, const char *url,
                              const uint8_t account[TIDE_HASH_BYTES], uint64_t least,
                              struct tide_kyc_signers *out, struct tide_err *err)
{
    const struct tide_rpc_options options = { .config = context->options.config,
                                              .passphrase = context->passphrase,
                                              .cancelled = tide_kyc_context_cancelled,
                                              .call = send_request,
                                              .self = context };
    uint8_t bytes[8 + TIDE_HASH_BYTES] = { 0 }; /* LedgerKey: ACCOUNT, ed25519 */
    const tide_slice key = tide_slice_of(bytes, sizeof bytes);
    struct tide_rpc_entries entries = { .keys = &key, .count = 1 };
    struct tide_rpc_client client;
    struct tide_buf params, body;
    memcpy(bytes + 8, account, TIDE_HASH_BYTES);
    tide_buf_init(&params, 512);
    tide_buf_init(&body, ANSWER_MAX);
    tide_rpc_params_keys(&params, &key, 1);
    tide_status status = tide_rpc_client_open(&client, url, &options, err);
    if (status == TIDE_OK)
        status = tide_rpc_ask(&client, &tide_rpc_ledger_entries, tide_buf_view(&params), &body,
                              &entries, err);
    if (status == TIDE_OK && entries.ledger < least)
        status = tide_fail(err, TIDE_E_IO, "%s is too far behind the index", client.name);
    if (status == TIDE_OK && entries.data[0].len)
        status = tide_kyc_signers_read(out, account, entries.data[0], err);
    else if (status == TIDE_OK) {
        *out = (struct tide_kyc_signers){ 0 };
        add_signer(out, account, 1);
    }
    tide_rpc_client_close(&client);
    tide_buf_release(&params);
    tide_buf_release(&body);
    return status;
}

/* --- all servers ------------------------------------------------------------------------------ */

/* Computes the oldest ledger that an answer may have: BEHIND_LEDGERS before the index. */
static tide_status read_least(struct tide_kyc_context *context, uint64_t *out, struct tide_err *err)
{
    struct tide_pg_rows rows;
    tide_status status =
        tide_pg_query(context->pg, &rows,
                      "SELECT coalesce(max(ledger), 0) FROM chain.cursor WHERE deployment = $1",
                      (const char *[]){ context->deployment_text }, 1, err);
    if (status != TIDE_OK)
        return status;
    uint64_t newest = tide_pg_u64(&rows, 0, 0);
    *out = newest > BEHIND_LEDGERS ? newest - BEHIND_LEDGERS : 1;
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

/* True for a failure of the server. Any other failure (database, memory, deadline) ends the
 * attempts. */
static bool is_server_failure(tide_status status)
{
    return status == TIDE_E_IO || status == TIDE_E_DECODE || status == TIDE_E_LIMIT ||
           status == TIDE_E_CHAIN || status == TIDE_E_CONFIG;
}

static bool same_signers(const struct tide_kyc_signers *a, const struct tide_kyc_signers *b)
{
    bool same = a->medium == b->medium && a->count == b->count;
    for (uint32_t i = 0; i < a->count && same; i++)
        same = a->list[i].weight == b->list[i].weight &&
               memcmp(a->list[i].key, b->list[i].key, TIDE_HASH_BYTES) == 0;
    return same;
}

/* True if another server has named the same signers. */
static bool was_named(const struct tide_kyc_signers *named, uint32_t count,
                      const struct tide_kyc_signers *now)
{
    for (uint32_t i = 0; i < count; i++)
        if (same_signers(&named[i], now))
            return true;
    return false;
}

/* Asks the servers in turn until enough agree: the answer of a single configured server counts, of
 * several servers two must name the same signers. */
static tide_status ask_servers(struct tide_kyc_context *context,
                               const uint8_t account[TIDE_HASH_BYTES], uint64_t least,
                               struct tide_kyc_signers *out, struct tide_err *err)
{
    const char *list = context->options.config->rpc, *rest = list;
    struct tide_kyc_signers named[TIDE_RPC_SERVERS_MAX];
    char url[TIDE_RPC_URL_BYTES];
    uint32_t servers = 0, count = 0;
    tide_status status = tide_rpc_check_list(list, err);
    if (status != TIDE_OK)
        return status;
    while (tide_rpc_next_url(&rest, url))
        servers++;
    assert(servers <= TIDE_COUNT(named)); /* tide_rpc_check_list */
    while (tide_rpc_next_url(&list, url)) {
        status = ask_server(context, url, account, least, out, err);
        if (status != TIDE_OK && !is_server_failure(status))
            return status;
        if (status == TIDE_OK && (servers == 1 || was_named(named, count, out)))
            return TIDE_OK;
        if (status == TIDE_OK)
            named[count++] = *out;
    }
    if (count > 1)
        return tide_fail(err, TIDE_E_IO, "rpc: no two servers name the same signers");
    return count
               ? tide_fail(err, TIDE_E_IO, "rpc: only one server names the signers; two must agree")
               : status;
}

/* After a failure no server is asked for AWAY_MS: otherwise each request would wait for all
 * timeouts. */
tide_status tide_kyc_signers_fetch(struct tide_kyc_context *context,
                                   const uint8_t account[TIDE_HASH_BYTES],
                                   struct tide_kyc_signers *out, struct tide_err *err)
{
    char quoted[TIDE_ERR_TEXT_MAX];
    uint64_t least = 0;
    if (tide_kyc_now_ms(context) < context->rpc_away_until_ms)
        return tide_fail(err, TIDE_E_IO, "rpc: no server answered within the last second");
    tide_status status = read_least(context, &least, err);
    if (status != TIDE_OK)
        return status;
    status = ask_servers(context, account, least, out, err);
    if (is_server_failure(status)) {
        context->rpc_away_until_ms = tide_kyc_now_ms(context) + AWAY_MS;
        tide_log(TIDE_WARN, "kyc.signers_unknown", "text=%s",
                 tide_log_quote(quoted, sizeof quoted, err->text));
    }
    return status;
}
