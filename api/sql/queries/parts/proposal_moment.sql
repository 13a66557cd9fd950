WITH n AS MATERIALIZED (
    SELECT coalesce((SELECT l.closed_at FROM chain.ledger AS l WHERE l.deployment = $1::smallint
      AND l.ledger = $2::integer),
      greatest(now(), (SELECT c.closed_at FROM chain.cursor AS c WHERE c.deployment = $1))) AS at
), q AS MATERIALIZED (
  SELECT coalesce((SELECT w.threshold FROM (
      SELECT s.key_hash FROM state.dao_governance_multi_sig_wallet AS s WHERE s.deployment = $1 AND s.wallet_id = 0
      UNION
      SELECT h.key_hash FROM history.dao_governance_multi_sig_wallet AS h WHERE h.deployment = $1 AND h.removed AND h.ledger > $2 AND h.wallet_id = 0
    ) AS k, LATERAL (
      SELECT s.threshold, s.ledger, s.closed_at, false AS removed FROM state.dao_governance_multi_sig_wallet AS s
      WHERE $2::integer = 2147483647 AND s.deployment = $1 AND s.key_hash = k.key_hash
      UNION ALL
      (SELECT h.threshold, h.ledger, h.closed_at, h.removed FROM history.dao_governance_multi_sig_wallet AS h
      WHERE $2::integer < 2147483647 AND h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
      ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1)
    ) AS w
    WHERE NOT w.removed), 0) AS threshold
)
