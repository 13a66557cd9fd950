/* Reads integrators and their API keys from PostgreSQL. */
#include "api/kyc/keys/directory.h"
#include "tidemark/log.h"

#include <stdlib.h>

static_assert(TIDE_KYC_INTEGRATORS_MAX == 256 && TIDE_KYC_KEYS_MAX == 1024,
              "each LIMIT is one more");

/* Both queries read one row more than the directory holds, so that an excess shows. */
static const char integrators_sql[] =
    "SELECT id, name, array_to_string(origins, ' '), sessions_per_hour, brand::text"
    " FROM kyc.integrator ORDER BY id LIMIT 257";

static const char keys_sql[] =
    "SELECT k.sha256, k.key_id, k.integrator, array_to_string(k.scopes, ' '), k.rate, k.burst,"
    " array_to_string(k.networks, ','), greatest(0, floor(extract(epoch FROM "
    "k.not_before)))::bigint,"
    " floor(extract(epoch FROM k.ends_at))::bigint"
    " FROM kyc.integrator_key AS k JOIN kyc.integrator AS i ON i.id = k.integrator"
    " WHERE i.state = 'active' AND k.revoked_at IS NULL"
    " AND (k.ends_at IS NULL OR k.ends_at > clock_timestamp()) LIMIT 1025";

/* Cuts the first word of a space-separated list off *rest. */
static tide_slice next_word(tide_slice *rest)
{
    const uint8_t *space = memchr(rest->ptr, ' ', rest->len);
    size_t len = space ? (size_t)(space - rest->ptr) : rest->len;
    tide_slice word = tide_slice_of(rest->ptr, len);
    size_t used = len + (space != NULL);
    *rest = tide_slice_of(rest->ptr + used, rest->len - used);
    return word;
}

/* Returns false if the text does not fit. */
static bool copy_text(char *out, size_t size, tide_slice text)
{
    if (text.len >= size)
        return false;
    memcpy(out, text.ptr, text.len);
    out[text.len] = 0;
    return true;
}

/* Reads the integrator's brand. An invalid brand is logged and left out: the session still works,
 * with the brand of the KYC file. */
static void read_brand(struct tide_kyc_integrator *out, tide_slice text)
{
    struct tide_err err = { 0 };
    out->branded = tide_kyc_brand_parse(&out->brand, text, &err) == TIDE_OK;
    if (out->branded)
        return;
    out->brand = (struct tide_kyc_brand){ 0 };
    tide_log(TIDE_WARN, "keys.brand_refused", "integrator=%s text=\"%s\"", out->id, err.text);
}

/* Returns false if a value does not fit: another program wrote the row. */
static bool read_integrator(struct tide_kyc_integrator *out, const struct tide_pg_rows *rows,
                            uint32_t row)
{
    enum { ID, NAME, ORIGINS, SESSIONS, BRAND };
    assert(rows->columns == BRAND + 1 && out->origin_count == 0);
    tide_slice origins = tide_pg_slice(rows, row, ORIGINS);
    bool fits = copy_text(out->id, sizeof out->id, tide_pg_slice(rows, row, ID)) &&
                copy_text(out->name, sizeof out->name, tide_pg_slice(rows, row, NAME));
    while (fits && origins.len > 0 && out->origin_count < TIDE_KYC_ORIGINS_MAX) {
        tide_slice word = next_word(&origins);
        fits = copy_text(out->origins[out->origin_count++], sizeof out->origins[0], word);
    }
    out->sessions_per_hour = (uint32_t)tide_pg_u64(rows, row, SESSIONS);
    if (fits && !tide_pg_is_null(rows, row, BRAND))
        read_brand(out, tide_pg_slice(rows, row, BRAND));
    return fits && origins.len == 0;
}

/* Reads a key. An unknown scope gives no right. Returns false if a value does not fit. */
static bool read_key(struct tide_kyc_key *out, const struct tide_pg_rows *rows, uint32_t row)
{
    enum { HASH, ID, INTEGRATOR, SCOPES, RATE, BURST, NETWORKS, BEGINS, ENDS };
    assert(rows->columns == ENDS + 1 && out->scopes == 0);
    struct tide_err ignored;
    tide_slice words = tide_pg_slice(rows, row, SCOPES);
    while (words.len > 0)
        out->scopes |= tide_kyc_scope_of(next_word(&words));
    out->rate = (uint32_t)tide_pg_u64(rows, row, RATE);
    out->burst = (uint32_t)tide_pg_u64(rows, row, BURST);
    out->not_before = (int64_t)tide_pg_u64(rows, row, BEGINS);
    out->ends_at = (int64_t)tide_pg_u64(rows, row, ENDS);
    return tide_pg_bytes(rows, row, HASH, out->hash, sizeof out->hash) &&
           copy_text(out->id, sizeof out->id, tide_pg_slice(rows, row, ID)) &&
           copy_text(out->integrator, sizeof out->integrator,
                     tide_pg_slice(rows, row, INTEGRATOR)) &&
           tide_peer_proxies_parse(&out->networks, tide_pg_text(rows, row, NETWORKS), &ignored) ==
               TIDE_OK;
}

static tide_status read_integrators(struct tide_kyc_directory *out, struct tide_pg *pg,
                                    struct tide_err *err)
{
    struct tide_pg_rows rows;
    tide_status status = tide_pg_query(pg, &rows, integrators_sql, NULL, 0, err);
    if (status != TIDE_OK)
        return status;
    if (rows.count > TIDE_KYC_INTEGRATORS_MAX)
        status = tide_fail(err, TIDE_E_LIMIT, "there are more than %u integrators",
                           TIDE_KYC_INTEGRATORS_MAX);
    for (uint32_t i = 0; i < rows.count && status == TIDE_OK; i++)
        if (!read_integrator(&out->integrators[out->integrator_count++], &rows, i))
            status = tide_fail(err, TIDE_E_DB_FATAL,
                               "kyc.integrator has a row with a value that does not fit");
    tide_pg_rows_release(&rows);
    return status;
}

/* The two queries need no common snapshot: a change between them moves the revision, so the next
 * poll reads again. */
tide_status tide_kyc_directory_read(struct tide_kyc_directory *out, struct tide_pg *pg,
                                    struct tide_err *err)
{
    struct tide_pg_rows rows;
    assert(out->integrator_count == 0 && out->key_count == 0);
    tide_status status = read_integrators(out, pg, err);
    if (status == TIDE_OK)
        status = tide_pg_query(pg, &rows, keys_sql, NULL, 0, err);
    if (status != TIDE_OK)
        return status;
    if (rows.count > TIDE_KYC_KEYS_MAX)
        status = tide_fail(err, TIDE_E_LIMIT, "there are more than %u keys", TIDE_KYC_KEYS_MAX);
    for (uint32_t i = 0; i < rows.count && status == TIDE_OK; i++)
        if (!read_key(&out->keys[out->key_count++], &rows, i))
            status = tide_fail(err, TIDE_E_DB_FATAL,
                               "kyc.integrator_key has a row with a value that does not fit");
    assert(status != TIDE_OK || out->key_count == rows.count);
    tide_pg_rows_release(&rows);
    tide_kyc_directory_sort(out);
    return status;
}
