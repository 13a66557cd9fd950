#include "indexer/source/rpc/client.h"
#include "tidemark/clock.h"
#include "tidemark/text.h"

enum {
    REQUEST_BYTES = 4096,
    SMALL_BYTES = 64 << 10,
    SLEEP_MS = 20,
    WINDOW_MS = 1000,
    WORDS_BYTES = 200, /* a server's own words in a message */
    SECRET_BYTES = 6,  /* shorter texts are no keys */
};

/* --- the limit on requests ---------------------------------------------------------------- */

tide_status rpc_rate_init(struct rpc_rate *rate, uint32_t per_s)
{
    assert(per_s > 0);
    *rate = (struct rpc_rate){ .per_s = per_s, .asked_ms = malloc(per_s * sizeof(int64_t)) };
    if (!rate->asked_ms)
        return TIDE_E_MEMORY;
    for (uint32_t i = 0; i < per_s; i++)
        rate->asked_ms[i] = -WINDOW_MS;
    if (pthread_mutex_init(&rate->lock, NULL) == 0)
        return TIDE_OK;
    free(rate->asked_ms);
    return TIDE_E_MEMORY;
}

void rpc_rate_destroy(struct rpc_rate *rate)
{
    pthread_mutex_destroy(&rate->lock);
    free(rate->asked_ms);
}

int64_t rpc_rate_take(struct rpc_rate *rate, int64_t now_ms)
{
    pthread_mutex_lock(&rate->lock);
    int64_t wait_ms = rate->asked_ms[rate->oldest] + WINDOW_MS - now_ms;
    if (wait_ms <= 0) {
        rate->asked_ms[rate->oldest] = now_ms;
        rate->oldest = (rate->oldest + 1) % rate->per_s;
        wait_ms = 0;
    }
    pthread_mutex_unlock(&rate->lock);
    return wait_ms;
}

/* --- one exchange ------------------------------------------------------------------------- */

static tide_status fail_named(const struct rpc_client *c, const char *method, struct tide_err *err)
{
    return tide_fail_context(err, "%s: %s", c->name, method);
}

/* Returns whether the text repeats what must not be logged: the header's value or the address's
 * path, in which providers put keys. */
static bool tells_secret(const struct rpc_client *c, const char *text)
{
    const char *value = strchr(c->options.config->rpc_header, ':');
    const char *host = strstr(c->url, "://"), *path = host ? strpbrk(host + 3, "/?") : NULL;
    value = value ? value + 1 + strspn(value + 1, " ") : "";
    path = path ? path + 1 : "";
    return (strlen(value) >= SECRET_BYTES && strstr(text, value)) ||
           (strlen(path) >= SECRET_BYTES && strstr(text, path));
}

/* Makes a server's words fit for messages: one line of ASCII without keys. */
static void clean_words(const struct rpc_client *c, char *words)
{
    size_t len = 0;
    for (const char *p = words; *p; p++) {
        bool gap = *p == ' ' || (*p >= '\t' && *p <= '\r');
        if (!gap || (len && words[len - 1] != ' '))
            words[len++] = gap ? ' ' : *p;
    }
    words[len] = '\0';
    tide_text_make_ascii(words);
    if (tells_secret(c, words))
        snprintf(words, WORDS_BYTES, "(words that repeat a key)");
}

/* Fails with the status of an answer that is none of JSON-RPC, and with what its body says. */
static tide_status fail_answered(const struct rpc_client *c, uint32_t code,
                                 const struct tide_buf *body, struct tide_err *err)
{
    char words[RPC_TEXT_MAX];
    size_t len = body->len < WORDS_BYTES ? body->len : WORDS_BYTES;
    snprintf(words, sizeof words, "%.*s", (int)len, len ? (const char *)body->ptr : "");
    clean_words(c, words);
    return tide_fail(err, TIDE_E_IO, "the server answered %u%s%s", code, *words ? ": " : "", words);
}

static bool cancelled(const struct rpc_client *c)
{
    return c->options.cancelled && c->options.cancelled(c->options.self);
}

static tide_status await_turn(const struct rpc_client *c, struct tide_err *err)
{
    const struct tide_clock *clock = tide_clock_system();
    int64_t wait_ms;
    while ((wait_ms = rpc_rate_take(c->options.rate, clock->now_ms(clock->self))) > 0) {
        if (cancelled(c))
            return tide_fail(err, TIDE_E_STOPPED, "asked to stop");
        clock->sleep_ms(clock->self, wait_ms < SLEEP_MS ? wait_ms : SLEEP_MS);
    }
    return TIDE_OK;
}

/* Sends a request and reads the text of the answer into body. *connected: over a new connection. */
static tide_status exchange_json(struct rpc_client *c, const char *method, const char *params,
                                 struct tide_buf *body, struct rpc_hint *hint, bool *connected,
                                 struct tide_err *err)
{
    char text[REQUEST_BYTES];
    const struct tide_config *config = c->options.config;
    const char *headers[3] = { "Content-Type: application/json" };
    if (*config->rpc_header)
        headers[1] = config->rpc_header;
    int len = snprintf(text, sizeof text,
                       "{\"jsonrpc\":\"2.0\",\"id\":%" PRIu64 ",\"method\":\"%s\",\"params\":%s}",
                       ++c->id, method, params);
    assert(len > 0 && (size_t)len < sizeof text);
    struct tide_http_answer answer = { 0 };
    const struct tide_http_request request = { .method = TIDE_HTTP_POST,
                                               .url = c->url,
                                               .headers = headers,
                                               .body = tide_slice_of(text, (size_t)len),
                                               .cancelled = c->options.cancelled,
                                               .self = c->options.self };
    tide_buf_reset(body);
    tide_status status = await_turn(c, err);
    if (!status)
        status = tide_http_call(c->http, &request, body, &answer, err);
    hint->after_ms = answer.after_ms;
    hint->reached = answer.reached;
    hint->busy = answer.after_ms || answer.code == 429 || answer.code == 503;
    *connected = answer.connected;
    return !status && answer.code != 200 ? fail_answered(c, answer.code, body, err) : status;
}

static tide_status check_network(struct rpc_client *c, struct rpc_hint *hint, struct tide_err *err)
{
    bool connected = false;
    struct rpc_network network = { 0 };
    const char *wanted = c->options.passphrase;
    c->known = wanted == NULL;
    if (c->known)
        return TIDE_OK;
    tide_status status = exchange_json(c, "getNetwork", "{}", &c->small, hint, &connected, err);
    if (!status)
        status = rpc_answer_network(&network, c->small.ptr, c->small.len, c->id, err);
    clean_words(c, network.error.message);
    if (!status && network.error.code)
        status = tide_fail(err, TIDE_E_IO, "error %" PRId64 ": %s", network.error.code,
                           network.error.message);
    if (!status && strcmp(network.passphrase, wanted) != 0)
        status = tide_fail(err, TIDE_E_CHAIN,
                           "the server is of network \"%s\", the deployment of \"%s\"",
                           network.passphrase, wanted);
    c->known = status == TIDE_OK;
    return status ? fail_named(c, "getNetwork", err) : TIDE_OK;
}

tide_status rpc_client_network(struct rpc_client *client, struct rpc_hint *hint,
                               struct tide_err *err)
{
    *hint = (struct rpc_hint){ 0 };
    return check_network(client, hint, err);
}

/* Sends a request, and accepts the answer only from a server of the right network. If the answer
 * came over a new connection, asks for the network over the same connection. */
static tide_status ask_server(struct rpc_client *c, const char *method, const char *params,
                              struct tide_buf *body, struct rpc_hint *hint, struct tide_err *err)
{
    bool connected = false;
    *hint = (struct rpc_hint){ 0 };
    tide_status status = c->known ? TIDE_OK : check_network(c, hint, err);
    if (status)
        return status;
    status = exchange_json(c, method, params, body, hint, &connected, err);
    if (status) {
        c->known = false;
        return fail_named(c, method, err);
    }
    uint64_t id = c->id;
    if (connected)
        status = check_network(c, hint, err);
    c->id = id;
    return status;
}

/* --- the requests ------------------------------------------------------------------------- */

static tide_status end_request(struct rpc_client *c, const char *method, tide_status status,
                               struct rpc_error *error, struct tide_err *err)
{
    clean_words(c, error->message);
    return status ? fail_named(c, method, err) : TIDE_OK;
}

static size_t answer_bytes_max(const struct rpc_client *c)
{
    return (size_t)c->options.config->rpc_page_max_mib << 20;
}

/* The limit for one ledger is at least RPC_LEDGER_ANSWER_BYTES, because a smaller page cannot be
 * requested. */
static size_t page_bytes_max(const struct rpc_client *c, uint32_t ledgers)
{
    size_t several = answer_bytes_max(c);
    return ledgers == 1 && several < RPC_LEDGER_ANSWER_BYTES ? RPC_LEDGER_ANSWER_BYTES : several;
}

tide_status rpc_client_latest(struct rpc_client *client, struct rpc_latest *out,
                              struct tide_buf *body, struct rpc_hint *hint, struct tide_err *err)
{
    static const char method[] = "getLatestLedger";
    tide_buf_limit(body, answer_bytes_max(client));
    tide_status status = ask_server(client, method, "{}", body, hint, err);
    return status ? status
                  : end_request(client, method,
                                rpc_answer_latest(out, body->ptr, body->len, client->id, err),
                                &out->error, err);
}

tide_status rpc_client_page(struct rpc_client *client, const struct rpc_page_request *request,
                            struct rpc_page *out, struct tide_buf *body, struct rpc_hint *hint,
                            struct tide_err *err)
{
    static const char method[] = "getLedgers";
    char params[128];
    snprintf(params, sizeof params, "{\"startLedger\":%u,\"pagination\":{\"limit\":%u}}",
             request->start, request->limit);
    tide_buf_limit(body, page_bytes_max(client, request->limit));
    tide_status status = ask_server(client, method, params, body, hint, err);
    return status ? status
                  : end_request(client, method,
                                rpc_answer_page(out, body->ptr, body->len, client->id, err),
                                &out->error, err);
}

tide_status rpc_client_events(struct rpc_client *client, const struct rpc_events_request *request,
                              struct rpc_events *out, struct tide_buf *body, struct rpc_hint *hint,
                              struct tide_err *err)
{
    static const char method[] = "getEvents";
    char params[3072];
    int len;
    if (request->cursor)
        len = snprintf(params, sizeof params,
                       "{\"filters\":%s,\"pagination\":{\"cursor\":\"%.64s\",\"limit\":%u}}",
                       request->filters, request->cursor, request->limit);
    else
        len = snprintf(params, sizeof params,
                       "{\"startLedger\":%u,\"endLedger\":%u,\"filters\":%s,"
                       "\"pagination\":{\"limit\":%u}}",
                       request->start, request->end, request->filters, request->limit);
    assert(len > 0 && (size_t)len < sizeof params);
    (void)len;
    tide_buf_limit(body, answer_bytes_max(client));
    tide_status status = ask_server(client, method, params, body, hint, err);
    return status ? status
                  : end_request(client, method,
                                rpc_answer_events(out, body->ptr, body->len, client->id, err),
                                &out->error, err);
}

bool rpc_client_next_url(const char **list, char url[RPC_URL_BYTES])
{
    *list += strspn(*list, ", ");
    size_t len = strcspn(*list, ", ");
    snprintf(url, RPC_URL_BYTES, "%.*s", (int)len, *list);
    *list += len;
    return len > 0;
}

/* --- life --------------------------------------------------------------------------------- */

static bool is_loopback(const char *url)
{
    static const char *const hosts[] = { "http://127.", "http://localhost:", "http://localhost/",
                                         "http://[::1]" };
    for (size_t i = 0; i < TIDE_COUNT(hosts); i++)
        if (strncmp(url, hosts[i], strlen(hosts[i])) == 0)
            return true;
    return strcmp(url, "http://localhost") == 0;
}

static tide_status check_url(const struct rpc_client *c, struct tide_err *err)
{
    const char *header = c->options.config->rpc_header;
    size_t scheme = strncmp(c->url, "https://", 8) == 0  ? 8
                    : strncmp(c->url, "http://", 7) == 0 ? 7
                                                         : 0;
    if (scheme == 0 || !c->url[scheme] || strpbrk(c->url, " #"))
        return tide_fail(err, TIDE_E_CONFIG, "rpc: %s: expected http(s)://host/path", c->name);
    if (memchr(c->url + scheme, '@', strcspn(c->url + scheme, "/")))
        return tide_fail(err, TIDE_E_CONFIG, "rpc: %s: a password belongs into rpc_header",
                         c->name);
    if (*header && scheme == 7 && !is_loopback(c->url))
        return tide_fail(err, TIDE_E_CONFIG,
                         "rpc_header: it would go to %s in plain text; use https", c->name);
    const char *colon = strchr(header, ':');
    if (*header && (!colon || colon == header))
        return tide_fail(err, TIDE_E_CONFIG, "rpc_header: expected Name: value");
    return TIDE_OK;
}

tide_status rpc_client_open(struct rpc_client *client, const char *url,
                            const struct rpc_client_options *options, struct tide_err *err)
{
    const struct tide_config *config = options->config;
    *client = (struct rpc_client){ .options = *options };
    snprintf(client->url, sizeof client->url, "%s", url);
    tide_http_name(client->name, sizeof client->name, url);
    tide_status status = check_url(client, err);
    if (status)
        return status;
    const struct tide_http_options http = { .agent = "tidemark-indexer",
                                            .ca_file = config->http_ca_file,
                                            .connect_ms = config->http_connect_ms,
                                            .timeout_ms = config->rpc_timeout_ms,
                                            .stall_s = config->http_stall_s };
    tide_buf_init(&client->small, SMALL_BYTES);
    return tide_http_open(&client->http, &http, err);
}

void rpc_client_close(struct rpc_client *client)
{
    tide_http_close(client->http);
    tide_buf_release(&client->small);
    client->http = NULL;
}
