/* verify --receipt: checks whether a receipt (include/tidemark/receipt.h) was right.
 *
 * Right    TIDE_OK: the index gives the receipt's answer at that ledger and time
 * Wrong    TIDE_E_CONFLICT: the signature does not hold, the JWKS lacks the key, the key was
 *          withdrawn, or the answer or a claim differs; each difference is printed
 * Unknown  TIDE_E_MISSING: another network or deployment, a ledger that is not indexed or has
 *          another hash
 * TIDE_E_DECODE: the file is no receipt. Archived events do not matter: answers come from entries.
 *
 * Not checked: how old the server's knowledge was (its lease). exp is therefore only checked
 * against the bound that the answer itself sets. */
#ifndef INDEXER_VERIFY_RECEIPT_H
#define INDEXER_VERIFY_RECEIPT_H

#include "tidemark/pg.h"

struct tide_verify_receipt {
    struct tide_pg *pg; /* a transaction with one snapshot */
    uint16_t deployment;
    const char *path; /* path of the receipt */
    /* Path of the JWKS; NULL: the signature is not checked, and the output says so. */
    const char *jwks;
};

/* Prints each difference and the result. */
tide_status tide_verify_receipt(const struct tide_verify_receipt *of,
                                struct tide_err *err) TIDE_MUST_USE;

#endif
