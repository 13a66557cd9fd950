/* Compares the two sides in the server, and prints what differs. */
#include "indexer/audit/audit_impl.h"
#include "tidemark/limits.h"
#include "tidemark/scval.h"
#include "tidemark/table.h"
#include "tidemark/text.h"

/* The version in the youngest bucket counts. An archived entry is in the hot archive, and no longer
 * in the live list. */
static const char there_sql[] =
    "CREATE TEMP TABLE audit_there AS"
    " WITH live AS (SELECT DISTINCT ON (key_hash) * FROM pg_temp.audit_found WHERE NOT hot"
    "   ORDER BY key_hash, rank),"
    " archived AS (SELECT DISTINCT ON (key_hash) * FROM pg_temp.audit_found WHERE hot"
    "   ORDER BY key_hash, rank),"
    " ttl AS (SELECT DISTINCT ON (key_hash) * FROM pg_temp.audit_ttl ORDER BY key_hash, rank)"
    " SELECT e.*, CASE WHEN t.held THEN t.live_until END AS live_until"
    " FROM (SELECT * FROM live WHERE held UNION ALL SELECT a.* FROM archived AS a WHERE a.held"
    "   AND NOT EXISTS (SELECT FROM live AS l WHERE l.key_hash = a.key_hash AND l.held)) AS e"
    " LEFT JOIN ttl AS t ON t.key_hash = e.key_hash AND NOT e.hot";

/* If the newest version is in a typed table and in the raw one, the raw row is the whole one. */
static const char kept_sql[] =
    "CREATE TEMP TABLE audit_kept AS SELECT * FROM (SELECT DISTINCT ON (key_hash) *"
    " FROM pg_temp.audit_stored ORDER BY key_hash, ledger DESC, tx DESC, seq DESC, raw DESC) AS s"
    " WHERE hash IS NOT NULL";

/* The differences, at most one for each entry: its value's before its life's. */
static const char differences_sql[] =
    "CREATE TEMP TABLE audit_difference AS"
    " WITH pair AS (SELECT key_hash, coalesce(t.contract, k.contract) AS contract, t.key_xdr,"
    "   coalesce(k.kind, t.kind) AS kind, t.modified, k.ledger, t.raw IS NOT NULL AS is_there,"
    "   t.hot, t.live_until, k.hash IS NOT NULL AS is_kept,"
    "   k.hash = CASE WHEN k.raw THEN t.raw WHEN k.kind = t.kind THEN t.typed END AS same"
    "   FROM pg_temp.audit_there AS t FULL JOIN pg_temp.audit_kept AS k USING (key_hash)"
    "   WHERE coalesce(t.followed, true) AND coalesce(k.followed, true)),"
    " life AS (SELECT DISTINCT ON (key_hash) key_hash, evicted, CASE WHEN NOT removed THEN"
    "   live_until END AS kept_until FROM pg_temp.audit_stored_ttl ORDER BY key_hash, ledger DESC,"
    "   tx DESC, seq DESC)"
    " SELECT p.*, l.evicted, l.kept_until,"
    " CASE WHEN NOT is_kept THEN 'missing' WHEN NOT is_there THEN 'extra'"
    "   WHEN same IS NOT TRUE THEN 'different' WHEN hot THEN 'archived'"
    "   WHEN l.evicted THEN 'live' ELSE 'ttl' END AS what"
    " FROM pair AS p LEFT JOIN life AS l USING (key_hash)"
    " WHERE NOT is_kept OR NOT is_there OR same IS NOT TRUE OR (CASE WHEN hot"
    "   THEN l.evicted IS NOT TRUE"
    "   ELSE l.evicted IS TRUE OR l.kept_until IS DISTINCT FROM p.live_until END)";

/* audit_run lists the code of each contract in the tables, and whether the network has it. */
static const char code_sql[] =
    "CREATE TEMP TABLE audit_run AS"
    " WITH live AS (SELECT DISTINCT ON (hash) * FROM pg_temp.audit_code WHERE NOT hot"
    "   ORDER BY hash, rank),"
    " archived AS (SELECT DISTINCT ON (hash) * FROM pg_temp.audit_code WHERE hot"
    "   ORDER BY hash, rank),"
    " ttl AS (SELECT DISTINCT ON (key_hash) * FROM pg_temp.audit_ttl ORDER BY key_hash, rank)"
    " SELECT s.contract, s.hash, s.ledger, coalesce(l.held, false) AS live,"
    " l.held IS NOT TRUE AND coalesce(a.held, false) AS archived,"
    " CASE WHEN l.held THEN l.sound WHEN a.held THEN a.sound ELSE true END AS sound,"
    " CASE WHEN l.held AND t.held THEN t.live_until END AS live_until"
    " FROM pg_temp.audit_stored_code AS s JOIN pg_temp.audit_kept AS k USING (key_hash, ledger, tx,"
    " seq) LEFT JOIN live AS l ON l.hash = s.hash LEFT JOIN archived AS a ON a.hash = s.hash"
    " LEFT JOIN ttl AS t ON t.key_hash = s.ttl_hash";

/* No history table has code: its kind is -2. */
static const char code_differences_sql[] =
    "INSERT INTO pg_temp.audit_difference (key_hash, contract, kind, ledger, what)"
    " SELECT hash, contract, -2, ledger, 'different' FROM pg_temp.audit_run WHERE NOT sound";

static const char code_counts_sql[] =
    "SELECT count(DISTINCT hash), count(DISTINCT hash) FILTER (WHERE live), count(DISTINCT hash)"
    " FILTER (WHERE archived), min(live_until) FROM pg_temp.audit_run";

static const char code_notes_sql[] =
    "SELECT contract, CASE WHEN archived THEN 'is archived: it runs once it is restored' WHEN live"
    " THEN 'lived until ledger ' || live_until || ': it runs once it is restored' ELSE"
    " 'is in neither list: it cannot run' END FROM pg_temp.audit_run WHERE NOT live OR live_until <"
    " $1::int8 ORDER BY contract LIMIT 20";

static const char counts_sql[] =
    "SELECT count(*) FILTER (WHERE followed AND NOT hot), count(*) FILTER (WHERE followed AND hot),"
    " count(*) FILTER (WHERE NOT followed) FROM pg_temp.audit_there";

static const char shown_sql[] =
    "SELECT what, contract, coalesce(kind, -1), encode(key_xdr, 'hex'), encode(key_hash, 'hex'),"
    " modified, ledger, live_until, kept_until, coalesce(kind = -2, false)"
    " FROM pg_temp.audit_difference ORDER BY contract, kind, key_hash LIMIT 20";

static const char summary_sql[] =
    "SELECT what, count(*), min(coalesce(modified, ledger)),"
    " count(*) FILTER (WHERE modified < $1::int) FROM pg_temp.audit_difference GROUP BY what"
    " ORDER BY what";

static const char owners_sql[] =
    "SELECT contract, count(*) FROM pg_temp.audit_difference GROUP BY contract"
    " ORDER BY count(*) DESC, contract LIMIT 20";

enum {
    SHOWN_WHAT,
    SHOWN_CONTRACT,
    SHOWN_KIND,
    SHOWN_KEY,
    SHOWN_HASH,
    SHOWN_MODIFIED,
    SHOWN_LEDGER,
    SHOWN_UNTIL,
    SHOWN_KEPT_UNTIL,
    SHOWN_CODE,
    SHOWN_COLUMNS
};

/* Appends the key as JSON, cut to a readable length; nothing if the archive does not have it. */
static void put_key(struct tide_buf *line, tide_slice hex)
{
    enum { SHOWN_MAX = 160 };
    struct tide_buf xdr, json;
    tide_buf_init(&xdr, TIDE_JSON_BYTES_MAX);
    tide_buf_init(&json, TIDE_JSON_BYTES_MAX);
    uint8_t *room = tide_buf_room(&xdr, hex.len / 2);
    if (hex.len && room && tide_hex_decode(room, hex.len / 2, hex) == TIDE_OK &&
        tide_scval_json(&json, tide_slice_of(room, hex.len / 2)) == TIDE_OK && !json.failed)
        tide_buf_putf(line, " %.*s%s", (int)(json.len < SHOWN_MAX ? json.len : SHOWN_MAX),
                      (const char *)json.ptr, json.len < SHOWN_MAX ? "" : "…");
    tide_buf_release(&xdr);
    tide_buf_release(&json);
}

/* Says how the two sides differ: which ledgers wrote them, or how long each lives. */
static void put_reason(struct tide_buf *line, const struct tide_pg_rows *rows, uint32_t i)
{
    const char *what = tide_pg_text(rows, i, SHOWN_WHAT);
    const char *modified = tide_pg_text(rows, i, SHOWN_MODIFIED);
    const char *ledger = tide_pg_text(rows, i, SHOWN_LEDGER);
    if (tide_pg_bool(rows, i, SHOWN_CODE))
        tide_buf_str(line, ": the network's bytes do not hash to the name that the tables have");
    else if (strcmp(what, "missing") == 0)
        tide_buf_putf(line, ": ledger %s wrote it, the tables do not have it", modified);
    else if (strcmp(what, "extra") == 0)
        tide_buf_putf(line, ": the tables have it since ledger %s, the network does not", ledger);
    else if (strcmp(what, "different") == 0)
        tide_buf_putf(line, ": the network's value is of ledger %s, the tables' of ledger %s",
                      modified, ledger);
    else if (strcmp(what, "archived") == 0)
        tide_buf_str(line, ": archived by the network, live in the tables");
    else if (strcmp(what, "live") == 0)
        tide_buf_str(line, ": live on the network, archived in the tables");
    else
        tide_buf_putf(
            line, ": lives until ledger %s, in the tables until %s",
            tide_pg_is_null(rows, i, SHOWN_UNTIL) ? "none" : tide_pg_text(rows, i, SHOWN_UNTIL),
            tide_pg_is_null(rows, i, SHOWN_KEPT_UNTIL) ? "none"
                                                       : tide_pg_text(rows, i, SHOWN_KEPT_UNTIL));
}

static void print_difference(const struct tide_pg_rows *rows, uint32_t i)
{
    enum { LINE_MAX = 4096 };
    uint32_t count;
    const struct tide_table *tables = tide_tables(&count);
    assert(rows->columns == SHOWN_COLUMNS); /* shown_sql selects them */
    uint64_t kind = tide_pg_u64(rows, i, SHOWN_KIND);
    struct tide_buf line;
    tide_buf_init(&line, LINE_MAX);
    bool code = tide_pg_bool(rows, i, SHOWN_CODE);
    const char *name = kind < count ? tables[kind].name : tables[TIDE_TABLE_HISTORY_RAW].name;
    tide_buf_putf(&line, "%-10s  %s%s %s", tide_pg_text(rows, i, SHOWN_WHAT),
                  code ? "" : "history.", code ? "code" : name,
                  tide_pg_text(rows, i, SHOWN_CONTRACT));
    put_key(&line, tide_pg_slice(rows, i, SHOWN_KEY));
    tide_buf_putf(&line, " %s", tide_pg_text(rows, i, SHOWN_HASH));
    put_reason(&line, rows, i);
    printf("%.*s\n", (int)line.len, (const char *)line.ptr);
    tide_buf_release(&line);
}

/* Prints the first differences. */
static tide_status print_differences(struct audit *a, struct tide_err *err)
{
    struct tide_pg_rows rows = { 0 };
    tide_status status = tide_pg_query(a->temp, &rows, shown_sql, NULL, 0, err);
    for (uint32_t i = 0; i < rows.count && status == TIDE_OK; i++)
        print_difference(&rows, i);
    tide_pg_rows_release(&rows);
    return status;
}

/* Prints how many differences there are of each sort, and the ledgers to look at. *wrong is their
 * sum. */
static tide_status print_summary(struct audit *a, uint64_t *wrong, struct tide_err *err)
{
    struct tide_pg_rows rows = { 0 };
    char first[16];
    uint64_t low = UINT64_MAX, before = 0;
    snprintf(first, sizeof first, "%u", a->from_ledger);
    tide_status status =
        tide_pg_query(a->temp, &rows, summary_sql, (const char *[]){ first }, 1, err);
    for (uint32_t i = 0; i < rows.count && status == TIDE_OK; i++) {
        uint64_t from = tide_pg_u64(&rows, i, 2);
        printf("%-10s  %s\n", tide_pg_text(&rows, i, 0), tide_pg_text(&rows, i, 1));
        *wrong += tide_pg_u64(&rows, i, 1);
        before += tide_pg_u64(&rows, i, 3);
        from = from > a->from_ledger ? from : a->from_ledger;
        low = from < low ? from : low;
    }
    tide_pg_rows_release(&rows);
    if (status == TIDE_OK && before)
        printf("note        %" PRIu64 " of them were last written before ledger %u, the first that"
               " is indexed: the index began after these contracts\n",
               before, a->from_ledger);
    if (status == TIDE_OK && *wrong)
        printf("reindex     ledgers %" PRIu64 " to %u hold what the tables lack: `verify --from"
               " %" PRIu64
               " --to %u` with a source names the rows; then index into a new database\n",
               low, a->ledger, low, a->ledger);
    return status;
}

static tide_status print_owners(struct audit *a, struct tide_err *err)
{
    struct tide_pg_rows rows = { 0 };
    tide_status status = tide_pg_query(a->temp, &rows, owners_sql, NULL, 0, err);
    for (uint32_t i = 0; i < rows.count && status == TIDE_OK; i++)
        printf("contract    %s: %s differences\n", tide_pg_text(&rows, i, 0),
               tide_pg_text(&rows, i, 1));
    tide_pg_rows_release(&rows);
    return status;
}

static tide_status print_counts(struct audit *a, struct tide_err *err)
{
    struct tide_pg_rows rows = { 0 };
    tide_status status = tide_pg_query(a->temp, &rows, counts_sql, NULL, 0, err);
    if (status == TIDE_OK) {
        assert(rows.count == 1 && rows.columns == 3); /* counts_sql has aggregates alone */
        printf("entries     %s live and %s archived compared, %s that the index does not follow"
               " left out\n",
               tide_pg_text(&rows, 0, 0), tide_pg_text(&rows, 0, 1), tide_pg_text(&rows, 0, 2));
    }
    tide_pg_rows_release(&rows);
    return status;
}

/* Names contracts whose code cannot run as it is. That is no difference: the tables have the hash
 * of the code alone, with the instance, which is compared. */
static tide_status print_code_notes(struct audit *a, struct tide_err *err)
{
    struct tide_pg_rows rows = { 0 };
    char ledger[16];
    snprintf(ledger, sizeof ledger, "%u", a->ledger);
    tide_status status =
        tide_pg_query(a->temp, &rows, code_notes_sql, (const char *[]){ ledger }, 1, err);
    for (uint32_t i = 0; i < rows.count && status == TIDE_OK; i++)
        printf("note        the code of %s %s\n", tide_pg_text(&rows, i, 0),
               tide_pg_text(&rows, i, 1));
    tide_pg_rows_release(&rows);
    return status;
}

/* Prints how much of the contracts' code exists, and when the first of it ends. */
static tide_status print_code(struct audit *a, struct tide_err *err)
{
    struct tide_pg_rows rows = { 0 };
    tide_status status = tide_pg_query(a->temp, &rows, code_counts_sql, NULL, 0, err);
    assert(status != TIDE_OK || (rows.count == 1 && rows.columns == 4)); /* aggregates alone */
    if (status == TIDE_OK)
        printf("code        %s live, %s archived, of %s", tide_pg_text(&rows, 0, 1),
               tide_pg_text(&rows, 0, 2), tide_pg_text(&rows, 0, 0));
    if (status == TIDE_OK && !tide_pg_is_null(&rows, 0, 3))
        printf("; the first lives until ledger %s", tide_pg_text(&rows, 0, 3));
    if (status == TIDE_OK)
        printf("\n");
    tide_pg_rows_release(&rows);
    return status == TIDE_OK ? print_code_notes(a, err) : status;
}

/* Compares what is in the temporary tables, in the server. */
static tide_status run_comparison(struct audit *a, struct tide_err *err)
{
    tide_status status = tide_pg_run(a->temp, there_sql, "SELECT", err);
    if (status == TIDE_OK)
        status = tide_pg_run(a->temp, kept_sql, "SELECT", err);
    if (status == TIDE_OK)
        status = tide_pg_run(a->temp, differences_sql, "SELECT", err);
    if (status == TIDE_OK)
        status = tide_pg_run(a->temp, code_sql, "SELECT", err);
    return status == TIDE_OK ? tide_pg_run(a->temp, code_differences_sql, "INSERT", err) : status;
}

tide_status audit_compare(struct audit *a, struct tide_err *err)
{
    uint64_t wrong = 0;
    assert(!a->read); /* the snapshot ended before the buckets were read */
    tide_status status = audit_rows_flush(a, err);
    if (status == TIDE_OK)
        status = run_comparison(a, err);
    if (status == TIDE_OK)
        status = print_counts(a, err);
    if (status == TIDE_OK)
        status = print_code(a, err);
    if (status == TIDE_OK)
        status = print_differences(a, err);
    if (status == TIDE_OK)
        status = print_owners(a, err);
    if (status == TIDE_OK)
        status = print_summary(a, &wrong, err);
    if (status == TIDE_OK && wrong)
        status = tide_fail(err, TIDE_E_CONFLICT, "%" PRIu64 " differences at ledger %u", wrong,
                           a->ledger);
    return status;
}
