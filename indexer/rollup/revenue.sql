-- Payments that the distributor received, by epoch and token.
INSERT INTO {=revenue} AS r (deployment, epoch, token, fees, payments)
SELECT $1::smallint, epoch, (SELECT w.word FROM chain.word AS w WHERE w.id = token_key), sum(amount), count(*)
FROM {!event.earnings_distributor_revenue_received}
WHERE deployment = $1::smallint AND ledger BETWEEN $2::integer AND $3::integer
GROUP BY epoch, token_key
ON CONFLICT (deployment, epoch, token) DO UPDATE SET
  fees = r.fees + excluded.fees,
  payments = r.payments + excluded.payments
