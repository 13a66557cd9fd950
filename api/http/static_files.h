/* Files that the program carries: openapi.json (api/openapi/), the pages of api/web/, and the
 * dashboard, where it was built (tools/dashboard).
 *
 * Never a path to a file. A document has a route of its own in route.def, and the handler takes the
 * document named by the last part of that route's path ("/kyc/kyc.js" is kyc.js). The dashboard's
 * files are looked up by their whole names in a table; all its pages but /docs are one document.
 * Pages of KYC are put together by api/kyc/pages/page.h. */
#ifndef API_HTTP_STATIC_FILES_H
#define API_HTTP_STATIC_FILES_H

#include "tidemark/slice.h"

struct tide_static_file {
    const char *name;      /* of the file: "openapi.json" */
    tide_slice text;       /* a NUL follows */
    tide_slice gzip, zstd; /* the same bytes, encoded */
};
extern const struct tide_static_file tide_static_files[];
extern const size_t tide_static_file_count;

/* What tools/dashboard built, and the icon; "index.html" only if it was built. The other names
 * contain a hash of their content, except "docs.html", "licenses.txt", "icon.svg" and the two
 * modules that /kyc imports. */
extern const struct tide_static_file tide_app_files[];
extern const size_t tide_app_file_count;

/* The file of the dashboard with that name, NULL when there is none. */
const struct tide_static_file *tide_app_file_of(tide_slice name);

/* The document of a route's path, NULL when there is none. */
const struct tide_static_file *tide_static_file_of(const char *path);

#endif
