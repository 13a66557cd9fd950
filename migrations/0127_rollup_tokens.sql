-- 0127_rollup_tokens: sums over time that lack a discovered asset's past are made anew.
--
-- The past of a discovered asset was added without its closing balances by day.

DELETE FROM rollup.built AS b
WHERE EXISTS (SELECT FROM chain.contract_seen AS s WHERE s.deployment = b.deployment AND s.what = 'asset');
