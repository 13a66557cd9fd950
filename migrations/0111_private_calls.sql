-- 0090 gave tidemark_api the arguments and answers that are kept as XDR: an attestation's name a jurisdiction.
CREATE OR REPLACE PROCEDURE chain.grant_api()
  LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  t record;
BEGIN
  FOR t IN
    SELECT n.nspname AS folder, c.relname AS name,
      string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) AS columns
    FROM pg_class AS c
      JOIN pg_namespace AS n ON n.oid = c.relnamespace
      JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    WHERE n.nspname IN ('chain', 'event', 'state', 'history', 'rollup') AND c.relkind IN ('r', 'p', 'v', 'm')
      AND NOT c.relispartition
      AND (n.nspname, c.relname) NOT IN (('chain', 'lease'), ('chain', 'standby'), ('chain', 'attempt'), ('chain', 'migration'))
      AND a.attname NOT IN ('jurisdiction', 'xdr', 'key_xdr', 'value_xdr', 'args_xdr', 'ret_xdr')
      AND NOT (n.nspname = 'chain' AND c.relname LIKE 'call%' AND a.attname IN ('args', 'ret'))
    GROUP BY n.nspname, c.relname
  LOOP
    EXECUTE format('GRANT SELECT (%s) ON %I.%I TO tidemark_api', t.columns, t.folder, t.name);
  END LOOP;
  FOR t IN SELECT nspname AS name FROM pg_namespace
    WHERE nspname IN ('chain', 'event', 'state', 'history', 'rollup', 'analyst') LOOP
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO tidemark_api', t.name);
  END LOOP;
  GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA analyst, chain TO tidemark_api;
  CALL chain.set_role('tidemark_api', ARRAY['default_transaction_read_only=on', 'statement_timeout=2s',
    'idle_in_transaction_session_timeout=60s']);
  IF to_regrole('tidemark_feeder') IS NOT NULL AND NOT pg_has_role('tidemark_feeder', 'tidemark_api', 'MEMBER') THEN
    GRANT tidemark_api TO tidemark_feeder;
  END IF;
END $$;

DO $$
BEGIN
  REVOKE SELECT (args_xdr, ret_xdr) ON chain.call FROM tidemark_api;
EXCEPTION WHEN insufficient_privilege OR undefined_object THEN
  RAISE WARNING 'tidemark_api may still read chain.call.args_xdr and ret_xdr (%): as the owner, REVOKE SELECT (args_xdr, ret_xdr) ON chain.call FROM tidemark_api', SQLERRM;
END $$;

-- The queue of notifications is the whole server's, and any login of it can fill it. Its listeners look by themselves too.
CREATE OR REPLACE FUNCTION kyc.tell() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF pg_notification_queue_usage() < 0.5 THEN
    PERFORM pg_notify('tidemark_' || TG_TABLE_NAME, '');
  END IF;
  RETURN NULL;
END $$;
