/* What our own index says: ledgers whose hashes chain, in the database that the outbox is in.
 *
 * A server of the network only says what happened. The index has the ledgers themselves, so it
 * alone confirms an outcome, or that an envelope cannot come any more, where it follows.
 *
 * Errors  as of outbox.h. */
#ifndef API_ATTESTER_INDEX_H
#define API_ATTESTER_INDEX_H

#include "api/attester/chain/view.h"
#include "api/attester/outbox/outbox.h"
#include "tidemark/clocks.h"

struct att_index {
    enum tide_clocks_verdict clocks;
    char text[TIDE_CLOCKS_TEXT_BYTES]; /* of the verdict */
    bool follows;    /* its newest ledger is of now, and it has the registry from its creation on */
    uint32_t ledger; /* newest ledger; 0: none */
    uint64_t closed_at; /* unix seconds, of that ledger */
};

/* Where the index stands, and whether the clocks agree. */
tide_status att_index_read(struct att_index *out, struct att_outbox *outbox,
                           const struct tide_clock *clock, uint32_t skew_s,
                           struct tide_err *err) TIDE_MUST_USE;

/* The person as of the index's newest ledger; what is not indexed, our account, is left alone. */
tide_status att_index_view(struct att_view *out, struct att_outbox *outbox,
                           const uint8_t contract[TIDE_HASH_BYTES], const struct att_words *words,
                           struct tide_err *err) TIDE_MUST_USE;

/* What became of an envelope, or of its fee bump. */
struct att_indexed {
    bool found;
    bool ok;                  /* it succeeded */
    bool as_meant;            /* and Kyc says since then what was meant */
    uint32_t ledger;          /* that it stands in */
    int32_t code;             /* TransactionResultCode */
    int64_t fee;              /* charged, stroops */
    struct att_before before; /* the record right before it */
};
tide_status att_index_find(struct att_indexed *out, struct att_outbox *outbox,
                           const struct att_row *row, const uint8_t contract[TIDE_HASH_BYTES],
                           const struct att_words *words, struct tide_err *err) TIDE_MUST_USE;

#endif
