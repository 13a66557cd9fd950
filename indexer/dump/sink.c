/* The walk's callbacks: events and contract data as they come, counts for the rest. */
#include "indexer/dump/sink.h"

#include "tidemark/hash.h"
#include "tidemark/limits.h"
#include "tidemark/scval.h"
#include "tidemark/strkey.h"
#include "tidemark/text.h"

/* ---- JSON members ---- */

void put_name(struct tide_buf *b, const char *name)
{
    if (b->len && b->ptr[b->len - 1] != '{')
        tide_buf_u8(b, ',');
    tide_buf_u8(b, '"');
    tide_buf_str(b, name);
    tide_buf_str(b, "\":");
}

void put_null(struct tide_buf *b, const char *name)
{
    put_name(b, name);
    tide_buf_str(b, "null");
}

void put_bool(struct tide_buf *b, const char *name, bool value)
{
    put_name(b, name);
    tide_buf_str(b, value ? "true" : "false");
}

void put_u64(struct tide_buf *b, const char *name, uint64_t value)
{
    char text[24];
    put_name(b, name);
    tide_buf_put(b, text, tide_u64_text(text, value));
}

void put_text(struct tide_buf *b, const char *name, const char *value)
{
    put_name(b, name);
    if (value)
        tide_buf_json_string(b, tide_slice_str(value));
    else
        tide_buf_str(b, "null");
}

void put_hex(struct tide_buf *b, const char *name, tide_slice bytes)
{
    put_name(b, name);
    tide_buf_u8(b, '"');
    tide_buf_hex(b, bytes);
    tide_buf_u8(b, '"');
}

void put_base64(struct tide_buf *b, const char *name, tide_slice bytes)
{
    put_name(b, name);
    tide_buf_u8(b, '"');
    tide_buf_base64(b, bytes);
    tide_buf_u8(b, '"');
}

void put_i64_text(struct tide_buf *b, const char *name, int64_t value)
{
    put_name(b, name);
    tide_buf_putf(b, "\"%" PRId64 "\"", value);
}

void put_strkey(struct tide_buf *b, const char *name, enum tide_strkey kind, const uint8_t *key)
{
    char text[TIDE_STRKEY_TEXT_MAX];
    put_name(b, name);
    tide_buf_u8(b, '"');
    tide_buf_put(b, text, tide_strkey_encode(text, kind, tide_slice_of(key, 32)));
    tide_buf_u8(b, '"');
}

void put_value(struct tide_buf *b, const char *name, tide_slice scval)
{
    put_name(b, name);
    if (tide_scval_json(b, scval) != TIDE_OK)
        b->failed = true; /* the walk has checked it: only the limit is left */
}

tide_status decode_flush(struct decode_sink *s)
{
    if (s->line.failed)
        return TIDE_E_LIMIT;
    tide_buf_u8(&s->line, '\n');
    size_t written = fwrite(s->line.ptr, 1, s->line.len, s->out);
    tide_status status = written == s->line.len ? TIDE_OK : TIDE_E_IO;
    tide_buf_reset(&s->line);
    return status;
}

static bool wants(const struct decode_sink *s, enum tide_decode_kind kind)
{
    return (s->options->kinds & (unsigned)kind) != 0;
}

static void begin_line(struct decode_sink *s, const char *kind)
{
    tide_buf_reset(&s->line);
    tide_buf_u8(&s->line, '{');
    put_text(&s->line, "kind", kind);
}

/* ---- callbacks ---- */

static tide_status on_header(void *self, const struct tide_ledger_header *header)
{
    struct decode_sink *s = self;
    s->header = *header;
    memset(s->changes, 0, sizeof s->changes);
    memset(s->events, 0, sizeof s->events);
    s->tx_count = s->success_count = 0;
    tide_buf_reset(&s->phases);
    tide_buf_reset(&s->upgrades);
    tide_buf_reset(&s->evicted);
    tide_verify_header(s->verify, header);
    return TIDE_OK;
}

static tide_status on_envelope(void *self, const struct tide_envelope *envelope)
{
    struct decode_sink *s = self;
    return tide_verify_envelope(s->verify, envelope);
}

static tide_status on_tx_set(void *self, tide_slice tx_set)
{
    struct decode_sink *s = self;
    tide_verify_tx_set(s->verify, tx_set);
    if (s->header.lcm_version > 0)
        decode_put_phases(&s->phases, tx_set);
    return TIDE_OK;
}

static tide_status on_tx(void *self, const struct tide_tx *tx, bool *inside)
{
    struct decode_sink *s = self;
    (void)inside;
    tide_verify_tx(s->verify, tx);
    s->tx_count++;
    s->success_count += tx->successful;
    memset(s->op_events, 0, sizeof s->op_events);
    s->tx_events = s->diagnostics = 0;
    return TIDE_OK;
}

static void put_event_id(struct tide_buf *b, const struct decode_sink *s,
                         const struct tide_event *e)
{
    enum { AFTER_TX_OP = 4095, AFTER_ALL_TX = 1048575 };
    uint64_t tx = e->tx;
    uint64_t op = e->op;
    if (e->level == TIDE_EVENT_TX) {
        tx = e->stage == 0 ? 0 : e->stage == 1 ? e->tx : AFTER_ALL_TX;
        op = e->stage == 1 ? AFTER_TX_OP : 0;
    }
    put_name(b, "rpcId");
    tide_buf_putf(b, "\"%019" PRIu64 "-%010" PRIu32 "\"",
                  (uint64_t)s->header.sequence << 32 | tx << 12 | op, e->index);
}

/* topics as base64, and as JSON where values are asked for. */
static void put_topics(struct tide_buf *b, const struct tide_event *e, bool as_json)
{
    struct tide_xdr x = tide_xdr_of(e->topics);
    put_name(b, as_json ? "topicsJson" : "topics");
    tide_buf_u8(b, '[');
    for (uint32_t i = 0; i < e->topic_count; i++) {
        tide_slice topic = tide_scval_span(&x);
        if (i)
            tide_buf_u8(b, ',');
        if (as_json) {
            b->failed |= tide_scval_json(b, topic) != TIDE_OK;
        } else {
            tide_buf_u8(b, '"');
            tide_buf_base64(b, topic);
            tide_buf_u8(b, '"');
        }
    }
    tide_buf_u8(b, ']');
}

static void put_event(struct decode_sink *s, const struct tide_tx *tx, const struct tide_event *e)
{
    static const char *const levels[] = { "op", "tx" };
    static const char *const stages[] = { "before_all_txs", "after_tx", "after_all_txs" };
    static const char *const types[] = { "system", "contract", "diagnostic" };
    struct tide_buf *b = &s->line;
    begin_line(s, "event");
    put_u64(b, "ledger", s->header.sequence);
    put_u64(b, "tx", e->tx);
    put_hex(b, "txHash", tide_slice_of(tx->hash, TIDE_HASH_BYTES));
    put_text(b, "level", levels[e->level]);
    if (e->level == TIDE_EVENT_TX) {
        put_text(b, "stage", stages[e->stage]);
        put_null(b, "op");
    } else {
        put_null(b, "stage");
        put_u64(b, "op", e->op);
        put_u64(b, "index", e->index);
    }
    put_event_id(b, s, e);
    put_text(b, "type", types[e->type]);
    if (e->contract)
        put_strkey(b, "contractId", TIDE_STRKEY_CONTRACT, e->contract);
    else
        put_null(b, "contractId");
    put_topics(b, e, false);
    put_base64(b, "data", e->data);
    if (s->options->values) {
        put_topics(b, e, true);
        put_value(b, "dataJson", e->data);
    }
    tide_buf_u8(b, '}');
}

static tide_status on_event(void *self, const struct tide_tx *tx, const struct tide_event *e)
{
    struct decode_sink *s = self;
    s->events[e->level]++;
    if (e->level == TIDE_EVENT_DIAGNOSTIC) {
        s->diagnostics++;
        return TIDE_OK;
    }
    if (e->level == TIDE_EVENT_TX)
        s->tx_events++;
    else if (e->op < TIDE_OPS_PER_TX_MAX)
        s->op_events[e->op]++;
    if (!wants(s, TIDE_DECODE_EVENT))
        return TIDE_OK;
    put_event(s, tx, e);
    return decode_flush(s);
}

static void put_address(struct tide_buf *b, const char *name, tide_slice address)
{
    char text[TIDE_STRKEY_ADDRESS_MAX];
    put_name(b, name);
    tide_buf_u8(b, '"');
    tide_buf_put(b, text, tide_strkey_from_address(text, address));
    tide_buf_u8(b, '"');
}

static void put_contract_data(struct decode_sink *s, const struct tide_change *c)
{
    static const char *const sections[] = {
        "fee", "txBefore", "op", "txAfter", "postFee", "upgrade"
    };
    static const char *const kinds[] = { "CREATED", "UPDATED", "REMOVED", "STATE", "RESTORED" };
    struct tide_buf *b = &s->line;
    begin_line(s, "contract_data");
    put_u64(b, "ledger", s->header.sequence);
    put_text(b, "section", sections[c->section]);
    put_u64(b, "tx", c->tx);
    if (c->section == TIDE_SECTION_OP)
        put_u64(b, "op", c->op);
    else
        put_null(b, "op");
    put_u64(b, "change", c->index);
    put_text(b, "type", kinds[c->kind]);
    put_address(b, "contract", c->contract);
    put_u64(b, "durability", c->durability);
    put_base64(b, "key", c->key);
    if (c->kind == TIDE_CHANGE_REMOVED) {
        put_null(b, "val");
        put_null(b, "lastModified");
    } else {
        put_base64(b, "val", c->value);
        put_u64(b, "lastModified", c->last_modified);
    }
    if (s->options->values) {
        put_value(b, "keyJson", c->key);
        if (c->kind != TIDE_CHANGE_REMOVED)
            put_value(b, "valJson", c->value);
    }
    tide_buf_u8(b, '}');
}

static tide_status on_change(void *self, const struct tide_tx *tx, const struct tide_change *c)
{
    struct decode_sink *s = self;
    (void)tx;
    s->changes[c->section][c->kind][c->type]++;
    if (c->type != TIDE_ENTRY_CONTRACT_DATA || !wants(s, TIDE_DECODE_CONTRACT_DATA))
        return TIDE_OK;
    put_contract_data(s, c);
    return decode_flush(s);
}

static tide_status on_tx_end(void *self, const struct tide_tx *tx)
{
    struct decode_sink *s = self;
    enum tide_call_proof proof = tide_verify_tx_end(s->verify, tx);
    if (!wants(s, TIDE_DECODE_TX))
        return TIDE_OK;
    begin_line(s, "tx");
    decode_put_tx(s, tx, proof);
    tide_buf_u8(&s->line, '}');
    return decode_flush(s);
}

static void add_base64(struct tide_buf *b, tide_slice bytes)
{
    tide_buf_str(b, b->len ? ",\"" : "\"");
    tide_buf_base64(b, bytes);
    tide_buf_u8(b, '"');
}

static tide_status on_upgrade(void *self, tide_slice upgrade)
{
    struct decode_sink *s = self;
    add_base64(&s->upgrades, upgrade);
    return TIDE_OK;
}

static tide_status on_evicted(void *self, tide_slice key)
{
    struct decode_sink *s = self;
    add_base64(&s->evicted, key);
    return TIDE_OK;
}

/* Null when the ledger before in this file is not this one's neighbour: nothing to compare. */
static bool follows(const struct decode_sink *s, bool *known)
{
    *known = s->last_sequence && s->last_sequence + 1 == s->header.sequence;
    return *known && memcmp(s->last_hash, s->header.previous_hash, TIDE_HASH_BYTES) == 0;
}

static tide_status on_end(void *self, const struct tide_ledger_tail *tail)
{
    struct decode_sink *s = self;
    const char *what;
    bool known;
    tide_verify_end(s->verify);
    bool linked = follows(s, &known);
    s->last_holds = tide_verify_holds(s->verify, &what) && (linked || !known);
    if (wants(s, TIDE_DECODE_LEDGER)) {
        begin_line(s, "ledger");
        decode_put_ledger(s, tail, linked);
        tide_buf_u8(&s->line, '}');
        tide_status status = decode_flush(s);
        if (status != TIDE_OK)
            return status;
    }
    s->last_sequence = s->header.sequence;
    memcpy(s->last_hash, s->header.hash, TIDE_HASH_BYTES);
    return TIDE_OK;
}

tide_status decode_sink_open(struct decode_sink *s, FILE *out,
                             const struct tide_decode_options *options, struct tide_err *err)
{
    *s = (struct decode_sink){ .out = out, .options = options, .last_holds = true };
    bool known = options->passphrase.len > 0;
    if (known)
        tide_network_id(s->network_id, options->passphrase);
    tide_buf_init(&s->line, TIDE_JSON_BYTES_MAX);
    tide_buf_init(&s->phases, TIDE_JSON_BYTES_MAX);
    tide_buf_init(&s->upgrades, TIDE_JSON_BYTES_MAX);
    tide_buf_init(&s->evicted, TIDE_JSON_BYTES_MAX);
    tide_status status =
        tide_verify_open(&s->verify, TIDE_PROOF_EVENTS, known ? s->network_id : NULL);
    return status == TIDE_OK ? TIDE_OK : tide_fail(err, status, "decode");
}

void decode_sink_close(struct decode_sink *s)
{
    tide_verify_close(s->verify);
    tide_buf_release(&s->line);
    tide_buf_release(&s->phases);
    tide_buf_release(&s->upgrades);
    tide_buf_release(&s->evicted);
}

tide_status decode_sink_ledger(struct decode_sink *s, tide_slice lcm, struct tide_err *err)
{
    const struct tide_walk walk = {
        .self = s,
        .header = on_header,
        .envelope = on_envelope,
        .tx_set = on_tx_set,
        .tx = on_tx,
        .event = on_event,
        .change = on_change,
        .tx_end = on_tx_end,
        .upgrade = on_upgrade,
        .evicted = on_evicted,
        .diagnostics = true,
        .end = on_end,
    };
    s->lcm = lcm;
    *err = (struct tide_err){ 0 };
    tide_status status = tide_ledger_walk(&walk, lcm, err);
    if (status != TIDE_OK && err->code == TIDE_OK)
        return tide_fail(err, status, "ledger %" PRIu32 ": %s", s->header.sequence,
                         status == TIDE_E_IO ? "output" : tide_status_text(status));
    return status;
}
