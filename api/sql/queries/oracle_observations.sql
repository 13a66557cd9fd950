-- list: deployment at after limit asset provider
-- Prices as providers said them, the newest first. Each filter is written so that only its own index fits: an asset or a
-- provider may have said nothing for long.
WITH page AS (
  (SELECT y.* FROM event.oracle_price_observation AS y
  WHERE $5::text IS NULL AND $6::text IS NULL AND y.deployment = $1::smallint AND y.ledger <= $2::integer
    AND ($3::text IS NULL OR (y.ledger <= split_part($3, '.', 1)::integer
      AND (y.ledger, y.tx, y.op, y.event) < (split_part($3, '.', 1)::integer, split_part($3, '.', 2)::integer,
        split_part($3, '.', 3)::integer, split_part($3, '.', 4)::integer)))
  ORDER BY y.ledger DESC, y.tx DESC, y.op DESC, y.event DESC LIMIT $4::integer)
  UNION ALL
  (SELECT y.* FROM event.oracle_price_observation AS y
  WHERE $6 IS NULL AND y.deployment = $1 AND y.asset >= $5 AND y.asset <= $5 AND y.ledger <= $2
    AND ($3 IS NULL OR (y.ledger <= split_part($3, '.', 1)::integer
      AND (y.ledger, y.tx, y.op, y.event) < (split_part($3, '.', 1)::integer, split_part($3, '.', 2)::integer,
        split_part($3, '.', 3)::integer, split_part($3, '.', 4)::integer)))
  ORDER BY y.asset DESC, y.ledger DESC, y.tx DESC, y.op DESC, y.event DESC LIMIT $4)
  UNION ALL
  (SELECT y.* FROM event.oracle_price_observation AS y
  WHERE y.deployment = $1 AND y.provider >= $6 AND y.provider <= $6 AND ($5 IS NULL OR y.asset = $5) AND y.ledger <= $2
    AND ($3 IS NULL OR (y.ledger <= split_part($3, '.', 1)::integer
      AND (y.ledger, y.tx, y.op, y.event) < (split_part($3, '.', 1)::integer, split_part($3, '.', 2)::integer,
        split_part($3, '.', 3)::integer, split_part($3, '.', 4)::integer)))
  ORDER BY y.provider DESC, y.ledger DESC, y.tx DESC, y.op DESC, y.event DESC LIMIT $4)
)
SELECT row_to_json(x)::text, y.ledger || '.' || y.tx || '.' || y.op || '.' || y.event
FROM page AS y, LATERAL (SELECT
    chain.event_id(y.ledger, y.tx, y.op, y.event) AS "id",
    y.ledger::text AS "ledger",
    chain.rfc3339(y.closed_at) AS "closedAt",
    (SELECT encode(t.hash, 'hex') FROM chain.tx AS t
      WHERE t.deployment = $1 AND t.ledger = y.ledger AND t.tx = y.tx) AS "txHash",
    y.asset AS "asset",
    y.provider AS "provider",
    y.price::text AS "price",
    analyst.scaled(y.price)::text AS "priceScaled"
  ) AS x
ORDER BY y.ledger DESC, y.tx DESC, y.op DESC, y.event DESC
LIMIT $4
