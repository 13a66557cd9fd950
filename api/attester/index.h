/* The state of a person and of an envelope according to the index, which is in the same database as
 * the outbox.
 *
 * A server of the network only reports; the index holds the ledgers themselves, chained by hash. So
 * if the index follows the network, the index alone confirms an outcome, or proves that an envelope
 * can no longer be applied.
 *
 * Errors  as in outbox.h. *out is undefined after a failure. */
#ifndef API_ATTESTER_INDEX_H
#define API_ATTESTER_INDEX_H

#include "api/attester/chain/view.h"
#include "api/attester/outbox/outbox.h"
#include "api/base/clocks.h"

struct att_index {
    enum tide_clocks_verdict clocks;
    char text[TIDE_CLOCKS_TEXT_BYTES]; /* the verdict in words, for messages */
    bool follows;                      /* current, and complete since the registry's creation */
    uint32_t fork;                     /* validators signed another such ledger; 0: none */
    uint32_t ledger;                   /* newest ledger; 0: the index is empty */
    uint64_t closed_at;                /* close time of that ledger, unix seconds */
};

/* Reads the newest ledger of the index, whether the index follows the network, whether validators
 * contradict it (chain.fork), and whether the clocks of host, database and chain differ by at most
 * skew_s seconds. */
tide_status att_index_read(struct att_index *out, struct att_outbox *outbox,
                           const struct tide_clock *clock, uint32_t skew_s,
                           struct tide_err *err) TIDE_MUST_USE;

/* Sets the fields about the person and the verifier to their values at the newest ledger of the
 * index. Leaves the account's fields (account, seq, balance) and the code unchanged: accounts
 * are not indexed. */
tide_status att_index_view(struct att_view *out, struct att_outbox *outbox,
                           const uint8_t contract[TIDE_HASH_BYTES], const struct att_claim *claim,
                           struct tide_err *err) TIDE_MUST_USE;

/* Sets out->since to the newest change of the person's entries that contradicts the row, that
 * closed after its decision, and that no transaction of the outbox made: a restored database
 * forgets decisions, and the chain keeps them. Does nothing if the index is empty. */
tide_status att_index_since(struct att_view *out, struct att_outbox *outbox,
                            const struct att_row *row, const uint8_t contract[TIDE_HASH_BYTES],
                            const struct att_claim *claim, struct tide_err *err) TIDE_MUST_USE;

/* Result of an envelope, or of the fee bump around it. */
struct att_indexed {
    bool found;
    bool ok;                  /* the transaction succeeded */
    bool as_meant;            /* the transaction left the Kyc entry as the intent demands */
    uint32_t ledger;          /* ledger that includes the transaction */
    int32_t code;             /* TransactionResultCode */
    int64_t fee;              /* charged, stroops */
    struct att_before before; /* the compliance record right before the transaction */
};
/* Looks up the envelope of row, and its fee bump, in the indexed transactions. Sets found to
 * false if no ledger includes either. */
tide_status att_index_find(struct att_indexed *out, struct att_outbox *outbox,
                           const struct att_row *row, const uint8_t contract[TIDE_HASH_BYTES],
                           const struct att_claim *claim, struct tide_err *err) TIDE_MUST_USE;

#endif
