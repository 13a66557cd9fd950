/* The compliance registry, which decides if an address may use the protocol: attestations,
 * compliance records, freezes, jurisdictions. */
#include "tools/sim/host/host.h"

#define EV(id) SIM_EVENT(compliance_registry, id)
#define EN(id) SIM_ENTRY(compliance_registry, id)
#define ID(id) TIDE_EN_compliance_registry_##id

/* Values of a compliance record's status that this contract sets; 0 means no attestation. */
#define VERIFIED   2u
#define SUSPENDED  3u
#define SANCTIONED 4u

#define DAY_SECONDS 86400u
#define TRAVEL_FROM ((sim_amount)100000000000) /* the travel rule applies from 10 000 units */

/* Countries by ISO 3166-1 number: those of the United States and the European Union, and the
 * sanctioned ones. initialize blocks both lists. */
static const uint32_t us_and_eu[] = { 840, 40,  56,  100, 191, 196, 203, 208, 233, 246,
                                      250, 276, 300, 348, 372, 380, 428, 440, 442, 470,
                                      528, 616, 620, 642, 703, 705, 724, 752 };
static const uint32_t sanctioned[] = { 192, 364, 408, 760, 643, 112, 104, 862, 729, 728 };

/* Returns true if the country is blocked for the whole protocol. */
static bool jurisdiction_blocked(struct sim_host *h, uint32_t code)
{
    return sim_has(h, sim_key1(h, EN(blocked_jurisdiction), sim_u32(code)));
}

/* Blocks countries. */
static void block(struct sim_host *h, const uint32_t *codes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sim_put(h, sim_key1(h, EN(blocked_jurisdiction), sim_u32(codes[i])), sim_bool(true));
}

/* Returns the compliance record, or the one of an address without an attestation. */
static sim_val record_of(struct sim_host *h, sim_val party)
{
    const sim_val *stored = sim_get(h, sim_key1(h, EN(compliance_rec), party));
    if (stored)
        return *stored;
    return sim_make(h, SIM_FIELDS({ "status", sim_u32(0) }, { "jurisdiction", sim_u32(0) },
                                  { "expires_at", sim_u64(0) }, { "provider", party },
                                  { "updated_at", sim_u64(0) }, { "reason", sim_sym("none") }));
}

static void put_record(struct sim_host *h, sim_val party, sim_val record)
{
    sim_put(h, sim_key1(h, EN(compliance_rec), party), record);
}

/* Changes the record in place; the caller stores it. */
static void set_status(struct sim_host *h, const sim_val *record, uint32_t status, sim_val reason)
{
    sim_set(record, "status", sim_u32(status));
    sim_set(record, "updated_at", sim_u64(h->now));
    sim_set(record, "reason", reason);
}

/* args: admin, DAO */
static void initialize(struct sim_host *h, const sim_val *args)
{
    sim_slot_put(h, "DAO", args[1]);
    sim_slot_put(h, "VCNT", sim_u32(0));
    sim_slot_put(h, "TravelRuleCount", sim_u64(0));
    block(h, us_and_eu, TIDE_COUNT(us_and_eu));
    block(h, sanctioned, TIDE_COUNT(sanctioned));
}

/* --- verifiers ------------------------------------------------------------------- */

static bool is_verifier_addr(struct sim_host *h, sim_val party)
{
    return sim_has(h, sim_key1(h, EN(verifier), party));
}

/* Verifiers are numbered in the order of their registration. A removed one keeps its number. */
static void add_to_verifiers(struct sim_host *h, sim_val verifier)
{
    if (is_verifier_addr(h, verifier))
        return;
    uint32_t count = sim_slot_u32(h, "VCNT");
    sim_put(h, sim_key1(h, EN(verifier), verifier), sim_bool(true));
    sim_put(h, sim_key1(h, EN(verifier_list), sim_u32(count)), verifier);
    sim_slot_put(h, "VCNT", sim_u32(count + 1));
}

/* args: DAO, verifier */
static void add_verifier(struct sim_host *h, const sim_val *args)
{
    add_to_verifiers(h, args[1]);
}

/* args: DAO, verifier. Replaces the main verifier, who loses the right to attest. */
static void set_verifier(struct sim_host *h, const sim_val *args)
{
    const sim_val *old = sim_slot(h, "VERIFIER");
    if (old && !sim_addr_eq(old->addr, args[1].addr))
        sim_remove(h, sim_key1(h, EN(verifier), *old));
    sim_slot_put(h, "VERIFIER", args[1]);
    add_to_verifiers(h, args[1]);
    sim_emit(h, EV(verifier_set), SIM_VALS(args[0], args[1]), SIM_NONE);
}

/* args: DAO, verifier. The list keeps the number; list_verifiers skips it. */
static void remove_verifier(struct sim_host *h, const sim_val *args)
{
    sim_remove(h, sim_key1(h, EN(verifier), args[1]));
}

/* args: provider, signer. The signer's attestations count as the provider's. */
static void register_signer(struct sim_host *h, const sim_val *args)
{
    sim_require(h, is_verifier_addr(h, args[0]), "provider is not an authorised verifier");
    sim_put(h, sim_key1(h, EN(signer), args[1]), args[0]);
    sim_emit(h, EV(provider_reg), SIM_VALS(args[0], args[1]), SIM_NONE);
}

/* --- attestations ----------------------------------------------------------------- */

/* Lists the provider among those that have attested the subject, once. */
static void track_provider(struct sim_host *h, sim_val subject, sim_val provider)
{
    struct sim_key counter = sim_key1(h, EN(attestation_count), subject);
    uint32_t count = sim_get_u32(h, counter);
    for (uint32_t i = 0; i < count; i++) {
        const sim_val *known =
            sim_get(h, sim_key(h, EN(attestation), SIM_VALS(subject, sim_u32(i))));
        if (known && sim_addr_eq(known->addr, provider.addr))
            return;
    }
    sim_put(h, sim_key(h, EN(attestation), SIM_VALS(subject, sim_u32(count))), provider);
    sim_put(h, counter, sim_u32(count + 1));
}

/* An attestation that is about to be stored. */
struct attestation {
    sim_val verifier;
    sim_val subject;
    sim_val jurisdiction;
    sim_val expires_at;
    sim_val metadata;
};

static void store_attestation(struct sim_host *h, const struct attestation *a)
{
    sim_put(h, sim_key1(h, EN(kyc), a->subject),
            sim_make(h, SIM_FIELDS({ "address", a->subject }, { "verifier", a->verifier },
                                   { "jurisdiction", a->jurisdiction },
                                   { "issued_at", sim_u64(h->now) },
                                   { "expires_at", a->expires_at }, { "metadata", a->metadata })));
    put_record(
        h, a->subject,
        sim_make(h,
                 SIM_FIELDS({ "status", sim_u32(VERIFIED) }, { "jurisdiction", a->jurisdiction },
                            { "expires_at", a->expires_at }, { "provider", a->verifier },
                            { "updated_at", sim_u64(h->now) }, { "reason", sim_sym("attest") })));
    track_provider(h, a->subject, a->verifier);
}

/* args: verifier, subject, jurisdiction, expiry in unix seconds (0: none), metadata */
static void attest(struct sim_host *h, const sim_val *args)
{
    sim_require(h, is_verifier_addr(h, args[0]), "not an authorised verifier");
    sim_require(h, !jurisdiction_blocked(h, args[2].u32), "jurisdiction is blocked");
    store_attestation(h, &(struct attestation){ args[0], args[1], args[2], args[3], args[4] });
    sim_emit(h, EV(attest), SIM_VALS(args[0], args[1]),
             SIM_FIELDS({ "jurisdiction_allowed", sim_bool(true) }));
}

/* args: subject, signer, jurisdiction, expiry. The subject itself submits an attestation; the
 * signer's provider counts as its verifier. */
static void submit_attestation(struct sim_host *h, const sim_val *args)
{
    const sim_val *provider = sim_get(h, sim_key1(h, EN(signer), args[1]));
    sim_require(h, provider, "signer not registered — provider must call register_signer first");
    sim_require(h, is_verifier_addr(h, *provider), "provider is no longer authorised");
    sim_require(h, !jurisdiction_blocked(h, args[2].u32), "jurisdiction is blocked");
    sim_val empty = sim_bytes((tide_slice){ 0 });
    store_attestation(h, &(struct attestation){ *provider, args[0], args[2], args[3], empty });
    sim_emit(h, EV(submit_attest), SIM_VALS(args[0], *provider),
             SIM_FIELDS({ "jurisdiction_allowed", sim_bool(true) }));
}

/* args: verifier, subject. The record is changed only if the same verifier made it. */
static void revoke(struct sim_host *h, const sim_val *args)
{
    const sim_val *kyc = sim_get(h, sim_key1(h, EN(kyc), args[1]));
    sim_require(h, kyc, "no attestation found");
    sim_require(h, sim_addr_eq(sim_field_addr(kyc, "verifier"), args[0].addr),
                "can only revoke own attestations");
    sim_remove(h, sim_key1(h, EN(kyc), args[1]));
    const sim_val *record = sim_get(h, sim_key1(h, EN(compliance_rec), args[1]));
    if (record && sim_addr_eq(sim_field_addr(record, "provider"), args[0].addr)) {
        set_status(h, record, 0, sim_sym("revoked"));
        put_record(h, args[1], *record);
    }
    sim_emit(h, EV(revoke), SIM_VALS(args[0], args[1]), SIM_NONE);
}

/* --- rules and jurisdictions -------------------------------------------------------- */

/* args: DAO, asset, blocked jurisdictions, daily limit, travel rule required */
static void set_asset_rule(struct sim_host *h, const sim_val *args)
{
    sim_put(
        h, sim_key1(h, EN(asset_rule), args[1]),
        sim_make(h, SIM_FIELDS({ "asset", args[1] }, { "blocked_jurisdictions", args[2] },
                               { "daily_limit_usd", args[3] }, { "require_travel_rule", args[4] },
                               { "enabled", sim_bool(true) })));
}

/* args: DAO, jurisdiction */
static void block_jurisdiction(struct sim_host *h, const sim_val *args)
{
    block(h, &args[1].u32, 1);
    sim_emit(h, EV(block), SIM_VALS(sim_sym("jur")), SIM_FIELDS({ "country_code", args[1] }));
}

/* args: DAO, jurisdiction */
static void unblock_jurisdiction(struct sim_host *h, const sim_val *args)
{
    sim_remove(h, sim_key1(h, EN(blocked_jurisdiction), args[1]));
}

/* args: DAO */
static void block_us_and_eu(struct sim_host *h, const sim_val *args)
{
    (void)args;
    block(h, us_and_eu, TIDE_COUNT(us_and_eu));
}

/* args: DAO */
static void block_sanctioned_countries(struct sim_host *h, const sim_val *args)
{
    (void)args;
    block(h, sanctioned, TIDE_COUNT(sanctioned));
}

/* --- administration of accounts ------------------------------------------------------- */

/* args: admin, account, reason */
static void freeze_account(struct sim_host *h, const sim_val *args)
{
    sim_put(h, sim_key1(h, EN(frozen), args[1]), sim_bool(true));
    sim_emit(h, EV(freeze), SIM_VALS(args[1]), SIM_FIELDS({ "reason", args[2] }));
}

/* args: admin, account. The event is the one of a freeze, with the reason "unfrz". */
static void unfreeze_account(struct sim_host *h, const sim_val *args)
{
    sim_remove(h, sim_key1(h, EN(frozen), args[1]));
    sim_emit(h, EV(freeze), SIM_VALS(args[1]), SIM_FIELDS({ "reason", sim_sym("unfrz") }));
}

/* args: admin, address, listed */
static void set_whitelist(struct sim_host *h, const sim_val *args)
{
    sim_put_flag(h, sim_key1(h, EN(whitelist), args[1]), args[2].b);
}

/* Stores the status and emits the change. A sanctioned account is frozen too; no function undoes
 * the sanction. */
static void change_status(struct sim_host *h, sim_val party, uint32_t status, sim_val reason)
{
    sim_val record = record_of(h, party);
    uint32_t old = sim_field_u32(&record, "status");
    set_status(h, &record, status, reason);
    put_record(h, party, record);
    if (status == SANCTIONED)
        sim_put(h, sim_key1(h, EN(frozen), party), sim_bool(true));
    sim_emit(h, EV(status_change), SIM_VALS(party),
             SIM_FIELDS({ "old_status", sim_u32(old) }, { "new_status", sim_u32(status) },
                        { "reason", reason }));
}

/* args: admin, account, reason */
static void suspend_account(struct sim_host *h, const sim_val *args)
{
    change_status(h, args[1], SUSPENDED, args[2]);
}

/* args: admin, account, reason */
static void sanction_account(struct sim_host *h, const sim_val *args)
{
    change_status(h, args[1], SANCTIONED, args[2]);
}

/* args: admin, account. The account becomes verified even if its attestation has expired; the
 * checks look at the expiry. */
static void unsuspend_account(struct sim_host *h, const sim_val *args)
{
    sim_val record = record_of(h, args[1]);
    sim_require(h, sim_field_u32(&record, "status") == SUSPENDED, "account is not suspended");
    change_status(h, args[1], VERIFIED, sim_sym("unsuspend"));
}

/* --- checks that other contracts call ------------------------------------------------------ */

static bool whitelisted(struct sim_host *h, sim_val party)
{
    return sim_has(h, sim_key1(h, EN(whitelist), party));
}

/* Returns why the address may not use the protocol, or NULL if it may. */
static const char *objection(struct sim_host *h, sim_val party)
{
    static const char *const by_status[] = {
        "KYC required: no attestation on file for this address",
        "KYC pending",
        NULL,
        "account suspended",
        "account sanctioned",
        "KYC attestation expired — re-verify with your KYC provider",
    };
    if (sim_has(h, sim_key1(h, EN(frozen), party)))
        return "account is frozen";
    sim_val record = record_of(h, party);
    uint32_t status = sim_field_u32(&record, "status");
    if (status != VERIFIED)
        return status < TIDE_COUNT(by_status) ? by_status[status] : "unknown status";
    uint64_t expires_at = sim_field_u64(&record, "expires_at");
    if (expires_at != 0 && expires_at < h->now)
        return "KYC attestation expired — re-verify with your KYC provider";
    if (jurisdiction_blocked(h, sim_field_u32(&record, "jurisdiction")))
        return "protocol is unavailable in your jurisdiction";
    return NULL;
}

/* args: calling contract, user. A whitelisted contract may serve a whitelisted user without KYC. */
static sim_val assert_user_compliant(struct sim_host *h, const sim_val *args)
{
    if (whitelisted(h, args[0]) && whitelisted(h, args[1]))
        return sim_bool(true);
    const char *why = objection(h, args[1]);
    if (why)
        sim_refuse(h, why);
    return sim_bool(true);
}

static bool has_code(const sim_val *codes, uint32_t code)
{
    for (uint32_t i = 0; i < codes->len; i++) {
        if (codes->vec[i].u32 == code)
            return true;
    }
    return false;
}

/* Returns true if the attestation exists and has expired. */
static bool attestation_expired(struct sim_host *h, const sim_val *kyc)
{
    uint64_t expires_at = kyc ? sim_field_u64(kyc, "expires_at") : 0;
    return expires_at > 0 && expires_at < h->now;
}

/* Adds to the sender's volume of the present day (UTC) and refuses above the limit. A limit of 0 or
 * less allows everything. */
static void count_volume(struct sim_host *h, sim_val from, sim_amount amount, sim_amount limit)
{
    uint64_t day = h->now / DAY_SECONDS * DAY_SECONDS;
    struct sim_key entry = sim_key1(h, EN(daily_vol), from);
    const sim_val *stored = sim_get(h, entry);
    sim_amount volume =
        stored && sim_field_u64(stored, "date_ts") == day ? sim_field_i128(stored, "volume") : 0;
    volume = sim_add(h, volume, amount);
    sim_require(h, limit <= 0 || volume <= limit, "daily transfer limit exceeded");
    sim_put(h, entry,
            sim_make(h, SIM_FIELDS({ "date_ts", sim_u64(day) }, { "volume", sim_i128(volume) })));
}

/* Applies an asset's rule to a transfer; args are those of assert_transfer_allowed. Large transfers
 * emit a travel event. */
static void apply_rule(struct sim_host *h, const sim_val *rule, const sim_val *args)
{
    const sim_val *from = sim_get(h, sim_key1(h, EN(kyc), args[1]));
    const sim_val *to = sim_get(h, sim_key1(h, EN(kyc), args[2]));
    sim_require(h, from, "sender has no KYC attestation");
    sim_require(h, to, "recipient has no KYC attestation");
    const sim_val *codes = sim_field(rule, "blocked_jurisdictions");
    uint32_t home = sim_field_u32(from, "jurisdiction");
    sim_require(h, !has_code(codes, home), "sender jurisdiction is blocked for this asset");
    sim_require(h, !jurisdiction_blocked(h, home), "sender jurisdiction is blocked");
    sim_require(h, !has_code(codes, sim_field_u32(to, "jurisdiction")),
                "recipient jurisdiction is blocked for this asset");
    sim_amount amount = args[4].i128;
    count_volume(h, args[1], amount, sim_field_i128(rule, "daily_limit_usd"));
    if (!sim_field_bool(rule, "require_travel_rule") || amount < TRAVEL_FROM)
        return;
    uint64_t sequence = sim_slot_u64(h, "TravelRuleCount");
    sim_emit(
        h, "travel", SIM_VALS(args[1], args[2]),
        SIM_FIELDS({ "asset", args[3] }, { "amount", args[4] }, { "sequence", sim_u64(sequence) }));
    sim_slot_put(h, "TravelRuleCount", sim_u64(sequence + 1));
}

/* args: calling contract, sender, recipient, asset, amount */
static sim_val assert_transfer_allowed(struct sim_host *h, const sim_val *args)
{
    if (whitelisted(h, args[0]) && whitelisted(h, args[1]) && whitelisted(h, args[2]))
        return sim_bool(true);
    sim_require(h, !sim_has(h, sim_key1(h, EN(frozen), args[1])), "account is frozen");
    sim_require(h, !sim_has(h, sim_key1(h, EN(frozen), args[2])), "account is frozen");
    sim_require(h, !attestation_expired(h, sim_get(h, sim_key1(h, EN(kyc), args[1]))),
                "sender KYC expired");
    sim_require(h, !attestation_expired(h, sim_get(h, sim_key1(h, EN(kyc), args[2]))),
                "recipient KYC expired");
    const sim_val *rule = sim_get(h, sim_key1(h, EN(asset_rule), args[3]));
    if (rule && sim_field_bool(rule, "enabled"))
        apply_rule(h, rule, args);
    return sim_bool(true);
}

/* --- reads ----------------------------------------------------------------------------------- */

/* args: user */
static sim_val is_user_compliant(struct sim_host *h, const sim_val *args)
{
    return sim_bool(objection(h, args[0]) == NULL);
}

/* args: user. The jurisdiction counts as allowed only if there is an attestation. */
static sim_val get_compliance_status(struct sim_host *h, const sim_val *args)
{
    sim_val record = record_of(h, args[0]);
    bool allowed = sim_field_u32(&record, "status") != 0 &&
                   !jurisdiction_blocked(h, sim_field_u32(&record, "jurisdiction"));
    return sim_make(h, SIM_FIELDS({ "expires_at", *sim_field(&record, "expires_at") },
                                  { "jurisdiction_allowed", sim_bool(allowed) },
                                  { "provider", *sim_field(&record, "provider") },
                                  { "reason", *sim_field(&record, "reason") },
                                  { "status", *sim_field(&record, "status") },
                                  { "updated_at", *sim_field(&record, "updated_at") }));
}

/* args: subject */
static sim_val get_providers(struct sim_host *h, const sim_val *args)
{
    sim_val out = sim_vec(&h->arena, SIM_NONE);
    uint32_t count = sim_get_u32(h, sim_key1(h, EN(attestation_count), args[0]));
    for (uint32_t i = 0; i < count; i++) {
        const sim_val *one = sim_get(h, sim_key(h, EN(attestation), SIM_VALS(args[0], sim_u32(i))));
        if (one)
            sim_vec_push(&h->arena, &out, *one);
    }
    return out;
}

static sim_val list_verifiers(struct sim_host *h, const sim_val *args)
{
    (void)args;
    sim_val out = sim_vec(&h->arena, SIM_NONE);
    uint32_t count = sim_slot_u32(h, "VCNT");
    for (uint32_t i = 0; i < count; i++) {
        const sim_val *one = sim_get(h, sim_key1(h, EN(verifier_list), sim_u32(i)));
        if (one && is_verifier_addr(h, *one))
            sim_vec_push(&h->arena, &out, *one);
    }
    return out;
}

static const struct sim_fn fns[] = {
    { "initialize", "aa", SIM_NEW, .change = initialize },
    { "add_verifier", "aa", "DAO", .change = add_verifier },
    { "set_verifier", "aa", "DAO", .change = set_verifier },
    { "remove_verifier", "aa", "DAO", .change = remove_verifier },
    { "attest", "aauUx", SIM_FIRST, .change = attest },
    { "submit_attestation", "aauU", SIM_FIRST, .change = submit_attestation },
    { "revoke", "aa", SIM_FIRST, .change = revoke },
    { "register_signer", "aa", SIM_FIRST, .change = register_signer },
    { "set_asset_rule", "ayVuib", "DAO", .change = set_asset_rule },
    { "block_jurisdiction", "au", "DAO", .change = block_jurisdiction },
    { "unblock_jurisdiction", "au", "DAO", .change = unblock_jurisdiction },
    { "block_us_and_eu", "a", "DAO", .change = block_us_and_eu },
    { "block_sanctioned_countries", "a", "DAO", .change = block_sanctioned_countries },
    { "freeze_account", "aay", "ADMIN", .change = freeze_account },
    { "unfreeze_account", "aa", "ADMIN", .change = unfreeze_account },
    { "set_whitelist", "aab", "ADMIN", .change = set_whitelist },
    { "suspend_account", "aay", "ADMIN", .change = suspend_account },
    { "sanction_account", "aay", "ADMIN", .change = sanction_account },
    { "unsuspend_account", "aa", "ADMIN", .change = unsuspend_account },
    { "assert_user_compliant", "aa", SIM_FREE, .answer = assert_user_compliant },
    { "assert_transfer_allowed", "aaayi", SIM_FREE, .answer = assert_transfer_allowed },
    { "upgrade", "ah", SIM_STORED("DAO"), .change = sim_upgrade_arg },
    { "is_user_compliant", "a", SIM_FREE, .answer = is_user_compliant },
    { "is_verified", "a", SIM_FREE, .answer = is_user_compliant },
    { "get_compliance_status", "a", SIM_FREE, .answer = get_compliance_status },
    { "get_providers", "a", SIM_FREE, .answer = get_providers },
    { "list_verifiers", "", SIM_FREE, .answer = list_verifiers },
    { "is_jurisdiction_blocked", "u", SIM_FREE, .as = SIM_AS_FLAG,
      .entry = ID(blocked_jurisdiction) },
    { "get_travel_rule_count", "", SIM_FREE, .slot = "TravelRuleCount" },
    { "is_verifier", "a", SIM_FREE, .as = SIM_AS_FLAG, .entry = ID(verifier) },
    { 0 },
};

const struct sim_class sim_class_compliance_registry = { .role = TIDE_ROLE_compliance_registry,
                                                         .fns = fns };
