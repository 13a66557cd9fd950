/* GET /api/sdk/kyc/status/{address} and POST /api/sdk/kyc/status: may this address trade now?
 * The single request, unless it is signed, allocates nothing and is written in one pass. */
#include "api/http/body.h"
#include "api/http/param.h"
#include "api/routes/handlers.h"
#include "api/routes/receipts.h"

enum {
    ITEM_BYTES = 1024, /* bytes of one standing at most */
    ADDRESSES_MAX = 1000
};

static_assert(ITEM_BYTES * (ADDRESSES_MAX + 1) < TIDE_REPLY_BODY_MAX,
              "a batch fits into an answer");

void tide_route_kyc_status(struct tide_handler_context *context, const struct tide_request *request,
                           struct tide_reply *reply)
{
    const struct tide_param_value *who = tide_request_param(request, TIDE_PARAM_address);
    struct tide_receipt_making making;
    struct tide_reader reader;
    if (!tide_receipt_begin(&making, TIDE_RECEIPT_STATUS, context, request, reply) ||
        !tide_reader_open_proven(&reader, context, request, reply))
        return;
    if (tide_reader_trusted(&reader, context, reply)) {
        (void)tide_buf_room(&reply->body, ITEM_BYTES);
        struct tide_json j = tide_reader_answer(&reader, reply);
        uint64_t until = tide_answer_status(&j, &reader, &who->address, who->text);
        tide_json_close(&j, '}');
        tide_receipt_take(&making, &reader, until);
    }
    tide_reader_close(&reader, reply);
    tide_receipt_seal(&making, context, request, reply);
}

/* --- many ------------------------------------------------------------------------------- */

/* Writes the error of an item. The text that was sent is not repeated: it may be a secret. */
static void put_item_error(struct tide_json *j, const char *why)
{
    tide_json_null(j, "address");
    tide_json_name(j, "error");
    tide_json_open(j, '{');
    tide_json_word(j, "code", "bad_address");
    tide_json_text(j, "detail", tide_slice_str(why));
    tide_json_close(j, '}');
}

static bool read_item(struct tide_param_value *who, const json_t *item, char why[TIDE_PARAM_WHY])
{
    assert(json_is_string(item));
    return tide_param_read(who, TIDE_PARAM_address,
                           tide_slice_of(json_string_value(item), json_string_length(item)), why);
}

/* Writes the standing of one address, or the error of its item. */
static void put_item(struct tide_json *j, struct tide_reader *reader, const json_t *item)
{
    char why[TIDE_PARAM_WHY];
    struct tide_param_value who;
    tide_json_open(j, '{');
    if (read_item(&who, item, why))
        (void)tide_answer_standing(j, reader, &who.address, who.text);
    else
        put_item_error(j, why);
    tide_json_close(j, '}');
}

/* Announces all addresses, so that the past is read in one statement. */
static void expect_all(struct tide_reader *reader, const json_t *list)
{
    struct tide_hot_address all[ADDRESSES_MAX];
    char why[TIDE_PARAM_WHY];
    struct tide_param_value who;
    uint32_t count = 0;
    const json_t *item;
    size_t i;
    json_array_foreach(list, i, item) if (read_item(&who, item, why))
    {
        assert(count < ADDRESSES_MAX); /* addresses_of checked the list */
        all[count++] = who.address;
    }
    tide_reader_expect(reader, all, count);
}

/* Returns whether all items are strings; otherwise the reply is 400. A string that is not an
 * address is only an error of its item. */
static bool check_texts(const json_t *list, struct tide_reply *reply)
{
    char where[32];
    const json_t *item;
    size_t i;
    bool texts = true;
    json_array_foreach(list, i, item)
    {
        if (json_is_string(item))
            continue;
        if (texts)
            tide_reply_problem(reply, 400, "bad_body", "\"addresses\" must be a list of strings.");
        texts = false;
        snprintf(where, sizeof where, "/addresses/%zu", i);
        tide_reply_problem_field(reply, where, "is not a string");
    }
    return texts;
}

/* Returns the list in the body, or NULL with a problem in the reply. */
static const json_t *addresses_of(const json_t *body, struct tide_reply *reply)
{
    const json_t *list = json_object_get(body, "addresses");
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)body, name, value)
    {
        if (strcmp(name, "addresses") == 0)
            continue;
        tide_reply_problem(reply, 400, "bad_body",
                           "The body must have exactly one member, \"addresses\".");
        tide_reply_problem_unknown(reply, name);
        return NULL;
    }
    if (!json_is_array(list) || json_array_size(list) > ADDRESSES_MAX) {
        tide_reply_problem(reply, 400, json_is_array(list) ? "too_many_addresses" : "bad_body",
                           "\"addresses\" must be a list of at most %d addresses.", ADDRESSES_MAX);
        tide_reply_problem_field(reply, "/addresses", "is not such a list");
        return NULL;
    }
    return check_texts(list, reply) ? list : NULL;
}

static void answer_list(struct tide_handler_context *context, const struct tide_request *request,
                        const json_t *list, struct tide_reply *reply)
{
    struct tide_reader reader;
    const json_t *item;
    size_t i;
    assert(json_array_size(list) <= ADDRESSES_MAX);
    if (!tide_reader_open_proven(&reader, context, request, reply))
        return;
    if (tide_reader_trusted(&reader, context, reply)) {
        if (reader.past)
            expect_all(&reader, list);
        (void)tide_buf_room(&reply->body, ITEM_BYTES * (json_array_size(list) + 1));
        struct tide_json j = tide_reader_answer(&reader, reply);
        tide_json_time(&j, "evaluatedAt", reader.now);
        tide_answer_agrees(&j, &reader);
        tide_json_name(&j, "items");
        tide_json_open(&j, '[');
        json_array_foreach(list, i, item) put_item(&j, &reader, item);
        tide_json_close(&j, ']');
        tide_json_null(&j, "next");
        tide_json_close(&j, '}');
    }
    tide_reader_close(&reader, reply);
}

void tide_route_kyc_status_batch(struct tide_handler_context *context,
                                 const struct tide_request *request, struct tide_reply *reply)
{
    json_t *body = tide_body_object(request->body, JSON_ALLOW_NUL, "bad_body", reply);
    const json_t *list = body ? addresses_of(body, reply) : NULL;
    if (list)
        answer_list(context, request, list, reply);
    json_decref(body);
}
