-- The login of a lake's writer: it reads the analyst's views, and the event kinds as the API's role does, without
-- jurisdictions and without arguments of calls. It can write nothing. A superuser runs this once.
CREATE ROLE lake LOGIN IN ROLE tidemark_analyst, tidemark_api CONNECTION LIMIT 2;
ALTER ROLE lake SET default_transaction_read_only = on;
