-- x: the fields of a "price" message, from a version p of a feed.
  LATERAL (SELECT p.asset, p.latest_price::text AS "latestPrice", analyst.scaled(p.latest_price, 7)::text AS "latestPriceScaled",
    chain.rfc3339(analyst.at(p.latest_ts)) AS "latestAt", p.twap_price::text AS "twapPrice",
    analyst.scaled(p.twap_price, 7)::text AS "twapPriceScaled", chain.rfc3339(analyst.at(p.twap_ts)) AS "twapAt",
    p.observation_count AS "observationCount") AS x
