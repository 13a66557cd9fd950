/* The .sql files of schema/reader/, which schema/statements.py binds. $1 is the deployment. */
#ifndef SCHEMA_READER_READER_SQL_H
#define SCHEMA_READER_READER_SQL_H

extern const char reader_sql_end_of_feeds[], reader_sql_vaults[], reader_sql_stability[],
    reader_sql_saving[];

#endif
