-- list: deployment at after limit pool
-- of: pool
-- tag: Pools
-- summary: Positions in a pool
-- about: By provider. What they would take out and could claim is the contract's own arithmetic.
-- answer: PoolPositions of Position
-- schema: Position
--   provider       Address   the liquidity provider
--   shares         Amount    of the pool
--   underlyingA    Amount?+  A that the shares would take out
--   underlyingB    Amount?+  B that the shares would take out
--   claimableA     Amount+   fees in A that could be claimed
--   claimableB     Amount+   fees in B that could be claimed
--   depositedAt    Time?     newest deposit
--   changedLedger  Ledger    in which this was last written
--   changedAt      Time      when that ledger closed
-- example: {"provider":"CAO3EKWR44ZHKXKE5OYHXOEBDUYMSZSZ6LEBNHLYOCWKVAVCMI4TCTKH", "shares":"8037225356",
--   "underlyingA":"6057837769", "underlyingAScaled":"605.7837769", "underlyingB":"10671077126",
--   "underlyingBScaled":"1067.1077126", "claimableA":"419118", "claimableAScaled":"0.0419118", "claimableB":"901923",
--   "claimableBScaled":"0.0901923", "depositedAt":"2026-01-27T14:27:52Z", "changedLedger":"1334",
--   "changedAt":"2026-01-27T14:27:52Z"}
--
-- Positions in a pool by provider, keys are those of now, over an index of the state, and those that
-- went since. What it would take out and what it may claim is the contract's own arithmetic.
WITH pool AS (
    SELECT p.contract, p.reserve_a, p.reserve_b, p.total_shares, p.fee_a_accum, p.fee_b_accum
    FROM state.liquidity_pool_pool AS p
    WHERE $2::integer = 2147483647 AND p.deployment = $1::smallint AND p.pool_id = $5::text
    UNION ALL
    SELECT k.contract, v.reserve_a, v.reserve_b, v.total_shares, v.fee_a_accum, v.fee_b_accum
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
  ) AS l, pool AS p, LATERAL (SELECT
    div(l.shares * p.reserve_a, nullif(p.total_shares, 0)) AS out_a,
    div(l.shares * p.reserve_b, nullif(p.total_shares, 0)) AS out_b,
    l.pending_a + div((p.fee_a_accum - l.fee_a_debt) * l.shares, 1000000000000) AS claim_a,
    l.pending_b + div((p.fee_b_accum - l.fee_b_debt) * l.shares, 1000000000000) AS claim_b
  ) AS c, LATERAL (SELECT
    l.provider AS "provider",
    l.shares::text AS "shares",
    c.out_a::text AS "underlyingA",
    analyst.scaled(c.out_a)::text AS "underlyingAScaled",
    c.out_b::text AS "underlyingB",
    analyst.scaled(c.out_b)::text AS "underlyingBScaled",
    c.claim_a::text AS "claimableA",
    analyst.scaled(c.claim_a)::text AS "claimableAScaled",
    c.claim_b::text AS "claimableB",
    analyst.scaled(c.claim_b)::text AS "claimableBScaled",
    chain.rfc3339(analyst.at(l.deposited_at)) AS "depositedAt",
    l.ledger::text AS "changedLedger",
    chain.rfc3339(l.closed_at) AS "changedAt"
  ) AS x
WHERE l.contract = p.contract
ORDER BY l.provider
LIMIT $4::integer
