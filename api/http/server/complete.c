/* Completes a reply: ETag, 304, compression. The encoder is one thread that compresses large
 * answers of look-ups, so that workers do not. It never delays an answer for long: with
 * ENCODER_BYTES in its queue it accepts no more, and further answers go uncompressed. */
#include "api/http/server/server_impl.h"
#include "tidemark/hash.h"
#include "tidemark/liveness.h"
#include "tidemark/lock.h"
#include "tidemark/text.h"

enum {
    DIGEST_BYTES = 16,
    ENCODE_LEAST = 1024, /* bytes: a smaller answer fits into a packet or two */
    /* Bytes of a look-up's answer: a smaller one is sent uncompressed, without leaving the
     * worker */
    LOOKUP_LEAST = 16 << 10,
    ENCODE_MOST = 2 << 20, /* bytes: compressing a larger answer would occupy a thread too long */
    ENCODE_ALL = 1u << TIDE_ENCODING_GZIP | 1u << TIDE_ENCODING_ZSTD,
    ENCODER_BYTES = 2 << 20, /* bytes of bodies in the encoder's queue: about 10 ms of work */
    ENCODER_WAKE_MS = 5000   /* between two liveness marks while the queue is empty */
};

/* Returns whether the answer's ledger is older than stale_after_ms. A stale node cannot know
 * whether its answer, or the client's copy, is still true. */
static bool is_stale(const struct server_conn *conn)
{
    const struct tide_answer_at *at = &conn->reply.at;
    return at->known && at->age_ms > conn->worker->server->options.config->stale_after_ms;
}

static bool is_cacheable(const char *cache_control)
{
    return !strstr(cache_control, "no-store");
}

/* A stale answer may be stored, but must be revalidated before each use ("no-cache"). */
const char *server_cache_control(const struct server_conn *conn)
{
    const struct tide_reply *reply = &conn->reply;
    if (reply->cache_control)
        return reply->cache_control;
    const struct tide_route *route = conn->request.route;
    if (!route || reply->status != 200)
        return "no-store";
    return is_stale(conn) && is_cacheable(route->cache_control) ? "no-cache" : route->cache_control;
}

/* --- ETag and 304 ----------------------------------------------------------------------- */

static void compute_digest(uint8_t out[DIGEST_BYTES], tide_slice bytes)
{
    uint8_t hash[TIDE_HASH_BYTES];
    tide_sha256(hash, bytes);
    memcpy(out, hash, DIGEST_BYTES);
}

/* Writes the digest for the ETag: the handler's own, that of static bytes (computed once for
 * each route and worker), or that of the body. */
static void digest_reply(uint8_t out[DIGEST_BYTES], struct server_conn *conn)
{
    const struct tide_reply *reply = &conn->reply;
    if (reply->has_etag) {
        memcpy(out, reply->etag, DIGEST_BYTES);
        return;
    }
    if (!reply->fixed.ptr) {
        assert(reply->content_from <= reply->body.len);
        compute_digest(out, tide_slice_of(reply->body.ptr + reply->content_from,
                                          reply->body.len - reply->content_from));
        return;
    }
    struct server_counters *route = server_counters_of(conn);
    if (!route->fixed_tagged)
        compute_digest(route->fixed_tag, reply->fixed);
    route->fixed_tagged = true;
    memcpy(out, route->fixed_tag, DIGEST_BYTES);
}

/* Sets the ETag, W/"…", unless the answer must not be stored. The tag is weak: it stands for the
 * content, not for its encoding or for the ledger, which may advance. */
static void make_tag(struct server_conn *conn)
{
    uint8_t of[DIGEST_BYTES];
    const struct tide_reply *reply = &conn->reply;
    if (reply->status != 200 || reply->stream.read || reply->file.size ||
        !is_cacheable(server_cache_control(conn)))
        return;
    digest_reply(of, conn);
    memcpy(conn->variant.tag, "W/\"", 3);
    tide_hex(conn->variant.tag + 3, tide_slice_of(of, sizeof of));
    memcpy(conn->variant.tag + 3 + 2 * sizeof of, "\"", 2);
}

/* Returns whether If-None-Match contains the tag, or is a star. Weak and strong tags compare
 * alike (RFC 9110). */
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
    if (!conn->variant.tag[0] || is_stale(conn) ||
        !has_tag(conn->head.fields.if_none_match, conn->variant.tag))
        return;
    reply->cache_control = server_cache_control(conn);
    reply->status = 304;
}

/* --- compression ------------------------------------------------------------------------ */

/* Returns the encodings that are possible for the answer, as bits. */
static unsigned possible_encodings(const struct server_conn *conn)
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

/* Replaces the body by its compressed form, and releases the larger buffer: a slow client would
 * hold it until it has read the answer. */
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
    if (tide_encoding_make(&out, tide_buf_view(body), conn->variant.encoding) == TIDE_OK &&
        out.len < body->len)
        replace_body(body, tide_buf_view(&out));
    else
        conn->variant.encoding = TIDE_ENCODING_NONE; /* the answer is sent uncompressed */
    tide_buf_release(&out);
}

bool server_complete(struct server_conn *conn)
{
    struct tide_reply *reply = &conn->reply;
    conn->variant.completed = true;
    if (reply->body.failed || reply->lines.failed) {
        if (reply->body.full || reply->lines.full)
            tide_reply_problem(reply, 503, "too_large", "The answer would be larger than %u bytes.",
                               TIDE_REPLY_BODY_MAX);
        else
            tide_reply_problem(reply, 503, "no_memory", "There was no memory for the answer.");
    }
    unsigned codings = possible_encodings(conn);
    conn->variant.varies = codings != 0;
    make_tag(conn);
    answer_unchanged(conn);
    if (!codings || reply->status != 200)
        return false;
    conn->variant.encoding = tide_encoding_choose(conn->head.fields.accept_encoding, codings);
    return conn->variant.encoding && !reply->fixed.ptr;
}

/* --- the encoder ------------------------------------------------------------------------ */

/* Waits for the next connection and removes it from the queue. Returns NULL when stopping and
 * the queue is empty. Needs the mutex. */
static struct server_conn *wait_for_conn(struct server_encoder *encoder)
{
    while (!encoder->first && !encoder->stopping) {
        struct timespec until = tide_monotonic_in(ENCODER_WAKE_MS);
        pthread_cond_timedwait(&encoder->wanted, &encoder->mutex, &until);
        tide_liveness_mark();
    }
    struct server_conn *conn = encoder->first;
    if (!conn)
        return NULL;
    encoder->first = conn->encode_next;
    if (!encoder->first)
        encoder->last = NULL;
    return conn;
}

/* Compresses until stopped. After tide_server_wake the connection belongs to its worker again. */
static void *encode_all(void *self)
{
    struct server_encoder *encoder = self;
    struct server_conn *conn;
    tide_liveness_begin("encoder", SERVER_HUNG_MS);
    pthread_mutex_lock(&encoder->mutex);
    while ((conn = wait_for_conn(encoder))) {
        size_t bytes = conn->reply.body.len;
        pthread_mutex_unlock(&encoder->mutex);
        tide_liveness_mark();
        server_compress(conn);
        tide_server_wake(&conn->wake);
        pthread_mutex_lock(&encoder->mutex);
        encoder->bytes -= bytes;
    }
    pthread_mutex_unlock(&encoder->mutex);
    tide_liveness_end();
    return NULL;
}

void server_encoder_submit(struct server_conn *conn)
{
    struct server_encoder *encoder = &conn->worker->server->encoder;
    size_t bytes = conn->reply.body.len;
    tide_lock_counted(&encoder->mutex, &conn->worker->waits);
    bool room = encoder->bytes + bytes <= ENCODER_BYTES;
    if (room) {
        conn->encode_next = NULL;
        *(encoder->last ? &encoder->last->encode_next : &encoder->first) = conn;
        encoder->last = conn;
        encoder->bytes += bytes;
        pthread_cond_signal(&encoder->wanted);
    }
    pthread_mutex_unlock(&encoder->mutex);
    if (room)
        server_add(&conn->worker->totals.waiting, 1);
    else
        conn->variant.encoding = TIDE_ENCODING_NONE;
    server_set_state(conn, room ? STATE_WAIT : STATE_ANSWER);
}

tide_status server_encoder_start(struct server_encoder *encoder, struct tide_err *err)
{
    if (!tide_cond_init(&encoder->wanted))
        return tide_fail(err, TIDE_E_MEMORY, "no memory for a thread");
    pthread_mutex_init(&encoder->mutex, NULL);
    int failed = pthread_create(&encoder->thread, NULL, encode_all, encoder);
    encoder->started = !failed;
    return failed ? tide_fail(err, TIDE_E_MEMORY, "cannot start a thread: %s", strerror(failed))
                  : TIDE_OK;
}

void server_encoder_stop(struct server_encoder *encoder)
{
    if (!encoder->started)
        return;
    pthread_mutex_lock(&encoder->mutex);
    encoder->stopping = true;
    pthread_cond_signal(&encoder->wanted);
    pthread_mutex_unlock(&encoder->mutex);
    pthread_join(encoder->thread, NULL);
    pthread_cond_destroy(&encoder->wanted);
    pthread_mutex_destroy(&encoder->mutex);
    encoder->started = false;
}
