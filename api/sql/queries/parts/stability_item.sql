-- schema: StabilityDeposit
--   depositor          Address   the depositor
--   initialValue       Amount+?  as it was when it was last touched
--   compoundedDeposit  Amount?+  what is left of it; null: the contract would refuse to say
--   collateralGain     Amount?+  unclaimed gain; null: the contract would refuse to say
--   snapshot           object    the pool's books when the deposit was last touched
--     epoch            U64       of the pool
--     p                Amount    of the pool
--     scale            U64       of the pool
--     sumCollateral    Amount    of the pool
--   depositedAt        Time?     when it was first made
--   changedLedger      Ledger    in which this was last written
--   changedAt          Time      when that ledger closed
  LATERAL (SELECT d.snapshot_epoch::text AS "epoch", d.snapshot_p_value::text AS "p", d.snapshot_scale::text AS "scale",
      d.snapshot_sum_coll::text AS "sumCollateral") AS s,
  LATERAL (SELECT div(p.p * 1000000000000, greatest(d.snapshot_p_value, 1)) AS ratio,
      d.initial_value * (p.sum_coll - d.snapshot_sum_coll) AS grown
    ) AS a, LATERAL (SELECT
      CASE WHEN d.snapshot_epoch <> p.epoch THEN 0
        WHEN greatest(abs(p.p * 1000000000000), abs(d.initial_value * a.ratio)) <= 170141183460469231731687303715884105727
          THEN div(d.initial_value * a.ratio, 1000000000000) END AS compounded,
      CASE WHEN abs(a.grown) <= 170141183460469231731687303715884105727 THEN div(a.grown, 1000000000000) END AS gain
    ) AS c, LATERAL (SELECT
    d.depositor AS "depositor",
    d.initial_value::text AS "initialValue",
    analyst.scaled(d.initial_value, unit.quote)::text AS "initialValueScaled",
    c.compounded::text AS "compoundedDeposit",
    analyst.scaled(c.compounded, unit.quote)::text AS "compoundedDepositScaled",
    c.gain::text AS "collateralGain",
    analyst.scaled(c.gain, unit.collateral)::text AS "collateralGainScaled",
    row_to_json(s) AS "snapshot",
    chain.rfc3339(analyst.at(d.deposited_at)) AS "depositedAt",
    d.ledger::text AS "changedLedger",
    chain.rfc3339(d.closed_at) AS "changedAt"
