    LATERAL (
      SELECT s.synth_asset, s.owner, s.collateral, s.collateral_tok, s.debt, s.opened_at, s.last_update, s.ledger, s.closed_at
      WHERE s.ledger <= $2
      UNION ALL
      SELECT h.synth_asset, h.owner, h.collateral, h.collateral_tok, h.debt, h.opened_at, h.last_update, h.ledger, h.closed_at
      FROM (SELECT * FROM history.synthetic_engine_vault AS h
        WHERE h.deployment = $1 AND h.key_hash = s.key_hash AND h.ledger <= $2 AND s.ledger > $2
        ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS h
      WHERE NOT h.removed
    ) AS h LEFT JOIN m ON m.symbol = h.synth_asset, LATERAL (SELECT s.key_hash, h.*) AS v
  WHERE ($7::text IS NULL OR chain.vault_state(h.debt, chain.vault_ratio(h.collateral, h.debt, m.collateral_price,
      m.synth_price), m.liq_ratio, m.min_coll_ratio) = $7)
