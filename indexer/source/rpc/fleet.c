#include "indexer/source/rpc/fleet_impl.h"
#include "tidemark/clock.h"
#include "tidemark/limits.h"
#include "tidemark/log.h"
#include "tidemark/text.h"

enum {
    PAGE_SHARE = 8, /* pages are sized to this part of the largest answer */
};

/* --- reported ranges ---------------------------------------------------------------------- */

/* Marks the current server as overstated: it reported a ledger far beyond the one before which its
 * answers end. Until it delivers a ledger it cannot overtake others, and f->newest_reported counts
 * only the other servers. */
static void mark_overstated(struct rpc_fleet *f, uint32_t wanted)
{
    pthread_mutex_lock(&f->lock);
    f->servers[f->current].overstated = true;
    rpc_fleet_recount(f, wanted - 1);
    pthread_mutex_unlock(&f->lock);
}

static void clear_overstated(struct rpc_fleet *f)
{
    pthread_mutex_lock(&f->lock);
    f->servers[f->current].overstated = false;
    pthread_mutex_unlock(&f->lock);
}

static bool is_forked(struct rpc_fleet *f, struct tide_err *err)
{
    pthread_mutex_lock(&f->lock);
    bool forked = f->forked;
    if (forked)
        *err = f->fork;
    pthread_mutex_unlock(&f->lock);
    return forked;
}

void rpc_fleet_range(struct rpc_fleet *f, uint32_t *oldest, uint32_t *latest)
{
    pthread_mutex_lock(&f->lock);
    *oldest = f->servers[f->current].oldest;
    uint32_t confirmable = rpc_fleet_confirmable(f, f->asked);
    *latest = f->newest_reported < confirmable ? f->newest_reported : confirmable;
    pthread_mutex_unlock(&f->lock);
}

int64_t rpc_fleet_trouble(struct rpc_fleet *f, char *text, size_t size)
{
    pthread_mutex_lock(&f->lock);
    int64_t since = f->trouble_ms ? tide_now_ms() - f->trouble_ms + 1 : 0;
    snprintf(text, size, "%s", since ? f->trouble : "");
    if (!since)
        since = rpc_fleet_doubted(f, text, size);
    pthread_mutex_unlock(&f->lock);
    return since;
}

/* --- choosing a server -------------------------------------------------------------------- */

static uint32_t latest_of(struct rpc_fleet *f, uint32_t server)
{
    pthread_mutex_lock(&f->lock);
    uint32_t latest = f->servers[server].latest;
    pthread_mutex_unlock(&f->lock);
    return latest;
}

static void use_server(struct rpc_fleet *f, uint32_t server, const char *why)
{
    if (f->current == server)
        return;
    tide_log(TIDE_WARN, "rpc.switch", "from=%s to=%s reason=%s", f->servers[f->current].client.name,
             f->servers[server].client.name, why);
    pthread_mutex_lock(&f->lock);
    f->current = server;
    pthread_mutex_unlock(&f->lock);
}

static bool is_usable(const struct rpc_fleet *f, uint32_t server, uint32_t ledger)
{
    const struct rpc_server *s = &f->servers[server];
    return s->gone_for != ledger && s->retry_ms <= tide_now_ms();
}

/* Returns the newest ledger that the servers report, except one (f->count: all). Of three servers
 * two must report it or a later one. 0: none did. Call with the lock. */
static uint32_t newest_reported_except(const struct rpc_fleet *f, uint32_t except)
{
    uint32_t newest = 0, second = 0, reports = except < f->count;
    for (uint32_t i = 0; i < f->count; i++) {
        uint32_t latest = f->servers[i].latest;
        if (i == except || f->servers[i].overstated || !rpc_fleet_has_ledger(&f->servers[i], 1))
            continue;
        reports++;
        second = latest < newest ? (latest > second ? latest : second) : newest;
        newest = latest > newest ? latest : newest;
    }
    return reports > 2 ? second : newest;
}

uint32_t rpc_fleet_newest(struct rpc_fleet *f)
{
    pthread_mutex_lock(&f->lock);
    uint32_t newest_reported = newest_reported_except(f, f->count);
    pthread_mutex_unlock(&f->lock);
    return newest_reported;
}

/* Returns a usable server that is ahead of this one by RPC_LAG_LEDGERS, or has the wanted ledger
 * while this one is more than one ledger behind it; f->count if there is none. */
static uint32_t ahead_of(struct rpc_fleet *f, uint32_t server, uint32_t ledger)
{
    uint32_t latest = latest_of(f, server);
    uint64_t enough = (uint64_t)latest + RPC_LAG_LEDGERS;
    if (latest + 1 < ledger && ledger < enough)
        enough = ledger;
    uint32_t ahead = 0;
    pthread_mutex_lock(&f->lock);
    while (ahead < f->count && (ahead == server || !is_usable(f, ahead, ledger) ||
                                !rpc_fleet_has_ledger(&f->servers[ahead], enough)))
        ahead++;
    pthread_mutex_unlock(&f->lock);
    return ahead;
}

/* Returns the newest ledger that the other servers report. at_ms is the time of the oldest of the
 * last reports that have it: a server that reports often must not shorten the charged interval. */
static struct rpc_report others_report(struct rpc_fleet *f)
{
    struct rpc_report report = { 0 };
    pthread_mutex_lock(&f->lock);
    report.ledger = newest_reported_except(f, f->current);
    for (const struct rpc_server *s = f->servers; s < f->servers + f->count; s++)
        if (s != &f->servers[f->current] && !s->overstated &&
            rpc_fleet_has_ledger(s, report.ledger) &&
            (report.at_ms == 0 || s->latest_ms < report.at_ms))
            report.at_ms = s->latest_ms;
    pthread_mutex_unlock(&f->lock);
    return report;
}

/* Charges the current server for its share of the ledgers that closed between two reports of the
 * others, by time: the rest closed while other servers were asked. */
static void charge_server(struct rpc_fleet *f)
{
    const struct rpc_report now = others_report(f), before = f->debt.before;
    int64_t interval_ms = now.at_ms - before.at_ms;
    if (interval_ms <= 0)
        return;
    uint64_t spent_ms = f->debt.spent_ms < interval_ms ? f->debt.spent_ms : interval_ms;
    if (before.ledger && now.ledger > before.ledger)
        f->servers[f->current].owed += (now.ledger - before.ledger) * spent_ms / interval_ms;
    f->debt.before = now;
    f->debt.spent_ms = 0;
}

/* Returns whether the current server, which just gave ledgers, gives fewer than close meanwhile.
 * The newest ledger that the server itself reports is ignored. */
static bool is_too_slow(struct rpc_fleet *f, uint32_t given)
{
    struct rpc_server *s = &f->servers[f->current];
    charge_server(f);
    s->owed = s->owed > given ? s->owed - given : 0;
    if (s->owed < RPC_LAG_LEDGERS)
        return false;
    s->owed = 0;
    return true;
}

static void begin_asking(struct rpc_fleet *f, uint32_t ledger)
{
    if (f->debt.server != f->current || !f->debt.before.ledger)
        f->debt = (struct rpc_debt){ .server = f->current, .before = others_report(f) };
    f->debt.asked_ms = tide_now_ms();
    pthread_mutex_lock(&f->lock);
    f->asked = ledger;
    f->overtaken = false;
    pthread_mutex_unlock(&f->lock);
}

static bool was_overtaken(struct rpc_fleet *f)
{
    pthread_mutex_lock(&f->lock);
    bool overtaken = f->overtaken;
    pthread_mutex_unlock(&f->lock);
    return overtaken;
}

static bool is_believed(struct rpc_fleet *f, uint32_t server, uint32_t ledger)
{
    return is_usable(f, server, ledger) && rpc_fleet_trust(f, server) == RPC_COMPARED;
}

/* Uses a server that was left as too slow: it gives ledgers, and the others, by whose reports it
 * seemed slow, give none now. Returns false if there is none. */
static bool recall_slow(struct rpc_fleet *f, uint32_t ledger)
{
    for (uint32_t i = 0; i < f->count; i++) {
        struct rpc_server *s = &f->servers[i];
        if (!s->slow)
            continue;
        s->slow = false;
        s->retry_ms = 0;
        if (!is_believed(f, i, ledger))
            continue;
        use_server(f, i, "failure");
        return true;
    }
    return false;
}

/* Chooses the server to ask for the ledger. Returns false if no server may be asked now. */
static bool choose_server(struct rpc_fleet *f, uint32_t ledger)
{
    if (is_believed(f, f->current, ledger)) {
        uint32_t ahead = ahead_of(f, f->current, ledger);
        if (ahead < f->count)
            use_server(f, ahead, "lag");
        return true;
    }
    for (uint32_t i = 0; i < f->count; i++) {
        if (!is_believed(f, i, ledger))
            continue;
        use_server(f, i, "failure");
        return true;
    }
    return recall_slow(f, ledger);
}

static void fail_server(struct rpc_fleet *f, uint32_t asked_ms, const struct tide_err *err)
{
    rpc_fleet_note_failure(f, f->current, asked_ms, err);
    f->failures++;
    f->last = *err;
}

static void praise_server(struct rpc_fleet *f)
{
    rpc_fleet_note_success(f, f->current);
    f->failures = 0;
    rpc_fleet_set_trouble(f, NULL);
}

static uint32_t shortest_pause(const struct rpc_fleet *f)
{
    int64_t now = tide_now_ms(), least = f->config->retry_ms_max;
    for (uint32_t i = 0; i < f->count; i++) {
        int64_t left = f->servers[i].retry_ms - now;
        if (left > 0 && left < least)
            least = left;
    }
    return least < 1 ? 1 : (uint32_t)least;
}

/* --- one answer --------------------------------------------------------------------------- */

/* Handles a server whose newest ledger is before the wanted one. promised: the newest ledger that
 * it reported earlier. */
static enum rpc_outcome ends_before(struct rpc_fleet *f, const struct rpc_want *want,
                                    uint32_t promised, uint32_t latest, struct tide_err *err)
{
    struct rpc_server *s = &f->servers[f->current];
    if (promised >= (uint64_t)want->first + RPC_LAG_LEDGERS) {
        mark_overstated(f, want->first);
        tide_fail(err, TIDE_E_IO, "%s reported ledger %u, and ends at %u", s->client.name, promised,
                  latest);
        return RPC_PAUSE;
    }
    f->failures = s->failures = 0;
    if (want->first > latest + 1)
        return rpc_fleet_look_behind(f, want->first, latest, err);
    praise_server(f);
    return RPC_TIP;
}

/* Handles an error of the server: the ledger is too new, too old, or another reason. */
static enum rpc_outcome refused(struct rpc_fleet *f, const struct rpc_want *want, uint32_t promised,
                                struct tide_err *err)
{
    struct rpc_server *s = &f->servers[f->current];
    const struct tide_rpc_error *e = &s->client.last.error;
    rpc_fleet_note_range(f, f->current, e->oldest, e->latest);
    if (e->latest && want->first > e->latest)
        return ends_before(f, want, promised, e->latest, err);
    if (e->oldest && want->first < e->oldest) {
        s->gone_for = want->first;
        tide_fail(err, TIDE_E_MISSING,
                  "%s keeps ledgers from %u on, so ledgers %u..%u cannot be had from RPC; a lake "
                  "beside it (--lake) has them",
                  s->client.name, e->oldest, want->first, e->oldest - 1);
        return RPC_GONE;
    }
    return RPC_PAUSE;
}

/* Compares the first ledger's previous hash with the known or stored hash of the ledger before. */
static enum rpc_outcome check_follows(struct rpc_fleet *f, const struct tide_rpc_ledger *first,
                                      struct tide_err *err)
{
    uint8_t before[TIDE_HASH_BYTES];
    uint32_t source, ledger = first->sequence - 1;
    if (first->unknown)
        return RPC_PAGE;
    pthread_mutex_lock(&f->lock);
    const uint8_t *delivered = rpc_memory_find(&f->memory, ledger, &source);
    if (delivered)
        memcpy(before, delivered, sizeof before);
    pthread_mutex_unlock(&f->lock);
    if ((!delivered && !rpc_fleet_stored_hash(f, ledger, before)) ||
        memcmp(before, first->previous, TIDE_HASH_BYTES) == 0)
        return RPC_PAGE;
    if (f->count > 1)
        return rpc_fleet_after_dispute(
            f, rpc_fleet_dispute(f, f->current, RPC_FETCHER, ledger, first->previous, err));
    tide_fail(err, TIDE_E_CHAIN,
              "ledger %u of %s does not follow ledger %u%s: its previous hash is another",
              first->sequence, f->servers[f->current].client.name, ledger,
              delivered ? "" : ", which is stored");
    return RPC_END;
}

/* Returns how many of the ledgers are wanted and follow each other. */
static uint32_t count_consecutive(const struct rpc_want *want, const struct tide_rpc_ledger *l,
                                  uint32_t count)
{
    uint32_t kept = 0;
    for (; kept < count; l++, kept++) {
        bool last = want->last && l->sequence > want->last;
        bool broken =
            kept && (l->sequence != l[-1].sequence + 1 ||
                     (!l->unknown && memcmp(l->previous, l[-1].hash, TIDE_HASH_BYTES) != 0));
        if (last || broken)
            break;
    }
    return kept;
}

/* Notes the hashes of the page's ledgers, and the server that gave them. */
static enum rpc_outcome note_page(struct rpc_fleet *f, const struct tide_rpc_page *page,
                                  struct tide_err *err)
{
    enum rpc_outcome outcome = RPC_PAGE;
    for (uint32_t i = 0; i < page->count && outcome == RPC_PAGE; i++) {
        const struct tide_rpc_ledger *l = &page->ledgers[i];
        outcome = rpc_fleet_after_dispute(
            f, rpc_fleet_note_ledger(f, f->current, RPC_FETCHER, l->sequence, l->hash, err));
        pthread_mutex_lock(&f->lock);
        f->gave[l->sequence % RPC_MEMORY_LEDGERS].sequence = l->sequence;
        f->gave[l->sequence % RPC_MEMORY_LEDGERS].server = f->current;
        pthread_mutex_unlock(&f->lock);
    }
    return outcome;
}

/* Keeps the ledgers of the page that follow without a gap from the first wanted one. */
static enum rpc_outcome sift_page(struct rpc_fleet *f, const struct rpc_want *want,
                                  struct tide_rpc_page *page, struct tide_err *err)
{
    struct rpc_server *s = &f->servers[f->current];
    uint32_t skip = 0;
    while (skip < page->count && page->ledgers[skip].sequence < want->first)
        skip++;
    const struct tide_rpc_ledger *l = page->ledgers + skip;
    if (skip == page->count || l->sequence != want->first) {
        bool for_good = ++s->gaps >= f->config->http_tries;
        tide_fail(err, for_good ? TIDE_E_MISSING : TIDE_E_IO,
                  "%s leaves out ledger %u and gives %u, its latest being %u", s->client.name,
                  want->first, skip == page->count ? 0 : l->sequence, page->latest);
        s->gone_for = for_good ? want->first : 0;
        if (page->latest >= (uint64_t)want->first + RPC_LAG_LEDGERS)
            mark_overstated(f, want->first); /* others seem to hang if its report is believed */
        return for_good ? RPC_GONE : RPC_PAUSE;
    }
    enum rpc_outcome outcome = check_follows(f, l, err);
    if (outcome != RPC_PAGE)
        return outcome;
    page->count = count_consecutive(want, l, page->count - skip);
    memmove(page->ledgers, l, page->count * sizeof *l);
    return RPC_PAGE;
}

/* Notes what a page held. The next one has at most a PAGE_SHARE-th of the largest answer. */
static void note_size(struct rpc_fleet *f, uint32_t asked, uint32_t given, size_t bytes)
{
    size_t share = ((size_t)f->config->object_max_mib << 20) / PAGE_SHARE;
    if (given)
        rpc_size_given(&f->servers[f->current].size, asked, given, share / (bytes / given + 1));
}

/* Notes that the current server refused a page, or gave none of it. Returns whether it is asked
 * for fewer ledgers next. */
static bool note_refusal(struct rpc_fleet *f, const struct tide_rpc_page_request *page,
                         const struct tide_err *err)
{
    struct rpc_server *s = &f->servers[f->current];
    char quoted[TIDE_ERR_TEXT_MAX + 64];
    if (!rpc_size_refused(&s->size, page->limit))
        return false;
    f->last = *err;
    int64_t now = tide_now_ms();
    if (s->refused_ms && page->limit >= s->refused && now - s->refused_ms < RPC_LOG_MS)
        return true;
    s->refused = page->limit;
    s->refused_ms = now;
    tide_log(TIDE_WARN, "rpc.refused", "from=%u ledgers=%u next_ledgers=%u error=%s", page->start,
             page->limit, s->size.next, tide_log_quote(quoted, sizeof quoted, err->text));
    return true;
}

/* Delivers the current server's page as far as another server has it. */
static enum rpc_outcome deliver_page(struct rpc_fleet *f, const struct rpc_want *want,
                                     struct tide_rpc_page *page, struct tide_err *err)
{
    uint32_t given = page->count;
    enum rpc_outcome outcome =
        f->count > 1 && f->config->rpc_confirm_ms ? rpc_fleet_confirm(f, page, err) : RPC_PAGE;
    f->held.page = outcome == RPC_HELD ? page : NULL;
    f->held.first = want->first;
    f->held.last = want->last;
    f->held.server = f->current;
    if (outcome == RPC_PAGE)
        outcome = note_page(f, page, err);
    if (outcome != RPC_PAGE)
        return outcome;
    if (page->count < given) /* the rest of a page that is cut is fetched again */
        rpc_size_limit(&f->servers[f->current].size, 2 * page->count);
    f->servers[f->current].gaps = 0;
    if (is_forked(f, err))
        return RPC_END;
    praise_server(f);
    clear_overstated(f);
    if (is_too_slow(f, given)) {
        struct tide_err slow;
        tide_fail(&slow, TIDE_E_IO, "%s: ledgers close faster than it gives them",
                  f->servers[f->current].client.name);
        fail_server(f, f->config->retry_ms_max, &slow);
        f->servers[f->current].slow = true;
    }
    return RPC_PAGE;
}

/* Returns whether *page holds the wanted ledgers since RPC_HELD, of a server that is still
 * trusted. */
static bool is_held(struct rpc_fleet *f, const struct rpc_want *want,
                    const struct tide_rpc_page *page)
{
    return f->held.page == page && f->held.first == want->first && f->held.last == want->last &&
           f->held.server == f->current && rpc_fleet_trust(f, f->current) == RPC_COMPARED;
}

/* One request to the current server, and what to do after it gave no page. */
struct attempt {
    struct tide_rpc_page_request request;
    uint32_t promised; /* the newest ledger that it reported before */
    uint32_t after_ms; /* the pause that it asked for */
    bool silent;       /* no answer came */
    bool busy;         /* the server asked for a pause */
    bool refused;      /* the page was refused, not the ledger */
    bool smaller;      /* fewer ledgers are asked for next: this is no failure */
};

static tide_status send_request(struct rpc_fleet *f, const struct rpc_want *want, struct attempt *a,
                                struct tide_buf *body, struct tide_rpc_page *page,
                                struct tide_err *err)
{
    struct rpc_server *s = &f->servers[f->current];
    uint32_t limit = s->size.next;
    if (want->last && want->last - want->first < limit)
        limit = want->last - want->first + 1;
    *a =
        (struct attempt){ .request = { want->first, limit }, .promised = latest_of(f, f->current) };
    begin_asking(f, want->first);
    tide_status status = tide_rpc_client_page(&s->client, &a->request, page, body, err);
    f->debt.spent_ms += tide_now_ms() - f->debt.asked_ms;
    bool overtaken = status == TIDE_E_STOPPED && was_overtaken(f);
    const struct tide_rpc_error *e = &s->client.last.error;
    a->after_ms = s->client.last.after_ms;
    a->silent = (status == TIDE_E_IO && !e->code) || overtaken;
    a->busy = s->client.last.busy;
    a->refused = (status == TIDE_E_IO && s->client.last.reached && !e->oldest && !e->latest) ||
                 status == TIDE_E_DECODE || status == TIDE_E_LIMIT;
    if (overtaken)
        status = tide_fail(err, TIDE_E_IO, "%s: no answer while others go on", s->client.name);
    if (status == TIDE_E_LIMIT && limit == 1)
        tide_fail_context(err, "one ledger; at most %u MiB are taken", TIDE_LEDGER_BYTES_MAX >> 20);
    return status;
}

/* Handles the answer to a request. RPC_PAUSE: it has no ledger, and err says why. */
static enum rpc_outcome use_answer(struct rpc_fleet *f, const struct rpc_want *want,
                                   const struct attempt *a, struct tide_buf *body,
                                   struct tide_rpc_page *page, tide_status status,
                                   struct tide_err *err)
{
    if (status == TIDE_E_CHAIN && rpc_fleet_put_aside(f, f->current, RPC_FETCHER, err))
        return RPC_PAUSE;
    if (status == TIDE_E_IO && f->servers[f->current].client.last.error.code)
        return refused(f, want, a->promised, err);
    if (status)
        return status == TIDE_E_CHAIN || status == TIDE_E_MEMORY || status == TIDE_E_STOPPED
                   ? RPC_END
                   : RPC_PAUSE;
    rpc_fleet_note_range(f, f->current, page->oldest, page->latest);
    note_size(f, a->request.limit, page->count, body->len);
    if (page->count == 0 && page->latest < want->first)
        return ends_before(f, want, a->promised, page->latest, err);
    enum rpc_outcome outcome = sift_page(f, want, page, err);
    return outcome == RPC_PAGE ? deliver_page(f, want, page, err) : outcome;
}

/* Asks the current server. If it refuses a page at once, asks for fewer ledgers at once; if it
 * failed to answer or is busy, it rests before. RPC_PAUSE: it failed, and err says why. */
static enum rpc_outcome ask_current(struct rpc_fleet *f, const struct rpc_want *want,
                                    struct tide_buf *body, struct tide_rpc_page *page,
                                    struct attempt *a, struct tide_err *err)
{
    for (;;) {
        tide_status status = send_request(f, want, a, body, page, err);
        enum rpc_outcome outcome = use_answer(f, want, a, body, page, status, err);
        a->smaller = outcome == RPC_PAUSE && a->refused && note_refusal(f, &a->request, err);
        if (!a->smaller || a->busy || a->silent)
            return outcome;
    }
}

/* Leaves the current server for a pause, after which it is asked for fewer ledgers. Without an
 * answer it may be dead: what it reported does not count until it answers again. */
static void leave_current(struct rpc_fleet *f, const struct attempt *a)
{
    f->servers[f->current].retry_ms = tide_now_ms() + rpc_fleet_pause(f, 0, a->after_ms);
    if (a->silent)
        rpc_fleet_note_silent(f, f->current);
}

/* Some server reported that the ledger is gone. Returns whether that ends the request: every
 * trusted server reported it, or the others failed so often that another source is to be asked.
 * While one of them may have the ledger, following goes on (TIDE_E_IO). */
static bool is_gone(struct rpc_fleet *f, const struct rpc_want *want, struct tide_err *err)
{
    bool failing = false;
    for (uint32_t i = 0; i < f->count; i++)
        failing = failing ||
                  (f->servers[i].gone_for != want->first && rpc_fleet_trust(f, i) != RPC_ASIDE);
    if (failing && f->failures < f->config->http_tries)
        return false;
    if (failing && !want->give_up) {
        f->failures = 0;
        err->code = TIDE_E_IO;
        tide_fail_context(err, "other servers do not answer");
        rpc_fleet_set_trouble(f, err->text);
    }
    return true;
}

/* Compares the servers again if none is trusted. RPC_PAGE: at least one is trusted. */
static enum rpc_outcome believe_one(struct rpc_fleet *f, uint32_t ledger, uint32_t *pause_ms,
                                    struct tide_err *err)
{
    begin_asking(f, ledger);
    for (uint32_t tries = 0; tries < 2; tries++) {
        for (uint32_t i = 0; i < f->count; i++)
            if (rpc_fleet_trust(f, i) == RPC_COMPARED)
                return RPC_PAGE;
        if (tries == 0 && rpc_fleet_greet(f, err))
            return RPC_END;
    }
    assert(f->count > 0); /* no function changes it after the source was opened */
    *pause_ms = rpc_fleet_pause(f, f->failures / f->count, 0);
    f->failures += f->count;
    return RPC_PAUSE;
}

bool rpc_fleet_doubt(struct rpc_fleet *f, uint32_t ledger, const struct tide_err *why)
{
    pthread_mutex_lock(&f->lock);
    bool known = f->gave[ledger % RPC_MEMORY_LEDGERS].sequence == ledger;
    uint32_t server = f->gave[ledger % RPC_MEMORY_LEDGERS].server;
    pthread_mutex_unlock(&f->lock);
    return known && rpc_fleet_put_aside(f, server, RPC_READER, why);
}

enum rpc_outcome rpc_fleet_fetch(struct rpc_fleet *f, const struct rpc_want *want,
                                 struct tide_buf *body, struct tide_rpc_page *page,
                                 uint32_t *pause_ms, struct tide_err *err)
{
    struct tide_err gone = { 0 };
    struct attempt attempt = { 0 };
    assert(want->first > 0);
    if (is_forked(f, err))
        return RPC_END;
    for (uint32_t i = 0; i < f->count; i++)
        f->servers[i].gone_for = 0; /* ask again: a server may have been given older ledgers */
    enum rpc_outcome believed = believe_one(f, want->first, pause_ms, err);
    if (believed == RPC_END)
        return RPC_END;
    bool held = is_held(f, want, page);
    f->held.page = NULL;
    while (held || choose_server(f, want->first)) {
        enum rpc_outcome outcome = held ? deliver_page(f, want, page, err)
                                        : ask_current(f, want, body, page, &attempt, err);
        if (outcome == RPC_HELD)
            rpc_fleet_note_held(f, want->first);
        if (outcome == RPC_GONE)
            gone = *err;
        else if (outcome == RPC_PAUSE && !held && attempt.smaller)
            leave_current(f, &attempt);
        else if (outcome == RPC_PAUSE)
            fail_server(f, attempt.after_ms, err);
        else
            return outcome;
        held = false;
    }
    if (gone.code && is_gone(f, want, &gone)) {
        *err = gone;
        return RPC_GONE;
    }
    rpc_fleet_set_trouble(f, gone.code ? gone.text : f->last.text);
    if (want->give_up && f->failures >= f->config->http_tries * f->count) {
        *err = f->last;
        tide_fail_context(err, "given up after %u tries", f->failures);
        return RPC_END;
    }
    if (believed == RPC_PAGE)
        *pause_ms = shortest_pause(f);
    return RPC_PAUSE;
}
