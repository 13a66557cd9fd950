/* Random contract values at their limits. */
#include "tools/sim/hostile/value.h"
#include "tidemark/hash.h"
#include "tidemark/scval.h"
#include "tidemark/xdr.h"
#include "tools/sim/ledger/lcm.h"

/* Numbers where programs tend to err: ends of types, powers of ten, limits of dates. */
static const uint64_t edges[] = {
    0,
    1,
    2,
    9,
    10,
    127,
    128,
    255,
    256,
    32767,
    32768,
    65535,
    65536,
    999999,
    INT32_MAX,
    0x80000000,
    UINT32_MAX,
    1u << 31u,
    4102444800,
    10000000,
    253402300799,
    253402300800,
    9999999999999,
    INT64_MAX,
    0x8000000000000000,
    UINT64_MAX,
    UINT64_MAX - 1,
    1000000000000000000,
    10000000000000000000u,
};

/* Texts that programs may misread: invalid UTF-8, control characters, formulas, quotes, SQL,
 * JSON. */
#define TEXT(literal)                                   \
    {                                                   \
        (const uint8_t *)(literal), sizeof(literal) - 1 \
    }
static const tide_slice texts[] = {
    TEXT(""),
    TEXT("\0"),
    TEXT("a\0b"),
    TEXT("\xff\xfe\xfd"),
    TEXT("\xc0\xaf"),
    TEXT("\xed\xa0\x80"),
    TEXT("\xf4\x90\x80\x80"),
    TEXT("\xe2\x82"),
    TEXT("\xef\xbb\xbf"
         "bom"),
    TEXT("\xe2\x80\xae"
         "reversed"),
    TEXT("\x01\x02\x1b[31m\x7f"),
    TEXT("line\r\nbreak\ttab"),
    TEXT("\"quoted\", 'and' \\slashed\\"),
    TEXT("=cmd|' /C calc'!A0"),
    TEXT("+1"),
    TEXT("-1"),
    TEXT("@SUM(A1)"),
    TEXT("\t=1"),
    TEXT("\r=1"),
    TEXT("'; DROP SCHEMA event CASCADE; --"),
    TEXT("{\"a\":1}"),
    TEXT("[[[["),
    TEXT("NULL"),
    TEXT("\\N"),
    TEXT("\\."),
    TEXT("NaN"),
    TEXT("Infinity"),
    TEXT("1e999999"),
    TEXT("<script>alert(1)</script>"),
    TEXT("%s%n%x"),
    TEXT("$1"),
    TEXT("native"),
    TEXT("\xf0\x9f\x92\xa9\xf0\x9f\x92\xa9"),
};

/* Returns an edge, or a random number of random length. */
uint64_t hostile_u64(struct dice *d)
{
    if (dice_percent(d, 70))
        return edges[dice_of(d, TIDE_COUNT(edges))];
    uint64_t number = dice_u64(d);
    return number >> dice_of(d, 64);
}

uint32_t hostile_u32(struct dice *d)
{
    uint64_t v = hostile_u64(d);
    return v > UINT32_MAX ? UINT32_MAX - dice_of(d, 3) : (uint32_t)v;
}

void hostile_put_i128(struct dice *d, struct tide_buf *out)
{
    static const uint64_t high[] = { 0,         0,  0, UINT64_MAX,        UINT64_MAX,
                                     INT64_MAX, 1u, 5, 0x8000000000000000 };
    uint64_t hi = high[dice_of(d, TIDE_COUNT(high))];
    tide_buf_be64(out, dice_percent(d, 10) ? dice_u64(d) : hi);
    tide_buf_be64(out, hostile_u64(d));
}

/* Appends the padding behind len bytes. */
static void put_padding(struct tide_buf *out, uint32_t len)
{
    static const uint8_t zeros[3];
    tide_buf_put(out, zeros, (4 - len % 4) % 4);
}

void hostile_put_bytes(struct dice *d, struct tide_buf *out, uint32_t len)
{
    uint32_t same = dice_percent(d, 30) ? 0 : UINT32_MAX; /* zeros compress, random bytes do not */
    tide_buf_be32(out, len);
    for (uint32_t i = 0; i < len; i++)
        tide_buf_u8(out, (uint8_t)(dice_u64(d) & same));
    put_padding(out, len);
}

void hostile_put_text(struct dice *d, struct tide_buf *out, uint32_t max)
{
    tide_slice text = texts[dice_of(d, TIDE_COUNT(texts))];
    if (text.len > max)
        text.len = max;
    if (text.len == 0 || dice_percent(d, 60)) {
        tide_xdr_put_var(out, text);
        return;
    }
    uint32_t len = dice_size(d, 0, max);
    tide_buf_be32(out, len);
    for (uint32_t i = 0; i < len; i++)
        tide_buf_u8(out, text.ptr[i % text.len]);
    put_padding(out, len);
}

void hostile_put_symbol(struct dice *d, struct tide_buf *out, char letter)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    uint8_t text[32] = { (uint8_t)letter };
    uint32_t len = 1 + dice_of(d, dice_percent(d, 20) ? 32 : 6);
    for (uint32_t i = 1; i < len; i++)
        text[i] = (uint8_t)letters[dice_of(d, sizeof letters - 1)];
    tide_xdr_put_var(out, tide_slice_of(text, len));
}

/* Appends an SCAddress of arms 2 to 5. These occur in events and arguments only, not in
 * entries. */
static void put_odd_address(struct dice *d, struct tide_buf *out)
{
    uint32_t arm = 2 + dice_of(d, 4);
    tide_buf_be32(out, arm);
    if (arm == 2 || arm == 5) /* muxed: the id */
        tide_buf_be64(out, hostile_u64(d));
    if (arm == 3)
        tide_buf_be32(out, 0);
    for (uint32_t i = 0; i < TIDE_HASH_BYTES / 8; i++)
        tide_buf_be64(out, dice_u64(d));
}

/* Appends an SCAddress of any arm. */
static void put_address(struct dice *d, struct tide_buf *out)
{
    if (dice_percent(d, 40)) {
        put_odd_address(d, out);
        return;
    }
    uint32_t arm = dice_of(d, 2);
    tide_buf_be32(out, arm);
    if (arm == 0)
        tide_buf_be32(out, 0);
    for (uint32_t i = 0; i < TIDE_HASH_BYTES / 8; i++)
        tide_buf_be64(out, dice_percent(d, 20) ? 0 : dice_u64(d));
}

/* Appends an ScError: a contract's number, or a code of the host. */
static void put_error(struct dice *d, struct tide_buf *out)
{
    uint32_t type = dice_of(d, 10);
    lcm_words(out, type, type == 0 ? hostile_u32(d) : dice_of(d, 10));
}

/* Returns a length: often one at a limit, never more than fits in `bytes`. */
static uint32_t random_length(struct dice *d, uint32_t bytes)
{
    static const uint32_t lengths[] = { 0, 1, 3, 31, 32, 33, 64, 255, 256 };
    uint32_t most = bytes > 12 ? bytes - 12 : 0;
    uint32_t len =
        dice_percent(d, 70) ? lengths[dice_of(d, TIDE_COUNT(lengths))] : dice_of(d, most + 1);
    return len < most ? len : most;
}

/* Appends 64-bit words. */
static void put_fixed_words(struct dice *d, struct tide_buf *out, uint32_t words)
{
    for (uint32_t i = 0; i < words; i++)
        tide_buf_be64(out, hostile_u64(d));
}

/* Appends a symbol that the host would refuse. */
static void put_wild_symbol(struct dice *d, struct tide_buf *out)
{
    hostile_put_text(d, out, 32);
}

/* Appends a value of an arm that contains no other value. */
static void put_leaf(struct dice *d, struct tide_buf *out, uint32_t arm,
                     struct hostile_bounds bounds)
{
    tide_buf_be32(out, arm);
    switch (arm) {
    case TIDE_SCV_BOOL:
        tide_buf_be32(out, dice_of(d, 2));
        return;
    case TIDE_SCV_ERROR:
        put_error(d, out);
        return;
    case TIDE_SCV_U32:
    case TIDE_SCV_I32:
        tide_buf_be32(out, hostile_u32(d));
        return;
    case TIDE_SCV_U64:
    case TIDE_SCV_I64:
    case TIDE_SCV_TIMEPOINT:
    case TIDE_SCV_DURATION:
    case TIDE_SCV_LEDGER_KEY_NONCE:
        put_fixed_words(d, out, 1);
        return;
    case TIDE_SCV_U128:
    case TIDE_SCV_I128:
        hostile_put_i128(d, out);
        return;
    case TIDE_SCV_U256:
    case TIDE_SCV_I256:
        put_fixed_words(d, out, 4);
        return;
    case TIDE_SCV_BYTES:
        hostile_put_bytes(d, out, random_length(d, bounds.bytes));
        return;
    case TIDE_SCV_STRING:
    case TIDE_SCV_EXECUTABLE_TAG:
        hostile_put_text(d, out, random_length(d, bounds.bytes));
        return;
    case TIDE_SCV_SYMBOL:
        if (bounds.wild)
            put_wild_symbol(d, out);
        else
            hostile_put_symbol(d, out, 'q');
        return;
    case TIDE_SCV_ADDRESS:
        put_address(d, out);
        return;
    default: /* VOID and the key of an instance have no content */
        return;
    }
}

/* Arms that a map's key or a Vec's item may have, in ascending order. */
static const uint8_t leaves[] = {
    TIDE_SCV_BOOL,   TIDE_SCV_VOID,    TIDE_SCV_ERROR,     TIDE_SCV_U32,      TIDE_SCV_I32,
    TIDE_SCV_U64,    TIDE_SCV_I64,     TIDE_SCV_TIMEPOINT, TIDE_SCV_DURATION, TIDE_SCV_U128,
    TIDE_SCV_I128,   TIDE_SCV_U256,    TIDE_SCV_I256,      TIDE_SCV_BYTES,    TIDE_SCV_STRING,
    TIDE_SCV_SYMBOL, TIDE_SCV_ADDRESS,
};

/* Appends a random value without nesting. */
static void put_any_leaf(struct dice *d, struct tide_buf *out, struct hostile_bounds bounds)
{
    static const uint8_t wild[] = { TIDE_SCV_LEDGER_KEY_CONTRACT_INSTANCE,
                                    TIDE_SCV_LEDGER_KEY_NONCE, TIDE_SCV_EXECUTABLE_TAG };
    uint32_t arm = bounds.wild && dice_percent(d, 15) ? wild[dice_of(d, TIDE_COUNT(wild))]
                                                      : leaves[dice_of(d, TIDE_COUNT(leaves))];
    put_leaf(d, out, arm, bounds);
}

/* Returns the bounds of each of the value's parts, one level deeper. */
static struct hostile_bounds part_bounds(struct hostile_bounds bounds, uint32_t parts)
{
    uint32_t bytes = bounds.bytes / (parts ? parts : 1);
    return (struct hostile_bounds){ .bytes = bytes > 16 ? bytes - 16 : 0,
                                    .depth = bounds.depth ? bounds.depth - 1 : 0,
                                    .wild = bounds.wild };
}

/* Appends a Vec of random values. */
static void put_vec(struct dice *d, struct tide_buf *out, struct hostile_bounds bounds)
{
    uint32_t most = bounds.bytes / 24;
    uint32_t count = dice_percent(d, 90) ? dice_of(d, 5) : dice_of(d, most + 1);
    count = count < most ? count : most;
    lcm_put_vec(out, count);
    for (uint32_t i = 0; i < count; i++)
        hostile_value(d, out, part_bounds(bounds, count));
}

/* Appends a map with at most one key of each arm, in the order of the arms: ascending whatever the
 * keys contain. */
static void put_mixed_map(struct dice *d, struct tide_buf *out, struct hostile_bounds bounds)
{
    bool chosen[TIDE_COUNT(leaves)] = { false };
    uint32_t count = 0, most = bounds.bytes / 80;
    for (uint32_t i = 0; i < TIDE_COUNT(leaves) && count < most; i++) {
        chosen[i] = dice_percent(d, 30);
        count += chosen[i];
    }
    lcm_put_map(out, count);
    for (uint32_t i = 0; i < TIDE_COUNT(leaves); i++) {
        if (!chosen[i])
            continue;
        put_leaf(d, out, leaves[i], part_bounds(bounds, 4 * count));
        hostile_value(d, out, part_bounds(bounds, 2 * count));
    }
}

/* Appends a map with many keys of one arm: numbers, or strings and symbols of equal length that end
 * in a number. */
static void put_long_map(struct dice *d, struct tide_buf *out, struct hostile_bounds bounds)
{
    uint32_t most = bounds.bytes / 32, kind = dice_of(d, 3);
    uint32_t count = most ? dice_of(d, most < 400 ? most : 400) : 0;
    lcm_put_map(out, count);
    for (uint32_t i = 0; i < count; i++) {
        uint8_t text[4] = { 0xff, 0, (uint8_t)(i >> 8), (uint8_t)i };
        char letters[16];
        int len = snprintf(letters, sizeof letters, "k%05u", i);
        if (kind == 0) {
            lcm_words(out, TIDE_SCV_U32, i);
        } else if (kind == 1) {
            tide_buf_be32(out, TIDE_SCV_STRING);
            tide_xdr_put_var(out, tide_slice_of(text, sizeof text));
        } else {
            tide_buf_be32(out, TIDE_SCV_SYMBOL);
            tide_xdr_put_var(out, tide_slice_of((const uint8_t *)letters, (size_t)len));
        }
        put_any_leaf(d, out, (struct hostile_bounds){ .bytes = 24, .wild = bounds.wild });
    }
}

/* Appends a map whose key is a map of one key, and so on. A text form that quotes its keys doubles
 * in size at each level. */
static void put_key_chain(struct dice *d, struct tide_buf *out, struct hostile_bounds bounds)
{
    uint32_t most = bounds.bytes / 20 < bounds.depth ? bounds.bytes / 20 : bounds.depth;
    uint32_t levels = most ? 1 + dice_of(d, most) : 0;
    for (uint32_t i = 0; i < levels; i++) {
        lcm_put_map(out, 1);
    }
    put_any_leaf(d, out, (struct hostile_bounds){ .bytes = 16, .wild = bounds.wild });
    for (uint32_t i = 0; i < levels; i++)
        tide_buf_be32(out, TIDE_SCV_VOID);
}

/* Appends a Vec in a Vec, and so on, nearly as deep as allowed. */
static void put_vec_chain(struct dice *d, struct tide_buf *out, struct hostile_bounds bounds)
{
    uint32_t most = bounds.bytes / 12 < bounds.depth ? bounds.bytes / 12 : bounds.depth;
    uint32_t levels = most ? most - dice_of(d, most / 4 + 1) : 0;
    for (uint32_t i = 0; i < levels; i++) {
        lcm_put_vec(out, 1);
    }
    put_any_leaf(d, out, (struct hostile_bounds){ .bytes = 16, .wild = bounds.wild });
}

/* Appends a wild value: an absent Vec or Map, a map with equal keys, or an instance. */
static void put_illegal(struct dice *d, struct tide_buf *out, struct hostile_bounds bounds)
{
    switch (dice_of(d, 4)) {
    case 0:
        lcm_words(out, dice_of(d, 2) ? TIDE_SCV_VEC : TIDE_SCV_MAP, 0);
        return;
    case 1:
        lcm_put_map(out, 3);
        for (uint32_t i = 0; i < 3; i++) {
            tide_buf_be32(out, TIDE_SCV_VOID);
            put_any_leaf(d, out, part_bounds(bounds, 4));
        }
        return;
    case 2:
        lcm_words(out, TIDE_SCV_CONTRACT_INSTANCE, 1, 0); /* the executable: a Stellar asset */
        return;
    default:
        lcm_words(out, TIDE_SCV_CONTRACT_INSTANCE, 0);
        for (uint32_t i = 0; i < TIDE_HASH_BYTES / 8; i++)
            tide_buf_be64(out, dice_u64(d));
        lcm_words(out, 1, 1);
        put_any_leaf(d, out, part_bounds(bounds, 4));
        hostile_value(d, out, part_bounds(bounds, 2));
        return;
    }
}

void hostile_value(struct dice *d, struct tide_buf *out, struct hostile_bounds bounds)
{
    if (bounds.depth == 0 || bounds.bytes < 200) {
        put_any_leaf(d, out, bounds);
        return;
    }
    uint32_t luck = dice_of(d, 100);
    if (luck < 40)
        put_any_leaf(d, out, bounds);
    else if (luck < 60)
        put_vec(d, out, bounds);
    else if (luck < 72)
        put_mixed_map(d, out, bounds);
    else if (luck < 80)
        put_long_map(d, out, bounds);
    else if (luck < 87)
        put_key_chain(d, out, bounds);
    else if (luck < 93)
        put_vec_chain(d, out, bounds);
    else
        (bounds.wild ? put_illegal : put_vec)(d, out, bounds);
}
