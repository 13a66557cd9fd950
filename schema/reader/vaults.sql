-- Sums of a market's vaults by the token of their collateral as of ledger $2: the amounts that apply_vault adds one by one, because there
-- may be many vaults. The sum wraps at 128 bits as apply_vault's does: a contract may store any amounts. Neither of them counts vaults
-- whose owner is not an account or a contract.
SELECT synth, CASE WHEN collateral_tok ~ '^[GC]' THEN collateral_tok END,
  (mod(mod(sum(collateral) + 170141183460469231731687303715884105728, 340282366920938463463374607431768211456)
    + 340282366920938463463374607431768211456, 340282366920938463463374607431768211456) - 170141183460469231731687303715884105728)::text,
  count(*), count(*) FILTER (WHERE debt > 0)
FROM (SELECT DISTINCT ON (key_hash) synth, key_owner, collateral, collateral_tok, debt, removed
    FROM history.synthetic_engine_vault WHERE deployment = $1 AND ledger <= $2
    ORDER BY key_hash, ledger DESC, tx DESC, seq DESC) AS v
WHERE NOT removed AND key_owner ~ '^[GC]' GROUP BY 1, 2 ORDER BY 1
