/* Builds the OpenAPI document from the texts, route.def and param.def. */
#ifndef API_OPENAPI_DOCUMENT_H
#define API_OPENAPI_DOCUMENT_H

#include "api/openapi/texts.h"
#include "tidemark/buf.h"

/* Appends the document to out. Ends the program with a message if texts and routes do not match:
 * a route without texts, texts without a route, or a schema, parameter or group that nothing
 * uses. */
void openapi_document(struct tide_buf *out, struct openapi_texts *texts);

#endif
