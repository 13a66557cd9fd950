/* words_driver: tests the dictionary of stored words on a database with the schema.
 *
 * The driver replaces the words of encoded rows by keys, looks each key up by its id, and
 * expects the word. It exits with 0 when all cases hold, else it names the case that does not.
 * The database is TIDEMARK_DATABASE_URL. */
#include "indexer/base/copy.h"
#include "indexer/database/words.h"
#include "tidemark/xdr.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { MANY = 70000, PAIRS = 40, PAIR_WORDS = 300 };

static const struct tide_table stored = { .schema = "event_rows",
                                          .name = "thing",
                                          .column_count = 4,
                                          .columns = {
                                              { .name = "n", .type = TIDE_PG_INT4 },
                                              { "word", TIDE_PG_INT4, .nullable = true },
                                              { "again", TIDE_PG_INT4, .nullable = true },
                                              { "none", TIDE_PG_INT4, .nullable = true } } };
static const struct tide_table table = { .schema = "event",
                                         .name = "thing",
                                         .column_count = 2,
                                         .stored = &stored,
                                         .columns = { { .name = "n", .type = TIDE_PG_INT4 },
                                                      { "word", TIDE_PG_TEXT, .nullable = true,
                                                        .keyed = true, .slot = 1, .also = 2 } } };

static _Thread_local struct tide_err err;

static void must(tide_status status, const char *what)
{
    if (status == TIDE_OK)
        return;
    fprintf(stderr, "words_driver: %s: %s\n", what, err.text);
    exit(1);
}

static void check_case(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "words_driver: %s\n", what);
    exit(1);
}

static struct tide_pg *connect_to(void)
{
    struct tide_pg *pg = NULL;
    const struct tide_pg_options to = { .conninfo = getenv("TIDEMARK_DATABASE_URL"),
                                        .application = "words_driver" };
    must(tide_pg_open(&pg, &to, &err), "connect");
    return pg;
}

/* Appends a row, which stores its word twice; NULL writes NULL. */
static void put_row(struct tide_buf *rows, const char *word)
{
    size_t len = word ? strlen(word) : 0;
    tide_copy_row(rows, 2);
    tide_copy_int4(rows, 7);
    if (word)
        tide_copy_bytes(rows, word, len);
    else
        tide_copy_null(rows);
}

/* Reads the next key of rows written by put_row; 0 stands for NULL. */
static uint32_t key_at(const struct tide_buf *rows, size_t *at)
{
    uint32_t len = tide_be32(rows->ptr + *at);
    *at += 4 + (len == UINT32_MAX ? 0 : len);
    return len == UINT32_MAX ? 0 : tide_be32(rows->ptr + *at - 4);
}

static void check_key(struct tide_pg *pg, uint32_t key, const char *word)
{
    char text[16];
    struct tide_pg_rows rows = { 0 };
    snprintf(text, sizeof text, "%u", key);
    must(tide_pg_query(pg, &rows, "SELECT word, chain.word_key(word) FROM chain.word WHERE id = $1",
                       (const char *[]){ text }, 1, &err),
         "look up");
    check_case(rows.count == 1 && strcmp(tide_pg_text(&rows, 0, 0), word) == 0,
               "a key of another word");
    check_case(tide_pg_u64(&rows, 0, 1) == key, "chain.word_key differs");
    tide_pg_rows_release(&rows);
}

static void check_rows(struct tide_pg *pg, const struct tide_buf *rows, const char *const *words,
                       size_t count)
{
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        check_case(rows->ptr[at] == 0 && rows->ptr[at + 1] == 4, "not four columns");
        at += 2 + 8; /* count of columns, n */
        uint32_t word = key_at(rows, &at), first = key_at(rows, &at), second = key_at(rows, &at);
        check_case(word == first && second == 0, "columns differ");
        if (words[i])
            check_key(pg, word, words[i]);
        else
            check_case(word == 0, "a key for no word");
    }
    check_case(at == rows->len, "more than was read");
}

/* Stores one row for each word, within the caller's transaction. */
static void store_words(struct tide_words *words, struct tide_pg *pg, const char *const *list,
                        size_t count, bool check_them)
{
    struct tide_buf rows, keyed;
    tide_buf_init(&rows, 1u << 30);
    tide_buf_init(&keyed, 1u << 30);
    for (size_t i = 0; i < count; i++)
        put_row(&rows, list[i]);
    tide_words_begin(words);
    must(tide_words_read(words, 3, &table, tide_buf_view(&rows), &err), "read");
    if (tide_words_missing(words))
        must(tide_words_ask(words, pg, &err), "ask");
    const struct tide_words_rows read = { 3, &table, tide_buf_view(&rows), NULL };
    must(tide_words_put(words, &read, NULL, &keyed, &err), "put");
    if (check_them)
        check_rows(pg, &keyed, list, count);
    tide_buf_release(&rows);
    tide_buf_release(&keyed);
}

static void run_sql(struct tide_pg *pg, const char *sql)
{
    must(tide_pg_run(pg, sql, NULL, &err), sql);
}

/* ---- cases ---- */

static const char *const odd[] = {
    "GA4RK4BOMNWPUFC56N5XVK6SPI6BBXGRWNYE6KOGA4UO2NPYSEEWEBU2",
    "MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVAAAAAAAAAAAAAJLK",
    "BAAD6DBUX6J22DMZOHIEZTEQ64CVCHEDRKWZONFEUL5Q26QD7R76RGR4TU", "x", "_09azAZ", "", NULL,
    "a \"quoted\" word, with {braces} and \\ backslashes", "NULL", "\xe2\x82\xac\xf0\x9f\x9b\xa2",
    /* longer than the words that the writer keeps in memory */
    "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890"
};

static void odd_words_come_back(struct tide_pg *pg)
{
    struct tide_words *words;
    must(tide_words_open(&words, &err), "open");
    for (int again = 0; again < 2; again++) {
        run_sql(pg, "BEGIN");
        store_words(words, pg, odd, TIDE_COUNT(odd), true);
        run_sql(pg, "COMMIT");
    }
    tide_words_close(words);
}

static void what_is_rolled_back_is_forgotten(struct tide_pg *pg)
{
    static const char *const list[] = { "rolled back", "and back" };
    struct tide_words *words;
    must(tide_words_open(&words, &err), "open");
    run_sql(pg, "BEGIN");
    store_words(words, pg, list, 2, true);
    run_sql(pg, "ROLLBACK");
    tide_words_forget(words);
    run_sql(pg, "BEGIN");
    store_words(words, pg, list, 2, true);
    run_sql(pg, "COMMIT");
    store_words(words, pg, list, 2, true); /* from what is kept */
    check_case(!tide_words_missing(words), "a word that was just used is not kept");
    tide_words_close(words);
}

/* A transaction stores more words than the writer keeps in memory, twice. */
static void more_than_are_kept(struct tide_pg *pg)
{
    static char texts[MANY][16];
    static const char *list[MANY];
    struct tide_words *words;
    must(tide_words_open(&words, &err), "open");
    for (size_t i = 0; i < MANY; i++) {
        snprintf(texts[i], sizeof texts[i], "many %zu", i);
        list[i] = texts[i];
    }
    for (int again = 0; again < 2; again++) {
        run_sql(pg, "BEGIN");
        store_words(words, pg, list, MANY, false);
        store_words(words, pg, list + MANY - 50, 50, true);
        run_sql(pg, "COMMIT");
    }
    tide_words_close(words);
}

static pthread_barrier_t both;

/* Two threads store the same new words in opposite orders. Each waits for the other at most
 * once. */
static void *load_pairs(void *arg)
{
    const bool backwards = *(const bool *)arg;
    struct tide_pg *pg = connect_to();
    struct tide_words *words;
    char texts[PAIR_WORDS][32];
    const char *list[PAIR_WORDS];
    must(tide_words_open(&words, &err), "open");
    for (uint32_t round = 0; round < PAIRS; round++) {
        for (uint32_t i = 0; i < PAIR_WORDS; i++) {
            snprintf(texts[i], sizeof texts[i], "pair %u word %u", round, i);
            list[backwards ? PAIR_WORDS - 1 - i : i] = texts[i];
        }
        pthread_barrier_wait(&both);
        run_sql(pg, "BEGIN");
        store_words(words, pg, list, PAIR_WORDS, round % 8 == 0);
        run_sql(pg, "COMMIT");
    }
    tide_words_close(words);
    tide_pg_close(pg);
    return NULL;
}

static void two_loaders_add_the_same(void)
{
    bool backwards[2] = { false, true };
    pthread_t threads[2];
    check_case(pthread_barrier_init(&both, NULL, 2) == 0, "barrier");
    for (int i = 0; i < 2; i++)
        check_case(pthread_create(&threads[i], NULL, load_pairs, &backwards[i]) == 0, "thread");
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&both);
}

int main(void)
{
    struct tide_pg *pg = connect_to();
    odd_words_come_back(pg);
    what_is_rolled_back_is_forgotten(pg);
    more_than_are_kept(pg);
    two_loaders_add_the_same();
    tide_pg_close(pg);
    puts("ok");
    return 0;
}
