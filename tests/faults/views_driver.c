/* Answers the contracts' read functions from the tables, by the product's loaders and rules:
 *
 *   views_driver < ASKED > ANSWERED
 *
 * An input line is: ledger TAB close time TAB role TAB function TAB contract, then TAB argument
 * … An output line is {"ok":true,"ret":…} or {"ok":false,"why":"stale_twap"}, with values as the
 * recordings write them. The database is TIDEMARK_DATABASE_URL and holds one deployment. */
#include "tests/faults/views_dao.h"
#include "tidemark/limits.h"

/* --- compliance -------------------------------------------------------------------------- */

static tide_status standing(struct view *v, struct tide_standing *out,
                            const struct tide_hot_person **person, bool *blocked)
{
    struct tide_hot_address who = address_at(v, 0);
    tide_status status = tide_history_person(&v->history, &v->set, &who, &v->err);
    *person = record_of(v, tide_hot_key_address(TIDE_HOT_PERSON, &who));
    *blocked = false;
    if (status == TIDE_OK)
        status = tide_history_blocked(&v->history, *person ? (*person)->jurisdiction : 0, blocked,
                                      &v->err);
    tide_rule_standing(out, *person, *blocked, v->now);
    return status;
}

static tide_status is_user_compliant(struct view *v, enum tide_refusal *why)
{
    struct tide_standing at;
    const struct tide_hot_person *person;
    bool blocked;
    (void)why;
    tide_status status = standing(v, &at, &person, &blocked);
    put_bool(v->out, at.compliant);
    return status;
}

static tide_status get_compliance_status(struct view *v, enum tide_refusal *why)
{
    struct tide_standing at;
    const struct tide_hot_person *person;
    bool blocked;
    (void)why;
    tide_status status = standing(v, &at, &person, &blocked);
    struct tide_hot_person none = { .provider = address_at(v, 0), .reason = { "none" } };
    const struct tide_hot_person *shown = person && person->recorded ? person : &none;
    tide_buf_putf(v->out,
                  "{\"expires_at\":\"%" PRIu64 "\",\"updated_at\":\"%" PRIu64
                  "\",\"status\":%u,\"jurisdiction_allowed\":",
                  shown->expires_at, shown->updated_at, shown->status);
    put_bool(v->out, tide_rule_jurisdiction_allowed(person, blocked));
    tide_buf_str(v->out, ",\"reason\":");
    put_symbol(v->out, &shown->reason);
    tide_buf_str(v->out, ",\"provider\":");
    put_address(v->out, &shown->provider);
    tide_buf_str(v->out, "}");
    return status;
}

static tide_status is_jurisdiction_blocked(struct view *v, enum tide_refusal *why)
{
    bool blocked;
    (void)why;
    tide_status status =
        tide_history_blocked(&v->history, (uint32_t)number_at(v, 0), &blocked, &v->err);
    put_bool(v->out, status == TIDE_OK && blocked);
    return status;
}

static tide_status get_travel_rule_count(struct view *v, enum tide_refusal *why)
{
    struct tide_entry_key key =
        entry(v, "compliance_registry_instance", TIDE_ROLE_compliance_registry, NULL);
    (void)why;
    return put_column(v, &key, "to_json(travel_rule_count::text)", "\"0\"", NULL);
}

static tide_status get_providers(struct view *v, enum tide_refusal *why)
{
    struct tide_key_part who = TIDE_PART_ADDRESS(address_at(v, 0));
    struct tide_entry_key counted = with(entry(v, "compliance_registry_attestation_count",
                                               TIDE_ROLE_compliance_registry, "AttestationCount"),
                                         who);
    uint64_t count;
    (void)why;
    tide_status status = number_of(v, &counted, "value", &count);
    tide_buf_str(v->out, "[");
    for (uint64_t i = 0; i < count && status == TIDE_OK; i++) {
        struct tide_entry_key key = with(with(entry(v, "compliance_registry_attestation",
                                                    TIDE_ROLE_compliance_registry, "Attestation"),
                                              who),
                                         TIDE_PART_U32(i));
        tide_buf_str(v->out, i ? "," : "");
        status = put_column(v, &key, "to_json(value)", "null", NULL);
    }
    tide_buf_str(v->out, "]");
    return status;
}

/* Writes entry i of the verifier log if that address is a verifier now. */
static tide_status put_verifier(struct view *v, uint32_t i, bool *any)
{
    struct tide_pg_rows rows, mark;
    bool found, still = false;
    struct tide_entry_key key = with(entry(v, "compliance_registry_verifier_list",
                                           TIDE_ROLE_compliance_registry, "VerifierList"),
                                     TIDE_PART_U32(i));
    tide_status status = tide_history_entry(&v->history, &rows, &found, &key, "value", &v->err);
    if (status != TIDE_OK || !found)
        return status;
    struct tide_hot_address who;
    (void)tide_hot_address_parse(&who, tide_pg_slice(&rows, 0, 0));
    tide_pg_rows_release(&rows);
    key = with(entry(v, "compliance_registry_verifier", TIDE_ROLE_compliance_registry, "Verifier"),
               TIDE_PART_ADDRESS(who));
    status = tide_history_entry(&v->history, &mark, &still, &key, "value", &v->err);
    tide_pg_rows_release(&mark);
    if (status == TIDE_OK && still) {
        tide_buf_str(v->out, *any ? "," : "");
        put_address(v->out, &who);
        *any = true;
    }
    return status;
}

static tide_status list_verifiers(struct view *v, enum tide_refusal *why)
{
    struct tide_entry_key key =
        entry(v, "compliance_registry_instance", TIDE_ROLE_compliance_registry, NULL);
    uint64_t count;
    bool any = false;
    (void)why;
    tide_status status = number_of(v, &key, "verifier_count", &count);
    tide_buf_str(v->out, "[");
    for (uint32_t i = 0; i < count && status == TIDE_OK; i++)
        status = put_verifier(v, i, &any);
    tide_buf_str(v->out, "]");
    return status;
}

/* --- pools --------------------------------------------------------------------------------- */

static tide_status pool_at(struct view *v, const struct tide_hot_pool **out)
{
    struct tide_hot_symbol id = symbol_at(v, 0);
    tide_status status = tide_history_pool(&v->history, &v->set, &id, &v->err);
    *out = record_of(v, tide_hot_key_symbol(TIDE_HOT_POOL, &id));
    return status;
}

static tide_status get_pool(struct view *v, enum tide_refusal *why)
{
    const struct tide_hot_pool *pool;
    tide_status status = pool_at(v, &pool);
    if (status != TIDE_OK || !pool) {
        *why = TIDE_REFUSED_NO_POOL;
        return status;
    }
    tide_buf_str(v->out, "{\"token_a\":");
    put_address(v->out, &pool->token_a);
    tide_buf_str(v->out, ",\"token_b\":");
    put_address(v->out, &pool->token_b);
    tide_buf_str(v->out, ",\"paused\":");
    put_bool(v->out, pool->paused);
    put_field(v->out, "reserve_a", pool->reserve_a);
    put_field(v->out, "reserve_b", pool->reserve_b);
    put_field(v->out, "total_shares", pool->total_shares);
    put_field(v->out, "fee_tier", pool->fee_tier);
    put_field(v->out, "fee_a_accum", pool->fee_a_accum);
    put_field(v->out, "fee_b_accum", pool->fee_b_accum);
    put_field(v->out, "cumulative_vol_a", pool->cumulative_vol_a);
    put_field(v->out, "cumulative_vol_b", pool->cumulative_vol_b);
    tide_buf_str(v->out, "}");
    return status;
}

static tide_status pool_price(struct view *v, enum tide_refusal *why)
{
    const struct tide_hot_pool *pool;
    tide_raw_i128 price = 0;
    tide_status status = pool_at(v, &pool);
    *why = tide_rule_spot(&price, pool, true_at(v, 1));
    put_amount(v->out, price);
    return status;
}

static tide_status quote(struct view *v, enum tide_refusal *why)
{
    const struct tide_hot_pool *pool;
    tide_raw_i128 out = 0;
    tide_status status = pool_at(v, &pool);
    *why = tide_rule_quote(&out, pool, amount_at(v, 1), true_at(v, 2));
    put_amount(v->out, out);
    return status;
}

static tide_status claimable_fees(struct view *v, enum tide_refusal *why)
{
    const struct tide_hot_pool *pool;
    struct tide_position position;
    struct tide_hot_symbol id = symbol_at(v, 0);
    struct tide_hot_address who = address_at(v, 1);
    tide_raw_i128 a, b;
    bool found = false;
    tide_status status = pool_at(v, &pool);
    if (status == TIDE_OK)
        status = tide_history_position(&v->history, &position, &found, &id, &who, &v->err);
    *why = tide_rule_claimable(&a, &b, pool, found ? &position : NULL);
    tide_buf_str(v->out, "[");
    put_amount(v->out, a);
    tide_buf_str(v->out, ",");
    put_amount(v->out, b);
    tide_buf_str(v->out, "]");
    return status;
}

/* --- prices -------------------------------------------------------------------------------- */

static tide_status feed_at(struct view *v, const struct tide_hot_feed **out)
{
    struct tide_hot_symbol asset = symbol_at(v, 0);
    tide_status status = tide_history_feed(&v->history, &v->set, &asset, &v->err);
    *out = record_of(v, tide_hot_key_symbol(TIDE_HOT_FEED, &asset));
    return status;
}

static tide_status oracle_price(struct view *v, enum tide_refusal *why)
{
    const struct tide_hot_feed *feed;
    tide_raw_i128 price = 0;
    tide_status status = feed_at(v, &feed);
    *why = tide_rule_price(&price, feed, v->now);
    put_amount(v->out, price);
    return status;
}

static tide_status get_twap(struct view *v, enum tide_refusal *why)
{
    const struct tide_hot_feed *feed;
    tide_raw_i128 price = 0;
    tide_status status = feed_at(v, &feed);
    *why = tide_rule_twap(&price, feed, v->now);
    put_amount(v->out, price);
    return status;
}

static tide_status is_stale(struct view *v, enum tide_refusal *why)
{
    const struct tide_hot_feed *feed;
    (void)why;
    tide_status status = feed_at(v, &feed);
    put_bool(v->out, tide_rule_stale(feed, v->now));
    return status;
}

/* --- markets and vaults -------------------------------------------------------------------- */

static tide_status market_at(struct view *v, const struct tide_hot_market **out)
{
    struct tide_hot_symbol symbol = symbol_at(v, 0);
    tide_status status = tide_history_market(&v->history, &v->set, &symbol, &v->err);
    *out = record_of(v, tide_hot_key_symbol(TIDE_HOT_MARKET, &symbol));
    return status;
}

static tide_status get_asset_config(struct view *v, enum tide_refusal *why)
{
    const struct tide_hot_market *market;
    (void)why;
    tide_status status = market_at(v, &market);
    if (!market || !market->listed) {
        tide_buf_str(v->out, "null");
        return status;
    }
    tide_buf_str(v->out, "{\"token\":");
    put_address(v->out, &market->token);
    tide_buf_str(v->out, ",\"oracle_symbol\":");
    put_symbol(v->out, &market->oracle_symbol);
    tide_buf_str(v->out, ",\"coll_oracle_sym\":");
    put_symbol(v->out, &market->coll_oracle_symbol);
    tide_buf_str(v->out, ",\"enabled\":");
    put_bool(v->out, market->enabled);
    put_field(v->out, "min_coll_ratio", market->min_coll_ratio);
    put_field(v->out, "liq_ratio", market->liq_ratio);
    put_field(v->out, "liq_penalty", market->liq_penalty);
    put_field(v->out, "stab_fee_bps", market->stab_fee_bps);
    put_field(v->out, "debt_ceiling", market->debt_ceiling);
    tide_buf_str(v->out, "}");
    return status;
}

static tide_status get_debt_total(struct view *v, enum tide_refusal *why)
{
    const struct tide_hot_market *market;
    (void)why;
    tide_status status = market_at(v, &market);
    put_amount(v->out, market ? tide_hot_i128(market->debt_total) : 0);
    return status;
}

static tide_status vault_at(struct view *v, struct tide_vault_inputs *in)
{
    struct tide_hot_address owner = address_at(v, 0);
    struct tide_hot_symbol market = symbol_at(v, 1);
    return tide_history_vault(&v->history, &v->set, in, &market, &owner, &v->err);
}

static tide_status get_cr_bps(struct view *v, enum tide_refusal *why)
{
    struct tide_vault_inputs in;
    tide_raw_i128 ratio = 0;
    tide_status status = vault_at(v, &in);
    *why = tide_rule_ratio(&ratio, &in, v->now);
    put_amount(v->out, ratio);
    return status;
}

static tide_status is_liquidatable(struct view *v, enum tide_refusal *why)
{
    struct tide_vault_inputs in;
    bool yes;
    tide_status status = vault_at(v, &in);
    *why = tide_rule_liquidatable(&yes, &in, v->now);
    put_bool(v->out, yes);
    return status;
}

static tide_status get_vaults_by_owner(struct view *v, enum tide_refusal *why)
{
    struct tide_entry_key key = with(
        entry(v, "synthetic_engine_vaults_by_owner", TIDE_ROLE_synthetic_engine, "VaultsByOwner"),
        TIDE_PART_ADDRESS(address_at(v, 0)));
    (void)why;
    return put_column(v, &key, "to_json(value)", "[]", NULL);
}

static tide_status is_paused(struct view *v, enum tide_refusal *why)
{
    struct tide_entry_key key =
        entry(v, "synthetic_engine_instance", TIDE_ROLE_synthetic_engine, NULL);
    (void)why;
    return put_column(v, &key, "to_json(paused)", "false", NULL);
}

static tide_status balance(struct view *v, enum tide_refusal *why)
{
    struct tide_entry_key key = { .table = "synth_token_balance",
                                  .contract = v->contract,
                                  .variant = "Balance" };
    key = with(key, TIDE_PART_ADDRESS(address_at(v, 0)));
    (void)why;
    return put_column(v, &key, "to_json(value::text)", "\"0\"", NULL);
}

/* --- stability pool, epochs, partners -------------------------------------------------------- */

static tide_status savings(struct view *v, struct tide_stability *state, bool *started,
                           struct tide_saving *saving, bool *saves)
{
    struct tide_hot_address who = address_at(v, 0);
    *saves = false;
    tide_status status = tide_history_stability(&v->history, state, started, &v->err);
    return status == TIDE_OK ? tide_history_saving(&v->history, saving, saves, &who, &v->err)
                             : status;
}

static tide_status get_compounded_deposit(struct view *v, enum tide_refusal *why)
{
    struct tide_stability state;
    struct tide_saving saving;
    tide_raw_i128 out;
    bool started, saves;
    tide_status status = savings(v, &state, &started, &saving, &saves);
    *why = tide_rule_compounded(&out, started ? &state : NULL, saves ? &saving : NULL);
    put_amount(v->out, out);
    return status;
}

static tide_status get_collateral_gain(struct view *v, enum tide_refusal *why)
{
    struct tide_stability state;
    struct tide_saving saving;
    tide_raw_i128 out;
    bool started, saves;
    tide_status status = savings(v, &state, &started, &saving, &saves);
    *why = tide_rule_gain(&out, started ? &state : NULL, saves ? &saving : NULL);
    put_amount(v->out, out);
    return status;
}

static tide_status get_state(struct view *v, enum tide_refusal *why)
{
    struct tide_stability s;
    bool started;
    tide_status status = tide_history_stability(&v->history, &s, &started, &v->err);
    if (status != TIDE_OK || !started) {
        *why = TIDE_REFUSED_NOT_STARTED;
        return status;
    }
    tide_buf_putf(v->out,
                  "{\"epoch\":\"%" PRIu64 "\",\"scale\":\"%" PRIu64
                  "\",\"total_liq_count\":\"%" PRIu64 "\",\"paused\":%s",
                  s.epoch, s.scale, s.total_liq_count, s.paused ? "true" : "false");
    put_field(v->out, "p", tide_hot_amount(s.p));
    put_field(v->out, "sum_coll", tide_hot_amount(s.sum_coll));
    put_field(v->out, "total_coll_gained", tide_hot_amount(s.total_coll_gained));
    put_field(v->out, "total_deposits", tide_hot_amount(s.total_deposits));
    tide_buf_str(v->out, "}");
    return status;
}

static tide_status get_current_epoch(struct view *v, enum tide_refusal *why)
{
    struct tide_entry_key key =
        entry(v, "earnings_distributor_instance", TIDE_ROLE_earnings_distributor, NULL);
    (void)why;
    return put_column(v, &key, "to_json(epoch::text)", "\"0\"", NULL);
}

static tide_status get_epoch(struct view *v, enum tide_refusal *why)
{
    struct tide_epoch e;
    bool found;
    (void)why;
    tide_status status = tide_history_epoch(&v->history, &e, &found, number_at(v, 0), &v->err);
    if (status != TIDE_OK || !found) {
        tide_buf_str(v->out, "null");
        return status;
    }
    tide_buf_putf(v->out,
                  "{\"epoch_id\":\"%" PRIu64 "\",\"start_time\":\"%" PRIu64
                  "\",\"end_time\":\"%" PRIu64 "\",\"finalized\":%s",
                  e.id, e.start_time, e.end_time, e.finalized ? "true" : "false");
    put_field(v->out, "total_revenue", tide_hot_amount(e.total_revenue));
    put_field(v->out, "partner_revenue", tide_hot_amount(e.partner_revenue));
    put_field(v->out, "protocol_revenue", tide_hot_amount(e.protocol_revenue));
    put_field(v->out, "staker_snapshot", tide_hot_amount(e.staker_snapshot));
    put_field(v->out, "per_token_revenue", tide_hot_amount(e.per_token_revenue));
    tide_buf_str(v->out, "}");
    return status;
}

static tide_status get_epoch_tokens(struct view *v, enum tide_refusal *why)
{
    struct tide_entry_key key = with(entry(v, "earnings_distributor_epoch_token_list",
                                           TIDE_ROLE_earnings_distributor, "EpochTokenList"),
                                     TIDE_PART_U64(number_at(v, 0)));
    (void)why;
    return put_column(v, &key, "to_json(value)", "[]", NULL);
}

static struct tide_entry_key partner_entry(struct view *v)
{
    return with(entry(v, "partner_registry_partner", TIDE_ROLE_partner_registry, "Partner"),
                TIDE_PART_U32(number_at(v, 0)));
}

static tide_status get_partner(struct view *v, enum tide_refusal *why)
{
    struct tide_entry_key key = partner_entry(v);
    uint32_t id = (uint32_t)number_at(v, 0);
    (void)why;
    tide_status status = tide_history_partner(&v->history, &v->set, id, &v->err);
    const struct tide_hot_partner *p = record_of(v, tide_hot_key_u32(TIDE_HOT_PARTNER, id));
    if (status != TIDE_OK || !p) {
        tide_buf_str(v->out, "null");
        return status;
    }
    tide_buf_putf(v->out,
                  "{\"id\":%u,\"active\":%s,\"registered_at\":\"%" PRIu64 "\",\"name\":", p->id,
                  p->active ? "true" : "false", p->registered_at);
    tide_buf_json_string(v->out, tide_slice_of(p->name.text, p->name.len));
    tide_buf_str(v->out, ",\"owner\":");
    put_address(v->out, &p->owner);
    put_field(v->out, "revenue_share", p->revenue_share);
    put_field(v->out, "pending_revenue", p->pending_revenue);
    put_field(v->out, "total_earned", p->total_earned);
    put_field(v->out, "total_volume", p->total_volume);
    tide_buf_str(v->out, ",\"deployed_assets\":");
    status = put_column(v, &key, "to_json(deployed_assets)", "[]", NULL);
    tide_buf_str(v->out, "}");
    return status;
}

static tide_status get_partner_assets(struct view *v, enum tide_refusal *why)
{
    struct tide_entry_key key = partner_entry(v);
    bool found = false;
    tide_status status = put_column(v, &key, "to_json(deployed_assets)", "[]", &found);
    *why = found ? TIDE_REFUSED_NOTHING : TIDE_REFUSED_NO_PARTNER;
    return status;
}

/* --- asked and answered ---------------------------------------------------------------------- */

/* clang-format off */
static const struct { const char *role, *fn; answer_fn *answer; } answers[] = {
    { "compliance_registry", "is_user_compliant", is_user_compliant },
    { "compliance_registry", "is_verified", is_user_compliant },
    { "compliance_registry", "get_compliance_status", get_compliance_status },
    { "compliance_registry", "is_jurisdiction_blocked", is_jurisdiction_blocked },
    { "compliance_registry", "get_travel_rule_count", get_travel_rule_count },
    { "compliance_registry", "get_providers", get_providers },
    { "compliance_registry", "list_verifiers", list_verifiers },
    { "liquidity_pool", "get_pool", get_pool },
    { "liquidity_pool", "get_price", pool_price },
    { "liquidity_pool", "quote", quote },
    { "liquidity_pool", "claimable_fees", claimable_fees },
    { "oracle", "get_price", oracle_price },
    { "oracle", "get_twap", get_twap },
    { "oracle", "is_stale", is_stale },
    { "synthetic_engine", "get_asset_config", get_asset_config },
    { "synthetic_engine", "get_debt_total", get_debt_total },
    { "synthetic_engine", "get_cr_bps", get_cr_bps },
    { "synthetic_engine", "is_liquidatable", is_liquidatable },
    { "synthetic_engine", "get_vaults_by_owner", get_vaults_by_owner },
    { "synthetic_engine", "is_paused", is_paused },
    { "synth_token", "balance", balance },
    { "stability_pool", "get_compounded_deposit", get_compounded_deposit },
    { "stability_pool", "get_collateral_gain", get_collateral_gain },
    { "stability_pool", "get_state", get_state },
    { "earnings_distributor", "get_current_epoch", get_current_epoch },
    { "earnings_distributor", "get_epoch", get_epoch },
    { "earnings_distributor", "get_epoch_tokens", get_epoch_tokens },
    { "partner_registry", "get_partner", get_partner },
    { "partner_registry", "get_partner_assets", get_partner_assets },
    { "dao_governance", "get_proposal", get_proposal },
    { "dao_governance", "get_proposal_multisig_txs", get_proposal_multisig_txs },
    { "dao_governance", "get_multisig_tx_summary", get_multisig_tx_summary },
    { "dao_governance", "get_pending_multisig_txs", get_pending_multisig_txs },
    { "dao_governance", "get_signers", get_signers },
};
/* clang-format on */

static tide_status answer_question(struct view *v, enum tide_refusal *why)
{
    for (size_t i = 0; i < TIDE_COUNT(answers); i++)
        if (tide_slice_eq_str(v->role, answers[i].role) && tide_slice_eq_str(v->fn, answers[i].fn))
            return answers[i].answer(v, why);
    return tide_fail(&v->err, TIDE_E_USAGE, "no such function: %.*s.%.*s", TIDE_SLICE_FMT(v->role),
                     TIDE_SLICE_FMT(v->fn));
}

static tide_slice next_field(char **at)
{
    char *field = strsep(at, "\t\n");
    return tide_slice_str(field ? field : "");
}

static void read_line(struct view *v, char *line)
{
    char *at = line;
    uint64_t ledger = 0;
    (void)!tide_parse_u64(&ledger, next_field(&at), UINT32_MAX);
    v->history.ledger = (uint32_t)ledger;
    (void)!tide_parse_u64(&v->now, next_field(&at), UINT64_MAX);
    v->role = next_field(&at);
    v->fn = next_field(&at);
    (void)tide_hot_address_parse(&v->contract, next_field(&at));
    for (v->args = 0; v->args < ARGS_MAX; v->args++)
        v->arg[v->args] = next_field(&at);
}

static tide_status answer_line(struct view *v, char *line)
{
    struct tide_buf out;
    enum tide_refusal why = TIDE_REFUSED_NOTHING;
    tide_buf_init(&out, TIDE_JSON_BYTES_MAX);
    v->out = &out;
    read_line(v, line);
    tide_status status = answer_question(v, &why);
    if (status == TIDE_OK && why != TIDE_REFUSED_NOTHING)
        printf("{\"ok\":false,\"why\":\"%s\"}\n", tide_refusal_code(why));
    else if (status == TIDE_OK)
        printf("{\"ok\":true,\"ret\":%.*s}\n", TIDE_SLICE_FMT(tide_buf_view(&out)));
    tide_buf_release(&out);
    record_set_release(&v->set);
    return status;
}

int main(void)
{
    struct view v = { 0 };
    struct tide_pg *pg = NULL;
    struct tide_pg_options to = { .conninfo = getenv("TIDEMARK_DATABASE_URL"),
                                  .application = "views" };
    char *line = NULL;
    size_t size = 0;
    tide_status status = tide_pg_open(&pg, &to, &v.err);
    if (status == TIDE_OK)
        status = tide_history_open(&v.history, pg, 1, 0, &v.err);
    while (status == TIDE_OK && getline(&line, &size, stdin) > 0)
        status = answer_line(&v, line);
    free(line);
    tide_pg_close(pg);
    if (status != TIDE_OK)
        fprintf(stderr, "views_driver: %s\n", v.err.text);
    return tide_status_exit(status);
}
