/* Signed receipts of answers. A handler calls tide_receipt_begin before it opens its reader,
 * tide_receipt_take while the reader is open, and tide_receipt_seal after closing it. */
#ifndef API_ROUTES_RECEIPTS_H
#define API_ROUTES_RECEIPTS_H

#include "api/hot/api.h"
#include "api/http/route.h"
#include "tidemark/receipt.h"

struct tide_receipt_making {
    bool asked; /* false: the answer is sent unsigned */
    uint64_t holds_until;
    struct tide_receipt receipt;
};

/* Starts a receipt if the request asks for one. Returns false with 406 no_receipts in the reply;
 * a client that also accepts JSON gets JSON instead. */
bool tide_receipt_begin(struct tide_receipt_making *making, enum tide_receipt_kind kind,
                        const struct tide_handler_context *context,
                        const struct tide_request *request, struct tide_reply *reply);
/* Takes the claims from the reader. holds_until: as answer.h returns it. */
static inline void tide_receipt_take(struct tide_receipt_making *making,
                                     const struct tide_reader *reader, uint64_t holds_until)
{
    making->holds_until = holds_until;
    if (making->asked)
        tide_receipt_read(&making->receipt, reader);
}
/* Replaces the reply's body by the signed receipt. A problem stays as it is. */
void tide_receipt_seal(struct tide_receipt_making *making,
                       const struct tide_handler_context *context,
                       const struct tide_request *request, struct tide_reply *reply);

#endif
