/* verify --receipt: whether a receipt (schema/reader/receipt.h) was right.
 *
 * Right    TIDE_OK: the answer is what the index gives at that ledger and time
 * Wrong    TIDE_E_CONFLICT: the signature does not hold, the key is not in the JWKS or was
 *          withdrawn, or the answer or a claim differs; each difference is printed
 * Unknown  TIDE_E_MISSING: another network or deployment, a ledger that is not indexed or has
 *          another hash, tables that are not filled
 * TIDE_E_DECODE: the file is no receipt. Archived events change nothing: answers come from entries.
 * What is not checked: how old the server's knowledge was (lease), and so exp but for its bounds by
 * the answer itself. */
#ifndef INDEXER_VERIFY_RECEIPT_H
#define INDEXER_VERIFY_RECEIPT_H

#include "tidemark/pg.h"

struct tide_verify_receipt {
    struct tide_pg *pg; /* in a snapshot */
    uint16_t deployment;
    const char *scope; /* as chain.deployment has it */
    const char *path;  /* of the receipt */
    const char *jwks;  /* of its keys; NULL: the signature is not checked, and that is said */
};

/* Prints what it finds. */
tide_status tide_verify_receipt(const struct tide_verify_receipt *of,
                                struct tide_err *err) TIDE_MUST_USE;

#endif
