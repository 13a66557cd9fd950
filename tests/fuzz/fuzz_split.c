/* A batch, a stream, a bare LedgerCloseMeta, or other bytes: the splitter finds the same ledgers in
 * one piece and in pieces of any size. */
#include "tests/fuzz/promise.h"

#include "indexer/source/split.h"

struct result {
    tide_status status;
    uint32_t count;
    size_t bytes;
};

static struct result split_whole(tide_slice whole, size_t step)
{
    struct tide_split s = { 0 };
    struct tide_err err;
    struct result r = { 0 };
    size_t at = 0;
    size_t end = step < whole.len ? step : whole.len;
    for (;;) {
        tide_slice in = tide_slice_of(whole.ptr + at, end - at);
        tide_slice lcm;
        r.status = tide_split_next(&s, &in, end == whole.len, &lcm, &err);
        at = end - in.len;
        if (r.status == TIDE_OK) {
            PROMISE(inside(lcm, whole));
            r.count++;
            r.bytes += lcm.len;
        } else if (r.status != TIDE_E_EOF || end == whole.len) {
            return r;
        } else {
            PROMISE(s.wanted > in.len);
            size_t want = at + s.wanted > end + step ? at + s.wanted : end + step;
            end = want < whole.len ? want : whole.len;
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tide_slice whole = tide_slice_of(data, size);
    struct result once = split_whole(whole, size + 1);
    struct result pieces = split_whole(whole, 64);
    PROMISE(once.count == pieces.count && once.bytes == pieces.bytes);
    /* both are malformed; the reason may differ because pieces show less at a time */
    PROMISE((once.status == TIDE_E_EOF) == (pieces.status == TIDE_E_EOF));
    return 0;
}
