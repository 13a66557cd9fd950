-- list: deployment at after limit from to order address
-- tag: Stability pool
-- summary: Events of the stability pool
-- about: Deposits, withdrawals, gains claimed, liquidations absorbed, by time.
-- answer: StabilityEvents of StabilityEvent
-- schema: StabilityEvent
--   id                EventId   Stellar RPC's id of the event
--   ledger            Ledger    in which it happened
--   closedAt          Time      when that ledger closed
--   txHash            Hash?     of the transaction; null where the index does not hold it
--   type              "deposit|withdraw|claim|absorb"  claim: of gains, moves no tokens; absorb: a liquidation
--                               absorbed
--   depositor         Address?  the depositor; null for a liquidation
--   amount            Amount?+  USDC, or the gain of a claim; null for a liquidation
--   debtAbsorbed      Amount?+  debt paid from deposits; null for others
--   collateralReward  Amount?+  collateral gained; null for others
--
-- The events of the stability pool, or of one depositor in it: deposits, withdrawals, gains
-- claimed (which moves no tokens), liquidations absorbed. Each kind is read over its own index.
WITH page AS (
  (SELECT e.ledger, e.tx, e.op, e.event, e.closed_at, 'deposit' AS type, e.depositor, e.amount, NULL::numeric AS debt, NULL::numeric AS reward
  FROM event.stability_pool_deposit AS e
  WHERE ($8::text IS NULL OR e.depositor_key = chain.word_key($8)) AND
-- part: event_where
-- part: event_order
  LIMIT $4::integer)
  UNION ALL
  (SELECT e.ledger, e.tx, e.op, e.event, e.closed_at, 'withdraw' AS type, e.depositor, e.amount, NULL::numeric AS debt, NULL::numeric AS reward
  FROM event.stability_pool_withdraw AS e
  WHERE ($8::text IS NULL OR e.depositor_key = chain.word_key($8)) AND
-- part: event_where
-- part: event_order
  LIMIT $4::integer)
  UNION ALL
  (SELECT e.ledger, e.tx, e.op, e.event, e.closed_at, 'claim' AS type, e.depositor, e.amount, NULL::numeric AS debt, NULL::numeric AS reward
  FROM event.stability_pool_claim AS e
  WHERE ($8::text IS NULL OR e.depositor_key = chain.word_key($8)) AND
-- part: event_where
-- part: event_order
  LIMIT $4::integer)
  UNION ALL
  (SELECT e.ledger, e.tx, e.op, e.event, e.closed_at, 'absorb' AS type, NULL, NULL, e.debt_absorbed, e.collateral_reward
  FROM event.stability_pool_absorb AS e
  WHERE $8::text IS NULL AND
-- part: event_where
-- part: event_order
  LIMIT $4::integer)
)
SELECT row_to_json(x)::text, e.ledger || '.' || e.tx || '.' || e.op || '.' || e.event
FROM (SELECT * FROM page AS e
-- part: event_order
  LIMIT $4) AS e, LATERAL (SELECT CASE WHEN e.type <> 'claim' THEN (SELECT d.decimals FROM chain.quote_decimals($1::smallint, e.ledger) AS d) END AS quote,
    CASE WHEN e.type IN ('claim', 'absorb') THEN (SELECT d.decimals FROM chain.collateral_decimals($1::smallint, e.ledger) AS d) END AS collateral OFFSET 0) AS d,
  LATERAL (SELECT d.quote, d.collateral, CASE e.type WHEN 'claim' THEN d.collateral ELSE d.quote END AS amount) AS unit, LATERAL (SELECT
    chain.event_id(e.ledger, e.tx, e.op, e.event) AS "id",
    e.ledger::text AS "ledger",
    chain.rfc3339(e.closed_at) AS "closedAt",
    (SELECT encode(t.hash, 'hex') FROM chain.tx AS t
      WHERE t.deployment = $1 AND t.ledger = e.ledger AND t.tx = e.tx) AS "txHash",
    e.type AS "type",
    e.depositor AS "depositor",
    e.amount::text AS "amount",
    analyst.scaled(e.amount, unit.amount)::text AS "amountScaled",
    e.debt::text AS "debtAbsorbed",
    analyst.scaled(e.debt, unit.quote)::text AS "debtAbsorbedScaled",
    e.reward::text AS "collateralReward",
    analyst.scaled(e.reward, unit.collateral)::text AS "collateralRewardScaled"
  ) AS x
-- part: event_order
