/* Typed values: writes an ScVal as a COPY column. */
#include "indexer/decode/decode_impl.h"

#include "indexer/base/copy.h"
#include "tidemark/scval.h"
#include "tidemark/strkey.h"
#include "tidemark/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes that are not printable ASCII are shown as '?': the reason goes into a text column. */
bool value_reject(struct tide_decode *d, const char *why, tide_slice name)
{
    char plain[33] = "";
    for (size_t i = 0; i < name.len && i + 1 < sizeof plain; i++) {
        bool shown = name.ptr[i] > ' ' && name.ptr[i] < 0x7f;
        plain[i] = shown ? (char)name.ptr[i] : '?'; /* printable ASCII only */
    }
    snprintf(d->reason, sizeof d->reason, "%s%s%s", why, name.len ? " " : "", plain);
    return false;
}

int value_field_index(const struct tide_kind *kind, const char *column)
{
    int at = (int)kind->field_count - 1;
    while (strcmp(kind->fields[at].column, column) != 0)
        at--;
    assert(at >= 0);
    return at;
}

bool value_is_void(tide_slice value)
{
    return tide_scval_type_of(value) == TIDE_SCV_VOID;
}

/* Returns the bytes of a bytes, string or symbol value. The walk has checked its length. */
static tide_slice body_of(tide_slice value)
{
    return (tide_slice){ value.ptr + 8, tide_be32(value.ptr + 4) };
}

/* Appends an address of any kind (muxed accounts, pools …) as text. Returns false for a kind
 * without text. */
static bool put_other_address(struct tide_buf *out, tide_slice value)
{
    uint8_t *to = tide_buf_room(out, 4 + TIDE_STRKEY_ADDRESS_MAX);
    if (!to)
        return true; /* out->failed is set */
    size_t len =
        tide_strkey_from_address((char *)to + 4, (tide_slice){ value.ptr + 4, value.len - 4 });
    if (len == 0)
        return false;
    assert(len <= TIDE_STRKEY_ADDRESS_MAX);
    uint32_t word = __builtin_bswap32((uint32_t)len);
    memcpy(to, &word, 4);
    out->len += 4 + len;
    return true;
}

/* Appends an address as text. Accounts and contracts, whose text has 56 bytes, are taken from the
 * cache if they are there. */
static bool put_address(struct tide_decode *d, struct tide_buf *out, tide_slice value)
{
    tide_slice xdr = { value.ptr + 4, value.len - 4 };
    uint32_t arm = tide_be32(xdr.ptr);
    if (xdr.len > sizeof d->addresses->xdr || arm > 1)
        return put_other_address(out, value);
    /* The last bytes of a key or hash are random enough. */
    uint64_t mix = tide_be64(xdr.ptr + xdr.len - 8) ^ arm;
    struct address_slot *slot = &d->addresses[mix % ADDRESS_SLOTS];
    if (memcmp(slot->xdr, xdr.ptr, xdr.len) != 0 || slot->text[0] == 0) {
        memset(slot->xdr, 0, sizeof slot->xdr);
        memcpy(slot->xdr, xdr.ptr, xdr.len);
        char text[TIDE_STRKEY_ADDRESS_MAX];
        if (tide_strkey_from_address(text, xdr) != ADDRESS_TEXT) {
            slot->text[0] = 0;
            return false;
        }
        memcpy(slot->text, text, ADDRESS_TEXT);
    }
    tide_copy_bytes(out, slot->text, ADDRESS_TEXT);
    return true;
}

static bool put_text(struct tide_buf *out, tide_slice value)
{
    tide_slice text = body_of(value);
    if (!tide_utf8_valid(text) || (text.len && memchr(text.ptr, 0, text.len)))
        return false;
    tide_copy_bytes(out, text.ptr, text.len);
    return true;
}

static bool put_symbol(struct tide_buf *out, tide_slice value)
{
    tide_slice s = body_of(value);
    for (size_t i = 0; i < s.len; i++) {
        uint8_t c = s.ptr[i];
        if (!(c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
              (c >= 'a' && c <= 'z')))
            return false; /* the host makes no such symbols, but a ledger could hold one */
    }
    tide_copy_bytes(out, s.ptr, s.len);
    return true;
}

/* Appends an enum value: a vec of one symbol. */
static bool put_enum_symbol(struct tide_buf *out, tide_slice value)
{
    struct tide_xdr x = tide_xdr_of(value);
    tide_xdr_u32(&x);
    if (!tide_xdr_bool(&x) || tide_xdr_u32(&x) != 1)
        return false;
    tide_slice only = tide_scval_span(&x);
    return tide_scval_type_of(only) == TIDE_SCV_SYMBOL && put_symbol(out, only);
}

static bool put_vec(struct tide_decode *d, struct tide_buf *out, enum tide_type element,
                    tide_slice value)
{
    struct tide_xdr x = tide_xdr_of(value);
    tide_xdr_u32(&x);
    if (!tide_xdr_bool(&x))
        return false;
    uint32_t count = tide_xdr_u32(&x);
    enum tide_copy_oid oid = element == TIDE_T_U32   ? TIDE_OID_INT8
                             : element == TIDE_T_U64 ? TIDE_OID_NUMERIC
                                                     : TIDE_OID_TEXT;
    struct tide_copy_array array = tide_copy_array_begin(out, oid, count);
    for (uint32_t i = 0; i < count; i++)
        if (!value_put(d, out, element, tide_scval_span(&x)))
            return false;
    tide_copy_array_end(out, array);
    return true;
}

static bool put_json(struct tide_buf *out, tide_slice value)
{
    size_t at = tide_copy_open(out);
    bool fits = tide_scval_json_stored(out, value, 1);
    tide_copy_close(out, at);
    return fits;
}

/* Appends a value whose ScVal arm is checked already. */
static bool put_scalar(struct tide_decode *d, struct tide_buf *out, enum tide_type type,
                       tide_slice value)
{
    assert(value.ptr && value.len >= 4);
    const uint8_t *p = value.ptr + 4;
    switch (type) {
    case TIDE_T_BOOL:
        tide_copy_bool(out, tide_be32(p) == 1);
        return true;
    case TIDE_T_U32:
    case TIDE_T_ENUM_U32:
        tide_copy_int8(out, tide_be32(p));
        return true;
    case TIDE_T_U64:
        tide_copy_u64(out, tide_be64(p));
        return true;
    case TIDE_T_I128:
        tide_copy_i128(out, tide_i128_from_parts((int64_t)tide_be64(p), tide_be64(p + 8)));
        return true;
    case TIDE_T_SYM:
        return put_symbol(out, value);
    case TIDE_T_ADDR:
        return put_address(d, out, value);
    case TIDE_T_BYTES:
    case TIDE_T_STR:
    case TIDE_T_B32: {
        tide_slice body = body_of(value);
        tide_copy_bytes(out, body.ptr, body.len);
        return type != TIDE_T_B32 || body.len == 32;
    }
    case TIDE_T_TEXT:
        return put_text(out, value);
    case TIDE_T_ENUM_SYM:
        return put_enum_symbol(out, value);
    case TIDE_T_VEC_SYM:
        return put_vec(d, out, TIDE_T_SYM, value);
    case TIDE_T_VEC_ADDR:
        return put_vec(d, out, TIDE_T_ADDR, value);
    case TIDE_T_VEC_U32:
        return put_vec(d, out, TIDE_T_U32, value);
    case TIDE_T_VEC_U64:
        return put_vec(d, out, TIDE_T_U64, value);
    case TIDE_T_ANY:
    case TIDE_T_MUXED:
        return put_json(out, value);
    }
    assert(0 && "unreachable: the types are the catalogue's");
    return false;
}

const char *value_muxed_type(tide_slice value)
{
    switch (tide_scval_type_of(value)) {
    case TIDE_SCV_U64:
        return "u64";
    case TIDE_SCV_STRING:
        return "string";
    case TIDE_SCV_BYTES:
        return "bytes";
    default:
        return value_is_void(value) ? "void" : NULL;
    }
}

/* The ScVal arm that each column type is made from. */
bool value_fits(enum tide_type type, tide_slice value)
{
    static const int8_t arms[] = {
        [TIDE_T_BOOL] = TIDE_SCV_BOOL,
        [TIDE_T_U32] = TIDE_SCV_U32,
        [TIDE_T_U64] = TIDE_SCV_U64,
        [TIDE_T_I128] = TIDE_SCV_I128,
        [TIDE_T_SYM] = TIDE_SCV_SYMBOL,
        [TIDE_T_ADDR] = TIDE_SCV_ADDRESS,
        [TIDE_T_BYTES] = TIDE_SCV_BYTES,
        [TIDE_T_B32] = TIDE_SCV_BYTES,
        [TIDE_T_STR] = TIDE_SCV_STRING,
        [TIDE_T_TEXT] = TIDE_SCV_STRING,
        [TIDE_T_ENUM_U32] = TIDE_SCV_U32,
        [TIDE_T_ENUM_SYM] = TIDE_SCV_VEC,
        [TIDE_T_VEC_SYM] = TIDE_SCV_VEC,
        [TIDE_T_VEC_ADDR] = TIDE_SCV_VEC,
        [TIDE_T_VEC_U32] = TIDE_SCV_VEC,
        [TIDE_T_VEC_U64] = TIDE_SCV_VEC,
        [TIDE_T_ANY] = -2, /* any arm */
        [TIDE_T_MUXED] = -2,
    };
    static_assert(TIDE_COUNT(arms) == TIDE_T_MUXED + 1, "each type has its arm");
    assert((size_t)type < TIDE_COUNT(arms));
    if (type == TIDE_T_MUXED)
        return value_muxed_type(value) && !value_is_void(value);
    return arms[type] == -2 || arms[type] == tide_scval_type_of(value);
}

bool value_put(struct tide_decode *d, struct tide_buf *out, enum tide_type type, tide_slice value)
{
    return value_fits(type, value) && put_scalar(d, out, type, value);
}

/* Returns the index of the field for a member's name, in the value itself or in its member `outer`;
 * -1 if the kind has none. */
static int field_of(const struct tide_kind *kind, const char *outer, tide_slice name)
{
    for (uint32_t i = 0; i < kind->field_count; i++) {
        const struct tide_field *f = &kind->fields[i];
        bool member = outer ? f->place == TIDE_P_SUB && strcmp(f->outer, outer) == 0
                            : f->place == TIDE_P_FIELD;
        if (member && tide_slice_eq_str(name, f->name))
            return (int)i;
    }
    return -1;
}

/* Returns the name of the member that is itself a struct with fields of this kind, or NULL. */
static const char *outer_of(const struct tide_kind *kind, tide_slice name)
{
    for (uint32_t i = 0; i < kind->field_count; i++)
        if (kind->fields[i].place == TIDE_P_SUB && tide_slice_eq_str(name, kind->fields[i].outer))
            return kind->fields[i].outer;
    return NULL;
}

bool value_members(const struct tide_kind *kind, const char *outer, tide_slice value,
                   tide_slice *values, tide_slice *unknown)
{
    struct tide_xdr x = tide_xdr_of(value);
    if (tide_xdr_u32(&x) != TIDE_SCV_MAP || !tide_xdr_bool(&x))
        return false;
    uint32_t count = tide_xdr_u32(&x);
    for (uint32_t i = 0; i < count; i++) {
        if (tide_xdr_u32(&x) != TIDE_SCV_SYMBOL)
            return false;
        tide_slice name = tide_xdr_var(&x, 32);
        tide_slice member = tide_scval_span(&x);
        const char *inner = outer ? NULL : outer_of(kind, name);
        int at = field_of(kind, outer, name);
        if (inner) {
            if (!value_members(kind, inner, member, values, unknown))
                return false;
        } else if (at >= 0 && values[at].len == 0) {
            values[at] = member;
        } else if (unknown->len == 0) {
            *unknown = name; /* or a name that occurs twice, which the host does not make */
        }
    }
    return true;
}

/* ---- growing arrays ---- */

void *decode_list_push(struct list *list, size_t size)
{
    assert(size > 0 && list->count <= list->cap);
    if (list->count == list->cap) {
        uint32_t cap = list->cap ? list->cap * 2 : 64;
        void *items = cap > list->cap ? realloc(list->items, cap * size) : NULL;
        if (!items)
            return NULL;
        list->items = items;
        list->cap = cap;
    }
    return memset((uint8_t *)list->items + size * list->count++, 0, size);
}
