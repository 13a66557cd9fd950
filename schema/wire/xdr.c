#include "tidemark/xdr.h"

void tide_xdr_refuse(struct tide_xdr *x, tide_status status, const char *what, uint32_t value)
{
    assert(status != TIDE_OK);
    assert(what);
    assert(x->base <= x->cur && x->cur <= x->end);
    if (x->status != TIDE_OK)
        return;
    x->status = status;
    x->what = what;
    x->value = value;
    x->fail_at = (size_t)(x->cur - x->base);
    x->cur = x->end; /* nothing is left, so that no loop continues */
}

void tide_xdr_refuse_short(struct tide_xdr *x)
{
    if (x->status == TIDE_OK)
        x->truncated = true;
    tide_xdr_refuse(x, TIDE_E_DECODE, "end of data", (uint32_t)tide_xdr_left(x));
}

tide_status tide_xdr_end(struct tide_xdr *x)
{
    assert(x->base <= x->cur && x->cur <= x->end);
    if (x->status == TIDE_OK && x->cur != x->end)
        tide_xdr_refuse(x, TIDE_E_DECODE, "trailing bytes", (uint32_t)tide_xdr_left(x));
    return x->status;
}

tide_status tide_xdr_error(const struct tide_xdr *x, struct tide_err *err, const char *context)
{
    assert(x->status != TIDE_OK);
    return tide_fail(err, x->status, "%s: %s (%" PRIu32 ") at byte %zu", context, x->what, x->value,
                     x->fail_at);
}
