/* perf latency: time from the last byte of a ledger until another session of PostgreSQL sees it.
 *
 * ours   the program itself, `tidemark-indexer run --stream -`, which reads the ledger from its
 *        standard input. The clock starts before the last bytes of the frame are written, so the
 *        program cannot have the whole ledger earlier.
 * peer   a process that has decoded and encoded the same ledger before and waits for one byte. It
 *        then commits the rows with the same writer, by the same statements. The clock starts
 *        before that byte is written.
 * both   The clock stops when a third session, woken by the commit's NOTIFY, has read the
 *        ledger's row. Ours and peer take turns ledger by ledger, never at the same time; every
 *        ledger changes which one is first. Each has its own database on one server.
 * share  the time of decoding with proofs, measured on the same ledgers in this process. A second
 *        pass over the ledger, now in the cache, splits it into parts: the walk alone (decode),
 *        the decoder without proofs minus the walk (encode), the rest of the decoder with
 *        proofs (verify). */
#include "perf.h"
#include "ratio.h"

#include "indexer/decode/batch.h"
#include "indexer/decode/decode.h"
#include "indexer/write/writer.h"
#include "tidemark/config.h"
#include "tidemark/limits.h"
#include "tidemark/meta.h"
#include "tidemark/text.h"

#include <libpq-fe.h>

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* LAST_BYTES: bytes written after the clock starts */
enum { LEDGERS_MAX = 100000, PATIENCE_MS = 60000, LAST_BYTES = 4096 };

/* ---- frames ---- */

/* The framed stream of ledgers, read one at a time. */
struct frames {
    FILE *file;
    uint8_t *bytes; /* length mark and ledger; owned */
    size_t len;     /* bytes of both */
};

/* Ends the program with that text. */
_Noreturn static void die(const char *what)
{
    struct tide_err err;
    tide_fail(&err, TIDE_E_IO, "%s", what);
    perf_die("latency", &err);
}

/* Opens the stream; ends the program if it cannot. */
static void frames_open(struct frames *f, const char *path)
{
    f->file = fopen(path, "rb");
    f->bytes = malloc(4 + (size_t)TIDE_LEDGER_BYTES_MAX);
    if (!f->file || !f->bytes)
        die(path);
}

/* Reads the next frame. Returns its ledger, which is valid until the next call. Ends the program if
 * the stream holds no whole frame. */
static tide_slice frames_next(struct frames *f)
{
    if (fread(f->bytes, 1, 4, f->file) != 4)
        die("the stream holds fewer ledgers than LEDGERS + WARM");
    uint32_t len = tide_be32(f->bytes) & 0x7fffffffu;
    if (len > TIDE_LEDGER_BYTES_MAX || fread(f->bytes + 4, 1, len, f->file) != len)
        die("the stream ends within a ledger");
    f->len = 4 + (size_t)len;
    return tide_slice_of(f->bytes + 4, len);
}

static void frames_close(struct frames *f)
{
    fclose(f->file);
    free(f->bytes);
}

/* ---- the arguments ---- */

/* The command line: paths of stream and deployment, connection strings of the two databases, and
 * how many ledgers to measure after how many to warm up. */
struct plan {
    const char *stream, *deployment, *ours, *peer;
    uint32_t ledgers, warm;
};

/* Callback of sources and writers: never asks them to stop. */
static bool never(void *self)
{
    (void)self;
    return false;
}

static struct tide_deployment *read_deployment(const struct plan *plan)
{
    struct tide_deployment *deployment = NULL;
    struct tide_err err;
    if (tide_deployment_read(&deployment, plan->deployment, &err) != TIDE_OK)
        perf_die("deployment", &err);
    deployment->id = 1; /* the identifier that an empty database assigns */
    return deployment;
}

static struct tide_decode *open_decoder(const struct tide_deployment *deployment,
                                        enum tide_proof proof)
{
    struct tide_decode *decode = NULL;
    struct tide_err err;
    const struct tide_decode_options options = { .deployment = deployment,
                                                 .proof = proof,
                                                 .discovered_max = 128 };
    if (tide_decode_open(&decode, &options, &err) != TIDE_OK)
        perf_die("decode", &err);
    return decode;
}

/* Decodes one ledger into batch, which is emptied first. */
static void decode_batch(struct tide_decode *decode, struct tide_batch *batch, tide_slice lcm)
{
    struct tide_err err;
    tide_batch_reset(batch);
    if (tide_decode_ledger(decode, batch, lcm, &err) != TIDE_OK)
        perf_die("decode", &err);
    tide_decode_batch_end(decode, batch);
}

/* Writes all bytes. Ends the program if the reader of the pipe has ended. */
static void write_all(int fd, const void *bytes, size_t len)
{
    const char *at = bytes;
    while (len) {
        ssize_t n = write(fd, at, len);
        if (n <= 0)
            die("a child process ended before the last ledger");
        at += n;
        len -= (size_t)n;
    }
}

/* ---- the peer ---- */

/* A child process, and the pipes to its standard input and from it. */
struct child {
    pid_t pid;
    int to, from;
};

/* Opens the peer's writer with the options that the indexer uses by default. */
static struct tide_writer *peer_writer(const struct plan *plan, struct tide_deployment *deployment)
{
    static struct tide_config config;
    uint32_t count;
    struct tide_err err;
    struct tide_writer *writer = NULL;
    tide_config_defaults(&config);
    const struct tide_writer_options options = { .conninfo = plan->peer,
                                                 .tables = tide_tables(&count),
                                                 .table_count = count,
                                                 .deployment = deployment,
                                                 .partition_ledgers = 1000000,
                                                 .array_bytes = (size_t)config.array_kib << 10,
                                                 .standby_poll_ms = 1000,
                                                 .retry_ms_max = 1000,
                                                 .stopped = never };
    if (tide_writer_open(&writer, &options, &err) != TIDE_OK)
        perf_die("peer", &err);
    return writer;
}

/* The peer's main loop. Writes "r" when the next ledger's rows are encoded, and commits them when a
 * byte arrives. Ends at the end of the input. */
static void peer_work(const struct plan *plan, int in, int out)
{
    static struct tide_batch batch;
    struct frames frames;
    struct tide_err err;
    struct tide_deployment *deployment = read_deployment(plan);
    struct tide_writer *writer = peer_writer(plan, deployment);
    struct tide_decode *decode = open_decoder(deployment, TIDE_PROOF_EVENTS);
    frames_open(&frames, plan->stream);
    tide_batch_init(&batch);
    for (uint32_t i = 0; i < plan->warm + plan->ledgers; i++) {
        char byte;
        decode_batch(decode, &batch, frames_next(&frames));
        write_all(out, "r", 1);
        if (read(in, &byte, 1) != 1)
            break;
        tide_status status = tide_writer_commit(writer, &batch, &err);
        if (status == TIDE_OK)
            status = tide_writer_finish(writer, &err);
        if (status == TIDE_OK)
            status = tide_writer_ahead(writer, batch.to, &err);
        if (status != TIDE_OK)
            perf_die("peer", &err);
    }
    tide_batch_release(&batch);
    tide_decode_close(decode);
    tide_writer_close(writer);
    frames_close(&frames);
    free(deployment);
}

/* Forks. Returns the child in the parent; in the child, pid is 0 and the pipes' ends are
 * swapped. */
static struct child fork_child(void)
{
    int down[2], up[2];
    if (pipe(down) != 0 || pipe(up) != 0)
        die("pipe");
    struct child child = { .pid = fork(), .to = down[1], .from = up[0] };
    if (child.pid < 0)
        die("fork");
    if (child.pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* the kernel kills the child if the bench ends early */
        close(down[1]);
        close(up[0]);
        child.to = up[1];
        child.from = down[0];
        return child;
    }
    close(down[0]);
    close(up[1]);
    return child;
}

static struct child start_peer(const struct plan *plan)
{
    struct child child = fork_child();
    if (child.pid == 0) {
        peer_work(plan, child.from, child.to);
        _exit(0);
    }
    return child;
}

/* Starts tidemark-indexer, which lies in the same folder as this program. */
static struct child start_ours(const struct plan *plan)
{
    char path[4096];
    ssize_t len = readlink("/proc/self/exe", path, sizeof path - 32);
    struct child child = fork_child();
    if (child.pid)
        return child;
    path[len > 0 ? len : 0] = 0;
    char *name = strrchr(path, '/');
    if (name)
        memcpy(name + 1, "tidemark-indexer", sizeof "tidemark-indexer");
    dup2(child.from, STDIN_FILENO);
    close(child.to);
    execl(path, path, "run", "--stream", "-", "--deployment", plan->deployment, "--database-url",
          plan->ours, "--log-level", "warn", (char *)NULL);
    _exit(127);
}

/* Closes the child's pipes and waits for it. Ends the program if the child failed. */
static void end_child(struct child *child)
{
    int code = 0;
    close(child->to);
    close(child->from);
    if (waitpid(child->pid, &code, 0) != child->pid || code != 0)
        die("a child process failed");
}

/* ---- the session that watches ---- */

/* Opens a session that listens for the notifications of commits. */
static PGconn *observer(const char *conninfo)
{
    PGconn *conn = PQconnectdb(conninfo);
    PGresult *result = PQexec(conn, "LISTEN tidemark");
    if (PQresultStatus(result) != PGRES_COMMAND_OK)
        die(PQerrorMessage(conn));
    PQclear(result);
    return conn;
}

/* Returns true if a pending notification names this ledger or a later one. Consumes all of them. */
static bool ledger_notified(PGconn *conn, uint32_t ledger)
{
    bool found = false;
    PGnotify *note;
    while ((note = PQnotifies(conn)) != NULL) {
        unsigned deployment = 0, at = 0;
        found |= sscanf(note->extra, "%u %u", &deployment, &at) == 2 && at >= ledger;
        PQfreemem(note);
    }
    return found;
}

/* Waits until the ledger's row has been read. Ends the program after PATIENCE_MS without it. */
static void wait_visible(PGconn *conn, uint32_t ledger)
{
    char sql[96];
    while (!ledger_notified(conn, ledger)) {
        struct pollfd fd = { .fd = PQsocket(conn), .events = POLLIN };
        if (poll(&fd, 1, PATIENCE_MS) != 1 || !PQconsumeInput(conn))
            die("a ledger did not become visible within a minute");
    }
    snprintf(sql, sizeof sql, "SELECT 1 FROM chain.ledger WHERE deployment = 1 AND ledger = %u",
             ledger);
    PGresult *result = PQexec(conn, sql);
    if (PQntuples(result) != 1)
        die("a ledger was notified, but its row is missing");
    PQclear(result);
}

/* ---- one ledger ---- */

/* All state of a run. The columns are one allocation; each has an element for each ledger. */
struct bench {
    const struct plan *plan;
    struct child indexer, peer;
    PGconn *sees_ours, *sees_peer;
    struct frames frames;
    /* decoders: with proofs, without, with proofs again */
    struct tide_decode *proving, *plain, *again;
    struct tide_batch batch;
    uint64_t bytes, transactions, rows; /* sums over the measured ledgers */
    /* seconds, by ledger */
    double *ours, *theirs, *walk, *encode, *verify, *share;
};

/* Sends the frame but for its last bytes, which the indexer reads meanwhile, then the rest. Returns
 * the seconds until the ledger is visible. */
static double time_ours(struct bench *b, uint32_t ledger)
{
    size_t last = b->frames.len < LAST_BYTES ? b->frames.len : LAST_BYTES;
    assert(last > 0 && last <= b->frames.len);
    write_all(b->indexer.to, b->frames.bytes, b->frames.len - last);
    double began = perf_now();
    write_all(b->indexer.to, b->frames.bytes + b->frames.len - last, last);
    wait_visible(b->sees_ours, ledger);
    return perf_now() - began;
}

/* Returns the seconds from the byte that starts the peer's commit until the ledger is visible. */
static double time_peer(struct bench *b, uint32_t ledger)
{
    double began = perf_now();
    write_all(b->peer.to, "c", 1);
    wait_visible(b->sees_peer, ledger);
    return perf_now() - began;
}

/* Times the parts of decoding. The first pass finds the ledger cold; the others run over bytes that
 * the cache holds. */
static void time_share(struct bench *b, tide_slice lcm, uint32_t at)
{
    const struct tide_walk nothing = { .self = NULL };
    struct tide_err err;
    double moments[5] = { perf_now() };
    decode_batch(b->proving, &b->batch, lcm);
    moments[1] = perf_now();
    if (tide_ledger_walk(&nothing, lcm, &err) != TIDE_OK)
        perf_die("walk", &err);
    moments[2] = perf_now();
    decode_batch(b->plain, &b->batch, lcm);
    moments[3] = perf_now();
    decode_batch(b->again, &b->batch, lcm);
    moments[4] = perf_now();
    b->share[at] = moments[1] - moments[0];
    b->walk[at] = moments[2] - moments[1];
    b->encode[at] = (moments[3] - moments[2]) - b->walk[at];
    b->verify[at] = (moments[4] - moments[3]) - (moments[3] - moments[2]);
}

/* Measures one ledger. Warm-up ledgers write their times to element 0, which the first measured
 * ledger overwrites. */
static void measure_ledger(struct bench *b, uint32_t i)
{
    char byte;
    tide_slice lcm = frames_next(&b->frames);
    bool counts = i >= b->plan->warm;
    uint32_t at = counts ? i - b->plan->warm : 0;
    assert(at < b->plan->ledgers && "the columns have an element for each ledger");
    time_share(b, lcm, at);
    if (read(b->peer.from, &byte, 1) != 1)
        die("the peer has gone");
    if (i % 2)
        b->theirs[at] = time_peer(b, b->batch.to);
    b->ours[at] = time_ours(b, b->batch.to);
    if (i % 2 == 0)
        b->theirs[at] = time_peer(b, b->batch.to);
    if (!counts)
        return;
    b->bytes += lcm.len;
    b->transactions += b->batch.counts.transactions;
    for (uint32_t table = 0; table < TIDE_TABLES_MAX; table++)
        b->rows += b->batch.rows[table].count;
}

/* ---- the figures ---- */

/* Orders doubles for qsort. */
static int by_value(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Returns the q-quantile of sorted values, interpolated linearly between neighbours. */
static double quantile(const double *values, uint32_t count, double q)
{
    double at = q * (count - 1);
    uint32_t low = (uint32_t)at, high = low + 1 < count ? low + 1 : low;
    return values[low] + (values[high] - values[low]) * (at - low);
}

/* Sorts all columns and prints their quantiles as one line of JSON. */
static void print_figures(struct bench *b)
{
    uint32_t n = b->plan->ledgers;
    double *ratios = b->walk + 6 * (size_t)n; /* the seventh column of the allocation */
    for (uint32_t i = 0; i < n; i++)
        ratios[i] = b->ours[i] / b->theirs[i];
    for (double *column = b->walk; column <= ratios; column += n)
        qsort(column, n, sizeof *column, by_value);
    printf("{\"ledgers\":%u,\"transactions\":%.1f,\"rows\":%.1f,\"bytes\":%.0f", n,
           (double)b->transactions / n, (double)b->rows / n, (double)b->bytes / n);
    const struct {
        const char *name;
        const double *values;
    } columns[] = { { "ours", b->ours },   { "peer", b->theirs },   { "share", b->share },
                    { "decode", b->walk }, { "encode", b->encode }, { "verify", b->verify } };
    for (size_t i = 0; i < TIDE_COUNT(columns); i++)
        printf(",\"%s_p50_ms\":%.3f,\"%s_p99_ms\":%.3f", columns[i].name,
               quantile(columns[i].values, n, 0.5) * 1e3, columns[i].name,
               quantile(columns[i].values, n, 0.99) * 1e3);
    printf(",\"ratio_p50\":%.3f,\"ratio_p99\":%.3f,\"spread\":%.3f}\n",
           quantile(b->ours, n, 0.5) / quantile(b->theirs, n, 0.5),
           quantile(b->ours, n, 0.99) / quantile(b->theirs, n, 0.99),
           quantile(ratios, n, 0.75) - quantile(ratios, n, 0.25));
}

/* Runs the peer and the indexer over all ledgers, and prints the figures. */
static void measure_latency(const struct plan *plan)
{
    static struct bench b;
    size_t n = plan->ledgers;
    double *columns = calloc(7 * n, sizeof *columns);
    if (!columns)
        die("out of memory");
    b = (struct bench){ .plan = plan,
                        .walk = columns,
                        .encode = columns + n,
                        .verify = columns + 2 * n,
                        .share = columns + 3 * n,
                        .ours = columns + 4 * n,
                        .theirs = columns + 5 * n };
    struct tide_deployment *deployment = read_deployment(plan);
    b.peer = start_peer(plan);
    b.indexer = start_ours(plan);
    b.sees_ours = observer(plan->ours);
    b.sees_peer = observer(plan->peer);
    b.proving = open_decoder(deployment, TIDE_PROOF_EVENTS);
    b.again = open_decoder(deployment, TIDE_PROOF_EVENTS);
    b.plain = open_decoder(deployment, TIDE_PROOF_CHAIN);
    frames_open(&b.frames, plan->stream);
    tide_batch_init(&b.batch);
    for (uint32_t i = 0; i < plan->warm + plan->ledgers; i++)
        measure_ledger(&b, i);
    end_child(&b.indexer);
    end_child(&b.peer);
    print_figures(&b);
    PQfinish(b.sees_ours);
    PQfinish(b.sees_peer);
    tide_batch_release(&b.batch);
    tide_decode_close(b.proving);
    tide_decode_close(b.again);
    tide_decode_close(b.plain);
    frames_close(&b.frames);
    free(deployment);
    free(columns);
}

int perf_latency(int argc, char **argv)
{
    uint64_t ledgers = 0, warm = 0;
    if (argc != 6 || tide_parse_u64(&ledgers, tide_slice_str(argv[4]), LEDGERS_MAX) != TIDE_OK ||
        !ledgers || tide_parse_u64(&warm, tide_slice_str(argv[5]), LEDGERS_MAX) != TIDE_OK) {
        fputs("usage: tidemark-perf latency STREAM DEPLOYMENT CONNINFO CONNINFO LEDGERS WARM\n",
              stderr);
        return 64;
    }
    const struct plan plan = {
        argv[0], argv[1], argv[2], argv[3], (uint32_t)ledgers, (uint32_t)warm
    };
    measure_latency(&plan);
    return 0;
}
