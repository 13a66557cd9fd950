-- one: deployment
-- none: there is no such deployment
-- tag: Ledgers
-- summary: Coverage
-- about: Contiguous ranges, and the state of the indexer. How long ago it was last heard of is in `Data-Age-Ms`.
-- answer: Coverage
--   network       string    passphrase of the network
--   networkEpoch  Count     counts resets of the network
--   firstLedger   Ledger?   where the index began
--   ranges        Range[]   contiguous ranges that are indexed, the first hundred
--   historyFrom   Ledger?   the index began with the state of a checkpoint, the ledger before this one: events, lists and sums of the
--                           past begin with it, as `History-From` says in each answer. Null: there is no such limit
--   startProof    "linked|signed"?  what proved that state: signed: signatures of the operator's validators; linked: the archive
--                           was believed. Null: there is no such limit
--   writer        string?   state of the indexer that writes
--   tip           Ledger?   newest ledger of the network that the indexer knows
--   lagLedgers    Count?    ledgers it is behind
-- example: {"network":"Tidemark Simulated Network ; 2026", "networkEpoch":0, "firstLedger":"1024",
--   "ranges":[{"fromLedger":"1024", "toLedger":"1535", "closedAt":"2026-01-31T07:24:04Z"}], "historyFrom":null, "startProof":null,
--   "writer":"stopped", "tip":"1535",
--   "lagLedgers":0}
-- schema: Range
--   fromLedger  Ledger  its first ledger
--   toLedger    Ledger  its last ledger
--   closedAt    Time    when that closed
--
-- The indexed ledgers: contiguous ranges, the first hundred of them, and what the writer says of itself.
SELECT row_to_json(x)::text
FROM chain.deployment AS d LEFT JOIN chain.heartbeat AS h ON h.deployment = d.id
  LEFT JOIN chain.start AS o ON o.deployment = d.id, LATERAL (SELECT
    d.passphrase AS "network",
    d.epoch AS "networkEpoch",
    nullif(d.first_ledger, 0)::text AS "firstLedger",
    to_json(ARRAY(SELECT row_to_json(r) FROM (
      SELECT c.from_ledger::text AS "fromLedger", c.to_ledger::text AS "toLedger", chain.rfc3339(c.closed_at) AS "closedAt"
      FROM chain.coverage AS c WHERE c.deployment = d.id ORDER BY c.from_ledger LIMIT 100) AS r)) AS "ranges",
    (o.ledger + 1)::text AS "historyFrom",
    CASE WHEN o.signed_ledger IS NOT NULL THEN 'signed' WHEN o.ledger IS NOT NULL THEN 'linked' END AS "startProof",
    h.state AS "writer",
    h.tip::text AS "tip",
    h.lag_ledgers AS "lagLedgers"
  ) AS x
WHERE d.id = $1::smallint
