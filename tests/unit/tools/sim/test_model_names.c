/* Every name that the model writes is in the catalogue: topics and data of events, fields of
 * entries, instance slots. The test reads the catalogue's lines itself, without its decoder. */
#include "tests/unit/tools/sim/model_world.h"

#include "tidemark/catalogue.h"

struct line {
    char kind; /* E event, T topic, D data, s scalar; N entry, F field, S sub, V value; I, L slot */
    const char *role;
    const char *name;
    const char *more;
};

static const struct line lines[] = {
#define TIDE_EVENT(role, id, name, doc)                { 'E', #role, name, #id },
#define TIDE_TOPIC(field, type, doc)                   { 'T', "", #field, "" },
#define TIDE_DATA(field, type, doc)                    { 'D', "", #field, "" },
#define TIDE_SHAPE(shape)                              { 'h', "", #shape, "" },
#define TIDE_FORM(shape, topics, data)                 { 'f', "", topics, data },
#define TIDE_ENTRY(role, id, variant, durability, doc) { 'N', #role, variant, #durability },
#define TIDE_FIELD(field, type, doc)                   { 'F', "", #field, "" },
#define TIDE_FIELD_PRIVATE(field, type, doc)           { 'F', "", #field, "" },
#define TIDE_FIELD_ACTION(field, type, doc)            { 'F', "", #field, "" },
#define TIDE_SUB(outer, field, type, doc)              { 'S', "", #outer, #field },
#define TIDE_VALUE(type, doc)                          { 'V', "", "", "" },
#define TIDE_INSTANCE(role, doc)                       { 'I', #role, "", "" },
#define TIDE_SLOT(column, key, form, type, doc)        { 'L', "", key, #form },
#include "schema/catalogue/all.def"
    { 'E', "", "", "" },
};

static bool is_head(const struct line *line)
{
    return line->kind == 'E' || line->kind == 'N' || line->kind == 'I';
}

static const char *role_of(const struct sim_contract *contract)
{
    static const char *const names[TIDE_ROLE_COUNT] = {
        [TIDE_ROLE_liquidity_pool] = "liquidity_pool",
        [TIDE_ROLE_synthetic_engine] = "synthetic_engine",
        [TIDE_ROLE_stability_pool] = "stability_pool",
        [TIDE_ROLE_compliance_registry] = "compliance_registry",
        [TIDE_ROLE_partner_registry] = "partner_registry",
        [TIDE_ROLE_earnings_distributor] = "earnings_distributor",
        [TIDE_ROLE_oracle] = "oracle",
        [TIDE_ROLE_dao_governance] = "dao_governance",
        [TIDE_ROLE_synth_token] = "synth_token",
        [TIDE_ROLE_stellar_asset] = "stellar_asset",
    };
    return names[contract->role];
}

/* Returns true if the lines of `kind` after `head` name exactly the map's keys. */
static bool names_match(const struct line *head, char kind, const sim_val *map)
{
    uint32_t found = 0;
    const char *last = "";
    for (const struct line *at = head + 1; !is_head(at); at++) {
        bool sub = at->kind == 'S' && kind == 'F' && strcmp(at->name, last) != 0;
        if (at->kind != kind && !sub)
            continue;
        last = at->name;
        sim_val key = sim_sym(at->name);
        if (!sim_map_get(map, &key))
            return false;
        found++;
    }
    return found == map->len;
}

static uint32_t count_of(const struct line *head, char kind)
{
    uint32_t count = 0;
    for (const struct line *at = head + 1; !is_head(at); at++)
        count += at->kind == kind;
    return count;
}

/* Counts the words of a FORM line, without those that may be absent. */
static uint32_t count_words(const char *text, bool all)
{
    uint32_t count = 0;
    for (; *text; text += *text == ' ') {
        size_t len = strcspn(text, " ");
        count += all || text[len - 1] != '?';
        text += len;
    }
    return count;
}

static bool map_has_form(const char *data, const sim_val *map)
{
    char name[64];
    for (uint32_t i = 0; i < map->len; i++) {
        snprintf(name, sizeof name, "%.*s", TIDE_SLICE_FMT(map->map[i].key.bytes));
        if (!strstr(data, name))
            return false;
    }
    return map->len >= count_words(data, false) && map->len <= count_words(data, true);
}

/* Returns whether the event's topics and data are as one of the FORM lines says. */
static bool has_form(const struct line *head, const struct sim_event *event)
{
    uint32_t topics = event->topics.len - 1;
    for (const struct line *at = head + 1; !is_head(at); at++) {
        if (at->kind != 'f' || topics < count_words(at->name, false) ||
            topics > count_words(at->name, true))
            continue;
        if (event->data.type != TIDE_SCV_MAP || map_has_form(at->more, &event->data))
            return true;
    }
    return false;
}

static bool event_fits(const struct line *head, const struct sim_event *event)
{
    if (head->kind != 'E' || strcmp(head->role, role_of(event->contract)) != 0 ||
        !tide_slice_eq_str(event->topics.vec[0].bytes, head->name))
        return false;
    if (event->system)
        return true;
    if (count_of(head, 'f'))
        return has_form(head, event);
    if (count_of(head, 'T') != event->topics.len - 1)
        return false;
    if (event->data.type != TIDE_SCV_MAP)
        return count_of(head, 'h') == 1;
    return names_match(head, 'D', &event->data);
}

struct seen {
    bool line[TIDE_COUNT(lines)];
};

static void check_events(struct seen *seen, const struct sim_outcome *out)
{
    for (uint32_t i = 0; i < out->event_count; i++) {
        bool fits = false;
        for (size_t k = 0; k + 1 < TIDE_COUNT(lines); k++) {
            if (!event_fits(&lines[k], &out->events[i]))
                continue;
            seen->line[k] = true;
            fits = true;
        }
        if (!fits)
            fail_msg("event %.*s of %s is not as the catalogue has it",
                     TIDE_SLICE_FMT(out->events[i].topics.vec[0].bytes),
                     role_of(out->events[i].contract));
    }
}

static void check_slots(const struct line *head, const sim_val *storage)
{
    for (uint32_t i = 0; i < storage->len; i++) {
        const sim_val *key = &storage->map[i].key;
        bool bare = key->type == TIDE_SCV_SYMBOL;
        tide_slice name = bare ? key->bytes : key->vec[0].bytes;
        bool known = false;
        for (const struct line *at = head + 1; !is_head(at); at++)
            known = known || (tide_slice_eq_str(name, at->name) &&
                              strcmp(at->more, bare ? "SYM" : "VEC") == 0);
        if (!known)
            fail_msg("slot %.*s of %s is not in the catalogue", TIDE_SLICE_FMT(name), head->role);
    }
}

static bool entry_fits(const struct line *head, const struct sim_entry *entry, const sim_val *key,
                       const sim_val *val)
{
    if (strcmp(head->role, role_of(entry->contract)) != 0)
        return false;
    if (key->type == TIDE_SCV_LEDGER_KEY_CONTRACT_INSTANCE)
        return head->kind == 'I';
    if (head->kind != 'N' || !tide_slice_eq_str(key->vec[0].bytes, head->name))
        return false;
    assert_string_equal(head->more,
                        entry->durability == SIM_TEMPORARY ? "TEMPORARY" : "PERSISTENT");
    return val->type == TIDE_SCV_MAP ? names_match(head, 'F', val) : count_of(head, 'V') == 1;
}

static void check_entry(struct seen *seen, struct tide_arena *arena, const struct sim_entry *entry)
{
    sim_val key = sim_val_read(arena, entry->key);
    sim_val val = sim_val_read(arena, entry->val);
    for (size_t k = 0; k + 1 < TIDE_COUNT(lines); k++) {
        if (!entry_fits(&lines[k], entry, &key, &val))
            continue;
        seen->line[k] = true;
        if (lines[k].kind == 'I')
            check_slots(&lines[k], &val.instance->storage);
        return;
    }
    fail_msg("an entry of %s is not as the catalogue has it", role_of(entry->contract));
}

/* --- something of everything --------------------------------------------------------------- */

static sim_val empty(void)
{
    return sim_bytes((tide_slice){ 0 });
}

#define GO(to, fn, ...) check_events(seen, PASS(w, to, fn, __VA_ARGS__))

static void people(struct world *w, struct seen *seen)
{
    sim_val admin = A(ADMIN);
    sim_val dao = A(DAOWALLET);
    sim_val none = { .type = TIDE_SCV_VEC };
    GO(REGISTRY, "set_verifier", dao, A(VERIFIER));
    GO(REGISTRY, "register_signer", A(VERIFIER), U(5));
    GO(REGISTRY, "submit_attestation", U(0), U(5), sim_u32(826), sim_u64(0));
    GO(REGISTRY, "attest", A(VERIFIER), U(0), sim_u32(826), sim_u64(0), empty());
    GO(REGISTRY, "attest", A(VERIFIER), A(FEED0), sim_u32(826), sim_u64(0), empty());
    GO(REGISTRY, "revoke", A(VERIFIER), A(FEED0));
    GO(REGISTRY, "block_jurisdiction", dao, sim_u32(4));
    GO(REGISTRY, "freeze_account", admin, A(FEED0), sim_sym("x"));
    GO(REGISTRY, "suspend_account", admin, A(FEED0), sim_sym("x"));
    GO(REGISTRY, "set_whitelist", admin, C(POOL), sim_bool(true));
    GO(REGISTRY, "set_asset_rule", dao, sim_sym("sGOLD"), none, sim_i128(0), sim_bool(true));
}

static void trade(struct world *w, struct seen *seen)
{
    sim_val p = sim_sym("P");
    sim_val gold = sim_sym("sGOLD");
    world_market(w, 0);
    world_pool(w);
    GO(ENGINE, "register_asset", A(DAOWALLET), gold, C(SGOLD), sim_sym("GOLD"), sim_sym("XLM"),
       sim_i128(15000), sim_i128(12000), sim_i128(1000), sim_i128(0), sim_i128(UNITS(1000000)));
    GO(PARTNERS, "register_partner", A(ADMIN), U(4), sim_string(TIDE_SLICE("zero")));
    GO(PARTNERS, "register_partner", A(ADMIN), U(5), sim_string(TIDE_SLICE("one")));
    GO(POOL, "swap_exact_in", U(1), p, sim_bool(false), sim_i128(1000000000), sim_i128(0),
       sim_u32(1));
    GO(POOL, "add_liquidity", U(1), p, sim_i128(UNITS(1)), sim_i128(UNITS(1)), sim_i128(0));
    GO(POOL, "remove_liquidity", U(0), p, sim_i128(5), sim_i128(0), sim_i128(0));
    GO(PARTNERS, "claim_revenue", U(5));
    price(w, "XLM", 10000000);
    for (uint8_t i = 0; i < 3; i++)
        GO(ORACLE, "submit_price", A((uint8_t)(FEED0 + i)), sim_sym("GOLD"), sim_i128(10000000));
    GO(ORACLE, "update_twap", sim_sym("GOLD"));
    GO(ENGINE, "open_vault", U(0), gold, C(XLM), sim_i128(UNITS(30000)));
    GO(ENGINE, "deposit_collateral", U(0), gold, sim_i128(5));
    GO(ENGINE, "withdraw_collateral", U(0), gold, sim_i128(5));
    GO(ENGINE, "mint_synth", U(0), gold, sim_i128(UNITS(20000)));
    GO(ENGINE, "burn_synth", U(0), gold, sim_i128(5));
    GO(SGOLD, "transfer", U(0), U(1), sim_i128(UNITS(100)));
    for (sim_amount price_now = 12000000; price_now < 14000000; price_now += 1000000)
        price(w, "GOLD", price_now);
    GO(ENGINE, "liquidate", U(1), U(0), gold, sim_i128(5));
}

static void tokens(struct world *w, struct seen *seen)
{
    GO(SGOLD, "approve", U(0), U(1), sim_i128(5), sim_u32(5000));
    GO(SGOLD, "transfer_from", U(1), U(0), U(2), sim_i128(1));
    GO(SGOLD, "set_frozen", A(ADMIN), U(0), sim_bool(true));
    GO(SGOLD, "clawback", A(ADMIN), U(0), sim_i128(1));
    GO(USDC, "mint", C(EARNINGS), sim_i128(1));
    GO(STABILITY, "deposit", U(0), sim_i128(UNITS(9)));
    PASS(w, XLM, "transfer", U(5), C(ENGINE), sim_i128(UNITS(5)));
    GO(STABILITY, "absorb_liquidation", C(ENGINE), sim_i128(UNITS(1)), sim_i128(UNITS(5)), C(XLM));
    GO(STABILITY, "claim_gains", U(0));
    GO(STABILITY, "withdraw", U(0), sim_i128(1));
    later(w, 604800);
    check_events(seen, expect_pass(w, EARNINGS, "finalize_epoch", SIM_NONE));
    sim_val first[] = { sim_u64(0) };
    GO(EARNINGS, "claim", U(0), ((sim_val){ .type = TIDE_SCV_VEC, .len = 1, .vec = first }));
}

static void govern(struct world *w, struct seen *seen)
{
    sim_val oil = sim_sym("OIL");
    GO(PARTNERS, "register_partner_asset", U(5), oil, C(SGOLD), oil, oil, sim_i128(2), sim_i128(1),
       sim_i128(0), sim_i128(0), sim_i128(0));
    GO(PARTNERS, "activate_partner_asset", A(ADMIN), oil);
    GO(PARTNERS, "deactivate_partner", A(ADMIN), sim_u32(1));
    GO(DAO, "add_oracle_provider", A(DAOWALLET), A(FEED0 + 5));
    GO(DAO, "propose_and_queue_multisig", U(0), empty(), empty(), empty(), sim_u32(0), C(POOL),
       sim_sym("x"));
    GO(DAO, "propose", U(0), empty(), empty(), empty());
    GO(DAO, "cancel", U(0), sim_u64(1));
    GO(DAO, "approve_multisig_tx", U(0), sim_u64(0), sim_bool(true));
    GO(DAO, "execute_multisig_tx", U(0), sim_u64(0));
    for (uint32_t i = 0; i < 3; i++)
        GO(DAO, "vote", U(i), sim_u64(0), sim_bool(true));
    later(w, 259200);
    GO(DAO, "execute", U(0), sim_u64(0));
    GO(DAO, "set_multisig_mask", A(DAOWALLET), sim_u32(1));
    static const uint8_t hash[TIDE_HASH_BYTES] = { 1 };
    GO(POOL, "upgrade", U(0), sim_bytes(tide_slice_of(hash, sizeof(hash))));
}

/* Returns true for lines that the model cannot write: other contracts' code, and functions of the
 * asset contract that the protocol never calls. */
static bool out_of_reach(const struct line *line)
{
    bool foreign = strcmp(line->role, "stellar_asset") == 0 &&
                   strcmp(line->name, "transfer") != 0 && strcmp(line->name, "mint") != 0 &&
                   strcmp(line->name, "Balance") != 0;
    return foreign || strcmp(line->name, "executable_update") == 0;
}

static void test_names(void **state)
{
    struct world *w = *state;
    struct seen seen = { 0 };
    people(w, &seen);
    trade(w, &seen);
    tokens(w, &seen);
    govern(w, &seen);
    struct tide_arena arena;
    assert_int_equal(tide_arena_open(&arena, 64u << 20), TIDE_OK);
    struct sim_walk walk = { 0 };
    for (struct sim_entry *e = sim_entry_next(&w->h, &walk); e; e = sim_entry_next(&w->h, &walk))
        check_entry(&seen, &arena, e);
    tide_arena_close(&arena);
    for (size_t k = 0; k + 1 < TIDE_COUNT(lines); k++) {
        if (is_head(&lines[k]) && lines[k].kind != 'I' && !seen.line[k] && !out_of_reach(&lines[k]))
            fail_msg("no call of this test lets the model write %s %s", lines[k].role,
                     lines[k].name);
    }
}

static bool is_catalogued(enum tide_role role, const char *function)
{
    for (const char *const *name = tide_functions(role); *name; name++)
        if (strcmp(*name, function) == 0)
            return true;
    return false;
}

static void the_model_has_no_function_of_its_own(void **state)
{
    (void)state;
    for (uint32_t role = 0; role < TIDE_ROLE_COUNT; role++) {
        const struct sim_class *class = sim_classes[role];
        for (const struct sim_fn *fn = class ? class->fns : NULL; fn && fn->name; fn++)
            if (!is_catalogued((enum tide_role)role, fn->name))
                fail_msg("the catalogue has no function %s of role %u", fn->name, role);
    }
}

int test_model_names(void)
{
    const struct CMUnitTest tests[] = { WORLD_TEST(test_names),
                                        cmocka_unit_test(the_model_has_no_function_of_its_own) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
