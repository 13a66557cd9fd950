/* Checks outside of PostgreSQL: files, ledger sources, port and cache, clocks. */
#include "indexer/commands/command.h"
#include "indexer/commands/doctor.h"
#include "indexer/source/source.h"
#include "tidemark/clock.h"
#include "tidemark/rpc.h"
#include "tidemark/text.h"

#include <arpa/inet.h>
#include <errno.h>
#include <libgen.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* Reads the deployment file for this check and the later ones, and names the roles without a
 * contract. */
void doctor_deployment(struct doctor *d, struct doctor_finding *out)
{
    struct tide_err err;
    char missing[512] = "";
    if (!d->config.deployment[0]) {
        doctor_say(out, DOCTOR_FAILED, "set deployment = FILE, the JSON file of the protocol",
                   "deployment is not set: network and contracts are unknown");
        return;
    }
    if (tide_deployment_read(&d->deployment, d->config.deployment, &err) != TIDE_OK) {
        d->deployment = NULL;
        doctor_say(out, DOCTOR_FAILED, "correct the file, its path (deployment) or its permissions",
                   "%s", err.text);
        return;
    }
    for (int role = 0; role < TIDE_ROLE_synth_token; role++) {
        bool named = false;
        for (uint32_t i = 0; i < d->deployment->contract_count && !named; i++)
            named = (int)d->deployment->contracts[i].role == role;
        size_t len = strlen(missing);
        if (!named)
            snprintf(missing + len, sizeof missing - len, "%s%s", len ? ", " : "",
                     tide_role_name((enum tide_role)role));
        assert(strlen(missing) + 1 < sizeof missing); /* all roles fit */
    }
    if (*missing)
        doctor_say(out, DOCTOR_WARNING, "add them to the file, unless the protocol has none",
                   "%s does not name %s: they are not indexed", d->config.deployment, missing);
    else
        doctor_say(out, DOCTOR_OK, NULL, "%s, %u contracts, first ledger %u",
                   d->deployment->passphrase, d->deployment->contract_count,
                   d->deployment->first_ledger);
}

/* --- clocks ------------------------------------------------------------------------------- */

/* Compares this host's clock with the database's, and with the newest close time: a correct clock
 * is never far behind that. */
void doctor_clock(struct doctor *d, struct doctor_finding *out)
{
    enum { DRIFT_MS = 2000 };
    static const char remedy[] = "let NTP set the clocks of this host and of the database's";
    char sql[320] = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint, 0, 0";
    const struct tide_clock *clock = tide_clock_system();
    int64_t asked = clock->wall_ms(clock->self);
    if (d->id)
        snprintf(sql, sizeof sql,
                 "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint,"
                 " coalesce(chain.unix_ms(max(closed_at)), 0),"
                 " coalesce(max(ledger), 0) FROM chain.cursor WHERE deployment = %u",
                 d->id);
    if (!doctor_ask(d, sql, out))
        return;
    assert(d->rows.count == 1 && d->rows.columns == 3); /* aggregates alone */
    int64_t now = asked + (clock->wall_ms(clock->self) - asked) / 2;
    int64_t off = now - (int64_t)tide_pg_u64(&d->rows, 0, 0);
    int64_t ahead = (int64_t)tide_pg_u64(&d->rows, 0, 1) - now;
    const char *ledger = tide_pg_text(&d->rows, 0, 2);
    int64_t skew = (int64_t)d->config.clock_skew_s * 1000;
    if (off > skew || off < -skew)
        doctor_say(out, DOCTOR_FAILED, remedy,
                   "this host's clock is %.1f s %s the database's; clock_skew_s allows %u s",
                   (double)(off < 0 ? -off : off) / 1000, off < 0 ? "behind" : "ahead of",
                   d->config.clock_skew_s);
    else if (ahead > skew)
        doctor_say(out, DOCTOR_FAILED, remedy,
                   "ledger %s closed %.0f s after this host's time; clock_skew_s allows %u s",
                   ledger, (double)ahead / 1000, d->config.clock_skew_s);
    else if (off > DRIFT_MS || off < -DRIFT_MS)
        doctor_say(out, DOCTOR_WARNING, remedy, "this host's clock is %.1f s %s the database's",
                   (double)(off < 0 ? -off : off) / 1000, off < 0 ? "behind" : "ahead of");
    else
        doctor_say(out, DOCTOR_OK, NULL, "within %.1f s of the database's clock",
                   (double)(off < 0 ? -off : off) / 1000);
}

/* --- ledger sources ----------------------------------------------------------------------- */

/* Asks one server for its network and newest ledger. On failure, fills `out`. */
static tide_status ask_server(struct doctor *d, const char *url, struct tide_rpc_rate *rate,
                              struct tide_rpc_latest *latest, struct doctor_finding *out)
{
    const struct tide_rpc_options options = {
        .config = &d->config,
        .agent = "tidemark-indexer",
        .passphrase = d->deployment ? d->deployment->passphrase : NULL,
        .rate = rate,
        .cancelled = tide_stop_asked,
    };
    struct tide_rpc_client client = { 0 };
    struct tide_err err;
    tide_status status = tide_rpc_client_open(&client, url, &options, &err);
    if (status == TIDE_OK)
        status = tide_rpc_client_network(&client, &err);
    if (status == TIDE_OK)
        status = tide_rpc_client_latest(&client, latest, &err);
    if (status == TIDE_E_CHAIN)
        doctor_say(out, DOCTOR_FAILED,
                   "use a server of the deployment file's network, or the deployment file of the "
                   "server's network",
                   "%s", err.text);
    else if (status != TIDE_OK)
        doctor_say(out, DOCTOR_FAILED,
                   "correct rpc (and rpc_header, http_ca_file), or wait until the server is back",
                   "%s", err.text);
    tide_rpc_client_close(&client);
    return status;
}

/* Asks all servers, since the indexer works with those that answer. *bad is the first failure, and
 * its grade says whether the indexer can run nevertheless. */
static uint32_t ask_servers(struct doctor *d, struct tide_rpc_rate *rate, uint32_t *newest,
                            uint32_t *failed, struct doctor_finding *bad)
{
    char url[TIDE_RPC_URL_BYTES];
    const char *list = d->config.rpc;
    uint32_t count = 0;
    bool usable = true;
    for (; !tide_stop_asked(NULL) && tide_rpc_next_url(&list, url); count++) {
        struct doctor_finding found;
        struct tide_rpc_latest latest = { 0 };
        tide_status status = ask_server(d, url, rate, &latest, &found);
        *newest = latest.sequence > *newest ? latest.sequence : *newest;
        bool hopeless = status == TIDE_E_CHAIN || status == TIDE_E_CONFIG;
        if (status != TIDE_OK && (!*failed || (usable && hopeless)))
            *bad = found;
        usable = usable && !hopeless;
        *failed += status != TIDE_OK;
    }
    bad->grade = usable && *failed < count ? DOCTOR_WARNING : DOCTOR_FAILED;
    return count;
}

void doctor_rpc(struct doctor *d, struct doctor_finding *out)
{
    struct tide_rpc_rate rate;
    struct doctor_finding bad = { 0 };
    uint32_t newest = 0, failed = 0;
    if (!d->config.rpc[0]) {
        bool none = !d->for_api && !d->config.lake[0] && !d->config.stream[0];
        doctor_say(out, none ? DOCTOR_FAILED : DOCTOR_SKIPPED,
                   none ? "set rpc, lake or stream" : NULL,
                   none ? "no ledger source is set" : "rpc is not set");
        return;
    }
    if (tide_rpc_rate_init(&rate, d->config.rpc_requests_s) != TIDE_OK) {
        doctor_say(out, DOCTOR_FAILED, "free memory", "out of memory");
        return;
    }
    uint32_t count = ask_servers(d, &rate, &newest, &failed, &bad);
    tide_rpc_rate_destroy(&rate);
    if (count == 0)
        doctor_say(out, DOCTOR_FAILED, "set rpc to a comma list of http(s):// addresses",
                   "rpc names no server");
    else if (failed)
        doctor_say(out, bad.grade, bad.remedy, "%u of %u server%s failed: %s", failed, count,
                   count == 1 ? "" : "s", bad.found);
    else
        doctor_say(out, DOCTOR_OK, NULL, "%u server%s, newest ledger %u%s", count,
                   count == 1 ? "" : "s", newest,
                   d->deployment ? ", of the deployment file's network" : "");
}

/* Returns the first ledger of the index. 0: not known. */
static uint32_t first_ledger(const struct doctor *d)
{
    uint32_t deployed = d->deployment ? d->deployment->first_ledger : 0;
    return d->config.first_ledger ? d->config.first_ledger : deployed;
}

/* Returns the ledger behind the indexed ones, which the lake must give next. 0: not known. */
static uint32_t wanted_ledger(struct doctor *d)
{
    struct doctor_finding ignored;
    char sql[96];
    uint32_t wanted = first_ledger(d);
    snprintf(sql, sizeof sql, "SELECT max(ledger) + 1 FROM chain.cursor WHERE deployment = %u",
             d->id);
    if (!d->id || !doctor_ask(d, sql, &ignored))
        return wanted;
    if (d->rows.count && !tide_pg_is_null(&d->rows, 0, 0))
        wanted = (uint32_t)tide_pg_u64(&d->rows, 0, 0);
    return wanted;
}

/* A lake, as far as the index needs it. */
struct lake_view {
    uint32_t first, last; /* 0: none */
    tide_status next;     /* TIDE_E_EOF: the wanted ledger is not there yet */
    struct tide_err err;  /* filled if next is a failure */
};

/* Finds the lake's first and last ledger, and whether it gives the wanted one. A lake on a web
 * server cannot be listed: it is asked for the index's first ledger, and for those behind. */
static tide_status ask_lake(struct doctor *d, uint32_t wanted, struct lake_view *out,
                            struct tide_err *err)
{
    uint32_t begin = first_ledger(d);
    struct tide_config lake = d->config;
    const struct tide_source_options options = {
        .config = &lake,
        .passphrase = d->deployment ? d->deployment->passphrase : NULL,
        .stopping = tide_stop_asked,
    };
    struct tide_source source = { 0 };
    uint32_t sequence;
    tide_slice lcm;
    *out = (struct lake_view){ .next = TIDE_E_EOF };
    lake.rpc[0] = lake.stream[0] = '\0';
    lake.batch_mib = 1;      /* seek begins to fetch */
    lake.stop_at_end = true; /* a hole is an error */
    tide_status status = tide_source_open(&source, &options, err);
    if (status == TIDE_OK && begin)
        status = source.ops->seek(source.self, begin, 0, err);
    if (status == TIDE_OK)
        status = source.ops->range(source.self, &out->first, &out->last, err);
    if (status == TIDE_OK && wanted != begin)
        status = source.ops->seek(source.self, wanted, 0, err);
    if (status == TIDE_OK && wanted)
        out->next = source.ops->next(source.self, &lcm, &sequence, &out->err);
    if (source.ops)
        source.ops->close(source.self);
    return status;
}

void doctor_lake(struct doctor *d, struct doctor_finding *out)
{
    struct tide_err err;
    struct lake_view lake;
    if (!d->config.lake[0]) {
        doctor_say(out, DOCTOR_SKIPPED, NULL, "lake is not set");
        return;
    }
    uint32_t wanted = wanted_ledger(d);
    tide_status status = ask_lake(d, wanted, &lake, &err);
    if (status != TIDE_OK)
        doctor_say(out, DOCTOR_FAILED,
                   "correct lake, or make the folder readable for the indexer's account", "%s",
                   err.text);
    else if (lake.next != TIDE_OK && lake.next != TIDE_E_EOF)
        doctor_say(out, DOCTOR_WARNING, "fill the lake, or set rpc beside it: the index waits",
                   "%s", lake.err.text);
    else if (lake.last == 0)
        doctor_say(out, DOCTOR_WARNING,
                   "check the path: its folder of ledgers may be one deeper; check first_ledger",
                   "the lake shows no ledgers from %u on", wanted ? wanted : 2);
    else
        doctor_say(out, DOCTOR_OK, NULL, "ledgers %u to %u", lake.first, lake.last);
}

void doctor_stream(struct doctor *d, struct doctor_finding *out)
{
    const char *path = d->config.stream;
    struct tide_err err;
    if (!*path)
        doctor_say(out, DOCTOR_SKIPPED, NULL, "stream is not set");
    else if (tide_source_check(&d->config, &err) != TIDE_OK)
        doctor_say(out, DOCTOR_FAILED, "unset stream, or unset rpc and lake", "%s", err.text);
    else if (strcmp(path, "-") != 0 && access(path, R_OK) != 0)
        doctor_say(out, DOCTOR_FAILED,
                   "correct stream, or make the file readable for the indexer's account",
                   "stream=%s: %s", path, strerror(errno));
    else
        doctor_say(out, DOCTOR_OK, NULL, "%s", strcmp(path, "-") == 0 ? "standard input" : path);
}

/* --- the API's port and cache ------------------------------------------------------------- */

/* Reads an address with a port, the IPv6 form in brackets. Returns false for host names: the API
 * binds to addresses. */
static bool read_listen(const char *text, struct sockaddr_storage *out, socklen_t *len)
{
    const char *colon = strrchr(text, ':');
    uint64_t port;
    char host[64] = "";
    *out = (struct sockaddr_storage){ 0 };
    if (!colon || (size_t)(colon - text) >= sizeof host ||
        tide_parse_u64(&port, tide_slice_str(colon + 1), 65535) != TIDE_OK)
        return false;
    struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
    struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port) };
    bool bracketed = text[0] == '[' && colon > text + 2 && colon[-1] == ']';
    memcpy(host, text + bracketed, (size_t)(colon - text) - (size_t)2 * bracketed);
    if (bracketed && inet_pton(AF_INET6, host, &in6.sin6_addr) == 1) {
        memcpy(out, &in6, *len = sizeof in6);
        return true;
    }
    if (bracketed || inet_pton(AF_INET, host, &in.sin_addr) != 1)
        return false;
    memcpy(out, &in, *len = sizeof in);
    return true;
}

/* Returns whether a Tidemark API answers at api_listen. This machine reaches 0.0.0.0 and [::],
 * too. */
static bool is_tidemark_api(const struct doctor *d)
{
    char url[TIDE_CONFIG_TEXT_MAX + 32];
    struct tide_http *http = NULL;
    struct tide_http_answer answer;
    struct tide_buf body;
    struct tide_err err;
    struct tide_http_options options = tide_http_configured(&d->config, "tidemark-doctor");
    int len = snprintf(url, sizeof url, "http://%s/healthz", d->config.api_listen);
    assert(len > 0 && (size_t)len < sizeof url);
    (void)len;
    options.timeout_ms = options.connect_ms;
    const struct tide_http_request request = { .method = TIDE_HTTP_GET, .url = url };
    tide_buf_init(&body, 4096);
    bool ours = tide_http_open(&http, &options, &err) == TIDE_OK &&
                tide_http_call(http, &request, &body, &answer, &err) == TIDE_OK &&
                answer.code == 200 && tide_slice_eq_str(tide_buf_view(&body), "{\"alive\":true}");
    tide_http_close(http);
    tide_buf_release(&body);
    return ours;
}

/* Binds as the API does; [::] does not take the port of 0.0.0.0. Returns false with errno. */
static bool can_bind(const struct sockaddr_storage *to, socklen_t len)
{
    int on = 1;
    int fd = socket(to->ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool can = fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
               (to->ss_family != AF_INET6 ||
                setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on) == 0) &&
               bind(fd, (const struct sockaddr *)to, len) == 0;
    int why = errno;
    if (fd >= 0)
        close(fd);
    errno = why;
    return can;
}

/* Checks that tidemark-api could bind to its address, or already answers there. */
void doctor_port(struct doctor *d, struct doctor_finding *out)
{
    const char *listen = d->config.api_listen;
    struct sockaddr_storage to;
    socklen_t len;
    if (!read_listen(listen, &to, &len)) {
        doctor_say(out, DOCTOR_FAILED, "write api_listen as 127.0.0.1:8080 or [::1]:8080",
                   "api_listen=%s is no address with a port", listen);
        return;
    }
    bool can = can_bind(&to, len);
    int why = errno;
    if (can)
        doctor_say(out, DOCTOR_OK, NULL, "%s is free for tidemark-api", listen);
    else if (why == EADDRINUSE && is_tidemark_api(d))
        doctor_say(out, DOCTOR_OK, NULL, "tidemark-api answers on %s", listen);
    else
        doctor_say(out, DOCTOR_FAILED,
                   why == EADDRINUSE ? "stop the other program, or choose another api_listen"
                                     : "let api_listen name an address of this host and a port "
                                       "that the API's account may use",
                   "api_listen=%s: %s", listen, strerror(why));
}

/* Reads the free MiB on a folder's volume; 0 if no file can be made there. Returns false with
 * errno. */
static bool free_mib(const char *path, uint64_t *mib)
{
    struct statvfs vfs;
    if (statvfs(path, &vfs) != 0)
        return false;
    *mib = vfs.f_files && !vfs.f_favail ? 0 : ((uint64_t)vfs.f_bavail * vfs.f_frsize) >> 20;
    return true;
}

/* Fills `out` with the room on the volume of `folder`, which is the cache or will hold it. A new
 * cache is built beside the old one, so the volume must have room for both. */
static void say_cache_room(const char *path, const char *folder, const char *note,
                           struct doctor_finding *out)
{
    enum { FULL_MIB = 64, LEAST_MIB = 512 };
    uint64_t mib = 0;
    if (!free_mib(folder, &mib))
        doctor_say(out, DOCTOR_FAILED, "see the log of the kernel: the volume does not answer",
                   "api_cache=%s: %s", path, strerror(errno));
    else if (mib < LEAST_MIB)
        doctor_say(out, mib < FULL_MIB ? DOCTOR_FAILED : DOCTOR_WARNING,
                   "free space on that volume: the cache is rebuilt beside the old one",
                   "api_cache=%s%s: %" PRIu64 " MiB are free", path, note, mib);
    else
        doctor_say(out, DOCTOR_OK, NULL, "%s%s, %" PRIu64 " MiB are free", path, note, mib);
}

/* Fills `out` for a cache folder that is not there yet: tidemark-api makes the last folder of the
 * path. */
static void say_no_cache(const char *path, int why, struct doctor_finding *out)
{
    char copy[TIDE_CONFIG_TEXT_MAX];
    snprintf(copy, sizeof copy, "%s", path);
    const char *parent = dirname(copy);
    if (why == EACCES)
        doctor_say(out, DOCTOR_WARNING, "run doctor as the API's account",
                   "api_cache=%s: %s, for this account", path, strerror(why));
    else if (why == ENOENT && access(parent, W_OK | X_OK) == 0)
        say_cache_room(path, parent, " (tidemark-api makes it)", out);
    else
        doctor_say(out, DOCTOR_FAILED,
                   "create the folder for the API's account (the package's unit does so)",
                   "api_cache=%s: %s", path, strerror(why));
}

void doctor_cache(struct doctor *d, struct doctor_finding *out)
{
    const char *path = d->config.api_cache;
    struct stat st;
    if (!*path)
        doctor_say(out, d->for_api ? DOCTOR_FAILED : DOCTOR_SKIPPED,
                   d->for_api ? "set api_cache to a folder of the API's account" : NULL,
                   d->for_api ? "api_cache is not set"
                              : "api_cache is not set here; --unit tidemark-api checks that "
                                "daemon's");
    else if (stat(path, &st) != 0)
        say_no_cache(path, errno, out);
    else if (!S_ISDIR(st.st_mode))
        doctor_say(out, DOCTOR_FAILED, "let api_cache name a folder", "api_cache=%s is no folder",
                   path);
    else if (access(path, R_OK | W_OK | X_OK) != 0)
        doctor_say(out, DOCTOR_WARNING,
                   "run doctor as the API's account, or let that account own the folder",
                   "api_cache=%s: %s, for this account", path, strerror(errno));
    else
        say_cache_room(path, path, "", out);
}
