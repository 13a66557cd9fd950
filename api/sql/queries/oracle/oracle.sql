-- one: deployment at
-- none: the oracle is not there yet
-- tag: Oracle
-- summary: The oracle
-- about: How it is set up: administrator, quorum, window of the average.
-- answer: Oracle
--   contract       Address   the contract
--   admin          Address?  its administrator; null: it is not initialised
--   dao            Address?  the DAO it obeys
--   providerCount  Count     number of providers
--   minProviders   Count     observations that a round needs
--   twapWindow     U64?      seconds of the time-weighted average; null: as admin
--   changedLedger  Ledger    in which this was last written
--   changedAt      Time      when that ledger closed
-- example: {"contract":"CCSCMC6LQREPSMR2BXOKDLU2KNQUQTAYJA4XQXGGNQRJ5AVV4V4MI2HJ",
--   "admin":"GBQRQ7HNYZBVGQEXWTRCWJQXX7V2DNXMD5D4EJJMWBZPQBMA6AY4OLBT",
--   "dao":"CA7IGEQGO7ZOUQMNFDRX2PYOAAOZR7BFQ3V3OERO6YVTTJKXXZU5ZSKZ", "providerCount":5, "minProviders":3,
--   "twapWindow":"3600", "changedLedger":"1390", "changedAt":"2026-01-27T14:32:32Z"}
--
-- How the oracle is set up.
SELECT row_to_json(x)::text
FROM (
    SELECT s.key_hash FROM state.oracle_instance AS s WHERE s.deployment = $1
    UNION
    SELECT h.key_hash FROM history.oracle_instance AS h WHERE h.deployment = $1 AND h.removed AND h.ledger > $2
  ) AS k, LATERAL (
    SELECT s.contract, s.admin, s.dao, s.provider_count, s.twap_window, s.min_providers, s.ledger, s.closed_at,
      false AS removed FROM state.oracle_instance AS s
    WHERE $2::integer = 2147483647 AND s.deployment = $1::smallint AND s.key_hash = k.key_hash
    UNION ALL
    (SELECT h.contract, h.admin, h.dao, h.provider_count, h.twap_window, h.min_providers, h.ledger, h.closed_at,
      h.removed FROM history.oracle_instance AS h
    WHERE $2::integer < 2147483647 AND h.deployment = $1 AND h.key_hash = k.key_hash AND h.ledger <= $2
    ORDER BY h.ledger DESC, h.tx DESC, h.seq DESC LIMIT 1)
  ) AS v, LATERAL (SELECT
    v.contract AS "contract",
    v.admin AS "admin",
    v.dao AS "dao",
    coalesce(v.provider_count, 0) AS "providerCount",
    coalesce(v.min_providers, 3) AS "minProviders",
    v.twap_window::text AS "twapWindow",
    v.ledger::text AS "changedLedger",
    chain.rfc3339(v.closed_at) AS "changedAt"
  ) AS x
WHERE NOT v.removed
LIMIT 1
