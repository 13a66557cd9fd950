-- What partners earned per token: each cut is in the token of the revenue_received that comes next in its operation.
WITH cut AS (
  SELECT DISTINCT ON (f.ledger, f.tx, f.op, f.event) f.partner_id, f.epoch, f.partner_cut, r.token_key, r.amount AS fee
  FROM {!event.earnings_distributor_partner_revenue_forwarded} AS f
    JOIN {event.earnings_distributor_revenue_received} AS r
      ON r.ledger = f.ledger AND r.tx = f.tx AND r.op = f.op AND r.event > f.event
  WHERE f.deployment = $1::smallint AND f.ledger BETWEEN $2::integer AND $3::integer
    AND r.deployment = $1::smallint AND r.ledger BETWEEN $2::integer AND $3::integer
  ORDER BY f.ledger, f.tx, f.op, f.event, r.event
), epoch AS (
  SELECT partner_id, epoch, (SELECT w.word FROM chain.word AS w WHERE w.id = token_key) AS token, sum(partner_cut) AS amount,
    sum(fee) AS fees, count(*) AS forwards
  FROM cut GROUP BY partner_id, epoch, token_key
), by_epoch AS (
  INSERT INTO {=partner_epoch_revenue} AS p (deployment, partner_id, epoch, token, amount, fees, forwards)
  SELECT $1::smallint, partner_id, epoch, token, amount, fees, forwards FROM epoch
  ON CONFLICT (deployment, partner_id, epoch, token) DO UPDATE SET
    amount = p.amount + excluded.amount,
    fees = p.fees + excluded.fees,
    forwards = p.forwards + excluded.forwards
)
INSERT INTO {=partner_revenue} AS p (deployment, partner_id, token, amount, forwards)
SELECT $1::smallint, partner_id, token, sum(amount), sum(forwards) FROM epoch GROUP BY partner_id, token
ON CONFLICT (deployment, partner_id, token) DO UPDATE SET
  amount = p.amount + excluded.amount,
  forwards = p.forwards + excluded.forwards
