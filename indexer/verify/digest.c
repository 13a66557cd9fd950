/* Digests of rows in the form of COPY BINARY. */
#include "indexer/verify/digest.h"
#include "tidemark/hash.h"
#include "tidemark/text.h"

#include <stdio.h>

static uint16_t be16_at(const uint8_t *p)
{
    return (uint16_t)(p[0] << 8 | p[1]);
}

static uint32_t be32_at(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* Moves *rest behind one field; *whole is its length and value. Returns false if the tuple is cut
 * short. */
static bool next_field(tide_slice *rest, tide_slice *whole, bool *null)
{
    if (rest->len < 4)
        return false;
    uint32_t len = be32_at(rest->ptr);
    *null = len == UINT32_MAX;
    size_t bytes = 4 + (*null ? 0 : (size_t)len);
    if (rest->len < bytes)
        return false;
    *whole = tide_slice_of(rest->ptr, bytes);
    rest->ptr += bytes;
    rest->len -= bytes;
    return true;
}

tide_status tide_digest_field(tide_slice tuple, uint32_t column, tide_slice *field, bool *null)
{
    if (tuple.len < 2 || be16_at(tuple.ptr) <= column)
        return TIDE_E_DECODE;
    tide_slice rest = tide_slice_of(tuple.ptr + 2, tuple.len - 2);
    tide_slice whole = { NULL, 0 };
    for (uint32_t i = 0; i <= column; i++)
        if (!next_field(&rest, &whole, null))
            return TIDE_E_DECODE;
    *field = tide_slice_of(whole.ptr + 4, whole.len - 4);
    return TIDE_OK;
}

size_t tide_digest_tuple_length(tide_slice bytes)
{
    tide_slice whole;
    bool null;
    if (bytes.len < 2)
        return 0;
    tide_slice rest = tide_slice_of(bytes.ptr + 2, bytes.len - 2);
    for (uint32_t i = be16_at(bytes.ptr); i > 0; i--)
        if (!next_field(&rest, &whole, &null))
            return 0;
    return bytes.len - rest.len;
}

static_assert(sizeof(((struct tide_digest *)0)->limb) == TIDE_HASH_BYTES, "a sum of hashes");

/* Adds a hash as a number of 256 bits. */
static void add_hash(struct tide_digest *digest, const uint8_t hash[TIDE_HASH_BYTES])
{
    struct tide_digest one = { .rows = 1 };
    for (uint32_t i = 0; i < 4; i++)
        for (uint32_t b = 0; b < 8; b++)
            one.limb[3 - i] = one.limb[3 - i] << 8 | hash[8 * i + b];
    tide_digest_add(digest, &one);
}

void tide_digest_bytes(struct tide_digest *digest, tide_slice bytes)
{
    uint8_t hash[TIDE_HASH_BYTES];
    tide_sha256(hash, bytes);
    add_hash(digest, hash);
}

/* Returns whether the field's value is the text. */
static bool field_is(tide_slice whole, const char *text)
{
    assert(whole.len >= 4);
    return tide_slice_eq_str(tide_slice_of(whole.ptr + 4, whole.len - 4), text);
}

tide_status tide_digest_tuple(struct tide_digest *digest, const struct tide_table *table,
                              tide_slice tuple)
{
    struct tide_sha256 h;
    uint8_t hash[TIDE_HASH_BYTES];
    bool counts = true;
    if (tuple.len < 2 || be16_at(tuple.ptr) != table->column_count)
        return TIDE_E_DECODE;
    tide_slice rest = tide_slice_of(tuple.ptr + 2, tuple.len - 2);
    tide_sha256_init(&h);
    for (uint32_t i = 0; i < table->column_count; i++) {
        tide_slice whole;
        bool null;
        if (!next_field(&rest, &whole, &null))
            return TIDE_E_DECODE;
        if (!table->columns[i].no_digest)
            tide_sha256_update(&h, whole);
        if (table->digest_column && strcmp(table->columns[i].name, table->digest_column) == 0)
            counts = field_is(whole, table->digest_value);
    }
    if (rest.len)
        return TIDE_E_DECODE;
    tide_sha256_final(&h, hash);
    if (counts)
        add_hash(digest, hash);
    return TIDE_OK;
}

void tide_digest_add(struct tide_digest *digest, const struct tide_digest *other)
{
    uint64_t carry = 0;
    for (uint32_t i = 0; i < 4; i++) {
        uint64_t sum = digest->limb[i] + carry;
        carry = sum < carry;
        sum += other->limb[i];
        carry += sum < other->limb[i];
        digest->limb[i] = sum;
    }
    digest->rows += other->rows;
}

bool tide_digest_eq(const struct tide_digest *a, const struct tide_digest *b)
{
    return a->rows == b->rows && memcmp(a->limb, b->limb, sizeof a->limb) == 0;
}

void tide_digest_text(char out[TIDE_DIGEST_TEXT_BYTES + 1], const struct tide_digest *digest)
{
    int len = snprintf(out, TIDE_DIGEST_TEXT_BYTES + 1,
                       "%016" PRIx64 "%016" PRIx64 "%016" PRIx64 "%016" PRIx64, digest->limb[3],
                       digest->limb[2], digest->limb[1], digest->limb[0]);
    assert(len == (int)TIDE_DIGEST_TEXT_BYTES);
    (void)len;
}

bool tide_digest_copy_sql(char *out, size_t size, const struct tide_table *table, const char *where)
{
    assert(table->column_count > 0 && table->column_count <= TIDE_COLUMNS_MAX);
    struct tide_buf sql;
    tide_buf_init(&sql, 32u << 10);
    tide_buf_str(&sql, "COPY (SELECT ");
    for (uint32_t i = 0; i < table->column_count; i++)
        tide_buf_putf(&sql, "%s\"%s\"", i ? ", " : "", table->columns[i].name);
    tide_buf_putf(&sql, " FROM \"%s\".\"%s\"", table->schema, table->name);
    if (*where)
        tide_buf_putf(&sql, " WHERE %s", where);
    tide_buf_str(&sql, ") TO STDOUT (FORMAT binary)");
    bool fits = !sql.failed && sql.len < size;
    if (fits) {
        memcpy(out, sql.ptr, sql.len);
        out[sql.len] = 0;
    }
    tide_buf_release(&sql);
    return fits;
}

struct sum {
    const struct tide_table *table;
    struct tide_digest digest;
};

static tide_status sum_tuple(void *self, tide_slice tuple, struct tide_err *err)
{
    struct sum *sum = self;
    if (tide_digest_tuple(&sum->digest, sum->table, tuple) != TIDE_OK)
        return tide_fail(err, TIDE_E_SCHEMA,
                         "%s.%s: a row does not have the columns that this build knows",
                         sum->table->schema, sum->table->name);
    return TIDE_OK;
}

tide_status tide_digest_table(struct tide_pg *pg, const struct tide_table *table, const char *where,
                              struct tide_digest *out, struct tide_err *err)
{
    char sql[8192];
    struct sum sum = { .table = table };
    struct tide_pg_tuples sink = { .tuple = sum_tuple, .self = &sum };
    if (!tide_digest_copy_sql(sql, sizeof sql, table, where))
        return tide_fail(err, TIDE_E_LIMIT, "%s.%s: too many columns", table->schema, table->name);
    tide_status status = tide_pg_copy_out(pg, &sink, sql, err);
    if (status == TIDE_OK)
        *out = sum.digest;
    return status;
}
