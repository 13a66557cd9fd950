/* The loop: the database, the lock, a turn, a pause. */
#include "api/attester/attester.h"
#include "api/attester/work.h"
#include "tidemark/log.h"
#include "tidemark/notify.h"
#include "tidemark/retry.h"

#include <stdlib.h>

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
    const struct att_run *how;
    struct att_work work;
    struct tide_watchdog dog;
    const char *notify;
    bool known;        /* the network is the deployment's */
    bool waiting;      /* another one holds the lock; said */
    bool opened;       /* the audit knows of the key */
    uint32_t failures; /* in a row */
    struct tide_retry retry;
    int64_t said_ms;      /* trouble was logged then; 0: all is well */
    const char *reported; /* the state that was told last; NULL: none */
    int64_t heartbeat_ms, account_ms;
    int64_t standing_ms; /* when standing was counted; 0: not yet */
    uint64_t standing;
    char error[ERROR_BYTES]; /* what failed last; "": nothing since the last heartbeat */
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
        tide_watchdog_ping(&r->dog, now_of(r));
        clock->sleep_ms(clock->self, SLICE_MS < ms - gone ? SLICE_MS : ms - gone);
    }
}

/* Ends early when the outbox has news; a lost connection is the next turn's to find. */
static void wait_for(struct runner *r, uint32_t ms)
{
    struct tide_err err;
    if (att_outbox_wait(r->program->outbox, ms, &err) != TIDE_OK)
        sleep_for(r, SLICE_MS);
}

/* --- what it says of itself ------------------------------------------------------------------- */

/* Now and then, and when the state is another one; what comes and goes is told once a second. */
static bool heartbeat_due(const struct runner *r, const char *state, int64_t now)
{
    if (!r->reported || now - r->heartbeat_ms >= HEARTBEAT_MS)
        return true;
    bool changed = strcmp(r->reported, state) != 0;
    return changed && (now - r->heartbeat_ms >= SETTLED_MS || strcmp(state, "stopped") == 0);
}

/* Once a minute: it reads more than a turn does. A count that fails keeps the last one, and the
 * heartbeat goes on. */
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

/* Only with the lock. */
static tide_status send_heartbeat(struct runner *r, const char *state, struct tide_err *err)
{
    int64_t now = now_of(r);
    if (r->how->dry || !heartbeat_due(r, state, now) || !att_outbox_held(r->program->outbox))
        return TIDE_OK;
    count_standing(r, now);
    const struct att_heartbeat said = { .verifier = att_signer_address(r->program->signer),
                                        .state = state,
                                        .ledger = att_rpc_latest(r->work.rpc),
                                        .balance = r->work.balance,
                                        .standing = r->standing,
                                        .tally = r->work.tally,
                                        .error = r->error[0] ? r->error : NULL };
    tide_status status = att_outbox_heartbeat(r->program->outbox, &said, err);
    if (status != TIDE_OK)
        return status;
    r->reported = state;
    r->heartbeat_ms = now;
    r->work.tally = (struct att_tally){ 0 };
    r->error[0] = 0;
    return TIDE_OK;
}

/* As a column takes it, whatever a server said. */
static void keep_error(struct runner *r, const struct tide_err *err)
{
    snprintf(r->error, sizeof r->error, "%s: %s", tide_status_name(err->code), err->text);
    for (char *c = r->error; *c; c++)
        if (*c < ' ' || *c > '~')
            *c = '?';
}

static void trouble(struct runner *r, const struct tide_err *err)
{
    const struct tide_config *config = r->program->config;
    int64_t now = now_of(r);
    struct tide_err unheard;
    char quoted[600];
    if (!r->said_ms || now - r->said_ms >= TROUBLE_AGAIN_MS) {
        tide_log(TIDE_ERROR, "attester.trouble", "what=%s error=%s", tide_status_name(err->code),
                 tide_log_quote(quoted, sizeof quoted, err->text));
        tide_notify(r->notify, "STATUS=waits: a server or the database is away");
        r->said_ms = now ? now : 1;
    }
    r->work.tally.failures++;
    keep_error(r, err);
    if (send_heartbeat(r, "waiting", &unheard) != TIDE_OK)
        r->reported = NULL; /* at the next chance */
    uint32_t most = config->rpc_retry_ms_max;
    uint32_t pause = tide_retry_pause_ms(&r->retry, config->rpc_retry_ms, most, r->failures++);
    int64_t rest = att_rpc_rest_ms(r->work.rpc); /* a turn before asks no server */
    if (rest > pause)
        pause = rest < most ? (uint32_t)rest : most;
    sleep_for(r, pause);
}

static void all_well(struct runner *r)
{
    if (r->said_ms)
        tide_log(TIDE_INFO, "attester.recovered", "after_ms=%" PRId64, now_of(r) - r->said_ms);
    if (r->said_ms)
        tide_notify(r->notify, "STATUS=works");
    r->said_ms = 0;
    r->failures = 0;
}

/* --- a turn ----------------------------------------------------------------------------------- */

static tide_status note_key(struct runner *r, struct tide_err *err)
{
    const char *address = att_signer_address(r->program->signer);
    char detail[128];
    snprintf(detail, sizeof detail, "{\"contract\": \"%s\"}", r->program->contract->address);
    tide_log(TIDE_INFO, "attester.key", "address=%s contract=%s", address,
             r->program->contract->address);
    tide_status status = att_outbox_note(r->program->outbox, "key_opened", address, detail, err);
    r->opened = status == TIDE_OK;
    return status;
}

/* Who has nothing to do learns that the servers, or the money for fees, are gone before a decision
 * needs them; and asks again at once until they are back, lest silence looks like work. */
static tide_status look_at_account(struct runner *r, struct tide_err *err)
{
    int64_t now = now_of(r);
    if (r->account_ms && now - r->account_ms < ACCOUNT_MS)
        return TIDE_OK;
    tide_status status =
        att_view_balance(&r->work.balance, r->work.rpc, att_signer_public(r->program->signer), err);
    r->account_ms = status != TIDE_OK ? 0 : now ? now : 1;
    return status;
}

/* Dry runs only look; a process that works must hold the lock. */
static tide_status take_lock(struct runner *r, bool *held, struct tide_err *err)
{
    *held = r->how->dry;
    if (*held)
        return TIDE_OK;
    tide_status status = att_outbox_lock(r->program->outbox, held, err);
    if (status != TIDE_OK)
        return status;
    if (!*held && r->how->once)
        return tide_fail(err, TIDE_E_CONFLICT, "another attester works with this key");
    if (!*held && !r->waiting)
        tide_log(TIDE_WARN, "attester.standby", "why=another_holds_the_lock");
    r->waiting = !*held;
    return TIDE_OK;
}

/* Before anything: which network the servers are of. */
static tide_status know_network(struct runner *r, struct tide_err *err)
{
    struct att_tip tip;
    tide_status status = r->known ? TIDE_OK : att_rpc_tip(r->work.rpc, &tip, err);
    r->known = status == TIDE_OK;
    return status;
}

static tide_status take_turn(struct runner *r, enum att_turn *turn, bool *held,
                             struct tide_err *err)
{
    *held = false;
    *turn = ATT_TURN_IDLE;
    tide_status status = att_outbox_ready(r->program->outbox, err);
    if (status == TIDE_OK)
        status = take_lock(r, held, err);
    if (status == TIDE_OK)
        status = know_network(r, err);
    if (status != TIDE_OK || !*held)
        return status;
    if (!r->opened && !r->how->dry)
        status = note_key(r, err);
    if (status == TIDE_OK)
        status = att_work_turn(&r->work, turn, err);
    if (status == TIDE_OK && *turn == ATT_TURN_IDLE && !r->how->once && !r->how->dry)
        status = look_at_account(r, err);
    return status;
}

static bool is_over(const struct runner *r, tide_status status, enum att_turn turn)
{
    if (stopped(r) || status == TIDE_E_CHAIN || status == TIDE_E_CONFIG || status == TIDE_E_MEMORY)
        return true;
    return (r->how->once || r->how->dry) && (status != TIDE_OK || turn == ATT_TURN_IDLE);
}

static tide_status loop(struct runner *r, struct tide_err *err)
{
    for (;;) {
        enum att_turn turn;
        bool held;
        tide_status status = take_turn(r, &turn, &held, err);
        if (status == TIDE_OK)
            status = send_heartbeat(r, "working", err);
        tide_watchdog_ping(&r->dog, now_of(r));
        if (is_over(r, status, turn))
            return stopped(r) ? TIDE_OK : status;
        if (status != TIDE_OK) {
            trouble(r, err);
            continue;
        }
        all_well(r);
        if (!held)
            wait_for(r, STANDBY_MS);
        else if (turn != ATT_TURN_AGAIN)
            wait_for(r, turn == ATT_TURN_WAIT ? r->program->config->attester_poll_ms : IDLE_MS);
    }
}

/* Asked while a call runs, which has an end of its own: many slow ones are no hanging. */
static bool is_stopped_in_call(void *self)
{
    struct runner *r = self;
    tide_watchdog_ping(&r->dog, now_of(r));
    return stopped(r);
}

tide_status att_run(struct att_program *program, const struct att_run *how, struct tide_err *err)
{
    struct runner r = { .program = program, .how = how, .notify = getenv("NOTIFY_SOCKET") };
    struct att_rpc *rpc = NULL;
    struct tide_err unheard;
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
                                .dry = how->dry };
    att_work_init(&r.work);
    tide_retry_init(&r.retry, program->clock->wall_ms(program->clock->self), 1);
    tide_watchdog_init(&r.dog, r.notify, getenv("WATCHDOG_USEC"), getenv("WATCHDOG_PID"));
    tide_notify(r.notify, "READY=1");
    status = loop(&r, err);
    tide_notify(r.notify, "STOPPING=1");
    if (send_heartbeat(&r, "stopped", &unheard) != TIDE_OK)
        tide_log(TIDE_WARN, "attester.heartbeat_failed", "state=stopped");
    tide_log(TIDE_INFO, "attester.stopped", "status=%s", tide_status_name(status));
    att_work_release(&r.work);
    att_rpc_close(rpc);
    return status;
}
