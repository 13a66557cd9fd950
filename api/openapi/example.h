/* Examples: they stand once, with their schema, and an answer's is made of them. */
#ifndef API_OPENAPI_EXAMPLE_H
#define API_OPENAPI_EXAMPLE_H

#include "api/openapi/texts.h"
#include "tidemark/json.h"

/* "examples": … of what the schema describes, none where the files give none. envelope and pages as
 * for openapi_put_schema. */
void openapi_put_examples(struct tide_json *j, struct openapi_texts *texts,
                          const struct openapi_schema *schema, bool envelope, bool pages);

#endif
