-- one: deployment at symbol
-- none no_market: there is no such market
-- tag: Markets
-- summary: What changed in a market over 24 hours, 7 and 30 days
-- about: Each span ends at the moment of the answer: the later of the clock and the newest close, or with `ledger` when that one closed. Then is
--   the close of `sinceLedger`, the last ledger that had closed when the span began: every route answers as of it.
-- answer: MarketChanges
--   market     Symbol    symbol of the market
--   debt       Amount+?  debt of its vaults
--   pool       Symbol?   the pool that pairs it with the quote asset, the deepest; null: none
--   spotPrice  Amount?+  price in that pool, in the quote asset; null: no pool, or an empty one
--   items      MarketChange[]  by span
-- schema: MarketChange
--   span                "24h|7d|30d"  how long
--   sinceLedger         Ledger?   the last ledger that had closed when it began; null: it or the one after it is not indexed
--   sinceAt             Time?     when that ledger closed
--   debt                Amount?+  debt then; null: `sinceLedger` is null
--   debtChangeBps       Bps?      change of the debt since then, cut to whole basis points; null: there was none
--   spotPrice           Amount?+  price in the same pool then; null: it was empty or not there, or not known
--   spotPriceChangeBps  Bps?      change of that price since then
-- example: {"market":"sBTC", "debt":"4075344843545", "debtScaled":"407534.4843545", "pool":"SBTCUSDC", "spotPrice":"17615323",
--   "spotPriceScaled":"1.7615323", "items":[{"span":"24h", "sinceLedger":"1485", "sinceAt":"2026-01-30T07:24:08Z", "debt":"3824091031215",
--   "debtScaled":"382409.1031215", "debtChangeBps":"657", "spotPrice":"17679182", "spotPriceScaled":"1.7679182",
--   "spotPriceChangeBps":"-36"}]}
--
-- Debts and reserves then are the newest versions up to the ledger of each span.
WITH m AS MATERIALIZED (
  SELECT * FROM chain.vault_market($1::smallint, $2::integer) AS m WHERE m.symbol = $3::text LIMIT 1
), unit AS MATERIALIZED (
  SELECT u.synth, u.quote, CASE WHEN u.synth + u.quote IS NULL THEN 0 ELSE u.synth END AS known_synth,
    CASE WHEN u.synth + u.quote IS NULL THEN 0 ELSE u.quote END AS known_quote
  FROM m, LATERAL (SELECT (SELECT d.decimals FROM chain.decimals_at($1, m.token, $2) AS d) AS synth, (SELECT d.decimals FROM chain.quote_decimals($1, $2) AS d) AS quote OFFSET 0) AS u
), pool AS MATERIALIZED (
-- part: pools_then
), paired AS MATERIALIZED (
  SELECT p.key_hash, p.pool_id, p.token_a = m.token AS first, s.price, chain.price(r.quote, u.quote, r.synth, u.synth) AS shown,
    chain.price(r.quote, u.known_quote, r.synth, u.known_synth) AS known
  FROM m, unit AS u, pool AS p, (SELECT j.address FROM chain.deployment AS d CROSS JOIN LATERAL jsonb_to_recordset(d.contracts) AS j (address text, role text)
      WHERE d.id = $1 AND j.role = 'usdc' LIMIT 1) AS q,
    LATERAL (SELECT CASE WHEN p.token_a = m.token THEN div(p.reserve_b * 10000000, nullif(p.reserve_a, 0))
      ELSE div(p.reserve_a * 10000000, nullif(p.reserve_b, 0)) END AS price) AS s,
    LATERAL (SELECT CASE WHEN p.token_a = m.token THEN p.reserve_a ELSE p.reserve_b END AS synth,
      CASE WHEN p.token_a = m.token THEN p.reserve_b ELSE p.reserve_a END AS quote) AS r
  WHERE p.token_a = m.token AND p.token_b = q.address OR p.token_b = m.token AND p.token_a = q.address
  ORDER BY CASE WHEN p.token_a = m.token THEN p.reserve_b ELSE p.reserve_a END DESC, p.pool_id COLLATE "C" LIMIT 1
), owed AS MATERIALIZED (
  SELECT s.key_hash FROM state.synthetic_engine_debt_total AS s WHERE s.deployment = $1 AND s.synth = $3
  UNION
  SELECT h.key_hash FROM history.synthetic_engine_debt_total AS h WHERE h.deployment = $1 AND h.removed AND h.ledger > $2 AND h.synth_key = chain.word_key($3)
), past AS MATERIALIZED (
  SELECT 'now' AS span, NULL::timestamptz AS begins, $2 AS ledger
  UNION ALL
  SELECT s.span, s.begins, s.ledger FROM chain.spans($1, $2) AS s
), was AS MATERIALIZED (
  SELECT t.span, t.begins, t.ledger, CASE WHEN t.ledger IS NOT NULL THEN coalesce(d.value, 0) END AS debt, r.price, r.shown, r.known
  FROM past AS t
    LEFT JOIN LATERAL (SELECT CASE WHEN NOT h.removed THEN h.value END AS value FROM owed AS o, history.synthetic_engine_debt_total AS h
      WHERE h.deployment = $1 AND h.key_hash = o.key_hash AND h.ledger <= t.ledger
      ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS d ON true
    LEFT JOIN LATERAL (SELECT CASE WHEN h.removed THEN NULL WHEN p.first THEN div(h.reserve_b * 10000000, nullif(h.reserve_a, 0))
        ELSE div(h.reserve_a * 10000000, nullif(h.reserve_b, 0)) END AS price,
        CASE WHEN NOT h.removed THEN chain.price(y.quote, u.quote, y.synth, u.synth) END AS shown,
        CASE WHEN NOT h.removed THEN chain.price(y.quote, u.known_quote, y.synth, u.known_synth) END AS known
      FROM paired AS p, unit AS u, history.liquidity_pool_pool AS h,
        LATERAL (SELECT CASE WHEN p.first THEN h.reserve_a ELSE h.reserve_b END AS synth,
          CASE WHEN p.first THEN h.reserve_b ELSE h.reserve_a END AS quote) AS y
      WHERE h.deployment = $1 AND h.key_hash = p.key_hash AND h.ledger <= t.ledger
      ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS r ON true
)
SELECT row_to_json(x)::text
FROM m, unit AS u, was AS n LEFT JOIN paired AS p ON true, LATERAL (SELECT
    m.symbol AS "market",
    n.debt::text AS "debt",
    analyst.scaled(n.debt, u.synth)::text AS "debtScaled",
    p.pool_id AS "pool",
    p.price::text AS "spotPrice",
    analyst.scaled(p.shown, 7)::text AS "spotPriceScaled",
    to_json(ARRAY(SELECT row_to_json(i)
      FROM was AS t, LATERAL (SELECT
          t.span AS "span",
          t.ledger::text AS "sinceLedger",
          (SELECT chain.rfc3339(l.closed_at) FROM chain.ledger AS l WHERE l.deployment = $1 AND l.ledger = t.ledger) AS "sinceAt",
          t.debt::text AS "debt",
          analyst.scaled(t.debt, u.synth)::text AS "debtScaled",
          div((n.debt - t.debt) * 10000, nullif(t.debt, 0))::text AS "debtChangeBps",
          t.price::text AS "spotPrice",
          analyst.scaled(t.shown, 7)::text AS "spotPriceScaled",
          div((p.known - t.known) * 10000, nullif(t.known, 0))::text AS "spotPriceChangeBps"
        ) AS i
      WHERE t.span <> 'now'
      ORDER BY t.begins DESC)) AS "items"
  ) AS x
WHERE n.span = 'now'
