/* A proxy that makes a connection fail on purpose.
 *
 *   fault_proxy run LISTEN UPSTREAM CONTROL [pg|http]   prints "listening ADDRESS" when it is up
 *   fault_proxy tell CONTROL COMMAND…                   prints the answer; exit 0 when it is ok
 *
 * An address is a path (Unix socket) or HOST:PORT; port 0 takes a free one. Commands:
 *
 *   rule EVENT VERB[:N] [skip=N] [times=N] [text=REST OF THE LINE]
 *   clear     no rules any more, fired=0; what they did to open connections stays
 *   cut       closes every open connection at once
 *   counts    "ok connections=3 open=1 fired=2 message=57 commit=9 committed=8 copy=40 answer=17"
 *
 * EVENT   connect     a client has connected
 *         message     a message of the client: PostgreSQL by type, HTTP a whole request
 *         commit      the client says COMMIT
 *         committed   the server says that it committed
 *         copy        the client sends COPY data
 *         answer      the server's first message after a client's
 *         text=T: only client's messages (answer: answers to such) that contain T in their first
 *         bytes, where blanks are left out: text="method":"getLedgers", text=UPDATEchain.cursor
 * VERB    pass          nothing
 *         close-before  closes both sides, the message is not handed on
 *         close-after   hands it on, then closes both sides
 *         drop          from here on no byte of the server reaches the client
 *         blackhole     from here on no byte of either side reaches the other
 *         delay:MS      holds it, and what follows on its side, so long
 *         throttle:N    from here on N bytes a second each way
 *         cut-at:K      closes both sides after K bytes of its side, counted from here
 *         corrupt-at:K  turns the bits of the K-th byte (from 0) of its side, counted from here
 *         duplicate     hands the message on twice, if it fits the buffer
 * skip    so many matches pass first; times: so many then fire (default 1; 0: all).
 *
 * Memory is fixed: CONNECTIONS connections of two buffers each; more are refused. */
#include "tests/faults/socket.h"
#include "tidemark/clock.h"

#include <poll.h>
#include <signal.h>

enum { CONNECTIONS = 64, RULES = 16, BUFFER = 64 << 10, PEEK = 2048, TEXT = 128, LINE = 512 };
enum event { CONNECT, MESSAGE, COMMIT, COMMITTED, COPY, ANSWER };
enum verb {
    PASS,
    CLOSE_BEFORE,
    CLOSE_AFTER,
    DROP,
    BLACKHOLE,
    DELAY,
    THROTTLE,
    CUT,
    CORRUPT,
    TWICE
};
enum { CLIENT, SERVER };

static const char *const event_names[] = { "connect",   "message", "commit",
                                           "committed", "copy",    "answer" };
static const char *const verb_names[] = { "pass",       "close-before", "close-after", "drop",
                                          "blackhole",  "delay",        "throttle",    "cut-at",
                                          "corrupt-at", "duplicate" };

struct rule {
    enum event event;
    enum verb verb;
    uint64_t n;
    unsigned skip, times; /* matches that do not fire; then matches that fire, 0: all */
    bool spent;           /* the last of `times` matches has fired */
    char text[TEXT];
};

/* One direction of a connection: bytes of one side on their way to the other. */
struct flow {
    uint8_t bytes[BUFFER];
    size_t len, sent;      /* bytes in the buffer; how many of them were handed on */
    uint64_t left;         /* bytes of the current message still to hand on */
    uint64_t cut, corrupt; /* bytes until then; UINT64_MAX: never */
    uint64_t rate;         /* bytes a second, 0: as they come */
    int64_t held_until;
    bool raw;         /* the next byte is the answer to SSLRequest, which is no message */
    bool typed;       /* PostgreSQL: start-up is over */
    bool again;       /* hand the whole message on once more */
    bool close_after; /* close both sides after the message */
    bool stuck;       /* the other side's socket is full */
    bool eof, closed;
};

struct link {
    bool used, drop, blackhole;
    int fd[2];
    struct flow flow[2]; /* flow[CLIENT] holds the bytes that the client sends */
    bool asked;          /* a message of the client awaits its answer */
    char question[PEEK]; /* the first bytes of the client's message */
};

struct proxy {
    bool pg, http;
    const char *upstream;
    struct rule rules[RULES];
    size_t rule_count;
    struct link links[CONNECTIONS];
    uint64_t seen[TIDE_COUNT(event_names)], fired;
};

static int64_t now_ms(void)
{
    const struct tide_clock *clock = tide_clock_system();
    return clock->now_ms(clock->self);
}

/* ---- rules ---- */

/* Returns the rule that this event fires, or NULL. Counts the match in the rule. */
static const struct rule *happens(struct proxy *p, enum event event, const char *text)
{
    p->seen[event]++;
    for (struct rule *r = p->rules; r < p->rules + p->rule_count; r++) {
        if (r->spent || r->event != event || !strstr(text, r->text))
            continue;
        if (r->skip) {
            r->skip--;
            continue;
        }
        r->spent = r->times && --r->times == 0;
        p->fired++;
        return r;
    }
    return NULL;
}

static bool drop_link(struct link *l)
{
    close(l->fd[CLIENT]);
    close(l->fd[SERVER]);
    return l->used = false;
}

/* Applies the rule to the message at the head of the flow of `side`. Returns false if the link was
 * closed. */
static bool apply_rule(struct link *l, int side, const struct rule *r)
{
    struct flow *f = &l->flow[side];
    enum verb verb = r ? r->verb : PASS;
    if (verb == CLOSE_BEFORE)
        return drop_link(l);
    f->close_after |= verb == CLOSE_AFTER;
    l->drop |= verb == DROP;
    l->blackhole |= verb == BLACKHOLE;
    f->again |= verb == TWICE && f->left <= BUFFER;
    if (verb == DELAY)
        f->held_until = now_ms() + (int64_t)r->n;
    if (verb == THROTTLE)
        l->flow[CLIENT].rate = l->flow[SERVER].rate = r->n;
    if (verb == CUT)
        f->cut = r->n;
    if (verb == CORRUPT)
        f->corrupt = r->n;
    return true;
}

/* ---- messages ---- */

static uint32_t be32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* Returns the length of the message at the head, or 0 if the buffer does not hold enough of it to
 * tell. */
static uint64_t pg_length(struct link *l, struct flow *f)
{
    enum { SSL_REQUEST = 80877103, GSS_REQUEST = 80877104 };
    size_t head = f->typed ? 5 : 8;
    if (f->raw || f->len < head)
        return f->raw;
    uint64_t total = f->typed ? 1 + (uint64_t)be32(f->bytes + 1) : be32(f->bytes);
    if (f->len < (total < PEEK ? total : PEEK))
        return 0;
    uint32_t code = be32(f->bytes + 4);
    if (!f->typed && (code == SSL_REQUEST || code == GSS_REQUEST))
        l->flow[SERVER].raw = true;
    else
        f->typed = true;
    return total < head ? head : total;
}

/* Returns the length of the request with its body if both fit the buffer, else the number of
 * buffered bytes. */
static uint64_t http_length(const struct flow *f)
{
    const uint8_t *end = memmem(f->bytes, f->len, "\r\n\r\n", 4);
    if (!end)
        return f->len == BUFFER ? f->len : 0;
    uint64_t head = (uint64_t)(end - f->bytes) + 4, body = 0;
    for (const uint8_t *at = f->bytes; at < end; at++)
        if (strncasecmp((const char *)at, "\ncontent-length:", 16) == 0)
            body = strtoull((const char *)at + 16, NULL, 10);
    return f->len < BUFFER && f->len < head + body ? 0 : head + body;
}

/* Writes the first bytes of the message as text without blanks. */
static void squeeze(char out[PEEK], const struct flow *f)
{
    size_t n = 0;
    for (size_t i = 0; i < f->len && i < f->left && n + 1 < PEEK; i++)
        if (f->bytes[i] && !strchr(" \t\r\n", f->bytes[i]))
            out[n++] = (char)f->bytes[i];
    out[n] = 0;
}

static bool client_message(struct proxy *p, struct link *l, const char *text)
{
    const struct flow *f = &l->flow[CLIENT];
    size_t at = f->bytes[0] == 'P' ? 6 : 5; /* Parse of the unnamed statement, Query */
    bool data = p->pg && f->bytes[0] == 'd';
    bool commit = p->pg && (f->bytes[0] == 'Q' || f->bytes[0] == 'P') && f->left > at + 6 &&
                  strncasecmp((const char *)f->bytes + at, "COMMIT", 6) == 0;
    if (!data) {
        l->asked = true;
        memcpy(l->question, text, PEEK);
    }
    return apply_rule(l, CLIENT, happens(p, MESSAGE, text)) &&
           (!data || apply_rule(l, CLIENT, happens(p, COPY, text))) &&
           (!commit || apply_rule(l, CLIENT, happens(p, COMMIT, text)));
}

static bool server_message(struct proxy *p, struct link *l, const char *text)
{
    const struct flow *f = &l->flow[SERVER];
    bool asked = l->asked, committed = p->pg && f->bytes[0] == 'C' && f->left > 11 &&
                                       memcmp(f->bytes + 5, "COMMIT", 6) == 0;
    l->asked = false;
    return (!asked || apply_rule(l, SERVER, happens(p, ANSWER, l->question))) &&
           (!committed || apply_rule(l, SERVER, happens(p, COMMITTED, text)));
}

/* Matches the message at the head of the flow against the rules. Returns false if the link was
 * closed. */
static bool inspect(struct proxy *p, struct link *l, int side)
{
    struct flow *f = &l->flow[side];
    char text[PEEK];
    bool plain = f->raw;
    f->left = p->pg ? pg_length(l, f) : p->http && side == CLIENT ? http_length(f) : f->len;
    f->raw = false;
    if (f->left == 0 && f->eof)
        f->left = f->len;
    if (f->left == 0 || plain)
        return true;
    squeeze(text, f);
    return side == CLIENT ? client_message(p, l, text) : server_message(p, l, text);
}

/* ---- bytes ---- */

static void take_in(struct flow *f, int fd)
{
    if (f->len == BUFFER)
        return;
    ssize_t n = read(fd, f->bytes + f->len, BUFFER - f->len);
    if (n > 0)
        f->len += (size_t)n;
    else if (n == 0 || (errno != EAGAIN && errno != EINTR))
        f->eof = true;
}

/* Returns how many bytes at the head may be sent now. */
static size_t allowed(const struct flow *f, int64_t now)
{
    uint64_t n = f->len - f->sent;
    n = n < f->left ? n : f->left;
    n = n < f->cut ? n : f->cut;
    if (f->corrupt && f->corrupt < n)
        n = f->corrupt; /* stop before the byte to alter: the next call starts with it */
    if (f->rate && n > f->rate / 20 + 1)
        n = f->rate / 20 + 1;
    return now < f->held_until ? 0 : (size_t)n;
}

static void consume(struct flow *f, size_t n, int64_t now)
{
    f->sent += n;
    f->left -= n;
    f->cut -= f->cut == UINT64_MAX ? 0 : n;
    f->corrupt -= f->corrupt == UINT64_MAX ? 0 : n;
    if (f->rate)
        f->held_until = now + (int64_t)(n * 1000 / f->rate);
    if (f->again && f->left == 0) {
        f->again = false;
        f->left = f->sent;
        f->sent = 0;
    } else if (!f->again) {
        memmove(f->bytes, f->bytes + f->sent, f->len - f->sent);
        f->len -= f->sent;
        f->sent = 0;
    }
}

/* Sends the bytes that may go now. Returns false if the link was closed. */
static bool hand_on(struct link *l, int side, int64_t now)
{
    struct flow *f = &l->flow[side];
    size_t n = allowed(f, now);
    ssize_t wrote = (ssize_t)n;
    if (n && f->corrupt == 0) {
        f->bytes[f->sent] ^= 0xff;
        f->corrupt = UINT64_MAX;
    }
    if (n && !l->blackhole && !(l->drop && side == SERVER))
        wrote = send(l->fd[!side], f->bytes + f->sent, n, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (wrote < 0 && errno != EAGAIN && errno != EINTR)
        return drop_link(l);
    f->stuck = wrote < 0;
    if (wrote > 0)
        consume(f, (size_t)wrote, now);
    return f->cut == 0 || (f->close_after && f->left == 0 && wrote > 0) ? drop_link(l) : true;
}

/* Hands on the bytes of one side until nothing moves. */
static void advance_flow(struct proxy *p, struct link *l, int side, int64_t now)
{
    struct flow *f = &l->flow[side];
    for (uint64_t before = UINT64_MAX; f->len && f->len + f->left != before;) {
        before = f->len + f->left;
        if (f->left == 0 && (!inspect(p, l, side) || f->left == 0))
            return;
        if (!hand_on(l, side, now))
            return;
    }
    if (f->eof && !f->closed && f->len == 0) {
        f->closed = true;
        if (!l->blackhole && !l->drop)
            shutdown(l->fd[!side], SHUT_WR);
    }
}

static void welcome(struct proxy *p, int fd)
{
    struct link *l = p->links;
    while (l < p->links + CONNECTIONS && l->used)
        l++;
    int up = l == p->links + CONNECTIONS ? -1 : connect_to(p->upstream, SOCK_NONBLOCK);
    if (up < 0) {
        close(fd);
        return;
    }
    memset(l, 0, sizeof *l);
    l->used = true;
    l->fd[CLIENT] = fd;
    l->fd[SERVER] = up;
    for (int side = 0; side < 2; side++)
        l->flow[side].cut = l->flow[side].corrupt = UINT64_MAX;
    l->flow[SERVER].typed = true;
    (void)apply_rule(l, CLIENT, happens(p, CONNECT, ""));
}

/* ---- commands ---- */

static int named(const char *const *names, size_t count, const char *word)
{
    size_t len = strcspn(word, ":");
    for (size_t i = 0; i < count; i++)
        if (strlen(names[i]) == len && memcmp(names[i], word, len) == 0)
            return (int)i;
    return -1;
}

static bool add_rule(struct proxy *p, char *words)
{
    struct rule r = { .times = 1 };
    char *text = strstr(words, " text="), event[32], verb[32], word[32];
    int used = 0;
    if (text) {
        snprintf(r.text, sizeof r.text, "%s", text + 6);
        *text = 0;
    }
    if (p->rule_count == RULES || sscanf(words, "%31s %31s%n", event, verb, &used) != 2)
        return false;
    int e = named(event_names, TIDE_COUNT(event_names), event);
    int v = named(verb_names, TIDE_COUNT(verb_names), verb);
    if (e < 0 || v < 0)
        return false;
    r.event = (enum event)e;
    r.verb = (enum verb)v;
    if (strchr(verb, ':'))
        r.n = strtoull(strchr(verb, ':') + 1, NULL, 10);
    for (words += used; sscanf(words, " %31s%n", word, &used) == 1; words += used)
        if (sscanf(word, "skip=%u", &r.skip) != 1 && sscanf(word, "times=%u", &r.times) != 1)
            return false;
    p->rules[p->rule_count++] = r;
    return true;
}

static void put_counts(const struct proxy *p, FILE *out)
{
    unsigned open = 0;
    for (size_t i = 0; i < CONNECTIONS; i++)
        open += p->links[i].used;
    fprintf(out, "ok connections=%" PRIu64 " open=%u fired=%" PRIu64, p->seen[CONNECT], open,
            p->fired);
    for (size_t e = MESSAGE; e < TIDE_COUNT(event_names); e++)
        fprintf(out, " %s=%" PRIu64, event_names[e], p->seen[e]);
    fputc('\n', out);
}

/* Reads one command from a control connection. A command arrives in one piece. */
static void command(struct proxy *p, int fd)
{
    char line[LINE];
    ssize_t n = read(fd, line, sizeof line - 1);
    line[n > 0 ? n : 0] = 0;
    line[strcspn(line, "\n")] = 0;
    FILE *out = fdopen(fd, "w");
    bool known = out && strncmp(line, "rule ", 5) == 0 && add_rule(p, line + 5);
    if (strcmp(line, "clear") == 0 || strcmp(line, "cut") == 0)
        known = true;
    if (strcmp(line, "clear") == 0)
        p->rule_count = p->fired = 0;
    for (size_t i = 0; i < CONNECTIONS && strcmp(line, "cut") == 0; i++)
        if (p->links[i].used)
            drop_link(&p->links[i]);
    if (out && strcmp(line, "counts") == 0)
        put_counts(p, out);
    else if (out)
        fprintf(out, "%s\n", known ? "ok" : "no such command");
    if (out)
        fclose(out);
}

/* ---- the loop ---- */

static void serve_links(struct proxy *p, const struct pollfd *fds, int64_t now)
{
    for (size_t i = 0; i < CONNECTIONS; i++) {
        struct link *l = &p->links[i];
        for (int side = 0; l->used && side < 2; side++)
            if (fds[2 * i + (size_t)side].revents & (POLLIN | POLLHUP | POLLERR))
                take_in(&l->flow[side], l->fd[side]);
        for (int side = 0; l->used && side < 2; side++)
            advance_flow(p, l, side, now);
        bool dark = l->blackhole || l->drop;
        if (l->used && l->flow[CLIENT].closed && (l->flow[SERVER].closed || dark))
            drop_link(l);
    }
}

static void step_links(struct proxy *p, const int listening[2])
{
    struct pollfd fds[2 * CONNECTIONS + 2];
    for (size_t i = 0; i < (size_t)2 * CONNECTIONS; i++) {
        const struct link *l = &p->links[i / 2];
        bool room = l->flow[i % 2].len < BUFFER && !l->flow[i % 2].eof;
        int events = (room ? POLLIN : 0) | (l->flow[1 - i % 2].stuck ? POLLOUT : 0);
        fds[i] =
            (struct pollfd){ .fd = l->used && events ? l->fd[i % 2] : -1, .events = (short)events };
    }
    for (size_t i = 0; i < 2; i++)
        fds[(size_t)2 * CONNECTIONS + i] = (struct pollfd){ .fd = listening[i], .events = POLLIN };
    if (poll(fds, TIDE_COUNT(fds), 10) < 0) /* 10 ms: delayed bytes are checked again after that */
        return;
    serve_links(p, fds, now_ms());
    int fd = accept4(listening[0], NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0)
        welcome(p, fd);
    fd = accept4(listening[1], NULL, NULL, SOCK_CLOEXEC);
    if (fd >= 0)
        command(p, fd);
}

static int send_command(const char *control, int argc, char **argv)
{
    char line[LINE];
    size_t len = 0;
    int fd = connect_to(control, 0);
    for (int i = 0; i < argc && len < sizeof line; i++)
        len += (size_t)snprintf(line + len, sizeof line - len, i ? " %s" : "%s", argv[i]);
    if (fd < 0 || len >= sizeof line || write(fd, line, len) != (ssize_t)len) {
        fprintf(stderr, "fault_proxy: no answer at %s\n", control);
        return 1;
    }
    ssize_t n = read(fd, line, sizeof line - 1);
    line[n > 0 ? n : 0] = 0;
    fputs(line, stdout);
    return strncmp(line, "ok", 2) != 0;
}

int main(int argc, char **argv)
{
    static struct proxy proxy;
    if (argc >= 4 && strcmp(argv[1], "tell") == 0)
        return send_command(argv[2], argc - 3, argv + 3);
    if (argc < 5 || strcmp(argv[1], "run") != 0)
        return 64;
    signal(SIGPIPE, SIG_IGN);
    proxy.pg = argc > 5 && strcmp(argv[5], "pg") == 0;
    proxy.http = argc > 5 && strcmp(argv[5], "http") == 0;
    proxy.upstream = argv[3];
    const int listening[2] = { listen_on(argv[2]), listen_on(argv[4]) };
    say_listening(listening[0], argv[2]);
    for (;;)
        step_links(&proxy, listening);
}
