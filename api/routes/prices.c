/* GET /api/prices, /api/prices/{asset} and /api/pools/{pool}/quote. */
#include "api/routes/handlers.h"
#include "api/routes/receipts.h"
#include "tidemark/text.h"

enum { PRICES_PAGE = 1000 };

void tide_tell_refusal(struct tide_reply *reply, enum tide_refusal refusal)
{
    assert(refusal != TIDE_REFUSED_NOTHING);
    bool absent = refusal == TIDE_REFUSED_NO_POOL || refusal == TIDE_REFUSED_NO_FEED ||
                  refusal == TIDE_REFUSED_NO_MARKET;
    tide_reply_problem(reply, absent ? 404 : 409, tide_refusal_code(refusal),
                       absent ? "No object has that name: %s."
                              : "The contract would return an error: %s.",
                       tide_refusal_text(refusal));
}

/* --- feeds ------------------------------------------------------------------------------ */

/* Adds an age as a header: in the body, each second would change the answer's ETag. */
static void add_age(struct tide_reply *reply, const char *name, uint64_t now, uint64_t then)
{
    char text[24];
    static_assert(sizeof text > 20, "any 64 bits and a NUL");
    text[tide_u64_text(text, now > then ? now - then : 0)] = 0;
    tide_reply_header(reply, name, text);
}

struct listing {
    struct tide_reader *reader;
    struct tide_json *json;
    struct tide_reader_page page;
    struct tide_hot_symbol after; /* page.after as a symbol */
    struct tide_hot_symbol last;  /* the page's last symbol */
    uint32_t count;
    bool more;
};

/* Reads the cursor. Returns false if it is of another request. */
static bool read_page(struct listing *l, const struct tide_request *request)
{
    return tide_reader_page_read(&l->page, l->reader, request) &&
           tide_hot_symbol_of(&l->after, tide_slice_str(l->page.after));
}

/* Writes a feed of the page. Returns false when the page is full, which ends the scan. */
static bool put_price(void *self, tide_slice key, const void *record)
{
    struct listing *l = self;
    struct tide_hot_symbol asset;
    memcpy(&asset, key.ptr + 1, sizeof asset);
    if (*l->page.after && !l->reader->past && memcmp(&asset, &l->after, sizeof asset) <= 0)
        return true;
    l->more = l->count == PRICES_PAGE;
    if (l->more)
        return false;
    assert(l->count < PRICES_PAGE);
    l->count++;
    l->last = asset;
    tide_json_open(l->json, '{');
    tide_record_json_symbol(l->json, "asset", &asset);
    tide_answer_feed(l->json, record, l->reader->now);
    tide_json_close(l->json, '}');
    return true;
}

void tide_route_prices(struct tide_handler_context *context, const struct tide_request *request,
                       struct tide_reply *reply)
{
    struct tide_reader reader;
    struct tide_hot_key feeds = tide_hot_key(TIDE_HOT_FEED);
    if (!tide_reader_open_proven(&reader, context, request, reply))
        return;
    struct listing list = { .reader = &reader };
    if (read_page(&list, request)) {
        struct tide_json j = tide_reader_answer(&reader, reply);
        struct tide_hot_symbol end;
        bool more = tide_reader_expect_feeds(&reader, list.page.after, PRICES_PAGE, &end);
        list.json = &j;
        tide_answer_agrees(&j, &reader);
        tide_json_name(&j, "items");
        tide_json_open(&j, '[');
        tide_reader_scan(&reader, &feeds, put_price, &list);
        tide_json_close(&j, ']');
        if (more && !list.more)
            list.last = end;
        list.more |= more;
        tide_reader_page_next(&j, &list.page,
                              list.more ? tide_hot_symbol_slice(&list.last) : tide_slice_str(""));
        tide_json_close(&j, '}');
    } else {
        tide_cursor_refuse(reply);
    }
    tide_reader_close(&reader, reply);
}

void tide_route_price(struct tide_handler_context *context, const struct tide_request *request,
                      struct tide_reply *reply)
{
    const struct tide_param_value *asset = tide_request_param(request, TIDE_PARAM_asset);
    struct tide_hot_key key = tide_hot_key_symbol(TIDE_HOT_FEED, &asset->symbol);
    struct tide_receipt_making making;
    struct tide_reader reader;
    if (!tide_receipt_begin(&making, TIDE_RECEIPT_PRICE, context, request, reply) ||
        !tide_reader_open_proven(&reader, context, request, reply))
        return;
    const struct tide_hot_feed *feed = tide_reader_get(&reader, &key);
    if (feed) {
        struct tide_json j = tide_reader_answer(&reader, reply);
        uint64_t until = tide_answer_price(&j, &reader, &asset->symbol, feed);
        tide_json_close(&j, '}');
        tide_receipt_take(&making, &reader, until);
        add_age(reply, "Price-Age-Seconds", reader.now, feed->latest_ts);
        add_age(reply, "Twap-Age-Seconds", reader.now, feed->twap_ts);
    } else {
        tide_tell_refusal(reply, TIDE_REFUSED_NO_FEED);
    }
    tide_reader_close(&reader, reply);
    tide_receipt_seal(&making, context, request, reply);
}

/* --- quote -------------------------------------------------------------------------------- */

/* The quote is computed by the rule of the contract, at the reserves of the answer's ledger. */
void tide_route_quote(struct tide_handler_context *context, const struct tide_request *request,
                      struct tide_reply *reply)
{
    const struct tide_param_value *id = tide_request_param(request, TIDE_PARAM_pool);
    const struct tide_param_value *amount = tide_request_param(request, TIDE_PARAM_amountIn);
    bool a_to_b = tide_request_param(request, TIDE_PARAM_direction)->number == 0;
    struct tide_receipt_making making;
    struct tide_quote quote;
    struct tide_reader reader;
    if (!tide_receipt_begin(&making, TIDE_RECEIPT_QUOTE, context, request, reply) ||
        !tide_reader_open_proven(&reader, context, request, reply))
        return;
    enum tide_refusal why =
        tide_answer_find_quote(&quote, &reader, &id->symbol, amount->amount.raw, a_to_b);
    if (why == TIDE_REFUSED_NOTHING) {
        struct tide_json j = tide_reader_answer(&reader, reply);
        tide_answer_quote(&j, &reader, &quote);
        tide_json_close(&j, '}');
        tide_receipt_take(&making, &reader, 0);
    } else {
        tide_tell_refusal(reply, why);
    }
    tide_reader_close(&reader, reply);
    tide_receipt_seal(&making, context, request, reply);
}
