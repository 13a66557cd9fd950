/* The database session, its locks, and reading of rows. */
#include "api/attester/outbox/outbox.h"
#include "api/attester/outbox/outbox_impl.h"
#include "api/base/intent.h"
#include "tidemark/clock.h"
#include "tidemark/hash.h"
#include "tidemark/identity.h"
#include "tidemark/log.h"
#include "tidemark/strkey.h"
#include "tidemark/text.h"

#include <stdlib.h>

enum { EPOCH_MS = 5000 };

/* The timeouts free the locks soon after the host or the network fails; a commit must be durable
 * before an envelope is sent. */
static const char session_sql[] =
    "SET lock_timeout = '5s'; SET statement_timeout = '10s'; SET synchronous_commit = on;"
    "SET idle_session_timeout = 0; SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 1;"
    "SET tcp_keepalives_count = 3; SET tcp_user_timeout = '8s'";

/* --- life ------------------------------------------------------------------------------------- */

tide_status att_outbox_open(struct att_outbox **out, const struct att_outbox_options *options,
                            struct tide_err *err)
{
    assert(options->deployment && options->contract);
    struct att_outbox *outbox = calloc(1, sizeof *outbox);
    if (!outbox)
        return tide_fail(err, TIDE_E_MEMORY, "no memory for the outbox");
    outbox->options = *options;
    *out = outbox;
    return TIDE_OK;
}

void att_outbox_close(struct att_outbox *outbox)
{
    if (!outbox)
        return;
    tide_pg_close(outbox->pg);
    free(outbox);
}

struct tide_pg *att_outbox_pg(struct att_outbox *outbox)
{
    return outbox->pg;
}

uint32_t att_outbox_deployment(const struct att_outbox *outbox)
{
    return outbox->deployment;
}

bool att_outbox_has_lock(const struct att_outbox *outbox)
{
    return outbox->held && outbox->pg && tide_pg_alive(outbox->pg);
}

/* --- connecting ------------------------------------------------------------------------------- */

static tide_status connect_session(struct att_outbox *o, struct tide_err *err)
{
    const struct tide_pg_options pg = { .conninfo = o->options.conninfo,
                                        .application = "tidemark-attester",
                                        .server = TIDE_PG_PRIMARY,
                                        .silence_ms = ATT_SILENCE_MS,
                                        .stopped = o->options.stopped,
                                        .stopped_self = o->options.self };
    /* Locks and notifications belong to the session that ends here. */
    o->held = false;
    o->listening = false;
    o->deployment = 0;
    return tide_pg_connect(&o->pg, &pg, err);
}

/* Fails with TIDE_E_CONFIG if the file assigns roles otherwise than the index: its registry
 * would not be the one that the rows concern. */
static tide_status check_roles(struct att_outbox *o, struct tide_err *err)
{
    tide_status status = tide_identity_check_file(o->pg, o->options.deployment, err);
    if (status == TIDE_E_CONFLICT)
        err->code = status = TIDE_E_CONFIG; /* no later attempt can succeed */
    return status;
}

/* Sets o->deployment to the newest epoch of the network that has this registry. */
static tide_status find_deployment(struct att_outbox *o, struct tide_err *err)
{
    uint64_t id;
    tide_status status = tide_pg_value(
        o->pg,
        "SELECT id FROM chain.deployment WHERE network_id = $1::bytea AND contracts @>"
        " jsonb_build_array(jsonb_build_object('role', 'compliance_registry', 'address', $2::text))"
        " ORDER BY epoch DESC, id DESC LIMIT 1",
        (const char *[]){ TIDE_PG_HASH(o->options.deployment->network_id), o->options.contract }, 2,
        &id, err);
    if (status != TIDE_OK)
        return status;
    if (!id)
        return tide_fail(err, TIDE_E_MISSING,
                         "the database does not have this deployment; index it first");
    o->deployment = (uint32_t)id;
    return TIDE_OK;
}

static tide_status begin_session(struct att_outbox *o, struct tide_err *err)
{
    tide_status status = connect_session(o, err);
    if (status == TIDE_OK)
        status = tide_pg_run(o->pg, session_sql, NULL, err);
    if (status == TIDE_OK)
        status = check_roles(o, err);
    return status;
}

/* Follows a reset of the network to its newest epoch, whose intents are the ones to send. The
 * locks name a deployment, so a new session replaces the old one. */
static tide_status follow_epoch(struct att_outbox *o, struct tide_err *err)
{
    uint32_t before = o->deployment;
    if (before && tide_now_ms() - o->searched_ms < EPOCH_MS)
        return TIDE_OK;
    o->searched_ms = tide_now_ms();
    tide_status status = find_deployment(o, err);
    if (status != TIDE_OK || !before || before == o->deployment)
        return status;
    tide_log(TIDE_INFO, "attester.epoch", "deployment=%u before=%u", o->deployment, before);
    status = begin_session(o, err);
    return status == TIDE_OK ? find_deployment(o, err) : status;
}

tide_status att_outbox_ready(struct att_outbox *outbox, struct tide_err *err)
{
    tide_status status = TIDE_OK;
    if (!outbox->pg || !tide_pg_alive(outbox->pg))
        status = begin_session(outbox, err);
    if (status == TIDE_OK)
        status = follow_epoch(outbox, err);
    if (status == TIDE_OK && !outbox->listening) {
        status = tide_pg_listen(outbox->pg, "tidemark_outbox", err);
        outbox->listening = status == TIDE_OK;
    }
    return status;
}

/* Takes both locks or none. The first one protects the key's sequence numbers on its network,
 * the second one the rows of the deployment. */
static const char lock_sql[] =
    "SELECT CASE WHEN NOT pg_try_advisory_lock($1::bigint) THEN false WHEN"
    " pg_try_advisory_lock(7022, $2::int) THEN true ELSE NOT pg_advisory_unlock($1::bigint) END";

tide_status att_outbox_lock(struct att_outbox *outbox, bool *held, struct tide_err *err)
{
    struct tide_sha256 h;
    uint8_t hash[TIDE_HASH_BYTES];
    uint64_t taken;
    *held = att_outbox_has_lock(outbox);
    assert(outbox->pg && outbox->deployment); /* att_outbox_ready succeeded */
    assert(outbox->options.key);
    if (*held)
        return TIDE_OK;
    /* The lock's name is a hash, because a key on two networks has two sequences. */
    tide_sha256_init(&h);
    tide_sha256_update(&h, TIDE_SLICE("tidemark-attester"));
    tide_sha256_update(&h, tide_slice_of(outbox->options.deployment->network_id, TIDE_HASH_BYTES));
    tide_sha256_update(&h, tide_slice_of(outbox->options.key, TIDE_HASH_BYTES));
    tide_sha256_final(&h, hash);
    tide_status status = tide_pg_value(
        outbox->pg, lock_sql,
        (const char *[]){ TIDE_PG_NUMBER(tide_be64(hash)), TIDE_PG_NUMBER(outbox->deployment) }, 2,
        &taken, err);
    *held = outbox->held = taken != 0;
    return status;
}

tide_status att_outbox_wait(struct att_outbox *outbox, uint32_t ms, struct tide_err *err)
{
    assert(outbox->pg); /* att_outbox_ready connected */
    bool notified;
    return tide_pg_wait(outbox->pg, (int)ms, &notified, err);
}

/* --- reading ---------------------------------------------------------------------------------- */

void att_row_init(struct att_row *row)
{
    *row = (struct att_row){ 0 };
    tide_buf_init(&row->envelope, ATT_ENVELOPE_MAX);
    tide_buf_init(&row->bump, ATT_ENVELOPE_MAX);
}

void att_row_release(struct att_row *row)
{
    tide_buf_release(&row->envelope);
    tide_buf_release(&row->bump);
}

/* Columns of next_sql. */
enum column {
    ID,
    SUBJECT,
    REVOKE,
    JURISDICTION,
    EXPIRES,
    METADATA,
    STATE,
    SUPERSEDED,
    MAX_TIME,
    ATTEMPTS,
    BAD_SEQ,
    SEQ,
    HASH,
    SUBMIT_LEDGER,
    SENT_LEDGER,
    LAST_STATUS,
    ENVELOPE,
    BUMP,
    ATTESTED,
    KNOWN_LEDGER,
    REVIEWED,
    SIGNED_FROM
};

/* The columns that KYC's MAC covers, in the order of enum tide_intent_field, and the MAC.
 * Restoring a backup can bring back rows of an erased session. Their MAC is read as NULL, so
 * they count as not signed. */
#define ATT_SIGNED_COLUMNS                                                             \
    "o.deployment, o.subject, o.session_id, o.decision_rev, o.action, o.jurisdiction," \
    " o.expires_at, o.meta_hash, CASE WHEN NOT EXISTS (SELECT FROM kyc.erased e WHERE" \
    " e.session_id = o.session_id) THEN o.mac END"

/* $2 is the smallest id minus 1. $3 is true in a dry run, which reads all rows by id. Otherwise
 * rows under way come first: a queued row must not overtake an envelope of the same key. A row is
 * postponed by a minute at most: a later next_try was written while the clock was ahead. */
static const char next_sql[] =
    "SELECT o.id, o.subject, o.action = 'revoke', o.jurisdiction, o.expires_at, o.meta_hash,"
    " o.state, " ATT_SUPERSEDED ", coalesce(o.max_time, 0), o.attempts, o.bad_seq,"
    " coalesce(o.seq, 0), o.tx_hash, coalesce(o.submit_ledger, 0),"
    " coalesce(o.sent_ledger, 0), coalesce(o.last_status, ''), o.envelope, o.bump_envelope,"
    " CASE WHEN o.action = 'revoke' THEN (SELECT a.meta_hash FROM kyc.outbox a WHERE a.session_id ="
    " o.session_id AND a.action = 'attest' AND a.state = 'confirmed' ORDER BY a.decision_rev DESC"
    " LIMIT 1) END, (SELECT least(coalesce(max(c.confirmed_ledger), 0), 4294967295) FROM"
    " kyc.outbox c WHERE c.subject = o.subject AND c.genuine IS NOT FALSE AND c.deployment ="
    " o.deployment AND c.state = 'confirmed'), o.reviewed_at IS NOT NULL, " ATT_SIGNED_COLUMNS
    " FROM kyc.outbox o WHERE o.deployment = $1::int AND o.id > $2::bigint AND (o.genuine OR"
    " $3::bool) AND (o.state IN ('signed', 'submitted') OR o.state = 'queued' AND (o.next_try <="
    " statement_timestamp() OR o.next_try > statement_timestamp() + interval '1 hour'))"
    " ORDER BY o.state = 'queued' AND NOT $3::bool, o.id LIMIT 1";

/* Decodes a bytea text into buf. NULL gives an empty buffer. Returns false if the text is
 * malformed. */
static bool read_bytes(struct tide_buf *buf, const struct tide_pg_rows *rows, uint32_t column)
{
    tide_slice text = tide_pg_slice(rows, 0, column);
    tide_buf_reset(buf);
    if (text.len < 2)
        return true;
    size_t len = text.len / 2 - 1;
    uint8_t *room = tide_buf_room(buf, len);
    buf->len = len;
    return room && tide_hex_decode(room, len, tide_slice_of(text.ptr + 2, text.len - 2)) == TIDE_OK;
}

/* Returns false if next_sql does not select rows of this state: the row is parked then. */
static bool read_state(enum att_state *out, const char *text)
{
    static const char *const names[] = {
        [ATT_QUEUED] = "queued", [ATT_SIGNED] = "signed", [ATT_SUBMITTED] = "submitted"
    };
    static_assert(TIDE_COUNT(names) == ATT_SUBMITTED + 1, "a name for each state");
    *out = ATT_QUEUED;
    for (uint32_t i = 0; i < TIDE_COUNT(names); i++)
        if (strcmp(text, names[i]) == 0) {
            *out = (enum att_state)i;
            return true;
        }
    return false;
}

/* Reads a number from 0 to max; otherwise clears *good. A cast would turn a negative number into
 * a large one. */
static uint64_t read_number(const struct tide_pg_rows *rows, uint32_t column, uint64_t max,
                            bool *good)
{
    uint64_t value = 0;
    *good &= tide_parse_u64(&value, tide_pg_slice(rows, 0, column), max) == TIDE_OK;
    return value;
}

/* Returns true if the MAC in the row is KYC's. from is the column at which ATT_SIGNED_COLUMNS
 * begin. */
static bool is_genuine(const struct att_outbox *o, const struct tide_pg_rows *rows, uint32_t row,
                       uint32_t from)
{
    const char *fields[TIDE_INTENT_FIELDS];
    uint8_t mac[TIDE_HASH_BYTES];
    assert(o->options.intent_key); /* commands have none and read no row */
    assert(from + TIDE_INTENT_FIELDS < rows->columns);
    for (uint32_t i = 0; i < TIDE_INTENT_FIELDS; i++)
        fields[i] = tide_pg_text(rows, row, from + i);
    return tide_pg_bytes(rows, row, from + TIDE_INTENT_FIELDS, mac, sizeof mac) &&
           tide_intent_genuine(mac, sizeof mac, o->options.intent_key,
                               o->options.deployment->network_id, fields);
}

/* Returns false if the row is malformed. An invalid address is not malformed: the caller parks
 * it as bad_subject. */
static bool read_row(struct att_row *row, const struct tide_pg_rows *rows)
{
    bool good = true;
    row->id = tide_pg_u64(rows, 0, ID);
    row->subject_len = tide_strkey_to_address(row->subject, tide_pg_slice(rows, 0, SUBJECT));
    assert(row->subject_len <= sizeof row->subject);
    row->revoke = tide_pg_bool(rows, 0, REVOKE);
    row->jurisdiction = (uint32_t)read_number(rows, JURISDICTION, UINT32_MAX, &good);
    row->expires_at = read_number(rows, EXPIRES, INT64_MAX, &good);
    good &= row->revoke ||
            (row->jurisdiction && row->expires_at); /* the contract reads 0 as "no end" */
    good &= read_state(&row->state, tide_pg_text(rows, 0, STATE));
    row->superseded = tide_pg_bool(rows, 0, SUPERSEDED);
    row->max_time = read_number(rows, MAX_TIME, INT64_MAX, &good);
    row->attempts = (uint32_t)read_number(rows, ATTEMPTS, UINT32_MAX, &good);
    row->bad_seq = (uint32_t)read_number(rows, BAD_SEQ, UINT32_MAX, &good);
    row->seq = (int64_t)read_number(rows, SEQ, INT64_MAX, &good);
    row->submit_ledger = (uint32_t)read_number(rows, SUBMIT_LEDGER, UINT32_MAX, &good);
    row->sent_ledger = (uint32_t)read_number(rows, SENT_LEDGER, UINT32_MAX, &good);
    row->bumped = !tide_pg_is_null(rows, 0, BUMP);
    snprintf(row->last_status, sizeof row->last_status, "%s", tide_pg_text(rows, 0, LAST_STATUS));
    row->has_attested = tide_pg_bytes(rows, 0, ATTESTED, row->attested, TIDE_HASH_BYTES);
    row->known_ledger = (uint32_t)read_number(rows, KNOWN_LEDGER, UINT32_MAX, &good);
    row->reviewed = tide_pg_bool(rows, 0, REVIEWED);
    bool hashed =
        row->state == ATT_QUEUED || tide_pg_bytes(rows, 0, HASH, row->hash, TIDE_HASH_BYTES);
    return good && hashed && tide_pg_bytes(rows, 0, METADATA, row->metadata, TIDE_HASH_BYTES) &&
           read_bytes(&row->envelope, rows, ENVELOPE) && read_bytes(&row->bump, rows, BUMP);
}

tide_status att_outbox_next(struct att_outbox *outbox, struct att_row *row, const uint64_t *after,
                            bool *any, struct tide_err *err)
{
    assert(outbox->deployment); /* att_outbox_ready succeeded */
    struct tide_pg_rows rows;
    *any = false;
    tide_status status =
        tide_pg_query(outbox->pg, &rows, next_sql,
                      (const char *[]){ TIDE_PG_NUMBER(outbox->deployment),
                                        TIDE_PG_NUMBER(after ? *after : 0), TIDE_PG_BOOL(after) },
                      3, err);
    assert(status != TIDE_OK || rows.columns == SIGNED_FROM + (int)TIDE_INTENT_FIELDS + 1);
    if (status == TIDE_OK && rows.count) {
        *any = true;
        bool readable = read_row(row, &rows);
        /* The MAC is checked again: the row may have changed since att_outbox_check_macs. */
        if (!readable || !is_genuine(outbox, &rows, 0, SIGNED_FROM))
            status = tide_fail(err, TIDE_E_DECODE,
                               "kyc.outbox %" PRIu64 ": the row is malformed, or its"
                               " MAC is not valid",
                               row->id);
    }
    tide_pg_rows_release(&rows);
    return status;
}

/* --- MACs of new rows ------------------------------------------------------------------------- */

enum { SCREEN_ROWS = 256, SCREEN_LIST_BYTES = SCREEN_ROWS * 24 };
static_assert(SCREEN_LIST_BYTES >= SCREEN_ROWS * (20 + 1) + 3, "all ids of a batch fit");

/* Appends id to an array literal, which store_list closes. */
static void add_id(struct tide_buf *list, const char *id)
{
    tide_buf_str(list, list->len ? "," : "{");
    tide_buf_str(list, id);
}

static tide_status store_list(struct att_outbox *outbox, struct tide_buf *list, bool genuine,
                              struct tide_err *err)
{
    if (list->len == 0)
        return TIDE_OK;
    tide_buf_str(list, "}");
    tide_buf_u8(list, 0);
    return list->failed ? tide_fail(err, TIDE_E_MEMORY, "no memory for a statement")
                        : att_outbox_store_genuine(outbox, (const char *)list->ptr, genuine, err);
}

tide_status att_outbox_check_macs(struct att_outbox *outbox, uint32_t *forged, bool *more,
                                  struct tide_err *err)
{
    struct tide_pg_rows rows;
    struct tide_buf good, bad;
    *forged = 0;
    tide_status status = tide_pg_query(
        outbox->pg, &rows,
        "SELECT " ATT_SIGNED_COLUMNS ", o.id FROM kyc.outbox o WHERE o.deployment ="
        " $1::int AND o.genuine IS NULL ORDER BY o.id LIMIT $2::int",
        (const char *[]){ TIDE_PG_NUMBER(outbox->deployment), TIDE_PG_NUMBER(SCREEN_ROWS) }, 2,
        err);
    if (status != TIDE_OK)
        return status;
    assert(rows.count <= SCREEN_ROWS && rows.columns == TIDE_INTENT_FIELDS + 2);
    tide_buf_init(&good, SCREEN_LIST_BYTES);
    tide_buf_init(&bad, SCREEN_LIST_BYTES);
    for (uint32_t i = 0; i < rows.count; i++) {
        bool genuine = is_genuine(outbox, &rows, i, 0);
        add_id(genuine ? &good : &bad, tide_pg_text(&rows, i, TIDE_INTENT_FIELDS + 1));
        *forged += !genuine;
    }
    /* A full batch may be followed by others. */
    *more = rows.count == SCREEN_ROWS;
    tide_pg_rows_release(&rows);
    status = store_list(outbox, &good, true, err);
    if (status == TIDE_OK)
        status = store_list(outbox, &bad, false, err);
    tide_buf_release(&good);
    tide_buf_release(&bad);
    return status;
}
