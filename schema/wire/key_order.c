#include "tidemark/key_order.h"
#include "tidemark/scval.h"

enum { ACCOUNT, TRUST_LINE, OFFER, DATA, CLAIMABLE_BALANCE, LIQUIDITY_POOL, CONFIG_SETTING = 8 };
static_assert(LIQUIDITY_POOL == 5 && LIQUIDITY_POOL + 1 == TIDE_ENTRY_CONTRACT_DATA,
              "LedgerEntryType's numbers");
enum { PUBLIC_KEY_BYTES = 36, HASH_ID_BYTES = 36, WORD_BYTES = 4, OFFER_ID_BYTES = 8 };

/* Returns the length of a trust line's key: the account, then the asset by its arm. */
static size_t trust_line_bytes(const uint8_t *fields)
{
    static const uint8_t assets[] = { WORD_BYTES, WORD_BYTES + 4 + PUBLIC_KEY_BYTES,
                                      WORD_BYTES + 12 + PUBLIC_KEY_BYTES,
                                      WORD_BYTES + TIDE_HASH_BYTES };
    uint32_t arm = tide_be32(fields + PUBLIC_KEY_BYTES);
    assert(arm < TIDE_COUNT(assets));
    return PUBLIC_KEY_BYTES + assets[arm];
}

/* Returns the length of a data entry's key: the account, then the name. */
static size_t data_bytes(const uint8_t *fields)
{
    uint32_t name = tide_be32(fields + PUBLIC_KEY_BYTES);
    return PUBLIC_KEY_BYTES + WORD_BYTES + ((name + 3) & ~3u);
}

/* Returns the key of a type other than contract data. fields is where the entry's own fields begin,
 * or the key's. */
static struct tide_bucket_key plain_key(const struct tide_change *change, const uint8_t *fields)
{
    static const uint8_t fixed[] = { [ACCOUNT] = PUBLIC_KEY_BYTES,
                                     [OFFER] = PUBLIC_KEY_BYTES + OFFER_ID_BYTES,
                                     [CLAIMABLE_BALANCE] = HASH_ID_BYTES,
                                     [LIQUIDITY_POOL] = TIDE_HASH_BYTES,
                                     [CONFIG_SETTING] = WORD_BYTES };
    size_t len;
    if (change->type == TIDE_ENTRY_CONTRACT_CODE || change->type == TIDE_ENTRY_TTL)
        return (struct tide_bucket_key){ change->type,
                                         tide_slice_of(change->key_hash, TIDE_HASH_BYTES) };
    if (change->type == TRUST_LINE)
        len = trust_line_bytes(fields);
    else if (change->type == DATA)
        len = data_bytes(fields);
    else {
        assert(change->type < TIDE_COUNT(fixed)); /* the entry was read, so its type is known */
        len = fixed[change->type];
    }
    assert(len > 0);
    return (struct tide_bucket_key){ change->type, tide_slice_of(fields, len) };
}

static struct tide_bucket_key data_key(const struct tide_change *change)
{
    const uint8_t *end = change->key.ptr + change->key.len + WORD_BYTES; /* the durability */
    return (struct tide_bucket_key){
        change->type, tide_slice_of(change->contract.ptr, (size_t)(end - change->contract.ptr))
    };
}

struct tide_bucket_key tide_bucket_key_of_entry(const struct tide_change *entry)
{
    enum { BEFORE_FIELDS = 8 }; /* last modified, type */
    return entry->type == TIDE_ENTRY_CONTRACT_DATA
               ? data_key(entry)
               : plain_key(entry, entry->entry.ptr + BEFORE_FIELDS);
}

struct tide_bucket_key tide_bucket_key_of_key(const struct tide_change *key)
{
    return key->type == TIDE_ENTRY_CONTRACT_DATA ? data_key(key)
                                                 : plain_key(key, key->entry.ptr + WORD_BYTES);
}

/* Two cursors over values that were checked before, at the same place of both. Each function below
 * compares one value and, if both are equal, moves behind it. */
struct pair {
    const uint8_t *a, *b;
};

static int order_fixed(struct pair *p, size_t len)
{
    int order = memcmp(p->a, p->b, len);
    p->a += len;
    p->b += len;
    return order;
}

/* Compares signed integers of 4 to 32 bytes, the most significant byte first. */
static int order_signed(struct pair *p, size_t len)
{
    int a = p->a[0] ^ 0x80, b = p->b[0] ^ 0x80;
    return a != b ? a - b : order_fixed(p, len);
}

static int order_word(struct pair *p, uint32_t *value)
{
    *value = tide_be32(p->a);
    return order_fixed(p, WORD_BYTES);
}

/* Compares byte strings of variable length. */
static int order_bytes(struct pair *p)
{
    uint32_t a = tide_be32(p->a), b = tide_be32(p->b);
    int order = memcmp(p->a + WORD_BYTES, p->b + WORD_BYTES, a < b ? a : b);
    if (order || a != b)
        return order ? order : a < b ? -1 : 1;
    p->a += WORD_BYTES + ((a + 3) & ~(size_t)3);
    p->b += WORD_BYTES + ((a + 3) & ~(size_t)3);
    return 0;
}

static int order_address(struct pair *p)
{
    static const uint8_t bodies[] = { 36, 32, 40, 36, 32, 40 };
    uint32_t arm;
    int order = order_word(p, &arm);
    assert(order || arm < TIDE_COUNT(bodies));
    return order ? order : order_fixed(p, bodies[arm]);
}

static int order_value(struct pair *p);

/* Compares two lists. `each` is the number of values of an element: 1 in a vec, 2 in a map. */
static int order_list(struct pair *p, uint32_t each)
{
    uint32_t present;
    int order = order_word(p, &present);
    if (order || !present)
        return order;
    uint64_t a = tide_be32(p->a), b = tide_be32(p->b);
    p->a += WORD_BYTES;
    p->b += WORD_BYTES;
    for (uint64_t i = 0; i < (a < b ? a : b) * each && !order; i++)
        order = order_value(p);
    return order || a == b ? order : a < b ? -1 : 1;
}

static int order_instance(struct pair *p)
{
    enum { WASM, ASSET, REFERENCE };
    uint32_t arm;
    int order = order_word(p, &arm);
    if (!order && arm == WASM)
        order = order_fixed(p, TIDE_HASH_BYTES);
    if (!order && arm == REFERENCE)
        order = order_address(p);
    if (!order && arm == REFERENCE)
        order = order_bytes(p);
    return order ? order : order_list(p, 2);
}

/* Compares ScVals. The nesting is at most that of the check before. */
static int order_value(struct pair *p)
{
    static const uint8_t plain[] = { 4, 0, 8, 4, 0, 8, 0, 8, 8, 16, 0, 32 }; /* arms 0 to 11 */
    static_assert(TIDE_COUNT(plain) == TIDE_SCV_U256 + 1, "the arms behind it have a case");
    uint32_t arm;
    int order = order_word(p, &arm);
    if (order)
        return order;
    switch (arm) {
    case TIDE_SCV_I32:
        return order_signed(p, 4);
    case TIDE_SCV_I64:
    case TIDE_SCV_LEDGER_KEY_NONCE:
        return order_signed(p, 8);
    case TIDE_SCV_I128:
        return order_signed(p, 16);
    case TIDE_SCV_I256:
        return order_signed(p, 32);
    case TIDE_SCV_BYTES:
    case TIDE_SCV_STRING:
    case TIDE_SCV_SYMBOL:
    case TIDE_SCV_EXECUTABLE_TAG:
        return order_bytes(p);
    case TIDE_SCV_VEC:
        return order_list(p, 1);
    case TIDE_SCV_MAP:
        return order_list(p, 2);
    case TIDE_SCV_ADDRESS:
        return order_address(p);
    case TIDE_SCV_CONTRACT_INSTANCE:
        return order_instance(p);
    default:
        return arm < TIDE_COUNT(plain) ? order_fixed(p, plain[arm]) : 0;
    }
}

static int order_data_name(const struct tide_bucket_key *a, const struct tide_bucket_key *b)
{
    struct pair p = { a->fields.ptr, b->fields.ptr };
    int order = order_fixed(&p, PUBLIC_KEY_BYTES);
    return order ? order : order_bytes(&p);
}

static int order_contract_data(const struct tide_bucket_key *a, const struct tide_bucket_key *b)
{
    struct pair p = { a->fields.ptr, b->fields.ptr };
    int order = order_address(&p);
    if (!order)
        order = order_value(&p);
    return order ? order : order_fixed(&p, WORD_BYTES);
}

int tide_bucket_key_order(const struct tide_bucket_key *a, const struct tide_bucket_key *b)
{
    if (a->type != b->type)
        return a->type < b->type ? -1 : 1;
    if (a->type == TIDE_ENTRY_CONTRACT_DATA)
        return order_contract_data(a, b);
    if (a->type == DATA)
        return order_data_name(a, b);
    /* The lengths differ for trust lines alone, whose assets then differ in their arms. */
    return memcmp(a->fields.ptr, b->fields.ptr,
                  a->fields.len < b->fields.len ? a->fields.len : b->fields.len);
}
