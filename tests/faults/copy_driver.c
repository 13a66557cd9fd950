/* copy_driver: sends several COPY statements to a server at once and checks how they end.
 *
 * The program exits with 0 when all cases hold, else it names the case that does not. The
 * database is TIDEMARK_DATABASE_URL. The program makes the tables a and b there, each with a key
 * column n. */
#include "indexer/base/copy.h"
#include "tidemark/pg.h"

#include <stdio.h>
#include <stdlib.h>

static struct tide_err err;
static struct tide_pg *pg;

static void check_case(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "copy_driver: %s: %s\n", what, err.text);
    exit(1);
}

static void run_sql(const char *sql)
{
    check_case(tide_pg_run(pg, sql, NULL, &err) == TIDE_OK, sql);
}

static uint64_t count_rows(const char *table)
{
    char sql[64];
    struct tide_pg_rows rows;
    snprintf(sql, sizeof sql, "SELECT count(*) FROM public.%s", table);
    check_case(tide_pg_query(pg, &rows, sql, NULL, 0, &err) == TIDE_OK, sql);
    uint64_t n = tide_pg_u64(&rows, 0, 0);
    tide_pg_rows_release(&rows);
    return n;
}

/* Copies the numbers in [first, end) as rows. Returns the status of the statement. */
static tide_status copy_numbers(const char *what, uint32_t first, uint32_t end, uint64_t said)
{
    struct tide_buf rows;
    tide_buf_init(&rows, 1u << 24);
    for (uint32_t n = first; n < end; n++) {
        tide_copy_row(&rows, 1);
        tide_copy_int4(&rows, (int32_t)n);
    }
    tide_status status = tide_pg_copy_put(pg, what, tide_buf_view(&rows), said, &err);
    tide_buf_release(&rows);
    return status;
}

#define BOTH "COPY public.a FROM STDIN (FORMAT binary); COPY public.b FROM STDIN (FORMAT binary)"

static void begin_copy(void)
{
    run_sql("BEGIN");
    check_case(tide_pg_copy_open(pg, BOTH, &err) == TIDE_OK, "open");
}

/* The rows are more than a socket buffer holds, so the second statement waits until the server
 * takes the first. */
static void both_arrive(void)
{
    begin_copy();
    check_case(copy_numbers("a", 0, 300000, 300000) == TIDE_OK, "a");
    check_case(copy_numbers("b", 0, 2, 2) == TIDE_OK, "b");
    check_case(tide_pg_copy_close(pg, &err) == TIDE_OK, "close");
    run_sql("COMMIT");
    check_case(count_rows("a") == 300000 && count_rows("b") == 2, "not all rows arrived");
}

static void another_count_fails(void)
{
    begin_copy();
    check_case(copy_numbers("a", 300000, 300001, 2) == TIDE_OK, "a is not answered yet");
    check_case(copy_numbers("b", 2, 3, 1) == TIDE_E_DB_FATAL && strstr(err.text, "a: 1 rows of 2"),
               "a's count");
    check_case(tide_pg_copy_close(pg, &err) == TIDE_OK, "close reports a again");
    run_sql("ROLLBACK");
    begin_copy();
    check_case(copy_numbers("a", 300000, 300001, 1) == TIDE_OK &&
                   copy_numbers("b", 2, 3, 3) == TIDE_OK,
               "both");
    check_case(tide_pg_copy_close(pg, &err) == TIDE_E_DB_FATAL &&
                   strstr(err.text, "b: 1 rows of 3"),
               "b's count");
    run_sql("ROLLBACK");
}

static void a_failure_names_its_rows(void)
{
    begin_copy();
    check_case(copy_numbers("a", 0, 1, 1) == TIDE_OK, "a is not answered yet");
    check_case(copy_numbers("b", 2, 3, 1) == TIDE_E_DB_FATAL &&
                   strstr(err.text, "database: a: 23505"),
               "a's key");
    check_case(strcmp(tide_pg_sqlstate(pg), "23505") == 0, "its state");
    check_case(tide_pg_copy_close(pg, &err) == TIDE_OK, "close reports a again");
    check_case(strcmp(tide_pg_sqlstate(pg), "23505") == 0, "its state is lost");
    run_sql("ROLLBACK");
}

static void rows_that_do_not_come_are_a_failure(void)
{
    begin_copy();
    check_case(copy_numbers("a", 300000, 300001, 1) == TIDE_OK, "a");
    check_case(tide_pg_copy_close(pg, &err) == TIDE_E_DB_FATAL,
               "b did not come, and nothing is said");
    run_sql("ROLLBACK");
    begin_copy();
    check_case(tide_pg_copy_close(pg, &err) == TIDE_E_DB_FATAL,
               "nothing came, and nothing is said");
    run_sql("ROLLBACK");
}

/* The first statement names a table that does not exist. */
static void a_statement_that_is_refused(void)
{
    run_sql("BEGIN");
    check_case(tide_pg_copy_open(pg, "COPY public.none FROM STDIN (FORMAT binary)", &err) ==
                   TIDE_OK,
               "open");
    check_case(copy_numbers("none", 0, 1, 1) != TIDE_OK &&
                   strcmp(tide_pg_sqlstate(pg), "42P01") == 0,
               "none");
    check_case(tide_pg_copy_close(pg, &err) == TIDE_OK, "close");
    run_sql("ROLLBACK");
}

int main(void)
{
    const struct tide_pg_options to = { .conninfo = getenv("TIDEMARK_DATABASE_URL"),
                                        .application = "copy_driver" };
    check_case(tide_pg_open(&pg, &to, &err) == TIDE_OK, "connect");
    run_sql(
        "CREATE TABLE public.a (n integer PRIMARY KEY); CREATE TABLE public.b (n integer PRIMARY "
        "KEY)");
    both_arrive();
    another_count_fails();
    a_failure_names_its_rows();
    rows_that_do_not_come_are_a_failure();
    a_statement_that_is_refused();
    check_case(count_rows("a") == 300000 && count_rows("b") == 2, "what was rolled back is there");
    tide_pg_close(pg);
    return 0;
}
