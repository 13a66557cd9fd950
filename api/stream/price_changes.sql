-- Prices that changed in the ledgers $2 to $3: each feed's last version in each ledger.
SELECT p.asset, row_to_json(x)::text, p.ledger
FROM (SELECT DISTINCT ON (ledger, asset COLLATE "C") * FROM history.oracle_feed
    WHERE deployment = $1 AND ledger BETWEEN $2 AND $3 AND NOT removed
    ORDER BY ledger, asset COLLATE "C", tx DESC, seq DESC) AS p,
-- part: price
ORDER BY p.ledger, p.asset COLLATE "C"
