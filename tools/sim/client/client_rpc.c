/* The questions of a sender of transactions, and the reading of a transaction's meta. */
#include "tidemark/meta.h"
#include "tidemark/scval.h"
#include "tidemark/xdr_skip.h"
#include "tools/sim/client/client.h"

enum { TIMEOUT_MS = 120000 }; /* 30 s for an answer */

tide_status client_open(struct client *client, const char *url, struct tide_err *err)
{
    static struct tide_config config;
    const struct tide_rpc_options options = { .config = &config, .agent = "tidemark-sim" };
    tide_config_defaults(&config);
    config.http_timeout_ms = TIMEOUT_MS;
    tide_buf_init(&client->params, CLIENT_BYTES_MAX);
    return tide_rpc_client_open(&client->rpc, url, &options, err);
}

void client_close(struct client *client)
{
    tide_rpc_client_close(&client->rpc);
    tide_buf_release(&client->params);
}

/* Asks with the params that were written. An error of JSON-RPC is a refusal. */
static tide_status ask_server(struct client *client, const struct tide_rpc_question *question,
                              void *out, struct tide_err *err)
{
    tide_status status =
        tide_rpc_ask(&client->rpc, question, tide_buf_view(&client->params), NULL, out, err);
    if (status == TIDE_E_IO && client->rpc.last.error.code)
        err->code = status = TIDE_E_USAGE;
    return status;
}

static struct tide_buf *new_params(struct client *client)
{
    tide_buf_reset(&client->params);
    return &client->params;
}

tide_status client_network(struct client *client, struct tide_rpc_network *out,
                           struct tide_err *err)
{
    tide_buf_str(new_params(client), "{}");
    return ask_server(client, &tide_rpc_get_network, out, err);
}

tide_status client_sequence(struct client *client, const uint8_t key[TIDE_HASH_BYTES], int64_t *seq,
                            struct tide_err *err)
{
    enum { BEFORE = 4 + 36 + 8 }; /* type, account, balance */
    uint8_t ledger_key[40] = { 0 };
    memcpy(ledger_key + 8, key, TIDE_HASH_BYTES);
    const tide_slice wanted = tide_slice_of(ledger_key, sizeof ledger_key);
    struct tide_rpc_entries entries = { .keys = &wanted, .count = 1 };
    tide_rpc_params_keys(new_params(client), &wanted, 1);
    tide_status status = ask_server(client, &tide_rpc_ledger_entries, &entries, err);
    if (status)
        return status;
    if (entries.data[0].len < BEFORE + 8)
        return tide_fail(err, TIDE_E_MISSING, "the sender has no account on this network");
    *seq = (int64_t)tide_be64(entries.data[0].ptr + BEFORE);
    return TIDE_OK;
}

tide_status client_simulate(struct client *client, tide_slice envelope,
                            struct tide_rpc_simulated *out, struct tide_err *err)
{
    char said[256];
    tide_rpc_params_tx(new_params(client), envelope);
    tide_status status = ask_server(client, &tide_rpc_simulation, out, err);
    size_t len = status ? 0 : strlen(out->error);
    if (len && client_error(said, sizeof said, out->event))
        snprintf(out->error + len, sizeof out->error - len, ": %s", said);
    return status;
}

tide_status client_send(struct client *client, tide_slice envelope, struct tide_rpc_sent *out,
                        struct tide_err *err)
{
    tide_rpc_params_tx(new_params(client), envelope);
    return ask_server(client, &tide_rpc_sending, out, err);
}

tide_status client_find(struct client *client, const uint8_t hash[TIDE_HASH_BYTES],
                        struct tide_rpc_found *out, struct tide_err *err)
{
    tide_rpc_params_hash(new_params(client), hash);
    return ask_server(client, &tide_rpc_get_transaction, out, err);
}

tide_status client_fund(struct client *client, const char *friendbot, const char *address,
                        struct tide_err *err)
{
    char url[400];
    struct tide_http_answer answer = { 0 };
    snprintf(url, sizeof url, "%s?addr=%s", friendbot, address);
    struct tide_buf *body = new_params(client);
    struct tide_http_request request = { .url = url };
    tide_status status = tide_http_call(client->rpc.http, &request, body, &answer, err);
    if (status == TIDE_OK && answer.code != 200)
        return tide_fail(err, TIDE_E_USAGE, "friendbot: HTTP status %u: %.*s", answer.code,
                         TIDE_SLICE_FMT(tide_buf_view(body)));
    return status;
}

/* --- the meta of a transaction ------------------------------------------------------------ */

/* Skips LedgerEntryChanges. */
static void skip_changes(struct tide_xdr *x)
{
    struct tide_change change;
    uint32_t count = tide_xdr_count(x, UINT32_MAX, 8);
    for (uint32_t i = 0; i < count && x->status == TIDE_OK; i++) {
        if (tide_xdr_u32(x) == TIDE_CHANGE_REMOVED)
            skip_ledger_key(x, &change);
        else
            skip_ledger_entry(x, &change);
    }
}

/* Skips ContractEvents. */
static void skip_events(struct tide_xdr *x)
{
    struct tide_event event;
    uint32_t count = tide_xdr_count(x, UINT32_MAX, 12);
    for (uint32_t i = 0; i < count && x->status == TIDE_OK; i++)
        tide_event_read(x, &event);
}

/* Skips the extension with the fee breakdown. */
static void skip_fees(struct tide_xdr *x)
{
    if (tide_xdr_u32(x) == 1)
        tide_xdr_skip(x, 28); /* extension, three amounts */
}

/* The fields in front have no fixed length, so they are skipped one by one. */
tide_slice client_return_value(tide_slice meta)
{
    struct tide_xdr x = tide_xdr_of(meta);
    uint32_t version = tide_xdr_u32(&x);
    tide_xdr_skip(&x, 4);
    skip_changes(&x);
    uint32_t ops = tide_xdr_count(&x, UINT32_MAX, 4);
    for (uint32_t i = 0; i < ops && x.status == TIDE_OK; i++) {
        tide_xdr_skip(&x, version == 4 ? 4 : 0);
        skip_changes(&x);
        if (version == 4)
            skip_events(&x);
    }
    skip_changes(&x);
    if (version < 3 || version > 4 || !tide_xdr_bool(&x))
        return (tide_slice){ 0 };
    skip_fees(&x);
    if (version == 3)
        skip_events(&x);
    else if (!tide_xdr_bool(&x))
        return (tide_slice){ 0 };
    return tide_scval_span(&x);
}

bool client_error(char *out, size_t size, tide_slice diagnostic)
{
    struct tide_xdr x = tide_xdr_of(diagnostic);
    struct tide_event event = { 0 };
    tide_xdr_skip(&x, 4); /* the flag in front of the ContractEvent */
    tide_event_read(&x, &event);
    if (x.status != TIDE_OK || event.topic_count < 1)
        return false;
    struct tide_xdr topics = tide_xdr_of(event.topics), data = tide_xdr_of(event.data);
    if (tide_xdr_u32(&topics) != TIDE_SCV_SYMBOL ||
        !tide_slice_eq_str(tide_xdr_var(&topics, 32), "error") ||
        tide_xdr_u32(&data) != TIDE_SCV_STRING)
        return false;
    tide_slice text = tide_xdr_var(&data, UINT32_MAX);
    snprintf(out, size, "%.*s", TIDE_SLICE_FMT(text));
    return true;
}
