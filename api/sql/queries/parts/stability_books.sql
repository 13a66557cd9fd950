WITH pool AS (
  SELECT s.contract, s.epoch, s.p, s.paused, s.scale, s.sum_coll, s.total_coll_gained, s.total_deposits, s.total_liq_count,
    s.ledger, s.closed_at
  FROM state.stability_pool_state AS s WHERE $2::integer = 2147483647 AND s.deployment = $1::smallint
  UNION ALL
  SELECT h.contract, h.epoch, h.p, h.paused, h.scale, h.sum_coll, h.total_coll_gained, h.total_deposits, h.total_liq_count,
    h.ledger, h.closed_at
  FROM (
    SELECT s.key_hash FROM state.stability_pool_state AS s WHERE s.deployment = $1
    UNION
    SELECT h.key_hash FROM history.stability_pool_state AS h WHERE h.deployment = $1 AND h.removed AND h.ledger > $2
  ) AS k, LATERAL (SELECT * FROM history.stability_pool_state AS h
    WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
    ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS h
  WHERE $2 < 2147483647 AND NOT h.removed
), unit AS MATERIALIZED (
  SELECT (SELECT d.decimals FROM chain.quote_decimals($1::smallint, $2::integer) AS d) AS quote, (SELECT d.decimals FROM chain.collateral_decimals($1::smallint, $2::integer) AS d) AS collateral
)
