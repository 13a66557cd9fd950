/* Examples. Each schema has one, and those of answers are composed of them. */
#ifndef API_OPENAPI_EXAMPLE_H
#define API_OPENAPI_EXAMPLE_H

#include "api/openapi/texts.h"
#include "tidemark/json.h"

/* Writes "examples": … of the schema, or nothing if the files give no example. envelope and
 * pages: as for openapi_put_schema. */
void openapi_put_examples(struct tide_json *j, struct openapi_texts *texts,
                          const struct openapi_schema *schema, bool envelope, bool pages);

#endif
