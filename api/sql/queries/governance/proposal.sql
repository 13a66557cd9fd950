-- one: deployment at proposalId
-- none: there is no proposal of that number
-- tag: Governance
-- summary: One proposal
-- about: With what it would do, and the multisig transactions queued for it.
-- answer: ProposalAnswer
--   ...Proposal
--   titleHex        Hex      the same, the bytes
--   description     string?  as it was written; null where it is not readable
--   descriptionHex  Hex      the same, the bytes
--   callData        Hex      arguments of the call, XDR
--   multisigTxIds   U64[]    multisig transactions that were queued for it
-- example: {"titleHex":"4368616e67652074686520e2869220226665657322206e6f77", "description":"{\"json\": [1, null]}",
--   "descriptionHex":"7b226a736f6e223a205b312c206e756c6c5d7d",
--   "callData":"04000000f93800000000000000000000000000001d020000000000000000000000000000", "multisigTxIds":["6"]}
--
-- A proposal with what it would do and the multisig transactions queued for it.
-- part: proposal_moment
SELECT row_to_json(x)::text
FROM n, q, (
    (SELECT s.key_id, s.proposer, s.title, s.description, s.call_data, s.action, s.yes_votes, s.no_votes,
      s.start_time, s.end_time, s.execute_after, s.status, s.ledger, s.closed_at
      FROM state.dao_governance_proposal AS s
    WHERE $2::integer = 2147483647 AND s.deployment = $1::smallint AND s.key_id = $3::numeric LIMIT 1)
    UNION ALL
    (SELECT k.key_id, h.proposer, h.title, h.description, h.call_data, h.action, h.yes_votes, h.no_votes,
      h.start_time, h.end_time, h.execute_after, h.status, h.ledger, h.closed_at
    FROM (
        SELECT s.key_id, s.key_hash FROM state.dao_governance_proposal AS s WHERE s.deployment = $1::smallint
          AND s.key_id = $3::numeric
        UNION
        SELECT h.key_id, h.key_hash FROM history.dao_governance_proposal AS h
        WHERE h.deployment = $1::smallint AND h.removed AND h.ledger > $2::integer AND h.key_id = $3::numeric
        ORDER BY 1
      ) AS k, LATERAL (
        SELECT h.proposer, h.title, h.description, h.call_data, h.action, h.yes_votes, h.no_votes, h.start_time,
          h.end_time, h.execute_after, h.status, h.ledger, h.closed_at, h.removed
          FROM history.dao_governance_proposal AS h
        WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
        ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1
      ) AS h
    WHERE $2::integer < 2147483647 AND NOT h.removed LIMIT 1)
  ) AS v
  LEFT JOIN LATERAL (
    SELECT to_json(w.value::text[]) AS ids
    FROM (
      SELECT s.key_hash FROM state.dao_governance_proposal_multi_sig_txs AS s WHERE s.deployment = $1 AND s.proposal_id = v.key_id
      UNION
      SELECT h.key_hash FROM history.dao_governance_proposal_multi_sig_txs AS h WHERE h.deployment = $1 AND h.removed AND h.ledger > $2 AND h.proposal_id = v.key_id
    ) AS l, LATERAL (
      SELECT s.value, s.ledger, s.closed_at, false AS removed FROM state.dao_governance_proposal_multi_sig_txs AS s
      WHERE $2::integer = 2147483647 AND s.deployment = $1 AND s.key_hash = l.key_hash
      UNION ALL
      (SELECT h.value, h.ledger, h.closed_at, h.removed FROM history.dao_governance_proposal_multi_sig_txs AS h
      WHERE $2::integer < 2147483647 AND h.deployment = $1 AND h.key_hash = l.key_hash AND h.ledger <= $2
      ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1)
    ) AS w
    WHERE NOT w.removed
  ) AS m ON true, LATERAL (SELECT
    v.key_id::text AS "proposalId",
    v.proposer AS "proposer",
    analyst.readable(v.title) AS "title",
    encode(v.title, 'hex') AS "titleHex",
    analyst.readable(v.description) AS "description",
    encode(v.description, 'hex') AS "descriptionHex",
    encode(v.call_data, 'hex') AS "callData",
-- part: action
    v.yes_votes::text AS "yesVotes",
    v.no_votes::text AS "noVotes",
    q.threshold AS "threshold",
    chain.rfc3339(analyst.at(v.start_time)) AS "startsAt",
    chain.rfc3339(analyst.at(v.end_time)) AS "endsAt",
    chain.rfc3339(analyst.at(v.execute_after)) AS "executableAt",
    v.status AS "status",
    CASE WHEN v.status IN ('Active', 'Passed') AND q.threshold > 0 AND v.yes_votes >= q.threshold
      AND extract(epoch FROM n.at) >= v.execute_after THEN 'executable' ELSE lower(v.status) END AS "state",
    v.ledger::text AS "changedLedger",
    chain.rfc3339(v.closed_at) AS "changedAt",
    coalesce(m.ids, '[]') AS "multisigTxIds"
  ) AS x
