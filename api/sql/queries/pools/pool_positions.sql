-- list: deployment at after limit pool
-- of: pool
-- tag: Pools
-- summary: Positions in a pool
-- about: By provider. What they would take out and could claim is the contract's own arithmetic.
-- answer: PoolPositions of Position
--
-- Positions in a pool by provider, keys are those of now, over an index of the state, and those that
-- went since. What it would take out and what it may claim is the contract's own arithmetic.
WITH pool AS MATERIALIZED (
    SELECT p.contract, p.token_a, p.token_b, p.reserve_a, p.reserve_b, p.total_shares, p.fee_a_accum, p.fee_b_accum,
      (SELECT d.decimals FROM chain.decimals_at($1::smallint, p.token_a, $2::integer) AS d) AS decimals_a, (SELECT d.decimals FROM chain.decimals_at($1::smallint, p.token_b, $2::integer) AS d) AS decimals_b
    FROM state.liquidity_pool_pool AS p
    WHERE $2::integer = 2147483647 AND p.deployment = $1::smallint AND p.pool_id = $5::text
    UNION ALL
    SELECT k.contract, v.token_a, v.token_b, v.reserve_a, v.reserve_b, v.total_shares, v.fee_a_accum, v.fee_b_accum,
      (SELECT d.decimals FROM chain.decimals_at($1::smallint, v.token_a, $2::integer) AS d), (SELECT d.decimals FROM chain.decimals_at($1::smallint, v.token_b, $2::integer) AS d)
    FROM (
      SELECT s.key_hash, s.contract FROM state.liquidity_pool_pool AS s WHERE s.deployment = $1 AND s.pool_id = $5
      UNION
      SELECT h.key_hash, h.contract FROM history.liquidity_pool_pool AS h WHERE h.deployment = $1 AND h.removed AND h.ledger > $2 AND h.pool_id = $5
    ) AS k, LATERAL (SELECT * FROM history.liquidity_pool_pool AS h
      WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
      ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS v
    WHERE $2 < 2147483647 AND NOT v.removed
)
SELECT row_to_json(x)::text, l.provider
FROM (
    (SELECT k.contract, k.provider, v.* FROM state.liquidity_pool_lp_pos AS k, LATERAL (
      SELECT s.shares, s.fee_a_debt, s.fee_b_debt, s.pending_a, s.pending_b, s.deposited_at, s.ledger, s.closed_at, false
      AS removed
      FROM state.liquidity_pool_lp_pos AS s
      WHERE $2 = 2147483647 AND s.deployment = $1 AND s.key_hash = k.key_hash
      UNION ALL
      (SELECT h.shares, h.fee_a_debt, h.fee_b_debt, h.pending_a, h.pending_b, h.deposited_at, h.ledger, h.closed_at,
      h.removed
      FROM history.liquidity_pool_lp_pos AS h
      WHERE $2 < 2147483647 AND h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
      ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1)
    ) AS v
    WHERE k.deployment = $1 AND k.pool_id = $5 AND ($3::text IS NULL OR k.provider > $3) AND NOT v.removed
    ORDER BY k.provider LIMIT $4::integer)
    UNION ALL
    (SELECT k.contract, k.provider, v.* FROM (
      SELECT DISTINCT h.contract, h.provider, h.key_hash FROM history.liquidity_pool_lp_pos AS h
      WHERE h.deployment = $1 AND h.pool_id = $5 AND h.removed AND h.ledger > $2 AND ($3 IS NULL OR h.provider > $3)
        AND NOT EXISTS (SELECT FROM state.liquidity_pool_lp_pos AS o WHERE o.deployment = $1 AND o.key_hash = h.key_hash)
    ) AS k, LATERAL (
      SELECT h.shares, h.fee_a_debt, h.fee_b_debt, h.pending_a, h.pending_b, h.deposited_at, h.ledger, h.closed_at,
      h.removed
      FROM history.liquidity_pool_lp_pos AS h
      WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
      ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1
    ) AS v
    WHERE $2 < 2147483647 AND NOT v.removed
    ORDER BY k.provider LIMIT $4::integer)
  ) AS l LEFT JOIN pool AS p ON p.contract = l.contract,
-- part: position_item
ORDER BY l.provider
LIMIT $4::integer
