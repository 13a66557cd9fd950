/* Values of typed columns as the JSON of the ledger's values. */
#ifndef INDEXER_EXPORT_VALUE_H
#define INDEXER_EXPORT_VALUE_H

#include "tidemark/buf.h"
#include "tidemark/catalogue.h"

/* Access to the columns with the fields of a kind: the text of the expression that
 * tide_export_value_select made for field i, and whether it is NULL. Behind the fields is the
 * column form, if the kind has several. */
struct tide_value_row {
    tide_slice (*text)(const void *self, uint32_t field);
    bool (*null)(const void *self, uint32_t field);
    const void *self;
    bool with_private;
};

/* Writes the SQL expression of a column of that type. tide_export_value_json reads the expression's
 * text. */
void tide_export_value_select(struct tide_buf *sql, const char *table, const char *column,
                              enum tide_type type);
/* Writes one value. */
void tide_export_value_json(struct tide_buf *json, enum tide_type type, tide_slice text);

/* Write an event's topics ["name", …] and data. */
void tide_export_value_topics(struct tide_buf *json, const struct tide_kind *kind,
                              const struct tide_value_row *row);
void tide_export_value_data(struct tide_buf *json, const struct tide_kind *kind,
                            const struct tide_value_row *row);
/* Writes an entry's key ["Variant", …]; for an instance, LedgerKeyContractInstance. */
void tide_export_value_key(struct tide_buf *json, const struct tide_kind *kind,
                           const struct tide_value_row *row);
/* Writes an entry's value; for an instance, its storage: {"ADMIN": …, "[\"PoolCount\"]": …}. */
void tide_export_value_entry(struct tide_buf *json, const struct tide_kind *kind,
                             const struct tide_value_row *row);

#endif
