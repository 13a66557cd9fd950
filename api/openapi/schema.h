/* Writes the notation of types (README.md) as JSON Schema. */
#ifndef API_OPENAPI_SCHEMA_H
#define API_OPENAPI_SCHEMA_H

#include "api/openapi/texts.h"
#include "tidemark/json.h"

/* Writes a type with its text: {"$ref": …} or {"type": …}. Marks the schemas that it names as
 * used. */
void openapi_put_type(struct tide_json *j, struct openapi_texts *texts, tide_slice type,
                      tide_slice text, struct openapi_at at);
/* Writes "name": {…}. envelope: ledger and closedAt come first. pages: next comes last. */
void openapi_put_schema(struct tide_json *j, struct openapi_texts *texts,
                        struct openapi_schema *schema, bool envelope, bool pages);
/* Writes "$ref": "#/components/GROUP/NAME". */
void openapi_put_ref(struct tide_json *j, const char *group, tide_slice name);
/* Writes "name": "text". */
void openapi_put_text(struct tide_json *j, const char *name, const char *text);

#endif
