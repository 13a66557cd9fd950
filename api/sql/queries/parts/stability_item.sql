-- schema: StabilityDeposit
--   depositor          Address   the depositor
--   initialValue       Amount+   as it was when it was last touched
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
    d.depositor AS "depositor",
    d.initial_value::text AS "initialValue",
    analyst.scaled(d.initial_value)::text AS "initialValueScaled",
    c.compounded::text AS "compoundedDeposit",
    analyst.scaled(c.compounded)::text AS "compoundedDepositScaled",
    c.gain::text AS "collateralGain",
    analyst.scaled(c.gain)::text AS "collateralGainScaled",
    row_to_json(s) AS "snapshot",
    chain.rfc3339(analyst.at(d.deposited_at)) AS "depositedAt",
    d.ledger::text AS "changedLedger",
    chain.rfc3339(d.closed_at) AS "changedAt"
