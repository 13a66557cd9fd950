/* Tells the value of one entry as of a ledger, as the ledger has it: an SCVal in XDR, which is made
 * again from the columns of the entry's table.
 *
 * Untold   a value with a person's jurisdiction; one that is stored as JSON or undecoded; an entry
 *          that the tables would not have: of a contract that is not followed, or written before
 *          the index began. */
#ifndef TIDEMARK_ENTRY_VALUE_H
#define TIDEMARK_ENTRY_VALUE_H

#include "tidemark/meta.h"
#include "tidemark/pg.h"

enum tide_entry_said { TIDE_ENTRY_UNTOLD, TIDE_ENTRY_ABSENT, TIDE_ENTRY_VALUE };

struct tide_entry_question {
    struct tide_pg *pg; /* in a transaction with one snapshot */
    uint16_t deployment;
    uint32_t ledger;               /* as of its close; it is indexed */
    const char *contract;          /* C… */
    const struct tide_change *key; /* contract, key and durability, as skip_ledger_key fills them */
};

/* Asks the tables. *followed: the deployment has the contract. value gets the SCVal if *said is
 * TIDE_ENTRY_VALUE. Fails only if the database fails. */
tide_status tide_entry_value(const struct tide_entry_question *of, bool *followed,
                             enum tide_entry_said *said, struct tide_buf *value,
                             struct tide_err *err) TIDE_MUST_USE;

struct tide_kind; /* tidemark/catalogue.h */

#endif
