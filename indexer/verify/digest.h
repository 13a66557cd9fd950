/* A table's digest: the SHA-256 of each row's canonical bytes, summed modulo 2^256. The digest
 * depends on the rows alone, not on order, batches or partitions. A lost, a doubled or an altered
 * row changes it.
 *
 * Canonical bytes of a row: its columns in the order of tide_tables(), as COPY BINARY writes them
 * (a length, -1 for NULL, then the value), without the columns marked no_digest. Rows whose
 * digest_column has another value than digest_value are not counted. */
#ifndef INDEXER_VERIFY_DIGEST_H
#define INDEXER_VERIFY_DIGEST_H

#include "tidemark/pg.h"
#include "tidemark/table.h"

#define TIDE_DIGEST_TEXT_BYTES 64u

struct tide_digest {
    uint64_t rows;
    uint64_t limb[4]; /* 64 bits each, least significant first */
};

/* Finds the bytes of one field in a COPY BINARY tuple. *null tells NULL from an empty value.
 * TIDE_E_DECODE if the bytes are no such tuple. */
tide_status tide_digest_field(tide_slice tuple, uint32_t column, tide_slice *field,
                              bool *null) TIDE_MUST_USE;

/* Returns the length of the tuple at the start of bytes; 0 if it is cut short. */
size_t tide_digest_tuple_length(tide_slice bytes);

/* Adds one tuple with all columns of table. TIDE_E_DECODE if it is no such tuple. */
tide_status tide_digest_tuple(struct tide_digest *digest, const struct tide_table *table,
                              tide_slice tuple) TIDE_MUST_USE;
/* Adds the SHA-256 of bytes as one row. */
void tide_digest_bytes(struct tide_digest *digest, tide_slice bytes);
/* Adds the rows that other has. */
void tide_digest_add(struct tide_digest *digest, const struct tide_digest *other);
bool tide_digest_eq(const struct tide_digest *a, const struct tide_digest *b);
/* Writes 64 hex digits and a NUL, the most significant digit first. */
void tide_digest_text(char out[TIDE_DIGEST_TEXT_BYTES + 1], const struct tide_digest *digest);

/* Digests all rows of table in the database for which the SQL condition `where` holds ("" for
 * all). */
tide_status tide_digest_table(struct tide_pg *pg, const struct tide_table *table, const char *where,
                              struct tide_digest *out, struct tide_err *err) TIDE_MUST_USE;

/* Writes "COPY (SELECT all columns FROM table WHERE where) TO STDOUT (FORMAT binary)". Returns
 * false if it does not fit. */
bool tide_digest_copy_sql(char *out, size_t size, const struct tide_table *table,
                          const char *where);

#endif
