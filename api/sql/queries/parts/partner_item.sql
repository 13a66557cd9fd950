-- schema: Partner
--   partnerId        U64       id of the partner
--   owner            Address   the owner
--   name             string?   as it was registered, in lists its first 256 characters; null where it is not readable
--   active           boolean   whether it is active
--   revenueShareBps  Bps       its part of the fees, in hundredths of a percent
--   pendingRevenue   Amount+?  revenue not claimed yet
--   totalEarned      Amount+?  in total: the contract's own sum, of different tokens; scaled as USDC
--   totalVolume      Amount+?  in total: the contract's own sum, of different tokens; scaled as USDC
--   deployedAssets   Symbol[]  assets it has registered
--   registeredAt     Time?     when it was registered
--   changedLedger    Ledger    in which this was last written
--   changedAt        Time      when that ledger closed
-- example: {"partnerId":"0", "owner":"GD452HYIVRVAIVAQERTIOFXSAVGVKMVBNG4EOWXHJ3MJEYPP7PHJXFPX",
--   "name":"Robert'); DROP TABLE event.log;--", "active":true, "revenueShareBps":"7459", "pendingRevenue":"0",
--   "pendingRevenueScaled":"0.0000000", "totalEarned":"0", "totalEarnedScaled":"0.0000000", "totalVolume":"0",
--   "totalVolumeScaled":"0.0000000", "deployedAssets":["PS5"], "registeredAt":"2026-01-01T00:01:15Z",
--   "changedLedger":"1502", "changedAt":"2026-01-27T16:02:49Z"}
    v.active AS "active",
    v.revenue_share::text AS "revenueShareBps",
    v.pending_revenue::text AS "pendingRevenue",
    analyst.scaled(v.pending_revenue, unit.quote)::text AS "pendingRevenueScaled",
    v.total_earned::text AS "totalEarned",
    analyst.scaled(v.total_earned, unit.quote)::text AS "totalEarnedScaled",
    v.total_volume::text AS "totalVolume",
    analyst.scaled(v.total_volume, unit.quote)::text AS "totalVolumeScaled",
    v.deployed_assets AS "deployedAssets",
    chain.rfc3339(analyst.at(v.registered_at)) AS "registeredAt",
    v.ledger::text AS "changedLedger",
