-- list: deployment at after limit epoch
-- of: epoch
-- tag: Earnings
-- summary: Partners' revenue of an epoch
-- about: By partner.
-- answer: EpochPartners of EpochPartner
-- schema: EpochPartner
--   partnerId      U64      id of the partner
--   revenue        Amount+?  what it earned: the contract's own sum, of different tokens; scaled as USDC
--   changedLedger  Ledger   in which this was last written
--   changedAt      Time     when that ledger closed
-- example: {"partnerId":"1", "revenue":"351023", "revenueScaled":"0.0351023", "changedLedger":"1048",
--   "changedAt":"2026-01-01T00:02:05Z"}
--
-- The earnings of partners in an epoch, by partner. Sums of different tokens, as the contract keeps them.
SELECT row_to_json(x)::text, v.partner_id::text
FROM (
    (SELECT s.partner_id, s.value, s.ledger, s.closed_at FROM state.earnings_distributor_epoch_partner_revenue AS s
    WHERE $2::integer = 2147483647 AND s.deployment = $1::smallint AND s.epoch = $5::numeric
      AND ($3::text IS NULL OR s.partner_id > $3::bigint)
    ORDER BY s.partner_id LIMIT $4::integer)
    UNION ALL
    (SELECT k.partner_id, h.value, h.ledger, h.closed_at
    FROM (
        SELECT s.partner_id, s.key_hash FROM state.earnings_distributor_epoch_partner_revenue AS s
          WHERE s.deployment = $1::smallint AND s.epoch = $5::numeric
          AND ($3::text IS NULL OR s.partner_id > $3::bigint)
        UNION
        SELECT h.partner_id, h.key_hash FROM history.earnings_distributor_epoch_partner_revenue AS h
        WHERE h.deployment = $1::smallint AND h.removed AND h.ledger > $2::integer AND h.epoch = $5::numeric
          AND ($3::text IS NULL OR h.partner_id > $3::bigint)
        ORDER BY partner_id
      ) AS k, LATERAL (
        SELECT h.value, h.ledger, h.closed_at, h.removed
          FROM asof.earnings_distributor_epoch_partner_revenue AS h
        WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
        ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1
      ) AS h
    WHERE $2::integer < 2147483647 AND NOT h.removed
    ORDER BY k.partner_id LIMIT $4::integer)
  ) AS v, (SELECT (SELECT d.decimals FROM chain.quote_decimals($1::smallint, $2::integer) AS d) AS quote OFFSET 0) AS unit, LATERAL (SELECT
    v.partner_id::text AS "partnerId",
    v.value::text AS "revenue",
    analyst.scaled(v.value, unit.quote)::text AS "revenueScaled",
    v.ledger::text AS "changedLedger",
    chain.rfc3339(v.closed_at) AS "changedAt"
  ) AS x
ORDER BY v.partner_id
LIMIT $4::integer
