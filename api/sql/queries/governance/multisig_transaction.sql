-- one: deployment at txId
-- none: there is no multisig transaction of that number
-- tag: Governance
-- summary: One multisig transaction
-- about: With each signer's decision.
-- answer: MultisigTransactionAnswer
--   ...MultisigTransaction
--   callData   Hex         arguments of the call, XDR
--   decisions  Decision[]  each signer's decision
-- example: {"callData":"", "decisions":[]}
-- schema: Decision
--   signer         Address  the signer
--   approve        boolean  for or against
--   changedLedger  Ledger   in which it was reported
--   changedAt      Time     when that closed
--
-- A multisig transaction with each signer's decision on it.
SELECT row_to_json(x)::text
FROM (
    (SELECT s.tx_id, s.wallet_id, s.proposal_id, s.target, s.function_name, s.call_data, s.action, s.approvals,
      s.rejections, s.status, s.created_at, s.ledger, s.closed_at FROM state.dao_governance_multi_sig_tx AS s
    WHERE $2::integer = 2147483647 AND s.deployment = $1::smallint AND s.tx_id = $3::numeric LIMIT 1)
    UNION ALL
    (SELECT k.tx_id, h.wallet_id, h.proposal_id, h.target, h.function_name, h.call_data, h.action, h.approvals,
      h.rejections, h.status, h.created_at, h.ledger, h.closed_at
    FROM (
        SELECT s.tx_id, s.key_hash FROM state.dao_governance_multi_sig_tx AS s
          WHERE s.deployment = $1::smallint AND s.tx_id = $3::numeric
        UNION
        SELECT h.tx_id, h.key_hash FROM history.dao_governance_multi_sig_tx AS h
        WHERE h.deployment = $1::smallint AND h.removed AND h.ledger > $2::integer AND h.tx_id = $3::numeric
        ORDER BY 1
      ) AS k, LATERAL (
        SELECT h.wallet_id, h.proposal_id, h.target, h.function_name, h.call_data, h.action, h.approvals,
          h.rejections, h.status, h.created_at, h.ledger, h.closed_at, h.removed
          FROM history.dao_governance_multi_sig_tx AS h
        WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
        ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1
      ) AS h
    WHERE $2::integer < 2147483647 AND NOT h.removed LIMIT 1)
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
  ) AS w ON true
  LEFT JOIN LATERAL (
    SELECT to_json(array_agg(i.item ORDER BY z.ledger, o.signer)) AS list
    FROM (
      SELECT s.key_hash, s.signer FROM state.dao_governance_multi_sig_approval AS s WHERE s.deployment = $1 AND s.tx_id = v.tx_id
      UNION
      SELECT h.key_hash, h.signer FROM history.dao_governance_multi_sig_approval AS h WHERE h.deployment = $1 AND h.removed AND h.ledger > $2 AND h.tx_id = v.tx_id
    ) AS o, LATERAL (
      SELECT s.value, s.ledger, s.closed_at, false AS removed FROM state.dao_governance_multi_sig_approval AS s
      WHERE $2::integer = 2147483647 AND s.deployment = $1 AND s.key_hash = o.key_hash
      UNION ALL
      (SELECT h.value, h.ledger, h.closed_at, h.removed FROM history.dao_governance_multi_sig_approval AS h
      WHERE $2::integer < 2147483647 AND h.deployment = $1 AND h.key_hash = o.key_hash AND h.ledger <= $2
      ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1)
    ) AS z, LATERAL (SELECT row_to_json(i) AS item FROM (SELECT o.signer AS "signer", z.value AS "approve",
      z.ledger::text AS "changedLedger", chain.rfc3339(z.closed_at) AS "changedAt") AS i) AS i
    WHERE NOT z.removed
  ) AS d ON true, LATERAL (SELECT
    v.tx_id::text AS "txId",
    v.wallet_id::text AS "walletId",
    v.proposal_id::text AS "proposalId",
    v.target AS "target",
    v.function_name AS "functionName",
    encode(v.call_data, 'hex') AS "callData",
-- part: action
    v.approvals AS "approvals",
    v.rejections AS "rejections",
    w.threshold AS "threshold",
    cardinality(w.signers) AS "signerCount",
    v.status AS "status",
    chain.rfc3339(analyst.at(v.created_at)) AS "createdAt",
    v.ledger::text AS "changedLedger",
    chain.rfc3339(v.closed_at) AS "changedAt",
    coalesce(d.list, '[]') AS "decisions"
  ) AS x
