/* The oracle: price observations of providers, their trimmed mean, and the time-weighted mean price
 * (TWAP). */
#include "tools/sim/host/host.h"

#define EV(id) SIM_EVENT(oracle, id)
#define EN(id) SIM_ENTRY(oracle, id)
#define ID(id) TIDE_EN_oracle_##id

#define PROVIDERS_MAX  21u
#define BATCH_MAX      32u   /* prices in one submission */
#define MOVE_BPS       2000  /* circuit breaker: greatest move of a price, basis points */
#define SPOT_AGE_MAX   300u  /* seconds */
#define TWAP_AGE_MAX   600u  /* seconds */
#define WINDOW_DEFAULT 3600u /* seconds */
#define QUORUM_DEFAULT 3u    /* observations that make a price */

/* Returns how many observations make a price. */
static uint32_t quorum(struct sim_host *h)
{
    const sim_val *stored = sim_slot(h, "MINPROV");
    return stored ? stored->u32 : QUORUM_DEFAULT;
}

/* args: admin, DAO, TWAP window in seconds (0: the default) */
static void initialize(struct sim_host *h, const sim_val *args)
{
    sim_slot_put(h, "DAO", args[1]);
    sim_slot_put(h, "PCNT", sim_u32(0));
    sim_slot_put(h, "TWINDOW", sim_u64(args[2].u64 ? args[2].u64 : WINDOW_DEFAULT));
}

static bool is_known_provider(struct sim_host *h, sim_val provider)
{
    return sim_has(h, sim_key1(h, EN(provider), provider));
}

static void emit_provider(struct sim_host *h, const char *action, sim_val provider)
{
    sim_emit(h, EV(provider), SIM_VALS(sim_sym(action)), SIM_FIELDS({ "provider", provider }));
}

/* args: DAO, provider */
static void add_provider(struct sim_host *h, const sim_val *args)
{
    uint32_t count = sim_slot_u32(h, "PCNT");
    sim_require(h, count < PROVIDERS_MAX, "max providers reached");
    sim_require(h, !is_known_provider(h, args[1]), "provider already registered");
    sim_put(h, sim_key1(h, EN(provider), args[1]), sim_bool(true));
    sim_put(h, sim_key1(h, EN(provider_list), sim_u32(count)), args[1]);
    sim_slot_put(h, "PCNT", sim_u32(count + 1));
    emit_provider(h, "add", args[1]);
}

/* args: DAO, provider. PCNT is not lowered, as published: removed providers count to
 * PROVIDERS_MAX. */
static void remove_provider(struct sim_host *h, const sim_val *args)
{
    sim_require(h, is_known_provider(h, args[1]), "provider not registered");
    sim_remove(h, sim_key1(h, EN(provider), args[1]));
    emit_provider(h, "rem", args[1]);
}

/* args: DAO, observations that make a price */
static void set_min_providers(struct sim_host *h, const sim_val *args)
{
    uint32_t n = args[1].u32;
    sim_require(h, n >= 1, "at least one provider");
    sim_require(h, n <= PROVIDERS_MAX, "too many providers");
    sim_require(h, n <= sim_slot_u32(h, "PCNT"), "more than are registered");
    sim_slot_put(h, "MINPROV", args[1]);
}

/* --- observations ------------------------------------------------------------------- */

/* Sorts by insertion: there are few prices. */
static void sort_prices(sim_amount *prices, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        sim_amount price = prices[i];
        uint32_t at = i;
        for (; at > 0 && prices[at - 1] > price; at--)
            prices[at] = prices[at - 1];
        prices[at] = price;
    }
}

/* Returns the mean of the observed prices without the highest and lowest quarter. */
static sim_amount trimmed_mean(struct sim_host *h, const sim_val *pending)
{
    sim_amount *prices = tide_new(&h->arena, sim_amount, pending->len);
    sim_require(h, prices, "too much memory for one call");
    for (uint32_t i = 0; i < pending->len; i++)
        prices[i] = sim_field_i128(&pending->vec[i], "price");
    sort_prices(prices, pending->len);
    uint32_t drop = pending->len / 4;
    sim_amount sum = 0;
    for (uint32_t i = drop; i < pending->len - drop; i++)
        sum = sim_add(h, sum, prices[i]);
    return sim_div(h, sum, pending->len - 2 * drop);
}

/* Stores the mean as the asset's price, empties the observations and announces the price. The
 * published contract stores the mean as TWAP too, and calls it median_price in the event. */
static void aggregate_pending(struct sim_host *h, sim_val asset, const sim_val *pending)
{
    sim_val mean = sim_i128(trimmed_mean(h, pending));
    sim_val now = sim_u64(h->now);
    sim_put(h, sim_key1(h, EN(feed), asset),
            sim_make(h, SIM_FIELDS({ "latest_price", mean }, { "latest_ts", now },
                                   { "twap_price", mean }, { "twap_ts", now },
                                   { "observation_count", sim_u32(pending->len) })));
    sim_put(h, sim_key1(h, EN(pending_observations), asset), sim_vec(&h->arena, SIM_NONE));
    sim_emit(h, EV(price_aggregate), SIM_VALS(asset), SIM_FIELDS({ "median_price", mean }));
}

/* Refuses a price that moves too far from the latest one. The first price may have any value. */
static void check_move(struct sim_host *h, sim_val asset, sim_amount price)
{
    const sim_val *feed = sim_get(h, sim_key1(h, EN(feed), asset));
    sim_amount latest = feed ? sim_field_i128(feed, "latest_price") : 0;
    if (latest <= 0)
        return;
    sim_amount move = sim_sub(h, price, latest);
    sim_amount most = sim_mul_div(h, latest, MOVE_BPS, 10000);
    sim_require(h, (move < 0 ? -move : move) <= most, "price move exceeds circuit breaker");
}

/* Stores an observation; the one that completes the quorum makes the price. One provider may
 * observe several times, as published. */
static void add_observation(struct sim_host *h, sim_val provider, sim_val asset, sim_val price)
{
    sim_require(h, price.i128 > 0, "price must be positive");
    check_move(h, asset, price.i128);
    sim_val pending = sim_get_list(h, sim_key1(h, EN(pending_observations), asset));
    sim_vec_push(&h->arena, &pending,
                 sim_make(h, SIM_FIELDS({ "price", price }, { "provider", provider },
                                        { "timestamp", sim_u64(h->now) })));
    sim_put(h, sim_key1(h, EN(pending_observations), asset), pending);
    sim_emit(h, EV(price_observation), SIM_VALS(asset),
             SIM_FIELDS({ "provider", provider }, { "price", price }));
    if (pending.len >= quorum(h))
        aggregate_pending(h, asset, &pending);
}

/* args: provider, asset, price */
static void submit_price(struct sim_host *h, const sim_val *args)
{
    sim_require(h, is_known_provider(h, args[0]), "not an authorised provider");
    add_observation(h, args[0], args[1], args[2]);
}

/* args: provider, assets, prices */
static void submit_prices(struct sim_host *h, const sim_val *args)
{
    sim_require(h, is_known_provider(h, args[0]), "not an authorised provider");
    sim_require(h, args[1].len > 0, "empty batch");
    sim_require(h, args[1].len == args[2].len, "lengths differ");
    sim_require(h, args[1].len <= BATCH_MAX, "batch too large");
    for (uint32_t i = 0; i < args[1].len; i++)
        add_observation(h, args[0], args[1].vec[i], args[2].vec[i]);
}

/* args: asset. Anyone may call it. */
static void aggregate(struct sim_host *h, const sim_val *args)
{
    sim_val pending = sim_get_list(h, sim_key1(h, EN(pending_observations), args[0]));
    sim_require(h, pending.len >= quorum(h), "insufficient observations");
    aggregate_pending(h, args[0], &pending);
}

/* Returns an asset's feed; refuses if it has none. */
static const sim_val *feed_of(struct sim_host *h, sim_val asset)
{
    return sim_get_needed(h, sim_key1(h, EN(feed), asset), "no price feed for asset");
}

/* --- mean over time --------------------------------------------------------------------- */

/* Returns the asset's accumulator of price times seconds, or a new one that starts now. */
static sim_val accumulator_of(struct sim_host *h, sim_val asset, sim_val latest)
{
    const sim_val *stored = sim_get(h, sim_key1(h, EN(accumulator), asset));
    if (stored)
        return *stored;
    return sim_make(h, SIM_FIELDS({ "cumulative_price", sim_i128(0) }, { "last_price", latest },
                                  { "window_cum_start", sim_i128(0) },
                                  { "last_timestamp", sim_u64(h->now) },
                                  { "window_start", sim_u64(h->now) }));
}

/* Returns the mean price of the window, and starts the next window if this one is full. A full
 * window is divided by its nominal length, however long it took: as published. */
static sim_amount roll_window(struct sim_host *h, const sim_val *acc, sim_amount latest)
{
    uint64_t elapsed = h->now - sim_field_u64(acc, "window_start");
    uint64_t window = sim_slot_u64(h, "TWINDOW");
    sim_amount cumulative = sim_field_i128(acc, "cumulative_price");
    sim_amount gained = sim_sub(h, cumulative, sim_field_i128(acc, "window_cum_start"));
    if (elapsed == 0 && window > 0)
        return latest;
    if (elapsed < window)
        return sim_div(h, gained, elapsed);
    sim_set(acc, "window_start", sim_u64(h->now));
    sim_set(acc, "window_cum_start", sim_i128(cumulative));
    return sim_div(h, gained, window);
}

/* args: asset. The price since the last update is weighted with the seconds that it held. */
static sim_val update_twap(struct sim_host *h, const sim_val *args)
{
    const sim_val *feed = feed_of(h, args[0]);
    sim_val latest = *sim_field(feed, "latest_price");
    sim_val acc = accumulator_of(h, args[0], latest);
    uint64_t elapsed = h->now - sim_field_u64(&acc, "last_timestamp");
    if (elapsed > 0)
        sim_bump(h, &acc, "cumulative_price",
                 sim_mul(h, sim_field_i128(&acc, "last_price"), elapsed));
    sim_set(&acc, "last_price", latest);
    sim_set(&acc, "last_timestamp", sim_u64(h->now));
    sim_val twap = sim_i128(roll_window(h, &acc, latest.i128));
    sim_put(h, sim_key1(h, EN(accumulator), args[0]), acc);
    sim_set(feed, "twap_price", twap);
    sim_set(feed, "twap_ts", sim_u64(h->now));
    sim_put(h, sim_key1(h, EN(feed), args[0]), *feed);
    sim_emit(h, EV(twap), SIM_VALS(args[0]), SIM_FIELDS({ "twap_price", twap }));
    return twap;
}

/* --- reads ----------------------------------------------------------------------------------- */

/* Returns true if the stamp is more than age_max seconds ago. */
static bool is_older(struct sim_host *h, const sim_val *feed, const char *stamp, uint64_t age_max)
{
    uint64_t at = sim_field_u64(feed, stamp);
    return h->now > at && h->now - at > age_max;
}

/* args: asset */
static sim_val get_price(struct sim_host *h, const sim_val *args)
{
    const sim_val *feed = feed_of(h, args[0]);
    sim_require(h, !is_older(h, feed, "latest_ts", SPOT_AGE_MAX), "price is stale");
    return *sim_field(feed, "latest_price");
}

/* args: asset */
static sim_val get_twap(struct sim_host *h, const sim_val *args)
{
    const sim_val *feed = feed_of(h, args[0]);
    sim_require(h, !is_older(h, feed, "twap_ts", TWAP_AGE_MAX), "TWAP is stale");
    return *sim_field(feed, "twap_price");
}

/* args: asset. An asset without a feed is stale. */
static sim_val is_stale(struct sim_host *h, const sim_val *args)
{
    const sim_val *feed = sim_get(h, sim_key1(h, EN(feed), args[0]));
    return sim_bool(!feed || is_older(h, feed, "latest_ts", SPOT_AGE_MAX));
}

/* args: asset */
static sim_val get_feed(struct sim_host *h, const sim_val *args)
{
    return *feed_of(h, args[0]);
}

static sim_val get_min_providers(struct sim_host *h, const sim_val *args)
{
    (void)args;
    return sim_u32(quorum(h));
}

static const struct sim_fn fns[] = {
    { "initialize", "aaU", SIM_NEW, .change = initialize },
    { "add_provider", "aa", "DAO", .change = add_provider },
    { "remove_provider", "aa", "DAO", .change = remove_provider },
    { "set_min_providers", "au", "DAO", .change = set_min_providers },
    { "submit_price", "ayi", SIM_FIRST, .change = submit_price },
    { "submit_prices", "aVyVi", SIM_FIRST, .change = submit_prices },
    { "aggregate", "y", SIM_FREE, .change = aggregate },
    { "update_twap", "y", SIM_FREE, .answer = update_twap },
    { "upgrade", "ah", SIM_STORED("DAO"), .change = sim_upgrade_arg },
    { "get_price", "y", SIM_FREE, .answer = get_price },
    { "get_twap", "y", SIM_FREE, .answer = get_twap },
    { "is_stale", "y", SIM_FREE, .answer = is_stale },
    { "get_feed", "y", SIM_FREE, .answer = get_feed },
    { "is_provider", "a", SIM_FREE, .as = SIM_AS_FLAG, .entry = ID(provider) },
    { "provider_count", "", SIM_FREE, .slot = "PCNT" },
    { "get_min_providers", "", SIM_FREE, .answer = get_min_providers },
    { 0 },
};

const struct sim_class sim_class_oracle = { .role = TIDE_ROLE_oracle, .fns = fns };
