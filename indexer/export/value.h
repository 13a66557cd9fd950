/* Typed columns back to the JSON of the ledger's values. */
#ifndef INDEXER_EXPORT_VALUE_H
#define INDEXER_EXPORT_VALUE_H

#include "tidemark/buf.h"
#include "tidemark/catalogue.h"

/* The columns of a row that hold the fields of a kind: the text of the expression that
 * tide_export_value_select made for field i, and whether it is NULL. */
struct tide_value_row {
    tide_slice (*text)(const void *self, uint32_t field);
    bool (*null)(const void *self, uint32_t field);
    const void *self;
    bool with_private;
};

/* The SQL expression of a column of that type whose text tide_export_value_json reads. */
void tide_export_value_select(struct tide_buf *sql, const char *table, const char *column,
                              enum tide_type type);
/* One value. */
void tide_export_value_json(struct tide_buf *json, enum tide_type type, tide_slice text);

/* Topics ["name", …] and data of an event. */
void tide_export_value_topics(struct tide_buf *json, const struct tide_kind *kind,
                              const struct tide_value_row *row);
void tide_export_value_data(struct tide_buf *json, const struct tide_kind *kind,
                            const struct tide_value_row *row);
/* Key ["Variant", …] of an entry; LedgerKeyContractInstance of an instance. */
void tide_export_value_key(struct tide_buf *json, const struct tide_kind *kind,
                           const struct tide_value_row *row);
/* Value of an entry; storage of an instance: {"ADMIN": …, "[\"PoolCount\"]": …}. */
void tide_export_value_entry(struct tide_buf *json, const struct tide_kind *kind,
                             const struct tide_value_row *row);

#endif
