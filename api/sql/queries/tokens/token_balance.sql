-- one: deployment at token owner
-- none: there is no such token, or the balance is an account's trustline, which is not indexed
-- tag: Tokens
-- summary: Balance of a token
-- about: 0 if the address never held any, like the contract answers. Copied from ledger entries, whatever moved the
--   token. An account's trustline is not an entry of the contract: 404. An entry is told also where the token's own is not there.
-- answer: TokenBalance
--   token        Address   the token
--   tokenSymbol  string?   its symbol, where it is known
--   owner        Address   the owner
--   balance      Amount+?  raw units
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
FROM (SELECT) AS one LEFT JOIN chain.token_at($1::smallint, $3, $2::integer) AS t ON true
  LEFT JOIN LATERAL (
    SELECT s.value, false AS removed FROM state.synth_token_balance AS s
    WHERE $2::integer = 2147483647 AND s.deployment = $1 AND s.key_hash = (SELECT k.balance FROM k)
    UNION ALL
    (SELECT h.value, h.removed FROM asof.synth_token_balance AS h
    WHERE $2::integer < 2147483647 AND h.deployment = $1 AND h.key_hash = (SELECT k.balance FROM k) AND h.ledger <= $2
      AND NOT chain.followed_after($1::smallint, $3, $2)
    ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1)
  ) AS b ON NOT b.removed
  LEFT JOIN LATERAL (
    SELECT s.amount, false AS removed FROM state.stellar_asset_balance AS s
    WHERE $2::integer = 2147483647 AND s.deployment = $1 AND s.key_hash = (SELECT k.balance FROM k)
    UNION ALL
    (SELECT h.amount, h.removed FROM asof.stellar_asset_balance AS h
    WHERE $2::integer < 2147483647 AND h.deployment = $1 AND h.key_hash = (SELECT k.balance FROM k) AND h.ledger <= $2
      AND NOT chain.followed_after($1::smallint, $3, $2) AND NOT chain.followed_after($1::smallint, $4, $2)
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
    analyst.scaled(coalesce(b.value, c.amount, 0), t.decimals)::text AS "balanceScaled",
    CASE WHEN t.synthetic THEN coalesce(f.value, false) END AS "frozen"
  ) AS x
WHERE t.synthetic OR t.synthetic IS NOT NULL AND $4 LIKE 'C%' OR coalesce(b.value, c.amount) IS NOT NULL
