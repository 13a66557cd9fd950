-- 0065_call_xdr: arguments and answers that JSON cannot hold within its limits are kept as XDR.
-- A partition that is being loaded, or is archived, is no child of its table yet: it changes alike.
DO $$
DECLARE
  t record;
BEGIN
  FOR t IN
    SELECT c.oid::regclass AS name, c.relname ~ '^call' AS call
    FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
    WHERE n.nspname = 'chain' AND c.relkind IN ('r', 'p') AND NOT c.relispartition
      AND c.relname ~ '^(call|ledger)(_p[0-9]+_[0-9]+)?$'
  LOOP
    IF t.call THEN
      EXECUTE format('ALTER TABLE %s ALTER args DROP NOT NULL, ADD args_xdr bytea, ADD ret_xdr bytea', t.name);
    ELSE
      EXECUTE format('ALTER TABLE %s ADD raw_calls integer NOT NULL DEFAULT 0', t.name);
      EXECUTE format('ALTER TABLE %s ALTER raw_calls DROP DEFAULT', t.name);
    END IF;
  END LOOP;
END $$;
ALTER TABLE chain.cursor ADD raw_calls bigint NOT NULL DEFAULT 0;

COMMENT ON COLUMN chain.ledger.raw_calls IS 'Calls with arguments or an answer kept as XDR';
COMMENT ON COLUMN chain.call.args IS 'Arguments, null when args_xdr has them; attestations carry a jurisdiction';
COMMENT ON COLUMN chain.call.ret IS 'Answer; null when refused, and when ret_xdr has it';
COMMENT ON COLUMN chain.call.args_xdr IS 'Arguments too long or deep for JSON, as XDR SCVal<>';
COMMENT ON COLUMN chain.call.ret_xdr IS 'Answer too long or deep for JSON, as XDR SCVal';

CREATE OR REPLACE VIEW analyst.calls AS
  SELECT
    c.deployment,
    c.ledger,
    c.tx,
    c.op,
    c.closed_at,
    encode(c.hash, 'hex') AS hash,
    c.source,
    c.contract,
    k.role,
    k.name AS contract_name,
    c.fn,
    CASE WHEN c.fn NOT IN ('attest', 'submit_attestation') THEN c.args END AS args,
    c.ok,
    c.ret AS answer,
    c.events,
    c.changed,
    (ARRAY['verified', 'rewritten', 'unverified'])[c.proof] AS proof,
    CASE WHEN c.fn NOT IN ('attest', 'submit_attestation') THEN c.args_xdr END AS args_xdr,
    c.ret_xdr AS answer_xdr
  FROM chain.call AS c
    LEFT JOIN analyst.contracts AS k ON k.deployment = c.deployment AND k.contract = c.contract;
COMMENT ON COLUMN analyst.calls.args IS 'Arguments; null for attestations, and when args_xdr has them';
COMMENT ON COLUMN analyst.calls.answer IS 'Return value; null when refused, and when answer_xdr has it';
COMMENT ON COLUMN analyst.calls.args_xdr IS 'Arguments too long or deep for JSON, as XDR; null for attestations';
COMMENT ON COLUMN analyst.calls.answer_xdr IS 'Return value too long or deep for JSON, as XDR';

-- As before, without the new columns: they hold what args and ret may.
CREATE OR REPLACE PROCEDURE chain.grant_api()
  LANGUAGE plpgsql
AS $$
DECLARE
  t record;
BEGIN
  FOR t IN
    SELECT n.nspname AS folder, c.relname AS name,
      string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) AS columns
    FROM pg_catalog.pg_class AS c
      JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
      JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    WHERE n.nspname IN ('chain', 'event', 'state', 'history', 'rollup') AND c.relkind IN ('r', 'p', 'v', 'm')
      AND NOT c.relispartition
      AND (n.nspname, c.relname) NOT IN (('chain', 'lease'), ('chain', 'standby'), ('chain', 'attempt'), ('chain', 'migration'))
      AND a.attname NOT IN ('jurisdiction', 'xdr', 'key_xdr', 'value_xdr', 'args_xdr', 'ret_xdr')
      AND NOT (n.nspname = 'chain' AND c.relname LIKE 'call%' AND a.attname IN ('args', 'ret'))
    GROUP BY n.nspname, c.relname
  LOOP
    EXECUTE format('GRANT SELECT (%s) ON %I.%I TO tidemark_api', t.columns, t.folder, t.name);
  END LOOP;
  FOR t IN SELECT nspname AS name FROM pg_catalog.pg_namespace
    WHERE nspname IN ('chain', 'event', 'state', 'history', 'rollup', 'analyst') LOOP
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO tidemark_api', t.name);
  END LOOP;
  GRANT EXECUTE ON FUNCTION analyst.scaled(numeric), analyst.at(numeric), analyst.readable(bytea) TO tidemark_api;
  ALTER ROLE tidemark_api SET default_transaction_read_only = on;
  ALTER ROLE tidemark_api SET statement_timeout = '2s';
  ALTER ROLE tidemark_api SET idle_in_transaction_session_timeout = '60s';
  IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'tidemark_feeder') THEN
    GRANT tidemark_api TO tidemark_feeder;
  END IF;
END $$;
DO $$
BEGIN
  CALL chain.grant_api();
EXCEPTION WHEN insufficient_privilege OR undefined_object THEN
  RAISE WARNING 'the role tidemark_api was not given what is new (%): as a superuser, CALL chain.grant_api()', SQLERRM;
END $$;
