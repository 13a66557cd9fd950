/* GET /api/markets and /api/markets/{symbol}. */
#include "api/routes/handlers.h"
#include "api/routes/pairs.h"

/* A market's pool, and the side of it that is the synth. */
struct side {
    const struct tide_hot_pool *pool;
    struct tide_window window;
    bool a; /* the synth is token A */
    uint32_t decimals, quote_decimals;
};

static bool is_known(const struct side *s)
{
    return s->decimals != TIDE_JSON_UNKNOWN && s->quote_decimals != TIDE_JSON_UNKNOWN;
}

/* Computes the synth's price in whole tokens, or as the contract says it if decimals are not known.
 * Returns false if it is too large. */
static bool shown(tide_raw_i128 *out, const struct side *s, const struct tide_hot_pool *pool)
{
    uint32_t synth = is_known(s) ? s->decimals : 0, quote = is_known(s) ? s->quote_decimals : 0;
    return tide_rule_shown(out, pool, s->a, s->a ? synth : quote, s->a ? quote : synth);
}

static void put_reserves(struct tide_json *j, const struct side *s)
{
    tide_raw_i128 a = tide_hot_i128(s->pool->reserve_a), b = tide_hot_i128(s->pool->reserve_b);
    tide_json_amount(j, "reserveSynth", s->a ? a : b, s->decimals);
    tide_json_amount(j, "reserveQuote", s->a ? b : a, s->quote_decimals);
}

/* Writes the change, and the change in basis points: (now - then) / then of the shown price,
 * truncated. */
static void put_change(struct tide_json *j, const struct side *s)
{
    const struct tide_window *w = &s->window;
    tide_i128 bps = { 0 };
    tide_raw_i128 now = 0, then = 0;
    bool priced = shown(&now, s, s->pool) && shown(&then, s, &w->then);
    tide_json_i128(j, "change24h",
                   s->a ? w->price_now - w->price_then : w->price_b_now - w->price_b_then);
    if (priced && is_known(s))
        tide_json_scaled(j, "change24h", now - then, TIDE_WAD_DECIMALS);
    else
        tide_json_null(j, "change24hScaled");
    if (priced &&
        tide_i128_mul(&bps, (tide_i128){ now - then }, tide_i128_from_i64(10000)) == TIDE_OK &&
        tide_i128_div_trunc(&bps, bps, (tide_i128){ then }) == TIDE_OK)
        tide_json_i128(j, "change24hBps", bps.raw);
    else
        tide_json_null(j, "change24hBps");
}

/* Writes null for the trade of 24 hours, of which the index knows a part. */
static void put_no_trade(struct tide_json *j)
{
    static const char *const absent[] = { "volume24h",       "fees24h",     "volume24hScaled",
                                          "fees24hScaled",   "swaps24h",    "change24h",
                                          "change24hScaled", "change24hBps" };
    for (size_t i = 0; i < TIDE_COUNT(absent); i++)
        tide_json_null(j, absent[i]);
}

static void put_trade(struct tide_json *j, const struct tide_reader *reader, const struct side *s)
{
    const struct tide_window *w = &s->window;
    if (reader->now < reader->meta->history_since + TIDE_HOT_WINDOW_S &&
        reader->meta->history_since) {
        put_no_trade(j);
        return;
    }
    tide_json_amount(j, "volume24h", s->a ? w->traded_b : w->traded_a, s->quote_decimals);
    tide_json_amount(j, "fees24h", s->a ? w->fees_b : w->fees_a, s->quote_decimals);
    tide_json_number(j, "swaps24h", w->swaps);
    if (w->priced) {
        put_change(j, s);
        return;
    }
    tide_json_null(j, "change24h");
    tide_json_null(j, "change24hScaled");
    tide_json_null(j, "change24hBps");
}

/* Writes the market's pool: price, reserves and the trade of the last 24 hours. */
static void put_pool(struct tide_json *j, struct tide_reader *reader, const struct side *s)
{
    tide_record_json_symbol(j, "pool", &s->pool->id);
    tide_answer_spot(j, reader, s->pool, s->a);
    put_reserves(j, s);
    put_trade(j, reader, s);
}

/* Writes null for each member of put_pool: all markets have the same members. */
static void put_no_pool(struct tide_json *j)
{
    static const char *const absent[] = {
        "pool",         "spotPrice",          "spotPriceScaled",    "reserveSynth",
        "reserveQuote", "reserveSynthScaled", "reserveQuoteScaled", "volume24h",
        "fees24h",      "volume24hScaled",    "fees24hScaled",      "swaps24h",
        "change24h",    "change24hScaled",    "change24hBps"
    };
    for (size_t i = 0; i < TIDE_COUNT(absent); i++)
        tide_json_null(j, absent[i]);
}

static void put_oracle(struct tide_json *j, struct tide_reader *reader, const char *name,
                       const struct tide_hot_symbol *asset)
{
    struct tide_hot_key key = tide_hot_key_symbol(TIDE_HOT_FEED, asset);
    tide_json_name(j, name);
    tide_json_open(j, '{');
    tide_record_json_symbol(j, "asset", asset);
    tide_answer_feed(j, tide_reader_get(reader, &key), reader->now);
    tide_json_close(j, '}');
}

enum {
    HELD_MAX = 32, /* tokens of a market's collateral that an answer has */
    PRICE_ONE = 10000000
};

struct held_list {
    struct tide_reader *reader;
    struct tide_json *json;
    const struct tide_pairs *pairs;
    const tide_i128 *price; /* the engine's of collateral; NULL: not fresh */
    uint32_t count;
};

/* Writes an amount, or null where there is none. */
static void put_known(struct tide_json *j, const char *name, bool known, tide_i128 amount,
                      uint32_t decimals)
{
    char scaled[32];
    if (known) {
        tide_json_amount(j, name, amount.raw, decimals);
        return;
    }
    snprintf(scaled, sizeof scaled, "%sScaled", name);
    tide_json_null(j, name);
    tide_json_null(j, scaled);
}

/* Writes what the engine takes collateral for: it prices each token as the market's feed says. */
static void put_engine_value(struct tide_json *j, const char *name, tide_raw_i128 amount,
                             const tide_i128 *price, uint32_t decimals)
{
    tide_i128 value = { amount };
    bool known = price && tide_i128_mul(&value, value, *price) == TIDE_OK &&
                 tide_i128_div_trunc(&value, value, tide_i128_from_i64(PRICE_ONE)) == TIDE_OK;
    put_known(j, name, known, value, decimals);
}

/* Writes what the amount is worth in the quote asset, by the deepest pool: null without one. */
static void put_pool_value(struct held_list *l, const struct tide_hot_address *token,
                           tide_raw_i128 amount)
{
    const struct tide_hot_address *quote = &l->pairs->quote;
    const struct tide_hot_pool *pool = tide_pairs_find(l->pairs, token);
    tide_i128 value = { amount };
    bool known = tide_hot_address_eq(quote, token);
    if (!known && pool) {
        bool a = tide_hot_address_eq(&pool->token_a, token);
        tide_i128 own = { tide_hot_i128(a ? pool->reserve_a : pool->reserve_b) };
        tide_i128 other = { tide_hot_i128(a ? pool->reserve_b : pool->reserve_a) };
        known = tide_i128_mul(&value, value, other) == TIDE_OK &&
                tide_i128_div_trunc(&value, value, own) == TIDE_OK;
    }
    put_known(l->json, "poolValue", known, value, tide_lookup_decimals(l->reader, quote));
}

/* Writes one token. Returns false when there are enough, which ends the scan. */
static bool put_held(void *self, tide_slice key, const void *record)
{
    struct held_list *l = self;
    const struct tide_hot_held *held = record;
    struct tide_hot_address token;
    struct tide_json *j = l->json;
    assert(key.len > sizeof token);
    memcpy(&token, key.ptr + key.len - sizeof token, sizeof token);
    uint32_t decimals = tide_lookup_decimals(l->reader, &token);
    tide_raw_i128 amount = tide_hot_i128(held->collateral);
    tide_json_open(j, '{');
    tide_record_json_address(j, "token", &token);
    tide_record_json_title_or_null(j, "tokenSymbol", tide_lookup_symbol(l->reader, &token));
    tide_json_amount(j, "amount", amount, decimals);
    put_engine_value(j, "engineValue", amount, l->price, decimals);
    put_pool_value(l, &token, amount);
    tide_json_number(j, "vaultCount", held->vaults);
    tide_json_close(j, '}');
    return ++l->count < HELD_MAX;
}

/* Writes a market's collateral, each token by itself: amounts of different tokens have no sum. */
static void put_collateral(struct tide_json *j, struct tide_reader *reader,
                           const struct tide_pairs *pairs, const struct tide_hot_market *m)
{
    struct tide_hot_key feed = tide_hot_key_symbol(TIDE_HOT_FEED, &m->coll_oracle_symbol);
    struct tide_hot_key prefix = tide_hot_key_symbol(TIDE_HOT_HELD, &m->symbol);
    const struct tide_hot_feed *f = tide_reader_get(reader, &feed);
    bool fresh = f && !tide_rule_twap_stale(f, reader->now);
    tide_i128 price = { f ? tide_hot_i128(f->twap_price) : 0 };
    struct held_list l = { reader, j, pairs, fresh ? &price : NULL, 0 };
    put_engine_value(j, "collateralValue", tide_hot_i128(m->collateral), l.price,
                     tide_lookup_collateral_decimals(reader));
    tide_json_name(j, "collaterals");
    tide_json_open(j, '[');
    tide_reader_scan(reader, &prefix, put_held, &l);
    tide_json_close(j, ']');
}

/* Writes the market's terms from the engine. */
static void put_terms(struct tide_json *j, struct tide_reader *reader,
                      const struct tide_pairs *pairs, const struct tide_hot_market *m)
{
    tide_record_json_symbol(j, "market", &m->symbol);
    tide_record_json_address(j, "synthToken", &m->token);
    tide_record_json_title_or_null(j, "synthTokenSymbol", tide_lookup_symbol(reader, &m->token));
    tide_json_bool(j, "complete", tide_lookup_is_watched(reader, &m->token));
    tide_json_bool(j, "enabled", m->enabled);
    tide_json_bool(j, "paused", reader->meta->engine_paused); /* the engine is paused as a whole */
    tide_json_i128(j, "minCollRatioBps", tide_hot_i128(m->min_coll_ratio));
    tide_json_i128(j, "liqRatioBps", tide_hot_i128(m->liq_ratio));
    tide_json_i128(j, "liqPenaltyBps", tide_hot_i128(m->liq_penalty));
    tide_json_i128(j, "mintFeeMillionths", tide_hot_i128(m->stab_fee_bps));
    uint32_t decimals = tide_lookup_decimals(reader, &m->token);
    tide_json_amount(j, "debtCeiling", tide_hot_i128(m->debt_ceiling), decimals);
    tide_json_amount(j, "debt", tide_hot_i128(m->debt_total), decimals);
    put_collateral(j, reader, pairs, m);
    tide_json_number(j, "vaultCount", m->vaults);
    tide_json_number(j, "indebtedVaultCount", m->indebted);
}

enum { INCOMPLETE_RETRY_S = 30 }; /* history of a token takes a while to read */

struct listing {
    struct tide_reader *reader;
    struct tide_json *json;
    struct tide_pairs pairs;
    struct tide_reader_page page;
    struct tide_hot_symbol after; /* page.after as a symbol */
    struct tide_hot_symbol last;  /* the page's last symbol */
    uint64_t limit, count;
    bool more;
};

/* Reads limit and cursor. Returns false if the cursor is of another request. */
static bool read_page(struct listing *l, const struct tide_request *request)
{
    l->limit = tide_request_param(request, TIDE_PARAM_limit)->number;
    return tide_reader_page_read(&l->page, l->reader, request) &&
           tide_hot_symbol_of(&l->after, tide_slice_str(l->page.after));
}

static void put_market(struct listing *l, const struct tide_hot_market *m)
{
    struct tide_json *j = l->json;
    struct side s = { 0 };
    put_terms(j, l->reader, &l->pairs, m);
    put_oracle(j, l->reader, "oracle", &m->oracle_symbol);
    put_oracle(j, l->reader, "collateralOracle", &m->coll_oracle_symbol);
    s.pool = tide_pairs_find(&l->pairs, &m->token);
    if (!s.pool || !tide_lookup_window(l->reader, &s.pool->id, &s.window)) {
        put_no_pool(j);
        return;
    }
    s.a = tide_hot_address_eq(&s.pool->token_a, &m->token);
    assert(s.a || tide_hot_address_eq(&s.pool->token_b, &m->token));
    s.decimals = tide_lookup_decimals(l->reader, &m->token);
    s.quote_decimals = tide_lookup_decimals(l->reader, &l->pairs.quote);
    put_pool(j, l->reader, &s);
}

/* Writes a market of the page. Returns false when the page is full, which ends the scan. */
static bool put_listed(void *self, tide_slice key, const void *record)
{
    struct listing *l = self;
    const struct tide_hot_market *market = record;
    struct tide_hot_symbol symbol;
    memcpy(&symbol, key.ptr + 1, sizeof symbol);
    if (!market->listed || (*l->page.after && memcmp(&symbol, &l->after, sizeof symbol) <= 0))
        return true;
    l->more = l->count == l->limit;
    if (l->more)
        return false;
    assert(l->count < l->limit);
    l->count++;
    l->last = symbol;
    tide_json_open(l->json, '{');
    put_market(l, market);
    tide_json_close(l->json, '}');
    return true;
}

static void put_page(struct listing *l)
{
    struct tide_hot_key markets = tide_hot_key(TIDE_HOT_MARKET);
    tide_json_name(l->json, "items");
    tide_json_open(l->json, '[');
    tide_reader_scan(l->reader, &markets, put_listed, l);
    tide_json_close(l->json, ']');
    tide_reader_page_next(l->json, &l->page,
                          l->more ? tide_hot_symbol_slice(&l->last) : tide_slice_str(""));
}

/* Answers one market, or a page of all (market NULL). */
static void write_answer(struct listing *l, const struct tide_hot_market *market,
                         struct tide_reply *reply)
{
    bool read = tide_pairs_read(&l->pairs, l->reader);
    tide_reader_count_vaults(l->reader);
    struct tide_json j = tide_reader_answer(l->reader, reply);
    l->json = &j;
    if (market)
        put_market(l, market);
    else
        put_page(l);
    tide_json_close(&j, '}');
    tide_pairs_release(&l->pairs);
    if (!read)
        tide_reply_problem(reply, 503, "too_large", "There are more pools than one answer holds.");
}

void tide_route_markets(struct tide_handler_context *context, const struct tide_request *request,
                        struct tide_reply *reply)
{
    struct tide_reader reader;
    struct listing l = { .reader = &reader };
    if (!tide_reader_open(&reader, context, request, reply))
        return;
    if (read_page(&l, request))
        write_answer(&l, NULL, reply);
    else
        tide_cursor_refuse(reply);
    tide_reader_close(&reader, reply);
}

static void reject_incomplete(struct tide_reply *reply)
{
    tide_reply_problem(
        reply, 503, "incomplete",
        "This market's token was discovered on the ledger, and its earlier history is"
        " not indexed yet. GET /api/markets has the market's terms.");
    reply->retry_after_s = INCOMPLETE_RETRY_S;
}

void tide_route_market(struct tide_handler_context *context, const struct tide_request *request,
                       struct tide_reply *reply)
{
    const struct tide_param_value *symbol = tide_request_param(request, TIDE_PARAM_symbol);
    struct tide_hot_key key = tide_hot_key_symbol(TIDE_HOT_MARKET, &symbol->symbol);
    struct tide_reader reader;
    struct listing l = { .reader = &reader };
    if (!tide_reader_open(&reader, context, request, reply))
        return;
    const struct tide_hot_market *market = tide_reader_get(&reader, &key);
    if (market && market->listed && !tide_lookup_is_watched(&reader, &market->token))
        reject_incomplete(reply);
    else if (market && market->listed)
        write_answer(&l, market, reply);
    else
        tide_tell_refusal(reply, TIDE_REFUSED_NO_MARKET);
    tide_reader_close(&reader, reply);
}
