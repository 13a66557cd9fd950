/* Documents that the program carries: openapi.json (api/openapi/) and the page of api/web/ that
 * shows it.
 *
 * Never a path to a file: each has a route of its own in route.def, and the handler takes the
 * document named by the last part of that route's path ("/docs" is docs.html). Pages of KYC that are
 * about a session are put together by api/kyc/pages/page.h. */
#ifndef API_HTTP_STATIC_FILES_H
#define API_HTTP_STATIC_FILES_H

#include "tidemark/slice.h"

struct tide_static_file {
    const char *name; /* of the file: "openapi.json" */
    tide_slice text;  /* a NUL follows */
};
extern const struct tide_static_file tide_static_files[];
extern const size_t tide_static_file_count;

/* The document of a route's path, NULL when there is none. */
const struct tide_static_file *tide_static_file_of(const char *path);

#endif
