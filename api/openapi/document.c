/* The OpenAPI document: answers, routes, components, and the document around them. */
#include "api/openapi/document.h"
#include "api/openapi/example.h"
#include "api/openapi/operation.h"
#include "api/openapi/params.h"
#include "api/openapi/schema.h"

static const struct openapi_at common_api = { "api/openapi/common.api", 0 };

#include <ctype.h>

/* --- answers ---------------------------------------------------------------------------- */

static void put_header(struct tide_json *j, const struct openapi_texts *texts, const char *name)
{
    size_t i = 0;
    while (i < texts->header_count && !tide_slice_eq_str(texts->headers[i].name, name))
        i++;
    if (i == texts->header_count)
        openapi_fail(common_api, "there is no header: line for %s", name);
    tide_json_name(j, name);
    tide_json_open(j, '{');
    openapi_put_ref(j, "headers", tide_slice_str(name));
    tide_json_close(j, '}');
}

/* Writes headers from a list of names separated by spaces. */
static void put_named_headers(struct tide_json *j, const struct openapi_texts *texts,
                              tide_slice names)
{
    while (names.len) {
        char name[64];
        tide_slice next = openapi_take(&names, " ");
        assert(next.len < sizeof name);
        snprintf(name, sizeof name, "%.*s", TIDE_SLICE_FMT(next));
        put_header(j, texts, name);
    }
}

/* Writes the header ETag of a route with receipts: only its JSON answer has a tag. */
static void put_json_etag(struct tide_json *j)
{
    tide_json_name(j, "ETag");
    tide_json_open(j, '{');
    openapi_put_text(j, "description", "of the JSON answer; a receipt has none");
    tide_json_bool(j, "required", false);
    tide_json_name(j, "schema");
    tide_json_open(j, '{');
    openapi_put_text(j, "type", "string");
    tide_json_close(j, '}');
    tide_json_close(j, '}');
}

/* Writes the headers of a success, as they follow from the route's kind. */
static void put_success_headers(struct tide_json *j, const struct openapi_texts *texts,
                                const struct openapi_operation *operation,
                                const struct openapi_route *text)
{
    tide_json_name(j, "headers");
    tide_json_open(j, '{');
    put_header(j, texts, "Request-Id");
    put_header(j, texts, "Cache-Control");
    if (openapi_names_ledger(operation)) {
        put_header(j, texts, "Ledger-Sequence");
        put_header(j, texts, "Ledger-Closed-At");
        put_header(j, texts, "Proven-Through");
        put_header(j, texts, "History-From");
        put_header(j, texts, "Data-Age-Ms");
        put_header(j, texts, "Network");
    }
    if (openapi_has_etag(operation) && openapi_form_of(operation))
        put_json_etag(j);
    else if (openapi_has_etag(operation))
        put_header(j, texts, "ETag");
    if (openapi_is_limited(operation)) {
        put_header(j, texts, "RateLimit");
        put_header(j, texts, "RateLimit-Policy");
    }
    if (openapi_is_public(operation))
        put_header(j, texts, "Access-Control-Allow-Origin");
    if (operation->kind == OPENAPI_KYC || openapi_is_encoded(operation))
        put_header(j, texts, "Vary");
    if (openapi_is_encoded(operation))
        put_header(j, texts, "Content-Encoding");
    put_named_headers(j, texts, text->more_headers);
    tide_json_close(j, '}');
}

static struct openapi_response *response_named(struct openapi_texts *texts, tide_slice name)
{
    for (size_t i = 0; i < texts->response_count; i++)
        if (tide_slice_eq(texts->responses[i].name, name))
            return &texts->responses[i];
    return NULL;
}

static void put_response_headers(struct tide_json *j, const struct openapi_texts *texts,
                                 const struct openapi_response *response)
{
    tide_json_name(j, "headers");
    tide_json_open(j, '{');
    put_named_headers(j, texts, response->headers);
    tide_json_close(j, '}');
}

/* Writes "application/json": {"schema": …, "examples": …}. schema NULL: an object of any kind. */
static void put_media(struct tide_json *j, struct openapi_texts *texts, const char *media,
                      const struct openapi_schema *schema, bool example)
{
    const struct openapi_operation *operation =
        schema ? openapi_operation_of(schema->answer_of) : NULL;
    tide_json_name(j, media);
    tide_json_open(j, '{');
    tide_json_name(j, "schema");
    openapi_put_type(j, texts, schema ? schema->name : TIDE_SLICE("object"), (tide_slice){ 0 },
                     schema ? schema->at : openapi_route_def);
    if (schema && example)
        openapi_put_examples(j, texts, schema, operation && openapi_names_ledger(operation),
                             operation && openapi_has_pages(operation));
    tide_json_close(j, '}');
}

/* items: the schema of each message of a stream; empty: no stream. OpenAPI has a keyword of its own
 * for it from 3.2 on. */
static void put_string_media(struct tide_json *j, struct openapi_texts *texts, tide_slice media,
                             tide_slice items)
{
    char name[64];
    assert(media.len < sizeof name);
    snprintf(name, sizeof name, "%.*s", TIDE_SLICE_FMT(media));
    tide_json_name(j, name);
    tide_json_open(j, '{');
    tide_json_name(j, "schema");
    tide_json_open(j, '{');
    openapi_put_text(j, "type", "string");
    if (items.len) {
        tide_json_text(j, "contentMediaType", media);
        tide_json_name(j, "contentSchema");
        openapi_put_type(j, texts, items, (tide_slice){ 0 }, openapi_route_def);
    }
    tide_json_close(j, '}');
    tide_json_close(j, '}');
}

static void put_answer_content(struct tide_json *j, struct openapi_texts *texts,
                               const struct openapi_operation *operation,
                               const struct openapi_route *text,
                               const struct openapi_answer *answer)
{
    if (tide_slice_eq_str(answer->what, "none"))
        return;
    tide_json_name(j, "content");
    tide_json_open(j, '{');
    if (memchr(answer->what.ptr, '/', answer->what.len)) {
        put_string_media(j, texts, answer->what, answer->items);
    } else {
        struct openapi_schema *schema = openapi_schema_named(texts, answer->what);
        if (!schema)
            openapi_fail(text->at, "there is no schema %.*s", TIDE_SLICE_FMT(answer->what));
        put_media(j, texts, "application/json", schema, answer->status < 400);
    }
    const struct openapi_form *form = openapi_form_of(operation);
    if (form && answer->status == 200)
        put_string_media(j, texts, tide_slice_str(form->media_type), (tide_slice){ 0 });
    tide_json_close(j, '}');
}

/* Writes an answer that the route's texts define. Its headers are those of a success, or those
 * of the common response with that status. */
static void put_own_answer(struct tide_json *j, struct openapi_texts *texts,
                           const struct openapi_operation *operation,
                           const struct openapi_route *text, const struct openapi_answer *answer)
{
    char status[8];
    snprintf(status, sizeof status, "%u", answer->status);
    const struct openapi_response *error = response_named(texts, tide_slice_str(status));
    tide_json_name(j, status);
    tide_json_open(j, '{');
    tide_json_text(j, "description", answer->text.len ? answer->text : TIDE_SLICE("the answer"));
    put_answer_content(j, texts, operation, text, answer);
    if (error)
        put_response_headers(j, texts, error);
    else
        put_success_headers(j, texts, operation, text);
    tide_json_close(j, '}');
}

/* Writes a reference to the common response with that status; pages have responses of their own. */
static void put_common_answer(struct tide_json *j, struct openapi_texts *texts,
                              const struct openapi_operation *operation, const char *status)
{
    char page[24];
    snprintf(page, sizeof page, "page.%s", status);
    assert(strlen(page) == sizeof "page." - 1 + strlen(status));
    struct openapi_response *response =
        openapi_is_page(operation) ? response_named(texts, tide_slice_str(page)) : NULL;
    if (!response)
        response = response_named(texts, tide_slice_str(status));
    if (!response)
        openapi_fail(common_api, "there is no response %s, which %s gives", status, operation->id);
    response->used = true;
    tide_json_name(j, status);
    tide_json_open(j, '{');
    openapi_put_ref(j, "responses", response->name);
    tide_json_close(j, '}');
}

static const struct openapi_answer *own_answer(const struct openapi_route *text, unsigned status)
{
    for (size_t i = 0; i < text->answer_count; i++)
        if (text->answers[i].status == status)
            return &text->answers[i];
    return NULL;
}

/* Writes all answers of a route in order of status: its own ones, and the common ones that it
 * can give. */
static void put_answers(struct tide_json *j, struct openapi_texts *texts,
                        const struct openapi_operation *operation, const struct openapi_route *text)
{
    tide_json_name(j, "responses");
    tide_json_open(j, '{');
    for (unsigned status = 200; status < 600; status++) {
        const struct openapi_answer *answer = own_answer(text, status);
        char word[8];
        snprintf(word, sizeof word, "%u", status);
        if (answer)
            put_own_answer(j, texts, operation, text, answer);
        else if (openapi_gives(texts, operation, text, status))
            put_common_answer(j, texts, operation, word);
    }
    put_common_answer(j, texts, operation, "default");
    tide_json_close(j, '}');
}

/* --- routes ----------------------------------------------------------------------------- */

/* Writes the request's body. Texts and route.def must agree whether there is one. */
static void put_body(struct tide_json *j, struct openapi_texts *texts,
                     const struct openapi_operation *operation, const struct openapi_route *text)
{
    char media[64];
    if ((text->body.len > 0) != (operation->body_max > 0))
        openapi_fail(text->at, "route.def gives %s a body of %u bytes, but its texts do not match",
                     operation->id, operation->body_max);
    if (text->body.len == 0)
        return;
    struct openapi_schema *schema = openapi_schema_named(texts, text->body);
    if (!schema && !tide_slice_eq_str(text->body, "object"))
        openapi_fail(text->at, "there is no schema %.*s", TIDE_SLICE_FMT(text->body));
    assert(text->body_media.len < sizeof media);
    snprintf(media, sizeof media, "%.*s", TIDE_SLICE_FMT(text->body_media));
    tide_json_name(j, "requestBody");
    tide_json_open(j, '{');
    tide_json_bool(j, "required", true);
    if (text->body_text.len)
        tide_json_text(j, "description", text->body_text);
    tide_json_name(j, "content");
    tide_json_open(j, '{');
    put_media(j, texts, media, schema, true);
    tide_json_close(j, '}');
    tide_json_number(j, "x-max-bytes", operation->body_max);
    tide_json_close(j, '}');
}

static void put_tag(struct tide_json *j, struct openapi_texts *texts,
                    const struct openapi_route *text)
{
    size_t i = 0;
    while (i < texts->group_count && !tide_slice_eq(texts->groups[i].name, text->tag))
        i++;
    if (i == texts->group_count)
        openapi_fail(text->at, "common.api has no group \"%.*s\"", TIDE_SLICE_FMT(text->tag));
    texts->groups[i].used = true;
    tide_json_name(j, "tags");
    tide_json_open(j, '[');
    tide_json_plain(j, text->tag);
    tide_json_close(j, ']');
}

static void check_route(const struct openapi_operation *operation, const struct openapi_route *text)
{
    if (text->tag.len == 0 || text->summary.len == 0 || text->about.len == 0 ||
        text->answer_count == 0)
        openapi_fail(text->at, "route %s needs tag:, summary:, about: and answer:", operation->id);
    if (text->from.len == 0 && !openapi_from(operation))
        openapi_fail(text->at, "route %s needs from:, what it is answered from", operation->id);
}

static void put_route(struct tide_json *j, struct openapi_texts *texts,
                      const struct openapi_operation *operation, struct openapi_route *text)
{
    char method[16] = "";
    assert(strlen(operation->method) < sizeof method);
    for (size_t i = 0; operation->method[i]; i++)
        method[i] = (char)tolower((unsigned char)operation->method[i]);
    check_route(operation, text);
    text->known = true;
    tide_json_name(j, method);
    tide_json_open(j, '{');
    openapi_put_text(j, "operationId", operation->id);
    put_tag(j, texts, text);
    tide_json_text(j, "summary", text->summary);
    tide_json_text(j, "description", text->about);
    tide_json_text(j, "x-from",
                   text->from.len ? text->from : tide_slice_str(openapi_from(operation)));
    tide_json_number(j, "x-cost", operation->cost);
    const struct openapi_form *form = openapi_form_of(operation);
    if (form)
        tide_json_number(j, "x-cost-receipt", operation->cost + form->cost);
    openapi_put_route_params(j, texts, operation, text);
    put_body(j, texts, operation, text);
    put_answers(j, texts, operation, text);
    tide_json_close(j, '}');
}

static struct openapi_route *texts_of(struct openapi_texts *texts,
                                      const struct openapi_operation *operation)
{
    struct openapi_route *text = openapi_route_named(texts, tide_slice_str(operation->id));
    if (!text)
        openapi_fail(openapi_route_def,
                     "route %s has no texts: write them into the head of"
                     " api/sql/queries/*/%s.sql, or into the .api file beside its handler",
                     operation->id, operation->id);
    return text;
}

/* Writes a path with the routes of all its methods, once, at its first route in route.def. */
static void put_path(struct tide_json *j, struct openapi_texts *texts,
                     const struct openapi_operation *all, size_t count, size_t first)
{
    assert(first < count);
    for (size_t i = 0; i < first; i++)
        if (strcmp(all[i].path, all[first].path) == 0)
            return;
    tide_json_name(j, all[first].path);
    tide_json_open(j, '{');
    for (size_t i = first; i < count; i++)
        if (strcmp(all[i].path, all[first].path) == 0)
            put_route(j, texts, &all[i], texts_of(texts, &all[i]));
    tide_json_close(j, '}');
    tide_buf_u8(j->buf, '\n');
}

static void put_paths(struct tide_json *j, struct openapi_texts *texts)
{
    size_t count;
    const struct openapi_operation *all = openapi_operations(&count);
    tide_json_name(j, "paths");
    tide_json_open(j, '{');
    for (size_t i = 0; i < count; i++)
        put_path(j, texts, all, count, i);
    tide_json_close(j, '}');
    for (size_t i = 0; i < texts->route_count; i++)
        if (!texts->routes[i].known && !texts->routes[i].webhook)
            openapi_fail(texts->routes[i].at, "route.def has no route %.*s",
                         TIDE_SLICE_FMT(texts->routes[i].id));
}

/* --- notifications ----------------------------------------------------------------------- */

/* The headers of the Standard Webhooks specification, which each notification has. */
static const struct {
    const char *name, *text, *pattern;
} webhook_headers[] = {
    { "webhook-id",
      "the same however often it comes, and whatever was restored: keep the ids that you handled",
      "^evt_[0-9a-f]{32}$" },
    { "webhook-timestamp", "unix seconds of this attempt", "^[0-9]{1,12}$" },
    { "webhook-signature", "HMAC-SHA256 of id, timestamp and body with each secret in use",
      "^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)*$" },
};

static void put_webhook_headers(struct tide_json *j)
{
    tide_json_name(j, "parameters");
    tide_json_open(j, '[');
    for (size_t i = 0; i < TIDE_COUNT(webhook_headers); i++) {
        tide_json_open(j, '{');
        openapi_put_text(j, "name", webhook_headers[i].name);
        openapi_put_text(j, "in", "header");
        tide_json_bool(j, "required", true);
        openapi_put_text(j, "description", webhook_headers[i].text);
        tide_json_name(j, "schema");
        tide_json_open(j, '{');
        openapi_put_text(j, "type", "string");
        openapi_put_text(j, "pattern", webhook_headers[i].pattern);
        tide_json_close(j, '}');
        tide_json_close(j, '}');
    }
    tide_json_close(j, ']');
}

static void put_webhook_answers(struct tide_json *j)
{
    static const struct {
        const char *status, *text;
    } answers[] = { { "2XX", "taken" },
                    { "410", "disable this webhook" },
                    { "default", "send it again later" } };
    tide_json_name(j, "responses");
    tide_json_open(j, '{');
    for (size_t i = 0; i < TIDE_COUNT(answers); i++) {
        tide_json_name(j, answers[i].status);
        tide_json_open(j, '{');
        openapi_put_text(j, "description", answers[i].text);
        tide_json_close(j, '}');
    }
    tide_json_close(j, '}');
}

static void put_webhook(struct tide_json *j, struct openapi_texts *texts,
                        const struct openapi_route *text)
{
    char name[64], id[80];
    struct openapi_schema *schema = openapi_schema_named(texts, text->body);
    if (text->tag.len == 0 || text->summary.len == 0 || !schema)
        openapi_fail(text->at, "a notification needs tag:, summary: and the schema of its body:");
    assert(text->webhook && text->id.len < sizeof name);
    snprintf(name, sizeof name, "%.*s", TIDE_SLICE_FMT(text->id));
    snprintf(id, sizeof id, "on_%s", name);
    for (char *at = id; *at; at++)
        *at = *at == '.' ? '_' : *at;
    tide_json_name(j, name);
    tide_json_open(j, '{');
    tide_json_name(j, "post");
    tide_json_open(j, '{');
    openapi_put_text(j, "operationId", id);
    put_tag(j, texts, text);
    tide_json_text(j, "summary", text->summary);
    tide_json_text(j, "description", text->about.len ? text->about : text->summary);
    put_webhook_headers(j);
    tide_json_name(j, "requestBody");
    tide_json_open(j, '{');
    tide_json_bool(j, "required", true);
    tide_json_name(j, "content");
    tide_json_open(j, '{');
    put_media(j, texts, "application/json", schema, true);
    tide_json_close(j, '}');
    tide_json_close(j, '}');
    put_webhook_answers(j);
    tide_json_close(j, '}');
    tide_json_close(j, '}');
}

static void put_webhooks(struct tide_json *j, struct openapi_texts *texts)
{
    tide_json_name(j, "webhooks");
    tide_json_open(j, '{');
    for (size_t i = 0; i < texts->route_count; i++)
        if (texts->routes[i].webhook)
            put_webhook(j, texts, &texts->routes[i]);
    tide_json_close(j, '}');
    tide_buf_u8(j->buf, '\n');
}

/* --- components ------------------------------------------------------------------------- */

static void put_headers(struct tide_json *j, struct openapi_texts *texts)
{
    tide_json_name(j, "headers");
    tide_json_open(j, '{');
    for (size_t i = 0; i < texts->header_count; i++) {
        const struct openapi_header *header = &texts->headers[i];
        char name[64];
        assert(header->name.len < sizeof name);
        snprintf(name, sizeof name, "%.*s", TIDE_SLICE_FMT(header->name));
        tide_json_name(j, name);
        tide_json_open(j, '{');
        tide_json_text(j, "description", header->text);
        tide_json_bool(j, "required", !header->optional);
        tide_json_name(j, "schema");
        openapi_put_type(j, texts, header->type, (tide_slice){ 0 }, header->at);
        tide_json_close(j, '}');
    }
    tide_json_close(j, '}');
}

static void put_codes(struct tide_json *j, tide_slice codes)
{
    tide_json_name(j, "x-codes");
    tide_json_open(j, '[');
    while (codes.len)
        tide_json_plain(j, openapi_take(&codes, " "));
    tide_json_close(j, ']');
}

/* Writes a common response. "page.404" is a page, or a problem with the codes of 404. */
static void put_response(struct tide_json *j, struct openapi_texts *texts,
                         const struct openapi_response *response)
{
    tide_slice status = response->name;
    bool page = tide_slice_eq_str(openapi_take(&status, "page."), "");
    const struct openapi_response *of = page ? response_named(texts, status) : response;
    if (!of)
        openapi_fail(common_api, "there is no response %.*s", TIDE_SLICE_FMT(status));
    tide_json_text(j, "description", response->text);
    if (of->codes.len)
        put_codes(j, of->codes);
    put_response_headers(j, texts, response);
    if (of->codes.len == 0)
        return;
    tide_json_name(j, "content");
    tide_json_open(j, '{');
    if (page)
        put_string_media(j, texts, TIDE_SLICE("text/html"), (tide_slice){ 0 });
    put_media(j, texts, "application/problem+json",
              openapi_schema_named(texts, TIDE_SLICE("Problem")), false);
    tide_json_close(j, '}');
}

static void put_responses(struct tide_json *j, struct openapi_texts *texts)
{
    tide_json_name(j, "responses");
    tide_json_open(j, '{');
    for (size_t i = 0; i < texts->response_count; i++) {
        char name[24];
        assert(texts->responses[i].name.len < sizeof name);
        snprintf(name, sizeof name, "%.*s", TIDE_SLICE_FMT(texts->responses[i].name));
        tide_json_name(j, name);
        tide_json_open(j, '{');
        put_response(j, texts, &texts->responses[i]);
        tide_json_close(j, '}');
        if (!texts->responses[i].used)
            openapi_fail(common_api, "no route gives the response %s", name);
    }
    tide_json_close(j, '}');
}

/* Writes the schemas that are referenced and not written yet. Returns whether there were any: they
 * may refer to others. */
static bool put_named_schemas(struct tide_json *j, struct openapi_texts *texts)
{
    bool more = false;
    for (size_t i = 0; i < texts->schema_count; i++) {
        struct openapi_schema *schema = &texts->schemas[i];
        const struct openapi_operation *operation = openapi_operation_of(schema->answer_of);
        if (!schema->used || schema->written)
            continue;
        openapi_put_schema(j, texts, schema, operation && openapi_names_ledger(operation),
                           operation && openapi_has_pages(operation));
        tide_buf_u8(j->buf, '\n');
        more = true;
    }
    return more;
}

/* Writes the schemas until none is missing, and ends the program if one is never used. */
static void put_schemas(struct tide_json *j, struct openapi_texts *texts)
{
    tide_json_name(j, "schemas");
    tide_json_open(j, '{');
    while (put_named_schemas(j, texts))
        ;
    tide_json_close(j, '}');
    for (size_t i = 0; i < texts->schema_count; i++)
        if (!texts->schemas[i].used && !texts->schemas[i].included)
            openapi_fail(texts->schemas[i].at, "nothing uses the schema %.*s",
                         TIDE_SLICE_FMT(texts->schemas[i].name));
}

static void put_components(struct tide_json *j, struct openapi_texts *texts)
{
    tide_json_name(j, "components");
    tide_json_open(j, '{');
    openapi_put_params(j);
    put_headers(j, texts);
    put_responses(j, texts);
    put_schemas(j, texts);
    tide_json_close(j, '}');
}

/* --- the document ----------------------------------------------------------------------- */

static void put_info(struct tide_json *j, const struct openapi_texts *texts)
{
    tide_json_name(j, "info");
    tide_json_open(j, '{');
    tide_json_text(j, "title", texts->title);
    openapi_put_text(j, "version", TIDE_VERSION);
    tide_json_text(j, "description", texts->about);
    tide_json_name(j, "contact");
    tide_json_open(j, '{');
    openapi_put_text(j, "name", "the operator of this server");
    tide_json_close(j, '}');
    tide_json_name(j, "license");
    tide_json_open(j, '{');
    openapi_put_text(j, "name", "MIT");
    openapi_put_text(j, "identifier", "MIT");
    tide_json_close(j, '}');
    tide_json_close(j, '}');
}

static void put_servers(struct tide_json *j)
{
    tide_json_name(j, "servers");
    tide_json_open(j, '[');
    tide_json_open(j, '{');
    openapi_put_text(j, "url", "/");
    openapi_put_text(j, "description", "this one");
    tide_json_close(j, '}');
    tide_json_close(j, ']');
    tide_json_name(j, "security");
    tide_json_open(j, '[');
    tide_json_close(j, ']');
}

static void put_groups(struct tide_json *j, const struct openapi_texts *texts)
{
    tide_json_name(j, "tags");
    tide_json_open(j, '[');
    for (size_t i = 0; i < texts->group_count; i++) {
        tide_json_open(j, '{');
        tide_json_text(j, "name", texts->groups[i].name);
        tide_json_text(j, "description", texts->groups[i].text);
        tide_json_close(j, '}');
    }
    tide_json_close(j, ']');
}

static void check_groups(const struct openapi_texts *texts)
{
    for (size_t i = 0; i < texts->group_count; i++)
        if (!texts->groups[i].used)
            openapi_fail(common_api, "no route is of the group %.*s",
                         TIDE_SLICE_FMT(texts->groups[i].name));
}

void openapi_document(struct tide_buf *out, struct openapi_texts *texts)
{
    struct tide_json j = { .buf = out };
    tide_json_open(&j, '{');
    openapi_put_text(&j, "openapi", "3.1.0");
    put_info(&j, texts);
    put_servers(&j);
    put_groups(&j, texts);
    put_paths(&j, texts);
    put_webhooks(&j, texts);
    put_components(&j, texts);
    tide_json_close(&j, '}');
    tide_buf_u8(out, '\n');
    check_groups(texts);
}
