-- list: deployment at after limit from to order market owner
-- of: vault
-- tag: Vaults
-- summary: Versions of a vault
-- about: By time, its closing included.
-- answer: VaultHistory of VaultVersion
-- schema: VaultVersion
--   ledger                 Ledger    in which it happened
--   closedAt               Time      when that ledger closed
--   txHash                 Hash?     of the transaction; null where the index does not hold it
--   function               string?   the call that wrote it
--   closed                 boolean   whether it was closed
--   collateralToken        Address?  what it is secured with
--   collateralTokenSymbol  string?   its symbol, where it is known
--   collateral             Amount?+  the collateral
--   debt                   Amount?+  the debt
-- example: {"ledger":"1376", "closedAt":"2026-01-27T14:31:22Z",
--   "txHash":"83f6dd07da478b489f2cb3ede61eff29d620c5d362c89b69e40cd04bf1cb45fc", "function":"mint_synth",
--   "closed":false, "collateralToken":"CBOKBSX2GJA4RCWXTKCS657JSB2CZQZYACASGBAHDSRB4NC5AGSH6HMA",
--   "collateralTokenSymbol":"XLM", "collateral":"468620000000", "collateralScaled":"46862.0000000", "debt":"36914651438",
--   "debtScaled":"3691.4651438"}
--
-- Versions of a vault by time, its closing included: over the key of the history.
WITH k AS MATERIALIZED (
  SELECT s.key_hash FROM state.synthetic_engine_vault AS s
  WHERE s.deployment = $1::smallint AND s.key_owner = $9::text AND s.synth = $8::text
  UNION
  SELECT h.key_hash FROM history.synthetic_engine_vault AS h
  WHERE h.deployment = $1 AND h.removed AND h.key_owner_key = chain.word_key($9) AND h.synth_key = chain.word_key($8)
)
SELECT row_to_json(x)::text, h.ledger || '.' || h.tx || '.' || h.seq
FROM k, LATERAL (SELECT * FROM history.synthetic_engine_vault AS h
    WHERE h.key_hash = k.key_hash AND
-- part: version_where
-- part: version_order
    LIMIT $4::integer) AS h
  LEFT JOIN LATERAL (SELECT c.fn_key, c.hash FROM chain.call AS c
    WHERE c.deployment = $1 AND c.ledger = h.ledger AND c.tx = h.tx
      AND ($2::integer = 2147483647 OR c.contract_key NOT IN (SELECT chain.found_after($1::smallint, $2::integer))) ORDER BY c.op LIMIT 1) AS c ON true,
  LATERAL (SELECT (SELECT d.decimals FROM chain.decimals_at($1::smallint, h.collateral_tok, $2::integer) AS d) AS collateral,
    (SELECT d.decimals FROM chain.market_decimals($1::smallint, $8::text, $2::integer) AS d) AS debt OFFSET 0) AS unit, LATERAL (SELECT
    h.ledger::text AS "ledger",
    chain.rfc3339(h.closed_at) AS "closedAt",
    encode(c.hash, 'hex') AS "txHash",
    (SELECT w.word FROM chain.word AS w WHERE w.id = c.fn_key) AS "function",
    h.removed AS "closed",
    h.collateral_tok AS "collateralToken",
    (SELECT t.symbol FROM chain.token_at($1::smallint, h.collateral_tok, $2::integer) AS t) AS "collateralTokenSymbol",
    h.collateral::text AS "collateral",
    analyst.scaled(h.collateral, unit.collateral)::text AS "collateralScaled",
    h.debt::text AS "debt",
    analyst.scaled(h.debt, unit.debt)::text AS "debtScaled"
  ) AS x
-- part: version_order
LIMIT $4
