-- list: deployment at after limit from to order owner market
-- tag: Vaults
-- summary: Liquidations
-- about: By time, with the liquidator, what was repaid and what was seized.
-- answer: Liquidations of Liquidation
-- schema: Liquidation
--   id                         EventId   Stellar RPC's id of the event
--   ledger                     Ledger    in which it happened
--   closedAt                   Time      when that ledger closed
--   txHash                     Hash?     of the transaction; null where the index does not hold it
--   market                     Symbol    symbol of the market
--   owner                      Address   the owner
--   liquidator                 Address?  the liquidator
--   debtRepaid                 Amount?+  what the liquidator repaid
--   debtValue                  Amount?+  its value at the oracle's average price in that transaction, in US dollars, with
--                                        the synthetic token's decimals; null: that is not indexed
--   collateralToken            Address?  what it is secured with
--   collateralTokenSymbol      string?   its symbol, where it is known
--   collateralSeized           Amount+?  what the liquidator was given
--   collateralValue            Amount?+  its value, with its own decimals, likewise
--   discountBps                Bps?      how much less the liquidator repaid than the collateral was worth, of its value; below 0:
--                                        the vault held less than its debt; null: decimals or prices are not known
--   collateralToStabilityPool  Amount?+  what was left over and went to the stability pool; null: the vault kept it
-- example: {"id":"0022764288741531648-0000000002", "ledger":"1294", "closedAt":"2026-01-24T03:12:02Z",
--   "txHash":"082e92902ef150e7d3f22beea5a53a7d64afe7bdd8bd4244665c84c91122450c", "market":"sBTC",
--   "owner":"GARUPGDAEGWABDKT6ZA73BUNWWXRTC7KRAJJ2OTRPQ5OEXJUP57G4HTL",
--   "liquidator":"GAPX2OH2VX5I5BVXEVT2OWOPFR4N24XRCDIMLHDV7QMQTPZAXPACQZ5P", "debtRepaid":"28269312384",
--   "debtRepaidScaled":"2826.9312384", "debtValue":"30917545021", "debtValueScaled":"3091.7545021", "collateralToken":"CBOKBSX2GJA4RCWXTKCS657JSB2CZQZYACASGBAHDSRB4NC5AGSH6HMA",
--   "collateralTokenSymbol":"XLM", "collateralSeized":"99401461969", "collateralSeizedScaled":"9940.1461969",
--   "collateralValue":"33390948622", "collateralValueScaled":"3339.0948622", "discountBps":"740", "collateralToStabilityPool":null,
--   "collateralToStabilityPoolScaled":null}
--
-- Liquidations. The burn before the event in the same operation says the liquidator and the amount repaid.
-- The oracle's averages of that transaction are those by which the engine seized.
-- The transfers behind it go to the liquidator and, if the debt is gone, of the rest to the stability pool.
WITH k AS (
  SELECT s.key_hash, s.symbol FROM state.synthetic_engine_asset_config AS s WHERE s.deployment = $1
  UNION
  SELECT h.key_hash, h.symbol FROM history.synthetic_engine_asset_config AS h WHERE h.deployment = $1::smallint AND h.removed
), f AS (
  SELECT s.key_hash, s.asset FROM state.oracle_feed AS s WHERE s.deployment = $1
  UNION
  SELECT h.key_hash, h.asset FROM history.oracle_feed AS h WHERE h.deployment = $1 AND h.removed
)
SELECT row_to_json(x)::text, e.ledger || '.' || e.tx || '.' || e.op || '.' || e.event
FROM event.synthetic_engine_liquidate AS e
  LEFT JOIN LATERAL (SELECT c.token, c.oracle_symbol, c.coll_oracle_sym FROM k, history.synthetic_engine_asset_config AS c
    WHERE k.symbol = e.synth_asset AND c.deployment = $1 AND c.key_hash = k.key_hash AND c.ledger <= e.ledger AND NOT c.removed
    ORDER BY c.ledger DESC, c.tx DESC, c.seq DESC LIMIT 1) AS c ON true
  LEFT JOIN LATERAL (SELECT b.event, b.from_address AS liquidator, b.amount FROM event.synth_token_burn AS b
    WHERE b.deployment = $1 AND b.ledger = e.ledger AND b.tx = e.tx AND b.op = e.op AND b.event < e.event
      AND b.contract = c.token
    ORDER BY b.event DESC LIMIT 1) AS b ON true
  LEFT JOIN LATERAL (
    SELECT t.event, t.contract, t.to_address, t.amount FROM event.stellar_asset_transfer AS t
    WHERE t.deployment = $1 AND t.ledger = e.ledger AND t.tx = e.tx AND t.op = e.op AND t.event = b.event + 1
      AND t.from_address = e.contract
    UNION ALL
    SELECT t.event, t.contract, t.to_address, t.amount FROM event.synth_token_transfer AS t
    WHERE t.deployment = $1 AND t.ledger = e.ledger AND t.tx = e.tx AND t.op = e.op AND t.event = b.event + 1
      AND t.from_address = e.contract
    ) AS g ON true
  LEFT JOIN LATERAL (
    SELECT t.amount FROM event.stellar_asset_transfer AS t
    WHERE t.deployment = $1 AND t.ledger = e.ledger AND t.tx = e.tx AND t.op = e.op AND t.event = b.event + 2
      AND t.event < e.event AND t.from_address = e.contract
    UNION ALL
    SELECT t.amount FROM event.synth_token_transfer AS t
    WHERE t.deployment = $1 AND t.ledger = e.ledger AND t.tx = e.tx AND t.op = e.op AND t.event = b.event + 2
      AND t.event < e.event AND t.from_address = e.contract
    ) AS rest ON true
  LEFT JOIN LATERAL (SELECT h.twap_price AS price
    FROM (SELECT f.key_hash FROM f WHERE f.asset = c.oracle_symbol OFFSET 0) AS f, LATERAL (SELECT * FROM history.oracle_feed AS h
      WHERE h.deployment = $1 AND h.key_hash = f.key_hash AND h.ledger <= e.ledger AND (h.ledger, h.tx) <= (e.ledger, e.tx)
        AND NOT h.removed
      ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS h
    ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS sp ON true
  LEFT JOIN LATERAL (SELECT h.twap_price AS price
    FROM (SELECT f.key_hash FROM f WHERE f.asset = c.coll_oracle_sym OFFSET 0) AS f, LATERAL (SELECT * FROM history.oracle_feed AS h
      WHERE h.deployment = $1 AND h.key_hash = f.key_hash AND h.ledger <= e.ledger AND (h.ledger, h.tx) <= (e.ledger, e.tx)
        AND NOT h.removed
      ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS h
    ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS cp ON true
  LEFT JOIN LATERAL (SELECT t.hash FROM chain.tx AS t
    WHERE t.deployment = $1 AND t.ledger = e.ledger AND t.tx = e.tx) AS t ON true,
  LATERAL (SELECT chain.vault_value(b.amount, sp.price) AS repaid, chain.vault_value(e.collateral_seized, cp.price) AS seized) AS u,
  LATERAL (SELECT (SELECT d.decimals FROM chain.decimals_at($1::smallint, c.token, e.ledger) AS d) AS debt, (SELECT d.decimals FROM chain.decimals_at($1::smallint, g.contract, e.ledger) AS d) AS collateral OFFSET 0) AS d,
  LATERAL (SELECT d.debt, d.collateral, ('1e' || d.debt::text)::numeric AS debt_one, ('1e' || d.collateral::text)::numeric AS collateral_one) AS unit,
  LATERAL (SELECT
    chain.event_id(e.ledger, e.tx, e.op, e.event) AS "id",
    e.ledger::text AS "ledger",
    chain.rfc3339(e.closed_at) AS "closedAt",
    encode(t.hash, 'hex') AS "txHash",
    e.synth_asset AS "market",
    e.owner AS "owner",
    b.liquidator AS "liquidator",
    b.amount::text AS "debtRepaid",
    analyst.scaled(b.amount, unit.debt)::text AS "debtRepaidScaled",
    u.repaid::text AS "debtValue",
    analyst.scaled(u.repaid, unit.debt)::text AS "debtValueScaled",
    g.contract AS "collateralToken",
    (SELECT z.symbol FROM chain.token_at($1::smallint, g.contract, $2::integer) AS z) AS "collateralTokenSymbol",
    e.collateral_seized::text AS "collateralSeized",
    analyst.scaled(e.collateral_seized, unit.collateral)::text AS "collateralSeizedScaled",
    u.seized::text AS "collateralValue",
    analyst.scaled(u.seized, unit.collateral)::text AS "collateralValueScaled",
    div((u.seized * unit.debt_one - u.repaid * unit.collateral_one) * 10000, nullif(u.seized * unit.debt_one, 0))::text AS "discountBps",
    rest.amount::text AS "collateralToStabilityPool",
    analyst.scaled(rest.amount, unit.collateral)::text AS "collateralToStabilityPoolScaled"
  ) AS x
WHERE ($8::text IS NULL OR e.owner_key = chain.word_key($8)) AND ($9::text IS NULL OR e.synth_asset_key = chain.word_key($9)) AND
-- part: event_where
-- part: event_order
LIMIT $4::integer
