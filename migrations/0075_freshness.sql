-- 0075_freshness: when the indexer of a deployment was last heard of, for the processes that answer from what
-- it wrote. Its lease says it while there is one; after it was given back, the last heartbeat or commit.
CREATE VIEW chain.freshness AS
SELECT c.deployment, coalesce(l.renewed_at, greatest(h.beat_at, c.moved_at)) AS renewed_at
FROM chain.cursor AS c LEFT JOIN chain.lease AS l ON l.deployment = c.deployment
  LEFT JOIN chain.heartbeat AS h ON h.deployment = c.deployment;
COMMENT ON VIEW chain.freshness IS 'the indexer''s last sign of life, by the primary''s clock: how old the rows of a deployment may be';

DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'tidemark_api') THEN
    GRANT SELECT ON chain.freshness TO tidemark_api;
  END IF;
  IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'tidemark_feeder') THEN
    GRANT SELECT ON chain.freshness TO tidemark_feeder;
  END IF;
EXCEPTION WHEN insufficient_privilege THEN
  RAISE NOTICE 'roles are not granted chain.freshness: CALL chain.grant_feeder(), chain.grant_api() as a superuser';
END $$;
