-- one: deployment at
-- none: there is no stability pool
-- tag: Stability pool
-- summary: The stability pool
-- about: Its books and settings.
-- answer: StabilityPool
--   contract               Address   of the stability pool
--   token                  Address?  token of the deposits
--   tokenSymbol            string?   its symbol, where it is known
--   engine                 Address?  vault engine
--   dao                    Address?  governance
--   complianceRegistry     Address?  compliance registry
--   paused                 boolean   whether deposits are refused
--   totalDeposits          Amount+?  deposits, losses taken off
--   totalCollateralGained  Amount+?  collateral gained so far; not scaled where tokens of the list of collateral
--                                    differ in decimals
--   liquidationCount       Count     liquidations absorbed
--   p                      Amount    product of losses, from 1000000000000
--   sumCollateral          Amount    gain to a unit of deposit, scaled by 1000000000000
--   epoch                  U64       how often all deposits were used up
--   scale                  U64       as the contract keeps it
--   changedLedger          Ledger    in which this was last written
--   changedAt              Time      when that ledger closed
--
-- The stability pool's books and settings.
-- part: stability_books
SELECT row_to_json(x)::text
FROM pool AS p CROSS JOIN unit
  LEFT JOIN (
    SELECT s.key_hash FROM state.stability_pool_instance AS s WHERE s.deployment = $1
    UNION
    SELECT h.key_hash FROM history.stability_pool_instance AS h WHERE h.deployment = $1 AND h.removed AND h.ledger > $2
  ) AS k ON true
  LEFT JOIN LATERAL (SELECT h.usdc, h.engine, h.dao, h.compliance, h.removed FROM history.stability_pool_instance AS h
    WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
    ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS i ON NOT i.removed,
  LATERAL (SELECT
    p.contract AS "contract",
    i.usdc AS "token",
    (SELECT t.symbol FROM chain.token_at($1::smallint, i.usdc, $2::integer) AS t) AS "tokenSymbol",
    i.engine AS "engine",
    i.dao AS "dao",
    i.compliance AS "complianceRegistry",
    p.paused AS "paused",
    p.total_deposits::text AS "totalDeposits",
    analyst.scaled(p.total_deposits, unit.quote)::text AS "totalDepositsScaled",
    p.total_coll_gained::text AS "totalCollateralGained",
    analyst.scaled(p.total_coll_gained, unit.collateral)::text AS "totalCollateralGainedScaled",
    p.total_liq_count AS "liquidationCount",
    p.p::text AS "p",
    p.sum_coll::text AS "sumCollateral",
    p.epoch::text AS "epoch",
    p.scale::text AS "scale",
    p.ledger::text AS "changedLedger",
    chain.rfc3339(p.closed_at) AS "changedAt"
  ) AS x
LIMIT 1
