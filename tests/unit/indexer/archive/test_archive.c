/* Files of history archives: names, places that lack a file or give a wrong one, limits.
 * label: threads */
#include "indexer/archive/archive.h"
#include "indexer/archive/record_stream.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define CORPUS TIDE_SOURCE_DIR "/tests/fuzz/corpus/record_stream/"
#define KEY    "scp/00/00/00/scp-0000003f.xdr.gz"

/* --- a web server whose paths name what it does ------------------------------------------- */

struct server {
    int fd;
    uint16_t port;
    pthread_t thread;
    atomic_int asked;
};

static size_t read_corpus(const char *name, char *out, size_t size)
{
    char path[256];
    snprintf(path, sizeof path, CORPUS "%s", name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t len = fread(out, 1, size, file);
    fclose(file);
    return len;
}

static void send_file(int fd, const char *name)
{
    char bytes[8192], head[128];
    size_t len = read_corpus(name, bytes, sizeof bytes);
    snprintf(head, sizeof head, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n", len);
    send(fd, head, strlen(head), MSG_NOSIGNAL);
    send(fd, bytes, len, MSG_NOSIGNAL);
}

static void send_endless(int fd)
{
    static const char head[] = "HTTP/1.1 200 OK\r\n\r\n";
    char block[4096] = { 0 };
    send(fd, head, sizeof head - 1, MSG_NOSIGNAL);
    while (send(fd, block, sizeof block, MSG_NOSIGNAL) > 0)
        ;
}

static void answer_request(struct server *s, int fd, const char *path)
{
    int asked = ++s->asked;
    char byte;
    bool busy = strncmp(path, "/busy/", 6) == 0;
    if (busy && asked == 1)
        send(fd, "HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n", 38, MSG_NOSIGNAL);
    else if (busy || strncmp(path, "/good/", 6) == 0)
        send_file(fd, "packed");
    else if (strncmp(path, "/cut/", 5) == 0)
        send_file(fd, "cut");
    else if (strncmp(path, "/bomb/", 6) == 0)
        send_file(fd, "bomb");
    else if (strncmp(path, "/endless/", 9) == 0)
        send_endless(fd);
    else if (strncmp(path, "/silent/", 8) == 0)
        while (recv(fd, &byte, 1, 0) > 0)
            ;
    else
        send(fd, "HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n", 38, MSG_NOSIGNAL);
}

static void *serve_requests(void *self)
{
    struct server *s = self;
    for (int fd; (fd = accept(s->fd, NULL, NULL)) >= 0; close(fd)) {
        char text[2048];
        ssize_t len = recv(fd, text, sizeof text - 1, 0);
        if (len <= 0)
            continue;
        text[len] = '\0';
        answer_request(s, fd, strchr(text, ' ') + 1);
    }
    return NULL;
}

static void start_server(struct server *s)
{
    struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t len = sizeof a;
    *s = (struct server){ .fd = socket(AF_INET, SOCK_STREAM, 0) };
    assert_true(s->fd >= 0);
    assert_int_equal(bind(s->fd, (struct sockaddr *)&a, sizeof a), 0);
    assert_int_equal(listen(s->fd, 8), 0);
    assert_int_equal(getsockname(s->fd, (struct sockaddr *)&a, &len), 0);
    s->port = ntohs(a.sin_port);
    assert_int_equal(pthread_create(&s->thread, NULL, serve_requests, s), 0);
}

static void stop_server(struct server *s)
{
    shutdown(s->fd, SHUT_RDWR);
    pthread_join(s->thread, NULL);
    close(s->fd);
}

/* --- a sink that counts records ----------------------------------------------------------- */

struct seen {
    struct record_stream stream;
    unsigned records, begun, ended;
    unsigned refusals; /* so many attempts are refused at their end */
    bool blind;        /* bytes are taken without a look */
    bool stop;
    unsigned enough; /* records after which the rest is not needed; 0: all are */
};

static tide_status note_record(void *self, tide_slice record, struct tide_err *err)
{
    struct seen *s = self;
    (void)record, (void)err;
    s->records++;
    return TIDE_OK;
}

static tide_status sink_begin(void *self, struct tide_err *err)
{
    struct seen *s = self;
    (void)err;
    record_stream_reset(&s->stream);
    s->records = 0;
    s->begun++;
    return TIDE_OK;
}

static tide_status sink_bytes(void *self, tide_slice piece, struct tide_err *err)
{
    struct seen *s = self;
    return s->blind ? TIDE_OK : record_stream_push(&s->stream, piece, err);
}

static bool sink_enough(void *self)
{
    const struct seen *s = self;
    return s->enough && s->records >= s->enough;
}

static tide_status sink_end(void *self, struct tide_err *err)
{
    struct seen *s = self;
    tide_status status = sink_enough(s) ? TIDE_OK : record_stream_end(&s->stream, err);
    if (!status && ++s->ended <= s->refusals)
        status = tide_fail(err, TIDE_E_CHAIN, "refused by the test");
    return status;
}

static bool is_stopping(void *self)
{
    return ((struct seen *)self)->stop;
}

static struct tide_config make_config(void)
{
    struct tide_config c;
    tide_config_defaults(&c);
    c.http_tries = 2;
    c.retry_ms_max = 1;
    c.http_timeout_ms = 60000;
    return c;
}

static const struct archive_limits usual = { .packed_max = 1 << 20, .unpacked_max = 8 << 20 };

/* Reads KEY from places, in which "%u" is the server's port. */
static tide_status read_key(const char *places, const struct archive_limits *limits, struct seen *s,
                            struct tide_err *err)
{
    struct tide_config config = make_config();
    struct archive *archive = NULL;
    const struct archive_options options = { places, &config, is_stopping, s };
    *err = (struct tide_err){ 0 };
    assert_int_equal(archive_open(&archive, &options, err), TIDE_OK);
    record_stream_init(&s->stream, 4 << 20, note_record, s);
    const struct archive_sink sink = { sink_begin, sink_bytes, sink_end, s, sink_enough };
    tide_status status = archive_read(archive, KEY, limits, &sink, err);
    assert_true(status == TIDE_OK || (err->code == status && *err->text));
    record_stream_release(&s->stream);
    archive_close(archive);
    return status;
}

/* --- tests -------------------------------------------------------------------------------- */

static void names_are_those_of_core(void **state)
{
    (void)state;
    char key[ARCHIVE_KEY_MAX];
    uint8_t hash[TIDE_HASH_BYTES];
    archive_file_key(key, ARCHIVE_STATE, 63);
    assert_string_equal(key, "history/00/00/00/history-0000003f.json");
    archive_file_key(key, ARCHIVE_SCP, 0x016f8f3f);
    assert_string_equal(key, "scp/01/6f/8f/scp-016f8f3f.xdr.gz");
    memset(hash, 0xab, sizeof hash);
    archive_bucket_key(key, hash);
    assert_string_equal(key, "bucket/ab/ab/ab/bucket-abababababababababababababababababababababab"
                             "abababababababababab.xdr.gz");
}

static void places_are_checked(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "",          ",",
        "/nowhere",  "ftp://host",
        "http://",   "https://user:secret@host/",
        "/tmp,",     "http://host/?key=secret",
        "/dev/null", "/tmp,/tmp,/tmp,/tmp,/tmp,/tmp,/tmp,/tmp,/tmp",
    };
    struct tide_config config = make_config();
    for (size_t i = 0; i < TIDE_COUNT(wrong); i++) {
        struct archive *archive = NULL;
        struct tide_err err = { 0 };
        const struct archive_options options = { wrong[i], &config, NULL, NULL };
        assert_int_equal(archive_open(&archive, &options, &err), TIDE_E_CONFIG);
        assert_null(archive);
        assert_null(strstr(err.text, "secret"));
    }
    struct archive *archive = NULL;
    struct tide_err err;
    const struct archive_options options = { "/tmp/, file:///tmp ,http://h/a//", &config, NULL,
                                             NULL };
    assert_int_equal(archive_open(&archive, &options, &err), TIDE_OK);
    archive_close(archive);
}

/* Writes a corpus file as KEY into a new folder. */
static void make_folder(char folder[64], const char *name)
{
    char path[160], bytes[8192];
    snprintf(folder, 64, "/tmp/archive.XXXXXX");
    assert_non_null(mkdtemp(folder));
    static const char *const below[] = { "scp", "scp/00", "scp/00/00", "scp/00/00/00" };
    for (size_t i = 0; i < TIDE_COUNT(below); i++) {
        snprintf(path, sizeof path, "%s/%s", folder, below[i]);
        assert_int_equal(mkdir(path, 0700), 0);
    }
    snprintf(path, sizeof path, "%s/" KEY, folder);
    size_t len = read_corpus(name, bytes, sizeof bytes);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    fclose(file);
}

static void remove_folder(const char *folder)
{
    char path[160];
    static const char *const below[] = { KEY, "scp/00/00/00", "scp/00/00", "scp/00", "scp", "" };
    for (size_t i = 0; i < TIDE_COUNT(below); i++) {
        snprintf(path, sizeof path, "%s/%s", folder, below[i]);
        assert_int_equal(remove(path), 0);
    }
}

static void a_folder_is_read(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        tide_status status;
        unsigned records;
    } cases[] = {
        { "packed", TIDE_OK, 3 },      { "two_members", TIDE_OK, 4 }, /* as gzip -d reads it */
        { "cut", TIDE_E_DECODE, 3 },   { "trailing", TIDE_E_DECODE, 0 },
        { "plain", TIDE_E_DECODE, 0 }, /* not gzip */
        { "bomb", TIDE_E_DECODE, 0 },  /* within the limits; no record */
    };
    for (size_t i = 0; i < TIDE_COUNT(cases); i++) {
        char folder[64];
        struct seen s = { 0 };
        struct tide_err err;
        make_folder(folder, cases[i].file);
        if (read_key(folder, &usual, &s, &err) != cases[i].status || s.records != cases[i].records)
            fail_msg("%s: %u records, %s", cases[i].file, s.records, err.text);
        remove_folder(folder);
    }
}

static void the_next_place_is_asked(void **state)
{
    (void)state;
    static const struct {
        const char *places;
        tide_status status;
        int asked;
        unsigned refusals; /* copies that the sink refuses */
    } cases[] = {
        { "http://127.0.0.1:%u/good", TIDE_OK, 1, 0 },
        { "http://127.0.0.1:%u/none", TIDE_E_MISSING, 1, 0 },
        { "http://127.0.0.1:%u/none,http://127.0.0.1:%u/good", TIDE_OK, 2, 0 },
        { "http://127.0.0.1:%u/cut,http://127.0.0.1:%u/good", TIDE_OK, 2, 0 },
        { "http://127.0.0.1:%u/cut,http://127.0.0.1:%u/none", TIDE_E_DECODE, 2, 0 },
        { "http://127.0.0.1:%u/good,http://127.0.0.1:%u/good", TIDE_OK, 2, 1 },
        { "http://127.0.0.1:%u/good,http://127.0.0.1:%u/none", TIDE_E_CHAIN, 2, 1 },
        { "http://127.0.0.1:%u/busy", TIDE_OK, 2, 0 }, /* asked again */
    };
    for (size_t i = 0; i < TIDE_COUNT(cases); i++) {
        struct server server;
        char places[256];
        struct seen s = { .refusals = cases[i].refusals };
        struct tide_err err;
        start_server(&server);
        const char *comma = strchr(cases[i].places, ',');
        int len = snprintf(places, sizeof places, "http://127.0.0.1:%u%.*s", server.port,
                           (int)strcspn(cases[i].places + 19, ","), cases[i].places + 19);
        if (comma)
            snprintf(places + len, sizeof places - (size_t)len, ",http://127.0.0.1:%u%s",
                     server.port, comma + 20);
        tide_status status = read_key(places, &usual, &s, &err);
        if (status != cases[i].status || server.asked != cases[i].asked)
            fail_msg("%s: %s, asked %d times", cases[i].places, err.text, server.asked);
        stop_server(&server);
    }
}

/* The bytes behind what is needed may be damaged, or never come. */
static void the_rest_of_a_file_may_be_left(void **state)
{
    (void)state;
    char folder[64], place[64];
    struct tide_err err;
    struct seen s = { .enough = 2 }, rest = { .enough = 4 };
    struct server server;
    make_folder(folder, "cut");
    assert_int_equal(read_key(folder, &usual, &s, &err), TIDE_OK);
    assert_int_equal(s.ended, 1);
    assert_int_equal(read_key(folder, &usual, &rest, &err), TIDE_E_DECODE);
    remove_folder(folder);
    start_server(&server);
    snprintf(place, sizeof place, "http://127.0.0.1:%u/cut", server.port);
    s = (struct seen){ .enough = 2 };
    assert_int_equal(read_key(place, &usual, &s, &err), TIDE_OK);
    assert_int_equal(s.ended, 1);
    stop_server(&server);
}

static void every_limit_holds(void **state)
{
    (void)state;
    enum { MIB = 1 << 20 };
    static const struct {
        const char *path;
        struct archive_limits limits;
        tide_status status;
    } cases[] = {
        { "good", { 10, MIB, 0, 0 }, TIDE_E_LIMIT },
        { "good", { MIB, 10, 0, 0 }, TIDE_E_LIMIT },
        { "bomb", { MIB, MIB, 0, 0 }, TIDE_E_LIMIT },
        { "bomb", { MIB, 64 * MIB, 0, 0 }, TIDE_OK },
        { "bomb", { MIB, 64 * MIB, 200, 0 }, TIDE_E_LIMIT }, /* 1 000 times */
        { "endless", { MIB, MIB, 0, 0 }, TIDE_E_DECODE },
        { "silent", { MIB, MIB, 0, 50 }, TIDE_E_IO },
    };
    for (size_t i = 0; i < TIDE_COUNT(cases); i++) {
        struct server server;
        char place[64];
        struct seen s = { .blind = true };
        struct tide_err err;
        start_server(&server);
        snprintf(place, sizeof place, "http://127.0.0.1:%u/%s", server.port, cases[i].path);
        if (read_key(place, &cases[i].limits, &s, &err) != cases[i].status)
            fail_msg("case %zu, %s: %s", i, cases[i].path, err.text);
        stop_server(&server);
    }
}

static void a_stop_ends_a_read(void **state)
{
    (void)state;
    struct server server;
    char place[64];
    struct seen s = { .stop = true };
    struct tide_err err;
    start_server(&server);
    snprintf(place, sizeof place, "http://127.0.0.1:%u/silent", server.port);
    assert_int_equal(read_key(place, &usual, &s, &err), TIDE_E_STOPPED);
    stop_server(&server);
}

int test_archive(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_those_of_core),
        cmocka_unit_test(places_are_checked),
        cmocka_unit_test(a_folder_is_read),
        cmocka_unit_test(the_next_place_is_asked),
        cmocka_unit_test(the_rest_of_a_file_may_be_left),
        cmocka_unit_test(every_limit_holds),
        cmocka_unit_test(a_stop_ends_a_read),
    };
    return cmocka_run_group_tests_name("archive", tests, NULL, NULL);
}
