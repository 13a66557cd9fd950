-- Candles, and trades by day, by pool and day, by trader, and by partner, day and token sold. A trade's price is the pool's price after the transaction.
WITH version AS MATERIALIZED (
  SELECT DISTINCT ON (ledger, tx, pool_id_key) ledger::bigint * 1048576 + tx AS place, pool_id_key, fee_tier, token_a_key, token_b_key,
    trunc(div(reserve_b * 1e52, nullif(reserve_a, 0)) * 1e-52, 52) AS price
  FROM {history.liquidity_pool_pool}
  WHERE deployment = $1::smallint AND ledger BETWEEN $2::integer AND $3::integer AND NOT removed
  ORDER BY ledger, tx, pool_id_key, seq DESC
), usdc AS MATERIALIZED (
  SELECT chain.word_key(j.address) AS key FROM chain.deployment AS d
    CROSS JOIN LATERAL jsonb_to_recordset(d.contracts) AS j (address text, role text)
  WHERE d.id = $1::smallint AND j.role = 'usdc' LIMIT 1
), trade AS (
  SELECT s.pool_id_key, s.trader_key, s.closed_at, chain.interval_start(60, s.closed_at) AS at,
    s.ledger::bigint * 1048576 + s.tx AS place, v.price, s.a_to_b,
    CASE WHEN s.a_to_b THEN s.amount_in ELSE s.amount_out END AS a,
    CASE WHEN s.a_to_b THEN s.amount_out ELSE s.amount_in END AS b,
    div(s.amount_in * v.fee_tier, 10000) AS fee, s.amount_in, s.amount_out,
    CASE (SELECT key FROM usdc) WHEN v.token_a_key THEN true WHEN v.token_b_key THEN false END AS quote_is_a,
    s.partner_id, CASE WHEN s.a_to_b THEN v.token_a_key ELSE v.token_b_key END AS token_key
  FROM {!event.liquidity_pool_swap} AS s
    LEFT JOIN version AS v ON v.place = s.ledger::bigint * 1048576 + s.tx AND v.pool_id_key = s.pool_id_key
  WHERE s.deployment = $1::smallint AND s.ledger BETWEEN $2::integer AND $3::integer
  OFFSET 0
), minute AS (
  SELECT pool_id_key, at, min(ARRAY[place, price]) AS first, max(ARRAY[place, price]) AS last,
    max(price) AS high, min(price) AS low, count(*) AS swaps, count(quote_is_a) AS quoted,
    sum(a) AS a, sum(b) AS b,
    sum(CASE WHEN a_to_b THEN amount_in ELSE 0 END) AS sold_a,
    sum(CASE WHEN NOT a_to_b THEN amount_in ELSE 0 END) AS sold_b,
    sum(CASE WHEN a_to_b OR fee IS NULL THEN fee ELSE 0 END) AS fee_a,
    sum(CASE WHEN NOT a_to_b OR fee IS NULL THEN fee ELSE 0 END) AS fee_b,
    sum(CASE WHEN quote_is_a THEN a WHEN NOT quote_is_a THEN b END) AS quote,
    sum(CASE WHEN quote_is_a = a_to_b THEN fee WHEN quote_is_a IS NOT NULL THEN
      CASE WHEN amount_in = 0 THEN 0 ELSE div(fee * amount_out, amount_in) END END) AS fee_quote
  FROM trade GROUP BY pool_id_key, at
), candle AS (
  INSERT INTO {=candle} AS c (deployment, pool_id, seconds, at, open_price, high_price, low_price, close_price,
    first_place, last_place, swaps, volume_a, volume_b, fees_a, fees_b, volume_quote, fees_quote)
  SELECT $1::smallint, (SELECT w.word FROM chain.word AS w WHERE w.id = m.pool_id_key), i.seconds,
    chain.interval_start(i.seconds, m.at) AS began,
    (min(m.first))[2], max(m.high), min(m.low), (max(m.last))[2], (min(m.first))[1]::bigint, (max(m.last))[1]::bigint,
    sum(m.swaps), sum(m.a), sum(m.b), sum(m.fee_a), sum(m.fee_b), sum(m.quote), sum(m.fee_quote)
  FROM minute AS m CROSS JOIN (VALUES (60), (300), (900), (3600), (14400), (86400), (604800)) AS i (seconds)
  GROUP BY m.pool_id_key, i.seconds, began
  ON CONFLICT (deployment, pool_id, seconds, at) DO UPDATE SET
    open_price = CASE WHEN excluded.first_place < c.first_place THEN excluded.open_price ELSE c.open_price END,
    close_price = CASE WHEN excluded.last_place > c.last_place THEN excluded.close_price ELSE c.close_price END,
    first_place = least(c.first_place, excluded.first_place),
    last_place = greatest(c.last_place, excluded.last_place),
    high_price = greatest(c.high_price, excluded.high_price),
    low_price = least(c.low_price, excluded.low_price),
    swaps = c.swaps + excluded.swaps,
    volume_a = c.volume_a + excluded.volume_a,
    volume_b = c.volume_b + excluded.volume_b,
    fees_a = coalesce(c.fees_a + excluded.fees_a, c.fees_a, excluded.fees_a),
    fees_b = coalesce(c.fees_b + excluded.fees_b, c.fees_b, excluded.fees_b),
    volume_quote = coalesce(c.volume_quote + excluded.volume_quote, c.volume_quote, excluded.volume_quote),
    fees_quote = coalesce(c.fees_quote + excluded.fees_quote, c.fees_quote, excluded.fees_quote)
), pool AS (
  INSERT INTO {=pool_day} AS p (deployment, pool_id, day, swaps, sold_a, sold_b)
  SELECT $1::smallint, (SELECT w.word FROM chain.word AS w WHERE w.id = m.pool_id_key), (m.at AT TIME ZONE 'UTC')::date AS day,
    sum(m.swaps), sum(m.sold_a), sum(m.sold_b)
  FROM minute AS m GROUP BY m.pool_id_key, day
  ON CONFLICT (deployment, pool_id, day) DO UPDATE SET
    swaps = p.swaps + excluded.swaps,
    sold_a = p.sold_a + excluded.sold_a,
    sold_b = p.sold_b + excluded.sold_b
), pool_word AS MATERIALIZED (
  SELECT pool_id_key, (SELECT w.word FROM chain.word AS w WHERE w.id = pool_id_key) AS pool_id FROM minute GROUP BY pool_id_key
), trader AS (
  INSERT INTO {=trader} AS t (deployment, trader, pool_id, a_to_b, swaps, sold, first_at, last_at)
  SELECT $1::smallint, (SELECT w.word FROM chain.word AS w WHERE w.id = t.trader_key), p.pool_id,
    t.a_to_b, t.swaps, t.sold, t.first_at, t.last_at
  FROM (SELECT trader_key, pool_id_key, a_to_b, count(*) AS swaps, sum(amount_in) AS sold, min(closed_at) AS first_at, max(closed_at) AS last_at
    FROM trade GROUP BY trader_key, pool_id_key, a_to_b) AS t JOIN pool_word AS p USING (pool_id_key)
  ON CONFLICT (deployment, trader, pool_id, a_to_b) DO UPDATE SET
    swaps = t.swaps + excluded.swaps,
    sold = t.sold + excluded.sold,
    first_at = least(t.first_at, excluded.first_at),
    last_at = greatest(t.last_at, excluded.last_at)
), partner AS (
  INSERT INTO {=partner_day_volume} AS p (deployment, partner_id, day, token, swaps, volume)
  SELECT $1::smallint, partner_id, (closed_at AT TIME ZONE 'UTC')::date AS day, (SELECT w.word FROM chain.word AS w WHERE w.id = token_key),
    count(*), sum(amount_in)
  FROM trade WHERE partner_id > 0 AND token_key IS NOT NULL GROUP BY partner_id, day, token_key
  ON CONFLICT (deployment, partner_id, day, token) DO UPDATE SET
    swaps = p.swaps + excluded.swaps,
    volume = p.volume + excluded.volume
)
INSERT INTO {=day} AS d (deployment, day, swaps, quoted_swaps, volume_quote, fees_quote)
SELECT $1::smallint, (m.at AT TIME ZONE 'UTC')::date AS day, sum(m.swaps), sum(m.quoted), sum(m.quote), sum(m.fee_quote)
FROM minute AS m GROUP BY day
ON CONFLICT (deployment, day) DO UPDATE SET
  swaps = d.swaps + excluded.swaps,
  quoted_swaps = d.quoted_swaps + excluded.quoted_swaps,
  volume_quote = coalesce(d.volume_quote + excluded.volume_quote, d.volume_quote, excluded.volume_quote),
  fees_quote = coalesce(d.fees_quote + excluded.fees_quote, d.fees_quote, excluded.fees_quote)
