/* A ledger through the decoder, for a deployment that the input describes: a count, then so many
 * roles with their contract ids, then the ledger. For any bytes, either the batch is unchanged or
 * every row fits its table's columns. */
#include "tests/fuzz/promise.h"

#include "indexer/decode/decode.h"
#include "tidemark/hash.h"
#include "tidemark/table.h"
#include "tidemark/text.h"
#include "tidemark/xdr.h"

#include <stdlib.h>
#include <string.h>

static bool fits_column(const struct tide_column *column, tide_slice v)
{
    switch (column->type) {
    case TIDE_PG_BOOL:
        return v.len == 1 && v.ptr[0] <= 1;
    case TIDE_PG_INT2:
        return v.len == 2;
    case TIDE_PG_INT4:
        return v.len == 4;
    case TIDE_PG_INT8:
    case TIDE_PG_TIMESTAMPTZ:
        return v.len == 8;
    case TIDE_PG_NUMERIC20:
        return v.len >= 8 && v.len <= 8 + 2 * 5;
    case TIDE_PG_NUMERIC39:
        return v.len >= 8 && v.len <= 8 + 2 * 10;
    case TIDE_PG_TEXT:
        return tide_utf8_valid(v) && (v.len == 0 || !memchr(v.ptr, 0, v.len));
    case TIDE_PG_JSON:
        return v.len > 0 && tide_utf8_valid(v);
    case TIDE_PG_TEXT_ARRAY:
    case TIDE_PG_BOOL_ARRAY:
    case TIDE_PG_INT4_ARRAY:
    case TIDE_PG_INT8_ARRAY:
    case TIDE_PG_NUMERIC_ARRAY:
        return v.len >= 12;
    case TIDE_PG_BYTEA:
        break;
    }
    return true;
}

static void check_row(struct tide_xdr *x, const struct tide_table *table)
{
    PROMISE(tide_xdr_left(x) > 2);
    PROMISE((uint32_t)(x->cur[0] << 8 | x->cur[1]) == table->column_count);
    x->cur += 2;
    for (uint32_t i = 0; i < table->column_count; i++) {
        int32_t len = tide_xdr_i32(x);
        if (len < 0) {
            PROMISE(len == -1 && table->columns[i].nullable);
            continue;
        }
        PROMISE((size_t)len <= tide_xdr_left(x));
        PROMISE(fits_column(&table->columns[i], tide_slice_of(x->cur, (size_t)len)));
        x->cur += len;
    }
    PROMISE(x->status == TIDE_OK);
}

static void check_batch(const struct tide_batch *batch, bool filled)
{
    uint32_t count;
    const struct tide_table *tables = tide_tables(&count);
    for (uint32_t t = 0; t < count; t++) {
        const struct tide_rows *rows = &batch->rows[t];
        /* rows of state have the columns of history */
        const struct tide_table *shape =
            tables[t].kind == TIDE_TABLE_STATE ? &tables[tables[t].pair] : &tables[t];
        struct tide_xdr x = tide_xdr_of(tide_buf_view(&rows->copy));
        uint64_t found = 0;
        for (; tide_xdr_left(&x); found++)
            check_row(&x, shape);
        PROMISE(found == rows->count);
        PROMISE(filled || found == 0);
    }
}

/* Reads the contracts and moves `data` past them. Returns false if the input is too short. */
static bool take_contracts(struct tide_deployment *deployment, const uint8_t **data, size_t *size)
{
    enum { CONTRACT = 1 + TIDE_HASH_BYTES };
    if (*size == 0 || *size < 1 + (size_t)CONTRACT * **data)
        return false;
    for (uint32_t i = 0; i < **data; i++) {
        const uint8_t *at = *data + 1 + (size_t)CONTRACT * i;
        struct tide_contract contract = { .role = (enum tide_role)(*at % TIDE_ROLE_COUNT) };
        memcpy(contract.id, at + 1, TIDE_HASH_BYTES);
        if (tide_deployment_add(deployment, &contract) == TIDE_E_LIMIT)
            return false;
    }
    size_t used = 1 + (size_t)CONTRACT * **data;
    *data += used;
    *size -= used;
    return true;
}

static void index_ledger(const struct tide_deployment *deployment, tide_slice lcm)
{
    struct tide_err err;
    struct tide_decode *decode;
    struct tide_batch *batch = malloc(sizeof *batch);
    const struct tide_decode_options options = { .deployment = deployment,
                                                 .proof = TIDE_PROOF_EVENTS,
                                                 .discovered_max = 4 };
    if (!batch || tide_decode_open(&decode, &options, &err) != TIDE_OK)
        abort();
    tide_batch_init(batch);
    tide_status status = tide_decode_ledger(decode, batch, lcm, &err);
    check_batch(batch, status == TIDE_OK);
    PROMISE(status == TIDE_OK || err.text[0]);
    if (status == TIDE_OK) {
        tide_decode_batch_end(decode, batch);
        check_batch(batch, true);
    }
    tide_decode_close(decode);
    tide_batch_release(batch);
    free(batch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tide_deployment *deployment = calloc(1, sizeof *deployment);
    if (!deployment)
        abort();
    tide_network_id(deployment->network_id, TIDE_SLICE("Tidemark Simulated Network ; 2026"));
    if (take_contracts(deployment, &data, &size))
        index_ledger(deployment, tide_slice_of(data, size));
    free(deployment);
    return 0;
}
