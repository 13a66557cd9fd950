/* Fields of cache records as JSON members. */
#ifndef TIDEMARK_RECORD_JSON_H
#define TIDEMARK_RECORD_JSON_H

#include "tidemark/hot_record.h"
#include "tidemark/json.h"

/* A strkey; null for the kind of no address. */
void tide_record_json_address(struct tide_json *j, const char *name,
                              const struct tide_hot_address *address);
void tide_record_json_symbol(struct tide_json *j, const char *name,
                             const struct tide_hot_symbol *symbol);
/* The bytes that the record keeps of a name. */
void tide_record_json_title(struct tide_json *j, const char *name,
                            const struct tide_hot_name *title);
/* The same; null for NULL. */
void tide_record_json_title_or_null(struct tide_json *j, const char *name,
                                    const struct tide_hot_name *title);

#endif
