-- one: deployment at token
-- none: there is no such token
-- Whether there is a token of that address, synthetic or an asset of the network.
SELECT '{}'
FROM (
    SELECT i.deployment, i.key_hash FROM state.synth_token_instance AS i
    WHERE i.deployment = $1::smallint AND i.contract = $3::text
      AND ($2::integer = 2147483647 OR EXISTS (SELECT FROM history.synth_token_instance AS h
        WHERE h.deployment = $1 AND h.key_hash = i.key_hash AND h.ledger <= $2))
    UNION ALL
    SELECT DISTINCT h.deployment, h.key_hash FROM history.synth_token_instance AS h
    WHERE h.deployment = $1 AND h.removed AND h.ledger > $2 AND h.contract = $3
      AND NOT EXISTS (SELECT FROM state.synth_token_instance AS i WHERE i.deployment = $1 AND i.key_hash = h.key_hash)
      AND EXISTS (SELECT FROM history.synth_token_instance AS o WHERE o.deployment = $1 AND o.key_hash = h.key_hash AND o.ledger <= $2)
    UNION ALL
    SELECT i.deployment, i.key_hash FROM state.stellar_asset_instance AS i
    WHERE i.deployment = $1 AND i.contract = $3
      AND ($2 = 2147483647 OR EXISTS (SELECT FROM history.stellar_asset_instance AS h
        WHERE h.deployment = $1 AND h.key_hash = i.key_hash AND h.ledger <= $2))
    UNION ALL
    SELECT DISTINCT h.deployment, h.key_hash FROM history.stellar_asset_instance AS h
    WHERE h.deployment = $1 AND h.removed AND h.ledger > $2 AND h.contract = $3
      AND NOT EXISTS (SELECT FROM state.stellar_asset_instance AS i WHERE i.deployment = $1 AND i.key_hash = h.key_hash)
      AND EXISTS (SELECT FROM history.stellar_asset_instance AS o WHERE o.deployment = $1 AND o.key_hash = h.key_hash AND o.ledger <= $2)
  ) AS t
LIMIT 1
