WITH e AS MATERIALIZED (
  SELECT h.epoch FROM (
    SELECT s.key_hash FROM state.earnings_distributor_instance AS s WHERE s.deployment = $1
    UNION
    SELECT h.key_hash FROM history.earnings_distributor_instance AS h WHERE h.deployment = $1 AND h.removed AND h.ledger > $2
  ) AS s, LATERAL (
      SELECT h.epoch FROM history.earnings_distributor_instance AS h
      WHERE h.deployment = $1::smallint AND h.key_hash = s.key_hash AND h.ledger <= $2::integer
      ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1
    ) AS h
), r AS (
  SELECT r.epoch, r.token, r.amount, r.forwards FROM e, rollup.partner_epoch_revenue AS r
  WHERE r.deployment = $1
    AND r.partner_id = (CASE WHEN $5::text ~ '^(0|[1-9][0-9]{0,9})$' THEN $5::bigint END) AND r.epoch < e.epoch
  UNION ALL
  SELECT f.epoch, t.token, sum(f.partner_cut), count(*) FROM e,
    event.earnings_distributor_partner_revenue_forwarded AS f,
    LATERAL (
      SELECT t.token FROM event.earnings_distributor_revenue_received AS t
      WHERE t.deployment = $1 AND (t.ledger, t.tx, t.op) = (f.ledger, f.tx, f.op) AND t.event > f.event
      ORDER BY t.event LIMIT 1
    ) AS t
  WHERE f.deployment = $1
    AND f.partner_id = (CASE WHEN $5::text ~ '^(0|[1-9][0-9]{0,9})$' THEN $5::bigint END)
    AND f.epoch = e.epoch AND f.ledger <= $2
  GROUP BY f.epoch, t.token
)
