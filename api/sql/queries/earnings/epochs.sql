-- list: deployment at after limit
-- tag: Earnings
-- summary: All epochs
-- about: Newest first.
-- answer: Epochs of Epoch
-- Epochs, the newest first. The sums are the contract's own, which adds up different tokens.
SELECT row_to_json(x)::text, v.key_id::text
FROM (
    (SELECT s.key_id, s.start_time, s.end_time, s.finalized, s.total_revenue, s.partner_revenue,
      s.protocol_revenue, s.staker_snapshot, s.per_token_revenue, s.ledger, s.closed_at
      FROM state.earnings_distributor_epoch AS s
    WHERE $2::integer = 2147483647 AND s.deployment = $1::smallint AND ($3::text IS NULL OR s.key_id < $3::numeric)
    ORDER BY s.key_id DESC LIMIT $4::integer)
    UNION ALL
    (SELECT k.key_id, h.start_time, h.end_time, h.finalized, h.total_revenue, h.partner_revenue,
      h.protocol_revenue, h.staker_snapshot, h.per_token_revenue, h.ledger, h.closed_at
    FROM (
        SELECT s.key_id, s.key_hash FROM state.earnings_distributor_epoch AS s
          WHERE s.deployment = $1::smallint AND ($3::text IS NULL OR s.key_id < $3::numeric)
        UNION
        SELECT h.key_id, h.key_hash FROM history.earnings_distributor_epoch AS h
        WHERE h.deployment = $1::smallint AND h.removed AND h.ledger > $2::integer
          AND ($3::text IS NULL OR h.key_id < $3::numeric)
        ORDER BY key_id DESC
      ) AS k, LATERAL (
        SELECT h.start_time, h.end_time, h.finalized, h.total_revenue, h.partner_revenue, h.protocol_revenue,
          h.staker_snapshot, h.per_token_revenue, h.ledger, h.closed_at, h.removed
          FROM asof.earnings_distributor_epoch AS h
        WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
        ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1
      ) AS h
    WHERE $2::integer < 2147483647 AND NOT h.removed
    ORDER BY k.key_id DESC LIMIT $4::integer)
  ) AS v, (SELECT (SELECT d.decimals FROM chain.quote_decimals($1::smallint, $2::integer) AS d) AS quote OFFSET 0) AS unit, LATERAL (SELECT
-- part: epoch_item
    chain.rfc3339(v.closed_at) AS "changedAt"
  ) AS x
ORDER BY v.key_id DESC
LIMIT $4::integer
