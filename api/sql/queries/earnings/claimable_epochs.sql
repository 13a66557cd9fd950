-- list: deployment at epoch address limit
-- The closed epochs up to $3 (NULL: all), the newest first, at most $5, and whether $4 has claimed each of them, as of ledger $2, for
-- what an address can claim (api/routes/earnings.c). Removed entries are found in the history.
SELECT e.key_id, e.protocol_revenue, e.staker_snapshot, e.finalized,
  EXISTS (SELECT FROM (
      SELECT s.key_hash FROM state.earnings_distributor_claimed AS s
      WHERE s.deployment = $1 AND s.epoch = e.key_id AND s.claimer = $4
      UNION
      SELECT h.key_hash FROM history.earnings_distributor_claimed AS h
      WHERE h.deployment = $1 AND h.removed AND h.ledger > $2 AND h.epoch = e.key_id AND h.claimer = $4) AS k,
    LATERAL (SELECT h.removed FROM history.earnings_distributor_claimed AS h
      WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
      ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS h
    WHERE NOT h.removed)
FROM (SELECT k.key_id, h.protocol_revenue, h.staker_snapshot, h.finalized
  FROM (SELECT s.key_id, s.key_hash FROM state.earnings_distributor_epoch AS s
      WHERE s.deployment = $1::smallint AND ($3::numeric IS NULL OR s.key_id <= $3)
      UNION
      SELECT h.key_id, h.key_hash FROM history.earnings_distributor_epoch AS h
      WHERE h.deployment = $1 AND h.removed AND h.ledger > $2::integer AND ($3 IS NULL OR h.key_id <= $3)
      ORDER BY key_id DESC) AS k,
    LATERAL (SELECT h.protocol_revenue, h.staker_snapshot, h.finalized, h.removed FROM asof.earnings_distributor_epoch AS h
      WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2::integer
      ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS h
  WHERE NOT h.removed AND h.finalized
  ORDER BY k.key_id DESC LIMIT $5::integer) AS e
