/* Entries as of a ledger, by the hashes of their ledger keys. */
#include "tidemark/history_lookup.h"
#include "schema/reader/reader_sql.h"
#include "tidemark/hash.h"
#include "tidemark/meta.h"
#include "tidemark/scval.h"
#include "tidemark/strkey.h"
#include "tidemark/table.h"
#include "tidemark/text.h"
#include "tidemark/xdr.h"

enum { ROLE, ADDRESS, NETWORK, CONTRACTS, HASH, CLOSED };

static const char open_sql[] =
    "SELECT c ->> 'role', c ->> 'address', d.network_id, d.contracts_hash, l.hash,"
    " chain.unix_ms(l.closed_at) FROM chain.deployment AS d LEFT JOIN chain.ledger AS"
    " l ON l.deployment = d.id AND l.ledger = $2, jsonb_array_elements(d.contracts) AS c"
    " WHERE d.id = $1";

static void read_ledger(struct tide_history *history, const struct tide_pg_rows *rows)
{
    uint8_t network[TIDE_HASH_BYTES], contracts[TIDE_HASH_BYTES];
    if (tide_pg_bytes(rows, 0, NETWORK, network, sizeof network) &&
        tide_pg_bytes(rows, 0, CONTRACTS, contracts, sizeof contracts))
        tide_deployment_protocol(history->protocol, network, contracts);
    if (!tide_pg_is_null(rows, 0, CLOSED) &&
        tide_pg_bytes(rows, 0, HASH, history->ledger_hash, sizeof history->ledger_hash))
        history->closed_ms = tide_pg_u64(rows, 0, CLOSED);
}

tide_status tide_history_open(struct tide_history *history, struct tide_pg *pg, uint16_t deployment,
                              uint32_t ledger, struct tide_err *err)
{
    assert(pg && deployment);
    struct tide_pg_rows rows;
    *history = (struct tide_history){ .pg = pg, .deployment = deployment, .ledger = ledger };
    const char *const values[] = { TIDE_PG_NUMBER(deployment), TIDE_PG_NUMBER(ledger) };
    tide_status status = tide_pg_query(pg, &rows, open_sql, values, TIDE_COUNT(values), err);
    if (status != TIDE_OK)
        return status;
    for (uint32_t i = 0; i < rows.count; i++) {
        enum tide_role role = tide_role_named(tide_pg_slice(&rows, i, ROLE));
        if (role < TIDE_ROLE_COUNT)
            (void)tide_hot_address_parse(&history->contracts[role],
                                         tide_pg_slice(&rows, i, ADDRESS));
    }
    if (rows.count)
        read_ledger(history, &rows);
    else
        status = tide_fail(err, TIDE_E_MISSING, "the database holds no deployment %u", deployment);
    tide_pg_rows_release(&rows);
    return status;
}

/* --- storage keys ------------------------------------------------------------------- */

static void put_address(struct tide_buf *xdr, const struct tide_hot_address *address)
{
    uint8_t bytes[TIDE_STRKEY_XDR_MAX];
    char text[TIDE_HOT_ADDRESS_TEXT];
    tide_hot_address_text(text, address);
    tide_buf_put(xdr, bytes, tide_strkey_to_address(bytes, tide_slice_str(text)));
}

static void put_symbol(struct tide_buf *xdr, tide_slice symbol)
{
    tide_buf_be32(xdr, TIDE_SCV_SYMBOL);
    tide_xdr_put_var(xdr, symbol);
}

static void put_part(struct tide_buf *xdr, const struct tide_key_part *part)
{
    switch (part->type) {
    case TIDE_KEY_SYMBOL:
        put_symbol(xdr, part->symbol);
        break;
    case TIDE_KEY_ADDRESS:
        tide_buf_be32(xdr, TIDE_SCV_ADDRESS);
        put_address(xdr, &part->address);
        break;
    case TIDE_KEY_U32:
        tide_buf_be32(xdr, TIDE_SCV_U32);
        tide_buf_be32(xdr, part->number);
        break;
    }
}

/* Writes the ScVal of the key: a vec of variant and arguments, or LedgerKeyContractInstance. */
static void put_storage_key(struct tide_buf *xdr, const struct tide_entry_key *key)
{
    assert(key->count <= TIDE_COUNT(key->parts));
    if (!key->variant) {
        tide_buf_be32(xdr, TIDE_SCV_LEDGER_KEY_CONTRACT_INSTANCE);
        return;
    }
    tide_buf_be32(xdr, TIDE_SCV_VEC);
    tide_buf_be32(xdr, 1);
    tide_buf_be32(xdr, key->count + 1);
    put_symbol(xdr, tide_slice_str(key->variant));
    for (uint32_t i = 0; i < key->count; i++)
        put_part(xdr, &key->parts[i]);
}

void tide_entry_key_put(struct tide_buf *xdr, const struct tide_entry_key *key)
{
    enum { TEMPORARY, PERSISTENT };
    tide_buf_be32(xdr, TIDE_ENTRY_CONTRACT_DATA);
    put_address(xdr, &key->contract);
    put_storage_key(xdr, key);
    tide_buf_be32(xdr, key->temporary ? TEMPORARY : PERSISTENT);
}

tide_status tide_history_key(char out[TIDE_KEY_TEXT], const struct tide_entry_key *key,
                             struct tide_err *err)
{
    uint8_t hash[TIDE_HASH_BYTES];
    struct tide_buf xdr;
    tide_buf_init(&xdr, 512);
    tide_entry_key_put(&xdr, key);
    if (!xdr.failed)
        tide_sha256(hash, tide_buf_view(&xdr));
    bool failed = xdr.failed;
    tide_buf_release(&xdr);
    if (failed)
        return tide_fail(err, TIDE_E_MEMORY, "key of an entry");
    tide_bytea_text(out, tide_slice_of(hash, sizeof hash));
    return TIDE_OK;
}

/* --- entries ------------------------------------------------------------------------ */

/* Writes the keys' hashes as a PostgreSQL array literal. */
static tide_status put_hashes(struct tide_buf *out, const struct tide_entry_key *keys,
                              uint32_t count, struct tide_err *err)
{
    char hash[TIDE_KEY_TEXT];
    tide_buf_u8(out, '{');
    for (uint32_t i = 0; i < count; i++) {
        tide_status status = tide_history_key(hash, &keys[i], err);
        if (status != TIDE_OK)
            return status;
        tide_buf_str(out, i ? ",\"\\" : "\"\\");
        tide_buf_str(out, hash);
        tide_buf_u8(out, '"');
    }
    tide_buf_put(out, "}", 2);
    return out->failed ? tide_fail(err, TIDE_E_MEMORY, "keys") : TIDE_OK;
}

tide_status tide_history_records(struct tide_history *history, struct tide_hot_sink *sink,
                                 enum project_source_id source, const struct tide_entry_key *keys,
                                 uint32_t count, struct tide_err *err)
{
    struct tide_pg_rows rows = { 0 };
    struct tide_buf hashes;
    if (count == 0 || keys[0].contract.kind == 0)
        return TIDE_OK;
    tide_buf_init(&hashes, (size_t)count * 80 + 16);
    tide_status status = put_hashes(&hashes, keys, count, err);
    if (status == TIDE_OK)
        status = tide_pg_query(history->pg, &rows, project_forms[source].entries,
                               (const char *[]){ TIDE_PG_NUMBER(history->deployment),
                                                 (const char *)hashes.ptr,
                                                 TIDE_PG_NUMBER(history->ledger) },
                               3, err);
    tide_buf_release(&hashes);
    for (uint32_t i = 0; i < rows.count && status == TIDE_OK; i++)
        status = project_apply_row(sink, &rows, i, err);
    tide_pg_rows_release(&rows);
    return status;
}

/* Reads columns of one entry. There is no row if the entry does not exist as of the ledger. */
static tide_status read_entry(struct tide_history *history, struct tide_pg_rows *rows,
                              const struct tide_entry_key *key, const char *sql,
                              struct tide_err *err)
{
    char hash[TIDE_KEY_TEXT];
    *rows = (struct tide_pg_rows){ 0 };
    if (key->contract.kind == 0)
        return TIDE_OK;
    tide_status status = tide_history_key(hash, key, err);
    if (status != TIDE_OK)
        return status;
    return tide_pg_query(history->pg, rows, sql,
                         (const char *[]){ TIDE_PG_NUMBER(history->deployment), hash,
                                           TIDE_PG_NUMBER(history->ledger) },
                         3, err);
}

static tide_raw_i128 amount(struct project_row *row, uint32_t column)
{
    return tide_hot_i128(project_amount(row, column));
}

/* Releases the rows, which exist without a row too, and returns status or that a value is bad. */
static tide_status end_reading(tide_status status, struct tide_pg_rows *rows,
                               const struct project_row *row, const char *table,
                               struct tide_err *err)
{
    tide_pg_rows_release(rows);
    if (status == TIDE_OK && row->bad)
        return tide_fail(err, TIDE_E_SCHEMA, "%s: a value does not fit", table);
    return status;
}

tide_status tide_history_stability(struct tide_history *history, struct tide_stability *out,
                                   bool *found, struct tide_err *err)
{
    struct tide_pg_rows rows;
    struct project_row row = { .rows = &rows };
    struct tide_entry_key key = { .contract = history->contracts[TIDE_ROLE_stability_pool],
                                  .variant = "State" };
    tide_status status = read_entry(history, &rows, &key, reader_sql_stability, err);
    *found = rows.count == 1;
    if (status == TIDE_OK && *found)
        *out = (struct tide_stability){ .p = amount(&row, 0), .epoch = project_u64(&row, 1) };
    return end_reading(status, &rows, &row, "stability_pool_state", err);
}

tide_status tide_history_saving(struct tide_history *history, struct tide_saving *out, bool *found,
                                const struct tide_hot_address *depositor, struct tide_err *err)
{
    struct tide_pg_rows rows;
    struct project_row row = { .rows = &rows };
    struct tide_entry_key key = { .contract = history->contracts[TIDE_ROLE_stability_pool],
                                  .variant = "Deposit",
                                  .count = 1,
                                  .parts = { TIDE_PART_ADDRESS(*depositor) } };
    tide_status status = read_entry(history, &rows, &key, reader_sql_saving, err);
    *found = rows.count == 1;
    if (status == TIDE_OK && *found)
        *out = (struct tide_saving){ .initial_value = amount(&row, 0),
                                     .p_value = amount(&row, 1),
                                     .epoch = project_u64(&row, 2) };
    return end_reading(status, &rows, &row, "stability_pool_deposit", err);
}
