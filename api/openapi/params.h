/* The parameters of param.def, as components to which routes refer. */
#ifndef API_OPENAPI_PARAMS_H
#define API_OPENAPI_PARAMS_H

#include "api/openapi/operation.h"
#include "tidemark/json.h"

/* Writes "parameters": […] of a route: those of its path, its query, and the request headers
 * that its texts name. */
void openapi_put_route_params(struct tide_json *j, struct openapi_texts *texts,
                              const struct openapi_operation *operation,
                              const struct openapi_route *text);
/* Writes "parameters": {…} of the components: those to which routes have referred. Ends the
 * program if a parameter has no help or no route uses it. */
void openapi_put_params(struct tide_json *j);

#endif
