-- list: deployment at after limit partnerId
-- of: partner
-- tag: Partners
-- summary: A partner's assets
-- about: Assets that the partner registered, live or not.
-- answer: PartnerCatalog of PartnerAsset
-- schema: PartnerAsset
--   symbol         Symbol   as the partner calls it
--   token          Address  the token
--   tokenSymbol    string?  its own symbol, where it is known
--   partnerId      U64      id of the partner
--   oracleSymbol   Symbol   its price feed
--   debtCeiling    Amount+?  highest debt allowed
--   live           boolean  whether the partner offers it
--   deployedAt     Time?    when it was registered
--   changedLedger  Ledger   in which this was last written
--   changedAt      Time     when that ledger closed
-- example: {"symbol":"PS5", "token":"CATZ33CH4336KLRNESMRTVBYZCOVZFQZSMWK5XYIJ5JN6VKFDUX5NSA6",
--   "tokenSymbol":"PS5", "partnerId":"0", "oracleSymbol":"OIL", "debtCeiling":"7870000000000", "debtCeilingScaled":"787000.0000000", "live":true,
--   "deployedAt":"2026-01-13T10:59:15Z", "changedLedger":"1396", "changedAt":"2026-01-27T14:33:02Z"}
--
-- The assets that a partner registered, by symbol. live: the DAO activated it, which makes no market yet.
SELECT row_to_json(x)::text, v.key_symbol
FROM (
    (SELECT s.key_symbol, s.partner_id, s.symbol, s.token, s.oracle_symbol, s.debt_ceiling, s.live,
      s.deployed_at, s.ledger, s.closed_at FROM state.partner_registry_partner_asset AS s
    WHERE $2::integer = 2147483647 AND s.deployment = $1::smallint
      AND ($3::text IS NULL OR s.key_symbol > $3)
      AND s.partner_id = (CASE WHEN $5::text ~ '^(0|[1-9][0-9]{0,9})$' THEN $5::bigint END)
    ORDER BY s.key_symbol LIMIT $4::integer)
    UNION ALL
    (SELECT k.key_symbol, h.partner_id, h.symbol, h.token, h.oracle_symbol, h.debt_ceiling, h.live,
      h.deployed_at, h.ledger, h.closed_at
    FROM (
        SELECT s.key_symbol, s.key_hash FROM state.partner_registry_partner_asset AS s
          WHERE s.deployment = $1::smallint AND ($3::text IS NULL OR s.key_symbol > $3)
        UNION
        SELECT h.key_symbol, h.key_hash FROM history.partner_registry_partner_asset AS h
        WHERE h.deployment = $1::smallint AND h.removed AND h.ledger > $2::integer
          AND ($3::text IS NULL OR h.key_symbol > $3)
        ORDER BY key_symbol
      ) AS k, LATERAL (
        SELECT h.partner_id, h.symbol, h.token, h.oracle_symbol, h.debt_ceiling, h.live, h.deployed_at, h.ledger,
          h.closed_at, h.removed FROM history.partner_registry_partner_asset AS h
        WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
        ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1
      ) AS h
    WHERE $2::integer < 2147483647 AND NOT h.removed
      AND h.partner_id = (CASE WHEN $5::text ~ '^(0|[1-9][0-9]{0,9})$' THEN $5::bigint END)
    ORDER BY k.key_symbol LIMIT $4::integer)
  ) AS v, LATERAL (SELECT (SELECT d.decimals FROM chain.decimals_at($1::smallint, v.token, $2::integer) AS d) AS decimals OFFSET 0) AS unit, LATERAL (SELECT
    v.key_symbol AS "symbol",
    v.token AS "token",
    (SELECT t.symbol FROM chain.token_at($1::smallint, v.token, $2::integer) AS t) AS "tokenSymbol",
    v.partner_id::text AS "partnerId",
    v.oracle_symbol AS "oracleSymbol",
    v.debt_ceiling::text AS "debtCeiling",
    analyst.scaled(v.debt_ceiling, unit.decimals)::text AS "debtCeilingScaled",
    v.live AS "live",
    chain.rfc3339(analyst.at(v.deployed_at)) AS "deployedAt",
    v.ledger::text AS "changedLedger",
    chain.rfc3339(v.closed_at) AS "changedAt"
  ) AS x
ORDER BY v.key_symbol
LIMIT $4::integer
