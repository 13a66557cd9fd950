/* Callbacks of the walk: print events and contract data as they come, and count all other
 * changes. */
#include "indexer/dump/dump_impl.h"

#include "tidemark/hash.h"
#include "tidemark/limits.h"
#include "tidemark/scval.h"
#include "tidemark/strkey.h"
#include "tidemark/text.h"

/* ---- JSON members ---- */

/* Writes an ScVal as JSON. */
static void put_value(struct tide_json *j, const char *name, tide_slice scval)
{
    tide_json_value(j, name);
    if (tide_scval_json(j->buf, scval) != TIDE_OK)
        /* The walk has checked the value: only the buffer's limit can fail. */
        j->buf->failed = true;
}

static tide_status dump_flush(struct dump_sink *s)
{
    if (s->line.failed)
        return TIDE_E_LIMIT;
    tide_buf_u8(&s->line, '\n');
    size_t written = fwrite(s->line.ptr, 1, s->line.len, s->out);
    tide_status status = written == s->line.len ? TIDE_OK : TIDE_E_IO;
    tide_buf_reset(&s->line);
    return status;
}

static bool wants(const struct dump_sink *s, enum tide_dump_kind kind)
{
    return (s->options->kinds & (unsigned)kind) != 0;
}

static void begin_line(struct dump_sink *s, const char *kind)
{
    tide_buf_reset(&s->line);
    s->json = (struct tide_json){ .buf = &s->line };
    tide_json_open(&s->json, '{');
    dump_put_text(&s->json, "kind", kind);
}

/* ---- callbacks ---- */

static tide_status on_header(void *self, const struct tide_ledger_header *header)
{
    struct dump_sink *s = self;
    s->header = *header;
    memset(s->changes, 0, sizeof s->changes);
    memset(s->events, 0, sizeof s->events);
    s->tx_count = s->success_count = 0;
    tide_buf_reset(&s->phases);
    tide_buf_reset(&s->upgrades);
    tide_buf_reset(&s->evicted);
    tide_proof_header(s->verify, header);
    return TIDE_OK;
}

static tide_status on_envelope(void *self, const struct tide_envelope *envelope)
{
    struct dump_sink *s = self;
    return tide_proof_envelope(s->verify, envelope);
}

static tide_status on_tx_set(void *self, tide_slice tx_set)
{
    struct dump_sink *s = self;
    tide_proof_tx_set(s->verify, tx_set);
    if (s->header.lcm_version > 0)
        dump_put_phases(&(struct tide_json){ .buf = &s->phases }, tx_set);
    return TIDE_OK;
}

static tide_status on_tx(void *self, const struct tide_tx *tx, bool *inside)
{
    struct dump_sink *s = self;
    (void)inside;
    tide_proof_tx(s->verify, tx);
    s->tx_count++;
    s->success_count += tx->successful;
    memset(s->op_events, 0, sizeof s->op_events);
    s->tx_events = s->diagnostics = 0;
    return TIDE_OK;
}

/* Writes the id that Stellar RPC gives the event. Events of transactions have operation and
 * transaction numbers that sort them by stage. */
static void put_event_id(struct tide_json *j, const struct dump_sink *s, const struct tide_event *e)
{
    enum { AFTER_TX_OP = 4095, AFTER_ALL_TX = 1048575 };
    uint64_t tx = e->tx;
    uint64_t op = e->op;
    if (e->level == TIDE_EVENT_TX) {
        tx = e->stage == 0 ? 0 : e->stage == 1 ? e->tx : AFTER_ALL_TX;
        op = e->stage == 1 ? AFTER_TX_OP : 0;
    }
    tide_json_value(j, "rpcId");
    tide_buf_putf(j->buf, "\"%019" PRIu64 "-%010" PRIu32 "\"",
                  (uint64_t)s->header.sequence << 32 | tx << 12 | op, e->index);
}

/* Writes the topics as base64, or as JSON. */
static void put_topics(struct tide_json *j, const struct tide_event *e, bool as_json)
{
    struct tide_xdr x = tide_xdr_of(e->topics);
    tide_json_name(j, as_json ? "topicsJson" : "topics");
    tide_json_open(j, '[');
    for (uint32_t i = 0; i < e->topic_count; i++) {
        tide_slice topic = tide_scval_span(&x);
        if (as_json)
            put_value(j, NULL, topic);
        else
            tide_json_base64(j, NULL, topic);
    }
    tide_json_close(j, ']');
}

static void put_event(struct dump_sink *s, const struct tide_tx *tx, const struct tide_event *e)
{
    static const char *const levels[] = { "op", "tx" };
    static const char *const stages[] = { "before_all_txs", "after_tx", "after_all_txs" };
    static const char *const types[] = { "system", "contract", "diagnostic" };
    assert(e->level < TIDE_COUNT(levels) && e->type < TIDE_COUNT(types));
    struct tide_json *j = &s->json;
    begin_line(s, "event");
    tide_json_number(j, "ledger", s->header.sequence);
    tide_json_number(j, "tx", e->tx);
    tide_json_hex(j, "txHash", tide_slice_of(tx->hash, TIDE_HASH_BYTES));
    dump_put_text(j, "level", levels[e->level]);
    if (e->level == TIDE_EVENT_TX) {
        assert(e->stage < TIDE_COUNT(stages));
        dump_put_text(j, "stage", stages[e->stage]);
        tide_json_null(j, "op");
    } else {
        tide_json_null(j, "stage");
        tide_json_number(j, "op", e->op);
        tide_json_number(j, "index", e->index);
    }
    put_event_id(j, s, e);
    dump_put_text(j, "type", types[e->type]);
    if (e->contract)
        dump_put_strkey(j, "contractId", TIDE_STRKEY_CONTRACT, e->contract);
    else
        tide_json_null(j, "contractId");
    put_topics(j, e, false);
    tide_json_base64(j, "data", e->data);
    if (s->options->values) {
        put_topics(j, e, true);
        put_value(j, "dataJson", e->data);
    }
    tide_json_close(j, '}');
}

static tide_status on_event(void *self, const struct tide_tx *tx, const struct tide_event *e)
{
    struct dump_sink *s = self;
    assert(e->level < TIDE_COUNT(s->events));
    s->events[e->level]++;
    if (e->level == TIDE_EVENT_DIAGNOSTIC) {
        s->diagnostics++;
        return TIDE_OK;
    }
    if (e->level == TIDE_EVENT_TX)
        s->tx_events++;
    else if (e->op < TIDE_OPS_PER_TX_MAX)
        s->op_events[e->op]++;
    if (!wants(s, TIDE_DUMP_EVENT))
        return TIDE_OK;
    put_event(s, tx, e);
    return dump_flush(s);
}

static void put_address(struct tide_json *j, const char *name, tide_slice address)
{
    char text[TIDE_STRKEY_ADDRESS_MAX];
    tide_json_name(j, name);
    tide_json_plain(j, tide_slice_of(text, tide_strkey_from_address(text, address)));
}

/* Writes the line of a change of contract data. A removed entry has a key only. */
static void put_contract_data(struct dump_sink *s, const struct tide_change *c)
{
    static const char *const sections[] = {
        "fee", "txBefore", "op", "txAfter", "postFee", "upgrade"
    };
    static const char *const kinds[] = { "CREATED", "UPDATED", "REMOVED", "STATE", "RESTORED" };
    assert(c->section < TIDE_COUNT(sections) && c->kind < TIDE_COUNT(kinds));
    struct tide_json *j = &s->json;
    begin_line(s, "contract_data");
    tide_json_number(j, "ledger", s->header.sequence);
    dump_put_text(j, "section", sections[c->section]);
    tide_json_number(j, "tx", c->tx);
    if (c->section == TIDE_SECTION_OP)
        tide_json_number(j, "op", c->op);
    else
        tide_json_null(j, "op");
    tide_json_number(j, "change", c->index);
    dump_put_text(j, "type", kinds[c->kind]);
    put_address(j, "contract", c->contract);
    tide_json_number(j, "durability", c->durability);
    tide_json_base64(j, "key", c->key);
    if (c->kind == TIDE_CHANGE_REMOVED) {
        tide_json_null(j, "val");
        tide_json_null(j, "lastModified");
    } else {
        tide_json_base64(j, "val", c->value);
        tide_json_number(j, "lastModified", c->last_modified);
    }
    if (s->options->values) {
        put_value(j, "keyJson", c->key);
        if (c->kind != TIDE_CHANGE_REMOVED)
            put_value(j, "valJson", c->value);
    }
    tide_json_close(j, '}');
}

static tide_status on_change(void *self, const struct tide_tx *tx, const struct tide_change *c)
{
    struct dump_sink *s = self;
    assert(c->section < TIDE_COUNT(s->changes) && c->kind < TIDE_COUNT(s->changes[0]));
    assert(c->type < TIDE_COUNT(s->changes[0][0]));
    (void)tx;
    s->changes[c->section][c->kind][c->type]++;
    if (c->type != TIDE_ENTRY_CONTRACT_DATA || !wants(s, TIDE_DUMP_CONTRACT_DATA))
        return TIDE_OK;
    put_contract_data(s, c);
    return dump_flush(s);
}

static tide_status on_tx_end(void *self, const struct tide_tx *tx)
{
    struct dump_sink *s = self;
    assert(s->success_count <= s->tx_count);
    enum tide_call_proof proof = tide_proof_tx_end(s->verify, tx);
    if (!wants(s, TIDE_DUMP_TX))
        return TIDE_OK;
    begin_line(s, "tx");
    dump_put_tx(s, tx, proof);
    tide_json_close(&s->json, '}');
    return dump_flush(s);
}

static void add_base64(struct tide_buf *list, tide_slice bytes)
{
    struct tide_json j = { .buf = list, .comma = list->len > 0 };
    tide_json_base64(&j, NULL, bytes);
}

static tide_status on_upgrade(void *self, tide_slice upgrade)
{
    struct dump_sink *s = self;
    add_base64(&s->upgrades, upgrade);
    return TIDE_OK;
}

static tide_status on_evicted(void *self, tide_slice key)
{
    struct dump_sink *s = self;
    add_base64(&s->evicted, key);
    return TIDE_OK;
}

/* Returns whether the ledger follows the one before it in the file. *known is false if that one is
 * not its predecessor: then there is nothing to compare. */
static bool follows(const struct dump_sink *s, bool *known)
{
    *known = s->last_sequence && s->last_sequence + 1 == s->header.sequence;
    return *known && memcmp(s->last_hash, s->header.previous_hash, TIDE_HASH_BYTES) == 0;
}

/* Ends the ledger. Its own line comes last, since the hashes are known only now. */
static tide_status on_end(void *self, const struct tide_ledger_tail *tail)
{
    struct dump_sink *s = self;
    const char *what;
    bool known;
    tide_proof_end(s->verify);
    bool linked = follows(s, &known);
    s->last_holds = tide_proof_holds(s->verify, &what) && (linked || !known);
    if (wants(s, TIDE_DUMP_LEDGER)) {
        begin_line(s, "ledger");
        dump_put_ledger(s, tail, linked);
        tide_json_close(&s->json, '}');
        tide_status status = dump_flush(s);
        if (status != TIDE_OK)
            return status;
    }
    s->last_sequence = s->header.sequence;
    memcpy(s->last_hash, s->header.hash, TIDE_HASH_BYTES);
    return TIDE_OK;
}

tide_status dump_sink_open(struct dump_sink *s, FILE *out, const struct tide_dump_options *options,
                           struct tide_err *err)
{
    *s = (struct dump_sink){ .out = out, .options = options, .last_holds = true };
    bool known = options->passphrase.len > 0;
    if (known)
        tide_network_id(s->network_id, options->passphrase);
    tide_buf_init(&s->line, TIDE_JSON_BYTES_MAX);
    tide_buf_init(&s->phases, TIDE_JSON_BYTES_MAX);
    tide_buf_init(&s->upgrades, TIDE_JSON_BYTES_MAX);
    tide_buf_init(&s->evicted, TIDE_JSON_BYTES_MAX);
    tide_status status =
        tide_proof_open(&s->verify, TIDE_PROOF_EVENTS, known ? s->network_id : NULL);
    return status == TIDE_OK ? TIDE_OK : tide_fail(err, status, "decode");
}

void dump_sink_close(struct dump_sink *s)
{
    tide_proof_close(s->verify);
    tide_buf_release(&s->line);
    tide_buf_release(&s->phases);
    tide_buf_release(&s->upgrades);
    tide_buf_release(&s->evicted);
}

tide_status dump_sink_ledger(struct dump_sink *s, tide_slice lcm, struct tide_err *err)
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
