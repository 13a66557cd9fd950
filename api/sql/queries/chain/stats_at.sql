-- one: deployment at
-- none: nothing is indexed yet
--
-- Totals as of a ledger. Flows are sums of the whole days before it and of the intervals of its day. Holdings come from the newest
-- version of each entry up to the ledger, computed like rollup.held.
WITH last_day AS MATERIALIZED (
-- part: last_day
), moment AS MATERIALIZED (
  SELECT l.closed_at AS at, (l.closed_at AT TIME ZONE 'UTC')::date AS day, chain.interval_start(86400, l.closed_at) AS midnight,
    (SELECT j.address FROM chain.deployment AS x CROSS JOIN LATERAL jsonb_to_recordset(x.contracts) AS j (address text, role text)
      WHERE x.id = $1 AND j.role = 'usdc' LIMIT 1) AS usdc
  FROM chain.ledger AS l WHERE l.deployment = $1::smallint AND l.ledger = $2::integer
), span AS MATERIALIZED (
  SELECT true AS newest, i.seconds, i.begins, i.ends FROM last_day AS i
  UNION ALL
  SELECT false, i.seconds, i.begins, i.ends
  FROM moment AS m, LATERAL (SELECT chain.interval_start(14400, m.at) AS hours, chain.interval_start(3600, m.at) AS hour,
      chain.interval_start(900, m.at) AS quarter) AS b,
    LATERAL (VALUES (14400, m.midnight, b.hours), (3600, b.hours, b.hour), (900, b.hour, b.quarter),
      (60, b.quarter, 'infinity'::timestamptz)) AS i (seconds, begins, ends)
  WHERE i.begins < i.ends
), pool AS MATERIALIZED (
  SELECT h.pool_id, h.token_a, h.token_b, h.reserve_a, h.reserve_b
  FROM (SELECT s.key_hash FROM state.liquidity_pool_pool AS s WHERE s.deployment = $1
      UNION
      SELECT h.key_hash FROM history.liquidity_pool_pool AS h WHERE h.deployment = $1 AND h.removed AND h.ledger > $2) AS k,
    LATERAL (SELECT h.* FROM history.liquidity_pool_pool AS h
      WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
      ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS h
  WHERE NOT h.removed
), trade AS MATERIALIZED (
  SELECT i.newest, sum(c.swaps) AS swaps, coalesce(sum(c.volume_quote), 0) AS volume, coalesce(sum(c.fees_quote), 0) AS fees,
    bool_and(c.known) AS known
  FROM pool AS p, span AS i, LATERAL (
      SELECT c.swaps, c.volume_quote, c.fees_quote, true AS known
      FROM rollup.candle AS c
      WHERE c.deployment = $1 AND c.pool_id = p.pool_id AND c.seconds = i.seconds AND c.at >= i.begins AND c.at < i.ends
        AND c.last_place < ($2::bigint + 1) * 1048576
      UNION ALL
      SELECT m.swaps, m.volume_quote, m.fees_quote, NOT EXISTS (SELECT FROM chain.archive AS a
        WHERE a.deployment = $1 AND a.from_ledger <= $2 AND a.end_ledger > b.ledger)
      FROM rollup.candle AS c, LATERAL (SELECT (c.first_place / 1048576)::integer AS ledger) AS b,
        LATERAL chain.trades($1::smallint, p.pool_id, b.ledger, $2) AS m
      WHERE i.ends = 'infinity' AND c.deployment = $1 AND c.pool_id = p.pool_id AND c.seconds = i.seconds
        AND c.at >= i.begins AND c.first_place < ($2::bigint + 1) * 1048576 AND c.last_place >= ($2::bigint + 1) * 1048576
    ) AS c
  GROUP BY i.newest
), owed AS MATERIALIZED (
  SELECT k.synth, h.value
  FROM (SELECT s.synth, s.key_hash FROM state.synthetic_engine_debt_total AS s WHERE s.deployment = $1
      UNION
      SELECT h.synth, h.key_hash FROM history.synthetic_engine_debt_total AS h
      WHERE h.deployment = $1 AND h.removed AND h.ledger > $2) AS k,
    LATERAL (SELECT h.value, h.removed FROM history.synthetic_engine_debt_total AS h
      WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
      ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS h
  WHERE NOT h.removed
), feed AS MATERIALIZED (
  SELECT k.asset, h.twap_price, h.twap_ts
  FROM (SELECT s.asset, s.key_hash FROM state.oracle_feed AS s WHERE s.deployment = $1
      UNION
      SELECT h.asset, h.key_hash FROM history.oracle_feed AS h WHERE h.deployment = $1 AND h.removed AND h.ledger > $2) AS k,
    LATERAL (SELECT h.twap_price, h.twap_ts, h.removed FROM history.oracle_feed AS h
      WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
      ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS h
  WHERE NOT h.removed
), backing AS MATERIALIZED (
  SELECT h.amount, y.token = m.usdc AS quoted, f.twap_price, f.twap_ts
  FROM moment AS m
    CROSS JOIN (SELECT r.contract FROM chain.role AS r WHERE r.deployment = $1 AND r.role = 'synthetic_engine') AS e
    CROSS JOIN chain.collateral AS y
    CROSS JOIN LATERAL (SELECT h.amount, h.removed FROM history.stellar_asset_balance AS h
      WHERE h.deployment = $1 AND h.key_hash = chain.entry_key(y.token, 'Balance', e.contract) AND h.ledger <= $2
      ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS h
    LEFT JOIN feed AS f ON f.asset = y.feed AND y.priced_at <= m.at
  WHERE y.deployment = $1 AND y.accepted_at <= m.at AND NOT h.removed
)
SELECT row_to_json(x)::text
FROM moment AS t
  CROSS JOIN LATERAL (SELECT min(i.begins) AS minute FROM last_day AS i) AS b
  CROSS JOIN LATERAL (SELECT sum(k.swaps) AS swaps, sum(k.volume) AS volume, sum(k.fees) AS fees,
      bool_and(k.known) AS known
    FROM (SELECT * FROM trade AS k WHERE k.newest UNION ALL SELECT true, 0, 0, 0, true) AS k) AS y
  CROSS JOIN LATERAL (SELECT sum(k.swaps) AS swaps, sum(k.volume) AS volume, sum(k.fees) AS fees, bool_and(k.known) AS known
    FROM (SELECT * FROM trade AS k WHERE NOT k.newest UNION ALL SELECT false, 0, 0, 0, true) AS k) AS n
  CROSS JOIN LATERAL (SELECT CASE WHEN y.known THEN y.swaps END AS swaps, CASE WHEN y.known THEN y.volume END AS volume,
      CASE WHEN y.known THEN y.fees END AS fees) AS l
  CROSS JOIN LATERAL (SELECT CASE WHEN n.known THEN coalesce(sum(d.swaps), 0) + n.swaps END AS swaps,
      CASE WHEN n.known THEN coalesce(sum(d.volume_quote), 0) + n.volume END AS volume,
      CASE WHEN n.known THEN coalesce(sum(d.fees_quote), 0) + n.fees END AS fees, NULL::bigint AS users,
      CASE WHEN NOT EXISTS (SELECT FROM chain.archive AS r WHERE r.deployment = $1 AND r.from_ledger <= $2
          AND r.end_ledger > chain.ledger_before($1, t.midnight) + 1)
        THEN coalesce(sum(d.liquidations), 0) + (SELECT count(*) FROM event.synthetic_engine_liquidate AS e
          WHERE e.deployment = $1 AND e.ledger > chain.ledger_before($1, t.midnight) AND e.ledger <= $2) END AS liquidations
    FROM rollup.day AS d WHERE d.deployment = $1 AND d.day < t.day) AS a
  CROSS JOIN LATERAL (SELECT p.amount AS pools, c.amount AS collateral, s.amount AS stability,
      p.amount + c.amount + s.amount AS total, p.unpriced + c.unpriced AS unpriced
    FROM (SELECT coalesce(sum(2 * CASE t.usdc WHEN h.token_a THEN h.reserve_a WHEN h.token_b THEN h.reserve_b END), 0) AS amount,
        count(*) FILTER (WHERE t.usdc IS NULL OR t.usdc NOT IN (h.token_a, h.token_b)) AS unpriced
      FROM pool AS h) AS p,
      (SELECT coalesce(sum(CASE WHEN k.quoted THEN k.amount ELSE div(k.amount * k.twap_price, 10000000) END), 0) AS amount,
        count(*) FILTER (WHERE k.amount > 0 AND k.twap_price IS NULL AND k.quoted IS NOT TRUE) AS unpriced FROM backing AS k) AS c,
      (SELECT coalesce(sum(h.total_deposits), 0) AS amount
      FROM (SELECT s.key_hash FROM state.stability_pool_state AS s WHERE s.deployment = $1
          UNION
          SELECT h.key_hash FROM history.stability_pool_state AS h WHERE h.deployment = $1 AND h.removed AND h.ledger > $2) AS k,
        LATERAL (SELECT h.total_deposits, h.removed FROM history.stability_pool_state AS h
          WHERE h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
          ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1) AS h
      WHERE NOT h.removed) AS s) AS h
  CROSS JOIN LATERAL (SELECT count(*) AS tokens FROM backing AS k
    WHERE k.amount > 0 AND k.quoted IS NOT TRUE AND chain.moment($1, $2) - k.twap_ts > 600) AS s
-- part: stats_item
