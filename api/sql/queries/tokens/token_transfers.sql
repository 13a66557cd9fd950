-- list: deployment at after limit token
-- of: token
-- tag: Tokens
-- summary: Transfers of a token
-- about: Newest first.
-- answer: TokenTransfers of Transfer
-- schema: Transfer
--   id        EventId   Stellar RPC's id of the event
--   ledger    Ledger    in which it happened
--   closedAt  Time      when that ledger closed
--   txHash    Hash?     of the transaction; null where the index does not hold it
--   type      string    transfer, mint, burn …
--   from      Address?  the sender; null: the tokens were minted
--   to        Address?  the receiver; null: the tokens were burned
--   amount    Amount+   raw units of the token
-- example: {"id":"0026986413392158720-0000000002", "ledger":"1534", "closedAt":"2026-01-31T07:23:59Z",
--   "txHash":"45f191a493f0879dce3016d7940503a6e68525f73a58b87ea694cd5427007901", "type":"transfer",
--   "from":"CAPI6GJZBFPXFHEAHG5236JYOCGMVD4F73BCSUC5L64IBT4R2HH5KJRL",
--   "to":"CAM5YVRZL3AMSV7CMEWP4VOKMHM7WHMJ57SQCSKQ6RRSJ7NESRCRWOG6", "amount":"10247", "amountScaled":"0.0010247"}
--
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
