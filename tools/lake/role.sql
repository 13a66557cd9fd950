-- The login of a lake's writer: it reads the analyst's views, and the event kinds as the API's role does, without
-- jurisdictions and without arguments of calls. It can write nothing. A superuser runs this once. The limit has room
-- for two writers and for two sessions that PostgreSQL has not ended yet: a session ends after its process.
CREATE ROLE lake LOGIN IN ROLE tidemark_analyst, tidemark_api CONNECTION LIMIT 4;
ALTER ROLE lake SET default_transaction_read_only = on;
