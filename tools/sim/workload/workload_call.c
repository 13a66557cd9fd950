/* Tables and functions that the workload's files share: names, home prices, random numbers, arguments, idle users, heals. */
#include "tidemark/scval.h"
#include "tidemark/xdr.h"
#include "tools/sim/ledger/lcm.h"
#include "tools/sim/workload/workload.h"

#include <stdarg.h>

/* clang-format off */
const char *const workload_pool_names[WORKLOAD_POOLS] = { "XLMUSDC", "SGOLDUSDC", "SBTCUSDC", "STSLAUSDC" };
const uint32_t workload_pool_market[WORKLOAD_POOLS] = { PARTY_MARKETS, 0, 2, 1 };
const char *const workload_feed_names[WORKLOAD_FEEDS] = { "BTC", "GOLD", "OIL", "TSLA", "USDC", "XLM" };
/* By feed, in USDC with 7 decimals: made up, and near those of 2026. */
static const int64_t home_prices[WORKLOAD_FEEDS] = { 11013326, 39679865, 6899949, 24737500, 9984005, 4053210 };
static const int64_t showcase_prices[WORKLOAD_FEEDS] = { 912400000000, 41350000000, 642000000, 4180000000, 10000000, 4053210 };
/* clang-format on */

int64_t workload_home_price(const struct workload *workload, uint32_t feed)
{
    assert(feed < WORKLOAD_FEEDS);
    return workload->profile == WORKLOAD_SHOWCASE ? showcase_prices[feed] : home_prices[feed];
}

/* The generator is splitmix64. */
uint64_t workload_random(struct workload *workload)
{
    uint64_t z = (workload->random += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

uint32_t workload_pick(struct workload *workload, uint32_t n)
{
    assert(n > 0);
    return (uint32_t)(workload_random(workload) % n);
}

bool workload_once_in(struct workload *workload, uint32_t n)
{
    return workload_pick(workload, n) == 0;
}

int64_t workload_between(struct workload *workload, int64_t low, int64_t high)
{
    if (high <= low)
        return low;
    return low + (int64_t)(workload_random(workload) % (uint64_t)(high - low + 1));
}

void workload_call_init(struct workload_call *call)
{
    *call = (struct workload_call){ 0 };
    tide_buf_init(&call->args, 1u << 20);
}

void workload_call_release(struct workload_call *call)
{
    tide_buf_release(&call->args);
}

/* The buffer of the arguments is kept for the next call. */
void workload_begin(struct workload_call *call, uint32_t source, uint32_t contract, const char *fn)
{
    assert(contract < PARTY_CONTRACTS && strlen(fn) < sizeof call->fn);
    struct tide_buf args = call->args;
    tide_buf_reset(&args);
    *call = (struct workload_call){ .source = source, .contract = contract, .args = args };
    call->auth = (party_ref)source;
    snprintf(call->fn, sizeof call->fn, "%s", fn);
}

/* Appends a number: i128, u64, bool or u32. */
static void put_integer(struct tide_buf *buf, char kind, long long value)
{
    assert(kind == 'i' || kind == 't' || kind == 'u' || kind == 'b');
    assert(kind != 'b' || value == 0 || value == 1);
    if (kind == 'i') {
        lcm_put_i128(buf, value);
    } else if (kind == 't') {
        tide_buf_be32(buf, TIDE_SCV_U64);
        tide_buf_be64(buf, (uint64_t)value);
    } else {
        lcm_words(buf, kind == 'b' ? TIDE_SCV_BOOL : TIDE_SCV_U32, (uint32_t)value);
    }
}

void workload_put(const struct workload *workload, struct workload_call *call, char kind,
                  long long value)
{
    if (kind == 'a') {
        tide_buf_be32(&call->args, TIDE_SCV_ADDRESS);
        parties_put_address(&call->args, workload->parties, (party_ref)value);
    } else {
        put_integer(&call->args, kind, value);
    }
}

/* Appends a string or bytes. */
static void put_bytes(struct tide_buf *buf, char kind, tide_slice bytes)
{
    tide_buf_be32(buf, kind == 'x' ? TIDE_SCV_STRING : TIDE_SCV_BYTES);
    tide_xdr_put_var(buf, bytes);
}

void workload_args(const struct workload *workload, struct workload_call *call, const char *kinds,
                   ...)
{
    va_list list;
    va_start(list, kinds);
    for (const char *kind = kinds; *kind; kind++, call->arg_count++) {
        if (*kind == 's')
            lcm_put_symbol(&call->args, va_arg(list, const char *));
        else if (*kind == 'x' || *kind == 'y')
            put_bytes(&call->args, *kind, *va_arg(list, const tide_slice *));
        else if (*kind == 'i' || *kind == 't')
            workload_put(workload, call, *kind, va_arg(list, long long));
        else
            workload_put(workload, call, *kind, va_arg(list, int));
    }
    va_end(list);
}

void workload_vec(struct workload_call *call, uint32_t count)
{
    lcm_put_vec(&call->args, count);
    call->arg_count++;
}

uint32_t workload_free_user(struct workload *workload)
{
    uint32_t user = workload_pick(workload, workload->user_count);
    for (uint32_t tries = 0; tries < 16; tries++) {
        assert(workload->users[user].source < workload->parties->account_count);
        if (workload->busy_at[workload->users[user].source] != workload->ledger)
            break;
        user = workload_pick(workload, workload->user_count);
    }
    return user;
}

bool workload_may_disturb(struct workload *workload)
{
    /* Half of the table stays free for heals that clients and verifiers cause. */
    if (workload->ledger < workload->calm_until || workload->heal_count > WORKLOAD_HEALS / 2)
        return false;
    workload->calm_until = workload->ledger + 12 + workload_pick(workload, 24);
    return true;
}

void workload_heal_later(struct workload *workload, uint32_t kind, uint32_t what, uint32_t ledgers)
{
    assert(workload->heal_count <= WORKLOAD_HEALS);
    if (workload->heal_count == WORKLOAD_HEALS)
        return;
    workload->heals[workload->heal_count++] =
        (struct workload_heal){ workload->ledger + ledgers, kind, what };
}

tide_slice workload_text(struct workload *workload)
{
    static const struct {
        const char *text;
        size_t len;
    } texts[] = {
#define TEXT(literal) { literal, sizeof(literal) - 1 }
        TEXT("Change the \xe2\x86\x92 \"fees\" now"),
        TEXT("line one\nline two\t\\ raw"),
        TEXT("<script>alert('x')</script> & co"),
        TEXT("\xf0\x9f\x8c\x8a tide \xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x9a\x80"),
        TEXT("not UTF-8: \xff\xfe\x80 \xc3("),
        TEXT("Robert'); DROP TABLE event.log;--"),
        TEXT("{\"json\": [1, null]}"),
        TEXT("Z\xc3\xbcrich B\xc3\xb6rse \xe4\xba\xa4\xe6\x98\x93\xe6\x89\x80"),
        TEXT("Partner,with;commas\tand \"tab\""),
        TEXT("a NUL \0 within"),
        TEXT(""),
        TEXT("plain words"),
#undef TEXT
    };
    uint32_t i = workload_pick(workload, TIDE_COUNT(texts));
    return tide_slice_of(texts[i].text, texts[i].len);
}

tide_slice workload_partner_name(struct workload *workload)
{
    static const char *const names[] = { "Harbour Exchange", "Northlight Pay", "Meridian Markets",
                                         "Kelp Wallet",      "Blue Quay",      "Anchorage",
                                         "Lagoon Finance",   "Breakwater" };
    if (workload->profile != WORKLOAD_SHOWCASE)
        return workload_text(workload);
    return tide_slice_str(names[workload->partner_count % TIDE_COUNT(names)]);
}
