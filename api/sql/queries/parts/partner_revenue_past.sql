WITH known AS MATERIALIZED (
  SELECT r.epoch, r.token, r.amount, r.forwards, EXISTS (SELECT FROM event.earnings_distributor_partner_revenue_forwarded AS f
      WHERE f.deployment = $1 AND f.partner_id = r.partner_id AND f.epoch = r.epoch AND f.ledger > $2::integer) AS changed
  FROM rollup.partner_epoch_revenue AS r
  WHERE r.deployment = $1::smallint AND r.partner_id = (CASE WHEN $5::text ~ '^(0|[1-9][0-9]{0,9})$' THEN $5::bigint END)
), r AS (
  SELECT k.epoch, k.token, k.amount, k.forwards FROM known AS k WHERE NOT k.changed
  UNION ALL
  SELECT f.epoch, t.token, sum(f.partner_cut), count(*)
  FROM (SELECT DISTINCT k.epoch FROM known AS k WHERE k.changed) AS k,
    event.earnings_distributor_partner_revenue_forwarded AS f,
    LATERAL (
      SELECT t.token FROM event.earnings_distributor_revenue_received AS t
      WHERE t.deployment = $1 AND (t.ledger, t.tx, t.op) = (f.ledger, f.tx, f.op) AND t.event > f.event
      ORDER BY t.event LIMIT 1
    ) AS t
  WHERE f.deployment = $1
    AND f.partner_id = (CASE WHEN $5::text ~ '^(0|[1-9][0-9]{0,9})$' THEN $5::bigint END)
    AND f.epoch = k.epoch AND f.ledger <= $2
  GROUP BY f.epoch, t.token
)
