#include "schema/hot/hot_impl.h"
#include "tidemark/clock.h"
#include "tidemark/liveness.h"
#include "tidemark/log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <lmdb.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A check that takes longer hangs: a machine reads 16 MiB a second even from a slow disk. */
enum { CHECK_SECONDS = 10, CHECK_BYTES_PER_SECOND = 16 << 20, CHECK_TRIES = 3 };
enum { POLL_MS = 50, REAP_MS = 1000 };

/* --- records ------------------------------------------------------------------------- */

static uint64_t mix_sum(uint64_t sum, const uint8_t *bytes, size_t len)
{
    while (len >= 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        sum = (sum ^ word) * 0x9e3779b97f4a7c15u;
        sum ^= sum >> 29;
        bytes += 8;
        len -= 8;
    }
    uint64_t tail = len;
    for (size_t i = 0; i < len; i++)
        tail = tail << 8 | bytes[i];
    sum = (sum ^ tail) * 0xbf58476d1ce4e5b9u;
    return sum ^ sum >> 32;
}

uint32_t hot_sum(tide_slice key, const void *record, size_t size)
{
    return (uint32_t)mix_sum(mix_sum(0x7469646568303174u, key.ptr, key.len), record, size);
}

/* Returns the bytes of a key of that kind, as hot_record.h makes it; 0 for other values. */
static size_t key_size(enum tide_hot_kind kind)
{
    enum { ADDRESS = sizeof(struct tide_hot_address), SYMBOL = sizeof(struct tide_hot_symbol) };
    switch (kind) {
    case TIDE_HOT_META:
        return 1;
    case TIDE_HOT_PERSON:
    case TIDE_HOT_CONTRACT:
    case TIDE_HOT_VERIFIER:
    case TIDE_HOT_PROVIDER:
    case TIDE_HOT_COLLATERAL:
        return 1 + ADDRESS;
    case TIDE_HOT_BLOCKED:
    case TIDE_HOT_PARTNER:
        return 1 + sizeof(uint32_t);
    case TIDE_HOT_CHANGED:
        return 1 + sizeof(uint32_t) + ADDRESS;
    case TIDE_HOT_FEED:
    case TIDE_HOT_POOL:
    case TIDE_HOT_TRADE:
    case TIDE_HOT_MARKET:
    case TIDE_HOT_CATALOG:
        return 1 + SYMBOL;
    case TIDE_HOT_TICK:
        return 1 + SYMBOL + sizeof(uint64_t);
    case TIDE_HOT_VAULT:
    case TIDE_HOT_HELD:
        return 1 + SYMBOL + ADDRESS;
    case TIDE_HOT_WITHDRAWN:
        return 1 + TIDE_HOT_KID;
    case TIDE_HOT_NONE:
    case TIDE_HOT_KIND_COUNT:
        break;
    }
    return 0;
}

const void *hot_record_of(const uint8_t *key, size_t key_len, const void *value, size_t size)
{
    const struct hot_head *head = value;
    if (key_len == 0 || size < sizeof *head || size - sizeof *head != head->size ||
        head->kind != key[0] || head->format != TIDE_HOT_FORMAT)
        return NULL;
    /* Callers of a scan read a key's parts where the kind has them. */
    enum tide_hot_kind kind = (enum tide_hot_kind)head->kind;
    size_t least = tide_hot_record_size(kind);
    return least && head->size == least && key_len == key_size(kind) ? head + 1 : NULL;
}

/* --- the file as a whole ---------------------------------------------------------------- */

static bool sound(const MDB_val *key, const MDB_val *value, const MDB_val *before)
{
    const void *record = hot_record_of(key->mv_data, key->mv_size, value->mv_data, value->mv_size);
    const struct hot_head *head = value->mv_data;
    tide_slice name = tide_slice_of(key->mv_data, key->mv_size);
    if (!record || hot_sum(name, record, head->size) != head->check)
        return false;
    return before->mv_size == 0 ||
           tide_slice_cmp(tide_slice_of(before->mv_data, before->mv_size), name) < 0;
}

/* Checks every record. Stops after as many as the tree claims: a damaged page that points back
 * would make the scan endless. */
static tide_status scan_records(MDB_txn *txn, MDB_dbi dbi, struct tide_err *err)
{
    MDB_stat stat;
    MDB_cursor *cursor;
    MDB_val key, value, before = { 0 };
    size_t count = 0;
    int rc = mdb_stat(txn, dbi, &stat);
    if (rc == 0)
        rc = mdb_cursor_open(txn, dbi, &cursor);
    if (rc != 0)
        return tide_fail(err, TIDE_E_DECODE, "cache: %s", mdb_strerror(rc));
    while ((rc = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) == 0) {
        if (++count > stat.ms_entries || !sound(&key, &value, &before))
            break;
        before = key;
    }
    mdb_cursor_close(cursor);
    if (rc != MDB_NOTFOUND || count != stat.ms_entries)
        return tide_fail(err, TIDE_E_DECODE, "cache: record %zu of %zu: %s", count,
                         (size_t)stat.ms_entries, rc ? mdb_strerror(rc) : "damaged");
    return TIDE_OK;
}

/* Checks the list of free pages: a writer would overwrite the pages that it names. */
static tide_status scan_free(MDB_txn *txn, struct tide_err *err)
{
    enum { FREE_LIST = 0 };
    MDB_cursor *cursor;
    MDB_val key, value;
    MDB_envinfo info;
    uint64_t sum = 0;
    int rc = mdb_env_info(mdb_txn_env(txn), &info);
    if (rc == 0)
        rc = mdb_cursor_open(txn, FREE_LIST, &cursor);
    if (rc != 0)
        return tide_fail(err, TIDE_E_DECODE, "cache: free pages: %s", mdb_strerror(rc));
    bool good = true;
    while (good && (rc = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) == 0) {
        size_t count;
        good = key.mv_size == sizeof(size_t) && value.mv_size >= sizeof count;
        if (!good)
            break;
        memcpy(&count, value.mv_data, sizeof count);
        good = count < value.mv_size / sizeof count;
        for (size_t i = 1; good && i <= count; i++) {
            size_t page;
            memcpy(&page, (const uint8_t *)value.mv_data + i * sizeof page, sizeof page);
            good = page > 1 && page <= info.me_last_pgno;
        }
        sum++;
        good = good && sum <= info.me_last_txnid;
    }
    mdb_cursor_close(cursor);
    return good && rc == MDB_NOTFOUND ? TIDE_OK
                                      : tide_fail(err, TIDE_E_DECODE, "cache: free pages damaged");
}

static tide_status scan_meta(MDB_txn *txn, MDB_dbi dbi, struct tide_err *err)
{
    struct tide_hot_key key = tide_hot_key(TIDE_HOT_META);
    MDB_val name = { key.len, key.bytes }, value;
    if (mdb_get(txn, dbi, &name, &value) != 0)
        return tide_fail(err, TIDE_E_DECODE, "cache: it does not say what it stands for");
    const struct hot_head *head = value.mv_data;
    if (value.mv_size >= sizeof *head && head->format != TIDE_HOT_FORMAT)
        return tide_fail(err, TIDE_E_SCHEMA, "cache: format %u, this build reads %u", head->format,
                         TIDE_HOT_FORMAT);
    return TIDE_OK;
}

static tide_status scan_all(MDB_env *env, struct tide_err *err)
{
    MDB_txn *txn;
    MDB_dbi dbi;
    int rc = mdb_txn_begin(env, NULL, MDB_RDONLY, &txn);
    if (rc != 0)
        return hot_fail(err, rc, "read", "check");
    rc = mdb_dbi_open(txn, NULL, 0, &dbi);
    tide_status status = rc == 0 ? scan_meta(txn, dbi, err)
                                 : tide_fail(err, TIDE_E_DECODE, "cache: %s", mdb_strerror(rc));
    if (status == TIDE_OK)
        status = scan_records(txn, dbi, err);
    if (status == TIDE_OK)
        status = scan_free(txn, err);
    mdb_txn_abort(txn);
    return status;
}

static tide_status scan_files(const char *path, struct tide_err *err)
{
    MDB_env *env;
    int rc = mdb_env_create(&env);
    if (rc != 0)
        return hot_fail(err, rc, "open", path);
    rc = mdb_env_set_maxreaders(env, TIDE_HOT_READERS_MAX);
    if (rc == 0)
        rc = mdb_env_open(env, path, MDB_NOTLS | MDB_NOSYNC, 0600);
    tide_status status = rc == 0 ? scan_all(env, err) : hot_fail(err, rc, "open", path);
    mdb_env_close(env);
    return status;
}

/* --- the child ----------------------------------------------------------------------------- */

/* Checks that the file has at least two pages, and computes the time limit. The child checks the
 * contents. */
static tide_status check_size(const char *path, unsigned *seconds, struct tide_err *err)
{
    enum { PAGE_LEAST = 512 };
    char file[HOT_PATH_MAX + 16];
    struct stat found;
    int len = snprintf(file, sizeof file, "%s/data.mdb", path);
    assert(len > 0 && (size_t)len < sizeof file);
    (void)len;
    if (stat(file, &found) != 0)
        return tide_fail(err, errno == ENOENT ? TIDE_E_MISSING : TIDE_E_IO, "cache: %s: %s", file,
                         strerror(errno));
    if (!S_ISREG(found.st_mode) || found.st_size < (off_t)2 * PAGE_LEAST)
        return tide_fail(err, TIDE_E_DECODE, "cache: %s: %lld bytes are no cache", file,
                         (long long)found.st_size);
    *seconds = CHECK_SECONDS + (unsigned)(found.st_size / CHECK_BYTES_PER_SECOND);
    return TIDE_OK;
}

/* The child's result: a status and its text. */
struct verdict {
    tide_status status;
    char text[256];
};
static_assert(sizeof(struct verdict) <= PIPE_BUF, "the pipe takes a verdict at once");

/* Closes all descriptors except the standard ones and keep, so that a check that outlives its
 * process for a moment holds neither a port nor a lock. */
static void close_others(int keep)
{
    struct rlimit limit;
    bool closed = keep <= 3 || close_range(3, (unsigned)keep - 1, 0) == 0;
    if (closed && close_range((unsigned)keep + 1, ~0u, 0) == 0)
        return;
    /* The kernel lacks close_range (before Linux 5.9). */
    int end = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < INT32_MAX
                  ? (int)limit.rlim_cur
                  : 1 << 20;
    for (int fd = 3; fd < end; fd++)
        if (fd != keep)
            close(fd);
}

static _Noreturn void be_child(const char *path, unsigned seconds, int to, pid_t parent)
{
    static const int deadly[] = { SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGALRM };
    struct rlimit none = { 0 };
    struct sigaction plain = { .sa_handler = SIG_DFL };
    struct tide_err err = { .code = TIDE_OK };
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
        _exit(1);
    close_others(to);
    for (size_t i = 0; i < TIDE_COUNT(deadly); i++)
        sigaction(deadly[i], &plain, NULL);
    setrlimit(RLIMIT_CORE, &none);
    alarm(seconds);
    struct verdict verdict = { .status = scan_files(path, &err) };
    if (verdict.status != TIDE_OK)
        snprintf(verdict.text, sizeof verdict.text, "%s", err.text);
    ssize_t sent = write(to, &verdict, sizeof verdict);
    _exit(sent == sizeof verdict ? 0 : 1);
}

/* A running child. */
struct check {
    const struct tide_hot *hot;
    const char *path;
    pid_t child;
    int from; /* the pipe's end that is read */
    bool stopped, late, reaped;
    int how; /* status of waitpid, valid if reaped */
};

/* Waits until the child writes its verdict or ends, its time is over, or the process must stop. The
 * wait is bounded, so the thread marks itself alive. */
static void wait_for_child(struct check *c, unsigned seconds)
{
    const struct tide_hot *hot = c->hot;
    struct pollfd word = { .fd = c->from, .events = POLLIN };
    int64_t end = tide_now_ms() + 1000 * ((int64_t)seconds + 1);
    assert(c->child > 0); /* kill would end other processes */
    while (poll(&word, 1, POLL_MS) <= 0) {
        tide_liveness_mark();
        c->stopped = hot->stopped && hot->stopped(hot->stopped_self);
        c->late = tide_now_ms() > end;
        if (c->stopped || c->late) {
            kill(c->child, SIGKILL);
            return;
        }
    }
}

/* Waits for the killed or finished child. If the child cannot die because its disk hangs, it is
 * left to the system. */
static void reap_child(struct check *c)
{
    const struct tide_clock *clock = tide_clock_system();
    int64_t end = tide_now_ms() + REAP_MS;
    while (waitpid(c->child, &c->how, WNOHANG) != c->child) {
        if (tide_now_ms() > end) {
            tide_log(TIDE_WARN, "cache.check_stuck", "pid=%d", (int)c->child);
            return;
        }
        clock->sleep_ms(clock->self, 5);
    }
    c->reaped = true;
}

/* Reads the child's verdict. *hung: the child exceeded its time, which does not show that the file
 * is damaged. */
static tide_status read_verdict(struct check *c, unsigned seconds, bool *hung, struct tide_err *err)
{
    struct verdict verdict;
    ssize_t got = 0;
    wait_for_child(c, seconds);
    if (!c->stopped && !c->late)
        got = read(c->from, &verdict, sizeof verdict);
    reap_child(c);
    if (c->stopped)
        return tide_fail(err, TIDE_E_STOPPED, "cache: %s: its check was cut short", c->path);
    *hung = c->late || (c->reaped && WIFSIGNALED(c->how) && WTERMSIG(c->how) == SIGALRM);
    if (*hung)
        return tide_fail(err, TIDE_E_DECODE, "cache: %s: its check took more than %u s", c->path,
                         seconds);
    if (c->reaped && WIFSIGNALED(c->how))
        return tide_fail(err, TIDE_E_DECODE, "cache: %s: reading it ends with %s", c->path,
                         strsignal(WTERMSIG(c->how)));
    if (got != sizeof verdict)
        return tide_fail(err, TIDE_E_DECODE, "cache: %s: its check ended without a word", c->path);
    if (verdict.status == TIDE_OK)
        return TIDE_OK;
    verdict.text[sizeof verdict.text - 1] = 0;
    return tide_fail(err, verdict.status, "%s (%s)", verdict.text, c->path);
}

static tide_status ask_child(const struct tide_hot *hot, const char *path, unsigned seconds,
                             bool *hung, struct tide_err *err)
{
    int ends[2];
    pid_t parent = getpid();
    if (pipe2(ends, O_CLOEXEC) != 0)
        return tide_fail(err, TIDE_E_IO, "cache: pipe: %s", strerror(errno));
    struct check check = { .hot = hot, .path = path, .child = fork(), .from = ends[0] };
    if (check.child == 0)
        be_child(path, seconds, ends[1], parent);
    close(ends[1]);
    tide_status status = check.child > 0
                             ? read_verdict(&check, seconds, hung, err)
                             : tide_fail(err, TIDE_E_IO, "cache: fork: %s", strerror(errno));
    close(ends[0]);
    return status;
}

/* Checks the generation, with another child if one hung: a child of a process with threads may
 * inherit a lock that no thread releases. */
tide_status hot_check(const struct tide_hot *hot, const char *path, struct tide_err *err)
{
    unsigned seconds = 0;
    bool hung = true;
    tide_status status = check_size(path, &seconds, err);
    if (status != TIDE_OK)
        return status;
    assert(seconds >= CHECK_SECONDS);
    for (int tries = 0; hung && tries < CHECK_TRIES; tries++) {
        hung = false;
        status = ask_child(hot, path, seconds, &hung, err);
    }
    return status;
}
