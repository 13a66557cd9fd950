-- schema: Position
--   provider       Address   the liquidity provider
--   shares         Amount    of the pool
--   underlyingA    Amount?+  A that the shares would take out
--   underlyingB    Amount?+  B that the shares would take out
--   valueQuote     Amount?+?  what they are worth: twice the USDC of it, in USDC; null: neither token is USDC
--   claimableA     Amount?+  fees in A that could be claimed; null: the pool's entry is not there
--   claimableB     Amount?+  fees in B that could be claimed
--   depositedAt    Time?     newest deposit
--   changedLedger  Ledger    in which this was last written
--   changedAt      Time      when that ledger closed
-- example: {"provider":"CAO3EKWR44ZHKXKE5OYHXOEBDUYMSZSZ6LEBNHLYOCWKVAVCMI4TCTKH", "shares":"8037225356",
--   "underlyingA":"6057837769", "underlyingAScaled":"605.7837769", "underlyingB":"10671077126",
--   "underlyingBScaled":"1067.1077126", "valueQuote":"21342154252", "valueQuoteScaled":"2134.2154252",
--   "claimableA":"419118", "claimableAScaled":"0.0419118", "claimableB":"901923",
--   "claimableBScaled":"0.0901923", "depositedAt":"2026-01-27T14:27:52Z", "changedLedger":"1334",
--   "changedAt":"2026-01-27T14:27:52Z"}
LATERAL (SELECT
    div(l.shares * p.reserve_a, nullif(p.total_shares, 0)) AS out_a,
    div(l.shares * p.reserve_b, nullif(p.total_shares, 0)) AS out_b,
    l.pending_a + div((p.fee_a_accum - l.fee_a_debt) * l.shares, 1000000000000) AS claim_a,
    l.pending_b + div((p.fee_b_accum - l.fee_b_debt) * l.shares, 1000000000000) AS claim_b
  ) AS c, LATERAL (SELECT
    2 * CASE (SELECT q.token FROM chain.quote AS q WHERE q.deployment = $1) WHEN p.token_a THEN c.out_a WHEN p.token_b THEN c.out_b END AS value,
    (SELECT d.decimals FROM chain.quote_decimals($1::smallint, $2::integer) AS d) AS decimals
  ) AS w, LATERAL (SELECT
    l.provider AS "provider",
    l.shares::text AS "shares",
    c.out_a::text AS "underlyingA",
    analyst.scaled(c.out_a, p.decimals_a)::text AS "underlyingAScaled",
    c.out_b::text AS "underlyingB",
    analyst.scaled(c.out_b, p.decimals_b)::text AS "underlyingBScaled",
    w.value::text AS "valueQuote",
    analyst.scaled(w.value, w.decimals)::text AS "valueQuoteScaled",
    c.claim_a::text AS "claimableA",
    analyst.scaled(c.claim_a, p.decimals_a)::text AS "claimableAScaled",
    c.claim_b::text AS "claimableB",
    analyst.scaled(c.claim_b, p.decimals_b)::text AS "claimableBScaled",
    chain.rfc3339(analyst.at(l.deposited_at)) AS "depositedAt",
    l.ledger::text AS "changedLedger",
    chain.rfc3339(l.closed_at) AS "changedAt"
  ) AS x
