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
