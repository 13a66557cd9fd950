/* The walk over a LedgerCloseMeta: see include/tidemark/meta.h. */
#include "tidemark/meta.h"

#include "tidemark/stellar_value.h"
#include "tidemark/tx.h"
#include "tidemark/xdr_skip.h"

struct walker {
    const struct tide_walk *walk; /* never NULL; tide_ledger_skip uses an empty one */
    struct tide_xdr *x;
    struct tide_tx tx;
    struct tide_ledger_header header;
    struct tide_ledger_tail tail;
    uint32_t stage_count[2]; /* running counts of the ledger-wide event stages 0 and 2 */
    tide_status stopped;     /* status with which a callback ended the walk */
};

/* Ends the walk with a callback's status. Moves the cursor to its end without a failure. */
static void stop_walk(struct walker *w, tide_status status)
{
    assert(w->stopped == TIDE_OK);
    if (status == TIDE_OK || w->x->status != TIDE_OK)
        return;
    w->stopped = status;
    tide_xdr_refuse(w->x, status, "callback", 0);
}

TIDE_INLINE bool going(const struct walker *w)
{
    return w->x->status == TIDE_OK;
}

/* ---- header ---- */

static void read_scp_value(struct tide_xdr *x, struct tide_ledger_header *h)
{
    struct tide_stellar_value value;
    tide_stellar_value_read(x, &value);
    h->tx_set_hash = value.tx_set_hash;
    h->close_time = value.close_time;
    h->close_ms = value.close_ms;
    h->no_tx_set = value.previous != NULL;
}

void tide_bare_header_read(struct tide_xdr *x, struct tide_ledger_header *h)
{
    const uint8_t *mark = x->cur;
    h->protocol = tide_xdr_u32(x);
    h->previous_hash = tide_xdr_opaque(x, 32).ptr;
    read_scp_value(x, h);
    h->result_hash = tide_xdr_opaque(x, 32).ptr;
    h->bucket_hash = tide_xdr_opaque(x, 32).ptr;
    h->sequence = tide_xdr_u32(x);
    tide_xdr_skip(x, 40 + 4 * 32); /* totalCoins … maxTxSetSize, skipList */
    if (skip_enum(x, 1, "LedgerHeaderExt arm") == 1) {
        tide_xdr_skip(x, 4);
        skip_ext0(x, "LedgerHeaderExtensionV1 ext");
    }
    h->header_xdr = tide_xdr_span(x, mark);
    assert(x->status != TIDE_OK || (h->previous_hash && h->tx_set_hash));
    assert(x->status != TIDE_OK || (h->result_hash && h->bucket_hash));
}

void tide_ledger_header_read(struct tide_xdr *x, struct tide_ledger_header *h)
{
    const uint8_t *entry = x->cur;
    h->hash = tide_xdr_opaque(x, 32).ptr;
    tide_bare_header_read(x, h);
    skip_ext0(x, "LedgerHeaderHistoryEntryExt arm");
    h->history_entry = tide_xdr_span(x, entry);
    assert(x->status != TIDE_OK || h->hash);
}

static void read_header(struct walker *w)
{
    tide_ledger_header_read(w->x, &w->header);
    if (w->walk->header && going(w))
        stop_walk(w, w->walk->header(w->walk->self, &w->header));
}

/* ---- transaction set ---- */

static void read_envelopes(struct walker *w)
{
    uint32_t count = tide_xdr_count(w->x, UINT32_MAX, 8);
    for (uint32_t i = 0; i < count && going(w); i++) {
        if (!w->walk->envelope) {
            tide_envelope_skip(w->x);
            continue;
        }
        struct tide_envelope envelope;
        tide_envelope_next(w->x, &envelope);
        if (going(w))
            stop_walk(w, w->walk->envelope(w->walk->self, &envelope));
    }
}

static void skip_base_fee(struct tide_xdr *x)
{
    if (tide_xdr_bool(x))
        tide_xdr_skip(x, 8);
}

static void read_components(struct walker *w)
{
    uint32_t count = tide_xdr_count(w->x, UINT32_MAX, 12);
    for (uint32_t i = 0; i < count && going(w); i++) {
        skip_ext0(w->x, "TxSetComponent arm");
        skip_base_fee(w->x);
        read_envelopes(w);
    }
}

static void read_stages(struct walker *w)
{
    skip_base_fee(w->x);
    uint32_t stages = tide_xdr_count(w->x, UINT32_MAX, 4);
    for (uint32_t i = 0; i < stages && going(w); i++) {
        uint32_t clusters = tide_xdr_count(w->x, UINT32_MAX, 4);
        for (uint32_t j = 0; j < clusters && going(w); j++)
            read_envelopes(w);
    }
}

static void read_tx_set(struct walker *w, bool generalized)
{
    const uint8_t *mark = w->x->cur;
    if (generalized) {
        uint32_t arm = tide_xdr_u32(w->x);
        if (arm != 1)
            tide_xdr_refuse(w->x, TIDE_E_UNKNOWN, "GeneralizedTransactionSet arm", arm);
        tide_xdr_skip(w->x, 32);
        uint32_t phases = tide_xdr_count(w->x, UINT32_MAX, 8);
        for (uint32_t i = 0; i < phases && going(w); i++) {
            if (skip_enum(w->x, 1, "TransactionPhase arm") == 0)
                read_components(w);
            else
                read_stages(w);
        }
    } else {
        tide_xdr_skip(w->x, 32);
        read_envelopes(w);
    }
    w->header.tx_set = tide_xdr_span(w->x, mark);
    if (w->walk->tx_set && going(w))
        stop_walk(w, w->walk->tx_set(w->walk->self, w->header.tx_set));
}

/* ---- changes and events ---- */

struct where {
    enum tide_section section;
    uint32_t op;
    bool inside; /* callbacks get the changes */
};

static void read_changes(struct walker *w, struct where at)
{
    struct tide_xdr *x = w->x;
    bool wanted = at.inside && w->walk->change;
    uint32_t count = tide_xdr_count(x, UINT32_MAX, 8);
    struct tide_change change;
    for (uint32_t i = 0; i < count && going(w); i++) {
        uint32_t kind = skip_enum(x, 4, "LedgerEntryChange arm");
        change.value = (tide_slice){ 0 };
        change.live_until = 0;
        change.last_modified = 0;
        change.key_hash = NULL;
        if (kind == TIDE_CHANGE_REMOVED)
            skip_ledger_key(x, &change);
        else
            skip_ledger_entry(x, &change);
        if (!wanted || !going(w))
            continue;
        assert(change.entry.len > 0);
        change.kind = (enum tide_change_kind)kind;
        change.index = i;
        change.section = at.section;
        change.op = at.op;
        change.tx = at.section == TIDE_SECTION_UPGRADE ? 0 : w->tx.index;
        stop_walk(w, w->walk->change(w->walk->self, &w->tx, &change));
    }
    if (wanted && count && w->walk->changes_end && going(w))
        stop_walk(w, w->walk->changes_end(w->walk->self, &w->tx));
}

void tide_event_read(struct tide_xdr *x, struct tide_event *event)
{
    const uint8_t *mark = x->cur;
    skip_ext0(x, "ContractEvent ext");
    event->contract = tide_xdr_bool(x) ? tide_xdr_opaque(x, 32).ptr : NULL;
    event->type = skip_enum(x, 2, "ContractEventType");
    skip_ext0(x, "ContractEvent body");
    event->topic_count = tide_xdr_count(x, UINT32_MAX, 4);
    const uint8_t *topics = x->cur;
    for (uint32_t i = 0; i < event->topic_count && x->status == TIDE_OK; i++)
        tide_scval_skip(x);
    event->topics = tide_xdr_span(x, topics);
    event->data = tide_scval_span(x);
    event->xdr = tide_xdr_span(x, mark);
}

static void give_event(struct walker *w, const struct tide_event *event, bool inside)
{
    if (inside && w->walk->event && going(w))
        stop_walk(w, w->walk->event(w->walk->self, &w->tx, event));
}

/* Reads the events of one operation: of an OperationMetaV2, or of SorobanTransactionMeta in V3. */
static void read_op_events(struct walker *w, uint32_t op, bool inside)
{
    const uint8_t *mark = w->x->cur;
    uint32_t count = tide_xdr_count(w->x, UINT32_MAX, 24);
    struct tide_event event = { .level = TIDE_EVENT_OP, .tx = w->tx.index, .op = op };
    for (uint32_t i = 0; i < count && going(w); i++) {
        tide_event_read(w->x, &event);
        event.index = i;
        give_event(w, &event, inside);
    }
    if (op == 0)
        w->tx.op_events = tide_xdr_span(w->x, mark);
}

static void read_tx_events(struct walker *w, bool inside)
{
    uint32_t count = tide_xdr_count(w->x, UINT32_MAX, 28);
    uint32_t after_tx = 0;
    struct tide_event event = { .level = TIDE_EVENT_TX, .tx = w->tx.index };
    for (uint32_t i = 0; i < count && going(w); i++) {
        event.stage = skip_enum(w->x, 2, "TransactionEventStage");
        tide_event_read(w->x, &event);
        if (!going(w))
            return; /* after a failure the stage is no valid index */
        assert(event.stage <= 2);
        if (event.stage == 1)
            event.index = after_tx++;
        else
            event.index = w->stage_count[event.stage / 2]++;
        give_event(w, &event, inside);
    }
}

static void read_diagnostics(struct walker *w, bool inside)
{
    uint32_t count = tide_xdr_count(w->x, UINT32_MAX, 28);
    struct tide_event event = { .level = TIDE_EVENT_DIAGNOSTIC, .tx = w->tx.index };
    for (uint32_t i = 0; i < count && going(w); i++) {
        tide_xdr_bool(w->x);
        tide_event_read(w->x, &event);
        event.index = i;
        give_event(w, &event, inside && w->walk->diagnostics);
    }
}

/* ---- transaction meta ---- */

static void read_operations(struct walker *w, uint32_t version, bool inside)
{
    uint32_t count = tide_xdr_count(w->x, UINT32_MAX, 4);
    w->tx.op_count = count;
    for (uint32_t i = 0; i < count && going(w); i++) {
        if (version == 4)
            skip_ext0(w->x, "OperationMetaV2 ext");
        read_changes(w, (struct where){ TIDE_SECTION_OP, i, inside });
        if (version == 4)
            read_op_events(w, i, inside);
    }
}

static void read_soroban_ext(struct walker *w)
{
    const uint8_t *mark = w->x->cur;
    if (skip_enum(w->x, 1, "SorobanTransactionMetaExt arm") == 1) {
        skip_ext0(w->x, "SorobanTransactionMetaExtV1 ext");
        tide_xdr_skip(w->x, 24);
    }
    w->tx.soroban_ext = tide_xdr_span(w->x, mark);
}

static void read_soroban_v3(struct walker *w, bool inside)
{
    if (!tide_xdr_bool(w->x))
        return;
    read_soroban_ext(w);
    read_op_events(w, 0, inside);
    w->tx.return_value = tide_scval_span(w->x);
    read_diagnostics(w, inside);
}

static void read_soroban_v4(struct walker *w, bool inside)
{
    if (tide_xdr_bool(w->x)) {
        read_soroban_ext(w);
        if (tide_xdr_bool(w->x))
            w->tx.return_value = tide_scval_span(w->x);
    }
    read_tx_events(w, inside);
    read_diagnostics(w, inside);
}

static void read_tx_meta(struct walker *w, bool inside)
{
    uint32_t version = skip_enum(w->x, 4, "TransactionMeta arm");
    w->tx.meta_version = version;
    if (version >= 3)
        skip_ext0(w->x, "TransactionMeta ext");
    if (version >= 1)
        read_changes(w, (struct where){ TIDE_SECTION_TX_BEFORE, 0, inside });
    read_operations(w, version, inside);
    if (version >= 2)
        read_changes(w, (struct where){ TIDE_SECTION_TX_AFTER, 0, inside });
    if (version == 3)
        read_soroban_v3(w, inside);
    else if (version == 4)
        read_soroban_v4(w, inside);
}

/* ---- results ---- */

static void read_op_results(struct tide_xdr *x, struct tide_tx *tx)
{
    uint32_t count = tide_xdr_count(x, UINT32_MAX, 4);
    for (uint32_t i = 0; i < count && x->status == TIDE_OK; i++)
        skip_operation_result(x, i == 0 ? tx : NULL);
}

static bool code_known(int32_t code)
{
    return code <= 1 && code >= -18;
}

static void read_inner_result(struct tide_xdr *x, struct tide_tx *tx)
{
    tx->inner_hash = tide_xdr_opaque(x, 32).ptr;
    tide_xdr_skip(x, 8);
    int32_t code = tide_xdr_i32(x);
    tx->inner_result_code = code;
    if (code == 0 || code == -1)
        read_op_results(x, tx);
    else if (!code_known(code) || code == 1 || code == -13)
        tide_xdr_refuse(x, TIDE_E_UNKNOWN, "InnerTransactionResult code", (uint32_t)code);
    skip_ext0(x, "InnerTransactionResultExt arm");
}

void tide_result_pair_read(struct tide_xdr *x, struct tide_tx *tx)
{
    const uint8_t *mark = x->cur;
    tx->hash = tide_xdr_opaque(x, 32).ptr;
    tx->fee_charged = tide_xdr_i64(x);
    tx->result_code = tide_xdr_i32(x);
    tx->inner_result_code = tx->result_code;
    tx->successful = tx->result_code == 0 || tx->result_code == 1;
    if (tx->result_code == 1 || tx->result_code == -13)
        read_inner_result(x, tx);
    else if (tx->result_code == 0 || tx->result_code == -1)
        read_op_results(x, tx);
    else if (!code_known(tx->result_code))
        tide_xdr_refuse(x, TIDE_E_UNKNOWN, "TransactionResult code", (uint32_t)tx->result_code);
    skip_ext0(x, "TransactionResultExt arm");
    tx->result_pair = tide_xdr_span(x, mark);
    assert(x->status != TIDE_OK || (tx->hash && tx->result_pair.len > 0));
}

static void read_transaction(struct walker *w, uint32_t index, uint32_t count)
{
    assert(index >= 1 && index <= count);
    w->tx = (struct tide_tx){ .index = index, .count = count };
    if (w->header.lcm_version == 2)
        skip_ext0(w->x, "TransactionResultMetaV1 ext");
    tide_result_pair_read(w->x, &w->tx);
    bool inside = true;
    if (w->walk->tx && going(w))
        stop_walk(w, w->walk->tx(w->walk->self, &w->tx, &inside));
    read_changes(w, (struct where){ TIDE_SECTION_FEE, 0, inside });
    const uint8_t *mark = w->x->cur;
    read_tx_meta(w, inside);
    w->tx.meta = tide_xdr_span(w->x, mark);
    if (w->header.lcm_version == 2)
        read_changes(w, (struct where){ TIDE_SECTION_POST_FEE, 0, inside });
    if (w->walk->tx_end && going(w))
        stop_walk(w, w->walk->tx_end(w->walk->self, &w->tx));
}

/* ---- the rest of a ledger ---- */

static void skip_upgrade(struct tide_xdr *x)
{
    uint32_t arm = tide_xdr_u32(x);
    if (arm < 1 || arm > 7)
        tide_xdr_refuse(x, TIDE_E_UNKNOWN, "LedgerUpgrade arm", arm);
    tide_xdr_skip(x, arm == 6 ? 64 : 4);
}

static void read_upgrades(struct walker *w)
{
    uint32_t count = tide_xdr_count(w->x, UINT32_MAX, 12);
    w->tail.upgrade_count = count;
    for (uint32_t i = 0; i < count && going(w); i++) {
        const uint8_t *mark = w->x->cur;
        skip_upgrade(w->x);
        if (w->walk->upgrade && going(w))
            stop_walk(w, w->walk->upgrade(w->walk->self, tide_xdr_span(w->x, mark)));
        read_changes(w, (struct where){ TIDE_SECTION_UPGRADE, 0, true });
    }
}

static void read_evicted(struct walker *w)
{
    uint32_t count = tide_xdr_count(w->x, UINT32_MAX, 8);
    w->tail.evicted_count = count;
    struct tide_change key;
    for (uint32_t i = 0; i < count && going(w); i++) {
        skip_ledger_key(w->x, &key);
        if (w->walk->evicted && going(w))
            stop_walk(w, w->walk->evicted(w->walk->self, key.entry));
    }
}

static uint32_t skip_scp_info(struct tide_xdr *x)
{
    uint32_t count = tide_xdr_count(x, UINT32_MAX, 12);
    for (uint32_t i = 0; i < count && x->status == TIDE_OK; i++)
        skip_scp_history_entry(x);
    return count;
}

static void skip_unused_entries(struct tide_xdr *x)
{
    uint32_t count = tide_xdr_count(x, UINT32_MAX, 12);
    struct tide_change entry;
    for (uint32_t i = 0; i < count && x->status == TIDE_OK; i++)
        skip_ledger_entry(x, &entry);
}

static void walk_ledger(struct walker *w)
{
    struct tide_xdr *x = w->x;
    uint32_t version = skip_enum(x, 2, "LedgerCloseMeta arm");
    w->header.lcm_version = version;
    if (version >= 1 && skip_enum(x, 1, "LedgerCloseMetaExt arm") == 1) {
        skip_ext0(x, "LedgerCloseMetaExtV1 ext");
        tide_xdr_skip(x, 8);
    }
    read_header(w);
    read_tx_set(w, version >= 1);
    uint32_t count = tide_xdr_count(x, UINT32_MAX, 56);
    for (uint32_t i = 0; i < count && going(w); i++)
        read_transaction(w, i + 1, count);
    w->tx = (struct tide_tx){ 0 };
    read_upgrades(w);
    w->tail.scp_count = skip_scp_info(x);
    if (version == 0)
        return;
    w->tail.live_state_bytes = tide_xdr_u64(x);
    read_evicted(w);
    if (version == 1)
        skip_unused_entries(x);
}

tide_status tide_ledger_walk(const struct tide_walk *walk, tide_slice lcm, struct tide_err *err)
{
    struct tide_xdr x = tide_xdr_of(lcm);
    struct walker w = { .walk = walk, .x = &x };
    walk_ledger(&w);
    assert(w.stopped == TIDE_OK || x.status != TIDE_OK);
    assert(x.depth == 0 || x.status != TIDE_OK);
    if (tide_xdr_end(&x) == TIDE_OK)
        return walk->end ? walk->end(walk->self, &w.tail) : TIDE_OK;
    if (w.stopped != TIDE_OK)
        return w.stopped; /* the callback has filled its own err */
    char context[64];
    snprintf(context, sizeof context, "ledger %" PRIu32, w.header.sequence);
    return tide_xdr_error(&x, err, context);
}

tide_status tide_tx_meta_walk(const struct tide_walk *walk, tide_slice meta, struct tide_err *err)
{
    struct tide_xdr x = tide_xdr_of(meta);
    struct walker w = { .walk = walk, .x = &x };
    read_tx_meta(&w, true);
    assert(w.stopped == TIDE_OK || x.status != TIDE_OK);
    assert(x.depth == 0 || x.status != TIDE_OK);
    w.tx.meta = meta;
    tide_status status = tide_xdr_end(&x);
    if (status == TIDE_OK)
        return walk->tx_end ? walk->tx_end(walk->self, &w.tx) : TIDE_OK;
    return w.stopped != TIDE_OK ? w.stopped : tide_xdr_error(&x, err, "transaction meta");
}

void tide_ledger_skip(struct tide_xdr *x)
{
    const struct tide_walk nothing = { 0 };
    struct walker w = { .walk = &nothing, .x = x };
    walk_ledger(&w);
}

/* --- the first fields, without a walk ------------------------------------------------------ */

/* Skips a LedgerCloseMetaExt: nothing, or an extension point and a fee. */
static void skip_extension(struct tide_xdr *x)
{
    if (tide_xdr_bool(x))
        tide_xdr_skip(x, 4 + 8);
}

tide_status ledger_peek(struct ledger_peek *out, tide_slice lcm)
{
    struct tide_xdr x = tide_xdr_of(lcm);
    struct tide_stellar_value value;
    uint32_t version = tide_xdr_u32(&x);
    if (version > 2)
        return TIDE_E_UNKNOWN;
    if (version > 0)
        skip_extension(&x);
    out->hash = tide_xdr_opaque(&x, TIDE_HASH_BYTES).ptr;
    tide_xdr_skip(&x, 4); /* protocol */
    out->previous = tide_xdr_opaque(&x, TIDE_HASH_BYTES).ptr;
    tide_stellar_value_read(&x, &value);
    tide_xdr_skip(&x, (size_t)2 * TIDE_HASH_BYTES); /* results, buckets */
    out->sequence = tide_xdr_u32(&x);
    assert(x.status != TIDE_OK || (out->hash && out->previous));
    return x.status != TIDE_OK ? x.status : out->sequence == 0 ? TIDE_E_DECODE : TIDE_OK;
}

uint32_t ledger_peek_sequence(tide_slice lcm)
{
    struct ledger_peek peek;
    return ledger_peek(&peek, lcm) == TIDE_OK ? peek.sequence : 0;
}
