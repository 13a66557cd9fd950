-- 0046_archive: old events, calls and transactions may leave the tables, and come back.
--
-- A range leaves as whole partitions (chain.partition). Ledgers, state, history and rollups stay:
-- what is true now, or was as of any ledger, and sums over time need no events. What does need
-- them refuses and names the range.

CREATE TABLE chain.archive (
    deployment  smallint    NOT NULL REFERENCES chain.deployment,
    from_ledger integer     NOT NULL,
    end_ledger  integer     NOT NULL,
    tables      text[]      NOT NULL,
    detached_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (deployment, from_ledger)
);
COMMENT ON TABLE chain.archive IS 'ranges of ledger whose events, calls and transactions are detached';
COMMENT ON COLUMN chain.archive.deployment IS 'Deployment, see chain.deployment';
COMMENT ON COLUMN chain.archive.from_ledger IS 'First ledger of the partition';
COMMENT ON COLUMN chain.archive.end_ledger IS 'The ledger after its last';
COMMENT ON COLUMN chain.archive.tables IS 'The tables that hold the rows: dump them, then they may be dropped; restored, they are attached again';
COMMENT ON COLUMN chain.archive.detached_at IS 'When';

-- Readers may look for days behind the newest ledger (a day of trade): that much stays.
CREATE PROCEDURE chain.detach_partition(deployment smallint, from_ledger integer)
  LANGUAGE plpgsql SET lock_timeout = '5s'
AS $$
#variable_conflict use_variable
DECLARE
  part chain.partition;
  leaf record;
  leaves text[] := '{}';
BEGIN
  SELECT p.* INTO part FROM chain.partition AS p
    WHERE p.deployment = detach_partition.deployment AND p.from_ledger = detach_partition.from_ledger AND p.attached;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'deployment % has no partition that begins with ledger %', deployment, from_ledger
      USING HINT = 'chain.partition lists them';
  END IF;
  IF EXISTS (SELECT FROM chain.archive AS a WHERE a.deployment = part.deployment AND a.from_ledger = part.from_ledger) THEN
    RAISE EXCEPTION 'ledgers % to % are detached already', part.from_ledger, part.end_ledger - 1;
  END IF;
  IF NOT EXISTS (SELECT FROM chain.coverage AS v WHERE v.deployment = part.deployment
      AND v.from_ledger < part.end_ledger AND v.to_ledger >= part.end_ledger
      AND (v.from_ledger <= part.from_ledger OR NOT EXISTS (SELECT FROM chain.coverage AS o
        WHERE o.deployment = v.deployment AND o.to_ledger >= part.from_ledger AND o.to_ledger < v.from_ledger)))
    OR (SELECT max(l.closed_at) > c.closed_at - interval '2 days' FROM chain.cursor AS c JOIN chain.ledger AS l
      ON l.deployment = c.deployment AND l.ledger = part.end_ledger - 1 WHERE c.deployment = part.deployment GROUP BY c.closed_at) THEN
    RAISE EXCEPTION 'ledgers % to % are not indexed up to their end without a gap, or closed less than two days before the newest',
      part.from_ledger, part.end_ledger - 1;
  END IF;
  FOR leaf IN
    SELECT i.inhparent::regclass AS parent, format('%I.%I', n.nspname, c.relname) AS name
    FROM pg_catalog.pg_inherits AS i
      JOIN pg_catalog.pg_class AS c ON c.oid = i.inhrelid
      JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
      JOIN pg_catalog.pg_class AS p ON p.oid = i.inhparent
    WHERE c.relkind = 'r' AND (n.nspname = 'event' OR n.nspname = 'chain' AND p.relname IN ('tx', 'call'))
      AND c.relname = format('%s_p%s_%s', p.relname, part.deployment, part.from_ledger)
    ORDER BY 2
  LOOP
    EXECUTE format('ALTER TABLE %s DETACH PARTITION %s', leaf.parent, leaf.name);
    leaves := leaves || leaf.name;
  END LOOP;
  INSERT INTO chain.archive (deployment, from_ledger, end_ledger, tables)
    VALUES (part.deployment, part.from_ledger, part.end_ledger, leaves);
END $$;
COMMENT ON PROCEDURE chain.detach_partition(smallint, integer) IS 'takes the events, calls and transactions of a partition out of the tables';

CREATE PROCEDURE chain.attach_partition(deployment smallint, from_ledger integer)
  LANGUAGE plpgsql SET lock_timeout = '5s'
AS $$
#variable_conflict use_variable
DECLARE
  part chain.archive;
  leaf text;
BEGIN
  DELETE FROM chain.archive AS a
    WHERE a.deployment = attach_partition.deployment AND a.from_ledger = attach_partition.from_ledger RETURNING a.* INTO part;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'nothing of deployment % that begins with ledger % is detached', deployment, from_ledger
      USING HINT = 'chain.archive lists what is';
  END IF;
  FOREACH leaf IN ARRAY part.tables LOOP
    IF to_regclass(leaf) IS NULL THEN
      RAISE EXCEPTION 'the table % is not there: restore it first', leaf;
    END IF;
    EXECUTE format('ALTER TABLE %s ATTACH PARTITION %s FOR VALUES FROM (%s, %s) TO (%s, %s)',
      regexp_replace(leaf, '_p\d+_\d+(?="?$)', ''), leaf, part.deployment, part.from_ledger, part.deployment, part.end_ledger);
  END LOOP;
END $$;
COMMENT ON PROCEDURE chain.attach_partition(smallint, integer) IS 'takes back what chain.detach_partition took out';
REVOKE ALL ON PROCEDURE chain.detach_partition(smallint, integer), chain.attach_partition(smallint, integer) FROM PUBLIC;

CREATE VIEW analyst.archived AS
  SELECT a.deployment, a.from_ledger, a.end_ledger - 1 AS to_ledger, a.detached_at
  FROM chain.archive AS a;
COMMENT ON VIEW analyst.archived IS 'Ranges of ledger whose events, calls and transactions are archived: views of these leave them out';
COMMENT ON COLUMN analyst.archived.deployment IS 'Deployment: one set of contracts on one network';
COMMENT ON COLUMN analyst.archived.from_ledger IS 'First ledger of the range';
COMMENT ON COLUMN analyst.archived.to_ledger IS 'Last ledger of the range';
COMMENT ON COLUMN analyst.archived.detached_at IS 'When it was taken out';

DO $$
BEGIN
  CALL chain.grant_api();
  CALL analyst.grant_access();
EXCEPTION WHEN insufficient_privilege OR undefined_object THEN
  RAISE WARNING 'tidemark_api and tidemark_analyst were not given what is new (%): as a superuser, CALL chain.grant_api() and CALL analyst.grant_access()', SQLERRM;
END $$;
