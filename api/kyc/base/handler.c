#include "api/kyc/base/handler.h"

#include <stdlib.h>

void *tide_kyc_later(struct tide_handler_context *context, size_t size, enum tide_kyc_pool_id pool,
                     tide_kyc_run_fn *run, struct tide_reply *reply)
{
    struct tide_kyc_work *work = calloc(1, size);
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
