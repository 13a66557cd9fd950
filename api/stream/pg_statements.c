/* The stream's SQL statements. $1 is the deployment in all of them. */
#include "api/stream/pg_source.h"

/* The head: newest ledger, start of its contiguous range, archived range, whether an entry
 * of the compliance registry is undecodable, whether there is a fork, how often partitions changed,
 * and the indexer's sign of life. */
const char stream_sql_head[] =
    "SELECT c.ledger, chain.unix_ms(c.closed_at), (SELECT min(v.from_ledger)"
    " FROM chain.coverage AS v WHERE v.deployment = $1 AND c.ledger BETWEEN v.from_ledger AND"
    " v.to_ledger), (SELECT coalesce(min(a.from_ledger), 0) FROM chain.archive AS a WHERE "
    "a.deployment = $1),"
    " (SELECT coalesce(max(a.end_ledger) - 1, 0) FROM chain.archive AS a WHERE a.deployment = $1),"
    " CASE WHEN c.raw_states > 0 THEN"
    " EXISTS (SELECT FROM chain.role AS r WHERE r.deployment = $1 AND r.role ="
    " 'compliance_registry' AND chain.undecoded($1, r.contract, r.role, c.ledger)) ELSE false END,"
    " EXISTS (SELECT FROM chain.fork AS f WHERE f.deployment = $1), c.parts, " TIDE_AGE_COLUMNS
    " FROM chain.cursor AS c WHERE c.deployment = $1";

/* Changes of blocked jurisdictions in the ledgers ($2, $3]. */
const char stream_sql_blocks[] =
    "SELECT code, ledger, removed FROM history.compliance_registry_blocked_jurisdiction"
    " WHERE deployment = $1 AND ledger > $2 AND ledger <= $3 ORDER BY ledger, tx, seq";

/* The version of an entry as of ledger $2; no row if it was removed. */
#define NEWEST(table, key)                                                            \
    "(SELECT * FROM (SELECT * FROM history." table " AS h WHERE h.deployment = $1"    \
    " AND h.key_hash = " key " AND h.ledger <= $2 ORDER BY h.ledger DESC, h.tx DESC," \
    " h.seq DESC LIMIT 1) AS v WHERE NOT v.removed)"

/* Records of addresses as of ledger $2. $3, $4: hashes, in hex, of the keys of ComplianceRec and
 * Frozen. At least one row, for the ledger's close time. */
const char stream_sql_people[] =
    "SELECT chain.unix_ms((SELECT closed_at FROM chain.ledger WHERE deployment = $1"
    " AND ledger = $2)), a.n - 1, r.key_hash IS NOT NULL, r.status, r.jurisdiction,"
    " r.expires_at, f.key_hash IS NOT NULL FROM (SELECT 1) AS one"
    " LEFT JOIN unnest($3::text[], $4::text[]) WITH ORDINALITY AS a(rec, frozen, n) ON true"
    " LEFT JOIN LATERAL " NEWEST(
        "compliance_registry_compliance_rec",
        "decode(a.rec, 'hex')") " AS r ON true"
                                " LEFT JOIN LATERAL " NEWEST(
                                    "compliance_registry_frozen",
                                    "decode(a.frozen, 'hex')") " AS f ON true ORDER BY a.n";

/* x: the fields of a "price" message, from a version p of a feed. */
#define PRICE                                                                        \
    " LATERAL (SELECT p.asset, p.latest_price::text AS \"latestPrice\","             \
    " analyst.scaled(p.latest_price, 7)::text AS \"latestPriceScaled\","             \
    " chain.rfc3339(analyst.at(p.latest_ts)) AS \"latestAt\","                       \
    " p.twap_price::text AS \"twapPrice\", analyst.scaled(p.twap_price, 7)::text AS" \
    " \"twapPriceScaled\", chain.rfc3339(analyst.at(p.twap_ts)) AS \"twapAt\","      \
    " p.observation_count AS \"observationCount\") AS x"

/* Present prices as of ledger $2: of the assets in $3 (NULL: of all), after asset $4, at most $5
 * rows. Feeds that were removed since are found in the history. */
const char stream_sql_prices[] =
    "SELECT s.asset, row_to_json(x)::text, chain.unix_ms((SELECT closed_at FROM chain.ledger"
    " WHERE deployment = $1 AND ledger = $2))"
    " FROM (SELECT s.asset, s.key_hash FROM state.oracle_feed AS s WHERE s.deployment = $1"
    " UNION SELECT h.asset, h.key_hash FROM history.oracle_feed AS h WHERE h.deployment = $1"
    " AND h.removed AND h.ledger > $2) AS s, LATERAL " NEWEST(
        "oracle_feed", "s.key_hash") " AS p," PRICE " WHERE ($3::text[] IS NULL OR s.asset ="
                                     " ANY ($3::text[])) AND s.asset COLLATE \"C\" > $4::text"
                                     " ORDER BY s.asset COLLATE \"C\" LIMIT $5::integer";

/* Prices that changed in the ledgers $2 to $3: each feed's last version in each ledger. */
const char stream_sql_price_changes[] =
    "SELECT p.asset, row_to_json(x)::text, p.ledger FROM (SELECT DISTINCT ON (ledger, asset"
    " COLLATE \"C\") * FROM history.oracle_feed WHERE deployment = $1 AND ledger BETWEEN $2 AND $3"
    " AND NOT removed ORDER BY ledger, asset COLLATE \"C\", tx DESC, seq DESC) AS p," PRICE
    " ORDER BY p.ledger, p.asset COLLATE \"C\"";

/* Changes of compliance records in the ledgers $2 to $3. */
const char stream_sql_changes[] =
    "SELECT ledger, false, removed, address, status, jurisdiction, expires_at, tx, seq"
    " FROM history.compliance_registry_compliance_rec"
    " WHERE deployment = $1 AND ledger BETWEEN $2 AND $3 UNION ALL"
    " SELECT ledger, true, removed, address, NULL, NULL, NULL, tx, seq"
    " FROM history.compliance_registry_frozen"
    " WHERE deployment = $1 AND ledger BETWEEN $2 AND $3 ORDER BY ledger, tx, seq";

/* The ledgers $2 to $3. The last column is the head's: if it differs, partitions changed since the
 * head was read, and events that were read in between may lack some. */
const char stream_sql_ledgers[] =
    "SELECT l.ledger, chain.unix_ms(l.closed_at), row_to_json(x)::text,"
    " (SELECT c.parts FROM chain.cursor AS c WHERE c.deployment = $1)"
    " FROM chain.ledger AS l, LATERAL (SELECT encode(l.hash, 'hex') AS \"hash\","
    " encode(l.previous_hash, 'hex') AS \"previousHash\", l.protocol AS \"protocol\","
    " l.tx_count AS \"transactions\", l.our_txs AS \"protocolTransactions\","
    " l.events AS \"events\", l.changes AS \"changes\", l.raw_events AS \"rawEvents\","
    " l.raw_states AS \"rawStates\", l.raw_calls AS \"rawCalls\","
    " (ARRAY['chain', 'results', 'events'])[l.proof + 1] AS \"proof\") AS x"
    " WHERE l.deployment = $1 AND l.ledger BETWEEN $2 AND $3 ORDER BY l.ledger";

/* Events after position ($2, $3, $4, $5), up to the end of ledger $6, at most $7. A discovered
 * token is followed from the ledger after the one that named it and showed its kind. Its events
 * until then are indexed later, so no stream has them: another node would send more than the node
 * that followed. Whether any token was discovered since $2 is asked once. Amounts
 * have the decimals as of their event's ledger: all nodes send the same, whenever they do. */
const char stream_sql_log[] =
    "SELECT l.ledger, l.tx, l.op, l.event, chain.unix_ms(l.closed_at), l.contract,"
    " l.kind, l.subject, array_to_string(l.addresses, ' '), chain.event_id(l.ledger, l.tx, l.op,"
    " l.event), to_json(l.addresses)::text, (SELECT encode(t.hash, 'hex') FROM chain.tx AS t"
    " WHERE t.deployment = $1 AND t.ledger = l.ledger AND t.tx = l.tx), (SELECT"
    " encode(t.inner_hash, 'hex') FROM chain.tx AS t"
    " WHERE t.deployment = $1 AND t.ledger = l.ledger AND t.tx = l.tx),"
    " chain.event_fields(l.kind, l.deployment, l.ledger, l.tx, l.op, l.event, l.ledger)::text FROM "
    "event.log "
    "AS l WHERE "
    "l.deployment = $1"
    " AND l.ledger >= $2 AND l.ledger <= $6"
    " AND (l.ledger, l.tx, l.op, l.event) > ($2, $3, $4, $5)"
    " AND (NOT EXISTS (SELECT FROM chain.found_after($1, $2 - 1)) OR NOT"
    " (chain.followed_after($1, l.contract, l.ledger - 1) OR"
    " chain.kept_later($1, l.ledger, l.tx, l.event, l.ledger - 1)))"
    " ORDER BY l.ledger, l.tx, l.op, l.event LIMIT $7";
