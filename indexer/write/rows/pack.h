/* Versions of one key within one ledger as one stored row, see tide_table_versions. A version is
 * left as a row of its own if the ledger's last one is a removal, or cannot imply it: if it is a
 * removal, carries a lifetime, or differs in a column without an array. Readers need no version to
 * be packed. */
#ifndef INDEXER_WRITE_ROWS_PACK_H
#define INDEXER_WRITE_ROWS_PACK_H

#include "tidemark/status.h"
#include "tidemark/table.h"

struct write_pack {
    struct tide_buf versions; /* the rows, in order of ledger, key and place */
    struct tide_buf columns;  /* tide_slice of each column of versions that share a row */
    struct tide_buf rows;     /* the result */
};

void write_pack_open(struct write_pack *pack);
void write_pack_close(struct write_pack *pack);
/* Replaces tuples, rows of one version each, by rows of the stored form, and sets *count to their
 * number. They are borrowed until the next call. TIDE_E_MEMORY. */
tide_status write_pack_rows(struct write_pack *pack, const struct tide_table *stored,
                            tide_slice *tuples, uint64_t *count,
                            struct tide_err *err) TIDE_MUST_USE;

#endif
