-- schema: Wallet
--   walletId       U64        number of the wallet
--   threshold      Count      approvals needed
--   signerCount    Count      number of signers
--   signers        Address[]  addresses that may approve
--   scope          "PrivilegedOnly|AllExecutions|Disabled"  what the wallet decides
--   active         boolean    whether it is active
--   changedLedger  Ledger     in which this was last written
--   changedAt      Time       when that ledger closed
-- example: {"walletId":"0", "threshold":3, "signerCount":4,
--   "signers":["GBXPBAB6MBX4U37RARBRHFK27YN3BKQWRGXFDFGT4R7H6HL6EP6WUGX6",
--   "GD4H34CCMFLIVO2KS5E4P7UAFWFC2GN7Q5QAPR3HEEHL2MAIFOQCBQ7O"], "scope":"PrivilegedOnly", "active":true,
--   "changedLedger":"1443", "changedAt":"2026-01-27T14:36:57Z"}
    v.wallet_id::text AS "walletId",
    v.threshold AS "threshold",
    cardinality(v.signers) AS "signerCount",
    v.signers AS "signers",
    (ARRAY['PrivilegedOnly', 'AllExecutions', 'Disabled'])[least(v.scope, 99) + 1] AS "scope",
    v.active AS "active",
    v.ledger::text AS "changedLedger",
    chain.rfc3339(v.closed_at) AS "changedAt"
