/* The statement of the section disk: growth of the tables, and the free space of the server's
 * volume. */
#include "indexer/commands/status_disk.h"

#include <errno.h>
#include <string.h>
#include <sys/statvfs.h>

/* The volume of the server's data directory. */
struct volume {
    uint64_t free, total;
    char note[128]; /* "" if free and total are known */
};

/* Reads the volume's size. The server must be on this machine, and the role must be allowed to see
 * its data directory; otherwise fills the note. */
static tide_status find_volume(struct tide_pg *pg, struct volume *v, struct tide_err *err)
{
    struct tide_pg_rows rows;
    struct statvfs vfs = { 0 };
    tide_status status = tide_pg_query(
        pg, &rows,
        "SELECT setting, coalesce(inet_server_addr() <<= '127.0.0.0/8'::inet OR inet_server_addr()"
        " = '::1'::inet, true) FROM pg_settings WHERE name = 'data_directory' AND setting <> ''",
        NULL, 0, err);
    if (status != TIDE_OK)
        return status;
    if (rows.count == 0)
        snprintf(v->note, sizeof v->note, "free space unknown: grant pg_monitor to this role");
    else if (!tide_pg_bool(&rows, 0, 1))
        snprintf(v->note, sizeof v->note, "free space unknown: the server is on another machine");
    else if (statvfs(tide_pg_text(&rows, 0, 0), &vfs) != 0)
        snprintf(v->note, sizeof v->note, "free space unknown: %s", strerror(errno));
    v->free = v->note[0] ? 0 : (uint64_t)vfs.f_bavail * vfs.f_frsize;
    v->total = v->note[0] ? 0 : (uint64_t)vfs.f_blocks * vfs.f_frsize;
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

/* Ledgers per day are computed from gaps of at most ten times the median: longer gaps are outages,
 * not the network's pace. */
static const char growth_sql[] =
    "WITH c AS (SELECT deployment, ledger FROM chain.cursor WHERE ledger > 0 ORDER BY moved_at DESC"
    " LIMIT 1), p AS (SELECT p.deployment, p.from_ledger, least(p.end_ledger - 1, c.ledger) AS last"
    " FROM chain.partition p JOIN c USING (deployment) WHERE p.attached AND p.from_ledger <="
    " c.ledger ORDER BY p.from_ledger DESC LIMIT 2), b AS (SELECT "
    "sum(pg_total_relation_size(k.oid))"
    " AS bytes FROM p JOIN pg_class k ON k.relkind = 'r' AND right(k.relname, length(format("
    "'_p%s_%s', p.deployment, p.from_ledger))) = format('_p%s_%s', p.deployment, p.from_ledger)),"
    " n AS (SELECT sum(least(v.to_ledger, p.last) - greatest(v.from_ledger, p.from_ledger) + 1) AS"
    " ledgers FROM p JOIN chain.coverage v ON v.deployment = p.deployment AND v.from_ledger <="
    " p.last AND v.to_ledger >= p.from_ledger), r AS (SELECT sum(pg_total_relation_size(k.oid)) /"
    " (SELECT sum(v.to_ledger - v.from_ledger + 1) FROM chain.coverage v) AS bytes FROM pg_class k"
    " WHERE k.relnamespace = 'rollup'::regnamespace AND k.relkind = 'r'), s AS (SELECT "
    "c.deployment,"
    " c.ledger, greatest(v.from_ledger, c.ledger - 17280) AS first FROM c JOIN chain.coverage v ON"
    " v.deployment = c.deployment AND c.ledger BETWEEN v.from_ledger AND v.to_ledger), d AS (SELECT"
    " extract(epoch FROM l.closed_at - lag(l.closed_at) OVER (ORDER BY l.ledger)) AS gap FROM s"
    " JOIN chain.ledger l ON l.deployment = s.deployment AND l.ledger BETWEEN s.first AND "
    "s.ledger),"
    " m AS (SELECT 10 * percentile_disc(0.5) WITHIN GROUP (ORDER BY gap) AS most FROM d), t AS"
    " (SELECT 86400 * count(*) / nullif(sum(d.gap), 0) AS ledgers FROM d, m WHERE d.gap <= m.most),"
    " g AS (SELECT"
    " b.bytes / nullif(n.ledgers, 0) + r.bytes AS a_ledger, t.ledgers AS a_day FROM b, n, r, t)"
    " SELECT round(g.a_ledger)::bigint AS bytes_per_ledger, round(g.a_day, 1) AS ledgers_per_day,"
    " round(g.a_ledger * g.a_day)::bigint AS bytes_per_day";

tide_status tide_status_disk_sql(struct tide_pg *pg, struct tide_buf *out, struct tide_err *err)
{
    struct volume v = { 0 };
    char note[2 * sizeof v.note + 3];
    tide_status status = find_volume(pg, &v, err);
    if (status != TIDE_OK)
        return status;
    if (!tide_pg_quote_literal(note, sizeof note, v.note))
        return tide_fail(err, TIDE_E_LIMIT, "status: note");
    tide_buf_str(out, growth_sql);
    if (v.note[0])
        tide_buf_putf(out, ", %s AS note", note);
    else
        tide_buf_putf(out,
                      ", %" PRIu64 " AS free_bytes, %" PRIu64 " AS volume_bytes, round(%" PRIu64
                      " / nullif(g.a_ledger * g.a_day, 0), 1) AS days_until_full",
                      v.free, v.total, v.free);
    tide_buf_str(out, " FROM (SELECT) one LEFT JOIN g ON true");
    tide_buf_u8(out, 0);
    return out->failed ? tide_fail(err, TIDE_E_MEMORY, "status") : TIDE_OK;
}
