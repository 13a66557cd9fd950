-- one: deployment at market owner
-- none: there is no such vault
-- tag: Vaults
-- summary: One vault
-- answer: VaultAnswer
--   ...Vault
--   state  "active|at_risk|liquidatable|open|unpriced|closed"
--                   evaluated by the engine's own arithmetic; open: without debt; unpriced: no fresh price
--
-- One vault, as it is or as it was, one that is gone is closed.
WITH m AS MATERIALIZED (SELECT * FROM chain.vault_market($1::smallint, $2::integer)),
k AS (
  SELECT s.key_hash FROM state.synthetic_engine_vault AS s
  WHERE s.deployment = $1 AND s.owner = $4::text AND s.synth_asset = $3::text
  UNION
  SELECT h.key_hash FROM event.synthetic_engine_open AS o, LATERAL (SELECT h.key_hash
    FROM history.synthetic_engine_vault AS h
    WHERE h.deployment = $1 AND h.ledger = o.ledger AND h.key_owner = $4 AND h.synth = $3 LIMIT 1) AS h
  WHERE o.deployment = $1 AND o.owner_key = chain.word_key($4) AND o.synth_asset_key = (SELECT chain.word_key($3)) AND o.ledger <= $2
), v AS (
  SELECT h.removed, $3 AS synth_asset, $4 AS owner, h.collateral, h.collateral_tok, h.debt, h.opened_at, h.last_update,
    h.ledger, h.closed_at
  FROM k, LATERAL (SELECT * FROM history.synthetic_engine_vault AS h
    WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
    ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS h
)
SELECT CASE WHEN v.removed THEN (SELECT row_to_json(z) FROM (SELECT v.synth_asset AS "market", v.owner AS "owner",
  'closed' AS "state", v.ledger::text AS "changedLedger", chain.rfc3339(v.closed_at) AS "changedAt") AS z)
  ELSE row_to_json(x) END::text
-- part: vault_item
LIMIT 1
