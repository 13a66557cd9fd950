-- one: deployment
-- none: there is no such deployment
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
    chain.rfc3339(h.beat_at) AS "heardOfAt"
  ) AS x
WHERE d.id = $1::smallint
