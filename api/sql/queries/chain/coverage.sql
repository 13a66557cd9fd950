-- one: deployment
-- none: there is no such deployment
-- tag: Ledgers
-- summary: Coverage
-- about: Contiguous ranges, and the state of the indexer.
-- answer: Coverage
--   network      string    passphrase of the network
--   epoch        integer   counts resets of the network
--   firstLedger  Ledger?   where the index began
--   scope        string    which tables are filled; *: all
--   ranges       Range[]   contiguous ranges that are indexed, the first hundred
--   writer       string?   state of the indexer that writes
--   tip          Ledger?   newest ledger of the network that the indexer knows
--   lagLedgers   integer?  ledgers it is behind
--   heardOfAt    Time?     when the indexer last renewed its lease
-- example: {"network":"Tidemark Simulated Network ; 2026", "epoch":0, "firstLedger":"1024", "scope":"*",
--   "ranges":[{"from":"1024", "to":"1535", "closedAt":"2026-01-31T07:24:04Z"}], "writer":"stopped", "tip":"1535",
--   "lagLedgers":0, "heardOfAt":"2026-11-21T11:35:07Z"}
-- schema: Range
--   from      Ledger  its first ledger
--   to        Ledger  its last ledger
--   closedAt  Time    when that closed
--
-- What is indexed: contiguous ranges, the first hundred of them, and what the writer says of itself.
SELECT row_to_json(x)::text
FROM chain.deployment AS d LEFT JOIN chain.heartbeat AS h ON h.deployment = d.id, LATERAL (SELECT
    d.passphrase AS "network",
    d.epoch AS "epoch",
    nullif(d.first_ledger, 0)::text AS "firstLedger",
    d.scope AS "scope",
    to_json(ARRAY(SELECT row_to_json(r) FROM (
      SELECT c.from_ledger::text AS "from", c.to_ledger::text AS "to", chain.rfc3339(c.closed_at) AS "closedAt"
      FROM chain.coverage AS c WHERE c.deployment = d.id ORDER BY c.from_ledger LIMIT 100) AS r)) AS "ranges",
    h.state AS "writer",
    h.tip::text AS "tip",
    h.lag_ledgers AS "lagLedgers",
    chain.rfc3339(h.heartbeat_at) AS "heardOfAt"
  ) AS x
WHERE d.id = $1::smallint
