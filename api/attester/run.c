/* The main loop: connect, lock, take a turn, pause; and the heartbeat. */
#include "api/attester/attester.h"
#include "api/attester/work.h"
#include "tidemark/log.h"
#include "tidemark/notify.h"
#include "tidemark/retry.h"
#include "tidemark/text.h"

#include <stdlib.h>

/* SLICE_MS bounds the reaction to a signal and the time between pings of systemd's watchdog. */
enum { IDLE_MS = 2000, STANDBY_MS = 500, SLICE_MS = 100, TROUBLE_AGAIN_MS = 60000 };
enum {
    HEARTBEAT_MS = 5000,
    SETTLED_MS = 1000,
    ACCOUNT_MS = 60000,
    STANDING_MS = 60000,
    ERROR_BYTES = 200
};

struct runner {
    struct att_program *program;
    const struct att_run *mode;
    struct att_work work;
    struct tide_watchdog watchdog;
    const char *notify;
    bool network_known;  /* a server confirmed the network */
    bool standby_logged; /* the standby was logged */
    bool key_noted;      /* kyc.audit has the note of this key */
    uint32_t failures;   /* turns that failed in a row */
    struct tide_retry retry;
    int64_t trouble_ms;   /* monotonic; time of the last log of trouble; 0: none */
    const char *reported; /* state in the last heartbeat; NULL: none */
    int64_t heartbeat_ms, account_ms;
    int64_t standing_ms; /* monotonic; time of the last count; 0: none */
    uint64_t standing;
    char error[ERROR_BYTES]; /* last failure; "": none since the last heartbeat */
};

static int64_t now_of(const struct runner *r)
{
    return r->program->clock->now_ms(r->program->clock->self);
}

static bool stopped(const struct runner *r)
{
    return r->program->stopped(NULL);
}

/* --- pauses ----------------------------------------------------------------------------------- */

static void sleep_for(struct runner *r, uint32_t ms)
{
    const struct tide_clock *clock = r->program->clock;
    for (uint32_t gone = 0; gone < ms && !stopped(r); gone += SLICE_MS) {
        tide_watchdog_ping(&r->watchdog, now_of(r));
        clock->sleep_ms(clock->self, SLICE_MS < ms - gone ? SLICE_MS : ms - gone);
    }
}

/* Waits for news of the outbox, at most ms. The next turn finds a lost connection; the short
 * sleep prevents a busy loop until then. */
static void wait_for(struct runner *r, uint32_t ms)
{
    struct tide_err err;
    if (att_outbox_wait(r->program->outbox, ms, &err) != TIDE_OK)
        sleep_for(r, SLICE_MS);
}

/* --- heartbeat -------------------------------------------------------------------------------- */

/* True every HEARTBEAT_MS, and when the state changed. Changes within SETTLED_MS are reported
 * once, so that a state that flips does not write a row for each turn. */
static bool heartbeat_due(const struct runner *r, const char *state, int64_t now)
{
    assert(state);
    if (!r->reported || now - r->heartbeat_ms >= HEARTBEAT_MS)
        return true;
    bool changed = strcmp(r->reported, state) != 0;
    return changed && (now - r->heartbeat_ms >= SETTLED_MS || strcmp(state, "stopped") == 0);
}

/* Counts standing attestations once a minute, because the query reads all revocations. A failed
 * count keeps the last one, and the heartbeat goes on. */
static void count_standing(struct runner *r, int64_t now)
{
    struct tide_err err;
    char quoted[600];
    if (r->standing_ms && now - r->standing_ms < STANDING_MS)
        return;
    r->standing_ms = now ? now : 1;
    if (att_outbox_standing(r->program->outbox, &r->standing, &err) != TIDE_OK)
        tide_log(TIDE_WARN, "attester.standing_unknown", "error=%s",
                 tide_log_quote(quoted, sizeof quoted, err.text));
}

/* Writes a heartbeat if one is due. Without the lock the row belongs to another process. */
static tide_status send_heartbeat(struct runner *r, const char *state, struct tide_err *err)
{
    int64_t now = now_of(r);
    if (r->mode->dry || !heartbeat_due(r, state, now) || !att_outbox_has_lock(r->program->outbox))
        return TIDE_OK;
    count_standing(r, now);
    const struct att_heartbeat heartbeat = { .verifier = att_signer_address(r->program->signer),
                                             .state = state,
                                             .ledger = att_rpc_latest(r->work.rpc),
                                             .balance = r->work.balance,
                                             .standing = r->standing,
                                             .tally = r->work.tally,
                                             .error = r->error[0] ? r->error : NULL };
    tide_status status = att_outbox_heartbeat(r->program->outbox, &heartbeat, err);
    if (status != TIDE_OK)
        return status;
    r->reported = state;
    r->heartbeat_ms = now;
    r->work.tally = (struct att_tally){ 0 };
    r->error[0] = 0;
    return TIDE_OK;
}

/* Stores the failure for the heartbeat. */
static void store_error(struct runner *r, const struct tide_err *err)
{
    assert(err->code != TIDE_OK);
    snprintf(r->error, sizeof r->error, "%s: %s", tide_status_name(err->code), err->text);
    tide_text_make_ascii(r->error);
}

/* Logs the failure at most once a minute, reports it in the heartbeat, and pauses. The pause
 * doubles and lasts until a server may be called, at most retry_ms_max. */
static void handle_trouble(struct runner *r, const struct tide_err *err)
{
    assert(err->code != TIDE_OK);
    const struct tide_config *config = r->program->config;
    int64_t now = now_of(r);
    struct tide_err ignored;
    char quoted[600];
    if (!r->trouble_ms || now - r->trouble_ms >= TROUBLE_AGAIN_MS) {
        tide_log(TIDE_ERROR, "attester.trouble", "what=%s error=%s", tide_status_name(err->code),
                 tide_log_quote(quoted, sizeof quoted, err->text));
        tide_notify(r->notify,
                    "STATUS=waiting: servers or the database are unavailable, clocks differ, or the"
                    " index is forked");
        r->trouble_ms = now ? now : 1;
    }
    r->work.tally.failures++;
    store_error(r, err);
    if (send_heartbeat(r, "waiting", &ignored) != TIDE_OK)
        r->reported = NULL; /* try again in the next turn */
    uint32_t most = config->retry_ms_max;
    uint32_t pause = tide_retry_pause_ms(&r->retry, ATT_RETRY_MS, most, r->failures++);
    int64_t rest = att_rpc_rest_ms(r->work.rpc); /* an earlier turn would call no server */
    if (rest > pause)
        pause = rest < most ? (uint32_t)rest : most;
    sleep_for(r, pause);
}

static void note_recovery(struct runner *r)
{
    if (r->trouble_ms)
        tide_log(TIDE_INFO, "attester.recovered", "after_ms=%" PRId64, now_of(r) - r->trouble_ms);
    if (r->trouble_ms)
        tide_notify(r->notify, "STATUS=working");
    r->trouble_ms = 0;
    r->failures = 0;
}

/* --- a turn ----------------------------------------------------------------------------------- */

/* Records in the log and in kyc.audit which key signs from now on. */
static tide_status note_key(struct runner *r, struct tide_err *err)
{
    assert(!r->key_noted && !r->mode->dry);
    const char *address = att_signer_address(r->program->signer);
    char detail[128];
    int len =
        snprintf(detail, sizeof detail, "{\"contract\": \"%s\"}", r->program->contract->address);
    assert(len > 0 && (size_t)len < sizeof detail); /* else it would be no JSON */
    tide_log(TIDE_INFO, "attester.key", "address=%s contract=%s", address,
             r->program->contract->address);
    tide_status status = att_outbox_note(r->program->outbox, "key_opened", address, detail, err);
    r->key_noted = status == TIDE_OK;
    return status;
}

/* Reads the account's balance once a minute while no row is due, so that lost servers or an
 * empty account are noticed before a decision needs them. After a failure, each turn reads it
 * again. */
static tide_status refresh_balance(struct runner *r, struct tide_err *err)
{
    assert(!r->mode->dry && !r->mode->once);
    int64_t now = now_of(r);
    if (r->account_ms && now - r->account_ms < ACCOUNT_MS)
        return TIDE_OK;
    tide_status status =
        att_view_balance(&r->work.balance, r->work.rpc, att_signer_public(r->program->signer), err);
    r->account_ms = status != TIDE_OK ? 0 : now ? now : 1;
    return status;
}

/* Takes the lock unless this is a dry run, which writes nothing. With once, fails with
 * TIDE_E_CONFLICT if another process holds it. */
static tide_status take_lock(struct runner *r, bool *held, struct tide_err *err)
{
    *held = r->mode->dry;
    if (*held)
        return TIDE_OK;
    tide_status status = att_outbox_lock(r->program->outbox, held, err);
    if (status != TIDE_OK)
        return status;
    if (!*held && r->mode->once)
        return tide_fail(err, TIDE_E_CONFLICT,
                         "another attester holds the lock of this key or deployment");
    if (!*held && !r->standby_logged)
        tide_log(TIDE_WARN, "attester.standby", "why=another_holds_the_lock");
    r->standby_logged = !*held;
    return TIDE_OK;
}

/* Asks a server for the newest ledger, and thereby for its network, before the first turn. */
static tide_status check_network(struct runner *r, struct tide_err *err)
{
    struct att_tip tip;
    tide_status status = r->network_known ? TIDE_OK : att_rpc_tip(r->work.rpc, &tip, err);
    r->network_known = status == TIDE_OK;
    return status;
}

/* One turn: connection, lock, network, then work. *held is false if another process holds the
 * lock. */
static tide_status run_turn(struct runner *r, enum att_turn *turn, bool *held, struct tide_err *err)
{
    *held = false;
    *turn = ATT_TURN_IDLE;
    tide_status status = att_outbox_ready(r->program->outbox, err);
    if (status == TIDE_OK)
        status = take_lock(r, held, err);
    if (status == TIDE_OK)
        status = check_network(r, err);
    if (status != TIDE_OK || !*held)
        return status;
    if (!r->key_noted && !r->mode->dry)
        status = note_key(r, err);
    assert(status != TIDE_OK || r->mode->dry || r->key_noted);
    if (status == TIDE_OK)
        status = att_work_turn(&r->work, turn, err);
    if (status == TIDE_OK && *turn == ATT_TURN_IDLE && !r->mode->once && !r->mode->dry)
        status = refresh_balance(r, err);
    return status;
}

/* True if the loop ends: on a signal, on an error that no retry can correct, and in one-time
 * runs if nothing is left to do. */
static bool is_over(const struct runner *r, tide_status status, enum att_turn turn)
{
    if (stopped(r) || status == TIDE_E_CHAIN || status == TIDE_E_CONFIG || status == TIDE_E_MEMORY)
        return true;
    return (r->mode->once || r->mode->dry) && (status != TIDE_OK || turn == ATT_TURN_IDLE);
}

/* Returns the pause between two looks at an intent that waits for the ledger. A source that is
 * asked rarely does not make them rarer: heartbeats, watchdog and an intent's validity go on. */
static uint32_t look_ms(const struct runner *r)
{
    uint32_t half = r->program->config->poll_ms / 2;
    return half < IDLE_MS ? half : IDLE_MS;
}

static tide_status run_turns(struct runner *r, struct tide_err *err)
{
    for (;;) {
        enum att_turn turn;
        bool held;
        tide_status status = run_turn(r, &turn, &held, err);
        if (status == TIDE_OK)
            status = send_heartbeat(r, "working", err);
        tide_watchdog_ping(&r->watchdog, now_of(r));
        if (is_over(r, status, turn))
            return stopped(r) ? TIDE_OK : status;
        if (status != TIDE_OK) {
            handle_trouble(r, err);
            continue;
        }
        note_recovery(r);
        if (!held)
            wait_for(r, STANDBY_MS);
        else if (turn != ATT_TURN_AGAIN)
            wait_for(r, turn == ATT_TURN_WAIT ? look_ms(r) : IDLE_MS);
    }
}

/* Called while an HTTP request runs. Each request has a time limit of its own, so many slow ones
 * in a turn are no reason for the watchdog to kill the process. */
static bool is_stopped_in_call(void *self)
{
    struct runner *r = self;
    tide_watchdog_ping(&r->watchdog, now_of(r));
    return stopped(r);
}

tide_status att_run(struct att_program *program, const struct att_run *mode, struct tide_err *err)
{
    assert(program->outbox && program->signer && program->contract);
    struct runner r = { .program = program, .mode = mode, .notify = getenv("NOTIFY_SOCKET") };
    struct att_rpc *rpc = NULL;
    struct tide_err ignored;
    const struct att_rpc_options options = { .config = program->config,
                                             .passphrase = program->deployment->passphrase,
                                             .clock = program->clock,
                                             .cancelled = is_stopped_in_call,
                                             .self = &r };
    tide_status status = att_rpc_open(&rpc, &options, err);
    if (status != TIDE_OK)
        return status;
    r.work = (struct att_work){ .config = program->config,
                                .clock = program->clock,
                                .rpc = rpc,
                                .signer = program->signer,
                                .outbox = program->outbox,
                                .dry = mode->dry };
    att_work_init(&r.work);
    tide_retry_init(&r.retry, program->clock->wall_ms(program->clock->self), 1);
    tide_watchdog_init(&r.watchdog, r.notify, getenv("WATCHDOG_USEC"), getenv("WATCHDOG_PID"));
    tide_notify(r.notify, "READY=1");
    status = run_turns(&r, err);
    tide_notify(r.notify, "STOPPING=1");
    if (send_heartbeat(&r, "stopped", &ignored) != TIDE_OK)
        tide_log(TIDE_WARN, "attester.heartbeat_failed", "state=stopped");
    tide_log(TIDE_INFO, "attester.stopped", "status=%s", tide_status_name(status));
    att_work_release(&r.work);
    att_rpc_close(rpc);
    return status;
}
