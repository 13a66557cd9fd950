/* The order in which stellar-core sorts the keys of a bucket: by type of entry, then field by
 * field. Texts and byte strings are compared by their bytes before their lengths, and signed
 * integers as signed ones, so the order is not that of the XDR. */
#ifndef TIDEMARK_KEY_ORDER_H
#define TIDEMARK_KEY_ORDER_H

#include "tidemark/meta.h"

/* A LedgerKey: its type, and the XDR of its fields, which a LedgerEntry has in one piece, too. */
struct tide_bucket_key {
    uint32_t type;
    tide_slice fields;
};

/* Returns the key of a LedgerEntry that skip_ledger_entry filled in. It borrows from the entry. */
struct tide_bucket_key tide_bucket_key_of_entry(const struct tide_change *entry);
/* Returns the key of a LedgerKey that skip_ledger_key filled in. */
struct tide_bucket_key tide_bucket_key_of_key(const struct tide_change *key);

/* Returns a number below, equal to or above 0, as a sorts before, with or behind b. Both must be
 * keys of one of the functions above. */
int tide_bucket_key_order(const struct tide_bucket_key *a, const struct tide_bucket_key *b);

#endif
