/* An answer as a signed receipt, where the client asked for one. A handler calls begin before its
 * reader is opened, read while it is open, and seal after it was closed. */
#ifndef API_ROUTES_RECEIPTS_H
#define API_ROUTES_RECEIPTS_H

#include "api/hot/api.h"
#include "api/http/route.h"
#include "schema/reader/receipt.h"

struct tide_receipt_making {
    bool asked; /* false: the answer goes as it is */
    uint64_t holds_until;
    struct tide_receipt receipt;
};

/* False: the reply holds the problem: 406 no_receipts. A client that takes JSON too gets JSON. */
bool tide_receipt_begin(struct tide_receipt_making *making, enum tide_receipt_kind kind,
                        const struct tide_handler_context *context,
                        const struct tide_request *request, struct tide_reply *reply);
/* holds_until: as answer.h returns it. */
static inline void tide_receipt_take(struct tide_receipt_making *making,
                                     const struct tide_reader *reader, uint64_t holds_until)
{
    making->holds_until = holds_until;
    if (making->asked)
        tide_receipt_read(&making->receipt, reader);
}
/* Signs the reply's body. A problem stays one. */
void tide_receipt_seal(struct tide_receipt_making *making,
                       const struct tide_handler_context *context,
                       const struct tide_request *request, struct tide_reply *reply);

#endif
