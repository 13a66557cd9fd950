-- list: deployment at after limit from to order pool
-- of: pool
-- tag: Pools
-- summary: Swaps of a pool
-- about: By time.
-- answer: PoolSwaps of Swap
-- schema: Swap
--   id              EventId          Stellar RPC's id of the event
--   ledger          Ledger           in which it happened
--   closedAt        Time             when that ledger closed
--   txHash          Hash?            of the transaction; null where the index does not hold it
--   trader          Address          the trader
--   direction       "a_to_b|b_to_a"  which token went in
--   tokenIn         Address?         what went in
--   tokenInSymbol   string?          its symbol, where it is known
--   tokenOut        Address?         what came out
--   tokenOutSymbol  string?          its symbol, where it is known
--   amountIn        Amount+?         raw units that went in
--   amountOut       Amount+?         raw units that came out
--   partnerId       U64?             the partner that brought the trader; null: none
-- example: {"id":"0026986413392158720-0000000004", "ledger":"1534", "closedAt":"2026-01-31T07:23:59Z",
--   "txHash":"45f191a493f0879dce3016d7940503a6e68525f73a58b87ea694cd5427007901",
--   "trader":"GCHZMGCVRXXKUSGLLGC5R4EDI7Z4H2PC2G454POOC2ON4OXNUX4JQ4A6", "direction":"a_to_b",
--   "tokenIn":"CAHNC4T473GZWSNB3YOY6QREKECN7F3X5IVQQB2J4MCPFKLTASN57RS4", "tokenInSymbol":"sBTC",
--   "tokenOut":"CALRLFLXVA4U4CLHXN55OXHMCH2U4RK7I4ZK7YH4V27LLAXMHYDLYKLG", "tokenOutSymbol":"USDC",
--   "amountIn":"409880590",
--   "amountInScaled":"40.9880590", "amountOut":"723100219", "amountOutScaled":"72.3100219", "partnerId":null}
--
-- Trades against a pool, over (deployment, pool_id, ledger).
WITH k AS (
  SELECT p.key_hash FROM state.liquidity_pool_pool AS p WHERE p.deployment = $1::smallint AND p.pool_id = $8::text
  UNION
  SELECT h.key_hash FROM history.liquidity_pool_pool AS h WHERE h.deployment = $1 AND h.removed AND h.pool_id = $8::text
)
SELECT row_to_json(x)::text, e.ledger || '.' || e.tx || '.' || e.op || '.' || e.event
FROM event.liquidity_pool_swap AS e
  LEFT JOIN LATERAL (SELECT p.token_a, p.token_b
    FROM (SELECT k.key_hash FROM k OFFSET 0) AS k, LATERAL (SELECT * FROM history.liquidity_pool_pool AS p
      WHERE p.deployment = $1 AND p.key_hash = k.key_hash AND p.contract_key = e.contract_key AND p.ledger <= $2 AND NOT p.removed
      ORDER BY p.ledger DESC, p.tx DESC, p.seq DESC LIMIT 1) AS p
    ORDER BY p.ledger DESC, p.tx DESC, p.seq DESC LIMIT 1) AS p ON true
  LEFT JOIN LATERAL (SELECT t.hash FROM chain.tx AS t
    WHERE t.deployment = $1 AND t.ledger = e.ledger AND t.tx = e.tx) AS t ON true,
  LATERAL (SELECT CASE WHEN e.a_to_b THEN p.token_a ELSE p.token_b END AS token_in,
    CASE WHEN e.a_to_b THEN p.token_b ELSE p.token_a END AS token_out) AS v,
  LATERAL (SELECT (SELECT d.decimals FROM chain.decimals_at($1::smallint, v.token_in, e.ledger) AS d) AS sold,
    (SELECT d.decimals FROM chain.decimals_at($1::smallint, v.token_out, e.ledger) AS d) AS bought OFFSET 0) AS unit,
  LATERAL (SELECT
    chain.event_id(e.ledger, e.tx, e.op, e.event) AS "id",
    e.ledger::text AS "ledger",
    chain.rfc3339(e.closed_at) AS "closedAt",
    encode(t.hash, 'hex') AS "txHash",
    e.trader AS "trader",
    CASE WHEN e.a_to_b THEN 'a_to_b' ELSE 'b_to_a' END AS "direction",
    v.token_in AS "tokenIn",
    (SELECT t.symbol FROM chain.token_at($1::smallint, v.token_in, $2::integer) AS t) AS "tokenInSymbol",
    v.token_out AS "tokenOut",
    (SELECT t.symbol FROM chain.token_at($1::smallint, v.token_out, $2::integer) AS t) AS "tokenOutSymbol",
    e.amount_in::text AS "amountIn",
    analyst.scaled(e.amount_in, unit.sold)::text AS "amountInScaled",
    e.amount_out::text AS "amountOut",
    analyst.scaled(e.amount_out, unit.bought)::text AS "amountOutScaled",
    nullif(e.partner_id, 0)::text AS "partnerId"
  ) AS x
WHERE e.pool_id_key = chain.word_key($8) AND
-- part: event_where
-- part: event_order
LIMIT $4::integer
