/* getTransaction: finding a transaction by its hash, and its answer. */
#include "tidemark/meta.h"
#include "tidemark/text.h"
#include "tidemark/tx.h"
#include "tools/sim/rpc/rpc.h"

/* State of the walk over the transaction's ledger. */
struct writer {
    struct rpc_call *call;
    uint8_t network_id[TIDE_HASH_BYTES];
    const uint8_t *hash;
    const char *asked; /* text of the hash in the request */
    const struct ledger_info *ledger;
    bool wanted; /* the walk is inside the transaction */
    bool found;
    uint32_t next_op; /* operation whose list of events begins next */
    struct tide_buf lcm;
    struct tide_buf envelopes;                         /* struct envelope of each transaction */
    struct tide_buf op_events, tx_events, diagnostics; /* JSON texts, separated by commas */
};

/* An envelope of the ledger; xdr borrows from its bytes. */
struct envelope {
    uint8_t hash[TIDE_HASH_BYTES];
    tide_slice xdr;
};

/* Opens the buffers. */
static void open_writer(struct writer *w, struct rpc_call *call)
{
    struct tide_buf *all[] = { &w->lcm, &w->envelopes, &w->op_events, &w->tx_events,
                               &w->diagnostics };
    *w = (struct writer){ .call = call };
    tide_network_id(w->network_id, tide_slice_str(call->rpc->passphrase));
    for (size_t i = 0; i < TIDE_COUNT(all); i++)
        tide_buf_init(all[i], RPC_ANSWER_BYTES_MAX);
}

static void close_writer(struct writer *w)
{
    struct tide_buf *all[] = { &w->lcm, &w->envelopes, &w->op_events, &w->tx_events,
                               &w->diagnostics };
    for (size_t i = 0; i < TIDE_COUNT(all); i++)
        tide_buf_release(all[i]);
}

/* --- collecting ------------------------------------------------------------------ */

/* Records the envelope. Envelopes come before the results and in another order, so they are found
 * by hash. */
static tide_status on_envelope(void *self, const struct tide_envelope *read)
{
    struct writer *w = self;
    struct envelope envelope = { .xdr = read->span };
    tide_envelope_hash(envelope.hash, read, w->network_id);
    tide_buf_put(&w->envelopes, &envelope, sizeof envelope);
    return w->envelopes.failed ? TIDE_E_LIMIT : TIDE_OK;
}

/* Returns true for equal hashes; a may be NULL. */
static bool is_hash(const uint8_t *a, const uint8_t *b)
{
    return a && memcmp(a, b, TIDE_HASH_BYTES) == 0;
}

/* Enters only the wanted transaction; a fee bump is found by either hash. */
static tide_status on_tx(void *self, const struct tide_tx *tx, bool *inside)
{
    struct writer *w = self;
    w->wanted = !w->found && (is_hash(tx->hash, w->hash) || is_hash(tx->inner_hash, w->hash));
    *inside = w->wanted;
    return TIDE_OK;
}

/* Appends an item to a list. */
static void put_item(struct tide_buf *list, tide_slice xdr)
{
    if (list->len && list->ptr[list->len - 1] != '[')
        tide_buf_u8(list, ',');
    rpc_put_base64(list, xdr);
}

/* Begins the lists of all operations up to this one, and closes those before. Operations without
 * events have empty lists. */
static void begin_op_list(struct writer *w, uint32_t op)
{
    for (; w->next_op <= op; w->next_op++)
        tide_buf_str(&w->op_events, w->next_op ? "],[" : "[");
}

/* Collects an event of the transaction. */
static tide_status on_event(void *self, const struct tide_tx *tx, const struct tide_event *event)
{
    (void)tx;
    struct writer *w = self;
    /* A TransactionEvent or DiagnosticEvent has four bytes in front of its ContractEvent. */
    tide_slice outer = { event->xdr.ptr - 4, event->xdr.len + 4 };
    if (event->level == TIDE_EVENT_TX) {
        put_item(&w->tx_events, outer);
    } else if (event->level == TIDE_EVENT_DIAGNOSTIC) {
        put_item(&w->diagnostics, outer);
    } else {
        begin_op_list(w, event->op);
        put_item(&w->op_events, event->xdr);
    }
    return TIDE_OK;
}

/* --- writing ------------------------------------------------------------------------ */

/* Returns the transaction's envelope. */
static tide_slice envelope_of(const struct writer *w, const struct tide_tx *tx)
{
    const struct envelope *all = (const struct envelope *)(const void *)w->envelopes.ptr;
    for (size_t i = 0; i < w->envelopes.len / sizeof *all; i++) {
        if (is_hash(all[i].hash, tx->hash))
            return all[i].xdr;
    }
    return (tide_slice){ 0 };
}

/* Appends a list as a JSON member unless it is empty. */
static void put_list(struct tide_buf *out, const char *name, const struct tide_buf *list,
                     const char *close)
{
    if (list->len == 0)
        return;
    if (out->len && out->ptr[out->len - 1] == ']')
        tide_buf_u8(out, ',');
    tide_buf_putf(out, "\"%s\":[", name);
    tide_buf_slice(out, tide_buf_view(list));
    tide_buf_str(out, close);
}

/* Appends the transaction. */
static void put_tx(struct writer *w, const struct tide_tx *tx)
{
    struct tide_buf *out = w->call->out;
    /* The result pair begins with the hash, which is no part of the result. */
    tide_slice result = { tx->result_pair.ptr + TIDE_HASH_BYTES,
                          tx->result_pair.len - TIDE_HASH_BYTES };
    tide_buf_putf(out,
                  "\"status\":\"%s\",\"txHash\":\"%s\",\"applicationOrder\":%u,\"feeBump\":%s,",
                  tx->successful ? "SUCCESS" : "FAILED", w->asked, tx->index,
                  tx->inner_hash ? "true" : "false");
    rpc_put_xdr(out, "envelopeXdr", envelope_of(w, tx));
    rpc_put_xdr(out, "resultXdr", result);
    rpc_put_xdr(out, "resultMetaXdr", tx->meta);
    if (w->diagnostics.len) {
        put_list(out, "diagnosticEventsXdr", &w->diagnostics, "]");
        tide_buf_u8(out, ',');
    }
    tide_buf_str(out, "\"events\":{");
    put_list(out, "transactionEventsXdr", &w->tx_events, "]");
    put_list(out, "contractEventsXdr", &w->op_events, "]]");
    tide_buf_putf(out, "},\"ledger\":%u,\"createdAt\":\"%" PRIu64 "\"", w->ledger->sequence,
                  w->ledger->close_time);
}

static tide_status on_tx_end(void *self, const struct tide_tx *tx)
{
    struct writer *w = self;
    if (!w->wanted)
        return TIDE_OK;
    if (tx->op_count > 0)
        begin_op_list(w, tx->op_count - 1);
    put_tx(w, tx);
    w->found = true;
    return TIDE_OK;
}

/* Walks the ledger, which writes the transaction. Returns false if the ledger cannot be read. */
static bool write_ledger(struct writer *w, uint32_t sequence)
{
    struct tide_err err;
    struct ledger_info info;
    const struct tide_walk walk = { .self = w,
                                    .envelope = on_envelope,
                                    .tx = on_tx,
                                    .event = on_event,
                                    .tx_end = on_tx_end,
                                    .diagnostics = true };
    if (!ledger_store_read(w->call->store, sequence, &w->lcm, &info))
        return rpc_refuse(w->call, RPC_INTERNAL, "cannot read ledger %u", sequence);
    w->ledger = &info;
    if (tide_ledger_walk(&walk, tide_buf_view(&w->lcm), &err) != TIDE_OK)
        return rpc_refuse(w->call, RPC_INTERNAL, "%s", err.text);
    return true;
}

/* --- getTransaction ---------------------------------------------------------------------- */

/* Appends the transaction, or NOT_FOUND if the call does not see its ledger. */
static bool put_one(struct rpc_call *call, const char *asked, const uint8_t hash[TIDE_HASH_BYTES])
{
    struct writer w;
    uint32_t ledger = ledger_store_find(call->store, hash);
    if (ledger < call->oldest.sequence || ledger > call->latest.sequence ||
        sim_fault_on(call->hit, SIM_FAULT_MISSES))
        ledger = 0;
    open_writer(&w, call);
    w.hash = hash;
    w.asked = asked;
    bool good = ledger == 0 || write_ledger(&w, ledger);
    if (good && !w.found)
        tide_buf_putf(call->out,
                      "\"status\":\"NOT_FOUND\",\"txHash\":\"%s\",\"applicationOrder\":0,"
                      "\"feeBump\":false,\"events\":{},\"ledger\":0,\"createdAt\":\"0\"",
                      asked);
    close_writer(&w);
    return good;
}

bool rpc_getTransaction(struct rpc_call *call)
{
    uint8_t hash[TIDE_HASH_BYTES];
    const char *asked = "";
    if (!rpc_text(call, call->params, "hash", &asked) || !rpc_format(call))
        return false;
    size_t len = strlen(asked);
    if (len / 2 != TIDE_HASH_BYTES)
        return rpc_refuse(call, RPC_PARAMS, "unexpected hash length (%zu)", len);
    if (tide_hex_decode(hash, sizeof hash, tide_slice_str(asked)) != TIDE_OK)
        return rpc_refuse(call, RPC_PARAMS, "incorrect hash: it is not 64 hexadecimal digits");
    tide_buf_str(call->out, "{");
    bool good = put_one(call, asked, hash);
    tide_buf_putf(call->out,
                  ",\"latestLedger\":%u,\"latestLedgerCloseTime\":\"%" PRIu64
                  "\",\"oldestLedger\":%u,\"oldestLedgerCloseTime\":\"%" PRIu64 "\"}",
                  call->latest.sequence, call->latest.close_time, call->oldest.sequence,
                  call->oldest.close_time);
    return good;
}
