-- one: deployment at token owner
-- none: there is no such token, or the balance is an account's trustline, which is not indexed
-- tag: Tokens
-- summary: Balance of a token
-- about: 0 if the address never held any, like the contract answers. An account's trustline is not an entry of the
--   contract: 404.
-- answer: TokenBalance
--   token        Address   the token
--   tokenSymbol  string?   its symbol, where it is known; with `?ledger=` too it is the present one
--   owner        Address   the owner
--   balance      Amount+   raw units
--   frozen       boolean?  whether the balance is frozen; null: this token has no freezing
-- example: {"token":"CCLBEMPLMZ545UWSFVFUPBCF6JQULBJ3ZZT3YPRMKDBSUJKEVFCBQE64", "tokenSymbol":"sGOLD",
--   "owner":"GCQKVRZKCUPFYZ7LU7CX63LBHAXXYOSL5BJUJVKCQIZ5OMXVWPA47YVL", "balance":"5197049677",
--   "balanceScaled":"519.7049677", "frozen":false}
--
-- Balance of an address. An address that never held the token has 0, as the contract answers.
WITH k AS MATERIALIZED (
  SELECT chain.entry_key($3::text, 'Balance', $4::text) AS balance, chain.entry_key($3, 'FrozenAccount', $4) AS frozen
)
SELECT row_to_json(x)::text
FROM (
    SELECT true AS synthetic, i.key_hash, analyst.readable(i.symbol) AS symbol FROM state.synth_token_instance AS i
    WHERE i.deployment = $1::smallint AND i.contract = $3
      AND ($2::integer = 2147483647 OR EXISTS (SELECT FROM history.synth_token_instance AS h
        WHERE h.deployment = $1 AND h.key_hash = i.key_hash AND h.ledger <= $2))
    UNION ALL
    SELECT DISTINCT true, h.key_hash, NULL::text FROM history.synth_token_instance AS h
    WHERE h.deployment = $1 AND h.removed AND h.ledger > $2 AND h.contract = $3
      AND NOT EXISTS (SELECT FROM state.synth_token_instance AS i WHERE i.deployment = $1 AND i.key_hash = h.key_hash)
      AND EXISTS (SELECT FROM history.synth_token_instance AS o WHERE o.deployment = $1 AND o.key_hash = h.key_hash AND o.ledger <= $2)
    UNION ALL
    SELECT false, i.key_hash, CASE i.metadata ->> 'name' WHEN 'native' THEN 'XLM' ELSE i.metadata ->> 'symbol' END
    FROM state.stellar_asset_instance AS i
    WHERE i.deployment = $1 AND i.contract = $3 AND $4 LIKE 'C%'
      AND ($2 = 2147483647 OR EXISTS (SELECT FROM history.stellar_asset_instance AS h
        WHERE h.deployment = $1 AND h.key_hash = i.key_hash AND h.ledger <= $2))
    UNION ALL
    SELECT DISTINCT false, h.key_hash, NULL::text FROM history.stellar_asset_instance AS h
    WHERE h.deployment = $1 AND h.removed AND h.ledger > $2 AND h.contract = $3 AND $4 LIKE 'C%'
      AND NOT EXISTS (SELECT FROM state.stellar_asset_instance AS i WHERE i.deployment = $1 AND i.key_hash = h.key_hash)
      AND EXISTS (SELECT FROM history.stellar_asset_instance AS o WHERE o.deployment = $1 AND o.key_hash = h.key_hash AND o.ledger <= $2)
  ) AS t
  LEFT JOIN LATERAL (
    SELECT s.value, false AS removed FROM state.synth_token_balance AS s
    WHERE $2::integer = 2147483647 AND s.deployment = $1 AND s.key_hash = (SELECT k.balance FROM k)
    UNION ALL
    (SELECT h.value, h.removed FROM history.synth_token_balance AS h
    WHERE $2::integer < 2147483647 AND h.deployment = $1 AND h.key_hash = (SELECT k.balance FROM k) AND h.ledger <= $2
    ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1)
  ) AS b ON NOT b.removed
  LEFT JOIN LATERAL (
    SELECT s.amount, false AS removed FROM state.stellar_asset_balance AS s
    WHERE $2::integer = 2147483647 AND s.deployment = $1 AND s.key_hash = (SELECT k.balance FROM k)
    UNION ALL
    (SELECT h.amount, h.removed FROM history.stellar_asset_balance AS h
    WHERE $2::integer < 2147483647 AND h.deployment = $1 AND h.key_hash = (SELECT k.balance FROM k) AND h.ledger <= $2
    ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1)
  ) AS c ON NOT c.removed
  LEFT JOIN LATERAL (
    SELECT s.value, false AS removed FROM state.synth_token_frozen_account AS s
    WHERE $2::integer = 2147483647 AND s.deployment = $1 AND s.key_hash = (SELECT k.frozen FROM k)
    UNION ALL
    (SELECT h.value, h.removed FROM history.synth_token_frozen_account AS h
    WHERE $2::integer < 2147483647 AND h.deployment = $1 AND h.key_hash = (SELECT k.frozen FROM k) AND h.ledger <= $2
    ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1)
  ) AS f ON NOT f.removed, LATERAL (SELECT
    $3 AS "token",
    t.symbol AS "tokenSymbol",
    $4 AS "owner",
    coalesce(b.value, c.amount, 0)::text AS "balance",
    analyst.scaled(coalesce(b.value, c.amount, 0))::text AS "balanceScaled",
    CASE WHEN t.synthetic THEN coalesce(f.value, false) END AS "frozen"
  ) AS x
