-- list: deployment at after limit token
-- of: token
-- Transfers, mints, burns and clawbacks of a token, the newest first, nothing of what is no token.
-- The order begins with the contract's hash, so that no other index than the one by it has that order.
SELECT row_to_json(x)::text, y.ledger || '.' || y.tx || '.' || y.op || '.' || y.event
FROM event.log AS y, LATERAL (
    SELECT e.from_address AS a, e.to_address AS b, e.amount FROM event.synth_token_transfer AS e
    WHERE y.kind = 'synth_token_transfer' AND e.deployment = $1 AND (e.ledger, e.tx, e.op, e.event) = (y.ledger,
      y.tx, y.op, y.event)
    UNION ALL
    SELECT NULL::text AS a, e.to_address AS b, e.amount FROM event.synth_token_mint AS e
    WHERE y.kind = 'synth_token_mint' AND e.deployment = $1 AND (e.ledger, e.tx, e.op, e.event) = (y.ledger,
      y.tx, y.op, y.event)
    UNION ALL
    SELECT e.from_address AS a, NULL::text AS b, e.amount FROM event.synth_token_burn AS e
    WHERE y.kind = 'synth_token_burn' AND e.deployment = $1 AND (e.ledger, e.tx, e.op, e.event) = (y.ledger,
      y.tx, y.op, y.event)
    UNION ALL
    SELECT e.from_address AS a, e.to_address AS b, e.amount FROM event.synth_token_clawback AS e
    WHERE y.kind = 'synth_token_clawback' AND e.deployment = $1 AND (e.ledger, e.tx, e.op, e.event) = (y.ledger,
      y.tx, y.op, y.event)
    UNION ALL
    SELECT e.from_address AS a, e.to_address AS b, e.amount FROM event.stellar_asset_transfer AS e
    WHERE y.kind = 'stellar_asset_transfer' AND e.deployment = $1 AND (e.ledger, e.tx, e.op,
      e.event) = (y.ledger, y.tx, y.op, y.event)
    UNION ALL
    SELECT NULL::text AS a, e.to_address AS b, e.amount FROM event.stellar_asset_mint AS e
    WHERE y.kind = 'stellar_asset_mint' AND e.deployment = $1 AND (e.ledger, e.tx, e.op, e.event) = (y.ledger,
      y.tx, y.op, y.event)
    UNION ALL
    SELECT e.from_address AS a, NULL::text AS b, e.amount FROM event.stellar_asset_burn AS e
    WHERE y.kind = 'stellar_asset_burn' AND e.deployment = $1 AND (e.ledger, e.tx, e.op, e.event) = (y.ledger,
      y.tx, y.op, y.event)
    UNION ALL
    SELECT e.from_address AS a, NULL::text AS b, e.amount FROM event.stellar_asset_clawback AS e
    WHERE y.kind = 'stellar_asset_clawback' AND e.deployment = $1 AND (e.ledger, e.tx, e.op,
      e.event) = (y.ledger, y.tx, y.op, y.event)
  ) AS e, LATERAL (SELECT
    chain.event_id(y.ledger, y.tx, y.op, y.event) AS "id",
    y.ledger::text AS "ledger",
    chain.rfc3339(y.closed_at) AS "closedAt",
    (SELECT encode(t.hash, 'hex') FROM chain.tx AS t
      WHERE t.deployment = $1 AND t.ledger = y.ledger AND t.tx = y.tx) AS "txHash",
    substring(y.kind FROM '[a-z]+$') AS "type",
    e.a AS "from",
    e.b AS "to",
    e.amount::text AS "amount",
    analyst.scaled(e.amount)::text AS "amountScaled"
  ) AS x
WHERE y.deployment = $1::smallint AND hashtext(y.contract) >= hashtext($5::text)
  AND hashtext(y.contract) <= hashtext($5) AND y.contract = $5
  AND y.ledger <= $2::integer
  AND y.kind IN ('synth_token_transfer', 'synth_token_mint', 'synth_token_burn', 'synth_token_clawback',
    'stellar_asset_transfer', 'stellar_asset_mint', 'stellar_asset_burn', 'stellar_asset_clawback')
  AND (EXISTS (SELECT FROM state.synth_token_instance AS i WHERE i.deployment = $1 AND i.contract = $5)
    OR EXISTS (SELECT FROM state.stellar_asset_instance AS i WHERE i.deployment = $1 AND i.contract = $5))
  AND ($3::text IS NULL OR (y.ledger, y.tx, y.op, y.event) < (split_part($3, '.', 1)::integer,
    split_part($3, '.', 2)::integer, split_part($3, '.', 3)::integer, split_part($3, '.', 4)::integer))
  AND ($3::text IS NULL OR y.ledger <= split_part($3, '.', 1)::integer)
ORDER BY hashtext(y.contract) DESC, y.ledger DESC, y.tx DESC, y.op DESC, y.event DESC
LIMIT $4::integer
