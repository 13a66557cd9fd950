-- list: deployment at after limit walletId status proposalId
-- tag: Governance
-- summary: Multisig transactions
-- about: Newest first.
-- answer: MultisigTransactions of MultisigTransaction
-- schema: MultisigTransaction
--   txId           U64       number of the multisig transaction
--   walletId       U64       number of the wallet
--   proposalId     U64?      number of the proposal; null: none
--   target         Address   the contract that would be called
--   functionName   Symbol    the function that would be called
--   action         Action?   the call, decoded; null where it could not be, or in a list is too long
--   approvals      Count     signers that approved
--   rejections     Count     signers that rejected
--   threshold      Count?    approvals needed
--   signerCount    Count?    number of signers
--   status         "Pending|Approved|Rejected|Executed|Cancelled"  as stored
--   createdAt      Time?     when it was made
--   changedLedger  Ledger    in which this was last written
--   changedAt      Time      when that ledger closed
-- example: {"txId":"94", "walletId":"0", "proposalId":"28",
--   "target":"CARRSL2IM432U4O4MZO6LBUCZZ7DGIUZWLQQ7PB7FECOINUBB6WQU3O3", "functionName":"run_it",
--   "action":{"action":3504539676, "name":"generic", "undecodable":false, "args":{"hex":"1c08e3d0"}}, "approvals":0,
--   "rejections":0, "threshold":3, "signerCount":4, "status":"Pending", "createdAt":"2026-01-31T07:23:29Z",
--   "changedLedger":"1528", "changedAt":"2026-01-31T07:23:29Z"}
--
-- Multisig transactions, the newest first. threshold and signerCount are those that the wallet has now.
SELECT row_to_json(x)::text, v.tx_id::text
FROM (
    (SELECT s.tx_id, s.wallet_id, s.proposal_id, s.target, s.function_name, s.call_data, s.action, s.approvals,
      s.rejections, s.status, s.created_at, s.ledger, s.closed_at FROM state.dao_governance_multi_sig_tx AS s
    WHERE $2::integer = 2147483647 AND s.deployment = $1::smallint
      AND ($3::text IS NULL OR s.tx_id < $3::numeric) AND ($5::text IS NULL OR s.wallet_id = $5::bigint)
      AND ($6::text IS NULL OR s.status = $6) AND ($7::text IS NULL OR s.proposal_id = $7::numeric)
    ORDER BY s.tx_id DESC LIMIT $4::integer)
    UNION ALL
    (SELECT k.tx_id, h.wallet_id, h.proposal_id, h.target, h.function_name, h.call_data, h.action, h.approvals,
      h.rejections, h.status, h.created_at, h.ledger, h.closed_at
    FROM (
        SELECT s.tx_id, s.key_hash FROM state.dao_governance_multi_sig_tx AS s
          WHERE s.deployment = $1::smallint AND ($3::text IS NULL OR s.tx_id < $3::numeric)
        UNION
        SELECT h.tx_id, h.key_hash FROM history.dao_governance_multi_sig_tx AS h
        WHERE h.deployment = $1::smallint AND h.removed AND h.ledger > $2::integer
          AND ($3::text IS NULL OR h.tx_id < $3::numeric)
        ORDER BY tx_id DESC
      ) AS k, LATERAL (
        SELECT h.wallet_id, h.proposal_id, h.target, h.function_name, h.call_data, h.action, h.approvals,
          h.rejections, h.status, h.created_at, h.ledger, h.closed_at, h.removed
          FROM history.dao_governance_multi_sig_tx AS h
        WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
        ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1
      ) AS h
    WHERE $2::integer < 2147483647 AND NOT h.removed AND ($5::text IS NULL OR h.wallet_id = $5::bigint)
      AND ($6::text IS NULL OR h.status = $6) AND ($7::text IS NULL OR h.proposal_id = $7::numeric)
    ORDER BY k.tx_id DESC LIMIT $4::integer)
  ) AS v
  LEFT JOIN LATERAL (
    SELECT z.threshold, z.signers FROM (
      SELECT s.key_hash FROM state.dao_governance_multi_sig_wallet AS s WHERE s.deployment = $1 AND s.wallet_id = v.wallet_id
      UNION
      SELECT h.key_hash FROM history.dao_governance_multi_sig_wallet AS h WHERE h.deployment = $1 AND h.removed AND h.ledger > $2 AND h.wallet_id = v.wallet_id
    ) AS o, LATERAL (
      SELECT s.threshold, s.signers, s.ledger, s.closed_at, false AS removed
        FROM state.dao_governance_multi_sig_wallet AS s
      WHERE $2::integer = 2147483647 AND s.deployment = $1 AND s.key_hash = o.key_hash
      UNION ALL
      (SELECT h.threshold, h.signers, h.ledger, h.closed_at, h.removed
        FROM history.dao_governance_multi_sig_wallet AS h
      WHERE $2::integer < 2147483647 AND h.deployment = $1 AND h.key_hash = o.key_hash AND h.ledger <= $2
      ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1)
    ) AS z
    WHERE NOT z.removed
  ) AS w ON true, LATERAL (SELECT
    v.tx_id::text AS "txId",
    v.wallet_id::text AS "walletId",
    v.proposal_id::text AS "proposalId",
    v.target AS "target",
    v.function_name AS "functionName",
-- part: action_brief
    v.approvals AS "approvals",
    v.rejections AS "rejections",
    w.threshold AS "threshold",
    cardinality(w.signers) AS "signerCount",
    v.status AS "status",
    chain.rfc3339(analyst.at(v.created_at)) AS "createdAt",
    v.ledger::text AS "changedLedger",
    chain.rfc3339(v.closed_at) AS "changedAt"
  ) AS x
ORDER BY v.tx_id DESC
LIMIT $4::integer
