/* The parameters of param.def, as components that routes refer to. */
#ifndef API_OPENAPI_PARAMS_H
#define API_OPENAPI_PARAMS_H

#include "api/openapi/operation.h"
#include "tidemark/json.h"

/* "parameters": […] of a route: of its path, its query, and the headers that its texts name. */
void openapi_put_route_params(struct tide_json *j, struct openapi_texts *texts,
                              const struct openapi_operation *operation,
                              const struct openapi_route *text);
/* "parameters": {…} of the components: those that routes referred to before. Fails where a parameter
 * has no help, or no route takes it. */
void openapi_put_params(struct tide_json *j);

#endif
