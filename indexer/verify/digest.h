/* A digest of a table that depends on its rows alone: SHA-256 of each row's canonical bytes,
 * summed modulo 2^256. Neither order, batches nor partitions matter; a lost, a doubled and an
 * altered row each change it.
 *
 * Canonical bytes of a row: its columns in the order of tide_tables() as COPY BINARY writes
 * them (a length, -1 for NULL, then the value), without the columns marked no_digest. Rows that a
 * table's digest_column leaves out are not counted. */
#ifndef INDEXER_VERIFY_DIGEST_H
#define INDEXER_VERIFY_DIGEST_H

#include "tidemark/pg.h"
#include "tidemark/table.h"

#define TIDE_DIGEST_TEXT_BYTES 64u

struct tide_digest {
    uint64_t rows;
    uint64_t limb[4]; /* least first */
};

/* The bytes of one field of a COPY BINARY tuple that holds all columns of table; *null tells
 * NULL apart from no bytes. TIDE_E_DECODE when tuple is not such a tuple. */
tide_status tide_digest_field(tide_slice tuple, uint32_t column, tide_slice *field,
                              bool *null) TIDE_MUST_USE;

/* Bytes of the tuple that bytes begin with; 0 when it is not whole. */
size_t tide_digest_tuple_length(tide_slice bytes);

/* Adds one tuple with all columns of table. TIDE_E_DECODE when it is not one. */
tide_status tide_digest_tuple(struct tide_digest *digest, const struct tide_table *table,
                              tide_slice tuple) TIDE_MUST_USE;
/* Adds SHA-256 of bytes as one row. */
void tide_digest_bytes(struct tide_digest *digest, tide_slice bytes);
/* Adds the rows of other. */
void tide_digest_add(struct tide_digest *digest, const struct tide_digest *other);
bool tide_digest_eq(const struct tide_digest *a, const struct tide_digest *b);
/* 64 hex digits and a NUL, most significant first. */
void tide_digest_text(char out[TIDE_DIGEST_TEXT_BYTES + 1], const struct tide_digest *digest);

/* All rows of table in the database for which where holds ("" for all). */
tide_status tide_digest_table(struct tide_pg *pg, const struct tide_table *table, const char *where,
                              struct tide_digest *out, struct tide_err *err) TIDE_MUST_USE;

/* "COPY (SELECT all columns FROM table WHERE where) TO STDOUT (FORMAT binary)"; false when it
 * does not fit. */
bool tide_digest_copy_sql(char *out, size_t size, const struct tide_table *table,
                          const char *where);

#endif
