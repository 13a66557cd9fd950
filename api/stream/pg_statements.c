/* The stream's SQL statements that read no table of a contract. $1 is the deployment in all of
 * them. The others are .sql files: they are bound to the deployment file's contracts. */
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
