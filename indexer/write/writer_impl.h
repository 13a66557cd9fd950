/* The parts of the writer. Only the files beside this one include this header. */
#ifndef INDEXER_WRITE_WRITER_IMPL_H
#define INDEXER_WRITE_WRITER_IMPL_H

#include "indexer/write/load/load.h"
#include "indexer/write/rows/statements.h"
#include "indexer/write/session/main_session.h"
#include "indexer/write/tip/tip.h"
#include "indexer/write/writer.h"

/* One thread at a time uses a writer: the one that opened it. */
struct tide_writer {
    struct tide_writer_options options;
    struct write_plan plan; /* filled in by tide_writer_open; sessions borrow it */
    struct write_main main;
    struct write_keys keys;
    struct write_rollups rollups;
    struct write_statements statements; /* statements of main's session */
    struct write_tip tip;
    struct write_load load;
};

/* contracts.c: adds the discovered contracts to the deployment. */
tide_status writer_adopt_contracts(struct tide_writer *w, struct tide_err *err) TIDE_MUST_USE;
/* fill.c: puts the checkpoint's ledger, the last one of the past, and makes the past visible. */
tide_status writer_fill(struct tide_writer *w, const struct tide_batch *batch,
                        struct tide_err *err) TIDE_MUST_USE;
/* Fails with TIDE_E_CHAIN if a held batch ends before the checkpoint's ledger, which does not
 * follow it. */
tide_status writer_fill_check(struct tide_writer *w, const struct tide_batch *batch,
                              struct tide_err *err) TIDE_MUST_USE;

#endif
