-- list: deployment at after limit
-- tag: Partners
-- summary: All partners
-- about: By id. Sums are the contract's own, which adds up different tokens; by token they are at `/revenue`.
-- answer: Partners of Partner
-- Partners by id. The sums are the contract's own, which adds up different tokens.
SELECT row_to_json(x)::text, v.key_id::text
FROM (
    (SELECT s.key_id, s.owner, s.name, s.active, s.revenue_share, s.pending_revenue, s.total_earned,
      s.total_volume, s.deployed_assets, s.registered_at, s.ledger, s.closed_at
      FROM state.partner_registry_partner AS s
    WHERE $2::integer = 2147483647 AND s.deployment = $1::smallint AND ($3::text IS NULL OR s.key_id > $3::bigint)
    ORDER BY s.key_id LIMIT $4::integer)
    UNION ALL
    (SELECT k.key_id, h.owner, h.name, h.active, h.revenue_share, h.pending_revenue, h.total_earned,
      h.total_volume, h.deployed_assets, h.registered_at, h.ledger, h.closed_at
    FROM (
        SELECT s.key_id, s.key_hash FROM state.partner_registry_partner AS s
          WHERE s.deployment = $1::smallint AND ($3::text IS NULL OR s.key_id > $3::bigint)
        UNION
        SELECT h.key_id, h.key_hash FROM history.partner_registry_partner AS h
        WHERE h.deployment = $1::smallint AND h.removed AND h.ledger > $2::integer
          AND ($3::text IS NULL OR h.key_id > $3::bigint)
        ORDER BY key_id
      ) AS k, LATERAL (
        SELECT h.owner, h.name, h.active, h.revenue_share, h.pending_revenue, h.total_earned, h.total_volume,
          h.deployed_assets, h.registered_at, h.ledger, h.closed_at, h.removed
          FROM history.partner_registry_partner AS h
        WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
        ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1
      ) AS h
    WHERE $2::integer < 2147483647 AND NOT h.removed
    ORDER BY k.key_id LIMIT $4::integer)
  ) AS v, (SELECT (SELECT d.decimals FROM chain.quote_decimals($1::smallint, $2::integer) AS d) AS quote OFFSET 0) AS unit, LATERAL (SELECT
    v.key_id::text AS "partnerId",
    v.owner AS "owner",
    chain.brief(v.name) AS "name",
-- part: partner_item
    chain.rfc3339(v.closed_at) AS "changedAt"
  ) AS x
ORDER BY v.key_id
LIMIT $4::integer
