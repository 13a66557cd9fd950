/* Framings of ledgers, recognised by the first bytes and cut into LedgerCloseMetas. */
#include "indexer/source/split.h"

#include "tidemark/limits.h"
#include "tidemark/meta.h"
#include "tidemark/xdr.h"

enum { HEAD_BYTES = 12, LAST_FRAGMENT_BIT = 31 };

enum tide_framing tide_split_framing(tide_slice bytes)
{
    if (bytes.len < HEAD_BYTES)
        return TIDE_FRAMING_NONE;
    uint32_t first = tide_be32(bytes.ptr);
    uint32_t second = tide_be32(bytes.ptr + 4);
    uint32_t third = tide_be32(bytes.ptr + 8);
    if (first >> LAST_FRAGMENT_BIT)
        return TIDE_FRAMING_STREAM;
    if (first == 0)
        return TIDE_FRAMING_BARE; /* V0: a hash of any value follows. No batch begins at ledger 0 */
    /* V1 and V2 continue with their ext: 0, or 1 and an ExtensionPoint 0. In a batch 1..1 a count
     * of at least 1 would follow. */
    if (first <= 2 && (second == 0 || (second == 1 && third == 0)))
        return TIDE_FRAMING_BARE;
    return second >= first ? TIDE_FRAMING_BATCH : TIDE_FRAMING_NONE;
}

/* Asks for more bytes. Fails with TIDE_E_DECODE if there are none. */
static tide_status need_bytes(struct tide_split *split, tide_slice in, size_t wanted, bool whole,
                              struct tide_err *err)
{
    assert(wanted > in.len); /* otherwise the caller would ask for ever */
    split->wanted = wanted;
    if (!whole)
        return TIDE_E_EOF;
    return tide_fail(err, TIDE_E_DECODE, "cut short: %zu bytes where at least %zu are needed",
                     in.len, wanted);
}

/* Recognises the framing, and reads the header of a batch. */
static tide_status start_split(struct tide_split *split, tide_slice *in, bool whole,
                               struct tide_err *err)
{
    if (in->len < HEAD_BYTES)
        return need_bytes(split, *in, HEAD_BYTES, whole, err);
    split->framing = tide_split_framing(*in);
    split->left = 1;
    if (split->framing == TIDE_FRAMING_NONE)
        return tide_fail(err, TIDE_E_DECODE, "not ledgers: begins with %08" PRIx32 " %08" PRIx32,
                         tide_be32(in->ptr), tide_be32(in->ptr + 4));
    if (split->framing != TIDE_FRAMING_BATCH)
        return TIDE_OK;
    split->first = tide_be32(in->ptr);
    split->last = tide_be32(in->ptr + 4);
    split->left = tide_be32(in->ptr + 8);
    in->ptr += HEAD_BYTES;
    in->len -= HEAD_BYTES;
    uint64_t span = (uint64_t)split->last - split->first + 1;
    if (split->left > span)
        return tide_fail(err, TIDE_E_DECODE,
                         "batch %" PRIu32 "..%" PRIu32 " claims %" PRIu32 " ledgers", split->first,
                         split->last, split->left);
    return TIDE_OK;
}

/* Returns the meta behind `skip` bytes, and moves *in behind it. */
static tide_status take_meta(tide_slice *in, size_t skip, size_t len, tide_slice *lcm)
{
    assert(skip <= in->len && len <= in->len - skip);
    *lcm = tide_slice_of(in->ptr + skip, len);
    in->ptr += skip + len;
    in->len -= skip + len;
    return TIDE_OK;
}

static tide_status next_record(struct tide_split *split, tide_slice *in, bool whole,
                               tide_slice *lcm, struct tide_err *err)
{
    if (in->len == 0 && whole)
        return TIDE_E_EOF;
    if (in->len < 4)
        return need_bytes(split, *in, 4, whole, err);
    uint32_t head = tide_be32(in->ptr);
    if (!(head >> LAST_FRAGMENT_BIT))
        return tide_fail(err, TIDE_E_DECODE, "record head %08" PRIx32 " is not of a last fragment",
                         head);
    size_t len = head & ~(1u << LAST_FRAGMENT_BIT);
    if (len > TIDE_LEDGER_BYTES_MAX)
        return tide_fail(err, TIDE_E_LIMIT, "record of %zu bytes, above %u", len,
                         TIDE_LEDGER_BYTES_MAX);
    if (in->len < 4 + len)
        return need_bytes(split, *in, 4 + len, whole, err);
    return take_meta(in, 4, len, lcm);
}

static tide_status next_meta(struct tide_split *split, tide_slice *in, bool whole, tide_slice *lcm,
                             struct tide_err *err)
{
    assert(split->framing != TIDE_FRAMING_STREAM);
    if (split->left == 0) {
        if (in->len)
            return tide_fail(err, TIDE_E_DECODE, "%zu bytes behind the last ledger", in->len);
        split->wanted = 1;
        return TIDE_E_EOF;
    }
    struct tide_xdr x = tide_xdr_of(*in);
    tide_ledger_skip(&x);
    if (x.status != TIDE_OK && x.truncated && !whole) {
        if (in->len >= TIDE_LEDGER_BYTES_MAX)
            return tide_fail(err, TIDE_E_LIMIT, "ledger above %u bytes", TIDE_LEDGER_BYTES_MAX);
        return need_bytes(split, *in, in->len * 2 + HEAD_BYTES, false, err);
    }
    if (x.status != TIDE_OK)
        return tide_xdr_error(&x, err, "ledger");
    assert(tide_xdr_offset(&x) > 0);
    split->left--;
    return take_meta(in, 0, tide_xdr_offset(&x), lcm);
}

tide_status tide_split_next(struct tide_split *split, tide_slice *in, bool whole, tide_slice *lcm,
                            struct tide_err *err)
{
    if (split->framing == TIDE_FRAMING_NONE) {
        tide_status status = start_split(split, in, whole, err);
        if (status != TIDE_OK)
            return status;
    }
    assert(split->framing != TIDE_FRAMING_NONE);
    if (split->framing == TIDE_FRAMING_STREAM)
        return next_record(split, in, whole, lcm, err);
    return next_meta(split, in, whole, lcm, err);
}
