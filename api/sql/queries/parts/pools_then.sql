-- The pools now, or as of a ledger: keys are those of now and those that went since.
  SELECT s.pool_id, s.key_hash, s.token_a, s.token_b, s.reserve_a, s.reserve_b
  FROM state.liquidity_pool_pool AS s WHERE $2::integer = 2147483647 AND s.deployment = $1::smallint
  UNION ALL
  SELECT h.pool_id, h.key_hash, h.token_a, h.token_b, h.reserve_a, h.reserve_b
  FROM (SELECT s.key_hash FROM state.liquidity_pool_pool AS s WHERE s.deployment = $1
      UNION
      SELECT h.key_hash FROM history.liquidity_pool_pool AS h WHERE h.deployment = $1 AND h.removed AND h.ledger > $2) AS k,
    LATERAL (SELECT h.* FROM history.liquidity_pool_pool AS h
      WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
      ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS h
  WHERE $2 < 2147483647 AND NOT h.removed
