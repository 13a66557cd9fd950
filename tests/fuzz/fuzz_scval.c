/* One ScVal: skipper and printer accept the same bytes, and the printed text is one line of valid
 * UTF-8. */
#include "tests/fuzz/promise.h"

#include "tidemark/scval.h"
#include "tidemark/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tide_buf json;
    tide_slice xdr = tide_slice_of(data, size);
    struct tide_xdr x = tide_xdr_of(xdr);
    tide_scval_skip(&x);
    tide_status skipped = tide_xdr_end(&x);
    tide_buf_init(&json, 1 << 20);
    tide_status status = tide_scval_json(&json, xdr);
    /* the printer may reach its limit, which the skipper does not have */
    PROMISE(status == skipped || (skipped == TIDE_OK && status == TIDE_E_LIMIT && json.failed) ||
            (json.failed && status != TIDE_OK));
    if (status == TIDE_OK) {
        PROMISE(tide_utf8_valid(tide_buf_view(&json)));
        for (size_t i = 0; i < json.len; i++)
            PROMISE(json.ptr[i] >= 0x20);
        size_t len = json.len;
        PROMISE(tide_scval_json(&json, xdr) == TIDE_OK || json.failed);
        PROMISE(json.failed || (json.len == 2 * len && memcmp(json.ptr, json.ptr + len, len) == 0));
    }
    tide_buf_release(&json);
    return 0;
}
