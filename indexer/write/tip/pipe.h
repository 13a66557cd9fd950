/* Sends a batch's statements in a pipeline: fence and rows (unless sent before), state, rollups,
 * and cover. */
#ifndef INDEXER_WRITE_TIP_PIPE_H
#define INDEXER_WRITE_TIP_PIPE_H

#include "indexer/write/rows/cover.h"
#include "indexer/write/rows/statements.h"
#include "indexer/write/session/main_session.h"

/* A batch that is being sent. */
struct write_sending {
    struct write_main *main;
    struct write_statements *statements; /* statements of main's session */
    const struct tide_batch *batch;
    const struct write_cover *cover;
    bool begun;  /* the transaction is open, because the batch is copied or has new words */
    bool copied; /* all rows except state were sent by COPY */
};

/* Prepares the statements that write_pipe_send needs, outside of a transaction. */
tide_status write_pipe_prepare(const struct write_sending *sending,
                               struct tide_err *err) TIDE_MUST_USE;
/* Sends all statements and reads the answers, in one round trip. The transaction is open
 * afterwards. */
tide_status write_pipe_send(const struct write_sending *sending,
                            struct tide_err *err) TIDE_MUST_USE;

#endif
