-- one: deployment at token
-- none: there is no such token
-- Whether there is a token of that address, synthetic or an asset of the network.
SELECT '{}' FROM chain.token_at($1::smallint, $3::text, $2::integer) AS t
