-- Present prices as of ledger $2: of the assets in $3 (NULL: of all), after asset $4, at most $5 rows. Feeds that were removed since
-- are found in the history.
SELECT s.asset, row_to_json(x)::text, chain.unix_ms((SELECT closed_at FROM chain.ledger WHERE deployment = $1 AND ledger = $2))
FROM (SELECT s.asset, s.key_hash FROM state.oracle_feed AS s WHERE s.deployment = $1
    UNION
    SELECT h.asset, h.key_hash FROM history.oracle_feed AS h WHERE h.deployment = $1 AND h.removed AND h.ledger > $2) AS s,
  LATERAL (SELECT * FROM (SELECT * FROM history.oracle_feed AS h
    WHERE h.deployment = $1 AND h.key_hash = s.key_hash AND h.ledger <= $2
    ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS v WHERE NOT v.removed) AS p,
-- part: price
WHERE ($3::text[] IS NULL OR s.asset = ANY ($3::text[])) AND s.asset COLLATE "C" > $4::text
ORDER BY s.asset COLLATE "C" LIMIT $5::integer
