/* Files that are embedded in the program: openapi.json (api/openapi/), the pages of api/web/,
 * and the dashboard if it was built (tools/dashboard).
 *
 * No request names a path in the file system. Each document has its own route in route.def; its
 * handler sends the document named by the last part of the route's path ("/kyc/kyc.js" is
 * kyc.js). Files of the dashboard are found in a table by their whole name; all its pages but
 * /docs are one document. api/kyc/pages/page.h makes the pages of KYC. */
#ifndef API_HTTP_STATIC_FILES_H
#define API_HTTP_STATIC_FILES_H

#include "api/http/reply.h"

struct tide_static_file {
    const char *name;      /* "openapi.json" */
    tide_slice text;       /* NUL-terminated */
    tide_slice gzip, zstd; /* the same bytes, compressed */
};
extern const struct tide_static_file tide_static_files[];
extern const size_t tide_static_file_count;

/* The files that tools/dashboard built, and the icon. index.html is there only if the dashboard
 * was built. The other names contain a hash of the content, except docs.html, licenses.txt,
 * icon.svg and the two modules that /kyc imports. */
extern const struct tide_static_file tide_app_files[];
extern const size_t tide_app_file_count;

/* Returns the document of a route's path, or NULL. */
const struct tide_static_file *tide_static_file_of(const char *path);
/* Returns the file of that name, or NULL. */
const struct tide_static_file *tide_static_file_named(const struct tide_static_file *files,
                                                      size_t count, tide_slice name);
/* Fills the reply with the file and its compressed forms. */
void tide_static_file_send(struct tide_reply *reply, const struct tide_static_file *file);
/* Sets an ETag that stands for the content, for routes with many files: the server keeps one digest
 * for each route. */
void tide_static_file_tag(struct tide_reply *reply, tide_slice content);

#endif
