/* Makes rollups anew that other rules made, or that were never made. */
#ifndef INDEXER_WRITE_ROWS_ROLLUP_BUILD_H
#define INDEXER_WRITE_ROWS_ROLLUP_BUILD_H

#include "indexer/write/rows/rollup.h"
#include "indexer/write/session/main_session.h"

/* Makes the rollups anew if needed. TIDE_E_SCHEMA if a newer build made them, TIDE_E_MISSING if
 * archived rows are needed. */
tide_status write_rollup_settle(struct write_main *m, const struct write_rollups *r,
                                struct tide_err *err) TIDE_MUST_USE;
/* Makes them anew in the running transaction. TIDE_E_MISSING as above. */
tide_status write_rollup_anew(struct write_session *s, const struct write_rollups *r,
                              struct tide_err *err) TIDE_MUST_USE;

#endif
