-- A person's login: it reads the analyst's views, and makes tables and views in a schema of its own name. It can write nothing
-- else. A superuser runs this once for each person, in the index's database:
--
--   psql -d tidemark -v analyst=ada -f role.sql
--
-- PostgreSQL limits no role's disk space: give the tables a tablespace on a volume of their own with
-- ALTER ROLE ada SET default_tablespace, and GRANT CREATE ON TABLESPACE.
\set ON_ERROR_STOP on
BEGIN;
CREATE ROLE :"analyst" LOGIN IN ROLE tidemark_analyst CONNECTION LIMIT 4;
ALTER ROLE :"analyst" SET statement_timeout = '10min';
ALTER ROLE :"analyst" SET idle_in_transaction_session_timeout = '60s';
ALTER ROLE :"analyst" SET temp_file_limit = '8GB';
ALTER ROLE :"analyst" SET search_path = :"analyst", analyst;
CREATE SCHEMA :"analyst" AUTHORIZATION :"analyst";
COMMIT;
