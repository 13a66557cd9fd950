-- one: deployment at symbol
-- none no_market: there is no such market
-- Whether a market of that symbol is listed. What it is, /api/markets/{symbol} tells from the hot cache.
SELECT '{}'
FROM chain.vault_market($1::smallint, $2::integer) AS m
WHERE m.symbol = $3::text
LIMIT 1
