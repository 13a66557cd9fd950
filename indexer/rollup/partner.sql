-- Partners' revenue by token, and by day and token. A cut is in the token of the next revenue_received event in the same operation. The statement
-- finds that event in one pass over the events, last to first: a join of the two tables would compare all pairs within an
-- operation.
WITH entry AS (
  SELECT ledger, tx, op, event, closed_at, partner_id, epoch, partner_cut, NULL::numeric[] AS received
  FROM {!event.earnings_distributor_partner_revenue_forwarded}
  WHERE deployment = $1::smallint AND ledger BETWEEN $2::integer AND $3::integer
  UNION ALL
  SELECT ledger, tx, op, event, closed_at, NULL, NULL, NULL, ARRAY[event, token_key, amount]
  FROM {event.earnings_distributor_revenue_received}
  WHERE deployment = $1::smallint AND ledger BETWEEN $2::integer AND $3::integer
), cut AS (
  SELECT partner_id, epoch, partner_cut, (closed_at AT TIME ZONE 'UTC')::date AS day, received IS NOT NULL AS is_received,
    min(received) OVER (PARTITION BY ledger, tx, op ORDER BY event DESC ROWS UNBOUNDED PRECEDING) AS next
  FROM entry
), folded AS (
  SELECT partner_id, epoch, day, (SELECT w.word FROM chain.word AS w WHERE w.id = token_key) AS token, sum(partner_cut) AS amount,
    sum(fee) AS fees, count(*) AS forwards
  FROM (SELECT partner_id, epoch, day, partner_cut, next[2]::integer AS token_key, next[3] AS fee FROM cut
    WHERE NOT is_received AND next IS NOT NULL) AS c
  GROUP BY partner_id, epoch, day, token_key
), by_day AS (
  INSERT INTO {=partner_day_revenue} AS p (deployment, partner_id, day, token, amount, fees, forwards)
  SELECT $1::smallint, partner_id, day, token, sum(amount), sum(fees), sum(forwards) FROM folded GROUP BY partner_id, day, token
  ON CONFLICT (deployment, partner_id, day, token) DO UPDATE SET
    amount = p.amount + excluded.amount,
    fees = p.fees + excluded.fees,
    forwards = p.forwards + excluded.forwards
), by_epoch AS (
  INSERT INTO {=partner_epoch_revenue} AS p (deployment, partner_id, epoch, token, amount, fees, forwards)
  SELECT $1::smallint, partner_id, epoch, token, sum(amount), sum(fees), sum(forwards) FROM folded GROUP BY partner_id, epoch, token
  ON CONFLICT (deployment, partner_id, epoch, token) DO UPDATE SET
    amount = p.amount + excluded.amount,
    fees = p.fees + excluded.fees,
    forwards = p.forwards + excluded.forwards
)
INSERT INTO {=partner_revenue} AS p (deployment, partner_id, token, amount, forwards)
SELECT $1::smallint, partner_id, token, sum(amount), sum(forwards) FROM folded GROUP BY partner_id, token
ON CONFLICT (deployment, partner_id, token) DO UPDATE SET
  amount = p.amount + excluded.amount,
  forwards = p.forwards + excluded.forwards
