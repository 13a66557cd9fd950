-- list: deployment at after limit
-- tag: Stability pool
-- summary: Deposits
-- about: By depositor; what each has become and gained is the contract’s own arithmetic.
-- answer: StabilityDeposits of StabilityDeposit
-- Deposits in the stability pool by depositor. Keys are those of now, over an index of the state, and those that went since.
-- The present value and the gain of a deposit follow the contract's own arithmetic. They are null where the contract would refuse.
-- part: stability_books
SELECT row_to_json(x)::text, d.depositor
FROM (
    (SELECT k.contract, k.depositor, v.* FROM state.stability_pool_deposit AS k, LATERAL (
      SELECT s.deposited_at, s.initial_value, s.snapshot_epoch, s.snapshot_p_value, s.snapshot_scale,
      s.snapshot_sum_coll, s.ledger, s.closed_at, false AS removed
      FROM state.stability_pool_deposit AS s
      WHERE $2 = 2147483647 AND s.deployment = $1 AND s.key_hash = k.key_hash
      UNION ALL
      (SELECT h.deposited_at, h.initial_value, h.snapshot_epoch, h.snapshot_p_value, h.snapshot_scale,
      h.snapshot_sum_coll, h.ledger, h.closed_at, h.removed
      FROM history.stability_pool_deposit AS h
      WHERE $2 < 2147483647 AND h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
      ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1)
    ) AS v
    WHERE k.deployment = $1 AND ($3::text IS NULL OR k.depositor > $3) AND NOT v.removed
    ORDER BY k.depositor LIMIT $4::integer)
    UNION ALL
    (SELECT k.contract, k.depositor, v.* FROM (
      SELECT DISTINCT h.contract, h.depositor, h.key_hash FROM history.stability_pool_deposit AS h
      WHERE h.deployment = $1 AND h.removed AND h.ledger > $2 AND ($3 IS NULL OR h.depositor > $3)
        AND NOT EXISTS (SELECT FROM state.stability_pool_deposit AS o WHERE o.deployment = $1 AND o.key_hash = h.key_hash)
    ) AS k, LATERAL (
      SELECT h.deposited_at, h.initial_value, h.snapshot_epoch, h.snapshot_p_value, h.snapshot_scale,
      h.snapshot_sum_coll, h.ledger, h.closed_at, h.removed
      FROM history.stability_pool_deposit AS h
      WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
      ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1
    ) AS v
    WHERE $2 < 2147483647 AND NOT v.removed
    ORDER BY k.depositor LIMIT $4::integer)
  ) AS d, pool AS p, unit,
-- part: stability_item
  ) AS x
WHERE d.contract = p.contract
ORDER BY d.depositor
LIMIT $4::integer
