-- list: deployment at after limit epoch
-- of: epoch
-- tag: Earnings
-- summary: Claims of an epoch
-- about: By address.
-- answer: EpochClaims of EpochClaim
-- schema: EpochClaim
--   claimer        Address  the claimer
--   claimed        boolean  whether it was claimed
--   changedLedger  Ledger   in which this was last written
--   changedAt      Time     when that ledger closed
-- example: {"claimer":"GAQYBE4HFNCWZDL3534MWNNC3IGSGCY3RNEKGECFKCMMTEVSD4L3DHAA", "claimed":true,
--   "changedLedger":"1262", "changedAt":"2026-01-24T01:18:10Z"}
--
-- Claims of an epoch's share, by address.
SELECT row_to_json(x)::text, v.claimer
FROM (
    (SELECT s.claimer, s.value, s.ledger, s.closed_at FROM state.earnings_distributor_claimed AS s
    WHERE $2::integer = 2147483647 AND s.deployment = $1::smallint AND s.epoch = $5::numeric
      AND ($3::text IS NULL OR s.claimer > $3)
    ORDER BY s.claimer LIMIT $4::integer)
    UNION ALL
    (SELECT k.claimer, h.value, h.ledger, h.closed_at
    FROM (
        SELECT s.claimer, s.key_hash FROM state.earnings_distributor_claimed AS s
          WHERE s.deployment = $1::smallint AND s.epoch = $5::numeric AND ($3::text IS NULL OR s.claimer > $3)
        UNION
        SELECT h.claimer, h.key_hash FROM history.earnings_distributor_claimed AS h
        WHERE h.deployment = $1::smallint AND h.removed AND h.ledger > $2::integer AND h.epoch = $5::numeric
          AND ($3::text IS NULL OR h.claimer > $3)
        ORDER BY claimer
      ) AS k, LATERAL (
        SELECT h.value, h.ledger, h.closed_at, h.removed FROM history.earnings_distributor_claimed AS h
        WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
        ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1
      ) AS h
    WHERE $2::integer < 2147483647 AND NOT h.removed
    ORDER BY k.claimer LIMIT $4::integer)
  ) AS v, LATERAL (SELECT
    v.claimer AS "claimer",
    v.value AS "claimed",
    v.ledger::text AS "changedLedger",
    chain.rfc3339(v.closed_at) AS "changedAt"
  ) AS x
ORDER BY v.claimer
LIMIT $4::integer
