/* The command status: prints sections of rows from the database, as tables or as JSON. */
#include "indexer/commands/command.h"
#include "indexer/commands/status_disk.h"
#include "indexer/database/migrate.h"
#include "tidemark/buf.h"
#include "tidemark/clock.h"
#include "tidemark/pg.h"
#include "tidemark/text.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* --- tables for people ------------------------------------------------------------------ */

enum { COLUMNS_MAX = 32, CELL_BYTES = 512, INDENT = 2, GAP = 2 };

/* Returns the columns of the terminal at standard output; 0 if that is no terminal. */
static uint32_t tide_status_width(void)
{
    struct winsize size;
    if (isatty(STDOUT_FILENO) != 1)
        return 0;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
}

/* Returns the number of characters of a UTF-8 text. */
static uint32_t width_of(const char *text)
{
    uint32_t count = 0;
    for (; *text; text++)
        count += ((uint8_t)*text & 0xc0) != 0x80;
    return count;
}

/* Writes a decimal number of bytes as "1.2 GiB". Other texts are copied. */
static void put_bytes(char out[CELL_BYTES], const char *text)
{
    static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB" };
    uint64_t bytes;
    size_t unit = 0;
    if (tide_parse_u64(&bytes, tide_slice_str(text), UINT64_MAX) != TIDE_OK) {
        snprintf(out, CELL_BYTES, "%s", text);
        return;
    }
    double value = (double)bytes;
    for (; value >= 1024 && unit + 1 < TIDE_COUNT(units); unit++)
        value /= 1024;
    snprintf(out, CELL_BYTES, "%.*f %s", unit ? 1 : 0, value, units[unit]);
}

/* Returns whether the column is a number of bytes, by its name. */
static bool is_bytes(const char *name)
{
    return strstr(name, "bytes") || strcmp(name, "max_wal_size") == 0 ||
           strcmp(name, "held_for_replicas") == 0;
}

struct column {
    uint32_t index, width;
    bool is_bytes, is_bool, is_number;
    char title[64];
};

struct table {
    const struct tide_pg_rows *rows;
    struct column columns[COLUMNS_MAX];
    uint32_t count;
    uint32_t title_width, width; /* the widest title; all columns with their gaps */
};

static void put_cell(char out[CELL_BYTES], const struct tide_pg_rows *rows, uint32_t row,
                     const struct column *c)
{
    assert(row < rows->count && c->index < rows->columns);
    const char *text = tide_pg_text(rows, row, c->index);
    if (c->is_bytes)
        put_bytes(out, text);
    else if (c->is_bool && *text)
        snprintf(out, CELL_BYTES, "%s", *text == 't' ? "yes" : "no");
    else
        snprintf(out, CELL_BYTES, "%s", text);
    for (char *p = out; *p; p++)
        *p = (uint8_t)*p < 0x20 || *p == 0x7f ? ' ' : *p; /* control characters: the database may
                                                           * hold any text */
}

/* Reads a column's title, type and width. Returns false if the column is NULL in all rows. */
static bool read_column(struct column *c, const struct tide_pg_rows *rows, uint32_t index)
{
    assert(index < rows->columns);
    char cell[CELL_BYTES];
    bool any = false;
    *c = (struct column){ .index = index, .is_bool = true, .is_number = true };
    snprintf(c->title, sizeof c->title, "%s", tide_pg_column(rows, index));
    c->is_bytes = is_bytes(c->title);
    for (char *p = c->title; *p; p++)
        *p = *p == '_' ? ' ' : *p;
    for (uint32_t r = 0; r < rows->count; r++) {
        const char *text = tide_pg_text(rows, r, index);
        if (tide_pg_is_null(rows, r, index))
            continue;
        any = true;
        c->is_bool = c->is_bool && (strcmp(text, "t") == 0 || strcmp(text, "f") == 0);
        c->is_number = c->is_number && strspn(text, "0123456789.-") == strlen(text);
    }
    c->width = width_of(c->title);
    for (uint32_t r = 0; r < rows->count; r++) {
        put_cell(cell, rows, r, c);
        c->width = width_of(cell) > c->width ? width_of(cell) : c->width;
    }
    return any;
}

static void read_table(struct table *t, const struct tide_pg_rows *rows)
{
    *t = (struct table){ .rows = rows, .width = INDENT };
    for (uint32_t i = 0; i < rows->columns && t->count < COLUMNS_MAX; i++) {
        struct column *c = &t->columns[t->count];
        if (!read_column(c, rows, i))
            continue;
        t->title_width = width_of(c->title) > t->title_width ? width_of(c->title) : t->title_width;
        t->width += c->width + (t->count ? GAP : 0);
        t->count++;
    }
}

/* Writes a cell with its padding. Numbers are aligned to the right; the last column is not
 * padded. */
static void put_padded(struct tide_buf *out, const struct column *c, const char *text, bool last)
{
    assert(c->width >= width_of(text));
    int pad = (int)(c->width - width_of(text));
    bool right = c->is_number || c->is_bytes;
    tide_buf_putf(out, "%*s%s%*s", right ? pad : 0, "", text, right || last ? 0 : pad, "");
    tide_buf_putf(out, last ? "\n" : "%*s", GAP, "");
}

static void put_lines(struct tide_buf *out, const struct table *t)
{
    char cell[CELL_BYTES];
    for (uint32_t i = 0; i < t->count; i++) {
        tide_buf_putf(out, "%*s", i ? 0 : INDENT, "");
        put_padded(out, &t->columns[i], t->columns[i].title, i + 1 == t->count);
    }
    for (uint32_t r = 0; r < t->rows->count; r++)
        for (uint32_t i = 0; i < t->count; i++) {
            put_cell(cell, t->rows, r, &t->columns[i]);
            tide_buf_putf(out, "%*s", i ? 0 : INDENT, "");
            put_padded(out, &t->columns[i], cell, i + 1 == t->count);
        }
}

/* Writes each row as one line per column, without NULL columns. */
static void put_records(struct tide_buf *out, const struct table *t)
{
    char cell[CELL_BYTES];
    for (uint32_t r = 0; r < t->rows->count; r++) {
        tide_buf_str(out, r ? "\n" : "");
        for (uint32_t i = 0; i < t->count; i++) {
            const struct column *c = &t->columns[i];
            if (tide_pg_is_null(t->rows, r, c->index))
                continue;
            put_cell(cell, t->rows, r, c);
            tide_buf_putf(out, "%*s%-*s%*s%s\n", INDENT, "", (int)t->title_width, c->title, GAP, "",
                          cell);
        }
    }
}

/* Appends a section: its name, then a table with aligned columns. One row, or rows that do not fit
 * into width columns (0: any width), are written as a line per column instead. Columns that are
 * NULL in all rows are left out. Underscores of names become blanks, booleans yes and no, and
 * columns of bytes have units. There must be at least one row. */
static void tide_status_table(struct tide_buf *out, const char *name,
                              const struct tide_pg_rows *rows, uint32_t width)
{
    struct table t;
    assert(rows->count > 0);
    read_table(&t, rows);
    assert(t.count <= COLUMNS_MAX);
    for (; *name; name++)
        tide_buf_u8(out, *name == '_' ? ' ' : (uint8_t)*name);
    tide_buf_u8(out, '\n');
    if (rows->count == 1 || (width && t.width > width))
        put_records(out, &t);
    else
        put_lines(out, &t);
    tide_buf_u8(out, '\n');
}

/* A section is one statement. Its columns' names are the words of both forms. */
struct section {
    const char *name;
    const char *sql; /* NULL: tide_status_disk_sql makes it */
};

/* A section that needs a right which not every role has, and its statement for other roles. */
struct permit {
    const char *section;
    const char *needs; /* an SQL condition */
    const char *otherwise;
};

/* clang-format off */
static const struct section sections[] = {
    { "deployments",
      "SELECT d.id AS deployment, d.passphrase AS network, d.epoch, c.ledger AS cursor,"
      " encode(c.hash, 'hex') AS hash, c.closed_at, greatest(h.tip, c.ledger) AS tip,"
      " greatest(coalesce(h.tip, 0), c.ledger) - c.ledger AS lag_ledgers,"
      " greatest(0, round(extract(epoch FROM clock_timestamp() - c.closed_at)))::bigint AS lag_seconds,"
      " nullif(d.first_ledger, 0) AS first_ledger, c.generation"
      " FROM chain.deployment d JOIN chain.cursor c ON c.deployment = d.id"
      " LEFT JOIN chain.heartbeat h ON h.deployment = d.id ORDER BY d.id" },
    { "writer",
      "SELECT h.deployment, h.state, h.instance, EXISTS (SELECT 1 FROM pg_locks l WHERE l.locktype ="
      " 'advisory' AND l.granted AND l.classid = x'74696465'::int AND l.objid = h.deployment::int::oid"
      " AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())) AS holds_lock,"
      " h.tip, h.ledger AS committed, h.lag_ledgers, round(h.rate::numeric, 1) AS ledgers_per_second,"
      " round(h.event_rate::numeric, 1) AS events_per_second, h.ledgers AS ledgers_here, h.events AS events_here,"
      " round(extract(epoch FROM clock_timestamp() - h.heartbeat_at)::numeric, 1) AS heartbeat_age_seconds,"
      " round(extract(epoch FROM clock_timestamp() - e.renewed_at)::numeric, 1) AS lease_age_seconds,"
      " h.source, h.trouble AS source_trouble, round(h.trouble_ms / 1000.0, 1) AS source_trouble_seconds,"
      " h.retries, h.error AS last_error, h.error_at FROM chain.heartbeat h LEFT JOIN chain.lease e"
      " ON e.deployment = h.deployment ORDER BY 1" },
    { "standbys",
      "SELECT deployment, instance, since, round(extract(epoch FROM clock_timestamp() - seen_at)::numeric, 1)"
      " AS seen_age_seconds, seen_at > clock_timestamp() - interval '5 s' AS waiting FROM chain.standby"
      " ORDER BY 1, 2" },
    { "crashes",
      "SELECT deployment, ledger, attempts AS crashes FROM chain.attempt AS a WHERE attempts > 0"
      " AND NOT EXISTS (SELECT FROM chain.coverage AS v WHERE v.deployment = a.deployment"
      " AND a.ledger BETWEEN v.from_ledger AND v.to_ledger) ORDER BY 1" },
    { "coverage",
      "SELECT deployment, from_ledger, to_ledger, to_ledger - from_ledger + 1 AS ledgers"
      " FROM chain.coverage ORDER BY 1, 2" },
    { "start",
      "SELECT o.deployment, o.ledger AS checkpoint, o.ledger + 1 AS history_from, CASE WHEN o.signed_ledger IS NULL"
      " THEN 'linked' ELSE 'signed' END AS proof, cardinality(o.signed_by) AS signers, o.signed_ledger, o.started_at"
      " FROM chain.start o ORDER BY 1" },
    { "loading",
      "SELECT deployment, from_ledger AS partition_from, end_ledger AS partition_end, first_loaded,"
      " last_loaded FROM chain.partition WHERE NOT attached AND first_loaded IS NOT NULL"
      " ORDER BY 1, 2" },
    { "contracts",
      "SELECT d.id AS deployment, k.name, k.role, k.address, s.created,"
      " coalesce(v.from_ledger <= s.created, false) AND NOT EXISTS (SELECT FROM"
      " chain.contract_coverage g WHERE g.deployment = d.id AND g.contract = k.address"
      " AND g.next_ledger <= g.to_ledger) AS complete,"
      " CASE WHEN v.from_ledger <= s.created THEN NULL ELSE nullif(d.first_ledger, 0) END AS start_from,"
      " v.from_ledger AS indexed_from"
      " FROM chain.deployment d JOIN chain.cursor c ON c.deployment = d.id"
      " LEFT JOIN chain.coverage v ON v.deployment = d.id AND c.ledger BETWEEN v.from_ledger AND v.to_ledger,"
      " LATERAL (SELECT name, role, address FROM jsonb_to_recordset(d.contracts) AS x(name text, role text,"
      " address text) UNION SELECT max(name), min(role), contract FROM chain.contract_seen n WHERE"
      " n.deployment = d.id AND n.what IN ('discovered', 'asset')"
      " AND NOT EXISTS (SELECT 1 FROM jsonb_to_recordset(d.contracts) AS y(address text)"
      " WHERE y.address = n.contract) GROUP BY contract) k,"
      " LATERAL (SELECT min(ledger) AS created FROM chain.contract_seen n WHERE n.deployment = d.id AND"
      " n.contract = k.address AND n.what = 'created') s WHERE k.role <> 'wallet' ORDER BY 1, 2" },
    { "dao_disagrees",
      "SELECT i.deployment, n.role, f.address AS used, n.named AS dao_names, i.ledger AS since_ledger"
      " FROM state.dao_governance_instance i JOIN chain.deployment d ON d.id = i.deployment,"
      " LATERAL (VALUES ('liquidity_pool', i.liquidity_pool), ('synthetic_engine', i.engine),"
      " ('stability_pool', i.stability_pool), ('compliance_registry', i.compliance),"
      " ('partner_registry', i.partner_registry), ('earnings_distributor', i.earnings),"
      " ('oracle', i.oracle)) n(role, named) LEFT JOIN LATERAL (SELECT j.address FROM"
      " jsonb_to_recordset(d.contracts) AS j(role text, address text) WHERE j.role = n.role) f ON true"
      " WHERE n.named <> coalesce(f.address, '') AND d.contracts @> jsonb_build_array(jsonb_build_object("
      "'role', 'dao_governance', 'address', i.contract)) ORDER BY 1, 2" },
    { "ignored_tokens",
      "SELECT s.deployment, s.contract AS token, min(s.ledger) AS first_named, max(s.ledger) AS last_named,"
      " 'past discovered_tokens: not followed' AS reason FROM chain.contract_seen AS s WHERE s.what = 'ignored'"
      " AND NOT EXISTS (SELECT FROM chain.contract_seen AS o WHERE o.deployment = s.deployment AND"
      " o.contract = s.contract AND o.what = 'discovered') GROUP BY 1, 2 ORDER BY 1, 3, 2 LIMIT 50" },
    { "discovered",
      "SELECT g.deployment, g.contract, count(*) FILTER (WHERE g.next_ledger <= g.to_ledger) > 0 AS waiting,"
      " sum(g.next_ledger - g.from_ledger) AS ledgers_read, sum(g.to_ledger - g.from_ledger + 1) AS ledgers_to_read,"
      " max(g.trouble) AS trouble, max(g.trouble_at) AS trouble_at FROM chain.contract_coverage g"
      " GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2 LIMIT 100" },
    { "counts",
      "SELECT deployment, ledgers, transactions, calls, events, changes, raw_events, raw_states, raw_calls"
      " FROM chain.cursor ORDER BY 1" },
    { "proofs",
      "SELECT deployment, calls_verified AS verified, calls_rewritten AS rewritten,"
      " calls_unverified AS unverified FROM chain.cursor ORDER BY 1" },
    { "signatures",
      "SELECT c.deployment, k.ledger AS proven, c.ledger - coalesce(k.ledger, v.from_ledger - 1) AS lag_ledgers,"
      " encode(k.hash, 'hex') AS hash, cardinality(k.signed_by) AS signers, k.proven_at, b.asked_at, b.trouble,"
      " b.trouble_at FROM chain.cursor c JOIN chain.coverage v ON v.deployment = c.deployment AND c.ledger"
      " BETWEEN v.from_ledger AND v.to_ledger LEFT JOIN LATERAL (SELECT * FROM chain.checkpoint x WHERE"
      " x.deployment = c.deployment AND x.ledger BETWEEN v.from_ledger AND v.to_ledger ORDER BY x.ledger DESC"
      " LIMIT 1) k ON true LEFT JOIN chain.prover b ON b.deployment = c.deployment WHERE k.ledger IS NOT NULL"
      " OR b.deployment IS NOT NULL ORDER BY 1" },
    { "fork",
      "SELECT deployment, ledger, encode(hash, 'hex') AS hash, encode(signed_hash, 'hex') AS signed_hash,"
      " cardinality(signed_by) AS signers, found_at, 'see tidemark-indexer fork' AS note FROM chain.fork ORDER BY 1" },
    { "raw",
      "SELECT deployment, 'event' AS kind, contract, reason, count(*) AS rows, min(ledger) AS first_ledger,"
      " max(ledger) AS last_ledger FROM event.raw GROUP BY 1, 3, 4 UNION ALL"
      " SELECT deployment, 'state', contract, reason, count(*), min(ledger), max(ledger) FROM history.raw"
      " GROUP BY 1, 3, 4 ORDER BY 1, 2, 5 DESC LIMIT 50" },
    { "database",
      "SELECT current_database() AS database, current_setting('server_version') AS server,"
      " (SELECT max(name) FROM chain.migration) AS schema,"
      " pg_database_size(current_database()) AS bytes,"
      " (SELECT count(*) FROM pg_inherits) AS partitions" },
    { "wal",
      "SELECT s.bytes, pg_size_bytes(current_setting('max_wal_size')) AS max_wal_size,"
      " (SELECT max(pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE"
      " pg_current_wal_lsn() END, restart_lsn))::bigint FROM pg_replication_slots) AS held_for_replicas,"
      " (SELECT failed_count FROM pg_stat_archiver WHERE last_failed_time > coalesce(last_archived_time,"
      " '-infinity')) AS archive_failures,"
      " CASE WHEN s.bytes > 1.5 * pg_size_bytes(current_setting('max_wal_size')) THEN"
      " 'more than max_wal_size: something keeps it, and its disk may fill up' END AS warning"
      " FROM (SELECT sum(size)::bigint AS bytes FROM pg_ls_waldir()) s" },
    { "archived",
      "SELECT deployment, from_ledger, end_ledger - 1 AS to_ledger, detached_at, EXISTS (SELECT FROM unnest(tables) t"
      " WHERE to_regclass(t) IS NOT NULL) AS still_here FROM chain.archive ORDER BY 1, 2" },
    { "disk", NULL },
    { "schemas",
      "SELECT n.nspname AS schema, sum(pg_total_relation_size(c.oid))::bigint AS bytes, count(*) AS tables"
      " FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'r'"
      " AND n.nspname !~ '^(pg_|information_schema)'"
      " GROUP BY 1 ORDER BY 2 DESC" },
    { "tables",
      "SELECT regexp_replace(n.nspname, '_rows$', '') || '.' || c.relname AS table,"
      " sum(pg_relation_size(p.relid))::bigint AS bytes,"
      " sum(pg_indexes_size(p.relid))::bigint AS index_bytes FROM pg_class c JOIN pg_namespace n ON n.oid ="
      " c.relnamespace, LATERAL pg_partition_tree(c.oid) p WHERE n.nspname IN ('chain', 'chain_rows',"
      " 'event_rows', 'state', 'history_rows', 'rollup') AND c.relkind IN ('r', 'p') AND NOT c.relispartition"
      " GROUP BY 1"
      " HAVING sum(pg_relation_size(p.relid)) > 0 ORDER BY 2 DESC LIMIT 20" },
};
/* clang-format on */

static const struct permit permits[] = {
    { "wal", "has_function_privilege('pg_ls_waldir()', 'execute')",
      "SELECT 'not permitted: grant pg_monitor to this role' AS note" },
};

/* Finds the section's statement. *sql may point into made. */
static tide_status section_sql(struct tide_pg *pg, const struct section *section,
                               struct tide_buf *made, const char **sql, struct tide_err *err)
{
    struct tide_pg_rows rows;
    char condition[256];
    tide_status status = TIDE_OK;
    *sql = section->sql;
    if (!section->sql) {
        status = tide_status_disk_sql(pg, made, err);
        assert(status != TIDE_OK || (made->len > 0 && made->ptr[made->len - 1] == '\0'));
        *sql = (const char *)made->ptr;
    }
    for (size_t i = 0; i < TIDE_COUNT(permits) && status == TIDE_OK; i++) {
        if (strcmp(permits[i].section, section->name) != 0)
            continue;
        int len = snprintf(condition, sizeof condition, "SELECT %s", permits[i].needs);
        assert(len > 0 && (size_t)len < sizeof condition);
        (void)len;
        status = tide_pg_query(pg, &rows, condition, NULL, 0, err);
        if (status == TIDE_OK && !tide_pg_bool(&rows, 0, 0))
            *sql = permits[i].otherwise;
        tide_pg_rows_release(&rows);
    }
    assert(status != TIDE_OK || *sql);
    return status;
}

/* The text form: the tables, then the names of the sections without rows. */
struct page {
    struct tide_buf text, empty;
    uint32_t width;
};

static tide_status add_section(struct tide_pg *pg, const struct section *section, struct page *page,
                               struct tide_err *err)
{
    struct tide_pg_rows rows = { 0 };
    struct tide_buf made;
    const char *sql;
    tide_buf_init(&made, 64u << 10);
    tide_status status = section_sql(pg, section, &made, &sql, err);
    if (status == TIDE_OK)
        status = tide_pg_query(pg, &rows, sql, NULL, 0, err);
    tide_buf_release(&made);
    if (status == TIDE_OK && rows.count)
        tide_status_table(&page->text, section->name, &rows, page->width);
    else if (status == TIDE_OK)
        tide_buf_putf(&page->empty, "%s%s", page->empty.len ? ", " : "nothing in: ", section->name);
    tide_pg_rows_release(&rows);
    return status;
}

static tide_status print_page(struct tide_pg *pg, struct tide_err *err)
{
    struct page page = { .width = tide_status_width() };
    tide_status status = TIDE_OK;
    tide_buf_init(&page.text, 1u << 20);
    tide_buf_init(&page.empty, 4096);
    for (size_t i = 0; i < TIDE_COUNT(sections) && status == TIDE_OK; i++)
        status = add_section(pg, &sections[i], &page, err);
    if (status == TIDE_OK && (page.text.failed || page.empty.failed))
        status = tide_fail(err, TIDE_E_LIMIT, "status: answer is too long");
    if (status == TIDE_OK)
        printf("%.*s%.*s%s", TIDE_SLICE_FMT(tide_buf_view(&page.text)),
               TIDE_SLICE_FMT(tide_buf_view(&page.empty)), page.empty.len ? "\n" : "");
    tide_buf_release(&page.text);
    tide_buf_release(&page.empty);
    return status;
}

/* Lets the server make the JSON, with the column names of the section as members. */
static tide_status add_json(struct tide_pg *pg, const struct section *section, struct tide_buf *out,
                            struct tide_err *err)
{
    struct tide_pg_rows rows;
    struct tide_buf sql, made;
    const char *inner;
    tide_buf_init(&sql, 64u << 10);
    tide_buf_init(&made, 64u << 10);
    tide_status status = section_sql(pg, section, &made, &inner, err);
    if (status != TIDE_OK) {
        tide_buf_release(&made);
        return status;
    }
    tide_buf_str(&sql, "SELECT coalesce(json_agg(to_jsonb(q)), '[]') FROM (");
    tide_buf_str(&sql, inner);
    tide_buf_str(&sql, ") q");
    tide_buf_u8(&sql, 0);
    status = sql.failed ? tide_fail(err, TIDE_E_MEMORY, "status")
                        : tide_pg_query(pg, &rows, (const char *)sql.ptr, NULL, 0, err);
    tide_buf_release(&sql);
    tide_buf_release(&made);
    if (status != TIDE_OK)
        return status;
    assert(rows.count == 1 && rows.columns == 1); /* json_agg */
    tide_buf_putf(out, "%s\"%s\":", out->len > 1 ? "," : "", section->name);
    tide_buf_slice(out, tide_pg_slice(&rows, 0, 0));
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

static tide_status print_json(struct tide_pg *pg, struct tide_err *err)
{
    struct tide_buf out;
    tide_status status = TIDE_OK;
    tide_buf_init(&out, 64u << 20);
    tide_buf_u8(&out, '{');
    for (size_t i = 0; i < TIDE_COUNT(sections) && status == TIDE_OK; i++)
        status = add_json(pg, &sections[i], &out, err);
    tide_buf_u8(&out, '}');
    if (status == TIDE_OK && out.failed)
        status = tide_fail(err, TIDE_E_LIMIT, "status: answer is too long");
    if (status == TIDE_OK)
        printf("%.*s\n", TIDE_SLICE_FMT(tide_buf_view(&out)));
    tide_buf_release(&out);
    return status;
}

/* All sections are read in one snapshot, so that their numbers agree. */
static tide_status print_once(const struct tide_config *config, bool json, struct tide_err *err)
{
    struct tide_pg *pg = NULL;
    struct tide_pg_options to = { .conninfo = config->database_url,
                                  .application = "tidemark-status",
                                  .silence_ms = config->db_silence_ms,
                                  .stopped = tide_stop_asked };
    tide_status status = tide_pg_open(&pg, &to, err);
    if (status == TIDE_OK)
        status = tide_migrate_check(pg, tide_migrations, tide_migration_count, err);
    if (status == TIDE_OK)
        status = tide_pg_run(pg, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", "BEGIN", err);
    if (status == TIDE_OK)
        status = json ? print_json(pg, err) : print_page(pg, err);
    tide_pg_close(pg);
    return status;
}

/* Prints the status every `seconds` until SIGINT or SIGTERM. If the database is away, prints the
 * error and goes on. */
static tide_status watch_status(const struct tide_config *config, bool json, uint32_t seconds,
                                struct tide_err *err)
{
    assert(seconds > 0);
    bool terminal = isatty(STDOUT_FILENO) == 1;
    while (!tide_stop_asked(NULL)) {
        int64_t until = tide_now_ms() + (int64_t)seconds * 1000;
        if (terminal)
            printf("\033[H\033[2J"); /* home, clear */
        tide_status status = print_once(config, json, err);
        if (status == TIDE_E_DB)
            printf("%s\n", err->text);
        else if (status != TIDE_OK)
            return status;
        if (fflush(stdout) != 0)
            return tide_fail(err, TIDE_E_IO, "status: output: %s", strerror(errno));
        while (tide_now_ms() < until && !tide_stop_asked(NULL))
            tide_sleep_ms(50);
    }
    return TIDE_OK;
}

int tide_status_main(const struct tide_config *config, const struct tide_option *options, int argc,
                     char **argv)
{
    enum { WATCH_S = 2, WATCH_S_MAX = 86400 };
    const struct tide_option *every = tide_option_find(options, "watch");
    bool json = tide_option_given(options, "json");
    uint32_t seconds = WATCH_S;
    struct tide_err err;
    tide_status status = TIDE_OK;
    (void)argc;
    if (every->value && *every->value)
        status = tide_option_u32(every, 1, WATCH_S_MAX, &seconds, &err);
    if (status == TIDE_OK)
        status = every->value ? watch_status(config, json, seconds, &err)
                              : print_once(config, json, &err);
    return tide_command_end(argv[0], status, &err);
}
