-- one: deployment at address
-- none: there is no deposit of that address
-- tag: Stability pool
-- summary: One deposit
-- answer: StabilityDepositAnswer
--   ...StabilityDeposit
-- A deposit in the stability pool, as it is or as it was.
-- What a deposit has become and what it gained is the contract's own arithmetic, null where it would refuse.
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
)
SELECT row_to_json(x)::text
FROM pool AS p, LATERAL (SELECT * FROM history.stability_pool_deposit AS h
    WHERE h.deployment = $1 AND h.key_hash = chain.entry_key(p.contract, 'Deposit', $3::text) AND h.ledger <= $2
    ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS d, LATERAL (SELECT d.snapshot_epoch::text AS "epoch", d.snapshot_p_value::text AS "p", d.snapshot_scale::text AS "scale",
      d.snapshot_sum_coll::text AS "sumCollateral") AS s, LATERAL (SELECT div(p.p * 1000000000000, greatest(d.snapshot_p_value, 1)) AS ratio,
      d.initial_value * (p.sum_coll - d.snapshot_sum_coll) AS grown
    ) AS a, LATERAL (SELECT
      CASE WHEN d.snapshot_epoch <> p.epoch THEN 0
        WHEN greatest(abs(p.p * 1000000000000), abs(d.initial_value * a.ratio)) <= 170141183460469231731687303715884105727
          THEN div(d.initial_value * a.ratio, 1000000000000) END AS compounded,
      CASE WHEN abs(a.grown) <= 170141183460469231731687303715884105727 THEN div(a.grown, 1000000000000) END AS gain
    ) AS c, LATERAL (SELECT
-- part: stability_item
  ) AS x
WHERE NOT d.removed
LIMIT 1
