/* What a reply lacks that takes time: its ETag, and its bytes as the client wants them. */
#include "api/http/server/server_impl.h"
#include "tidemark/hash.h"
#include "tidemark/text.h"

enum {
    DIGEST_BYTES = 16,
    ENCODE_LEAST = 1024,     /* bytes: smaller ones fit into a packet or two       */
    LOOKUP_LEAST = 16 << 10, /* of a look-up's answer: smaller ones never leave its worker */
    ENCODE_MOST = 2 << 20,   /* above, compressing would take a thread for too long */
    ENCODE_ALL = 1u << TIDE_ENCODING_GZIP | 1u << TIDE_ENCODING_ZSTD
};

/* A stale node does not know whether its own answer, or the client's copy, is still true. */
static bool is_stale(const struct server_conn *conn)
{
    const struct tide_answer_at *at = &conn->reply.at;
    return at->known && at->age_ms > conn->worker->server->options.config->stale_after_ms;
}

static bool may_be_kept(const char *cache_control)
{
    return !strstr(cache_control, "no-store");
}

/* A stale answer may be kept, but is asked for again before each use. */
const char *server_cache_control(const struct server_conn *conn)
{
    const struct tide_reply *reply = &conn->reply;
    if (reply->cache_control)
        return reply->cache_control;
    const struct tide_route *route = conn->request.route;
    if (!route || reply->status != 200)
        return "no-store";
    return is_stale(conn) && may_be_kept(route->cache_control) ? "no-cache" : route->cache_control;
}

/* --- ETag and 304 ------------------------------------------------------------------------ */

static void digest(uint8_t out[DIGEST_BYTES], tide_slice bytes)
{
    uint8_t hash[TIDE_HASH_BYTES];
    tide_sha256(hash, bytes);
    memcpy(out, hash, DIGEST_BYTES);
}

/* Static bytes have the same digest each time. They are the worker's own replies. */
static void digest_reply(uint8_t out[DIGEST_BYTES], struct server_conn *conn)
{
    const struct tide_reply *reply = &conn->reply;
    if (reply->has_etag) {
        memcpy(out, reply->etag, DIGEST_BYTES);
        return;
    }
    if (!reply->fixed.ptr) {
        assert(reply->content_from <= reply->body.len);
        digest(out, tide_slice_of(reply->body.ptr + reply->content_from,
                                  reply->body.len - reply->content_from));
        return;
    }
    struct server_counters *route = server_counters_of(conn);
    if (!route->fixed_tagged)
        digest(route->fixed_tag, reply->fixed);
    route->fixed_tagged = true;
    memcpy(out, route->fixed_tag, DIGEST_BYTES);
}

/* W/"…", unless the answer must not be kept. Weak: it is of what the answer says, whatever its
 * coding, and the ledger at which it is true may move on. */
static void make_tag(struct server_conn *conn)
{
    uint8_t of[DIGEST_BYTES];
    const struct tide_reply *reply = &conn->reply;
    if (reply->status != 200 || reply->stream.read || reply->file.size ||
        !may_be_kept(server_cache_control(conn)))
        return;
    digest_reply(of, conn);
    memcpy(conn->tag, "W/\"", 3);
    tide_hex(conn->tag + 3, tide_slice_of(of, sizeof of));
    memcpy(conn->tag + 3 + 2 * sizeof of, "\"", 2);
}

/* If-None-Match: a list of tags, weak or not, or a star; weak and strong ones compare alike. */
static bool has_tag(tide_slice list, const char *tag)
{
    size_t len = strlen(tag + 2);
    if (list.len == 1 && list.ptr[0] == '*')
        return true;
    return list.len >= len && memmem(list.ptr, list.len, tag + 2, len) != NULL;
}

static void answer_unchanged(struct server_conn *conn)
{
    struct tide_reply *reply = &conn->reply;
    if (!conn->tag[0] || is_stale(conn) || !has_tag(conn->head.if_none_match, conn->tag))
        return;
    reply->cache_control = server_cache_control(conn);
    reply->status = 304;
}

/* --- compression ------------------------------------------------------------------------- */

/* Codings that the answer may have: bits. */
static unsigned offered(const struct server_conn *conn)
{
    const struct tide_reply *reply = &conn->reply;
    const struct tide_route *route = conn->request.route;
    unsigned all = 0;
    if (reply->status != 200 || reply->stream.read || reply->file.size || !route)
        return 0;
    for (unsigned i = 0; i < TIDE_ENCODING_COUNT && reply->fixed.ptr; i++)
        all |= reply->encoded[i].len ? 1u << i : 0;
    if (reply->fixed.ptr)
        return all;
    size_t least = route->class->lookup ? LOOKUP_LEAST : ENCODE_LEAST;
    bool fits = reply->body.len >= least && reply->body.len <= ENCODE_MOST;
    return route->class->encodes && fits ? ENCODE_ALL : 0;
}

/* Memory follows the bytes: a slow client holds what it is sent, not what that was made of. */
static void replace_body(struct tide_buf *body, tide_slice by)
{
    if (body->cap > SERVER_KEEP_BYTES)
        tide_buf_release(body);
    tide_buf_reset(body);
    tide_buf_slice(body, by);
}

void server_compress(struct server_conn *conn)
{
    struct tide_buf out, *body = &conn->reply.body;
    tide_buf_init(&out, tide_encoding_room(body->len));
    if (tide_encoding_make(&out, tide_buf_view(body), conn->encoding) == TIDE_OK &&
        out.len < body->len)
        replace_body(body, tide_buf_view(&out));
    else
        conn->encoding = TIDE_ENCODING_NONE; /* it goes as it is */
    tide_buf_release(&out);
}

void server_complete(struct server_conn *conn, bool on_executor)
{
    struct tide_reply *reply = &conn->reply;
    conn->completed = true;
    if (reply->body.failed || reply->lines.failed) {
        bool large = reply->body.len > TIDE_REPLY_BODY_MAX / 2;
        tide_reply_problem(reply, large ? 500 : 503, large ? "answer_too_large" : "no_memory",
                           "the answer could not be written");
    }
    unsigned codings = offered(conn);
    conn->varies = codings != 0;
    make_tag(conn);
    answer_unchanged(conn);
    if (!codings || reply->status != 200)
        return;
    conn->encoding = tide_encoding_choose(conn->head.accept_encoding, codings);
    if (!conn->encoding || reply->fixed.ptr)
        return;
    if (on_executor)
        server_compress(conn);
    else
        server_step(conn, STEP_ENCODE);
}
