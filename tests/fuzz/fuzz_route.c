/* A method, a path and a query as the server passes them: method SP path [? query]. An accepted
 * request fits its route. A refusal is JSON that names the reason and repeats no value that could
 * be a secret. */
#include "api/routes/route_table.h"
#include "tests/fuzz/promise.h"
#include "tidemark/text.h"

static void check_request(const struct tide_request *request)
{
    PROMISE(request->route);
    PROMISE(request->param_count <= TIDE_ROUTE_PARAMS_MAX);
    for (uint32_t i = 0; i < request->param_count; i++) {
        const struct tide_param_value *value = &request->params[i];
        char why[TIDE_PARAM_WHY];
        struct tide_param_value again;
        PROMISE(value->text.ptr[value->text.len] == 0);
        PROMISE(tide_utf8_valid(value->text));
        PROMISE(!memchr(value->text.ptr, 0, value->text.len));
        PROMISE(!value->given || tide_param_read(&again, value->id, value->text, why));
        PROMISE(tide_request_param(request, value->id) == value);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char scratch[TIDE_ROUTE_SCRATCH];
    struct tide_request request;
    struct tide_reply reply;
    struct tide_target target = { 0 };
    const uint8_t *blank = size == 0 ? NULL : memchr(data, ' ', size);
    if (!blank)
        return 0;
    target.method = tide_slice_of(data, (size_t)(blank - data));
    target.path = tide_slice_of(blank + 1, size - target.method.len - 1);
    const uint8_t *mark = target.path.len ? memchr(target.path.ptr, '?', target.path.len) : NULL;
    if (mark) {
        target.query = tide_slice_of(mark + 1, (size_t)(data + size - mark - 1));
        target.path.len = (size_t)(mark - target.path.ptr);
    }
    tide_reply_init(&reply);
    if (tide_route_match(&request, &reply, &tide_route_table, &target, scratch)) {
        check_request(&request);
    } else {
        PROMISE(reply.status == 400 || reply.status == 404 || reply.status == 405 ||
                reply.status == 414);
        PROMISE(reply.body.len > 2 && reply.body.ptr[reply.body.len - 1] == '}');
        PROMISE(tide_utf8_valid(tide_buf_view(&reply.body)));
        PROMISE((reply.status == 405) == (reply.allow[0] != 0));
    }
    tide_reply_release(&reply);
    return 0;
}
