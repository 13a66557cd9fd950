-- list: deployment at after limit partnerId
-- of: partner
-- What a partner was paid, in USDC, the newest first.
SELECT row_to_json(x)::text, y.ledger || '.' || y.tx || '.' || y.op || '.' || y.event
FROM event.partner_registry_preg_claim AS y, LATERAL (SELECT
    chain.event_id(y.ledger, y.tx, y.op, y.event) AS "id",
    y.ledger::text AS "ledger",
    chain.rfc3339(y.closed_at) AS "closedAt",
    (SELECT encode(t.hash, 'hex') FROM chain.tx AS t
      WHERE t.deployment = $1 AND t.ledger = y.ledger AND t.tx = y.tx) AS "txHash",
    y.partner_owner AS "owner",
    y.claimable::text AS "claimed",
    analyst.scaled(y.claimable)::text AS "claimedScaled"
  ) AS x
WHERE y.deployment = $1::smallint AND y.ledger <= $2::integer
  AND y.partner_owner = (SELECT p.owner FROM state.partner_registry_partner AS p
    WHERE p.deployment = $1 AND p.key_id = (CASE WHEN $5::text ~ '^(0|[1-9][0-9]{0,9})$' THEN $5::bigint END))
  AND ($3::text IS NULL OR (y.ledger, y.tx, y.op, y.event) < (split_part($3, '.', 1)::integer,
    split_part($3, '.', 2)::integer, split_part($3, '.', 3)::integer, split_part($3, '.', 4)::integer))
  AND ($3::text IS NULL OR y.ledger <= split_part($3, '.', 1)::integer)
ORDER BY y.ledger DESC, y.tx DESC, y.op DESC, y.event DESC
LIMIT $4::integer
