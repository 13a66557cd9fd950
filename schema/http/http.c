/* This file alone uses libcurl. */
#include "tidemark/http.h"
#include "tidemark/config.h"
#include "tidemark/public_address.h"

#include <curl/curl.h>
#include <pthread.h>
#include <unistd.h>

enum { READ_BYTES = 512 << 10, REDIRECTS_MAX = 3, LEAST_SPEED = 1000, AFTER_MAX_S = 3600 };
static_assert(AFTER_MAX_S <= INT32_MAX / 1000, "after_ms holds the longest pause");

struct tide_http {
    CURL *curl;
    uint32_t timeout_ms;
    bool forbidden; /* the host of this call has an address that is not public */
};

/* One running call; libcurl's callbacks get it. */
struct call {
    CURL *curl;
    const struct tide_http_request *request;
    struct tide_buf *body;
    struct tide_http_answer *answer;
    tide_status status; /* the reason for which a callback stopped the transfer */
    size_t begun;       /* length of the buffer before the call */
    size_t error_bytes; /* received bytes of an answer other than 200 */
    char text[CURL_ERROR_SIZE];
};

static pthread_once_t curl_once = PTHREAD_ONCE_INIT;

static void init_curl(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

static bool is_good(const struct call *c)
{
    long code = 0;
    curl_easy_getinfo(c->curl, CURLINFO_RESPONSE_CODE, &code);
    return code == 200 || (c->request->from && code == 206);
}

/* Returns whether the answer's body begins at the byte that the request asked for. */
static bool begins_there(const struct call *c)
{
    static const char unit[] = "bytes ";
    struct curl_header *range = NULL;
    long code = 0;
    curl_easy_getinfo(c->curl, CURLINFO_RESPONSE_CODE, &code);
    if (!c->request->from)
        return code == 200;
    if (code != 206 ||
        curl_easy_header(c->curl, "Content-Range", 0, CURLH_HEADER, -1, &range) != CURLHE_OK ||
        strncmp(range->value, unit, sizeof unit - 1) != 0)
        return false;
    char *end = NULL;
    uint64_t first = strtoull(range->value + sizeof unit - 1, &end, 10);
    return *end == '-' && first == c->request->from;
}

/* Makes room in the buffer for `total` bytes, after the owner's room() agreed. */
static tide_status make_room(struct call *c, size_t total)
{
    if (total <= c->body->cap)
        return TIDE_OK;
    if (total > c->body->max)
        return TIDE_E_LIMIT;
    if (c->request->room && !c->request->room(c->request->self, total)) {
        c->answer->no_room = true;
        return TIDE_E_IO;
    }
    assert(total >= c->body->len);
    return tide_buf_room(c->body, total - c->body->len) ? TIDE_OK : TIDE_E_MEMORY;
}

/* Makes room for the whole body at once if Content-Length is known. */
static tide_status reserve_body(struct call *c)
{
    curl_off_t length = -1;
    curl_easy_getinfo(c->curl, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    if (length <= 0)
        return TIDE_OK;
    if ((uint64_t)length > c->body->max - c->begun)
        return TIDE_E_LIMIT;
    return make_room(c, c->begun + (size_t)length);
}

static size_t on_body(char *bytes, size_t size, size_t count, void *self)
{
    struct call *c = self;
    size_t len = size * count;
    bool good = is_good(c);
    if (!good && (c->error_bytes += len) > TIDE_HTTP_ERROR_BYTES)
        return 0;
    if (good && !begins_there(c)) {
        c->answer->elsewhere = true;
        c->status = TIDE_E_IO;
        return 0;
    }
    if (good && c->request->piece) {
        c->status = c->request->piece(c->request->self, tide_slice_of(bytes, len));
        return c->status ? 0 : len;
    }
    if (!c->body || (!good && c->request->room))
        return len;
    if (!good && len > c->body->max - c->body->len)
        return 0;
    if (good && c->body->len == c->begun)
        c->status = reserve_body(c);
    if (!c->status)
        c->status = make_room(c, c->body->len + len);
    if (c->status)
        return 0;
    tide_buf_put(c->body, bytes, len);
    return len;
}

static int on_progress(void *self, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    struct call *call = self;
    (void)a, (void)b, (void)c, (void)d;
    if (!call->request->cancelled || !call->request->cancelled(call->request->self))
        return 0;
    call->status = TIDE_E_STOPPED;
    return 1;
}

/* Called with the address to which libcurl is about to connect. Refuses addresses that are not
 * public. */
static curl_socket_t open_public(void *self, curlsocktype purpose, struct curl_sockaddr *to)
{
    struct tide_http *http = self;
    if (purpose != CURLSOCKTYPE_IPCXN || !tide_public_address(&to->addr)) {
        http->forbidden = true;
        return CURL_SOCKET_BAD;
    }
    return socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
}

static void restrict_to_public(struct tide_http *http)
{
    curl_easy_setopt(http->curl, CURLOPT_PROXY, "");
    curl_easy_setopt(http->curl, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(http->curl, CURLOPT_OPENSOCKETFUNCTION, open_public);
    curl_easy_setopt(http->curl, CURLOPT_OPENSOCKETDATA, http);
}

static void set_up(CURL *curl, const struct tide_http_options *o)
{
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, o->agent);
    curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(curl, CURLOPT_BUFFERSIZE, (long)READ_BYTES);
    curl_easy_setopt(curl, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(curl, CURLOPT_MAXCONNECTS, 1L);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(curl, CURLOPT_MAXREDIRS, (long)REDIRECTS_MAX);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)o->connect_ms);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, (long)LEAST_SPEED);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, (long)o->stall_s);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 2L);
    curl_easy_setopt(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    if (o->ca_file && *o->ca_file)
        curl_easy_setopt(curl, CURLOPT_CAINFO, o->ca_file);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
}

struct tide_http_options tide_http_configured(const struct tide_config *config, const char *agent)
{
    uint32_t stall_s = config->http_timeout_ms / 6000;
    return (struct tide_http_options){ .agent = agent,
                                       .ca_file = config->http_ca_file,
                                       .connect_ms = config->http_timeout_ms / 12,
                                       .timeout_ms = config->http_timeout_ms,
                                       .stall_s = stall_s ? stall_s : 1 };
}

tide_status tide_http_open(struct tide_http **out, const struct tide_http_options *options,
                           struct tide_err *err)
{
    if (options->ca_file && *options->ca_file && access(options->ca_file, R_OK) != 0)
        return tide_fail(err, TIDE_E_CONFIG, "certificates %s cannot be read", options->ca_file);
    assert(options->connect_ms > 0 && options->timeout_ms > 0); /* 0 would mean no limit */
    pthread_once(&curl_once, init_curl);
    struct tide_http *http = calloc(1, sizeof *http);
    CURL *curl = http ? curl_easy_init() : NULL;
    if (!curl) {
        free(http);
        return tide_fail(err, TIDE_E_MEMORY, "http client: out of memory");
    }
    http->curl = curl;
    http->timeout_ms = options->timeout_ms;
    set_up(curl, options);
    if (options->public_only)
        restrict_to_public(http);
    *out = http;
    return TIDE_OK;
}

void tide_http_close(struct tide_http *http)
{
    if (!http)
        return;
    curl_easy_cleanup(http->curl);
    free(http);
}

/* Takes another handle with the same options. libcurl 8.14 (Debian 13) forgets a name without an
 * address when the handle is asked for the next, and does not free it: memory would grow with each
 * try at a server that has no address. Without memory the old handle stays. */
static void renew_handle(struct tide_http *http)
{
    CURL *other = curl_easy_duphandle(http->curl);
    if (!other)
        return;
    curl_easy_cleanup(http->curl);
    http->curl = other;
}

static bool is_secure(const char *url)
{
    return strncmp(url, "https://", 8) == 0;
}

static void set_method(CURL *curl, const struct tide_http_request *r)
{
    curl_easy_setopt(curl, CURLOPT_NOBODY, r->method == TIDE_HTTP_HEAD ? 1L : 0L);
    if (r->method == TIDE_HTTP_GET)
        curl_easy_setopt(curl, CURLOPT_HTTPGET, 1L);
    if (r->method != TIDE_HTTP_POST)
        return;
    curl_easy_setopt(curl, CURLOPT_POST, 1L);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->body.len);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, r->body.len ? (const char *)r->body.ptr : "");
}

/* Makes libcurl's list of the request's headers. Returns false without memory. */
static bool list_headers(struct curl_slist **out, const struct tide_http_request *r)
{
    *out = NULL;
    if (r->method == TIDE_HTTP_POST) /* "Expect:" without a value: no round trip before the body */
        *out = curl_slist_append(NULL, "Expect:");
    bool failed = r->method == TIDE_HTTP_POST && !*out;
    for (size_t i = 0; !failed && r->headers && r->headers[i]; i++) {
        assert(i < TIDE_HTTP_HEADERS_MAX);
        struct curl_slist *longer = curl_slist_append(*out, r->headers[i]);
        failed = !longer;
        *out = longer ? longer : *out;
    }
    if (!failed)
        return true;
    curl_slist_free_all(*out);
    *out = NULL;
    return false;
}

static void keep_type(struct tide_http_answer *a, CURL *curl)
{
    const char *type = NULL;
    curl_easy_getinfo(curl, CURLINFO_CONTENT_TYPE, &type);
    size_t len = type ? strcspn(type, "; \t") : 0;
    if (len >= sizeof a->type)
        len = 0;
    for (size_t i = 0; i < len; i++)
        a->type[i] = (char)(type[i] >= 'A' && type[i] <= 'Z' ? type[i] | 0x20 : type[i]);
}

/* Returns whether the call reached a server. If it did, two codes of libcurl are the
 * server's fault: "unsupported protocol" (bytes that are no HTTP, or a redirection to another
 * scheme) and "out of memory" (a line that is too long). */
static bool has_connected(CURL *curl)
{
    const char *ip = NULL;
    curl_easy_getinfo(curl, CURLINFO_PRIMARY_IP, &ip);
    return ip && *ip;
}

/* Turns the outcome into a status: TIDE_OK for an answer, else the reason why there is none. */
static tide_status judge_outcome(struct call *c, CURLcode code, struct tide_err *err)
{
    long http = 0;
    curl_off_t after = 0;
    curl_easy_getinfo(c->curl, CURLINFO_RESPONSE_CODE, &http);
    curl_easy_getinfo(c->curl, CURLINFO_RETRY_AFTER, &after);
    struct tide_http_answer *a = c->answer;
    long connections = 0;
    curl_easy_getinfo(c->curl, CURLINFO_NUM_CONNECTS, &connections);
    a->connected = connections > 0;
    a->reached = has_connected(c->curl);
    a->code = (uint32_t)http;
    keep_type(a, c->curl);
    if (after > 0)
        a->after_ms = (uint32_t)(after > AFTER_MAX_S ? AFTER_MAX_S : after) * 1000;
    a->again = http == 0 || http == 200 || http == 206 || http == 408 || http == 425 ||
               http == 429 || http >= 500;
    bool cut = code == CURLE_WRITE_ERROR || code == CURLE_FILESIZE_EXCEEDED;
    if (c->status == TIDE_E_LIMIT || (code == CURLE_FILESIZE_EXCEEDED && http == 200))
        return tide_fail(err, TIDE_E_LIMIT, "the answer is larger than allowed");
    if (c->status)
        return tide_fail(err, c->status, "%s",
                         a->no_room     ? "no room"
                         : a->elsewhere ? "the body begins at another byte than asked for"
                                        : tide_status_text(c->status));
    if (code == CURLE_OUT_OF_MEMORY)
        return a->reached ? tide_fail(err, TIDE_E_IO, "a line of the answer's head is too long")
                          : tide_fail(err, TIDE_E_MEMORY, "out of memory");
    if (!a->reached && (code == CURLE_URL_MALFORMAT || code == CURLE_UNSUPPORTED_PROTOCOL))
        return tide_fail(err, TIDE_E_CONFIG, "not the address of a web server");
    /* The body of an error may be cut: only its status code matters. */
    if (code == CURLE_OK || (cut && http != 200 && http != 0))
        return TIDE_OK;
    return tide_fail(err, TIDE_E_IO, "%s", *c->text ? c->text : curl_easy_strerror(code));
}

tide_status tide_http_call(struct tide_http *http, const struct tide_http_request *request,
                           struct tide_buf *body, struct tide_http_answer *answer,
                           struct tide_err *err)
{
    assert(!request->follow || (!request->headers && request->method != TIDE_HTTP_POST));
    assert(!request->piece || !body);
    assert(request->piece || !request->from);
    CURL *curl = http->curl;
    struct curl_slist *headers = NULL;
    *answer = (struct tide_http_answer){ 0 };
    bool secure = is_secure(request->url);
    if (!secure && strncmp(request->url, "http://", 7) != 0)
        return tide_fail(err, TIDE_E_CONFIG, "not an address with http:// or https://");
    if (!list_headers(&headers, request))
        return tide_fail(err, TIDE_E_MEMORY, "out of memory");
    struct call call = { .curl = curl, .request = request, .body = body, .answer = answer };
    call.begun = body ? body->len : 0;
    uint32_t timeout_ms = request->timeout_ms ? request->timeout_ms : http->timeout_ms;
    curl_easy_setopt(curl, CURLOPT_URL, request->url);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)timeout_ms);
    size_t left = body ? body->max - body->len : 0;
    curl_easy_setopt(curl, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)left);
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, request->follow ? 1L : 0L);
    curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, secure ? "https" : "http");
    set_method(curl, request);
    char range[32];
    snprintf(range, sizeof range, "%" PRIu64 "-", request->from);
    curl_easy_setopt(curl, CURLOPT_RANGE, request->from ? range : NULL);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &call);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &call);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, call.text);
    http->forbidden = false;
    CURLcode code = curl_easy_perform(curl);
    answer->forbidden = http->forbidden;
    tide_status status = judge_outcome(&call, code, err);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, NULL);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, NULL);
    curl_slist_free_all(headers);
    if (code != CURLE_OK && !answer->reached)
        renew_handle(http);
    return status;
}

void tide_http_name(char *out, size_t size, const char *url)
{
    const char *scheme = strstr(url, "://");
    const char *host = scheme ? scheme + 3 : url;
    size_t len = strcspn(host, "/?#");
    const char *at = memchr(host, '@', len); /* user and password before the @ are not shown */
    size_t skip = at ? (size_t)(at + 1 - host) : 0;
    snprintf(out, size, "%.*s%.*s", (int)(host - url), url, (int)(len - skip), host + skip);
}
