    v.wallet_id::text AS "walletId",
    v.threshold AS "threshold",
    cardinality(v.signers) AS "signerCount",
    v.signers AS "signers",
    (ARRAY['PrivilegedOnly', 'AllExecutions', 'Disabled'])[least(v.scope, 99) + 1] AS "scope",
    v.active AS "active",
    v.ledger::text AS "changedLedger",
    chain.rfc3339(v.closed_at) AS "changedAt"
