/* Build tool: writes the migration of the tables of ledger rows to standard output. */
#include "tidemark/table.h"

int main(void)
{
    tide_tables_write_sql(stdout);
    return fflush(stdout) != 0 || ferror(stdout);
}
