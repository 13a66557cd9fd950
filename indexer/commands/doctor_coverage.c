/* Checks that the ledgers of the coverage have rows. */
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
