-- Liquidity added, liquidity removed and fees claimed, by pool and day.
WITH change AS (
  SELECT pool_id_key, closed_at, 1 AS additions, 0 AS removals, 0 AS claims, amount_a AS added_a, amount_b AS added_b,
    0 AS removed_a, 0 AS removed_b, 0 AS claimed_a, 0 AS claimed_b
  FROM {!event.liquidity_pool_add_liquidity} WHERE deployment = $1::smallint AND ledger BETWEEN $2::integer AND $3::integer
  UNION ALL
  SELECT pool_id_key, closed_at, 0, 1, 0, 0, 0, out_a, out_b, 0, 0
  FROM {!event.liquidity_pool_remove_liquidity} WHERE deployment = $1::smallint AND ledger BETWEEN $2::integer AND $3::integer
  UNION ALL
  SELECT pool_id_key, closed_at, 0, 0, 1, 0, 0, 0, 0, claim_a, claim_b
  FROM {!event.liquidity_pool_claim} WHERE deployment = $1::smallint AND ledger BETWEEN $2::integer AND $3::integer
)
INSERT INTO {=pool_day} AS p (deployment, pool_id, day, additions, removals, claims, added_a, added_b, removed_a,
  removed_b, claimed_a, claimed_b)
SELECT $1::smallint, (SELECT w.word FROM chain.word AS w WHERE w.id = pool_id_key), (closed_at AT TIME ZONE 'UTC')::date AS day, sum(additions), sum(removals), sum(claims),
  sum(added_a), sum(added_b), sum(removed_a), sum(removed_b), sum(claimed_a), sum(claimed_b)
FROM change GROUP BY pool_id_key, day
ON CONFLICT (deployment, pool_id, day) DO UPDATE SET
  additions = p.additions + excluded.additions,
  removals = p.removals + excluded.removals,
  claims = p.claims + excluded.claims,
  added_a = p.added_a + excluded.added_a,
  added_b = p.added_b + excluded.added_b,
  removed_a = p.removed_a + excluded.removed_a,
  removed_b = p.removed_b + excluded.removed_b,
  claimed_a = p.claimed_a + excluded.claimed_a,
  claimed_b = p.claimed_b + excluded.claimed_b
