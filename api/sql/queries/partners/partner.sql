-- one: deployment at partnerId
-- none: there is no partner of that id
-- tag: Partners
-- summary: One partner
-- about: With what `claim_revenue` would pay, or why it would refuse.
-- answer: PartnerAnswer
--   ...Partner
--   claimable     Amount+?  what a claim would pay now
--   claimRefused  string?  why a claim would be refused; null: it would not
-- example: {"claimable":"0", "claimableScaled":"0.0000000", "claimRefused":"nothing_pending"}
--
-- A partner, and what claim_revenue would pay or say: USDC out of the registry's own balance.
SELECT row_to_json(x)::text
FROM (
    (SELECT s.key_id, s.owner, s.name, s.active, s.revenue_share, s.pending_revenue, s.total_earned,
      s.total_volume, s.deployed_assets, s.registered_at, s.ledger, s.closed_at
      FROM state.partner_registry_partner AS s
    WHERE $2::integer = 2147483647 AND s.deployment = $1::smallint
      AND s.key_id = (CASE WHEN $3::text ~ '^(0|[1-9][0-9]{0,9})$' THEN $3::bigint END) LIMIT 1)
    UNION ALL
    (SELECT k.key_id, h.owner, h.name, h.active, h.revenue_share, h.pending_revenue, h.total_earned,
      h.total_volume, h.deployed_assets, h.registered_at, h.ledger, h.closed_at
    FROM (
        SELECT s.key_id, s.key_hash FROM state.partner_registry_partner AS s
          WHERE s.deployment = $1::smallint
          AND s.key_id = (CASE WHEN $3::text ~ '^(0|[1-9][0-9]{0,9})$' THEN $3::bigint END)
        UNION
        SELECT h.key_id, h.key_hash FROM history.partner_registry_partner AS h
        WHERE h.deployment = $1::smallint AND h.removed AND h.ledger > $2::integer
          AND h.key_id = (CASE WHEN $3::text ~ '^(0|[1-9][0-9]{0,9})$' THEN $3::bigint END)
        ORDER BY 1
      ) AS k, LATERAL (
        SELECT h.owner, h.name, h.active, h.revenue_share, h.pending_revenue, h.total_earned, h.total_volume,
          h.deployed_assets, h.registered_at, h.ledger, h.closed_at, h.removed
          FROM history.partner_registry_partner AS h
        WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
        ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1
      ) AS h
    WHERE $2::integer < 2147483647 AND NOT h.removed LIMIT 1)
  ) AS v
  LEFT JOIN LATERAL (
    SELECT i.contract, i.usdc FROM (
      SELECT s.key_hash FROM state.partner_registry_instance AS s WHERE s.deployment = $1
      UNION
      SELECT h.key_hash FROM history.partner_registry_instance AS h WHERE h.deployment = $1 AND h.removed AND h.ledger > $2
    ) AS k, LATERAL (
      SELECT s.contract, s.usdc, false AS removed FROM state.partner_registry_instance AS s
      WHERE $2::integer = 2147483647 AND s.deployment = $1 AND s.key_hash = k.key_hash
      UNION ALL
      (SELECT h.contract, h.usdc, h.removed FROM history.partner_registry_instance AS h
      WHERE $2::integer < 2147483647 AND h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
      ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1)
    ) AS i
    WHERE NOT i.removed LIMIT 1
  ) AS r ON true
  LEFT JOIN LATERAL (
    SELECT c.amount FROM (SELECT chain.entry_key(r.usdc, 'Balance', r.contract) AS key_hash OFFSET 0) AS b, LATERAL (
      SELECT s.amount, s.ledger, s.closed_at, false AS removed FROM state.stellar_asset_balance AS s
      WHERE $2::integer = 2147483647 AND s.deployment = $1 AND s.key_hash = b.key_hash
      UNION ALL
      (SELECT h.amount, h.ledger, h.closed_at, h.removed FROM asof.stellar_asset_balance AS h
      WHERE $2::integer < 2147483647 AND h.deployment = $1 AND h.key_hash = b.key_hash AND h.ledger <= $2
      ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1)
    ) AS c
    WHERE NOT c.removed
  ) AS held ON true, LATERAL (SELECT
    CASE WHEN NOT v.active THEN 'partner_inactive' WHEN v.pending_revenue <= 0 THEN 'nothing_pending'
      WHEN coalesce(held.amount, 0) < v.pending_revenue THEN 'registry_holds_too_little' END AS refused
  ) AS c, (SELECT (SELECT d.decimals FROM chain.quote_decimals($1::smallint, $2::integer) AS d) AS quote OFFSET 0) AS unit, LATERAL (SELECT
    v.key_id::text AS "partnerId",
    v.owner AS "owner",
    analyst.readable(v.name) AS "name",
-- part: partner_item
    chain.rfc3339(v.closed_at) AS "changedAt",
    (CASE WHEN c.refused IS NULL THEN v.pending_revenue ELSE 0 END)::text AS "claimable",
    analyst.scaled(CASE WHEN c.refused IS NULL THEN v.pending_revenue ELSE 0 END, unit.quote)::text AS "claimableScaled",
    c.refused AS "claimRefused"
  ) AS x
