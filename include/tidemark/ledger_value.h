/* Values of the ledger as structs of fixed size: amounts, addresses, symbols, names. They are
 * packed, without alignment, because records of the hot cache consist of them (hot_record.h). */
#ifndef TIDEMARK_LEDGER_VALUE_H
#define TIDEMARK_LEDGER_VALUE_H

#include "tidemark/base.h"
#include "tidemark/i128.h"
#include "tidemark/slice.h"

#define TIDE_HOT_NAME_MAX 96u /* bytes stored of a name; longer names are cut */

#define TIDE_HOT_PACKED __attribute__((packed))

/* An i128 without alignment. */
struct TIDE_HOT_PACKED tide_hot_amount {
    uint64_t lo;
    int64_t hi;
};

/* The address of an account or a contract. kind 0: no address, or one of another kind. */
struct TIDE_HOT_PACKED tide_hot_address {
    uint8_t kind; /* enum tide_strkey */
    uint8_t key[TIDE_HASH_BYTES];
};

/* Zero-padded; a symbol has at most 32 bytes and no NUL. */
struct TIDE_HOT_PACKED tide_hot_symbol {
    char text[32];
};

struct TIDE_HOT_PACKED tide_hot_name {
    uint16_t len; /* bytes of the name on the ledger; above TIDE_HOT_NAME_MAX: text is cut */
    uint8_t text[TIDE_HOT_NAME_MAX];
};
/* Addresses and symbols are parts of keys as well (hot_record.h). */
static_assert(sizeof(struct tide_hot_amount) == 16 && sizeof(struct tide_hot_address) == 33 &&
                  sizeof(struct tide_hot_symbol) == 32 && sizeof(struct tide_hot_name) == 98,
              "values are stored without gaps");

static inline tide_raw_i128 tide_hot_i128(struct tide_hot_amount amount)
{
    return tide_i128_from_parts(amount.hi, amount.lo).raw;
}

static inline struct tide_hot_amount tide_hot_amount(tide_raw_i128 v)
{
    return (struct tide_hot_amount){ .lo = (uint64_t)(tide_raw_u128)v, .hi = (int64_t)(v >> 64) };
}

/* Parses a G… or C… address strictly. Returns false for any other text; *out is then empty. */
bool tide_hot_address_parse(struct tide_hot_address *out, tide_slice text);
/* Writes the strkey, NUL-terminated; "" for no address. */
#define TIDE_HOT_ADDRESS_TEXT 57u
static_assert(TIDE_HOT_ADDRESS_TEXT == ((TIDE_HASH_BYTES + 3) * 8 + 4) / 5 + 1, "base32 and NUL");
void tide_hot_address_text(char out[TIDE_HOT_ADDRESS_TEXT], const struct tide_hot_address *address);

static inline bool tide_hot_address_eq(const struct tide_hot_address *a,
                                       const struct tide_hot_address *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

/* Copies text into a symbol. Returns false if it is longer than a symbol can be. */
static inline bool tide_hot_symbol_of(struct tide_hot_symbol *out, tide_slice text)
{
    *out = (struct tide_hot_symbol){ { 0 } };
    if (text.len > sizeof out->text)
        return false;
    if (text.len)
        memcpy(out->text, text.ptr, text.len);
    return true;
}

static inline tide_slice tide_hot_symbol_slice(const struct tide_hot_symbol *symbol)
{
    return tide_slice_of(symbol->text, strnlen(symbol->text, sizeof symbol->text));
}

#endif
