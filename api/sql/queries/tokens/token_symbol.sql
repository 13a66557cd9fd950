-- one: deployment token
-- none: there is no token of that symbol
-- Tokens that call themselves so now, for requests that name a token by its symbol (api/sql/token_symbol.h): two tell that it
-- is not unique, more are named in the refusal.
SELECT t.contract
FROM (
    SELECT s.contract FROM state.synth_token_instance AS s
    WHERE s.deployment = $1::smallint AND s.symbol = convert_to($2::text, 'UTF8')
    UNION
    SELECT s.contract FROM state.stellar_asset_instance AS s
    WHERE s.deployment = $1 AND CASE s.metadata ->> 'symbol' WHEN 'native' THEN 'XLM' ELSE s.metadata ->> 'symbol' END = $2
  ) AS t
ORDER BY t.contract
LIMIT 8
