/* The OpenAPI document: texts, route.def and param.def put together. */
#ifndef API_OPENAPI_DOCUMENT_H
#define API_OPENAPI_DOCUMENT_H

#include "api/openapi/texts.h"
#include "tidemark/buf.h"

/* Ends the program with a message where the texts and the routes do not fit together: a route
 * without texts, texts without a route, a schema, parameter or group that nothing uses. */
void openapi_document(struct tide_buf *out, struct openapi_texts *texts);

#endif
