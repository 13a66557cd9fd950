/* Handlers of embedded files. */
#include "api/http/static_files.h"
#include "api/http/route.h"
#include "tidemark/hash.h"

/* The Content-Security-Policy of pages: they load files and answers from their own host only,
 * and run no inline script. */
#define PAGE_POLICY                                                                              \
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "              \
    "img-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors " \
    "'none'; "                                                                                   \
    "require-trusted-types-for 'script'"

/* The example of a partner's page also frames a page of this host. */
#define PARTNER_POLICY PAGE_POLICY "; frame-src 'self'"

static const struct {
    const char *ending, *type;
} types[] = {
    { ".html", "text/html; charset=utf-8" },         { ".css", "text/css; charset=utf-8" },
    { ".js", "text/javascript; charset=utf-8" },     { ".svg", "image/svg+xml" },
    { ".json", "application/json; charset=utf-8" },  { ".txt", "text/plain; charset=utf-8" },
    { ".webmanifest", "application/manifest+json" },
};

/* Returns the media type of a file's ending. NULL would fall back to JSON. */
static const char *type_of(const char *name)
{
    for (size_t i = 0; i < TIDE_COUNT(types); i++)
        if (tide_slice_eq_str(tide_slice_str(strrchr(name, '.')), types[i].ending))
            return types[i].type;
    return NULL;
}

static bool has_file_name(const char *name, const char *wanted)
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
        if (has_file_name(tide_static_files[i].name, last + 1))
            return &tide_static_files[i];
    return NULL;
}

const struct tide_static_file *tide_static_file_named(const struct tide_static_file *files,
                                                      size_t count, tide_slice name)
{
    for (size_t i = 0; i < count; i++)
        if (tide_slice_eq_str(name, files[i].name))
            return &files[i];
    return NULL;
}

void tide_static_file_tag(struct tide_reply *reply, tide_slice content)
{
    uint8_t hash[TIDE_HASH_BYTES];
    static_assert(sizeof reply->etag <= sizeof hash, "a prefix of the hash");
    tide_sha256(hash, content);
    memcpy(reply->etag, hash, sizeof reply->etag);
    reply->has_etag = true;
}

void tide_static_file_send(struct tide_reply *reply, const struct tide_static_file *file)
{
    reply->fixed = file->text;
    reply->encoded[TIDE_ENCODING_GZIP] = file->gzip;
    reply->encoded[TIDE_ENCODING_ZSTD] = file->zstd;
    reply->content_type = type_of(file->name);
    reply->security_policy = PAGE_POLICY;
}

tide_handler_fn tide_route_static_file;
void tide_route_static_file(struct tide_handler_context *context,
                            const struct tide_request *request, struct tide_reply *reply)
{
    const struct tide_static_file *document = tide_static_file_of(request->route->path);
    (void)context;
    assert(document); /* test_document checks every route with this handler */
    tide_static_file_send(reply, document);
    assert(reply->content_type); /* test_document checks each ending */
    if (strcmp(document->name, "partner.html") == 0)
        reply->security_policy = PARTNER_POLICY;
}

/* --- the dashboard ----------------------------------------------------------------------- */

static const struct tide_static_file *app_file_of(tide_slice name)
{
    return tide_static_file_named(tide_app_files, tide_app_file_count, name);
}

tide_handler_fn tide_route_dashboard;
void tide_route_dashboard(struct tide_handler_context *context, const struct tide_request *request,
                          struct tide_reply *reply)
{
    /* All pages but /docs are the same document, which reads its own address. */
    bool docs = strcmp(request->route->path, "/docs") == 0;
    const struct tide_static_file *page =
        app_file_of(docs ? TIDE_SLICE("docs.html") : TIDE_SLICE("index.html"));
    (void)context;
    tide_static_file_send(reply, page ? page : tide_static_file_of("/unbuilt"));
}

/* Returns whether the file's name contains a hash of its content. Only such files may be cached
 * for ever. */
static bool has_hashed_name(const char *name)
{
    static const char *const others[] = { "licenses.txt", "manifest.webmanifest",
                                          "icon.svg",     "index.html",
                                          "docs.html",    "wallet.js",
                                          "qr.js" };
    for (size_t i = 0; i < TIDE_COUNT(others); i++)
        if (strcmp(name, others[i]) == 0)
            return false;
    return true;
}

tide_handler_fn tide_route_app_file;
void tide_route_app_file(struct tide_handler_context *context, const struct tide_request *request,
                         struct tide_reply *reply)
{
    tide_slice name = tide_request_param(request, TIDE_PARAM_file)->text;
    const struct tide_static_file *file = app_file_of(name);
    (void)context;
    if (!file) {
        tide_reply_problem(reply, 404, "not_found", "The dashboard has no such file.");
        return;
    }
    tide_static_file_send(reply, file);
    tide_static_file_tag(reply, has_hashed_name(file->name) ? name : file->text);
    if (has_hashed_name(file->name))
        reply->cache_control = "public, max-age=31536000, immutable";
}
