/* Objects on a web server. The only file that knows libcurl. Every lane has a connection of its
 * own that is kept alive; a request has an absolute deadline, a least speed and a size limit. */
#include "indexer/object_store.h"
#include "tidemark/limits.h"

#include <curl/curl.h>
#include <pthread.h>

enum { URL_BYTES = TIDE_CONFIG_TEXT_MAX + TIDE_OBJECT_KEY_MAX + 2, ERROR_BODY_MAX = 64 << 10 };

struct http_store {
    const struct tide_config *config;
    size_t object_max;
    char base[TIDE_CONFIG_TEXT_MAX];
    CURL *lanes[TIDE_LANES_MAX]; /* made at first use, each by the thread that owns the lane */
};

/* One request under way; libcurl's callbacks get it. */
struct request {
    struct http_store *store;
    CURL *curl;
    struct object_sink *sink; /* NULL: only whether it is there */
    struct object_fault *fault;
    tide_status status; /* why a callback stopped the transfer */
    size_t error_bytes; /* of a body that is no object */
    char text[CURL_ERROR_SIZE];
};

static pthread_once_t curl_once = PTHREAD_ONCE_INIT;

static void init_curl(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
}

static bool is_object(CURL *curl)
{
    long code = 0;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &code);
    return code == 200;
}

/* Takes room for the whole body at once where the server says how long it is. */
static void reserve(struct request *r)
{
    curl_off_t length = -1;
    curl_easy_getinfo(r->curl, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    if (length <= 0 || (size_t)length > r->store->object_max)
        return;
    size_t total = (size_t)length;
    if (total <= r->sink->bytes.cap)
        return;
    if (!r->sink->room(r->sink->self, total)) {
        r->fault->no_room = true;
        r->status = TIDE_E_IO;
    } else if (!tide_buf_room(&r->sink->bytes, total)) {
        r->status = TIDE_E_MEMORY;
    }
}

static size_t on_body(char *bytes, size_t size, size_t count, void *self)
{
    struct request *r = self;
    size_t len = size * count;
    if (!is_object(r->curl)) {
        r->error_bytes += len;
        return r->error_bytes > ERROR_BODY_MAX ? 0 : len;
    }
    if (!r->sink)
        return len;
    if (r->sink->bytes.len == 0)
        reserve(r);
    if (!r->status)
        r->status = object_sink_put(r->sink, bytes, len, r->store->object_max, r->fault);
    return r->status ? 0 : len;
}

static int on_progress(void *self, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    struct request *r = self;
    (void)a, (void)b, (void)c, (void)d;
    if (!r->sink || !r->sink->cancelled(r->sink->self))
        return 0;
    r->status = TIDE_E_STOPPED;
    return 1;
}

static CURL *make_lane(const struct http_store *s)
{
    CURL *curl = curl_easy_init();
    if (!curl)
        return NULL;
    const struct tide_config *c = s->config;
    bool secure = strncmp(s->base, "https://", 8) == 0;
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "tidemark-indexer");
    curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(curl, CURLOPT_BUFFERSIZE, 512L << 10);
    curl_easy_setopt(curl, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_easy_setopt(curl, CURLOPT_MAXCONNECTS, 1L);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, secure ? "https" : "http,https");
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(curl, CURLOPT_MAXREDIRS, 3L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)c->http_connect_ms);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)c->http_timeout_ms);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1000L);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, (long)c->http_stall_s);
    curl_easy_setopt(curl, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)s->object_max);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    return curl;
}

/* The answer that came, or the reason there is none, as a status. */
static tide_status judge(struct request *r, CURLcode code, const char *url, struct tide_err *err)
{
    long http = 0;
    curl_off_t after = 0;
    curl_easy_getinfo(r->curl, CURLINFO_RESPONSE_CODE, &http);
    curl_easy_getinfo(r->curl, CURLINFO_RETRY_AFTER, &after);
    if (r->status)
        return tide_fail(err, r->status, "%s: %s", url,
                         r->fault->no_room ? "no room" : tide_status_text(r->status));
    if (code == CURLE_FILESIZE_EXCEEDED && http == 200)
        return tide_fail(err, TIDE_E_LIMIT, "%s: larger than object_max_mib allows", url);
    if (code == CURLE_OK && http == 200)
        return TIDE_OK;
    if (http == 404 || http == 410)
        return tide_fail(err, TIDE_E_MISSING, "%s: not there (%ld)", url, http);
    r->fault->again = http == 0 || http == 200 || http == 408 || http == 429 || http >= 500;
    if (after > 0)
        r->fault->after_ms = after > 3600 ? 3600000 : (uint32_t)after * 1000;
    if (http != 0 && http != 200)
        return tide_fail(err, TIDE_E_IO, "%s: the server answered %ld%s", url, http,
                         http == 403 ? " (forbidden; a bucket that may not be listed answers so "
                                       "for an object that is not there)"
                                     : "");
    return tide_fail(err, TIDE_E_IO, "%s: %s", url, *r->text ? r->text : curl_easy_strerror(code));
}

static tide_status request(struct http_store *s, uint32_t lane, const char *key,
                           struct object_sink *sink, struct object_fault *fault,
                           struct tide_err *err)
{
    char url[URL_BYTES];
    assert(lane < TIDE_LANES_MAX);
    snprintf(url, sizeof url, "%s/%s", s->base, key);
    if (!s->lanes[lane])
        s->lanes[lane] = make_lane(s);
    struct request r = { .store = s, .curl = s->lanes[lane], .sink = sink, .fault = fault };
    if (!r.curl)
        return tide_fail(err, TIDE_E_MEMORY, "%s: out of memory", url);
    curl_easy_setopt(r.curl, CURLOPT_URL, url);
    if (sink)
        curl_easy_setopt(r.curl, CURLOPT_HTTPGET, 1L);
    else
        curl_easy_setopt(r.curl, CURLOPT_NOBODY, 1L);
    curl_easy_setopt(r.curl, CURLOPT_WRITEDATA, &r);
    curl_easy_setopt(r.curl, CURLOPT_XFERINFODATA, &r);
    curl_easy_setopt(r.curl, CURLOPT_ERRORBUFFER, r.text);
    CURLcode code = curl_easy_perform(r.curl);
    tide_status status = judge(&r, code, url, err);
    curl_easy_setopt(r.curl, CURLOPT_ERRORBUFFER, NULL);
    return status;
}

static tide_status http_get(void *self, uint32_t lane, const char *key, struct object_sink *sink,
                            struct object_fault *fault, struct tide_err *err)
{
    return request(self, lane, key, sink, fault, err);
}

static tide_status http_exists(void *self, uint32_t lane, const char *key,
                               struct object_fault *fault, struct tide_err *err)
{
    return request(self, lane, key, NULL, fault, err);
}

static void http_close(void *self)
{
    struct http_store *s = self;
    for (uint32_t i = 0; i < TIDE_LANES_MAX; i++)
        curl_easy_cleanup(s->lanes[i]);
    free(s);
}

static const struct object_store_ops http_ops = {
    .get = http_get,
    .exists = http_exists,
    .close = http_close,
};

tide_status object_http_open(struct object_store *out, const char *url,
                             const struct tide_config *config, struct tide_err *err)
{
    const char *host = strstr(url, "://");
    if (!host || !host[3])
        return tide_fail(err, TIDE_E_CONFIG, "lake=%s: expected http(s)://host/path", url);
    if (strpbrk(url, "?#") || memchr(host + 3, '@', strcspn(host + 3, "/")))
        return tide_fail(
            err, TIDE_E_CONFIG,
            "lake: the address has a query or a password in it, which would be logged");
    pthread_once(&curl_once, init_curl);
    struct http_store *s = calloc(1, sizeof *s);
    if (!s)
        return tide_fail(err, TIDE_E_MEMORY, "lake=%s: out of memory", url);
    size_t len = strlen(url);
    while (len && url[len - 1] == '/')
        len--;
    memcpy(s->base, url, len);
    s->config = config;
    s->object_max = (size_t)config->object_max_mib << 20;
    *out = (struct object_store){ &http_ops, s, s->base };
    return TIDE_OK;
}
