/* tidemark-sim replay: runs recorded calls in the model and compares everything. */
#include "tools/sim/replay/replay.h"
#include "tidemark/text.h"
#include "tools/sim/options/command.h"

enum { STATES_MAX = 8 };

/* The number of things that were compared, and the number of those that were equal. */
struct tally {
    uint64_t all;
    uint64_t equal;
};

/* A replay that is being run. */
struct replay {
    struct sim_host host;
    struct tide_arena args; /* arguments of the present call */
    struct tide_buf text;   /* base64 and XDR that are being compared */
    struct tide_buf xdr;
    struct replay_lines calls;
    struct replay_lines events;
    struct replay_lines views;
    struct replay_lines states[STATES_MAX];
    uint32_t state_count;
    bool has_events;
    struct tally call, event, view, state, reason;
    uint64_t accepted;
    uint64_t refused;
};

/* --- differences -------------------------------------------------------------------- */

/* Prints one difference with the line of the recording. */
static void print_difference(const struct replay_lines *lines, const char *what, const char *want,
                             const char *got)
{
    printf("%s:%" PRIu32 ": %s: recorded %s, model %s\n", lines->path, lines->number, what, want,
           got);
}

/* Compares a recorded value with the model's, and prints a difference. */
static bool json_equals(const struct replay_lines *lines, const char *what, const json_t *want,
                        const sim_val *got)
{
    json_t *ours = replay_json(got);
    bool same = json_equal(want, ours);
    if (!same) {
        char *left = json_dumps(want, JSON_ENCODE_ANY | JSON_COMPACT);
        char *right = json_dumps(ours, JSON_ENCODE_ANY | JSON_COMPACT);
        print_difference(lines, what, left ? left : "nothing", right ? right : "nothing");
        free(left);
        free(right);
    }
    json_decref(ours);
    return same;
}

/* Compares two numbers, and prints a difference. */
static bool number_equals(const struct replay_lines *lines, const char *what, uint64_t want,
                          uint64_t got)
{
    if (want == got)
        return true;
    char left[24];
    char right[24];
    snprintf(left, sizeof(left), "%" PRIu64, want);
    snprintf(right, sizeof(right), "%" PRIu64, got);
    print_difference(lines, what, left, right);
    return false;
}

/* Compares XDR with recorded base64, and prints a difference. */
static bool xdr_equals(struct replay *r, const struct replay_lines *lines, const char *what,
                       const char *want, tide_slice xdr)
{
    tide_buf_reset(&r->text);
    tide_buf_base64(&r->text, xdr);
    if (tide_slice_eq_str(tide_buf_view(&r->text), want))
        return true;
    tide_buf_u8(&r->text, 0);
    print_difference(lines, what, want, (const char *)r->text.ptr);
    return false;
}

/* Compares two reasons. The recording has non-ASCII bytes as \xNN. */
static bool reason_equals(const char *want, const char *got)
{
    for (; *want && *got; got++) {
        uint8_t byte = (uint8_t)*want++;
        if (byte == '\\' && *want == 'x' && want[1] && want[2]) {
            if (tide_hex_decode(&byte, 1, tide_slice_of(want + 1, 2)) != TIDE_OK)
                return false;
            want += 3;
        }
        if (byte != (uint8_t)*got)
            return false;
    }
    return *want == '\0' && *got == '\0';
}

/* --- events ---------------------------------------------------------------------------- */

/* Compares the model's events of the present call with the recorded ones, which are read on. *same
 * becomes false if one differs. */
static tide_status compare_events(struct replay *r, bool *same, struct tide_err *err)
{
    const json_t *call = r->calls.line;
    for (uint32_t i = 0; i < r->host.out.event_count; i++) {
        const json_t *line = r->events.line;
        bool ours = line && replay_number(line, "ledger") == replay_number(call, "ledger") &&
                    replay_number(line, "tx") == replay_number(call, "tx") &&
                    replay_number(line, "event") == i;
        r->event.all++;
        if (!ours) {
            print_difference(&r->events, "event", "none for this call", "another");
            *same = false;
            continue;
        }
        tide_buf_reset(&r->xdr);
        sim_event_xdr(&r->xdr, &r->host.out.events[i]);
        bool equal =
            xdr_equals(r, &r->events, "event", replay_text(line, "xdr"), tide_buf_view(&r->xdr));
        r->event.equal += equal;
        *same = *same && equal;
        tide_status status = replay_lines_next(&r->events, err);
        if (status != TIDE_OK)
            return status;
    }
    return TIDE_OK;
}

/* Counts recorded events up to this call that the model did not emit as differences. */
static tide_status skip_events(struct replay *r, bool *same, struct tide_err *err)
{
    const json_t *call = r->calls.line;
    uint64_t ledger = replay_number(call, "ledger");
    uint64_t tx = replay_number(call, "tx");
    for (;;) {
        const json_t *line = r->events.line;
        uint64_t at = line ? replay_number(line, "ledger") : UINT64_MAX;
        if (at > ledger || (at == ledger && replay_number(line, "tx") > tx))
            return TIDE_OK;
        print_difference(&r->events, "event", "one", "none");
        r->event.all++;
        *same = false;
        tide_status status = replay_lines_next(&r->events, err);
        if (status != TIDE_OK)
            return status;
    }
}

/* --- calls ------------------------------------------------------------------------------- */

/* Runs the call or read function of a line. The outcome is in the host. */
static void run_line(struct replay *r, const json_t *line, bool view)
{
    struct sim_addr source = { 0 };
    struct sim_addr address = { 0 };
    (void)replay_address(&source, replay_text(line, "source"));
    (void)replay_address(&address, replay_text(line, "contract"));
    struct sim_contract *contract = sim_contract_find(&r->host, address);
    const char *name = json_string_value(json_object_get(line, "fn"));
    if (contract && !name) {
        (void)sim_deploy(&r->host, source, contract);
        return;
    }
    tide_arena_reset(&r->args);
    sim_val args[REPLAY_ARGS_MAX];
    uint32_t count = 0;
    const struct sim_fn *fn = contract ? sim_fn_find(contract, name) : NULL;
    if (fn && !replay_args(&r->args, args, &count, fn->types, json_object_get(line, "args")))
        count = REPLAY_ARGS_MAX; /* no function takes as many, so the host refuses the call */
    if (view)
        (void)sim_view(&r->host, address, name ? name : "", args, count);
    else
        (void)sim_invoke(&r->host, source, address, name ? name : "", args, count);
}

/* Compares success and answer. */
static bool compare_outcome(struct replay *r, const struct replay_lines *lines)
{
    const json_t *line = lines->line;
    const struct sim_outcome *out = &r->host.out;
    bool want = json_is_true(json_object_get(line, "ok"));
    if (want != out->ok) {
        print_difference(lines, replay_text(line, "fn"),
                         want ? "accepted" : replay_text(line, "reason"),
                         out->ok ? "accepted" : out->reason);
        return false;
    }
    return !want || json_equals(lines, "answer", json_object_get(line, "ret"), &out->ret);
}

/* Runs the present call and compares its outcome, events and number of changed entries. Reasons of
 * refusals are counted apart: their words may differ. */
static tide_status replay_call(struct replay *r, struct tide_err *err)
{
    const json_t *line = r->calls.line;
    const struct sim_outcome *out = &r->host.out;
    sim_ledger(&r->host, (uint32_t)replay_number(line, "ledger"), replay_number(line, "closeTime"));
    run_line(r, line, false);
    bool same = compare_outcome(r, &r->calls);
    same &= number_equals(&r->calls, "number of events", replay_number(line, "events"),
                          out->event_count);
    same &=
        number_equals(&r->calls, "entries changed", replay_number(line, "changed"), out->changed);
    r->accepted += out->ok;
    r->refused += !out->ok;
    if (!out->ok && !json_is_true(json_object_get(line, "ok"))) {
        r->reason.all++;
        bool worded = reason_equals(replay_text(line, "reason"), out->reason);
        r->reason.equal += worded;
        if (!worded)
            printf("%s:%" PRIu32 ": refused for another reason: recorded %s, model %s\n",
                   r->calls.path, r->calls.number, replay_text(line, "reason"), out->reason);
    }
    tide_status status = r->has_events ? compare_events(r, &same, err) : TIDE_OK;
    if (status == TIDE_OK && r->has_events)
        status = skip_events(r, &same, err);
    r->call.all++;
    r->call.equal += same;
    return status;
}

/* --- answers of read functions, entries ----------------------------------------------------- */

/* Runs the read functions recorded before a ledger. */
static tide_status replay_views(struct replay *r, uint64_t before, struct tide_err *err)
{
    tide_status status = TIDE_OK;
    while (status == TIDE_OK && r->views.line && replay_number(r->views.line, "ledger") < before) {
        const json_t *line = r->views.line;
        sim_ledger(&r->host, (uint32_t)replay_number(line, "ledger"),
                   replay_number(line, "closeTime"));
        run_line(r, line, true);
        r->view.all++;
        r->view.equal += compare_outcome(r, &r->views);
        status = replay_lines_next(&r->views, err);
    }
    return status;
}

/* Compares a recorded entry with the model's. */
static bool compare_entry(struct replay *r, const struct replay_lines *lines,
                          struct sim_contract *contract)
{
    const json_t *line = lines->line;
    uint32_t durability =
        strcmp(replay_text(line, "durability"), "temporary") == 0 ? SIM_TEMPORARY : SIM_PERSISTENT;
    tide_buf_reset(&r->xdr);
    if (tide_buf_base64_decode(&r->xdr, tide_slice_str(replay_text(line, "key_xdr"))) != TIDE_OK) {
        print_difference(lines, "key", "not base64", "none");
        return false;
    }
    struct sim_entry *entry =
        contract ? sim_entry_find(&r->host, contract, tide_buf_view(&r->xdr), durability) : NULL;
    if (!entry || !entry->exists) {
        print_difference(lines, "entry", "one", "none");
        return false;
    }
    bool same = xdr_equals(r, lines, "entry", replay_text(line, "val_xdr"), entry->val);
    return number_equals(lines, "live_until", replay_number(line, "live_until"),
                         entry->live_until) &&
           same;
}

/* Returns how many nonces of the model the recording does not have, and resets their counts. Keys
 * of nonces are random, so only their number for each address is compared. */
static uint32_t count_unseen_nonces(struct sim_host *h)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < h->contract_buckets; i++) {
        for (struct sim_contract *c = h->contracts[i]; c; c = c->next) {
            left += c->nonces - c->nonces_seen;
            c->nonces_seen = 0;
        }
    }
    return left;
}

/* Compares a recorded state with the model's, entry by entry and in number. */
static tide_status replay_state(struct replay *r, struct replay_lines *lines, struct tide_err *err)
{
    uint64_t found = 0;
    tide_status status = TIDE_OK;
    for (; status == TIDE_OK && lines->line; status = replay_lines_next(lines, err)) {
        struct sim_addr address = { 0 };
        (void)replay_address(&address, replay_text(lines->line, "contract"));
        struct sim_contract *contract = sim_contract_find(&r->host, address);
        r->state.all++;
        if (json_object_get(json_object_get(lines->line, "key"), "nonce")) {
            bool ours = contract && contract->nonces_seen < contract->nonces;
            contract ? contract->nonces_seen++ : 0;
            r->state.equal += ours;
            if (!ours)
                print_difference(lines, "nonce", "one", "none");
            continue;
        }
        found++;
        r->state.equal += compare_entry(r, lines, contract);
    }
    uint64_t live = 0;
    struct sim_walk walk = { 0 };
    while (sim_entry_next(&r->host, &walk))
        live++;
    if (!number_equals(lines, "entries in all", found, live))
        r->state.all++;
    if (!number_equals(lines, "nonces left over", 0, count_unseen_nonces(&r->host)))
        r->state.all++;
    return status;
}

/* Compares the states as of a ledger before the given one. States without as_of are those of the
 * end. */
static tide_status replay_states(struct replay *r, uint64_t before, struct tide_err *err)
{
    tide_status status = TIDE_OK;
    for (uint32_t i = 0; status == TIDE_OK && i < r->state_count; i++) {
        const json_t *line = r->states[i].line;
        const json_t *as_of = json_object_get(line, "as_of");
        if (line && (as_of ? replay_number(line, "as_of") : UINT64_MAX - 1) < before)
            status = replay_state(r, &r->states[i], err);
    }
    return status;
}

/* Runs all calls. States and read functions come in between, in the order of ledgers. */
static tide_status replay_all(struct replay *r, struct tide_err *err)
{
    tide_status status = TIDE_OK;
    while (status == TIDE_OK && r->calls.line) {
        uint64_t ledger = replay_number(r->calls.line, "ledger");
        status = replay_states(r, ledger, err);
        if (status == TIDE_OK)
            status = replay_views(r, ledger, err);
        if (status == TIDE_OK)
            status = replay_call(r, err);
        if (status == TIDE_OK)
            status = replay_lines_next(&r->calls, err);
    }
    if (status == TIDE_OK)
        status = replay_views(r, UINT64_MAX, err);
    if (status == TIDE_OK)
        status = replay_states(r, UINT64_MAX, err);
    return status;
}

/* --- the command ----------------------------------------------------------------------------- */

/* Parses the command line and opens the files. */
static tide_status open_files(struct replay *r, int argc, char **argv, struct tide_err *err)
{
    const char *deployment = NULL;
    tide_status status = TIDE_OK;
    for (int i = 0; status == TIDE_OK && i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strncmp(argv[i], "--", 2) != 0) {
            if (r->calls.path)
                return tide_fail(err, TIDE_E_USAGE, "more than one file of calls");
            status = replay_lines_open(&r->calls, argv[i], err);
            continue;
        }
        if (!value)
            return tide_fail(err, TIDE_E_USAGE, "%s needs a file", argv[i]);
        if (strcmp(argv[i], "--deployment") == 0)
            deployment = value;
        else if (strcmp(argv[i], "--events") == 0)
            status = replay_lines_open(&r->events, value, err);
        else if (strcmp(argv[i], "--views") == 0)
            status = replay_lines_open(&r->views, value, err);
        else if (strcmp(argv[i], "--state") == 0 && r->state_count < STATES_MAX)
            status = replay_lines_open(&r->states[r->state_count++], value, err);
        else
            return tide_fail(err, TIDE_E_USAGE, "%s is not known", argv[i]);
        i++;
    }
    if (status != TIDE_OK)
        return status;
    if (!r->calls.path || !deployment)
        return tide_fail(err, TIDE_E_USAGE, "replay CALLS --deployment FILE");
    r->has_events = r->events.path != NULL;
    return replay_world(&r->host, deployment, err);
}

/* Prints a tally. Returns true if all were equal. */
static bool report_tally(const char *name, struct tally tally)
{
    printf("%-7s %" PRIu64 " of %" PRIu64 " equal", name, tally.equal, tally.all);
    return tally.equal == tally.all;
}

/* Prints all tallies. Returns true if all were equal. */
static bool report_all(const struct replay *r)
{
    bool same = report_tally("calls", r->call);
    printf(" (%" PRIu64 " accepted, %" PRIu64 " refused; %" PRIu64 " of %" PRIu64
           " reasons word for word)\n",
           r->accepted, r->refused, r->reason.equal, r->reason.all);
    const struct {
        const char *name;
        const char *path;
        struct tally tally;
    } rest[] = {
        { "events", r->events.path, r->event },
        { "entries", r->states[0].path, r->state },
        { "views", r->views.path, r->view },
    };
    for (size_t i = 0; i < TIDE_COUNT(rest); i++) {
        if (!rest[i].path)
            continue;
        same = report_tally(rest[i].name, rest[i].tally) && same;
        printf("\n");
    }
    return same;
}

static void close_replay(struct replay *r)
{
    replay_lines_close(&r->calls);
    replay_lines_close(&r->events);
    replay_lines_close(&r->views);
    for (uint32_t i = 0; i < r->state_count; i++)
        replay_lines_close(&r->states[i]);
    tide_arena_close(&r->args);
    tide_buf_release(&r->text);
    tide_buf_release(&r->xdr);
    if (r->host.asset_count)
        sim_close(&r->host);
}

static const char help[] =
    "usage: tidemark-sim replay CALLS --deployment FILE [--events FILE] [--state FILE]..."
    " [--views FILE]\n\n"
    "Makes recorded calls on the model and compares, line by line, what it says with what the "
    "real\n"
    "contracts said. All files are JSON lines as they were recorded, decompressed.\n\n"
    "  CALLS         outcome and return value of each call, how many events and entries it made\n"
    "  --deployment  names and addresses: deployment.json\n"
    "  --events      every event, in order\n"
    "  --state       the entries as of a ledger (as_of) or the end; may be given again\n"
    "  --views       what the read functions answered\n\n"
    "Exit code 0: all is equal; 1: something differs, and is printed.\n";

int sim_replay_command(int argc, char **argv)
{
    struct tide_err err = { 0 };
    if (argc == 1 && strcmp(argv[0], "--help") == 0) {
        fputs(help, stdout);
        return 0;
    }
    struct replay *r = calloc(1, sizeof(*r));
    if (!r)
        return tide_status_exit(TIDE_E_MEMORY);
    tide_buf_init(&r->text, REPLAY_FILE_MAX);
    tide_buf_init(&r->xdr, REPLAY_FILE_MAX);
    tide_status status = tide_arena_open(&r->args, SIM_ARENA);
    if (status == TIDE_OK)
        status = open_files(r, argc, argv, &err);
    if (status == TIDE_OK)
        status = replay_all(r, &err);
    int code = 0;
    if (status != TIDE_OK) {
        fprintf(stderr, "tidemark-sim replay: %s\n", err.text);
        code = tide_status_exit(status);
    } else {
        code = report_all(r) ? 0 : 1;
    }
    close_replay(r);
    free(r);
    return code;
}
