/* Shared by the answers of views_driver: a question, its arguments, values as the recordings write
 * them, single entries as JSON. */
#ifndef TESTS_FAULTS_VIEWS_H
#define TESTS_FAULTS_VIEWS_H

#include "tidemark/history_lookup.h"
#include "tidemark/text.h"

#include <stdio.h>
#include <stdlib.h>

enum { ARGS_MAX = 4 };

struct view {
    struct tide_history history;
    uint64_t now;
    tide_slice role, fn, arg[ARGS_MAX];
    uint32_t args;
    struct tide_hot_address contract;
    struct record_set set;
    struct tide_buf *out; /* the value of the answer */
    struct tide_err err;
};

/* Writes the answer to v->out, or sets *why to the contract's refusal. Any status but TIDE_OK ends
 * the program. */
typedef tide_status answer_fn(struct view *v, enum tide_refusal *why);

/* --- arguments and values -------------------------------------------------------------- */

static inline struct tide_hot_symbol symbol_at(const struct view *v, uint32_t i)
{
    struct tide_hot_symbol symbol;
    (void)tide_hot_symbol_of(&symbol, v->arg[i]);
    return symbol;
}

static inline struct tide_hot_address address_at(const struct view *v, uint32_t i)
{
    struct tide_hot_address address;
    (void)tide_hot_address_parse(&address, v->arg[i]);
    return address;
}

static inline uint64_t number_at(const struct view *v, uint32_t i)
{
    uint64_t n = 0;
    (void)!tide_parse_u64(&n, v->arg[i], UINT64_MAX);
    return n;
}

static inline bool true_at(const struct view *v, uint32_t i)
{
    return tide_slice_eq_str(v->arg[i], "true");
}

static inline tide_raw_i128 amount_at(const struct view *v, uint32_t i)
{
    tide_i128 n = { 0 };
    (void)!tide_i128_parse(&n, v->arg[i]);
    return n.raw;
}

static inline void put_amount(struct tide_buf *out, tide_raw_i128 v)
{
    char text[TIDE_I128_TEXT_MAX];
    size_t len = tide_i128_text(text, (tide_i128){ v });
    tide_buf_putf(out, "\"%.*s\"", (int)len, text);
}

static inline void put_field(struct tide_buf *out, const char *name, struct tide_hot_amount v)
{
    tide_buf_putf(out, ",\"%s\":", name);
    put_amount(out, tide_hot_i128(v));
}

static inline void put_bool(struct tide_buf *out, bool v)
{
    tide_buf_str(out, v ? "true" : "false");
}

static inline void put_address(struct tide_buf *out, const struct tide_hot_address *address)
{
    char text[TIDE_HOT_ADDRESS_TEXT];
    tide_hot_address_text(text, address);
    tide_buf_putf(out, "\"%s\"", text);
}

static inline void put_symbol(struct tide_buf *out, const struct tide_hot_symbol *symbol)
{
    tide_buf_json_string(out, tide_hot_symbol_slice(symbol));
}

static inline struct tide_entry_key entry(struct view *v, const char *table, enum tide_role role,
                                          const char *variant)
{
    return (struct tide_entry_key){ .table = table,
                                    .contract = v->history.contracts[role],
                                    .variant = variant };
}

static inline struct tide_entry_key with(struct tide_entry_key key, struct tide_key_part part)
{
    key.parts[key.count++] = part;
    return key;
}

/* Writes one column of the entry, or `fallback` if there is no entry. The column is an SQL
 * expression that makes JSON. */
static inline tide_status put_column(struct view *v, const struct tide_entry_key *key,
                                     const char *sql, const char *fallback, bool *found)
{
    struct tide_pg_rows rows;
    bool there;
    tide_status status = tide_history_entry(&v->history, &rows, &there, key, sql, &v->err);
    if (status != TIDE_OK)
        return status;
    if (there && !tide_pg_is_null(&rows, 0, 0))
        tide_buf_slice(v->out, tide_pg_slice(&rows, 0, 0));
    else
        tide_buf_str(v->out, fallback);
    tide_pg_rows_release(&rows);
    if (found)
        *found = there;
    return TIDE_OK;
}

static inline const void *record_of(struct view *v, struct tide_hot_key key)
{
    return record_set_find(&v->set, &key);
}

/* Reads a number of the entry, or 0 if there is no entry. */
static inline tide_status number_of(struct view *v, const struct tide_entry_key *key,
                                    const char *column, uint64_t *out)
{
    struct tide_pg_rows rows;
    bool found;
    tide_status status = tide_history_entry(&v->history, &rows, &found, key, column, &v->err);
    *out = status == TIDE_OK && found ? tide_pg_u64(&rows, 0, 0) : 0;
    tide_pg_rows_release(&rows);
    return status;
}

#endif
