/* Replaces words in encoded rows by their keys of chain.word, with a set-associative cache of
 * keys. */
#include "indexer/database/words.h"
#include "indexer/base/copy.h"
#include "tidemark/i128.h"
#include "tidemark/xdr.h"

#include <stdlib.h>
#include <sys/random.h>

/* The cache has SETS sets of WAYS words. SLOTS_FIRST is the first size of the hash table of missing
 * words. */
enum { SETS = 16384, WAYS = 4, SLOTS_FIRST = 1024, BYTES_MAX = INT32_MAX };
static_assert((SLOTS_FIRST & (SLOTS_FIRST - 1)) == 0, "a mask finds the slot");
static_assert((UINT8_MAX + 1) % WAYS == 0, "the next way wraps to the first one");

/* A word's entry in `keys` is its key, or MISSING | index of the missing word. Keys are positive
 * int4. */
#define MISSING UINT32_C(0x80000000)
static_assert(BYTES_MAX < MISSING, "an index of a missing word leaves the mark free");

/* A cached word with its key. */
struct cached {
    uint32_t key; /* 0: the entry is free */
    uint32_t hash;
    uint8_t len;
    uint8_t bytes[TIDE_WORDS_KEPT_BYTES];
};
static_assert(TIDE_WORDS_KEPT_BYTES <= UINT8_MAX, "cached.len holds each length");

/* A word of the transaction that the cache lacked. */
struct missing {
    uint32_t key; /* 0: not read from the database yet */
    uint32_t hash;
    uint32_t at, len; /* position in tide_words.bytes */
};

struct tide_words {
    uint64_t seed; /* random: contracts choose the words, and no one may choose ones that collide */
    struct cached (*cached)[WAYS];
    uint8_t next[SETS]; /* the way that is replaced next */
    /* State of the present transaction. */
    struct tide_buf keys; /* uint32_t for each word read, table by table */
    /* Offset in keys of each table's first word. */
    size_t first[TIDE_TABLES_MAX];
    struct tide_buf missing, bytes; /* struct missing; the bytes of their words */
    uint32_t *slots;                /* hash table of 1 + index of a missing word; 0: free */
    uint32_t slot_count, unknown;   /* unknown: missing words without a key */
};

static uint64_t mix_bits(uint64_t a, uint64_t b)
{
    tide_raw_u128 product = (tide_raw_u128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint32_t hash_of(const struct tide_words *words, tide_slice word)
{
    uint64_t h = words->seed ^ word.len, part;
    size_t at = 0;
    for (; at + 8 <= word.len; at += 8) {
        memcpy(&part, word.ptr + at, 8);
        h = mix_bits(h ^ part, UINT64_C(0x9e3779b97f4a7c15));
    }
    part = 0;
    if (word.len > at)
        memcpy(&part, word.ptr + at, word.len - at);
    h = mix_bits(h ^ part, UINT64_C(0xd6e8feb86659fd93) ^ words->seed);
    return (uint32_t)(h ^ h >> 32);
}

tide_status tide_words_open(struct tide_words **out, struct tide_err *err)
{
    struct tide_words *words = calloc(1, sizeof *words);
    *out = words;
    if (words) {
        words->cached = calloc(SETS, sizeof *words->cached);
        words->slots = calloc(SLOTS_FIRST, sizeof *words->slots);
    }
    if (!words || !words->cached || !words->slots)
        return tide_fail(err, TIDE_E_MEMORY, "words");
    if (getrandom(&words->seed, sizeof words->seed, 0) != sizeof words->seed)
        return tide_fail(err, TIDE_E_IO, "words: no random bytes");
    words->slot_count = SLOTS_FIRST;
    tide_buf_init(&words->keys, BYTES_MAX);
    tide_buf_init(&words->missing, BYTES_MAX);
    tide_buf_init(&words->bytes, BYTES_MAX);
    return TIDE_OK;
}

void tide_words_close(struct tide_words *words)
{
    if (!words)
        return;
    tide_buf_release(&words->keys);
    tide_buf_release(&words->missing);
    tide_buf_release(&words->bytes);
    free(words->slots);
    free(words->cached);
    free(words);
}

void tide_words_forget(struct tide_words *words)
{
    memset(words->cached, 0, SETS * sizeof *words->cached);
}

/* ---- the cache ---- */

/* Returns the word's key, or 0 if the cache lacks it. */
static uint32_t cached_key(const struct tide_words *words, uint32_t hash, tide_slice word)
{
    const struct cached *set = words->cached[hash % SETS];
    for (uint32_t i = 0; i < WAYS; i++)
        if (set[i].hash == hash && set[i].key && set[i].len == word.len &&
            memcmp(set[i].bytes, word.ptr, word.len) == 0)
            return set[i].key;
    return 0;
}

/* Puts the word into the cache in place of the oldest entry of its set. */
static void cache_word(struct tide_words *words, const struct missing *m)
{
    uint32_t set = m->hash % SETS;
    if (m->len > TIDE_WORDS_KEPT_BYTES)
        return;
    struct cached *cached = &words->cached[set][words->next[set]++ % WAYS];
    *cached = (struct cached){ .key = m->key, .hash = m->hash, .len = (uint8_t)m->len };
    memcpy(cached->bytes, words->bytes.ptr + m->at, m->len);
}

/* ---- missing words ---- */

static uint32_t missing_count(const struct tide_words *words)
{
    return (uint32_t)(words->missing.len / sizeof(struct missing));
}

static struct missing *missing_at(const struct tide_words *words, uint32_t number)
{
    assert(number < missing_count(words));
    return (struct missing *)(void *)words->missing.ptr + number;
}

static tide_slice missing_word(const struct tide_words *words, uint32_t number)
{
    const struct missing *m = missing_at(words, number);
    return tide_slice_of(words->bytes.ptr + m->at, m->len);
}

/* Returns the word's slot in the hash table, or the free slot where it belongs. */
static uint32_t *slot_of(const struct tide_words *words, uint32_t hash, tide_slice word)
{
    uint32_t at = hash & (words->slot_count - 1);
    for (; words->slots[at]; at = (at + 1) & (words->slot_count - 1)) {
        uint32_t number = words->slots[at] - 1;
        if (missing_at(words, number)->hash == hash &&
            tide_slice_eq(missing_word(words, number), word))
            break;
    }
    return &words->slots[at];
}

static bool grow_slots(struct tide_words *words)
{
    uint32_t *slots = calloc(2 * (size_t)words->slot_count, sizeof *slots);
    if (!slots)
        return false;
    free(words->slots);
    words->slots = slots;
    words->slot_count *= 2;
    for (uint32_t i = 0; i < missing_count(words); i++)
        *slot_of(words, missing_at(words, i)->hash, missing_word(words, i)) = i + 1;
    return true;
}

/* Adds a word once. *number is its index. Returns false without memory. */
static bool add_missing(struct tide_words *words, uint32_t hash, tide_slice word, uint32_t *number)
{
    if (missing_count(words) >= words->slot_count / 2 && !grow_slots(words))
        return false;
    uint32_t *slot = slot_of(words, hash, word);
    if (!*slot) {
        struct missing m = { .hash = hash,
                             .at = (uint32_t)words->bytes.len,
                             .len = (uint32_t)word.len };
        tide_buf_slice(&words->bytes, word);
        tide_buf_put(&words->missing, &m, sizeof m);
        if (words->bytes.failed || words->missing.failed)
            return false;
        *slot = missing_count(words);
        words->unknown++;
    }
    assert(missing_count(words) <= words->slot_count / 2); /* a search ends at a free slot */
    *number = *slot - 1;
    return true;
}

/* ---- reading tuples ---- */

void tide_words_begin(struct tide_words *words)
{
    tide_buf_reset(&words->keys);
    tide_buf_reset(&words->missing);
    tide_buf_reset(&words->bytes);
    memset(words->slots, 0, words->slot_count * sizeof *words->slots);
    words->unknown = 0;
}

bool tide_words_missing(const struct tide_words *words)
{
    return words->unknown > 0;
}

/* Appends the word's key, or its index among the missing words, to keys. */
static bool read_word(struct tide_words *words, tide_slice word)
{
    uint32_t hash = hash_of(words, word), key = cached_key(words, hash, word);
    if (!key) {
        if (!add_missing(words, hash, word, &key))
            return false;
        key |= MISSING;
    }
    tide_buf_put(&words->keys, &key, sizeof key);
    return true;
}

/* Reads a field of a COPY row: a length, then as many bytes. Returns false if the row is cut
 * short. */
static bool take_field(tide_slice *rest, tide_slice *field, bool *null)
{
    if (rest->len < 4)
        return false;
    uint32_t len = tide_be32(rest->ptr);
    *null = len == UINT32_MAX;
    size_t bytes = *null ? 0 : len;
    if (rest->len - 4 < bytes)
        return false;
    *field = tide_slice_of(rest->ptr + 4, bytes);
    *rest = tide_slice_of(rest->ptr + 4 + bytes, rest->len - 4 - bytes);
    return true;
}

/* The array's header: dimensions, flags, type. For each dimension: count, lower bound. */
enum { ARRAY_HEAD = 12, ARRAY_DIMENSION = 8 };

/* Reads the header of a one-dimensional array without NULLs and moves *field to its elements.
 * Returns false for any other array. */
static bool open_array(tide_slice *field, uint32_t *count)
{
    *count = 0;
    if (field->len < ARRAY_HEAD)
        return false;
    if (tide_be32(field->ptr) == 0) {
        *field = tide_slice_of(field->ptr + ARRAY_HEAD, field->len - ARRAY_HEAD);
        return true;
    }
    if (tide_be32(field->ptr) != 1 || field->len < ARRAY_HEAD + ARRAY_DIMENSION)
        return false;
    *count = tide_be32(field->ptr + ARRAY_HEAD);
    *field = tide_slice_of(field->ptr + ARRAY_HEAD + ARRAY_DIMENSION,
                           field->len - ARRAY_HEAD - ARRAY_DIMENSION);
    return true;
}

static bool read_array(struct tide_words *words, tide_slice field)
{
    uint32_t count;
    tide_slice word;
    bool null;
    if (!open_array(&field, &count))
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (!take_field(&field, &word, &null) || null || !read_word(words, word))
            return false;
    return field.len == 0;
}

/* Reads the words of one COPY row and moves *rest behind it. Returns false if the row does not fit
 * the table. */
static bool read_tuple(struct tide_words *words, const struct tide_table *table, tide_slice *rest)
{
    if (rest->len < 2 || (uint32_t)(rest->ptr[0] << 8 | rest->ptr[1]) != table->column_count)
        return false;
    *rest = tide_slice_of(rest->ptr + 2, rest->len - 2);
    for (uint32_t i = 0; i < table->column_count; i++) {
        const struct tide_column *column = &table->columns[i];
        tide_slice field;
        bool null;
        if (!take_field(rest, &field, &null))
            return false;
        if (!column->keyed || null)
            continue;
        if (!(column->type == TIDE_PG_TEXT ? read_word(words, field) : read_array(words, field)))
            return false;
    }
    return true;
}

static tide_status reject_rows(const struct tide_table *table, struct tide_err *err)
{
    return tide_fail(err, TIDE_E_LIMIT, "words: a row of %s is cut short, or memory is short",
                     table->name);
}

tide_status tide_words_read(struct tide_words *words, uint32_t place,
                            const struct tide_table *table, tide_slice tuples, struct tide_err *err)
{
    assert(place < TIDE_TABLES_MAX && table->stored);
    words->first[place] = words->keys.len;
    while (tuples.len)
        if (!read_tuple(words, table, &tuples))
            return reject_rows(table, err);
    return words->keys.failed ? reject_rows(table, err) : TIDE_OK;
}

/* ---- queries ---- */

/* Appends the array text {"…","…"} of the missing words without a key. */
static tide_status put_unknown(const struct tide_words *words, struct tide_buf *out,
                               struct tide_err *err)
{
    const char *before = "{\"";
    for (uint32_t i = 0; i < missing_count(words); i++) {
        tide_slice word = missing_word(words, i);
        if (missing_at(words, i)->key)
            continue;
        tide_buf_str(out, before);
        before = ",\"";
        for (size_t k = 0; k < word.len; k++) {
            if (word.ptr[k] == '"' || word.ptr[k] == '\\')
                tide_buf_u8(out, '\\');
            tide_buf_u8(out, word.ptr[k]);
        }
        tide_buf_u8(out, '"');
    }
    tide_buf_put(out, "}", 2);
    return out->failed ? tide_fail(err, TIDE_E_LIMIT, "words: the list of new words does not fit")
                       : TIDE_OK;
}

/* Runs a query that returns words with their keys, for all missing words without a key. */
static tide_status query_keys(struct tide_words *words, struct tide_pg *pg, const char *sql,
                              struct tide_err *err)
{
    struct tide_pg_rows rows = { 0 };
    struct tide_buf list;
    tide_buf_init(&list, BYTES_MAX);
    tide_status status = put_unknown(words, &list, err);
    if (status == TIDE_OK)
        status = tide_pg_query(pg, &rows, sql, (const char *[]){ (const char *)list.ptr }, 1, err);
    tide_buf_release(&list);
    for (uint32_t i = 0; i < rows.count && status == TIDE_OK; i++) {
        tide_slice word = tide_pg_slice(&rows, i, 0);
        uint32_t slot = *slot_of(words, hash_of(words, word), word);
        assert(slot && "only words that were asked for");
        struct missing *m = missing_at(words, slot - 1);
        words->unknown -= !m->key;
        m->key = (uint32_t)tide_pg_u64(&rows, i, 1);
        cache_word(words, m);
    }
    tide_pg_rows_release(&rows);
    return status;
}

tide_status tide_words_ask(struct tide_words *words, struct tide_pg *pg, struct tide_err *err)
{
    /* Existing words are searched before any is added: an INSERT that conflicts would use up a key.
     * If two transactions add the same word, the second waits for the first and then finds the
     * word. */
    static const char find[] = "SELECT w.word, w.id FROM unnest($1::text[]) AS u (word)"
                               " JOIN chain.word AS w ON w.word = u.word";
    static const char add[] =
        "INSERT INTO chain.word (word) SELECT u.word FROM unnest($1::text[]) AS u (word)"
        " ORDER BY u.word COLLATE \"C\" ON CONFLICT (word) DO NOTHING RETURNING word, id";
    tide_status status = words->unknown ? query_keys(words, pg, find, err) : TIDE_OK;
    if (status == TIDE_OK && words->unknown)
        status = query_keys(words, pg, add, err);
    /* Read the words that another transaction added meanwhile and that the INSERT skipped. */
    if (status == TIDE_OK && words->unknown)
        status = query_keys(words, pg, find, err);
    if (status == TIDE_OK && words->unknown)
        status = tide_fail(err, TIDE_E_DB, "words: %u new words are not visible in chain.word",
                           words->unknown);
    return status;
}

/* ---- writing tuples ---- */

/* The value of a stored row in a column. */
struct value {
    const struct tide_column *column; /* NULL: the rows have no such column */
    tide_slice field;                 /* with its length */
    const uint32_t *keys;             /* keyed columns: keys or indexes of the words */
    uint32_t key_count;
};

/* The rows of a table that are not put yet. */
struct putting {
    const struct tide_table *table;
    tide_slice rest;
    const uint32_t *next; /* key or index of the next word */
};

static struct putting putting_of(const struct tide_words *words, const struct tide_words_rows *rows)
{
    assert(rows->place < TIDE_TABLES_MAX && words->first[rows->place] <= words->keys.len);
    assert(words->first[rows->place] % sizeof(uint32_t) == 0);
    const void *keys = words->keys.ptr + words->first[rows->place];
    return (struct putting){ rows->table, rows->tuples, keys };
}

static uint32_t words_in(const struct tide_column *column, tide_slice field)
{
    uint32_t count;
    if (column->type == TIDE_PG_TEXT)
        return 1;
    bool whole = open_array(&field, &count);
    assert(whole); /* tide_words_read has read it */
    (void)whole;
    return count;
}

static struct value *free_place(struct value *values, uint32_t place)
{
    while (values[place].column)
        place++;
    assert(place < TIDE_COLUMNS_MAX);
    return &values[place];
}

/* Takes the values of the next row. */
static void take_tuple(struct putting *p, struct value *values)
{
    p->rest = tide_slice_of(p->rest.ptr + 2, p->rest.len - 2);
    for (uint32_t i = 0; i < p->table->column_count; i++) {
        const struct tide_column *column = &p->table->columns[i];
        struct value *to = &values[column->slot];
        const uint8_t *at = p->rest.ptr;
        tide_slice field;
        bool null, whole = take_field(&p->rest, &field, &null);
        assert(whole); /* tide_words_read has read it */
        (void)whole;
        *to = (struct value){ column, tide_slice_of(at, (size_t)(p->rest.ptr - at)), NULL, 0 };
        if (column->keyed && !null) {
            to->keys = p->next;
            to->key_count = words_in(column, field);
            p->next += to->key_count;
        }
        if (column->also && !null)
            *free_place(values, column->also) = *to;
    }
}

static void put_key(const struct tide_words *words, uint32_t key, struct tide_buf *out)
{
    if (key & MISSING)
        key = missing_at(words, key & ~MISSING)->key;
    assert(key);
    tide_copy_int4(out, (int32_t)key);
}

static void put_array(const struct tide_words *words, const struct value *v, struct tide_buf *out)
{
    struct tide_copy_array array = tide_copy_array_begin(out, TIDE_OID_INT4, v->key_count);
    for (uint32_t i = 0; i < v->key_count; i++)
        put_key(words, v->keys[i], out);
    tide_copy_array_end(out, array);
}

static void put_value(const struct tide_words *words, const struct value *v, struct tide_buf *out)
{
    if (!v->column)
        tide_copy_null(out);
    else if (!v->keys)
        tide_buf_slice(out, v->field);
    else if (v->column->type == TIDE_PG_TEXT)
        put_key(words, v->keys[0], out);
    else
        put_array(words, v, out);
}

static void put_values(const struct tide_words *words, const struct tide_table *table,
                       const struct value *values, int64_t life, struct tide_buf *out)
{
    const struct tide_table *stored = table->stored;
    uint32_t own = tide_table_own_columns(stored);
    tide_copy_row(out, (uint16_t)own);
    for (uint32_t i = 0; i < own - (table->life ? 1 : 0); i++)
        put_value(words, &values[i], out);
    if (table->life)
        tide_copy_int8(out, life);
}

/* The number of the rows' kind, as a field with its length. */
struct number {
    uint8_t field[4 + 2];
    const struct tide_column *column;
};

static struct number number_of(const struct tide_table *table)
{
    struct number n = { { 0, 0, 0, 2, (uint8_t)(table->number >> 8), (uint8_t)table->number },
                        NULL };
    for (uint32_t i = 0; table->number && i < table->stored->column_count && !n.column; i++)
        if (strcmp(table->stored->columns[i].name, "kind") == 0)
            n.column = &table->stored->columns[i];
    return n;
}

/* The columns by which a row completes another one: each with its length. */
enum { SAME_BYTES = 4 + 2 + 4 + 4 + 4 + 4 };

/* Returns whether the next row of `more` completes the next one of p. */
static bool is_completed(const struct putting *p, const struct putting *more)
{
    return more->rest.len && memcmp(p->rest.ptr + 2, more->rest.ptr + 2, SAME_BYTES) == 0;
}

tide_status tide_words_put(const struct tide_words *words, const struct tide_words_rows *rows,
                           const struct tide_words_rows *more, struct tide_buf *out,
                           struct tide_err *err)
{
    const struct tide_table *stored = rows->table->stored;
    assert(words->unknown == 0 && stored && (!more || more->table->stored == stored));
    struct value values[TIDE_COLUMNS_MAX];
    struct putting p = putting_of(words, rows), m = { 0 };
    const struct number number = number_of(rows->table);
    if (more)
        m = putting_of(words, more);
    for (size_t row = 0; p.rest.len && !out->failed; row++) {
        int64_t life = rows->lives ? rows->lives[row] : 0;
        bool completed = is_completed(&p, &m);
        memset(values, 0, stored->column_count * sizeof *values);
        take_tuple(&p, values);
        if (completed)
            take_tuple(&m, values);
        if (number.column)
            values[number.column - stored->columns] =
                (struct value){ number.column, tide_slice_of(number.field, sizeof number.field),
                                NULL, 0 };
        if (life != TIDE_WORDS_LEAVE_OUT)
            put_values(words, rows->table, values, life, out);
    }
    assert((const uint8_t *)p.next <= words->keys.ptr + words->keys.len); /* words that were read */
    if (out->failed || m.rest.len)
        return tide_fail(err, TIDE_E_LIMIT, "words: rows of %s do not fit the %s",
                         rows->table->name, out->failed ? "buffer" : "rows that complete them");
    return TIDE_OK;
}
