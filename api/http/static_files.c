#include "api/http/static_files.h"
#include "api/http/route.h"

/* The page asks its own host for its own files and for answers, and runs no text as a program. */
#define PAGE_POLICY                                                                 \
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " \
    "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " \
    "require-trusted-types-for 'script'"

/* The example of a partner frames a page of ours. */
#define PARTNER_POLICY PAGE_POLICY "; frame-src 'self'"

static const struct {
    const char *ending, *type;
} types[] = {
    { ".html", "text/html; charset=utf-8" },        { ".css", "text/css; charset=utf-8" },
    { ".js", "text/javascript; charset=utf-8" },    { ".svg", "image/svg+xml" },
    { ".json", "application/json; charset=utf-8" },
};

static bool is_called(const char *name, const char *wanted)
{
    size_t len = strlen(wanted);
    if (strncmp(name, wanted, len) != 0)
        return false;
    return strcmp(name + len, strchr(wanted, '.') ? "" : ".html") == 0;
}

const struct tide_static_file *tide_static_file_of(const char *path)
{
    const char *last = strrchr(path, '/');
    if (strcmp(path, "/") == 0)
        last = "/index";
    for (size_t i = 0; last && i < tide_static_file_count; i++)
        if (is_called(tide_static_files[i].name, last + 1))
            return &tide_static_files[i];
    return NULL;
}

tide_handler_fn tide_route_static_file;
void tide_route_static_file(struct tide_handler_context *context,
                            const struct tide_request *request, struct tide_reply *reply)
{
    const struct tide_static_file *document = tide_static_file_of(request->route->path);
    (void)context;
    assert(document); /* of every route with this handler: test_document */
    reply->fixed = document->text;
    for (size_t i = 0; i < TIDE_COUNT(types); i++)
        if (tide_slice_eq_str(tide_slice_str(strrchr(document->name, '.')), types[i].ending))
            reply->content_type = types[i].type;
    reply->security_policy =
        strcmp(document->name, "partner.html") == 0 ? PARTNER_POLICY : PAGE_POLICY;
}
