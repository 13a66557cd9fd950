/* One server of Stellar RPC: requests, limits, its network, its words; the list of servers. */
#include "schema/rpc/answer.h"
#include "tidemark/clock.h"
#include "tidemark/text.h"

/* --- an answer -------------------------------------------------------------------------- */

/* An answer while it is read. */
struct envelope {
    const struct tide_rpc_question *question;
    uint64_t wanted;
    bool has_id, has_result, has_error;
    struct tide_rpc_error *error;
    void *out;
};

/* Returns the decimal that follows `words` in text, or 0 if they are not in it. */
static uint32_t number_after(const char *text, const char *words, const char **rest)
{
    const char *at = strstr(text, words);
    uint64_t v = 0;
    if (!at)
        return 0;
    at += strlen(words);
    size_t len = strspn(at, "0123456789");
    *rest = at + len;
    return tide_parse_u64(&v, tide_slice_of(at, len), UINT32_MAX) == TIDE_OK ? (uint32_t)v : 0;
}

/* Reads the range from a message: "… between the oldest ledger: 12 and the latest ledger: 90 …", or
 * "… ledger range: 12 - 90". */
static void find_range(struct tide_rpc_error *e)
{
    const char *rest = e->message;
    e->oldest = number_after(e->message, "oldest ledger: ", &rest);
    e->latest = number_after(e->message, "latest ledger: ", &rest);
    if (e->oldest || e->latest)
        return;
    e->oldest = number_after(e->message, "ledger range: ", &rest);
    e->latest = e->oldest ? number_after(rest, " - ", &rest) : 0;
}

static void read_id(struct json_scan *s, void *out)
{
    struct envelope *e = out;
    e->has_id = true;
    if (json_scan_u64(s, UINT64_MAX) != e->wanted)
        json_scan_fault(s, "an answer to another question");
}

static void read_result(struct json_scan *s, void *out)
{
    struct envelope *e = out;
    const struct tide_rpc_question *q = e->question;
    e->has_result = true;
    json_scan_members(s, q->members, q->member_count, q->lacks, e->out);
    if (!s->fault && q->check)
        q->check(s, e->out);
}

static void read_error(struct json_scan *s, void *out)
{
    static const struct json_scan_member members[] = {
        { "code", JSON_SCAN_I64, .at = offsetof(struct tide_rpc_error, code) },
        { "message", JSON_SCAN_TEXT, false, offsetof(struct tide_rpc_error, message),
          TIDE_RPC_TEXT_MAX, NULL },
    };
    struct envelope *e = out;
    e->has_error = true;
    json_scan_members(s, members, TIDE_COUNT(members), NULL, e->error);
    if (e->error->code == 0)
        json_scan_fault(s, "an error without a code");
    find_range(e->error);
}

tide_status tide_rpc_answer_read(const struct tide_rpc_question *question,
                                 struct tide_rpc_error *error, void *out, uint8_t *body, size_t len,
                                 uint64_t id, struct tide_err *err)
{
    static const struct json_scan_member members[] = {
        { "id", JSON_SCAN_VALUE, .read = read_id },
        { "result", JSON_SCAN_VALUE, .read = read_result },
        { "error", JSON_SCAN_VALUE, .read = read_error },
    };
    struct envelope e = { .question = question, .wanted = id, .error = error, .out = out };
    struct json_scan s = json_scan_of(body, len);
    *error = (struct tide_rpc_error){ 0 };
    memset(out, 0, question->cleared);
    json_scan_members(&s, members, TIDE_COUNT(members), NULL, &e);
    json_scan_end(&s);
    if (!s.fault && e.has_result == e.has_error)
        json_scan_fault(&s, e.has_result ? "both a result and an error"
                                         : "neither a result nor an error");
    if (!s.fault && !e.has_id && !e.has_error)
        json_scan_fault(&s, "an answer without an id");
    if (!e.has_id) /* perhaps about another question: no range is read from it */
        error->oldest = error->latest = 0;
    if (!s.fault)
        return TIDE_OK;
    *error = (struct tide_rpc_error){ 0 };
    memset(out, 0, question->cleared);
    return tide_fail(err, TIDE_E_DECODE, "byte %zu of the answer: %s", s.fault_at, s.fault);
}

enum {
    REQUEST_BYTES = 1 << 20,
    SMALL_BYTES = 64 << 10,
    BODY_KEPT = 1 << 20, /* a larger one is freed with the answer */
    SLEEP_MS = 20,
    WINDOW_MS = 1000,
    WORDS_BYTES = 200, /* a server's own words in a message */
    SECRET_BYTES = 6,  /* shorter texts are no keys */
};

/* --- the limit on requests ---------------------------------------------------------------- */

tide_status tide_rpc_rate_init(struct tide_rpc_rate *rate, uint32_t per_s)
{
    assert(per_s > 0);
    *rate = (struct tide_rpc_rate){ .per_s = per_s, .asked_ms = malloc(per_s * sizeof(int64_t)) };
    if (!rate->asked_ms)
        return TIDE_E_MEMORY;
    for (uint32_t i = 0; i < per_s; i++)
        rate->asked_ms[i] = -WINDOW_MS;
    if (pthread_mutex_init(&rate->lock, NULL) == 0)
        return TIDE_OK;
    free(rate->asked_ms);
    return TIDE_E_MEMORY;
}

void tide_rpc_rate_destroy(struct tide_rpc_rate *rate)
{
    pthread_mutex_destroy(&rate->lock);
    free(rate->asked_ms);
}

int64_t tide_rpc_rate_take(struct tide_rpc_rate *rate, int64_t now_ms)
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

static tide_status fail_named(const struct tide_rpc_client *c, const char *method,
                              struct tide_err *err)
{
    return tide_fail_context(err, "%s: %s", c->name, method);
}

/* Returns whether the text repeats what must not be logged: the header's value or the address's
 * path, in which providers put keys. */
static bool tells_secret(const struct tide_rpc_client *c, const char *text)
{
    const char *value = strchr(c->options.config->rpc_header, ':');
    const char *host = strstr(c->url, "://"), *path = host ? strpbrk(host + 3, "/?") : NULL;
    value = value ? value + 1 + strspn(value + 1, " ") : "";
    path = path ? path + 1 : "";
    return (strlen(value) >= SECRET_BYTES && strstr(text, value)) ||
           (strlen(path) >= SECRET_BYTES && strstr(text, path));
}

/* Makes a server's words fit for messages: one line of ASCII without keys. */
static void clean_words(const struct tide_rpc_client *c, char *words)
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
static tide_status fail_answered(const struct tide_rpc_client *c, uint32_t code,
                                 const struct tide_buf *body, struct tide_err *err)
{
    char words[TIDE_RPC_TEXT_MAX];
    size_t len = body->len < WORDS_BYTES ? body->len : WORDS_BYTES;
    snprintf(words, sizeof words, "%.*s", (int)len, len ? (const char *)body->ptr : "");
    clean_words(c, words);
    return tide_fail(err, TIDE_E_IO, "the server answered %u%s%s", code, *words ? ": " : "", words);
}

static tide_status await_turn(const struct tide_rpc_client *c, struct tide_err *err)
{
    const struct tide_clock *clock = tide_clock_system();
    const struct tide_rpc_options *o = &c->options;
    int64_t wait_ms;
    while (o->rate && (wait_ms = tide_rpc_rate_take(o->rate, clock->now_ms(clock->self))) > 0) {
        if (o->cancelled && o->cancelled(o->self))
            return tide_fail(err, TIDE_E_STOPPED, "asked to stop");
        clock->sleep_ms(clock->self, wait_ms < SLEEP_MS ? wait_ms : SLEEP_MS);
    }
    return TIDE_OK;
}

/* Sends a request and reads the text of the answer into body. *connected: over a new connection. */
static tide_status exchange_json(struct tide_rpc_client *c, const char *method, tide_slice params,
                                 struct tide_buf *body, bool *connected, struct tide_err *err)
{
    const struct tide_rpc_options *o = &c->options;
    const char *headers[3] = { "Content-Type: application/json" };
    if (*o->config->rpc_header)
        headers[1] = o->config->rpc_header;
    tide_buf_reset(&c->request);
    tide_buf_putf(&c->request,
                  "{\"jsonrpc\":\"2.0\",\"id\":%" PRIu64 ",\"method\":\"%s\",\"params\":", ++c->id,
                  method);
    tide_buf_slice(&c->request, params);
    tide_buf_u8(&c->request, '}');
    if (c->request.failed)
        return tide_fail(err, TIDE_E_MEMORY, "no memory for a request");
    struct tide_http_answer answer = { 0 };
    const struct tide_http_request request = { .method = TIDE_HTTP_POST,
                                               .url = c->url,
                                               .headers = headers,
                                               .body = tide_buf_view(&c->request),
                                               .cancelled = o->cancelled,
                                               .self = o->self };
    tide_buf_reset(body);
    tide_status status = await_turn(c, err);
    if (!status)
        status = o->call ? o->call(o->self, &request, body, &answer, err)
                         : tide_http_call(c->http, &request, body, &answer, err);
    c->last.after_ms = answer.after_ms;
    c->last.reached = answer.reached;
    c->last.busy = answer.after_ms || answer.code == 429 || answer.code == 503;
    *connected = answer.connected;
    return !status && answer.code != 200 ? fail_answered(c, answer.code, body, err) : status;
}

/* Reads the answer to the last request. */
static tide_status read_answer(struct tide_rpc_client *c, const struct tide_rpc_question *q,
                               uint64_t id, struct tide_buf *body, void *out,
                               struct tide_rpc_error *error, struct tide_err *err)
{
    tide_status status = tide_rpc_answer_read(q, error, out, body->ptr, body->len, id, err);
    clean_words(c, error->message);
    if (!status && error->code)
        status = tide_fail(err, TIDE_E_IO, "error %" PRId64 ": %s", error->code, error->message);
    return status ? fail_named(c, q->method, err) : TIDE_OK;
}

tide_status tide_rpc_client_network(struct tide_rpc_client *c, struct tide_err *err)
{
    bool connected = false;
    struct tide_rpc_network network = { 0 };
    struct tide_rpc_error error = { 0 };
    const char *wanted = c->options.passphrase;
    c->known = wanted == NULL;
    if (c->known)
        return TIDE_OK;
    tide_status status =
        exchange_json(c, tide_rpc_get_network.method, TIDE_SLICE("{}"), &c->small, &connected, err);
    if (status)
        return fail_named(c, tide_rpc_get_network.method, err);
    status = read_answer(c, &tide_rpc_get_network, c->id, &c->small, &network, &error, err);
    if (!status && strcmp(network.passphrase, wanted) != 0) {
        tide_fail(err, TIDE_E_CHAIN, "the server is of network \"%s\", the deployment of \"%s\"",
                  network.passphrase, wanted);
        status = fail_named(c, tide_rpc_get_network.method, err);
    }
    c->known = status == TIDE_OK;
    return status;
}

/* The answer is used only if it comes from a server of the right network. If it came over a new
 * connection, the network is asked for over the same connection. */
tide_status tide_rpc_ask(struct tide_rpc_client *c, const struct tide_rpc_question *q,
                         tide_slice params, struct tide_buf *body, void *out, struct tide_err *err)
{
    bool connected = false;
    c->last.error = (struct tide_rpc_error){ 0 };
    c->last.after_ms = 0;
    c->last.reached = c->last.busy = false;
    if (!body)
        tide_buf_limit(body = &c->body, tide_rpc_answer_bytes_max(c));
    tide_status status = c->known ? TIDE_OK : tide_rpc_client_network(c, err);
    if (status)
        return status;
    status = exchange_json(c, q->method, params, body, &connected, err);
    if (status) {
        c->known = false;
        return fail_named(c, q->method, err);
    }
    uint64_t id = c->id;
    if (connected)
        status = tide_rpc_client_network(c, err);
    return status ? status : read_answer(c, q, id, body, out, &c->last.error, err);
}

tide_status tide_rpc_client_latest(struct tide_rpc_client *client, struct tide_rpc_latest *out,
                                   struct tide_err *err)
{
    tide_status status =
        tide_rpc_ask(client, &tide_rpc_latest_ledger, TIDE_SLICE("{}"), NULL, out, err);
    if (client->body.cap > BODY_KEPT) /* nothing borrows from it */
        tide_buf_release(&client->body);
    return status;
}

/* --- addresses ---------------------------------------------------------------------------- */

bool tide_rpc_next_url(const char **list, char url[TIDE_RPC_URL_BYTES])
{
    *list += strspn(*list, ", ");
    size_t len = strcspn(*list, ", ");
    snprintf(url, TIDE_RPC_URL_BYTES, "%.*s", (int)len, *list);
    *list += len;
    return len > 0;
}

tide_status tide_rpc_check_list(const char *list, struct tide_err *err)
{
    char url[TIDE_RPC_URL_BYTES], other[TIDE_RPC_URL_BYTES], name[TIDE_RPC_NAME_BYTES];
    uint32_t count = 0;
    for (const char *rest = list; tide_rpc_next_url(&rest, url); count++) {
        if (count == TIDE_RPC_SERVERS_MAX)
            return tide_fail(err, TIDE_E_CONFIG, "rpc: more than %d servers", TIDE_RPC_SERVERS_MAX);
        tide_http_name(name, sizeof name, url);
        for (const char *more = rest; tide_rpc_next_url(&more, other);)
            if (strcmp(url, other) == 0)
                return tide_fail(err, TIDE_E_CONFIG,
                                 "rpc: %s is listed twice; servers confirm each other, so list"
                                 " each once",
                                 name);
    }
    return count ? TIDE_OK
                 : tide_fail(err, TIDE_E_CONFIG,
                             "rpc is not set: set it to the address of a Stellar RPC server");
}

static bool is_loopback(const char *url)
{
    static const char *const hosts[] = { "http://127.", "http://localhost:", "http://localhost/",
                                         "http://[::1]" };
    for (size_t i = 0; i < TIDE_COUNT(hosts); i++)
        if (strncmp(url, hosts[i], strlen(hosts[i])) == 0)
            return true;
    return strcmp(url, "http://localhost") == 0;
}

static tide_status check_url(const struct tide_rpc_client *c, struct tide_err *err)
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

/* --- life --------------------------------------------------------------------------------- */

tide_status tide_rpc_client_open(struct tide_rpc_client *client, const char *url,
                                 const struct tide_rpc_options *options, struct tide_err *err)
{
    const struct tide_config *config = options->config;
    *client = (struct tide_rpc_client){ .options = *options };
    snprintf(client->url, sizeof client->url, "%s", url);
    tide_http_name(client->name, sizeof client->name, url);
    tide_buf_init(&client->request, REQUEST_BYTES);
    tide_buf_init(&client->body, 0);
    tide_buf_init(&client->small, SMALL_BYTES);
    tide_status status = check_url(client, err);
    struct tide_http_options http = tide_http_configured(config, options->agent);
    http.timeout_ms /= 4;
    return status || options->call ? status : tide_http_open(&client->http, &http, err);
}

void tide_rpc_client_close(struct tide_rpc_client *client)
{
    tide_http_close(client->http);
    tide_buf_release(&client->request);
    tide_buf_release(&client->body);
    tide_buf_release(&client->small);
    client->http = NULL;
}
