#include "api/kyc/request_pool.h"
#include "api/sql/sql_answer.h"
#include "tidemark/log.h"
#include "tidemark/sign.h"

struct seat {
    const struct tide_desk *desk;
    struct tide_kyc_place place;
};

struct tide_desk {
    struct tide_desk_options options;
    struct tide_crew *crew;
};

/* --- a seat is a place -------------------------------------------------------------------- */

static tide_status open_seat(void *self, void *owner, struct tide_crew *crew, struct tide_err *err)
{
    struct seat *seat = self;
    const struct tide_desk *desk = owner;
    struct tide_kyc_place_options options = desk->options.place;
    options.stopped = tide_crew_is_closing;
    options.stopped_self = crew;
    seat->desk = desk;
    return tide_kyc_place_open(&seat->place, &options, err);
}

static void close_seat(void *seat)
{
    tide_kyc_place_close(&((struct seat *)seat)->place);
}

static bool is_ready(const void *seat)
{
    return tide_kyc_place_ready(&((const struct seat *)seat)->place);
}

static tide_status connect_seat(void *seat, struct tide_err *err)
{
    return tide_kyc_place_connect(&((struct seat *)seat)->place, err);
}

static void tell(void *seat, bool there, const struct tide_err *err)
{
    const char *name = ((const struct seat *)seat)->desk->options.name;
    char quoted[TIDE_ERR_TEXT_MAX];
    if (there)
        tide_log(TIDE_INFO, "kyc.connected", "desk=%s", name);
    else
        tide_log(err->code == TIDE_E_CONFIG ? TIDE_ERROR : TIDE_WARN, "kyc.away", "desk=%s text=%s",
                 name, tide_log_quote(quoted, sizeof quoted, err->text));
}

static tide_status run(void *self, struct tide_job *job, struct tide_err *err)
{
    struct seat *seat = self;
    struct tide_kyc_work *work = job->context.later;
    int64_t until = job->context.deadline_ms;
    tide_kyc_rollback(&seat->place);
    tide_reply_reset(job->reply);
    seat->place.deadline_ms = until ? until - seat->desk->options.grace_ms : 0;
    seat->place.crew = seat->desk->crew;
    seat->place.job = job;
    tide_status status = work->run(work, &seat->place, job, err);
    seat->place.job = NULL;
    seat->place.deadline_ms = 0;
    return status;
}

static bool is_lost(const void *seat)
{
    const struct tide_kyc_place *place = &((const struct seat *)seat)->place;
    return !tide_kyc_place_ready(place) || tide_pg_remedy(place->pg) == TIDE_PG_RECONNECT;
}

static bool is_worth_another(const void *seat, tide_status status)
{
    (void)seat;
    return status == TIDE_E_DB;
}

static void drop(void *seat)
{
    ((struct seat *)seat)->place.ready = false;
}

static void refuse(void *seat, struct tide_job *job, const struct tide_err *err)
{
    struct tide_kyc_place *place = &((struct seat *)seat)->place;
    struct tide_err away = { .code = TIDE_E_DB };
    if (err->code == TIDE_E_STOPPED || !tide_kyc_place_ready(place))
        tide_sql_problem(job->reply, NULL, &away);
    else
        tide_sql_problem(job->reply, place->pg, err);
    tide_kyc_rollback(place);
}

static void wipe_work(struct tide_job *job)
{
    struct tide_kyc_work *work = job->context.later;
    job->context.later = NULL;
    if (work)
        tide_sign_wipe(work, work->size);
    free(work);
}

/* --- life --------------------------------------------------------------------------------- */

bool tide_desk_submit(struct tide_desk *desk, struct tide_job *job)
{
    return tide_crew_submit(desk->crew, job) == TIDE_CREW_QUEUED;
}

void tide_desk_stats(struct tide_desk *desk, struct tide_crew_stats *out)
{
    tide_crew_stats(desk->crew, out);
}

tide_status tide_desk_open(struct tide_desk **out, const struct tide_desk_options *options,
                           struct tide_err *err)
{
    static const struct tide_crew_work work = { .seat_size = sizeof(struct seat),
                                                .open = open_seat,
                                                .close = close_seat,
                                                .ready = is_ready,
                                                .connect = connect_seat,
                                                .told = tell,
                                                .run = run,
                                                .lost = is_lost,
                                                .again = is_worth_another,
                                                .drop = drop,
                                                .refuse = refuse,
                                                .over = wipe_work };
    struct tide_desk *desk = calloc(1, sizeof *desk);
    if (!desk)
        return tide_fail(err, TIDE_E_MEMORY, "desk");
    *out = desk;
    desk->options = *options;
    struct tide_crew_options crew = { .name = options->name,
                                      .work = &work,
                                      .owner = desk,
                                      .clock = options->place.clock,
                                      .threads = options->threads,
                                      .queue = options->queue,
                                      .lane_threads = options->provider_threads,
                                      .lane_queue = (options->queue + 1) / 2 };
    return tide_crew_open(&desk->crew, &crew, err);
}

tide_status tide_desk_start(struct tide_desk *desk, struct tide_err *err)
{
    return tide_crew_start(desk->crew, err);
}

void tide_desk_close(struct tide_desk *desk)
{
    if (!desk)
        return;
    tide_crew_close(desk->crew);
    free(desk);
}
