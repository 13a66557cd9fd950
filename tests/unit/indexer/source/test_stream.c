/* Framed streams: files and pipes, plain and zstd, and every way in which they can end wrongly. */
#include "tests/unit/indexer/source/lake_fixture.h"

#include <unistd.h>

static void put_record(struct tide_buf *out, uint32_t sequence, uint32_t pad)
{
    struct tide_buf one;
    tide_buf_init(&one, 4u << 20);
    put_ledger(&one, sequence, pad);
    tide_buf_be32(out, 0x80000000u | (uint32_t)one.len);
    tide_buf_slice(out, tide_buf_view(&one));
    tide_buf_release(&one);
}

struct fixture {
    char folder[64];
    struct tide_config config;
    struct tide_source_options options;
    struct tide_source source;
    struct tide_buf bytes;
    struct tide_err err;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    make_folder(f->folder);
    tide_config_defaults(&f->config);
    snprintf(f->config.stream, sizeof f->config.stream, "%s/stream", f->folder);
    f->options.config = &f->config;
    tide_buf_init(&f->bytes, 16u << 20);
    *state = f;
    return 0;
}

static void close_stream(struct fixture *f)
{
    if (f->source.ops)
        f->source.ops->close(f->source.self);
    f->source.ops = NULL;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    close_stream(f);
    remove_folder(f->folder);
    tide_buf_release(&f->bytes);
    free(f);
    return 0;
}

static void open_stream(struct fixture *f, uint32_t first, uint32_t last)
{
    close_stream(f);
    if (tide_source_open(&f->source, &f->options, &f->err) ||
        f->source.ops->seek(f->source.self, first, last, &f->err))
        fail_msg("%s", f->err.text);
}

static void expect_drain(struct fixture *f, tide_status want, uint32_t count, uint32_t last)
{
    uint32_t got = 0, got_last = 0;
    tide_status status = drain(&f->source, &got, &got_last, &f->err);
    if (status != want || got != count || (count && got_last != last))
        fail_msg("status %s, %u ledgers to %u: %s", tide_status_name(status), got, got_last,
                 f->err.text);
}

static void plain_and_packed_give_the_same(void **state)
{
    struct fixture *f = *state;
    for (uint32_t s = 7; s < 47; s++)
        put_record(&f->bytes, s, s % 5 == 0 ? 20000 : 1);
    write_file(f->folder, "stream", tide_buf_view(&f->bytes));
    open_stream(f, 0, 0);
    expect_drain(f, TIDE_E_EOF, 40, 46);
    assert_true(f->source.ops->finite(f->source.self));
    assert_int_equal(f->source.ops->seek(f->source.self, 20, 22, &f->err), TIDE_OK);
    expect_drain(f, TIDE_E_EOF, 3, 22);
    assert_true(f->source.ops->finite(f->source.self));
    write_packed(f->folder, "stream", tide_buf_view(&f->bytes));
    open_stream(f, 8, 0);
    expect_drain(f, TIDE_E_EOF, 39, 46);
    open_stream(f, 6, 0);
    expect_drain(f, TIDE_E_MISSING, 0, 0);
}

static void a_stream_cut_anywhere_is_refused(void **state)
{
    struct fixture *f = *state;
    put_record(&f->bytes, 7, 1);
    size_t first = f->bytes.len;
    put_record(&f->bytes, 8, 1);
    for (size_t len = 1; len < f->bytes.len; len += len < first + 8 && len > first - 8 ? 1 : 13) {
        write_file(f->folder, "stream", tide_slice_of(f->bytes.ptr, len));
        open_stream(f, 0, 0);
        expect_drain(f, len == first ? TIDE_E_EOF : TIDE_E_DECODE, len >= first, 7);
    }
    struct tide_buf packed;
    tide_buf_init(&packed, 1u << 20);
    assert_int_equal(tide_zstd_compress(&packed, tide_buf_view(&f->bytes), 1), TIDE_OK);
    for (size_t len = 4; len < packed.len; len++) {
        write_file(f->folder, "stream", tide_slice_of(packed.ptr, len));
        open_stream(f, 0, 0);
        uint32_t count = 0, last = 0;
        assert_int_equal(drain(&f->source, &count, &last, &f->err), TIDE_E_DECODE);
    }
    tide_buf_release(&packed);
}

static void what_does_not_follow_is_refused(void **state)
{
    struct fixture *f = *state;
    put_record(&f->bytes, 7, 1);
    size_t one = f->bytes.len;
    put_record(&f->bytes, 9, 1);
    write_file(f->folder, "stream", tide_buf_view(&f->bytes));
    open_stream(f, 0, 0);
    expect_drain(f, TIDE_E_CHAIN, 1, 7);
    assert_non_null(strstr(f->err.text, "ledger 9 follows 7"));
    f->bytes.len = one;
    tide_buf_str(&f->bytes, "abcdefgh");
    write_file(f->folder, "stream", tide_buf_view(&f->bytes));
    open_stream(f, 0, 0);
    expect_drain(f, TIDE_E_DECODE, 1, 7);
    assert_non_null(strstr(f->err.text, "no record mark"));
    f->bytes.len = one;
    tide_buf_be32(&f->bytes, 0xffffffff);
    write_file(f->folder, "stream", tide_buf_view(&f->bytes));
    open_stream(f, 0, 0);
    expect_drain(f, TIDE_E_LIMIT, 1, 7);
    f->bytes.len = one;
    tide_buf_be32(&f->bytes, 0x80000008);
    tide_buf_str(&f->bytes, "abcdefgh");
    write_file(f->folder, "stream", tide_buf_view(&f->bytes));
    open_stream(f, 0, 0);
    expect_drain(f, TIDE_E_DECODE, 1, 7);
}

static void a_pipe_waits_for_its_writer(void **state)
{
    struct fixture *f = *state;
    int ends[2], was = dup(STDIN_FILENO);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    snprintf(f->config.stream, sizeof f->config.stream, "-");
    open_stream(f, 0, 0);
    put_record(&f->bytes, 7, 1);
    put_record(&f->bytes, 8, 1);
    size_t half = f->bytes.len - 100;
    expect_drain(f, TIDE_E_EOF, 0, 0);
    assert_false(f->source.ops->finite(f->source.self));
    assert_int_equal(write(ends[1], f->bytes.ptr, half), half);
    expect_drain(f, TIDE_E_EOF, 1, 7);
    assert_false(f->source.ops->finite(f->source.self));
    assert_int_equal(write(ends[1], f->bytes.ptr + half, 100), 100);
    close(ends[1]);
    expect_drain(f, TIDE_E_EOF, 1, 8);
    assert_true(f->source.ops->finite(f->source.self));
    assert_int_equal(f->source.ops->seek(f->source.self, 7, 0, &f->err), TIDE_E_IO);
    dup2(was, STDIN_FILENO);
    close(was);
    close(ends[0]);
}

struct slow_writer {
    int fd;
    tide_slice rest;
    uint32_t polls;
};

/* The stream asks this after each poll: the writer goes on after three that found nothing. */
static bool write_late(void *self)
{
    struct slow_writer *w = self;
    if (++w->polls == 4) {
        assert_int_equal(write(w->fd, w->rest.ptr, w->rest.len), w->rest.len);
        close(w->fd);
    }
    return false;
}

/* A caller that wants the end gets it, however long the writer of the pipe pauses. */
static void a_pause_is_no_end(void **state)
{
    struct fixture *f = *state;
    int ends[2], was = dup(STDIN_FILENO);
    put_record(&f->bytes, 7, 1);
    size_t one = f->bytes.len;
    put_record(&f->bytes, 8, 1);
    for (int to_a_ledger = 0; to_a_ledger < 2; to_a_ledger++) {
        assert_int_equal(pipe(ends), 0);
        assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
        struct slow_writer w = { ends[1], tide_slice_of(f->bytes.ptr + one, f->bytes.len - one),
                                 0 };
        f->options.stopping = write_late;
        f->options.stopping_self = &w;
        f->config.stop_at_end = !to_a_ledger;
        snprintf(f->config.stream, sizeof f->config.stream, "-");
        open_stream(f, 0, to_a_ledger ? 8 : 0);
        assert_int_equal(write(ends[1], f->bytes.ptr, one), one);
        expect_drain(f, TIDE_E_EOF, 2, 8);
        assert_true(f->source.ops->finite(f->source.self));
        close_stream(f);
        close(ends[0]);
    }
    dup2(was, STDIN_FILENO);
    close(was);
}

/* The last ledger counts as the newest if the pipe is empty after it. A pipe that holds bytes, even
 * half a record, has more to come. A file never reaches a tip. */
static void the_newest_is_what_came_last(void **state)
{
    struct fixture *f = *state;
    int ends[2], was = dup(STDIN_FILENO);
    tide_slice lcm;
    uint32_t sequence;
    put_record(&f->bytes, 7, 1);
    size_t one = f->bytes.len;
    put_record(&f->bytes, 8, 1);
    write_file(f->folder, "stream", tide_buf_view(&f->bytes));
    open_stream(f, 0, 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(f->source.ops->next(f->source.self, &lcm, &sequence, &f->err), TIDE_OK);
        assert_false(f->source.ops->newest(f->source.self));
    }
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    snprintf(f->config.stream, sizeof f->config.stream, "-");
    open_stream(f, 0, 0);
    assert_int_equal(write(ends[1], f->bytes.ptr, one + 9), one + 9);
    assert_int_equal(f->source.ops->next(f->source.self, &lcm, &sequence, &f->err), TIDE_OK);
    assert_false(f->source.ops->newest(f->source.self));
    assert_int_equal(write(ends[1], f->bytes.ptr + one + 9, f->bytes.len - one - 9),
                     f->bytes.len - one - 9);
    assert_int_equal(f->source.ops->next(f->source.self, &lcm, &sequence, &f->err), TIDE_OK);
    assert_int_equal(sequence, 8);
    assert_true(f->source.ops->newest(f->source.self));
    dup2(was, STDIN_FILENO);
    close(was);
    close(ends[0]);
    close(ends[1]);
}

#define STREAM_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int test_stream(void)
{
    const struct CMUnitTest tests[] = {
        STREAM_TEST(plain_and_packed_give_the_same),
        STREAM_TEST(a_stream_cut_anywhere_is_refused),
        STREAM_TEST(what_does_not_follow_is_refused),
        STREAM_TEST(a_pipe_waits_for_its_writer),
        STREAM_TEST(a_pause_is_no_end),
        STREAM_TEST(the_newest_is_what_came_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
