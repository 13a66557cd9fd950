/* The decoder on the recorded chains of the real contracts: each call and event is there with the
 * counts that the host reported, no row is raw, and the size of batches changes nothing. Skipped
 * where the recordings are absent. */
#include "tests/unit/indexer/decode/decode_fixture.h"

#include "indexer/source/source.h"
#include "tidemark/catalogue.h"
#include "tidemark/text.h"
#include "tidemark/zstd.h"

#include <stdio.h>
#include <unistd.h>

struct chain {
    char folder[256];
    struct tide_deployment *deployment;
    struct tide_decode *decode;
    struct tide_batch batch;
    struct tide_buf text; /* a file's lines */
    /* sums over batches */
    uint64_t rows[TIDE_TABLES_MAX];
    uint64_t calls_equal, calls, ledgers;
    struct tide_batch_counts counts;
    tide_slice calls_left; /* lines of calls.jsonl still to come */
};

static bool find_shared(char *out, size_t size)
{
    static const char *const places[] = { "../shared", "../../shared" };
    const char *given = getenv("TIDE_SHARED");
    for (size_t i = 0; i < 3; i++) {
        const char *place = i == 0 ? given : places[i - 1];
        if (!place)
            continue;
        snprintf(out, size, "%s/fixtures/protocol", place);
        if (access(out, R_OK) == 0)
            return true;
    }
    return false;
}

static void read_lines(struct chain *c, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", c->folder, name);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    static uint8_t packed[1 << 20], plain[1 << 16];
    size_t len = fread(packed, 1, sizeof packed, f);
    assert_true(len > 0 && len < sizeof packed);
    fclose(f);
    struct tide_unzstd *z;
    assert_int_equal(tide_unzstd_open(&z), TIDE_OK);
    tide_slice in = tide_slice_of(packed, len);
    tide_buf_reset(&c->text);
    const char *what;
    for (size_t made = 1; in.len || made;) {
        assert_int_equal(tide_unzstd_read(z, &in, plain, sizeof plain, &made, &what), TIDE_OK);
        tide_buf_put(&c->text, plain, made);
    }
    tide_unzstd_close(z);
}

static tide_slice take_line(tide_slice *at)
{
    const uint8_t *end = memchr(at->ptr, '\n', at->len);
    assert_non_null(end);
    tide_slice line = tide_slice_of(at->ptr, (size_t)(end - at->ptr));
    *at = tide_slice_of(end + 1, at->len - line.len - 1);
    return line;
}

/* Returns the number after the last "key": of a line. These keys do not occur in args. */
static int64_t number_in(tide_slice line, const char *key, bool last)
{
    char quoted[32];
    size_t len = (size_t)snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const uint8_t *at = NULL;
    for (size_t i = 0; i + len < line.len && (last || !at); i++)
        if (memcmp(line.ptr + i, quoted, len) == 0)
            at = line.ptr + i + len;
    assert_non_null(at);
    int64_t n = 0;
    for (; at && *at >= '0' && *at <= '9'; at++)
        n = n * 10 + (*at - '0');
    return n;
}

static bool has(tide_slice line, const char *text)
{
    return memmem(line.ptr, line.len, text, strlen(text)) != NULL;
}

/* Compares each row of chain.call with the next recorded call. */
static void compare_calls(struct chain *c)
{
    tide_slice at = tide_buf_view(&c->batch.rows[TIDE_TABLE_CALL].copy);
    struct row row;
    while (next_row(&at, TIDE_TABLE_CALL, &row)) {
        tide_slice line = take_line(&c->calls_left);
        c->calls++;
        assert_int_equal(cell_int(&row, "ledger"), number_in(line, "ledger", false));
        assert_int_equal(cell_int(&row, "tx"), number_in(line, "tx", false));
        assert_int_equal(cell_int(&row, "events"), number_in(line, "events", true));
        assert_int_equal(cell_int(&row, "changed"), number_in(line, "changed", true));
        assert_int_equal(cell_int(&row, "ok"), has(line, "\"ok\":true"));
        char wanted[256], hex[65] = { 0 };
        tide_hex(hex, cell(&row, "hash"));
        assert_true(has(line, hex));
        if (is_null(&row, "fn"))
            snprintf(wanted, sizeof wanted, "\"fn\":null");
        else
            snprintf(wanted, sizeof wanted, "\"fn\":\"%.*s\"", TIDE_SLICE_FMT(cell(&row, "fn")));
        assert_true(has(line, wanted));
        snprintf(wanted, sizeof wanted, "\"contract\":\"%.*s\"",
                 TIDE_SLICE_FMT(cell(&row, "contract")));
        assert_true(has(line, wanted));
        snprintf(wanted, sizeof wanted, "\"source\":\"%.*s\"",
                 TIDE_SLICE_FMT(cell(&row, "source")));
        assert_true(has(line, wanted));
        c->calls_equal++;
    }
}

static void end_batch(struct chain *c)
{
    uint32_t tables;
    tide_tables(&tables);
    tide_decode_batch_end(c->decode, &c->batch);
    for (uint32_t t = 0; t < tables; t++) {
        tide_slice at = tide_buf_view(&c->batch.rows[t].copy);
        struct row row;
        uint64_t count = 0;
        while (next_row(&at, t, &row))
            count++;
        assert_int_equal(count, c->batch.rows[t].count);
        c->rows[t] += count;
    }
    compare_calls(c);
    c->ledgers += c->batch.counts.ledgers;
    c->counts.events += c->batch.counts.events;
    c->counts.calls_verified += c->batch.counts.calls_verified;
    c->counts.calls_unverified += c->batch.counts.calls_unverified;
    tide_batch_reset(&c->batch);
}

static void index_chain(struct chain *c, uint32_t ledgers_per_batch, enum tide_proof proof)
{
    static struct tide_config config;
    struct tide_err err;
    tide_config_defaults(&config);
    snprintf(config.lake, sizeof config.lake, "%s/lake", c->folder);
    struct tide_source source;
    const struct tide_source_options source_options = { .config = &config };
    if (tide_source_open(&source, &source_options, &err))
        fail_msg("%s", err.text);
    const struct tide_decode_options options = { .deployment = c->deployment,
                                                 .proof = proof,
                                                 .with_log = true };
    assert_int_equal(tide_decode_open(&c->decode, &options, &err), TIDE_OK);
    memset(c->rows, 0, sizeof c->rows);
    c->counts = (struct tide_batch_counts){ 0 };
    c->calls = c->calls_equal = c->ledgers = 0;
    read_lines(c, "calls.jsonl.zst");
    c->calls_left = tide_buf_view(&c->text);
    assert_int_equal(source.ops->seek(source.self, c->deployment->first_ledger,
                                      c->deployment->last_ledger, &err),
                     TIDE_OK);
    for (;;) {
        tide_slice lcm;
        uint32_t sequence;
        tide_status status = source.ops->next(source.self, &lcm, &sequence, &err);
        if (status == TIDE_E_EOF)
            break;
        if (status || tide_decode_ledger(c->decode, &c->batch, lcm, &err))
            fail_msg("%s", err.text);
        if (c->batch.to - c->batch.from + 1 == ledgers_per_batch)
            end_batch(c);
        if (sequence == c->deployment->last_ledger)
            break;
    }
    end_batch(c);
    source.ops->close(source.self);
    tide_decode_close(c->decode);
    assert_int_equal(c->calls_left.len, 0);
}

/* Compares the rows of event.* of each role with the lines of events.jsonl. */
static void compare_events(struct chain *c)
{
    uint64_t by_role[TIDE_ROLE_COUNT] = { 0 }, found[TIDE_ROLE_COUNT] = { 0 }, lines = 0;
    read_lines(c, "events.jsonl.zst");
    for (tide_slice at = tide_buf_view(&c->text); at.len; lines++) {
        tide_slice line = take_line(&at);
        for (uint32_t role = 0; role < TIDE_ROLE_COUNT; role++) {
            char wanted[96];
            snprintf(wanted, sizeof wanted, "\"role\":\"%s\"",
                     tide_role_name((enum tide_role)role));
            by_role[role] += has(line, wanted);
        }
        by_role[TIDE_ROLE_stellar_asset] +=
            has(line, "\"role\":\"usdc\"") || has(line, "\"role\":\"xlm\"");
    }
    for (uint32_t i = 0; i < TIDE_EV_COUNT; i++)
        found[tide_events()[i].role] += c->rows[tide_events()[i].table];
    for (uint32_t role = 0; role < TIDE_ROLE_COUNT; role++)
        assert_int_equal(found[role], by_role[role]);
    assert_int_equal(c->rows[TIDE_TABLE_EVENT_LOG], lines);
    assert_int_equal(c->counts.events, lines);
}

static void check_chain(const char *name, uint64_t calls)
{
    struct chain *c = calloc(1, sizeof *c);
    assert_non_null(c);
    char shared[200];
    assert_true(find_shared(shared, sizeof shared));
    snprintf(c->folder, sizeof c->folder, "%s/%s", shared, name);
    tide_batch_init(&c->batch);
    tide_buf_init(&c->text, 64 << 20);
    char path[512];
    struct tide_err err;
    snprintf(path, sizeof path, "%s/deployment.json", c->folder);
    assert_int_equal(tide_deployment_read(&c->deployment, path, &err), TIDE_OK);

    index_chain(c, 64, TIDE_PROOF_EVENTS);
    assert_int_equal(c->calls, calls);
    assert_int_equal(c->calls_equal, calls);
    assert_int_equal(c->ledgers, c->deployment->last_ledger - c->deployment->first_ledger + 1);
    assert_int_equal(c->rows[TIDE_TABLE_EVENT_RAW], 0);
    assert_int_equal(c->rows[TIDE_TABLE_HISTORY_RAW], 0);
    assert_int_equal(c->rows[TIDE_TABLE_STATE_RAW], 0);
    assert_int_equal(c->counts.calls_unverified, 0);
    assert_true(c->counts.calls_verified > calls / 2);
    compare_events(c);

    uint64_t first[TIDE_TABLES_MAX];
    uint32_t tables;
    const struct tide_table *all = tide_tables(&tables);
    memcpy(first, c->rows, sizeof first);
    index_chain(c, 1, TIDE_PROOF_CHAIN); /* equal except state */
    for (uint32_t t = 0; t < tables; t++) {
        if (all[t].kind == TIDE_TABLE_STATE)
            assert_true(c->rows[t] >= first[t] && c->rows[t] <= c->rows[all[t].pair]);
        else
            assert_int_equal(c->rows[t], first[t]);
    }
    free(c->deployment);
    tide_batch_release(&c->batch);
    tide_buf_release(&c->text);
    free(c);
}

static void chain_a(void **state)
{
    (void)state;
    check_chain("a", 1500);
}

static void chain_b(void **state)
{
    (void)state;
    check_chain("b", 2820);
}

int test_decode_protocol(void)
{
    char shared[200];
    if (!find_shared(shared, sizeof shared)) {
        puts("skipped: no ../shared/fixtures/protocol");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chain_a),
        cmocka_unit_test(chain_b),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
