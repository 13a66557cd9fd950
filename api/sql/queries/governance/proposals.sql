-- list: deployment at after limit
-- tag: Governance
-- summary: Proposals
-- about: Newest first.
-- answer: Proposals of Proposal
-- schema: Proposal
--   proposalId     U64?      number of the proposal; null: none
--   proposer       Address   the proposer
--   title          string?   as it was written, in lists its first 256 characters; null where it is not readable
--   action         Action?   the call, decoded; null where it could not be, or in a list is too long
--   yesVotes       Weight    weight of those in favour
--   noVotes        Weight    weight of those against
--   threshold      Count?    approvals needed
--   startsAt       Time?     when it begins
--   endsAt         Time?     when it ends
--   executableAt   Time?     earliest time of execution
--   status         "Active|Passed|Failed|Executed|Cancelled"  as stored
--   state          "active|passed|failed|executed|cancelled|executable"
--                            as stored, or executable: enough votes, and the time has come
--   changedLedger  Ledger    in which this was last written
--   changedAt      Time      when that ledger closed
-- example: {"proposalId":"50", "proposer":"GD4H34CCMFLIVO2KS5E4P7UAFWFC2GN7Q5QAPR3HEEHL2MAIFOQCBQ7O",
--   "title":"Raise the stability fee of sBTC", "action":{"action":11710978, "name":"set_param", "undecodable":false,
--   "args":{"param":"ParamLiqPenalty", "value":"45746"}}, "yesVotes":"0", "noVotes":"0", "threshold":3,
--   "startsAt":"2026-01-31T07:23:29Z", "endsAt":"2026-02-02T07:23:29Z", "executableAt":"2026-02-03T07:23:29Z",
--   "status":"Active", "state":"active", "changedLedger":"1528", "changedAt":"2026-01-31T07:23:29Z"}
--
-- Proposals, the newest first: what is stored of each, and what it is at the answer's time.
-- part: proposal_moment
SELECT row_to_json(x)::text, v.key_id::text
FROM n, q, (
    (SELECT s.key_id, s.proposer, s.title, s.description, s.call_data, s.action, s.yes_votes, s.no_votes,
      s.start_time, s.end_time, s.execute_after, s.status, s.ledger, s.closed_at
      FROM state.dao_governance_proposal AS s
    WHERE $2::integer = 2147483647 AND s.deployment = $1::smallint AND ($3::text IS NULL OR s.key_id < $3::numeric)
    ORDER BY s.key_id DESC LIMIT $4::integer)
    UNION ALL
    (SELECT k.key_id, h.proposer, h.title, h.description, h.call_data, h.action, h.yes_votes, h.no_votes,
      h.start_time, h.end_time, h.execute_after, h.status, h.ledger, h.closed_at
    FROM (
        SELECT s.key_id, s.key_hash FROM state.dao_governance_proposal AS s WHERE s.deployment = $1::smallint
          AND ($3::text IS NULL OR s.key_id < $3::numeric)
        UNION
        SELECT h.key_id, h.key_hash FROM history.dao_governance_proposal AS h
        WHERE h.deployment = $1::smallint AND h.removed AND h.ledger > $2::integer
          AND ($3::text IS NULL OR h.key_id < $3::numeric)
        ORDER BY key_id DESC
      ) AS k, LATERAL (
        SELECT h.proposer, h.title, h.description, h.call_data, h.action, h.yes_votes, h.no_votes, h.start_time,
          h.end_time, h.execute_after, h.status, h.ledger, h.closed_at, h.removed
          FROM history.dao_governance_proposal AS h
        WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
        ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1
      ) AS h
    WHERE $2::integer < 2147483647 AND NOT h.removed
    ORDER BY k.key_id DESC LIMIT $4::integer)
  ) AS v, LATERAL (SELECT
    v.key_id::text AS "proposalId",
    v.proposer AS "proposer",
    chain.brief(v.title) AS "title",
-- part: action_brief
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
    chain.rfc3339(v.closed_at) AS "changedAt"
  ) AS x
ORDER BY v.key_id DESC
LIMIT $4::integer
