/* Snapshots of the compliance records of a deployment as one signed file, for readers in other
 * processes. api/clients/c/tidemark_snapshot.h reads it and describes the format byte by byte. */
#include "api/routes/snapshots.h"
#include "api/routes/handlers.h"
#include "api/routes/receipt_keys.h"
#include "tidemark/cache_meta.h"
#include "tidemark/clock.h"
#include "tidemark/hash.h"
#include "tidemark/jws.h"
#include "tidemark/liveness.h"
#include "tidemark/log.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    WAKE_MS = 5000,    /* between two liveness marks while idle */
    SILENT_MS = 60000, /* longest silence of the thread: writing a file takes less */
    BUFFER_BYTES = 1 << 16,
    HEAD_BYTES = 352, /* header, name of the key, signature */
    RECORD_BYTES = 48,
    CHANGES_MAX = 4096 /* changes in one answer; if there are more, a new file serves as well */
};

/* A complete file. */
struct made {
    int fd; /* -1: none */
    uint64_t size;
    int64_t at_ms; /* monotonic time at which its writing began */
    uint32_t ledger;
    uint64_t closed_ms, age_ms;
    uint8_t protocol[TIDE_HASH_BYTES], signer[TIDE_HASH_BYTES];
};

struct tide_snapshots {
    struct tide_snapshots_options options;
    struct tide_hot_reader *reader; /* used by the thread only */
    pthread_t thread;
    bool started;
    pthread_mutex_t mutex; /* guards the members below */
    pthread_cond_t asked;
    bool wanted, stopping;
    struct made made;
};

/* --- the bytes of a file: numbers are little-endian --------------------------------------- */

/* The contents of a file's head. */
struct file_head {
    const struct tide_hot_meta *meta;
    uint64_t count;                /* number of records */
    uint64_t now_ms;               /* unix time of this host */
    uint64_t age_ms;               /* age of the indexer's last sign of life */
    bool changes;                  /* the file has only the changes … */
    uint32_t after;                /* … after this ledger */
    uint8_t hash[TIDE_HASH_BYTES]; /* SHA-256 of all records */
};

enum { /* offsets of the head's parts */
       COUNT_AT = 16,
       NETWORK_AT = 24,
       PROTOCOL_AT = 56,
       REGISTRY_AT = 88,
       LEDGER_AT = 120,
       HASH_AT = 128,
       CLOSED_AT = 160,
       KIND_AT = 192,
       RECORDS_AT = 200,
       DEPLOYMENT_AT = 232,
       HEADER_BYTES = 256,
       SIGNATURE_AT = 288
};

/* Readers in other processes rely on these offsets (api/clients/c/tidemark_snapshot.h). */
static_assert(NETWORK_AT == COUNT_AT + 8 && PROTOCOL_AT == NETWORK_AT + TIDE_HASH_BYTES, "no gap");
static_assert(REGISTRY_AT == PROTOCOL_AT + TIDE_HASH_BYTES, "no gap");
static_assert(LEDGER_AT == REGISTRY_AT + TIDE_HASH_BYTES && HASH_AT == LEDGER_AT + 8, "no gap");
static_assert(CLOSED_AT == HASH_AT + TIDE_HASH_BYTES && KIND_AT == CLOSED_AT + 32, "no gap");
static_assert(RECORDS_AT == KIND_AT + 8 && DEPLOYMENT_AT == RECORDS_AT + TIDE_HASH_BYTES, "no gap");
static_assert(DEPLOYMENT_AT + 4 <= HEADER_BYTES, "the header's parts end inside it");
static_assert(SIGNATURE_AT == HEADER_BYTES + TIDE_HASH_BYTES, "the key's name follows the header");
static_assert(HEAD_BYTES == SIGNATURE_AT + 64, "the signature ends the head");

/* Flags of a record. */
enum { RECORDED = 1, FROZEN = 2, BLOCKED = 4, WHITELISTED = 8, GONE = 128 };

/* The signed text begins with this, including its NUL */
static const char signed_as[] = "tidemark-snapshot-v1";

static void put_u32(uint8_t *at, uint32_t v)
{
    memcpy(at, &v, sizeof v);
}

static void put_u64(uint8_t *at, uint64_t v)
{
    memcpy(at, &v, sizeof v);
}

static void put_header(uint8_t *out, const struct file_head *says)
{
    const struct tide_hot_meta *meta = says->meta;
    static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are little-endian");
    memset(out, 0, HEADER_BYTES);
    memcpy(out, "TIDESNP1", 8);
    put_u32(out + 8, HEADER_BYTES);
    put_u32(out + 12, RECORD_BYTES);
    put_u64(out + COUNT_AT, says->count);
    memcpy(out + NETWORK_AT, meta->network_id, TIDE_HASH_BYTES);
    memcpy(out + PROTOCOL_AT, meta->protocol, TIDE_HASH_BYTES);
    memcpy(out + REGISTRY_AT, meta->contracts[TIDE_ROLE_compliance_registry].key, TIDE_HASH_BYTES);
    put_u32(out + LEDGER_AT, meta->ledger);
    put_u32(out + LEDGER_AT + 4, meta->compliance_complete ? 1 : 0);
    memcpy(out + HASH_AT, meta->hash, TIDE_HASH_BYTES);
    put_u64(out + CLOSED_AT, meta->close_time);
    put_u64(out + CLOSED_AT + 8, (uint64_t)meta->renewed_ms);
    put_u64(out + CLOSED_AT + 16, says->now_ms);
    put_u64(out + CLOSED_AT + 24, says->age_ms);
    put_u32(out + KIND_AT, says->changes);
    put_u32(out + KIND_AT + 4, says->after);
    memcpy(out + RECORDS_AT, says->hash, TIDE_HASH_BYTES);
    put_u32(out + DEPLOYMENT_AT, meta->deployment);
}

/* Writes the head, signed with the key. */
static void put_head(uint8_t out[HEAD_BYTES], const struct file_head *says,
                     const struct tide_sign *key)
{
    uint8_t text[sizeof signed_as + SIGNATURE_AT];
    put_header(out, says);
    tide_jws_thumbprint(out + HEADER_BYTES, tide_sign_public(key));
    memcpy(text, signed_as, sizeof signed_as);
    memcpy(text + sizeof signed_as, out, SIGNATURE_AT);
    tide_sign(key, out + SIGNATURE_AT, tide_slice_of(text, sizeof text));
}

/* Writes a record. person NULL: the address has no record any more. The record never contains the
 * jurisdiction, only whether it is blocked. */
static void put_record(uint8_t out[RECORD_BYTES], const struct tide_hot_address *address,
                       const struct tide_hot_person *person, bool blocked)
{
    static_assert(sizeof *address == 33, "the flags follow the address");
    static_assert(RECORD_BYTES == 40 + sizeof person->expires_at, "the end is its last field");
    memset(out, 0, RECORD_BYTES);
    memcpy(out, address, sizeof *address);
    if (!person) {
        out[33] = GONE;
        return;
    }
    uint16_t status = (uint16_t)(person->status < UINT16_MAX ? person->status : UINT16_MAX);
    out[33] = (uint8_t)((person->recorded ? RECORDED : 0) | (person->frozen ? FROZEN : 0) |
                        (person->recorded && blocked ? BLOCKED : 0) |
                        (person->whitelisted ? WHITELISTED : 0));
    memcpy(out + 34, &status, sizeof status);
    put_u32(out + 36, person->ledger);
    put_u64(out + 40, person->expires_at);
}

/* --- writing ----------------------------------------------------------------------------- */

struct writing {
    struct tide_hot_reader *reader;
    const struct tide_hot_meta *meta;
    struct tide_sha256 hash;
    uint64_t count;
    int fd;
    bool failed; /* the reason is in errno */
    size_t held;
    uint8_t buffer[BUFFER_BYTES];
};

static void flush_buffer(struct writing *w)
{
    static_assert(BUFFER_BYTES >= RECORD_BYTES, "an empty buffer has room for a record");
    assert(w->held <= sizeof w->buffer);
    size_t done = 0;
    while (done < w->held && !w->failed) {
        ssize_t n = write(w->fd, w->buffer + done, w->held - done);
        if (n > 0)
            done += (size_t)n;
        else if (n == 0 || errno != EINTR)
            w->failed = true;
    }
    tide_sha256_update(&w->hash, tide_slice_of(w->buffer, w->held));
    w->held = 0;
}

/* Adds a record to the buffer. Returns false after a failed write, which ends the scan. */
static bool put_person(void *self, tide_slice key, const void *record)
{
    struct writing *w = self;
    const struct tide_hot_person *person = record;
    struct tide_hot_address address;
    memcpy(&address, key.ptr + 1, sizeof address);
    if (w->held + RECORD_BYTES > sizeof w->buffer)
        flush_buffer(w);
    bool blocked = person->recorded && tide_hot_blocked(w->reader, w->meta, person->jurisdiction);
    assert(w->held + RECORD_BYTES <= sizeof w->buffer);
    put_record(w->buffer + w->held, &address, person, blocked);
    w->held += RECORD_BYTES;
    w->count++;
    return !w->failed;
}

/* Writes the records behind an empty head, then the head, which contains their hash. */
static void write_all(struct writing *w, const struct tide_snapshots *s,
                      const struct tide_sign *key, struct made *made)
{
    static const uint8_t none[HEAD_BYTES];
    uint8_t head[HEAD_BYTES];
    struct tide_hot_key people = tide_hot_key(TIDE_HOT_PERSON);
    const struct tide_clock *clock = s->options.clock;
    struct file_head says = { .meta = w->meta };
    w->failed = write(w->fd, none, sizeof none) != (ssize_t)sizeof none;
    tide_sha256_init(&w->hash);
    tide_hot_scan(w->reader, &people, NULL, put_person, w);
    flush_buffer(w);
    tide_sha256_final(&w->hash, says.hash);
    says.count = w->count;
    says.now_ms = (uint64_t)clock->wall_ms(clock->self);
    says.age_ms = tide_cache_age_ms(w->meta, clock->now_ms(clock->self));
    put_head(head, &says, key);
    w->failed = w->failed || pwrite(w->fd, head, sizeof head, 0) != (ssize_t)sizeof head;
    made->size = HEAD_BYTES + w->count * RECORD_BYTES;
    made->ledger = w->meta->ledger;
    made->closed_ms = tide_cache_closed_ms(w->meta);
    made->age_ms = says.age_ms;
    memcpy(made->protocol, w->meta->protocol, sizeof made->protocol);
    memcpy(made->signer, tide_sign_public(key), sizeof made->signer);
}

/* Makes a file. Returns false if it failed: then nothing is open and the reason is in the log. */
static bool make_file(struct tide_snapshots *s, const struct tide_sign *key, struct made *made)
{
    struct writing *w = calloc(1, sizeof *w);
    struct tide_err err = { 0 };
    const char *why = "no memory";
    if (w) {
        w->reader = s->reader;
        w->fd = open(s->options.folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
        why = w->fd < 0 ? strerror(errno) : "the cache is not there";
        made->at_ms = s->options.clock->now_ms(s->options.clock->self);
        made->fd = w->fd;
    }
    bool begun = w && w->fd >= 0 && tide_hot_begin(w->reader, &w->meta, &err) == TIDE_OK;
    bool done = false;
    if (begun) {
        write_all(w, s, key, made);
        why = w->failed ? strerror(errno) : "there are too many addresses to read at once";
        done = tide_hot_end(w->reader) == TIDE_OK && !w->failed;
    }
    if (!done) {
        tide_log(TIDE_WARN, "snapshot.failed", "text=\"%s\"", why);
        if (w && w->fd >= 0)
            close(w->fd);
    }
    free(w);
    return done;
}

static void replace_file(struct tide_snapshots *s, const struct made *made)
{
    assert(made->fd >= 0 && made->size >= HEAD_BYTES); /* size 0 would mean no file */
    pthread_mutex_lock(&s->mutex);
    int old = s->made.fd;
    s->made = *made;
    pthread_mutex_unlock(&s->mutex);
    if (old >= 0)
        close(old);
}

static bool wait_for_request(struct tide_snapshots *s)
{
    pthread_mutex_lock(&s->mutex);
    while (!s->wanted && !s->stopping) {
        struct timespec until = tide_monotonic_in(WAKE_MS);
        pthread_cond_timedwait(&s->asked, &s->mutex, &until);
        tide_liveness_mark();
    }
    bool stopping = s->stopping;
    pthread_mutex_unlock(&s->mutex);
    return !stopping;
}

/* The snapshot thread: writes one file for each request that finds the last one too old. */
static void *write_files(void *self)
{
    struct tide_snapshots *s = self;
    tide_liveness_begin("snapshots", SILENT_MS);
    while (wait_for_request(s)) {
        struct made made;
        struct tide_receipt_set *keys = tide_receipt_keys_use(s->options.keys);
        const struct tide_sign *signer = tide_receipt_set_signer(keys);
        if (signer && make_file(s, signer, &made))
            replace_file(s, &made);
        tide_receipt_keys_release(s->options.keys, keys);
        pthread_mutex_lock(&s->mutex);
        s->wanted = false; /* clients that came meanwhile ask again */
        pthread_mutex_unlock(&s->mutex);
    }
    tide_liveness_end();
    return NULL;
}

/* --- the object -------------------------------------------------------------------------- */

tide_status tide_snapshots_open(struct tide_snapshots **out,
                                const struct tide_snapshots_options *options, struct tide_err *err)
{
    assert(options->hot && options->keys && options->folder);
    struct tide_snapshots *s = calloc(1, sizeof *s);
    if (!s)
        return tide_fail(err, TIDE_E_MEMORY, "no memory for snapshots");
    *out = s;
    s->options = *options;
    s->made.fd = -1;
    pthread_mutex_init(&s->mutex, NULL);
    (void)tide_cond_init(&s->asked);
    tide_status status = tide_hot_reader_open(&s->reader, options->hot, err);
    if (status != TIDE_OK)
        return status;
    s->started = pthread_create(&s->thread, NULL, write_files, s) == 0;
    return s->started ? TIDE_OK : tide_fail(err, TIDE_E_MEMORY, "cannot start a thread");
}

void tide_snapshots_close(struct tide_snapshots *s)
{
    if (!s)
        return;
    pthread_mutex_lock(&s->mutex);
    s->stopping = true;
    pthread_cond_signal(&s->asked);
    pthread_mutex_unlock(&s->mutex);
    if (s->started)
        pthread_join(s->thread, NULL);
    if (s->reader)
        tide_hot_reader_close(s->reader);
    if (s->made.fd >= 0)
        close(s->made.fd);
    pthread_cond_destroy(&s->asked);
    pthread_mutex_destroy(&s->mutex);
    free(s);
}

/* Returns whether the file is of the same protocol, and changes since its ledger are known. */
static bool is_usable(const struct made *made, const struct tide_hot_meta *meta, int64_t age_ms)
{
    return made->fd >= 0 && age_ms <= (int64_t)TIDE_SNAPSHOT_OLDEST_MS &&
           made->ledger <= meta->ledger && made->ledger >= meta->changes_from &&
           made->ledger >= meta->blocked_at &&
           memcmp(made->protocol, meta->protocol, sizeof made->protocol) == 0;
}

/* Duplicates the descriptor under the mutex: the thread may replace the file at any time. */
static bool take_snapshots(struct tide_snapshots *s, const struct tide_hot_meta *meta,
                           struct tide_reply *reply)
{
    const struct tide_clock *clock = s->options.clock;
    int64_t now = clock->now_ms(clock->self);
    pthread_mutex_lock(&s->mutex);
    const struct made *made = &s->made;
    int64_t age_ms = now - made->at_ms;
    bool fit =
        is_usable(made, meta, age_ms) && tide_receipt_keys_is_signer(s->options.keys, made->signer);
    if (!fit || age_ms > (int64_t)TIDE_SNAPSHOT_FRESH_MS) {
        s->wanted = true;
        pthread_cond_signal(&s->asked);
    }
    int fd = fit ? fcntl(made->fd, F_DUPFD_CLOEXEC, 0) : -1;
    if (fd >= 0) {
        reply->file = (struct tide_reply_file){ .size = made->size, .fd = fd };
        reply->at = (struct tide_answer_at){
            true,         made->ledger,      made->closed_ms, made->age_ms + (uint64_t)age_ms,
            meta->proven, meta->history_from
        };
    }
    pthread_mutex_unlock(&s->mutex);
    return fd >= 0;
}

/* --- routes ------------------------------------------------------------------------------ */

static const char file_type[] = "application/octet-stream";

/* Returns whether snapshots are signed. Otherwise the reply is a problem. */
static bool check_signer(const struct tide_handler_context *context, struct tide_reply *reply)
{
    if (tide_receipt_keys_may_sign(context->api->receipts))
        return true;
    tide_reply_problem(reply, 404, "no_signing_key",
                       "This server has no key to sign snapshots with (api_receipt_keys).");
    return false;
}

void tide_route_snapshot(struct tide_handler_context *context, const struct tide_request *request,
                         struct tide_reply *reply)
{
    struct tide_reader reader;
    if (!check_signer(context, reply) || !tide_reader_open_proven(&reader, context, request, reply))
        return;
    bool trusted = tide_reader_trusted(&reader, context, reply);
    struct tide_hot_meta meta = *reader.meta;
    tide_reader_close(&reader, reply);
    if (!trusted || reply->status != 200)
        return;
    reply->content_type = file_type;
    if (take_snapshots(context->api->snapshots, &meta, reply))
        return;
    tide_reply_problem(reply, 503, "not_ready",
                       "The snapshot is being written. Retry in a second.");
    reply->retry_after_s = 1;
}

/* --- changes ----------------------------------------------------------------------------- */

struct changes {
    struct tide_buf addresses; /* an array of struct tide_hot_address */
    uint32_t count;
};

static bool add_address(void *self, tide_slice key, const void *record)
{
    struct changes *c = self;
    (void)record;
    tide_buf_put(&c->addresses, key.ptr + 1 + sizeof(uint32_t), sizeof(struct tide_hot_address));
    c->count += !c->addresses.failed;
    return c->count <= CHANGES_MAX && !c->addresses.failed;
}

static int by_address(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct tide_hot_address));
}

/* Writes one record for each address. An address that disappeared and came back occurs twice in
 * the changes. */
static uint64_t put_records(struct tide_buf *body, struct tide_reader *reader, struct changes *c)
{
    uint64_t count = 0;
    static_assert(_Alignof(struct tide_hot_address) == 1, "any bytes may hold an array of them");
    struct tide_hot_address *all = (struct tide_hot_address *)(void *)c->addresses.ptr;
    if (c->count)
        qsort(all, c->count, sizeof *all, by_address);
    for (uint32_t i = 0; i < c->count; i++) {
        uint8_t record[RECORD_BYTES];
        if (i && by_address(&all[i - 1], &all[i]) == 0)
            continue;
        struct tide_hot_key key = tide_hot_key_address(TIDE_HOT_PERSON, &all[i]);
        const struct tide_hot_person *person = tide_reader_get(reader, &key);
        bool blocked =
            person && person->recorded && tide_reader_blocked(reader, person->jurisdiction);
        put_record(record, &all[i], person, blocked);
        tide_buf_put(body, record, sizeof record);
        count++;
    }
    return count;
}

static void reject_gone(struct tide_reply *reply)
{
    tide_reply_problem(
        reply, 410, "snapshot_gone",
        "The changes since that ledger are not known on this node, or too many: read "
        "/api/sdk/snapshot again.");
}

static void write_changes(struct tide_reply *reply, struct tide_reader *reader, uint32_t after,
                          const struct tide_handler_context *context)
{
    struct changes c = { 0 };
    struct tide_hot_key prefix = tide_hot_key(TIDE_HOT_CHANGED),
                        from = tide_hot_key_u32(TIDE_HOT_CHANGED, after + 1);
    struct file_head says = { .meta = reader->meta,
                              .now_ms = context->now_ms,
                              .age_ms = reader->age_ms,
                              .changes = true,
                              .after = after };
    assert(after >= reader->meta->changes_from && after < UINT32_MAX); /* after + 1 is a ledger */
    tide_buf_init(&c.addresses, (CHANGES_MAX + 1) * sizeof(struct tide_hot_address));
    tide_hot_scan(reader->hot, &prefix, &from, add_address, &c); /* the route has no ?ledger= */
    if (c.count > CHANGES_MAX) {
        reject_gone(reply);
    } else {
        struct tide_receipt_set *keys = tide_receipt_keys_use(context->api->receipts);
        uint8_t head[HEAD_BYTES] = { 0 };
        tide_buf_put(&reply->body, head, sizeof head);
        says.count = put_records(&reply->body, reader, &c);
        tide_slice records = tide_buf_view(&reply->body);
        bool whole = !reply->body.failed && !c.addresses.failed;
        if (whole) {
            assert(records.len == sizeof head + says.count * RECORD_BYTES);
            tide_sha256(says.hash,
                        tide_slice_of(records.ptr + sizeof head, records.len - sizeof head));
        }
        const struct tide_sign *signer = tide_receipt_set_signer(keys);
        if (whole && signer)
            put_head(reply->body.ptr, &says, signer);
        else
            reply->body.failed = true;
        reply->content_type = file_type;
        tide_receipt_keys_release(context->api->receipts, keys);
    }
    tide_buf_release(&c.addresses);
}

/* Reads a ledger's number. Returns false if the text is not one. */
static bool read_ledger(uint32_t *out, tide_slice text)
{
    uint64_t number = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9' || i == 10)
            return false;
        number = number * 10 + (uint64_t)(text.ptr[i] - '0');
    }
    *out = (uint32_t)number;
    return text.len > 0 && number < UINT32_MAX;
}

static void answer_changes(struct tide_handler_context *context, struct tide_reader *reader,
                           uint32_t after, struct tide_reply *reply)
{
    const struct tide_hot_meta *meta = reader->meta;
    if (after > meta->ledger) {
        tide_reply_problem(reply, 503, "behind",
                           "This node has ledgers up to %" PRIu32 ". Retry in a second.",
                           meta->ledger);
        reply->retry_after_s = 1;
    } else if (meta->changes_from == 0 || after < meta->changes_from || after < meta->blocked_at) {
        reject_gone(reply);
    } else {
        write_changes(reply, reader, after, context);
    }
}

void tide_route_snapshot_changes(struct tide_handler_context *context,
                                 const struct tide_request *request, struct tide_reply *reply)
{
    struct tide_reader reader;
    uint32_t after;
    const struct tide_param_value *asked = tide_request_param(request, TIDE_PARAM_after);
    if (!read_ledger(&after, asked->text)) {
        tide_reply_problem(reply, 400, "invalid_parameters", "\"after\" must be a ledger.");
        tide_reply_problem_field(reply, "?after", "must be the ledger of a snapshot");
        return;
    }
    if (!check_signer(context, reply) || !tide_reader_open_proven(&reader, context, request, reply))
        return;
    if (tide_reader_trusted(&reader, context, reply))
        answer_changes(context, &reader, after, reply);
    tide_reader_close(&reader, reply);
}
