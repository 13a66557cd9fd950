/* Checks of what is indexed: the ledgers of the coverage have rows, and publications copy all. */
#include "indexer/commands/doctor.h"

#include <string.h>

/* Two answers: ledgers that are covered and have no row, and ledgers between covered ranges. Of
 * each: how many ledgers, the first ranges as text, the first and the last ledger. */
static const char coverage_sql[] =
    "WITH r AS (SELECT false AS open, h.* FROM chain.holes(%u::smallint) AS h UNION ALL SELECT "
    "true,"
    " g.* FROM (SELECT lag(v.to_ledger) OVER (ORDER BY v.from_ledger) + 1 AS from_ledger,"
    " v.from_ledger - 1 AS to_ledger FROM chain.coverage AS v WHERE v.deployment = %u) AS g WHERE"
    " g.to_ledger >= g.from_ledger), n AS (SELECT r.*, row_number() OVER (PARTITION BY r.open ORDER"
    " BY r.from_ledger) AS n FROM r) SELECT n.open, sum(n.to_ledger - n.from_ledger + 1),"
    " string_agg(n.from_ledger || ' to ' || n.to_ledger, ', ' ORDER BY n.n) FILTER (WHERE n.n <= 4)"
    " || CASE WHEN count(*) > 4 THEN ' and more' ELSE '' END, min(n.from_ledger), max(n.to_ledger)"
    " FROM n GROUP BY n.open ORDER BY n.open LIMIT 1";

static void say_ranges(const struct tide_pg_rows *rows, struct doctor_finding *out)
{
    char remedy[DOCTOR_TEXT];
    bool open = tide_pg_bool(rows, 0, 0);
    snprintf(remedy, sizeof remedy,
             "stop the indexer, tidemark-indexer backfill --from %s --to %s, start it",
             tide_pg_text(rows, 0, 3), tide_pg_text(rows, 0, 4));
    if (open)
        doctor_say(out, DOCTOR_WARNING, remedy, "%s ledgers between others are not indexed: %s",
                   tide_pg_text(rows, 0, 1), tide_pg_text(rows, 0, 2));
    else
        doctor_say(out, DOCTOR_FAILED, remedy,
                   "the rows of %s ledgers that count as indexed are missing: %s",
                   tide_pg_text(rows, 0, 1), tide_pg_text(rows, 0, 2));
}

void doctor_coverage(struct doctor *d, struct doctor_finding *out)
{
    struct tide_pg_rows rows;
    char sql[1400];
    if (!doctor_connected(d, out))
        return;
    if (!d->migrated || !d->deployment) {
        doctor_say(out, DOCTOR_SKIPPED, NULL, "needs the %s",
                   d->migrated ? "deployment file" : "schema");
        return;
    }
    int len = snprintf(sql, sizeof sql, coverage_sql, d->id, d->id);
    assert(len > 0 && (size_t)len < sizeof sql);
    (void)len;
    /* Counting reads an index of all ledgers. It ends before doctor gives the server up. */
    if (!doctor_ask(d, NULL, "SET statement_timeout = '4s'", out))
        return;
    if (!doctor_ask(d, &rows, sql, out)) {
        if (strcmp(tide_pg_sqlstate(d->pg), "57014") == 0)
            doctor_say(out, DOCTOR_SKIPPED, NULL,
                       "counting the ledgers takes more than 4 s; tidemark-indexer verify does it");
        return;
    }
    if (rows.count)
        say_ranges(&rows, out);
    else
        doctor_say(out, DOCTOR_OK, NULL, "each ledger that counts as indexed has its row");
    tide_pg_rows_release(&rows);
}

/* Publications with tables of Tidemark, and what each leaves out. The indexer does not attach a
 * range that was loaded before a publication with partitioned tables was made: subscribers would
 * not get its rows. */
static const char publications_sql[] =
    "WITH ours AS (SELECT c.oid, c.relkind, c.relispartition, c.relnamespace, n.nspname FROM"
    " pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = ANY"
    " ('{chain,event,state,history,rollup,chain_rows,event_rows,history_rows}')"
    " AND c.relkind IN ('r', 'p')),"
    " named AS (SELECT r.prpubid AS pub, o.*, r.prqual IS NOT NULL OR r.prattrs IS NOT NULL AS cut"
    " FROM pg_publication_rel AS r JOIN ours AS o ON o.oid = r.prrelid"
    " UNION ALL SELECT s.pnpubid, o.*, false FROM pg_publication_namespace AS s"
    " JOIN ours AS o ON o.relnamespace = s.pnnspid"
    " UNION ALL SELECT p.oid, o.*, false FROM pg_publication AS p, ours AS o WHERE p.puballtables),"
    " found AS (SELECT p.pubname, p.pubviaroot, bool_or(n.relkind = 'p') AS parents,"
    " bool_or(n.cut) OR NOT (p.pubinsert AND p.pubupdate AND p.pubdelete AND p.pubtruncate) AS cut,"
    " bool_or(n.relispartition AND NOT EXISTS (SELECT FROM named AS r WHERE r.pub = n.pub"
    " AND r.oid = pg_partition_root(n.oid))) AS single, bool_or(n.nspname LIKE '%\\_rows')"
    " AND NOT bool_or(n.oid = 'chain.word'::regclass) AS wordless"
    " FROM pg_publication AS p JOIN named AS n ON n.pub = p.oid GROUP BY p.oid)"
    " SELECT count(*), string_agg(pubname, ', ' ORDER BY pubname),"
    " string_agg(pubname, ', ' ORDER BY pubname) FILTER (WHERE single),"
    " string_agg(pubname, ', ' ORDER BY pubname) FILTER (WHERE cut),"
    " string_agg(pubname, ', ' ORDER BY pubname) FILTER (WHERE parents AND NOT pubviaroot),"
    " string_agg(pubname, ', ' ORDER BY pubname) FILTER (WHERE wordless),"
    " (SELECT string_agg(first_loaded || ' to ' || last_loaded, ', ' ORDER BY first_loaded)"
    " FROM chain.partition WHERE NOT attached AND first_loaded > 0"
    " AND (SELECT bool_or(parents) FROM found)) FROM found";
enum { PUBLISHED, NAMES, SINGLE, CUT, LEAVES, WORDLESS, LOADED };

void doctor_publications(struct doctor *d, struct doctor_finding *out)
{
    struct tide_pg_rows rows;
    if (!d->migrated && doctor_connected(d, out)) {
        doctor_say(out, DOCTOR_SKIPPED, NULL, "needs the schema");
        return;
    }
    if (!doctor_ask(d, &rows, publications_sql, out))
        return;
    if (!tide_pg_is_null(&rows, 0, LOADED))
        doctor_say(
            out, DOCTOR_FAILED,
            "drop the publication, let the indexer attach the range, then make publication "
            "and subscription again; the indexer ends with 76 otherwise",
            "ledgers %s were loaded before the publication was made, and no subscriber would "
            "get them: %s",
            tide_pg_text(&rows, 0, LOADED), tide_pg_text(&rows, 0, NAMES));
    else if (!tide_pg_is_null(&rows, 0, SINGLE))
        doctor_say(out, DOCTOR_WARNING,
                   "let it name the partitioned tables: later partitions then belong to it",
                   "partitions are named one by one, so later ones are not sent: %s",
                   tide_pg_text(&rows, 0, SINGLE));
    else if (!tide_pg_is_null(&rows, 0, CUT))
        doctor_say(out, DOCTOR_WARNING,
                   "publish whole tables with all changes: state rows are updated and deleted",
                   "only some rows, columns or kinds of change are sent: %s",
                   tide_pg_text(&rows, 0, CUT));
    else if (!tide_pg_is_null(&rows, 0, LEAVES))
        doctor_say(out, DOCTOR_WARNING,
                   "ALTER PUBLICATION NAME SET (publish_via_partition_root), then ALTER "
                   "SUBSCRIPTION NAME REFRESH PUBLICATION",
                   "subscribers need a table for each partition, also for those to come: %s",
                   tide_pg_text(&rows, 0, LEAVES));
    else if (!tide_pg_is_null(&rows, 0, WORDLESS))
        doctor_say(out, DOCTOR_WARNING, "ALTER PUBLICATION NAME ADD TABLE chain.word",
                   "subscribers get keys without the words that they stand for: %s",
                   tide_pg_text(&rows, 0, WORDLESS));
    else
        doctor_say(out, DOCTOR_OK, NULL, "%s",
                   tide_pg_u64(&rows, 0, PUBLISHED) ? tide_pg_text(&rows, 0, NAMES) : "none");
    tide_pg_rows_release(&rows);
}
