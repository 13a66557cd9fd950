/* Static files inside the program: each route that serves one finds the whole file with its type,
 * and the page loads nothing from another host and runs no inline script. */
#include "api/http/static_files.h"
#include "api/routes/route_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

tide_handler_fn tide_route_static_file, tide_route_dashboard, tide_route_app_file;

static void serve_file(struct tide_reply *reply, const struct tide_route *route)
{
    struct tide_handler_context context = { 0 };
    struct tide_request request = { .route = route };
    tide_reply_reset(reply);
    tide_route_static_file(&context, &request, reply);
}

/* Returns the index of the first files that have no route of that name: pages of KYC, which the
 * program assembles (test_kyc_page), and one that stands for a dashboard that was not built. */
static uint32_t made_up_from(void)
{
    static const char *const pages[] = { "/kyc", "/kyc/sandbox", "/kyc_text.json", "/unbuilt" };
    for (size_t i = 0; i < TIDE_COUNT(pages); i++)
        assert_non_null(tide_static_file_of(pages[i]));
    return TIDE_COUNT(pages);
}

static void each_route_has_its_document(void **state)
{
    (void)state;
    size_t count = tide_route_table.count, found = 0;
    const struct tide_route *routes = tide_route_table.routes;
    struct tide_reply reply;
    tide_reply_init(&reply);
    for (size_t i = 0; i < count; i++) {
        if (routes[i].handle != tide_route_static_file)
            continue;
        const struct tide_static_file *document = tide_static_file_of(routes[i].path);
        if (!document) {
            fail_msg("%s has no document", routes[i].path);
            return;
        }
        serve_file(&reply, &routes[i]);
        assert_int_equal(reply.status, 200);
        assert_ptr_equal(reply.fixed.ptr, document->text.ptr); /* not copied */
        assert_int_equal(reply.fixed.len, document->text.len);
        assert_true(document->text.len > 100);
        if (!reply.content_type)
            fail_msg("%s has no type", routes[i].path);
        assert_non_null(strstr(reply.security_policy, "default-src 'none'"));
        assert_null(strstr(reply.security_policy, "unsafe"));
        found++;
    }
    assert_int_equal(found + made_up_from(), tide_static_file_count);
    tide_reply_release(&reply);
}

static void only_whole_names_are_found(void **state)
{
    (void)state;
    static const char *const none[] = { "/kyc/kyc.css2", "/docs",       "/kyc/", "",
                                        "/api",          "openapi.json" };
    for (size_t i = 0; i < TIDE_COUNT(none); i++)
        assert_null(tide_static_file_of(none[i]));
    assert_string_equal(tide_static_file_of("/kyc")->name, "kyc.html");
    assert_string_equal(tide_static_file_of("/kyc/kyc.js")->name, "kyc.js");
}

static void each_page_of_the_dashboard_is_one_document(void **state)
{
    (void)state;
    uint32_t found = 0;
    struct tide_reply reply, first;
    tide_reply_init(&reply);
    tide_reply_init(&first);
    for (size_t i = 0; i < tide_route_table.count; i++) {
        const struct tide_route *route = &tide_route_table.routes[i];
        if (route->handle != tide_route_dashboard || strcmp(route->path, "/docs") == 0)
            continue;
        struct tide_handler_context context = { 0 };
        struct tide_request request = { .route = route };
        tide_reply_reset(&reply);
        tide_route_dashboard(&context, &request, found ? &reply : &first);
        if (found++)
            assert_ptr_equal(reply.fixed.ptr, first.fixed.ptr);
    }
    assert_int_equal(found, 17);
    assert_string_equal(first.content_type, "text/html; charset=utf-8");
    assert_non_null(strstr(first.security_policy, "require-trusted-types-for"));
    tide_reply_release(&first);
    tide_reply_release(&reply);
}

static void ask_file(struct tide_reply *reply, const char *name)
{
    struct tide_handler_context context = { 0 };
    struct tide_request request = { .param_count = 1 };
    request.params[0] = (struct tide_param_value){ .id = TIDE_PARAM_file,
                                                   .given = true,
                                                   .text = tide_slice_str(name) };
    tide_reply_reset(reply);
    tide_route_app_file(&context, &request, reply);
}

/* With and without a built dashboard, the icon exists. */
static void files_of_the_dashboard_are_found_by_name(void **state)
{
    (void)state;
    static const char *const none[] = { "", "..", "icon.svg2", "../web/icon.svg", "icon" };
    struct tide_reply reply;
    tide_reply_init(&reply);
    for (size_t i = 0; i < TIDE_COUNT(none); i++) {
        ask_file(&reply, none[i]);
        assert_int_equal(reply.status, 404);
    }
    for (size_t i = 0; i < tide_app_file_count; i++) {
        const struct tide_static_file *file = &tide_app_files[i];
        ask_file(&reply, file->name);
        assert_int_equal(reply.status, 200);
        assert_ptr_equal(reply.fixed.ptr, file->text.ptr);
        if (!reply.content_type)
            fail_msg("%s has no type", file->name);
        assert_true(reply.has_etag);
        assert_memory_equal(reply.encoded[TIDE_ENCODING_GZIP].ptr, "\x1f\x8b\x08", 3);
        assert_memory_equal(reply.encoded[TIDE_ENCODING_GZIP].ptr + 4, "\0\0\0\0", 4); /* no time */
        assert_memory_equal(reply.encoded[TIDE_ENCODING_ZSTD].ptr, "\x28\xb5\x2f\xfd", 4);
        /* A file whose name holds no hash may change, so clients must revalidate it. */
        assert_int_equal(reply.cache_control != NULL, strchr(file->name, '-') != NULL);
    }
    ask_file(&reply, "icon.svg");
    assert_string_equal(reply.content_type, "image/svg+xml");
    tide_reply_release(&reply);
}

static bool holds(tide_slice text, const char *part)
{
    return memmem(text.ptr, text.len, part, strlen(part)) != NULL;
}

static void the_page_is_of_local_files_alone(void **state)
{
    (void)state;
    static const char *const banned[] = { "http://",   "https://", "innerHTML", "eval(",
                                          "<script>",  "onclick",  "style=",    "document.write",
                                          "outerHTML", "@import" };
    for (size_t i = 0; i < tide_static_file_count; i++) {
        const struct tide_static_file *d = &tide_static_files[i];
        if (strcmp(d->name, "openapi.json") == 0)
            continue;
        for (size_t k = 0; k < TIDE_COUNT(banned); k++)
            if (holds(d->text, banned[k]) && !holds(d->text, "http://www.w3.org/2000/svg"))
                fail_msg("%s: %s", d->name, banned[k]);
    }
}

int test_document(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_route_has_its_document),
        cmocka_unit_test(only_whole_names_are_found),
        cmocka_unit_test(each_page_of_the_dashboard_is_one_document),
        cmocka_unit_test(files_of_the_dashboard_are_found_by_name),
        cmocka_unit_test(the_page_is_of_local_files_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
