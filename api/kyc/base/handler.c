/* Queues work for KYC's workers, and reads Idempotency-Key. */
#include "api/kyc/base/handler.h"

#include <stdlib.h>

void *tide_kyc_later(struct tide_handler_context *context, size_t size, enum tide_kyc_pool_id pool,
                     tide_kyc_run_fn *run, struct tide_reply *reply)
{
    struct tide_kyc_work *work = calloc(1, size);
    assert(run && pool < TIDE_KYC_POOL_COUNT);
    assert(size >= sizeof *work && !context->task);
    if (!work) {
        tide_reply_problem(reply, 503, "no_memory", "There is no memory for this request.");
        reply->retry_after_s = 1;
        return NULL;
    }
    *work = (struct tide_kyc_work){ .run = run, .pool = pool, .size = size };
    context->task = work;
    return work;
}

/* A repeated header is refused: using one of its values would be a guess. */
bool tide_kyc_idempotency_read(tide_slice *out, const struct tide_request *request,
                               struct tide_reply *reply)
{
    enum { KEY_MAX = 128 };
    uint32_t times;
    tide_slice key = tide_request_header(request, "Idempotency-Key", &times);
    bool fits = times <= 1 && (times == 0 || (key.len > 0 && key.len <= KEY_MAX));
    for (size_t i = 0; i < key.len && fits; i++)
        fits = key.ptr[i] > ' ' && key.ptr[i] < 0x7f;
    if (!fits)
        tide_reply_problem(reply, 400, "bad_idempotency_key",
                           "Send one Idempotency-Key of 1 to %d visible ASCII characters.",
                           KEY_MAX);
    *out = times == 1 ? key : (tide_slice){ 0 };
    return fits;
}
