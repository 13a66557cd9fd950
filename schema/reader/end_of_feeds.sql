-- The last asset of a page of feeds behind asset $2 as of ledger $4, and the next one; $3: its assets but one.
SELECT k.asset
FROM (SELECT s.asset, s.key_hash FROM state.oracle_feed AS s WHERE s.deployment = $1 AND s.asset > $2
    UNION
    SELECT h.asset, h.key_hash FROM history.oracle_feed AS h
    WHERE h.deployment = $1 AND h.removed AND h.ledger > $4 AND h.asset > $2
    ORDER BY asset) AS k,
  LATERAL (SELECT h.removed FROM history.oracle_feed AS h
    WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $4
    ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS v
WHERE NOT v.removed ORDER BY k.asset OFFSET $3 LIMIT 2
