-- of: FEED
-- As probes.sql, of the feeds whose asset is above $3 and, unless $4 is NULL, not above $4, in parts of a statement.
SELECT * FROM (
  SELECT {id} AS source, false AS removed, ledger, chain.unix(closed_at) AS closed, contract, tx, seq AS seq{values}
  FROM state.{table} AS s WHERE s.deployment = $1 AND s.ledger <= $2 AND s.asset > $3::text AND ($4::text IS NULL OR s.asset <= $4)
  UNION ALL
  SELECT {id} AS source, removed AS removed, ledger, chain.unix(closed_at) AS closed, contract, tx, seq AS seq{values}
  FROM (SELECT h.* FROM (
      SELECT s.key_hash FROM state.{table} AS s WHERE s.deployment = $1 AND s.ledger > $2
        AND s.asset > $3::text AND ($4::text IS NULL OR s.asset <= $4)
      UNION
      SELECT r.key_hash FROM history.{table} AS r WHERE r.deployment = $1 AND r.removed AND r.ledger > $2
        AND r.asset > $3::text AND ($4::text IS NULL OR r.asset <= $4)) AS k,
    LATERAL (SELECT * FROM asof.{table} AS v WHERE v.deployment = $1 AND v.key_hash = k.key_hash AND v.ledger <= $2
      ORDER BY v.ledger DESC, v.tx DESC, v.seq DESC LIMIT 1) AS h) AS p
  WHERE NOT removed) AS u
WHERE true ORDER BY first COLLATE "C"
