/* Fills in the names of rollup statements and answers questions about them. */
#include "indexer/rollup/rollup.h"
#include "tidemark/deployment.h"

#include <assert.h>
#include <string.h>

bool tide_rollup_next(tide_slice *rest, tide_slice *before, struct tide_rollup_name *name)
{
    const uint8_t *open = memchr(rest->ptr, '{', rest->len);
    const uint8_t *end = rest->ptr + rest->len;
    const uint8_t *close = open ? memchr(open, '}', (size_t)(end - open)) : NULL;
    if (!close) {
        *before = *rest;
        *rest = tide_slice_of(end, 0);
        return false;
    }
    *before = tide_slice_of(rest->ptr, (size_t)(open - rest->ptr));
    *rest = tide_slice_of(close + 1, (size_t)(end - close - 1));
    name->mark = open[1] == '!'   ? TIDE_ROLLUP_NEEDS
                 : open[1] == '=' ? TIDE_ROLLUP_INTO
                                  : TIDE_ROLLUP_BESIDE;
    open += name->mark == TIDE_ROLLUP_BESIDE ? 1 : 2;
    const uint8_t *dot = memchr(open, '.', (size_t)(close - open));
    name->schema = tide_slice_of(open, dot ? (size_t)(dot - open) : 0);
    open = dot ? dot + 1 : open;
    name->table = tide_slice_of(open, (size_t)(close - open));
    return true;
}

/* Writes a table of a role that has one contract, joined with that contract of the deployment file:
 * only its rows count. Rows have the contract's key of chain.word. The join's inner select has no
 * columns and one row, which the planner drops; it lets the condition stand behind the table, which
 * may have an alias. */
static void put_bound(struct tide_buf *out, const struct tide_rollup_writer *writer,
                      const struct tide_rollup_name *name, enum tide_role role)
{
    assert(!tide_slice_eq_str(name->schema, "state"));
    tide_buf_u8(out, '(');
    writer->put(writer->self, out, name);
    tide_buf_putf(out,
                  " AS \"%.*s\" JOIN (SELECT) AS \"%.*s_bound\" ON \"%.*s\".contract_key ="
                  " (SELECT chain.word_key(c.address) FROM chain.deployment AS k, "
                  "jsonb_to_recordset(k.contracts) AS c(address text,"
                  " role text) WHERE k.id = $1::smallint AND c.role = '%s'))",
                  TIDE_SLICE_FMT(name->table), TIDE_SLICE_FMT(name->table),
                  TIDE_SLICE_FMT(name->table), tide_role_name(role));
}

/* Copies text with writer->values in place of $1, $2 and $3. The statements have no other $. */
static void put_text(struct tide_buf *out, const struct tide_rollup_writer *writer, tide_slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] != '$' || !writer->values) {
            tide_buf_u8(out, text.ptr[i]);
            continue;
        }
        assert(i + 1 < text.len && text.ptr[i + 1] >= '1' && text.ptr[i + 1] <= '3');
        tide_buf_str(out, writer->values[text.ptr[++i] - '1']);
    }
}

void tide_rollup_write(struct tide_buf *out, const struct tide_rollup *rollup,
                       const struct tide_rollup_writer *writer)
{
    tide_slice rest = rollup->sql, before;
    struct tide_rollup_name name;
    while (tide_rollup_next(&rest, &before, &name)) {
        enum tide_role role = tide_role_of_table(name.table);
        put_text(out, writer, before);
        if (name.mark != TIDE_ROLLUP_INTO && tide_role_is_single(role))
            put_bound(out, writer, &name, role);
        else if (name.mark == TIDE_ROLLUP_INTO)
            tide_buf_putf(out, "%s.\"%.*s\"", writer->into, TIDE_SLICE_FMT(name.table));
        else
            writer->put(writer->self, out, &name);
    }
    put_text(out, writer, before);
    tide_buf_u8(out, 0);
}

static bool is_among(const tide_slice *all, uint32_t count, tide_slice one)
{
    for (uint32_t i = 0; i < count; i++)
        if (tide_slice_eq(all[i], one))
            return true;
    return false;
}

uint32_t tide_rollup_tables(tide_slice out[TIDE_ROLLUP_TABLES_MAX])
{
    uint32_t count = 0;
    for (size_t i = 0; i < tide_rollup_count; i++) {
        tide_slice rest = tide_rollups[i].sql, before;
        struct tide_rollup_name name;
        while (tide_rollup_next(&rest, &before, &name))
            if (name.mark == TIDE_ROLLUP_INTO && !is_among(out, count, name.table)) {
                assert(count < TIDE_ROLLUP_TABLES_MAX);
                out[count++] = name.table;
            }
    }
    return count;
}
