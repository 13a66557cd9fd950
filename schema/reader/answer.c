#include "tidemark/answer.h"

enum {
    POLL_SOON_MS = 5000, /* about a ledger's time: used while an attestation is expected */
    POLL_LATE_MS = 60000,
    POLL_LEAST_MS = 1000
};

struct tide_json tide_answer_begin(struct tide_buf *out, const struct tide_reader *reader)
{
    struct tide_json j = { .buf = out };
    tide_json_open(&j, '{');
    tide_json_u64(&j, "ledger", reader->meta->ledger);
    tide_json_time_ms(&j, "closedAt", tide_cache_closed_ms(reader->meta));
    return j;
}

void tide_answer_agrees(struct tide_json *j, const struct tide_reader *reader)
{
    tide_json_bool(j, "agreesWithDao", tide_cache_misnamed(reader->meta) == 0);
}

/* --- compliance -------------------------------------------------------------------------- */

static uint32_t poll_after(const struct tide_standing *standing, uint64_t now)
{
    assert(!standing->valid_until ||
           standing->valid_until >= now); /* tide_rule_standing judged at this time */
    if (standing->needs_kyc)
        return POLL_SOON_MS;
    if (standing->valid_until == 0 || standing->valid_until - now >= POLL_LATE_MS / 1000)
        return POLL_LATE_MS;
    uint32_t left = (uint32_t)(standing->valid_until + 1 - now) * 1000;
    return left < POLL_LEAST_MS ? POLL_LEAST_MS : left;
}

/* Writes the registry's record as get_compliance_status gives it, without the jurisdiction. */
static void put_record(struct tide_json *j, const struct tide_hot_person *person)
{
    if (!person || !person->recorded) {
        tide_json_null(j, "record");
        return;
    }
    tide_json_name(j, "record");
    tide_json_open(j, '{');
    tide_json_u32(j, "status", person->status);
    tide_record_json_address(j, "provider", &person->provider);
    tide_record_json_symbol(j, "reason", &person->reason);
    tide_json_stored_time(j, "updatedAt", person->updated_at);
    tide_json_stored_time(j, "expiresAt", person->expires_at);
    tide_json_u64(j, "changedLedger", person->ledger);
    tide_json_close(j, '}');
}

void tide_answer_reason(struct tide_json *j, const struct tide_standing *standing)
{
    tide_json_word(j, "status", tide_standing_status_name(standing->status));
    tide_json_word(j, "reasonCode", tide_standing_reason_code(standing->reason));
    tide_json_stored_time(j, "validUntil", standing->valid_until);
}

uint64_t tide_answer_standing(struct tide_json *j, struct tide_reader *reader,
                              const struct tide_hot_address *who, tide_slice text)
{
    struct tide_standing s;
    const struct tide_hot_person *person;
    tide_lookup_standing(reader, who, &s, &person);
    tide_json_name(j, "address");
    tide_json_plain(j, text);
    tide_json_bool(j, "compliant", s.compliant);
    tide_json_bool(j, "needsKyc", s.needs_kyc);
    tide_answer_reason(j, &s);
    tide_json_bool(j, "whitelisted", person && person->whitelisted);
    tide_json_name(j, "gates");
    tide_json_open(j, '{');
    tide_json_bool(j, "liquidityPool",
                   tide_lookup_gate(reader, &s, person, TIDE_ROLE_liquidity_pool));
    tide_json_bool(j, "syntheticEngine",
                   tide_lookup_gate(reader, &s, person, TIDE_ROLE_synthetic_engine));
    tide_json_bool(j, "stabilityPool",
                   tide_lookup_gate(reader, &s, person, TIDE_ROLE_stability_pool));
    tide_json_close(j, '}');
    put_record(j, person);
    tide_json_u32(j, "pollAfterMs", poll_after(&s, reader->now));
    return s.valid_until;
}

uint64_t tide_answer_status(struct tide_json *j, struct tide_reader *reader,
                            const struct tide_hot_address *who, tide_slice text)
{
    tide_json_time(j, "evaluatedAt", reader->now);
    tide_answer_agrees(j, reader);
    return tide_answer_standing(j, reader, who, text);
}

void tide_answer_decimals(struct tide_json *j, struct tide_reader *reader,
                          const struct tide_hot_address *token)
{
    uint32_t decimals = tide_lookup_decimals(reader, token);
    if (decimals == TIDE_JSON_UNKNOWN)
        tide_json_null(j, "decimals");
    else
        tide_json_u32(j, "decimals", decimals);
}

/* --- prices ------------------------------------------------------------------------------ */

void tide_answer_feed(struct tide_json *j, const struct tide_hot_feed *feed, uint64_t now)
{
    static const char *const absent[] = { "latestPrice",     "latestPriceScaled", "latestAt",
                                          "twapPrice",       "twapPriceScaled",   "twapAt",
                                          "observationCount" };
    tide_json_bool(j, "stale", tide_rule_stale(feed, now));
    tide_json_bool(j, "twapStale", tide_rule_twap_stale(feed, now));
    if (!feed) {
        for (size_t i = 0; i < TIDE_COUNT(absent); i++)
            tide_json_null(j, absent[i]);
        return;
    }
    tide_json_amount(j, "latestPrice", tide_hot_i128(feed->latest_price), TIDE_WAD_DECIMALS);
    tide_json_stored_time(j, "latestAt", feed->latest_ts);
    tide_json_amount(j, "twapPrice", tide_hot_i128(feed->twap_price), TIDE_WAD_DECIMALS);
    tide_json_stored_time(j, "twapAt", feed->twap_ts);
    tide_json_u32(j, "observationCount", feed->observations);
}

static uint64_t sooner(uint64_t a, uint64_t b)
{
    return a == 0 || b < a ? b : a;
}

uint64_t tide_answer_price(struct tide_json *j, struct tide_reader *reader,
                           const struct tide_hot_symbol *asset, const struct tide_hot_feed *feed)
{
    uint64_t until = 0;
    tide_answer_agrees(j, reader);
    tide_record_json_symbol(j, "asset", asset);
    tide_answer_feed(j, feed, reader->now);
    if (!tide_rule_stale(feed, reader->now))
        until = sooner(until, feed->latest_ts + TIDE_RULE_PRICE_AGE_S);
    if (!tide_rule_twap_stale(feed, reader->now))
        until = sooner(until, feed->twap_ts + TIDE_RULE_TWAP_AGE_S);
    return until;
}

/* --- quotes ------------------------------------------------------------------------------ */

enum tide_refusal tide_answer_find_quote(struct tide_quote *out, struct tide_reader *reader,
                                         const struct tide_hot_symbol *id, tide_raw_i128 amount_in,
                                         bool a_to_b)
{
    struct tide_hot_key key = tide_hot_key_symbol(TIDE_HOT_POOL, id);
    *out = (struct tide_quote){ .pool = tide_reader_get(reader, &key),
                                .amount_in = amount_in,
                                .a_to_b = a_to_b };
    return tide_rule_swap(&out->swap, out->pool, tide_hot_i128(reader->meta->protocol_fee),
                          amount_in, a_to_b);
}

/* Returns the reason why swap_exact_in would fail, or NULL if the pool's state has none. */
static const char *obstacle(const struct tide_swap *swap)
{
    if (swap->paused)
        return "paused";
    if (swap->nothing_in)
        return "nothing_in";
    if (swap->trap != TIDE_REFUSED_NOTHING)
        return tide_refusal_code(swap->trap);
    return swap->too_large ? "too_large" : NULL;
}

void tide_answer_spot(struct tide_json *j, struct tide_reader *reader,
                      const struct tide_hot_pool *pool, bool a_to_b)
{
    tide_raw_i128 price, shown;
    uint32_t a = tide_lookup_decimals(reader, &pool->token_a);
    uint32_t b = tide_lookup_decimals(reader, &pool->token_b);
    bool priced = tide_rule_spot(&price, pool, a_to_b) == TIDE_REFUSED_NOTHING;
    if (priced)
        tide_json_i128(j, "spotPrice", price);
    else
        tide_json_null(j, "spotPrice");
    if (priced && a != TIDE_JSON_UNKNOWN && b != TIDE_JSON_UNKNOWN &&
        tide_rule_shown(&shown, pool, a_to_b, a, b))
        tide_json_scaled(j, "spotPrice", shown, TIDE_WAD_DECIMALS);
    else
        tide_json_null(j, "spotPriceScaled");
}

void tide_answer_quote(struct tide_json *j, struct tide_reader *reader,
                       const struct tide_quote *quote)
{
    assert(quote->pool);
    const struct tide_hot_pool *pool = quote->pool;
    const struct tide_swap *swap = &quote->swap;
    bool a_to_b = quote->a_to_b;
    const struct tide_hot_address *in = a_to_b ? &pool->token_a : &pool->token_b;
    const struct tide_hot_address *out = a_to_b ? &pool->token_b : &pool->token_a;
    uint32_t in_decimals = tide_lookup_decimals(reader, in);
    const char *why = obstacle(swap);
    tide_answer_agrees(j, reader);
    tide_record_json_symbol(j, "pool", &pool->id);
    tide_json_word(j, "direction", a_to_b ? "a_to_b" : "b_to_a");
    tide_record_json_address(j, "tokenIn", in);
    tide_record_json_title_or_null(j, "tokenInSymbol", tide_lookup_symbol(reader, in));
    tide_record_json_address(j, "tokenOut", out);
    tide_record_json_title_or_null(j, "tokenOutSymbol", tide_lookup_symbol(reader, out));
    tide_json_amount(j, "amountIn", quote->amount_in, in_decimals);
    tide_json_amount(j, "amountOut", swap->out, tide_lookup_decimals(reader, out));
    tide_json_amount(j, "fee", swap->fee, in_decimals);
    if (swap->trap == TIDE_REFUSED_NOTHING) {
        tide_json_amount(j, "protocolFee", swap->protocol_fee, in_decimals);
        tide_json_i128(j, "impactBps", swap->impact_bps);
    } else {
        tide_json_null(j, "protocolFee");
        tide_json_null(j, "protocolFeeScaled");
        tide_json_null(j, "impactBps");
    }
    tide_answer_spot(j, reader, pool, a_to_b);
    tide_json_bool(j, "swappable", !why);
    if (why)
        tide_json_word(j, "reasonCode", why);
    else
        tide_json_null(j, "reasonCode");
}
