-- list: deployment at after limit pool
-- of: pool
-- tag: Pools
-- summary: Swaps of a pool
-- about: Newest first.
-- answer: PoolSwaps of Swap
-- schema: Swap
--   id         EventId          Stellar RPC's id of the event
--   ledger     Ledger           in which it happened
--   closedAt   Time             when that ledger closed
--   txHash     Hash?            of the transaction; null where the index does not hold it
--   trader     Address          the trader
--   direction  "a_to_b|b_to_a"  which token went in
--   tokenIn    Address?         what went in
--   tokenOut   Address?         what came out
--   amountIn   Amount+          raw units that went in
--   amountOut  Amount+          raw units that came out
--   partnerId  U64?             the partner that brought the trader; null: none
-- example: {"id":"0026986413392158720-0000000004", "ledger":"1534", "closedAt":"2026-01-31T07:23:59Z",
--   "txHash":"45f191a493f0879dce3016d7940503a6e68525f73a58b87ea694cd5427007901",
--   "trader":"GCHZMGCVRXXKUSGLLGC5R4EDI7Z4H2PC2G454POOC2ON4OXNUX4JQ4A6", "direction":"a_to_b",
--   "tokenIn":"CAHNC4T473GZWSNB3YOY6QREKECN7F3X5IVQQB2J4MCPFKLTASN57RS4",
--   "tokenOut":"CALRLFLXVA4U4CLHXN55OXHMCH2U4RK7I4ZK7YH4V27LLAXMHYDLYKLG", "amountIn":"409880590",
--   "amountInScaled":"40.9880590", "amountOut":"723100219", "amountOutScaled":"72.3100219", "partnerId":null}
--
-- Trades against a pool, the newest first, over (deployment, pool_id, ledger).
WITH k AS (
  SELECT s.key_hash FROM state.liquidity_pool_pool AS s WHERE s.deployment = $1::smallint AND s.pool_id = $5::text
  UNION
  SELECT h.key_hash FROM history.liquidity_pool_pool AS h WHERE h.deployment = $1 AND h.removed AND h.pool_id = $5::text
)
SELECT row_to_json(x)::text, s.ledger || '.' || s.tx || '.' || s.op || '.' || s.event
FROM event.liquidity_pool_swap AS s
  LEFT JOIN LATERAL (SELECT p.token_a, p.token_b FROM k, history.liquidity_pool_pool AS p
    WHERE p.deployment = $1 AND p.key_hash = k.key_hash AND p.contract = s.contract AND p.ledger <= $2 AND NOT p.removed
    ORDER BY p.ledger DESC, p.tx DESC, p.seq DESC LIMIT 1) AS p ON true
  LEFT JOIN LATERAL (SELECT t.hash FROM chain.tx AS t
    WHERE t.deployment = $1 AND t.ledger = s.ledger AND t.tx = s.tx) AS t ON true,
  LATERAL (SELECT
    chain.event_id(s.ledger, s.tx, s.op, s.event) AS "id",
    s.ledger::text AS "ledger",
    chain.rfc3339(s.closed_at) AS "closedAt",
    encode(t.hash, 'hex') AS "txHash",
    s.trader AS "trader",
    CASE WHEN s.a_to_b THEN 'a_to_b' ELSE 'b_to_a' END AS "direction",
    CASE WHEN s.a_to_b THEN p.token_a ELSE p.token_b END AS "tokenIn",
    CASE WHEN s.a_to_b THEN p.token_b ELSE p.token_a END AS "tokenOut",
    s.amount_in::text AS "amountIn",
    analyst.scaled(s.amount_in)::text AS "amountInScaled",
    s.amount_out::text AS "amountOut",
    analyst.scaled(s.amount_out)::text AS "amountOutScaled",
    nullif(s.partner_id, 0)::text AS "partnerId"
  ) AS x
WHERE s.deployment = $1 AND s.pool_id = $5 AND s.ledger <= $2::integer
  AND ($3::text IS NULL OR (s.ledger <= split_part($3, '.', 1)::integer
    AND (s.ledger, s.tx, s.op, s.event) < (split_part($3, '.', 1)::integer, split_part($3, '.', 2)::integer,
      split_part($3, '.', 3)::integer, split_part($3, '.', 4)::integer)))
ORDER BY s.ledger DESC, s.tx DESC, s.op DESC, s.event DESC
LIMIT $4::integer
