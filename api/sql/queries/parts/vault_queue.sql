-- queue takes the riskiest vaults with debt of market $3, up to 10001, by the index of vault_order. As of a ledger in the newer half of
-- the chain (since): those unchanged after it by that index, those changed after it from history; in the older half (until): all from
-- history up to it. version reads up to 50001 rows a query; removals have a query of their own, because the indexes of the market's
-- versions lack them.
side AS MATERIALIZED (
  SELECT $2 < 2147483647 AND 2 * $2::bigint >= f.ledger + c.ledger AS since, 2 * $2::bigint < f.ledger + c.ledger AS until
  FROM chain.cursor AS c, LATERAL (SELECT l.ledger FROM chain.ledger AS l WHERE l.deployment = $1 ORDER BY l.ledger LIMIT 1) AS f
  WHERE c.deployment = $1
), word AS MATERIALIZED (
  SELECT chain.word_key($3) AS key
), version AS MATERIALIZED (
  (SELECT h.key_hash FROM history.synthetic_engine_vault AS h
  WHERE h.deployment = $1 AND h.ledger > (SELECT CASE WHEN s.since THEN $2 END FROM side AS s) AND h.synth_key = (SELECT w.key FROM word AS w)
    AND NOT h.removed LIMIT 50001)
  UNION ALL
  (SELECT h.key_hash FROM history.synthetic_engine_vault AS h
  WHERE h.deployment = $1 AND h.ledger > (SELECT CASE WHEN s.since THEN $2 END FROM side AS s) AND h.synth_key = (SELECT w.key FROM word AS w)
    AND h.removed LIMIT 50001)
  UNION ALL
  (SELECT h.key_hash FROM history.synthetic_engine_vault AS h
  WHERE h.deployment = $1 AND h.ledger <= (SELECT CASE WHEN s.until THEN $2 END FROM side AS s) AND h.synth_key = (SELECT w.key FROM word AS w)
    AND NOT h.removed LIMIT 50001)
), queue AS MATERIALIZED (
  SELECT v.* FROM (
    (SELECT s.collateral, s.debt, s.key_hash FROM state.synthetic_engine_vault AS s
    WHERE NOT (SELECT s.until FROM side AS s) AND s.deployment = $1 AND s.synth = $3
      AND chain.vault_order(s.collateral, s.debt) < 1e117 AND s.ledger <= $2
    ORDER BY chain.vault_order(s.collateral, s.debt), s.key_hash LIMIT 10001)
    UNION ALL
    (SELECT h.collateral, h.debt, k.key_hash
    FROM (SELECT DISTINCT w.key_hash FROM version AS w) AS k, LATERAL (SELECT * FROM history.synthetic_engine_vault AS h
        WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
        ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS h
    WHERE NOT h.removed AND h.synth_key = (SELECT w.key FROM word AS w) AND h.debt > 0
    ORDER BY chain.vault_order(h.collateral, h.debt), k.key_hash LIMIT 10001)
  ) AS v
  ORDER BY chain.vault_order(v.collateral, v.debt), v.key_hash LIMIT 10001
)
