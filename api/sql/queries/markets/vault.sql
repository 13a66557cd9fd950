-- one: deployment at market owner
-- none: there is no such vault
-- tag: Vaults
-- summary: One vault
-- about: Value, ratio, price of liquidation and distance to it, as the engine computes them. One that is gone is `closed`.
-- answer: VaultAnswer
--   ...Vault
--
-- One vault, as it is or as it was, one that is gone is closed.
WITH m AS MATERIALIZED (SELECT * FROM chain.vault_market($1::smallint, $2::integer)),
k AS (
  SELECT s.key_hash FROM state.synthetic_engine_vault AS s
  WHERE s.deployment = $1 AND s.key_owner = $4::text AND s.synth = $3::text
  UNION
  SELECT h.key_hash FROM history.synthetic_engine_vault AS h
  WHERE h.deployment = $1 AND h.removed AND h.key_owner_key = chain.word_key($4) AND h.synth_key = chain.word_key($3)
), v AS (
  SELECT h.removed, $3 AS synth, $4 AS key_owner, h.collateral, h.collateral_tok, h.debt, h.opened_at, h.last_update,
    h.ledger, h.closed_at
  FROM k, LATERAL (SELECT * FROM history.synthetic_engine_vault AS h
    WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
    ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS h
)
SELECT CASE WHEN v.removed THEN (SELECT row_to_json(z) FROM (SELECT v.synth AS "market", v.key_owner AS "owner",
  'closed' AS "state", v.ledger::text AS "changedLedger", chain.rfc3339(v.closed_at) AS "changedAt") AS z)
  ELSE row_to_json(x) END::text
-- part: vault_item
LIMIT 1
