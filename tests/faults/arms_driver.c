/* Gives every value of tests/xdr's vectors to the code that reads its root type, and prints the
 * label and the reason of each that it refuses.
 *
 * usage: arms_driver < VECTORS     exits 1 if a value is refused */
#include "indexer/archive/bucket.h"
#include "indexer/archive/envelope.h"
#include "tidemark/meta.h"
#include "tidemark/scval.h"
#include "tidemark/stellar_value.h"
#include "tidemark/strkey.h"
#include "tidemark/tx.h"
#include "tidemark/xdr_skip.h"

#include <stdio.h>

/* A reader's own texts of its values: JSON of each ScVal, a strkey of each address. */
struct texts {
    struct tide_buf json;
    struct tide_err *err;
};

static tide_status write_value(struct texts *t, tide_slice value)
{
    tide_buf_reset(&t->json);
    tide_status status = value.len ? tide_scval_json(&t->json, value) : TIDE_OK;
    return status ? tide_fail(t->err, status, "no JSON of an ScVal") : TIDE_OK;
}

static tide_status write_values(struct texts *t, tide_slice values, uint32_t count)
{
    struct tide_xdr x = tide_xdr_of(values);
    tide_status status = TIDE_OK;
    for (uint32_t i = 0; i < count && !status; i++)
        status = write_value(t, tide_scval_span(&x));
    return status;
}

static tide_status see_event(void *self, const struct tide_tx *tx, const struct tide_event *event)
{
    (void)tx;
    tide_status status = write_values(self, event->topics, event->topic_count);
    return status ? status : write_value(self, event->data);
}

static tide_status see_entry(struct texts *t, const struct tide_change *change, bool value)
{
    char text[TIDE_STRKEY_ADDRESS_MAX];
    struct tide_bucket_key key =
        value ? tide_bucket_key_of_entry(change) : tide_bucket_key_of_key(change);
    if (tide_bucket_key_order(&key, &key) != 0)
        return tide_fail(t->err, TIDE_E_DECODE, "a key differs from itself");
    if (change->type != TIDE_ENTRY_CONTRACT_DATA)
        return TIDE_OK;
    if (tide_strkey_from_address(text, change->contract) == 0)
        return tide_fail(t->err, TIDE_E_UNKNOWN, "no strkey of an address");
    tide_status status = write_value(t, change->key);
    return status ? status : write_value(t, value ? change->value : (tide_slice){ 0 });
}

static tide_status see_change(void *self, const struct tide_tx *tx,
                              const struct tide_change *change)
{
    (void)tx;
    return see_entry(self, change, change->kind != TIDE_CHANGE_REMOVED);
}

static tide_status see_envelope(void *self, const struct tide_envelope *envelope)
{
    return write_values(self, envelope->args, envelope->arg_count);
}

static tide_status see_tx_end(void *self, const struct tide_tx *tx)
{
    return write_value(self, tx->return_value);
}

static tide_status read_ledger(struct texts *t, tide_slice value)
{
    struct ledger_peek peek;
    tide_status status = ledger_peek(&peek, value);
    if (status != TIDE_OK)
        return tide_fail(t->err, status, "ledger_peek");
    const struct tide_walk walk = { .self = t,
                                    .envelope = see_envelope,
                                    .event = see_event,
                                    .change = see_change,
                                    .tx_end = see_tx_end,
                                    .diagnostics = true };
    return tide_ledger_walk(&walk, value, t->err);
}

static tide_status see_bucket_entry(void *self, enum bucket_entry_kind kind,
                                    const struct tide_change *change, struct tide_err *err)
{
    (void)err;
    return see_entry(self, change, kind == BUCKET_ENTRY_LIVE || kind == BUCKET_ENTRY_ARCHIVED);
}

static tide_status read_bucket(struct texts *t, enum bucket_list list, tide_slice value)
{
    struct bucket_reader reader;
    struct tide_buf record;
    uint8_t name[TIDE_HASH_BYTES];
    tide_buf_init(&record, value.len + 4);
    tide_buf_be32(&record, 0x80000000u | (uint32_t)value.len);
    tide_buf_slice(&record, value);
    tide_sha256(name, tide_buf_view(&record));
    bucket_reader_init(&reader, see_bucket_entry, t);
    bucket_reader_begin(&reader, list, name);
    tide_status status = bucket_reader_push(&reader, tide_buf_view(&record), t->err);
    if (status == TIDE_OK)
        status = bucket_reader_end(&reader, t->err);
    if (status && strstr(t->err->text, "metadata of the other list"))
        status = TIDE_OK; /* understood, and rightly refused */
    bucket_reader_release(&reader);
    tide_buf_release(&record);
    return status;
}

/* Reads a value of one of the types that stand inside a ledger, with a cursor. */
static bool read_inner(struct tide_xdr *x, tide_slice root)
{
    struct tide_ledger_header header;
    struct tide_stellar_value value;
    struct tide_change entry = { 0 };
    struct tide_event event = { 0 };
    struct tide_tx tx = { 0 };
    if (tide_slice_eq_str(root, "LedgerHeader"))
        tide_bare_header_read(x, &header);
    else if (tide_slice_eq_str(root, "StellarValue"))
        tide_stellar_value_read(x, &value);
    else if (tide_slice_eq_str(root, "TransactionEnvelope"))
        tide_envelope_skip(x);
    else if (tide_slice_eq_str(root, "TransactionResultPair"))
        tide_result_pair_read(x, &tx);
    else if (tide_slice_eq_str(root, "ContractEvent"))
        tide_event_read(x, &event);
    else if (tide_slice_eq_str(root, "LedgerEntry"))
        skip_ledger_entry(x, &entry);
    else
        return false;
    return true;
}

/* The label is the crate's own strkey of the address. */
static tide_status check_address(struct texts *t, tide_slice label, tide_slice value)
{
    char text[TIDE_STRKEY_ADDRESS_MAX];
    uint8_t back[TIDE_STRKEY_XDR_MAX];
    size_t len = tide_strkey_from_address(text, value);
    if (!tide_slice_eq(tide_slice_of(text, len), label))
        return tide_fail(t->err, TIDE_E_UNKNOWN, "another strkey: %.*s", (int)len, text);
    if (!tide_slice_eq(tide_slice_of(back, tide_strkey_to_address(back, label)), value))
        return tide_fail(t->err, TIDE_E_UNKNOWN, "the strkey is not read back");
    return TIDE_OK;
}

static tide_status ignore_envelope(void *self, const struct scp_envelope *envelope,
                                   struct tide_err *err)
{
    (void)self;
    (void)envelope;
    (void)err;
    return TIDE_OK;
}

static tide_status read_root(struct texts *t, tide_slice root, tide_slice label, tide_slice value)
{
    if (tide_slice_eq_str(root, "LedgerCloseMeta"))
        return read_ledger(t, value);
    if (tide_slice_eq_str(root, "BucketEntry"))
        return read_bucket(t, BUCKET_LIST_LIVE, value);
    if (tide_slice_eq_str(root, "HotArchiveBucketEntry"))
        return read_bucket(t, BUCKET_LIST_HOT_ARCHIVE, value);
    if (tide_slice_eq_str(root, "SCPHistoryEntry"))
        return scp_entry_walk(value, ignore_envelope, NULL, t->err);
    if (tide_slice_eq_str(root, "SCVal"))
        return write_value(t, value);
    if (tide_slice_eq_str(root, "SCAddress"))
        return check_address(t, label, value);
    struct tide_xdr x = tide_xdr_of(value);
    if (!read_inner(&x, root))
        return tide_fail(t->err, TIDE_E_UNKNOWN, "no reader of this root type");
    return tide_xdr_end(&x) ? tide_xdr_error(&x, t->err, "value") : TIDE_OK;
}

int main(void)
{
    struct tide_buf in;
    struct tide_err err = { 0 };
    struct texts texts = { .err = &err };
    unsigned values = 0, refused = 0;
    char block[1 << 14];
    tide_buf_init(&in, 64u << 20);
    tide_buf_init(&texts.json, 1u << 20);
    for (size_t n; (n = fread(block, 1, sizeof block, stdin)) > 0;)
        tide_buf_put(&in, block, n);
    struct tide_xdr x = tide_xdr_of(tide_buf_view(&in));
    while (x.status == TIDE_OK && tide_xdr_left(&x)) {
        tide_slice root = tide_xdr_var(&x, 64), label = tide_xdr_var(&x, 1024);
        tide_slice value = tide_xdr_var(&x, 1u << 20);
        if (x.status || (values++, read_root(&texts, root, label, value) == TIDE_OK))
            continue;
        printf("%.*s: %.*s: %s\n", TIDE_SLICE_FMT(root), TIDE_SLICE_FMT(label), err.text);
        refused++;
    }
    bool whole = x.status == TIDE_OK && !in.failed && values > 0;
    printf("%u values, %u refused%s\n", values, refused, whole ? "" : "; the vectors are damaged");
    tide_buf_release(&texts.json);
    tide_buf_release(&in);
    return whole && refused == 0 ? 0 : 1;
}
