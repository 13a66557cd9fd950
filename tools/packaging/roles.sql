-- The roles that the daemons, the operator and analysts log in as. A superuser runs this before the
-- first start, and again after an upgrade if its migration asks for it: psql -f roles.sql
--
-- A role may change its own settings (ALTER ROLE). The script therefore resets all settings of each role and
-- sets them again. Make settings of your own after it.
--
-- The script calls no function that the owner of the tables could have written. The migrations grant the roles
-- their rights in the database. They run as that owner, who needs no right over other roles.
\set ON_ERROR_STOP on
BEGIN;
DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['tidemark_indexer', 'tidemark_feeder', 'tidemark_api', 'tidemark_kyc', 'tidemark_attester',
                              'tidemark_console', 'tidemark_analyst'] LOOP
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = name) THEN
      EXECUTE format('CREATE ROLE %I LOGIN', name);
    END IF;
    EXECUTE format('ALTER ROLE %I NOSUPERUSER NOCREATEROLE NOCREATEDB NOREPLICATION NOBYPASSRLS', name);
    EXECUTE format('ALTER ROLE %I RESET ALL', name);
  END LOOP;
END $$;

ALTER ROLE tidemark_feeder SET default_transaction_read_only = 'on';
ALTER ROLE tidemark_feeder SET idle_in_transaction_session_timeout = '60s';
ALTER ROLE tidemark_api SET default_transaction_read_only = 'on';
ALTER ROLE tidemark_api SET statement_timeout = '2s';
ALTER ROLE tidemark_api SET idle_in_transaction_session_timeout = '60s';
ALTER ROLE tidemark_console SET statement_timeout = '10s';
ALTER ROLE tidemark_console SET idle_in_transaction_session_timeout = '60s';
ALTER ROLE tidemark_analyst SET default_transaction_read_only = 'on';
ALTER ROLE tidemark_analyst SET statement_timeout = '60s';
ALTER ROLE tidemark_analyst SET idle_in_transaction_session_timeout = '60s';
ALTER ROLE tidemark_analyst SET search_path = 'analyst';
-- Only a superuser may change this setting. The indexer has no limit, because it sorts to build indexes.
ALTER ROLE tidemark_feeder SET temp_file_limit = '1GB';
ALTER ROLE tidemark_api SET temp_file_limit = '1GB';
ALTER ROLE tidemark_kyc SET temp_file_limit = '1GB';
ALTER ROLE tidemark_attester SET temp_file_limit = '1GB';
ALTER ROLE tidemark_console SET temp_file_limit = '1GB';
ALTER ROLE tidemark_analyst SET temp_file_limit = '8GB';
-- The limits add up to less than max_connections, so that the indexer can always connect.
ALTER ROLE tidemark_feeder CONNECTION LIMIT 40;
ALTER ROLE tidemark_api CONNECTION LIMIT 8;
ALTER ROLE tidemark_kyc CONNECTION LIMIT 16;
ALTER ROLE tidemark_attester CONNECTION LIMIT 8;
ALTER ROLE tidemark_console CONNECTION LIMIT 8;
ALTER ROLE tidemark_analyst CONNECTION LIMIT 16;
SET LOCAL client_min_messages = warning; -- no notice if the role is a member already
GRANT tidemark_api TO tidemark_feeder; -- SQL routes run as tidemark_api
COMMIT;
