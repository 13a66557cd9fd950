-- one: deployment at epoch
-- none: there is no epoch of that number
-- tag: Earnings
-- summary: One epoch
-- about: With the protocol's part of its revenue by token.
-- answer: EpochAnswer
--   ...Epoch
--   revenue  TokenRevenue[]  the protocol's part by token, in the contract's order
-- example: {"revenue":[{"token":"CALRLFLXVA4U4CLHXN55OXHMCH2U4RK7I4ZK7YH4V27LLAXMHYDLYKLG", "tokenSymbol":"USDC",
--   "amount":"28506155", "amountScaled":"2.8506155"}]}
-- schema: TokenRevenue
--   token        Address  the token
--   tokenSymbol  string?  its symbol, where it is known
--   amount       Amount+?  raw units
--
-- An epoch with the protocol's part of its revenue per token, in the contract's order of tokens.
SELECT row_to_json(x)::text
FROM (
    (SELECT s.key_id, s.start_time, s.end_time, s.finalized, s.total_revenue, s.partner_revenue,
      s.protocol_revenue, s.staker_snapshot, s.per_token_revenue, s.ledger, s.closed_at
      FROM state.earnings_distributor_epoch AS s
    WHERE $2::integer = 2147483647 AND s.deployment = $1::smallint AND s.key_id = $3::numeric LIMIT 1)
    UNION ALL
    (SELECT k.key_id, h.start_time, h.end_time, h.finalized, h.total_revenue, h.partner_revenue,
      h.protocol_revenue, h.staker_snapshot, h.per_token_revenue, h.ledger, h.closed_at
    FROM (
        SELECT s.key_id, s.key_hash FROM state.earnings_distributor_epoch AS s
          WHERE s.deployment = $1::smallint AND s.key_id = $3::numeric
        UNION
        SELECT h.key_id, h.key_hash FROM history.earnings_distributor_epoch AS h
        WHERE h.deployment = $1::smallint AND h.removed AND h.ledger > $2::integer AND h.key_id = $3::numeric
        ORDER BY 1
      ) AS k, LATERAL (
        SELECT h.start_time, h.end_time, h.finalized, h.total_revenue, h.partner_revenue, h.protocol_revenue,
          h.staker_snapshot, h.per_token_revenue, h.ledger, h.closed_at, h.removed
          FROM asof.earnings_distributor_epoch AS h
        WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
        ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1
      ) AS h
    WHERE $2::integer < 2147483647 AND NOT h.removed LIMIT 1)
  ) AS v
  LEFT JOIN LATERAL (
    SELECT to_json(array_agg(z.item ORDER BY t.n)) AS tokens
    FROM (
      SELECT u.token, u.n, r.value,
    (SELECT t.symbol FROM chain.token_at($1::smallint, u.token, $2::integer) AS t) AS symbol, (SELECT d.decimals FROM chain.decimals_at($1::smallint, u.token, $2::integer) AS d) AS decimals
      FROM (
        SELECT s.key_hash FROM state.earnings_distributor_epoch_token_list AS s WHERE s.deployment = $1 AND s.epoch = v.key_id
        UNION
        SELECT h.key_hash FROM history.earnings_distributor_epoch_token_list AS h WHERE h.deployment = $1 AND h.removed AND h.ledger > $2 AND h.epoch = v.key_id
      ) AS l, LATERAL (
        SELECT s.value, s.ledger, s.closed_at, false AS removed
          FROM state.earnings_distributor_epoch_token_list AS s
        WHERE $2::integer = 2147483647 AND s.deployment = $1 AND s.key_hash = l.key_hash
        UNION ALL
        (SELECT h.value, h.ledger, h.closed_at, h.removed FROM asof.earnings_distributor_epoch_token_list AS h
        WHERE $2::integer < 2147483647 AND h.deployment = $1 AND h.key_hash = l.key_hash AND h.ledger <= $2
        ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1)
      ) AS w,
        LATERAL unnest(w.value) WITH ORDINALITY AS u (token, n),
        LATERAL (
          SELECT s.key_hash FROM state.earnings_distributor_epoch_revenue AS s WHERE s.deployment = $1 AND s.epoch = v.key_id AND s.token = u.token
          UNION
          SELECT h.key_hash FROM history.earnings_distributor_epoch_revenue AS h WHERE h.deployment = $1 AND h.removed AND h.ledger > $2 AND h.epoch = v.key_id AND h.token = u.token
        ) AS o,
        LATERAL (
          SELECT s.value, s.ledger, s.closed_at, false AS removed FROM state.earnings_distributor_epoch_revenue AS s
          WHERE $2::integer = 2147483647 AND s.deployment = $1 AND s.key_hash = o.key_hash
          UNION ALL
          (SELECT h.value, h.ledger, h.closed_at, h.removed FROM asof.earnings_distributor_epoch_revenue AS h
          WHERE $2::integer < 2147483647 AND h.deployment = $1 AND h.key_hash = o.key_hash AND h.ledger <= $2
          ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1)
        ) AS r
      WHERE NOT w.removed AND NOT r.removed
    ) AS t, LATERAL (SELECT row_to_json(z) AS item FROM (SELECT t.token AS "token", t.symbol AS "tokenSymbol",
      t.value::text AS "amount", analyst.scaled(t.value, t.decimals)::text AS "amountScaled") AS z) AS z
  ) AS revenue ON true, (SELECT (SELECT d.decimals FROM chain.quote_decimals($1::smallint, $2::integer) AS d) AS quote OFFSET 0) AS unit, LATERAL (SELECT
-- part: epoch_item
    chain.rfc3339(v.closed_at) AS "changedAt",
    coalesce(revenue.tokens, '[]') AS "revenue"
  ) AS x
