-- schema: Epoch
--   epoch            U64      number of the epoch
--   startsAt         Time?    when it begins
--   endsAt           Time?    when it ends
--   finalized        boolean  whether it is closed for good
--   totalRevenue     Amount+?  all revenue: the contract's own sum, of different tokens; scaled as USDC
--   partnerRevenue   Amount+?  the partners' part: the contract's own sum, of different tokens; scaled as USDC
--   protocolRevenue  Amount+?  the protocol's part: the contract's own sum, of different tokens; scaled as USDC
--   stakerSnapshot   Amount+?  stake when the epoch was closed
--   perTokenRevenue  Factor   revenue for one unit of stake, as the contract keeps it
--   changedLedger    Ledger   in which this was last written
--   changedAt        Time     when that ledger closed
-- example: {"epoch":"3", "startsAt":"2026-01-31T07:22:09Z", "endsAt":"2026-02-07T07:22:09Z", "finalized":false,
--   "totalRevenue":"252383874", "totalRevenueScaled":"25.2383874", "partnerRevenue":"5102185",
--   "partnerRevenueScaled":"0.5102185", "protocolRevenue":"247281689", "protocolRevenueScaled":"24.7281689",
--   "stakerSnapshot":"0", "stakerSnapshotScaled":"0.0000000", "perTokenRevenue":"0", "changedLedger":"1534",
--   "changedAt":"2026-01-31T07:23:59Z"}
    v.key_id::text AS "epoch",
    chain.rfc3339(analyst.at(v.start_time)) AS "startsAt",
    chain.rfc3339(analyst.at(v.end_time)) AS "endsAt",
    v.finalized AS "finalized",
    v.total_revenue::text AS "totalRevenue",
    analyst.scaled(v.total_revenue, unit.quote)::text AS "totalRevenueScaled",
    v.partner_revenue::text AS "partnerRevenue",
    analyst.scaled(v.partner_revenue, unit.quote)::text AS "partnerRevenueScaled",
    v.protocol_revenue::text AS "protocolRevenue",
    analyst.scaled(v.protocol_revenue, unit.quote)::text AS "protocolRevenueScaled",
    v.staker_snapshot::text AS "stakerSnapshot",
    analyst.scaled(v.staker_snapshot, unit.quote)::text AS "stakerSnapshotScaled",
    v.per_token_revenue::text AS "perTokenRevenue",
    v.ledger::text AS "changedLedger",
