/* model_driver: compares compliance from the cache with the simulator's model, for every address
 * of the chain's cast.
 *
 *   model_driver DIR OPTION…     the options of tidemark-sim write that made the lake
 *
 * The model replays the same chain ledger by ledger. The cache in DIR is fed up to the same
 * ledger from the database (TIDEMARK_DATABASE_URL) into which the lake was indexed. The driver
 * compares the two at the ledger's close time, some time later, and at the moment when an
 * attestation ends. The cache answers by the handler of GET /api/sdk/kyc/status/{address} with
 * the clock set to that moment. The model's answers at each close time are also written to the
 * file TIDE_MODEL_SAYS, with which a test can check ?ledger=N of a server: ledger, address,
 * compliant, needsKyc, status, gate. */
#include "api/hot/feed.h"
#include "api/routes/handlers.h"
#include "tools/sim/options/options.h"

#include <stdio.h>
#include <stdlib.h>

struct race {
    struct chain chain;
    struct tide_hot *hot;
    struct tide_hot_reader *reader;
    struct tide_feed *feed;
    struct tide_err err;
    uint64_t moments, asked, differ;
    uint64_t by_status[TIDE_STANDING_RESTRICTED + 1];
    uint64_t last_expiry;
    FILE *says; /* file TIDE_MODEL_SAYS; NULL: the answers are not written */
    struct tide_api api;
    struct tide_config config;
    struct tide_request request;
    struct tide_reply reply;
};

/* The model's answer about one address. */
struct said {
    bool compliant, gate, allowed;
    enum tide_standing_status status;
    bool needs_kyc;
};

static const struct sim_outcome *ask_model(struct race *r, const char *fn, const sim_val *args,
                                           uint32_t count)
{
    return sim_view(&r->chain.host, chain_addr(&r->chain, parties_contract(PARTY_COMPLIANCE)), fn,
                    args, count);
}

/* Sets the status and `needs_kyc` from the contract's reason. Returns false for an unknown
 * reason. */
static bool read_words(struct said *said, const char *words)
{
    /* clang-format off */
    static const struct {
        const char *words;
        enum tide_standing_status status;
        bool curable;
    } all[] = {
        { "account is frozen", TIDE_STANDING_FROZEN, false },
        { "KYC required", TIDE_STANDING_UNKNOWN, true },
        { "KYC pending", TIDE_STANDING_PENDING, true },
        { "account suspended", TIDE_STANDING_SUSPENDED, false },
        { "account sanctioned", TIDE_STANDING_SANCTIONED, false },
        { "KYC attestation expired", TIDE_STANDING_EXPIRED, true },
        { "protocol is unavailable", TIDE_STANDING_RESTRICTED, false },
    };
    /* clang-format on */
    for (size_t i = 0; i < TIDE_COUNT(all); i++) {
        if (strncmp(words, all[i].words, strlen(all[i].words)) == 0) {
            said->status = all[i].status;
            said->needs_kyc = all[i].curable;
            return true;
        }
    }
    return false;
}

static struct said model_says(struct race *r, struct sim_addr who)
{
    struct said said = { .status = TIDE_STANDING_VERIFIED };
    sim_val user = sim_address(who);
    sim_val outsider[] = { sim_address(chain_addr(&r->chain, PARTY_OUTSIDER)), user };
    sim_val pool[] = { sim_address(chain_addr(&r->chain, parties_contract(PARTY_POOL))), user };
    const struct sim_outcome *out = ask_model(r, "is_user_compliant", &user, 1);
    said.compliant = out->ok && out->ret.b;
    said.gate = ask_model(r, "assert_user_compliant", pool, 2)->ok;
    out = ask_model(r, "get_compliance_status", &user, 1);
    said.allowed = sim_field_bool(&out->ret, "jurisdiction_allowed");
    bool known = sim_field_u32(&out->ret, "status") != 0;
    out = ask_model(r, "assert_user_compliant", outsider, 2);
    if (!out->ok && !read_words(&said, out->reason)) {
        fprintf(stderr, "unknown words: %s\n", out->reason);
        r->differ++;
    }
    said.needs_kyc = said.needs_kyc && (!known || said.allowed);
    return said;
}

/* Returns true if the answer holds each of these words. */
static bool holds(const struct race *r, const char *words)
{
    return memmem(r->reply.body.ptr, r->reply.body.len, words, strlen(words)) != NULL;
}

static enum tide_standing_status status_held(struct race *r)
{
    static const char member[] = "\"status\":\"";
    const uint8_t *at = memmem(r->reply.body.ptr, r->reply.body.len, member, sizeof member - 1);
    for (int s = 0; at && s <= (int)TIDE_STANDING_RESTRICTED; s++) {
        const char *name = tide_standing_status_name((enum tide_standing_status)s);
        if (memcmp(at + sizeof member - 1, name, strlen(name)) == 0)
            return (enum tide_standing_status)s;
    }
    r->differ++;
    return TIDE_STANDING_UNKNOWN;
}

static void ask_route(struct race *r, const struct tide_hot_address *who, uint64_t now)
{
    static const struct tide_route route = { .id = "kyc_status" };
    char text[TIDE_HOT_ADDRESS_TEXT];
    struct tide_handler_context context = {
        .api = &r->api, .thread = r->reader, .now_ms = now * 1000, .host_ms = (int64_t)now * 1000
    };
    tide_hot_address_text(text, who);
    r->request = (struct tide_request){ .route = &route, .param_count = 1 };
    r->request.params[0] = (struct tide_param_value){
        .id = TIDE_PARAM_address, .given = true, .text = tide_slice_str(text), .address = *who
    };
    tide_reply_reset(&r->reply);
    tide_route_kyc_status(&context, &r->request, &r->reply);
    if (r->reply.status != 200 && r->differ++ < 5)
        fprintf(stderr, "answered %u: %.*s\n", r->reply.status,
                TIDE_SLICE_FMT(tide_buf_view(&r->reply.body)));
}

static struct said cache_says(struct race *r, const struct tide_hot_address *who, uint64_t now)
{
    ask_route(r, who, now);
    return (struct said){ .compliant = holds(r, "\"compliant\":true"),
                          .gate = holds(r, "\"liquidityPool\":true"),
                          .status = status_held(r),
                          .needs_kyc = holds(r, "\"needsKyc\":true") };
}

static void compare_standing(struct race *r, struct sim_addr who, uint64_t now)
{
    struct tide_hot_address address = { .kind = who.kind == SIM_ACCOUNT ? 48 : 16 };
    char text[TIDE_HOT_ADDRESS_TEXT];
    memcpy(address.key, who.key, TIDE_HASH_BYTES);
    tide_hot_address_text(text, &address);
    struct said ours = cache_says(r, &address, now);
    struct said model = model_says(r, who);
    r->asked++;
    r->by_status[ours.status]++;
    if (r->says)
        fprintf(r->says, "%u\t%s\t%d\t%d\t%s\t%d\n", r->chain.ledger, text, model.compliant,
                model.needs_kyc, tide_standing_status_name(model.status), model.gate);
    if (ours.compliant == model.compliant && ours.gate == model.gate &&
        ours.status == model.status && ours.needs_kyc == model.needs_kyc)
        return;
    if (r->differ++ < 5)
        fprintf(stderr,
                "%s at ledger %u, %" PRIu64 ": compliant %d %d gate %d %d status %s %s "
                "needs %d %d\n",
                text, r->chain.ledger, now, ours.compliant, model.compliant, ours.gate, model.gate,
                tide_standing_status_name(ours.status), tide_standing_status_name(model.status),
                ours.needs_kyc, model.needs_kyc);
}

typedef void each_fn(struct race *r, struct sim_addr who, uint64_t now);

static void all_of_cast(struct race *r, each_fn *each, uint64_t now)
{
    struct sim_addr stranger = { .kind = SIM_ACCOUNT, .key = { 1, 2, 3 } };
    for (uint32_t i = 0; i < r->chain.parties.account_count; i++)
        each(r, chain_addr(&r->chain, (party_ref)i), now);
    for (uint32_t i = 0; i < PARTY_CONTRACTS; i++)
        each(r, chain_addr(&r->chain, parties_contract(i)), now);
    each(r, stranger, now);
}

/* Sets the cache's age as if the feeder had read the database at *self seconds. */
static tide_status seen_at(void *self, struct tide_hot_sink *sink, struct tide_err *err)
{
    const uint64_t *now = self;
    struct tide_hot_key key = tide_hot_key(TIDE_HOT_META);
    struct tide_hot_meta meta;
    bool found;
    tide_status status = sink->get(sink->self, &key, &meta, &found, err);
    meta.fed_ms = (int64_t)*now * 1000;
    meta.aged_ms = meta.closed_age_ms = 0;
    return status == TIDE_OK ? sink->put(sink->self, &key, &meta, err) : status;
}

static void compare_all(struct race *r, uint64_t now)
{
    struct sim_host *host = &r->chain.host;
    uint64_t before = host->now;
    host->now = now;
    if (tide_hot_update(r->hot, seen_at, &now, &r->err) != TIDE_OK)
        r->differ++;
    all_of_cast(r, compare_standing, now);
    host->now = before;
    r->moments++;
}

/* Notes when the attestation of `who` ends, so that the driver compares at that moment. Call it
 * within a snapshot. */
static void note_expiry(struct race *r, struct sim_addr who, uint64_t now)
{
    struct tide_hot_address address = { .kind = who.kind == SIM_ACCOUNT ? 48 : 16 };
    memcpy(address.key, who.key, TIDE_HASH_BYTES);
    struct tide_hot_key key = tide_hot_key_address(TIDE_HOT_PERSON, &address);
    const struct tide_hot_person *person = tide_hot_get(r->reader, &key);
    if (person && person->recorded && person->expires_at > now)
        r->last_expiry = person->expires_at;
}

/* Returns true once the registry is deployed. Before that there is nothing to compare. */
static bool deployed(struct race *r)
{
    sim_val stranger = sim_address((struct sim_addr){ .kind = SIM_ACCOUNT });
    return ask_model(r, "is_user_compliant", &stranger, 1)->ok;
}

static tide_status begin_snapshot(struct race *r, uint64_t *closed)
{
    const struct tide_hot_meta *meta;
    tide_status status = tide_hot_begin(r->reader, &meta, &r->err);
    if (status != TIDE_OK)
        return status;
    *closed = meta->close_time;
    if (meta->ledger != r->chain.ledger)
        r->differ++;
    all_of_cast(r, note_expiry, meta->close_time);
    return tide_hot_end(r->reader);
}

static void moments(struct race *r, uint64_t closed)
{
    FILE *says = r->says;
    uint64_t days = r->chain.ledger % 400;
    compare_all(r, closed);
    r->says = NULL; /* expected answers are written for the close time only */
    compare_all(r, closed + 86400 * days);
    if (r->last_expiry) {
        compare_all(r, r->last_expiry);
        compare_all(r, r->last_expiry + 1);
    }
    r->says = says;
}

static tide_status one_ledger(struct race *r)
{
    uint64_t closed = 0;
    tide_slice lcm;
    bool more = true;
    tide_status status = chain_ledger(&r->chain, &lcm);
    if (status != TIDE_OK)
        return tide_fail(&r->err, status, "chain");
    while (more && status == TIDE_OK)
        status = tide_feed_step(r->feed, r->chain.ledger, &more, &r->err);
    if (status == TIDE_OK)
        status = begin_snapshot(r, &closed);
    if (status == TIDE_OK && deployed(r))
        moments(r, closed);
    return status;
}

static tide_status run_chain(struct race *r, const char *dir, const struct sim_settings *settings)
{
    struct tide_hot_options hot = { .dir = dir };
    tide_status status = tide_hot_open(&r->hot, &hot, &r->err);
    if (status == TIDE_OK)
        status = tide_hot_reader_open(&r->reader, r->hot, &r->err);
    if (status != TIDE_OK)
        return status;
    struct tide_feed_options options = { .conninfo = getenv("TIDEMARK_DATABASE_URL"),
                                         .hot = r->hot };
    status = tide_feed_open(&r->feed, &options, &r->err);
    for (uint64_t i = 0; i < settings->ledgers && status == TIDE_OK; i++)
        status = one_ledger(r);
    return status;
}

static int report_result(struct race *r, tide_status status)
{
    if (status != TIDE_OK) {
        fprintf(stderr, "model_driver: %s\n", r->err.text);
        return tide_status_exit(status);
    }
    printf("compliance: %" PRIu64 " answers at %" PRIu64 " moments, %" PRIu64 " differ;", r->asked,
           r->moments, r->differ);
    for (size_t i = 0; i < TIDE_COUNT(r->by_status); i++)
        printf(" %s %" PRIu64, tide_standing_status_name((enum tide_standing_status)i),
               r->by_status[i]);
    printf("\n");
    return r->differ || r->moments == 0;
}

int main(int argc, char **argv)
{
    struct race *r = argc < 2 ? NULL : calloc(1, sizeof *r);
    struct sim_settings settings = sim_settings_default();
    struct sim_options table = sim_settings_options(&settings);
    if (!r)
        return 64;
    tide_status status = sim_options_read(&table, 1, argc - 2, argv + 2, &r->err);
    if (status != TIDE_OK)
        return report_result(r, status);
    tide_config_defaults(&r->config);
    r->config.compliance_age_s = 0;
    r->api = (struct tide_api){ .config = &r->config, .clock = tide_clock_system() };
    tide_reply_init(&r->reply);
    if (getenv("TIDE_MODEL_SAYS"))
        r->says = fopen(getenv("TIDE_MODEL_SAYS"), "w");
    struct chain_options options = sim_settings_chain(&settings);
    status = chain_open(&r->chain, &options);
    if (status == TIDE_OK)
        status = run_chain(r, argv[1], &settings);
    int code = report_result(r, status);
    if (r->says && fclose(r->says) != 0)
        code = 74;
    tide_reply_release(&r->reply);
    tide_feed_close(r->feed);
    tide_hot_reader_close(r->reader);
    tide_hot_close(r->hot);
    chain_close(&r->chain);
    free(r);
    return code;
}
