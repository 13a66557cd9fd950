/* Fields of cache records as JSON members. */
#ifndef TIDEMARK_RECORD_JSON_H
#define TIDEMARK_RECORD_JSON_H

#include "tidemark/hot_record.h"
#include "tidemark/json.h"

/* Writes a strkey, or null if there is no address (kind 0). */
void tide_record_json_address(struct tide_json *j, const char *name,
                              const struct tide_hot_address *address);
void tide_record_json_symbol(struct tide_json *j, const char *name,
                             const struct tide_hot_symbol *symbol);
/* Writes the name, up to the TIDE_HOT_NAME_MAX bytes that the record has of it. */
void tide_record_json_title(struct tide_json *j, const char *name,
                            const struct tide_hot_name *title);
/* The same; NULL is written as null. */
void tide_record_json_title_or_null(struct tide_json *j, const char *name,
                                    const struct tide_hot_name *title);

#endif
