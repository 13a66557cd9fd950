/* The methods of Stellar RPC that a sender of transactions needs. */
#include "tidemark/json_read.h"
#include "tidemark/scval.h"
#include "tidemark/text.h"
#include "tools/sim/client/client.h"

tide_status client_open(struct client *client, const char *url, struct tide_err *err)
{
    const struct tide_http_options options = {
        .agent = "tidemark-sim", .connect_ms = 5000, .timeout_ms = 30000, .stall_s = 20
    };
    *client = (struct client){ .url = url };
    tide_buf_init(&client->request, CLIENT_BYTES_MAX);
    tide_buf_init(&client->body, CLIENT_BYTES_MAX);
    tide_buf_init(&client->hold, CLIENT_BYTES_MAX);
    return tide_http_open(&client->http, &options, err);
}

void client_close(struct client *client)
{
    tide_http_close(client->http);
    tide_buf_release(&client->request);
    tide_buf_release(&client->body);
    tide_buf_release(&client->hold);
}

/* --- one call ------------------------------------------------------------------------- */

/* Returns the answer's result as a new reference, or NULL with err set. */
static json_t *parse_result(struct client *client, const char *method, struct tide_err *err)
{
    json_error_t why;
    json_t *whole = tide_json_load(tide_buf_view(&client->body), 0, &why);
    json_t *result = json_object_get(whole, "result");
    const char *message =
        json_string_value(json_object_get(json_object_get(whole, "error"), "message"));
    if (json_is_object(result))
        json_incref(result);
    else if (message)
        tide_fail(err, TIDE_E_USAGE, "%s: %s", method, message);
    else
        tide_fail(err, TIDE_E_DECODE, "%s: the answer is not JSON-RPC", method);
    json_decref(whole);
    return json_is_object(result) ? result : NULL;
}

/* Calls a method with params in JSON. Returns the result as a new reference, or NULL with err
 * set. */
static json_t *call_method(struct client *client, const char *method, const char *params,
                           struct tide_err *err)
{
    static const char *const headers[] = { "Content-Type: application/json", NULL };
    struct tide_http_answer answer = { 0 };
    tide_buf_reset(&client->request);
    tide_buf_reset(&client->body);
    tide_buf_reset(&client->hold);
    tide_buf_putf(&client->request,
                  "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\",\"params\":", method);
    tide_buf_str(&client->request, params);
    tide_buf_str(&client->request, "}");
    struct tide_http_request request = { .method = TIDE_HTTP_POST,
                                         .url = client->url,
                                         .headers = headers,
                                         .body = tide_buf_view(&client->request) };
    tide_status status = tide_http_call(client->http, &request, &client->body, &answer, err);
    if (status == TIDE_OK && answer.code != 200)
        status = tide_fail(err, TIDE_E_IO, "%s: HTTP status %u", method, answer.code);
    return status == TIDE_OK ? parse_result(client, method, err) : NULL;
}

/* Returns a number. Some servers write it as a decimal text. */
static int64_t read_number(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    const char *text = json_string_value(value);
    uint64_t out = 0;
    if (text && tide_parse_u64(&out, tide_slice_str(text), INT64_MAX) == TIDE_OK)
        return (int64_t)out;
    return json_is_integer(value) ? json_integer_value(value) : 0;
}

/* Decoded bytes in client->hold. They become a slice after the last decoding, because the buffer
 * moves while it grows. */
struct span {
    size_t at, len;
};

/* Decodes base64 to client->hold. The span is empty if text is no base64. */
static struct span decode_base64(struct client *client, const json_t *text)
{
    struct span out = { .at = client->hold.len };
    const char *base64 = json_string_value(text);
    if (base64 && tide_buf_base64_decode(&client->hold, tide_slice_str(base64)) == TIDE_OK)
        out.len = client->hold.len - out.at;
    else
        client->hold.len = out.at;
    return out;
}

/* Returns the span's bytes, which must not be taken before the last decoding. */
static tide_slice slice_of(const struct client *client, struct span span)
{
    return span.len ? tide_slice_of(client->hold.ptr + span.at, span.len) : (tide_slice){ 0 };
}

/* Copies a text, cut to the size; "" if there is none. */
static void copy_text(char *out, size_t size, const json_t *text)
{
    const char *from = json_string_value(text);
    snprintf(out, size, "%s", from ? from : "");
}

/* --- methods ----------------------------------------------------------------------------- */

tide_status client_network(struct client *client, struct client_network *out, struct tide_err *err)
{
    json_t *result = call_method(client, "getNetwork", "{}", err);
    if (!result)
        return err->code;
    copy_text(out->passphrase, sizeof out->passphrase, json_object_get(result, "passphrase"));
    copy_text(out->friendbot, sizeof out->friendbot, json_object_get(result, "friendbotUrl"));
    json_decref(result);
    return TIDE_OK;
}

tide_status client_latest(struct client *client, uint32_t *ledger, uint64_t *close_time,
                          struct tide_err *err)
{
    json_t *result = call_method(client, "getHealth", "{}", err);
    if (!result)
        return err->code;
    *ledger = (uint32_t)read_number(result, "latestLedger");
    *close_time = (uint64_t)read_number(result, "latestLedgerCloseTime");
    json_decref(result);
    return TIDE_OK;
}

tide_status client_sequence(struct client *client, const uint8_t key[TIDE_HASH_BYTES], int64_t *seq,
                            struct tide_err *err)
{
    enum { BEFORE = 4 + 36 + 8 }; /* type, account, balance */
    uint8_t ledger_key[40] = { 0 };
    struct tide_buf params;
    memcpy(ledger_key + 8, key, TIDE_HASH_BYTES);
    tide_buf_init(&params, 256);
    tide_buf_str(&params, "{\"keys\":[\"");
    tide_buf_base64(&params, tide_slice_of(ledger_key, sizeof ledger_key));
    tide_buf_put(&params, "\"]}", 4);
    json_t *result = call_method(client, "getLedgerEntries", (const char *)params.ptr, err);
    tide_buf_release(&params);
    if (!result)
        return err->code;
    json_t *first = json_array_get(json_object_get(result, "entries"), 0);
    tide_slice entry = slice_of(client, decode_base64(client, json_object_get(first, "xdr")));
    json_decref(result);
    if (entry.len < BEFORE + 8)
        return tide_fail(err, TIDE_E_MISSING, "the sender has no account on this network");
    *seq = (int64_t)tide_be64(entry.ptr + BEFORE);
    return TIDE_OK;
}

/* Calls a method with {"transaction": base64}. */
static json_t *call_with_tx(struct client *client, const char *method, tide_slice envelope,
                            struct tide_err *err)
{
    struct tide_buf params;
    tide_buf_init(&params, CLIENT_BYTES_MAX);
    tide_buf_str(&params, "{\"transaction\":\"");
    tide_buf_base64(&params, envelope);
    tide_buf_put(&params, "\"}", 3);
    json_t *result = call_method(client, method, (const char *)params.ptr, err);
    tide_buf_release(&params);
    return result;
}

tide_status client_simulate(struct client *client, tide_slice envelope,
                            struct client_simulated *out, struct tide_err *err)
{
    struct span auths[CLIENT_AUTHS_MAX];
    *out = (struct client_simulated){ 0 };
    json_t *result = call_with_tx(client, "simulateTransaction", envelope, err);
    if (!result)
        return err->code;
    json_t *list = json_object_get(json_array_get(json_object_get(result, "results"), 0), "auth");
    size_t count = json_array_size(list);
    copy_text(out->error, sizeof out->error, json_object_get(result, "error"));
    out->error[strcspn(out->error, "\n")] = 0; /* the first line is enough */
    out->fee = read_number(result, "minResourceFee");
    struct span data = decode_base64(client, json_object_get(result, "transactionData"));
    for (; out->auth_count < count && out->auth_count < CLIENT_AUTHS_MAX; out->auth_count++)
        auths[out->auth_count] = decode_base64(client, json_array_get(list, out->auth_count));
    json_t *events = json_object_get(result, "events");
    struct span first = decode_base64(client, json_array_get(events, 0));
    char said[256];
    size_t len = strlen(out->error);
    if (len && client_error(said, sizeof said, slice_of(client, first)))
        snprintf(out->error + len, sizeof out->error - len, ": %s", said);
    for (uint32_t i = 0; i < out->auth_count; i++)
        out->auths[i] = slice_of(client, auths[i]);
    out->data = slice_of(client, data);
    json_decref(result);
    if (!out->error[0] && !out->data.len)
        return tide_fail(err, TIDE_E_DECODE, "simulateTransaction: no transactionData");
    return TIDE_OK;
}

tide_status client_send(struct client *client, tide_slice envelope, struct client_sent *out,
                        struct tide_err *err)
{
    enum { FEE_BUMP_INNER_FAILED = -13 };
    *out = (struct client_sent){ 0 };
    json_t *result = call_with_tx(client, "sendTransaction", envelope, err);
    if (!result)
        return err->code;
    copy_text(out->status, sizeof out->status, json_object_get(result, "status"));
    tide_slice wrong =
        slice_of(client, decode_base64(client, json_object_get(result, "errorResultXdr")));
    if (wrong.len >= 12)
        out->code = (int32_t)tide_be32(wrong.ptr + 8);
    if (out->code == FEE_BUMP_INNER_FAILED && wrong.len >= 56)
        out->code = (int32_t)tide_be32(wrong.ptr + 52);
    json_decref(result);
    return TIDE_OK;
}

/* Returns the return value's JSON, which is appended to client->hold; NULL if there is none. */
static char *decode_answer(struct client *client, tide_slice meta)
{
    struct tide_buf json;
    tide_slice value = client_return_value(meta);
    tide_buf_init(&json, CLIENT_BYTES_MAX);
    size_t at = client->hold.len;
    if (value.len && tide_scval_json(&json, value) == TIDE_OK) {
        tide_buf_slice(&client->hold, tide_buf_view(&json));
        tide_buf_u8(&client->hold, 0);
    }
    tide_buf_release(&json);
    return client->hold.len > at && !client->hold.failed ? (char *)client->hold.ptr + at : NULL;
}

/* Finds the first diagnostic event that reports an error. */
static void find_error(struct client *client, const json_t *events, struct client_found *out)
{
    for (size_t i = 0; i < json_array_size(events) && !out->error[0]; i++) {
        tide_slice event = slice_of(client, decode_base64(client, json_array_get(events, i)));
        if (!client_error(out->error, sizeof out->error, event))
            out->error[0] = 0;
    }
}

tide_status client_find(struct client *client, const uint8_t hash[TIDE_HASH_BYTES],
                        struct client_found *out, struct tide_err *err)
{
    char params[100], hex[65] = "";
    *out = (struct client_found){ 0 };
    tide_hex(hex, tide_slice_of(hash, TIDE_HASH_BYTES));
    snprintf(params, sizeof params, "{\"hash\":\"%s\"}", hex);
    json_t *result = call_method(client, "getTransaction", params, err);
    if (!result)
        return err->code;
    copy_text(out->status, sizeof out->status, json_object_get(result, "status"));
    out->ledger = (uint32_t)read_number(result, "ledger");
    out->latest_close_time = (uint64_t)read_number(result, "latestLedgerCloseTime");
    tide_slice pair = slice_of(client, decode_base64(client, json_object_get(result, "resultXdr")));
    if (pair.len >= 8)
        out->fee = (int64_t)tide_be64(pair.ptr);
    struct span meta = decode_base64(client, json_object_get(result, "resultMetaXdr"));
    if (strcmp(out->status, "FAILED") == 0)
        find_error(client, json_object_get(result, "diagnosticEventsXdr"), out);
    out->answer = decode_answer(client, slice_of(client, meta));
    json_decref(result);
    return TIDE_OK;
}

tide_status client_fund(struct client *client, const char *friendbot, const char *address,
                        struct tide_err *err)
{
    char url[400];
    struct tide_http_answer answer = { 0 };
    snprintf(url, sizeof url, "%s?addr=%s", friendbot, address);
    tide_buf_reset(&client->body);
    struct tide_http_request request = { .url = url };
    tide_status status = tide_http_call(client->http, &request, &client->body, &answer, err);
    if (status == TIDE_OK && answer.code != 200)
        return tide_fail(err, TIDE_E_USAGE, "friendbot: HTTP status %u: %.*s", answer.code,
                         TIDE_SLICE_FMT(tide_buf_view(&client->body)));
    return status;
}
