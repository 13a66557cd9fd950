/* The DAO: proposals, votes, multisig wallets and the queue of their transactions. */
#include "tools/sim/contracts/dao_call.h"

#define EV(id) SIM_EVENT(dao_governance, id)
#define EN(id) SIM_ENTRY(dao_governance, id)
#define ID(id) TIDE_EN_dao_governance_##id

#define VOTE_SECONDS     172800u /* seconds; stored, but no function checks it, as published */
#define TIMELOCK_SECONDS 259200u /* a proposal can be executed this long after it was made */
#define MASK_DEFAULT     0x19fc7u
#define SCOPE_MAX        2u /* greatest scope of a wallet */

/* Returns a status as the contract stores an enum variant: a Vec of its symbol. */
static sim_val state_value(struct sim_host *h, const char *name)
{
    return sim_vec(&h->arena, SIM_VALS(sim_sym(name)));
}

/* Returns true if the proposal or transaction has that status. */
static bool in_state(const sim_val *map, const char *name)
{
    return tide_slice_eq_str(sim_field(map, "status")->vec[0].bytes, name);
}

/* --- setting up ------------------------------------------------------------------------ */

/* args: DAO's address, engine. Stores the first values of the parameters. */
static void initialize(struct sim_host *h, const sim_val *args)
{
    sim_slots_put(h, SIM_NAMES("DAO_ADDR", "CDP"), args);
    sim_slot_put(h, "PROP_CNT", sim_u64(0));
    sim_put(h, sim_key(h, EN(param_cr), SIM_NONE), sim_i128(15000));
    sim_put(h, sim_key(h, EN(param_borrow_fee), SIM_NONE), sim_i128(50));
    sim_put(h, sim_key(h, EN(param_liq_penalty), SIM_NONE), sim_i128(1000));
}

/* args: DAO, multisig wallet, liquidity pool, partner registry, earnings distributor, stability
 * pool */
static void set_protocol_config(struct sim_host *h, const sim_val *args)
{
    sim_slots_put(h, SIM_NAMES("MSIGWLT", "LP", "PARTNER", "EARNCTR", "STABCTR"), &args[1]);
}

/* args: DAO, provider */
static void add_oracle_provider(struct sim_host *h, const sim_val *args)
{
    sim_call(h, sim_slot_addr(h, "ORACLE"), "add_provider",
             SIM_VALS(sim_address(sim_self(h)), args[1]));
}

/* --- wallets ------------------------------------------------------------------------------ */

/* Emits the event of a new or changed wallet. */
static void emit_wallet(struct sim_host *h, const sim_val *wallet)
{
    sim_emit(h, EV(msig_created), SIM_NONE,
             SIM_FIELDS({ "wallet_id", *sim_field(wallet, "id") },
                        { "threshold", *sim_field(wallet, "threshold") },
                        { "signer_count", sim_u32(sim_field(wallet, "signers")->len) }));
}

/* args: DAO, threshold, signers, scope */
static sim_val create_multisig(struct sim_host *h, const sim_val *args)
{
    uint32_t count = args[2].len;
    sim_require(h, args[1].u32 > 0, "threshold must be positive");
    sim_require(h, args[1].u32 <= count, "threshold exceeds signers");
    sim_require(h, count <= DAO_SIGNERS_MAX, "too many signers");
    sim_require(h, args[3].u32 <= SCOPE_MAX, "unknown scope");
    uint32_t id = sim_slot_u32(h, "MSIGCNT");
    sim_val wallet = sim_make(h, SIM_FIELDS({ "id", sim_u32(id) }, { "threshold", args[1] },
                                            { "signers", args[2] }, { "scope", args[3] },
                                            { "active", sim_bool(true) }));
    sim_put(h, dao_wallet_key(h, id), wallet);
    for (uint32_t i = 0; i < count; i++)
        sim_put(h, sim_key(h, EN(multi_sig_signer), SIM_VALS(sim_u32(id), sim_u32(i))),
                args[2].vec[i]);
    sim_slot_put(h, "MSIGCNT", sim_u32(id + 1));
    emit_wallet(h, &wallet);
    return sim_u32(id);
}

/* args: DAO, wallet, signer */
static void add_signer_to_wallet(struct sim_host *h, const sim_val *args)
{
    const sim_val *wallet = dao_wallet(h, args[1].u32, false);
    uint32_t at;
    sim_require(h, !dao_wallet_lists(wallet, args[2].addr, &at), "already a signer");
    sim_require(h, sim_field(wallet, "signers")->len < DAO_SIGNERS_MAX, "too many signers");
    dao_signer_add(h, wallet, args[2]);
    emit_wallet(h, wallet);
}

/* args: DAO, wallet, signer */
static void remove_signer_from_wallet(struct sim_host *h, const sim_val *args)
{
    dao_signer_remove(h, dao_wallet(h, args[1].u32, false), args[2].addr);
}

/* --- proposals ------------------------------------------------------------------------------ */

/* Returns true if the party is a signer of wallet 0, whose signers govern the protocol. */
static bool is_governor(struct sim_host *h, struct sim_addr party)
{
    const sim_val *wallet = sim_get(h, dao_wallet_key(h, 0));
    uint32_t at;
    return wallet && sim_field_bool(wallet, "active") && dao_wallet_lists(wallet, party, &at);
}

static void require_governor(struct sim_host *h, struct sim_addr party)
{
    sim_require(h, is_governor(h, party), "only governance signers may propose/vote");
}

/* args: proposer, title, description, call data. Numbers, stores and announces a proposal. */
static sim_val insert_proposal(struct sim_host *h, const sim_val *args)
{
    sim_val id = sim_u64(sim_slot_u64(h, "PROP_CNT"));
    sim_val proposal =
        sim_make(h, SIM_FIELDS({ "id", id }, { "proposer", args[0] }, { "title", args[1] },
                               { "description", args[2] }, { "call_data", args[3] },
                               { "yes_votes", sim_i128(0) }, { "no_votes", sim_i128(0) },
                               { "start_time", sim_u64(h->now) },
                               { "end_time", sim_u64(h->now + VOTE_SECONDS) },
                               { "execute_after", sim_u64(h->now + TIMELOCK_SECONDS) },
                               { "status", state_value(h, "Active") }));
    sim_put(h, sim_key1(h, EN(proposal), id), proposal);
    sim_slot_put(h, "PROP_CNT", sim_u64(id.u64 + 1));
    sim_emit(h, EV(proposed), SIM_VALS(args[0]), SIM_FIELDS({ "proposal_id", id }));
    return id;
}

/* args: as insert_proposal */
static sim_val propose(struct sim_host *h, const sim_val *args)
{
    require_governor(h, args[0].addr);
    return insert_proposal(h, args);
}

/* Returns a stored proposal; refuses if there is none. */
static const sim_val *proposal_of(struct sim_host *h, sim_val id)
{
    return sim_get_needed(h, sim_key1(h, EN(proposal), id), "proposal not found");
}

/* Stores a proposal or transaction, with a new status unless status is NULL. */
static void put_item(struct sim_host *h, const char *variant, const sim_val *item,
                     const char *status)
{
    if (status)
        sim_set(item, "status", state_value(h, status));
    sim_put(h, sim_key1(h, variant, *sim_field(item, "id")), *item);
}

/* args: voter, proposal, support. The end of the voting time is not checked, as published. */
static void vote(struct sim_host *h, const sim_val *args)
{
    require_governor(h, args[0].addr);
    const sim_val *proposal = proposal_of(h, args[1]);
    sim_require(h, in_state(proposal, "Active"), "not active");
    struct sim_key voted = sim_key(h, EN(has_voted), SIM_VALS(args[1], args[0]));
    sim_require(h, !sim_has(h, voted), "already voted");
    sim_bump(h, proposal, args[2].b ? "yes_votes" : "no_votes", 1);
    sim_put(h, voted, sim_bool(true));
    put_item(h, EN(proposal), proposal, NULL);
    sim_emit(
        h, "voted", SIM_VALS(args[0]),
        SIM_FIELDS({ "proposal_id", args[1] }, { "support", args[2] }, { "weight", sim_i128(1) }));
}

/* Refuses unless the proposal has as many yes votes as wallet 0 demands. */
static void require_threshold(struct sim_host *h, const sim_val *proposal)
{
    const sim_val *wallet = dao_wallet(h, 0, true);
    sim_require(h, sim_field_i128(proposal, "yes_votes") >= sim_field_u32(wallet, "threshold"),
                "threshold not reached");
}

/* args: proposal. Anyone may call it. */
static void finalise(struct sim_host *h, const sim_val *args)
{
    const sim_val *proposal = proposal_of(h, args[0]);
    sim_require(h, in_state(proposal, "Active"), "not active");
    require_threshold(h, proposal);
    put_item(h, EN(proposal), proposal, "Passed");
}

/* args: caller, proposal. Applies the call data once the timelock is over. An open proposal with
 * enough votes needs no finalise. */
static void execute(struct sim_host *h, const sim_val *args)
{
    const sim_val *proposal = proposal_of(h, args[1]);
    sim_require(h, in_state(proposal, "Active") || in_state(proposal, "Passed"),
                "proposal not executable");
    require_threshold(h, proposal);
    sim_require(h, h->now >= sim_field_u64(proposal, "execute_after"), "timelock not expired");
    dao_apply(h, sim_field(proposal, "call_data")->bytes, args[0]);
    put_item(h, EN(proposal), proposal, "Executed");
    sim_emit(h, EV(executed), SIM_NONE, SIM_FIELDS({ "proposal_id", args[1] }));
}

/* args: proposer, proposal */
static void cancel(struct sim_host *h, const sim_val *args)
{
    const sim_val *proposal = proposal_of(h, args[1]);
    sim_require(h, sim_addr_eq(sim_field_addr(proposal, "proposer"), args[0].addr),
                "only proposer can cancel");
    sim_require(h, in_state(proposal, "Active"), "not active");
    put_item(h, EN(proposal), proposal, "Cancelled");
    sim_emit(h, EV(cancelled), SIM_NONE, SIM_FIELDS({ "proposal_id", args[1] }));
}

/* --- multisig transactions ------------------------------------------------------------------- */

/* A multisig transaction that is about to be queued. */
struct queued {
    sim_val wallet;
    sim_val proposal;
    sim_val target;
    sim_val function;
    sim_val call_data;
};

/* Stores a transaction and lists it under its wallet and its proposal. Returns its number. */
static sim_val queue_tx(struct sim_host *h, const struct queued *q)
{
    sim_val id = sim_u64(sim_slot_u64(h, "MultiSigTxCount"));
    sim_put(h, sim_key1(h, EN(multi_sig_tx), id),
            sim_make(h, SIM_FIELDS({ "id", id }, { "wallet_id", q->wallet },
                                   { "proposal_id", q->proposal }, { "target", q->target },
                                   { "function_name", q->function }, { "call_data", q->call_data },
                                   { "approvals", sim_u32(0) }, { "rejections", sim_u32(0) },
                                   { "status", state_value(h, "Pending") },
                                   { "created_at", sim_u64(h->now) })));
    sim_slot_put(h, "MultiSigTxCount", sim_u64(id.u64 + 1));
    sim_append(h, sim_key1(h, EN(multi_sig_wallet_tx_ids), q->wallet), id);
    sim_put(h, sim_key1(h, EN(multi_sig_tx_proposal), id), q->proposal);
    sim_append(h, sim_key1(h, EN(proposal_multi_sig_txs), q->proposal), id);
    return id;
}

/* args: submitter, wallet, proposal, target, function, call data */
static sim_val submit_multisig_tx(struct sim_host *h, const sim_val *args)
/* Any submitter may queue a transaction, and the proposal need not exist, as published. */
{
    (void)dao_wallet(h, args[1].u32, false);
    return queue_tx(h, &(struct queued){ args[1], args[2], args[3], args[4], args[5] });
}

/* args: proposer, title, description, call data, wallet, target, function */
static sim_val propose_and_queue(struct sim_host *h, const sim_val *args)
{
    require_governor(h, args[0].addr);
    const sim_val *wallet = dao_wallet(h, args[4].u32, false);
    sim_val proposal = insert_proposal(h, args);
    sim_val tx = queue_tx(h, &(struct queued){ args[4], proposal, args[5], args[6], args[3] });
    /* The published contract emits the event of a new wallet here. */
    emit_wallet(h, wallet);
    return sim_vec(&h->arena, SIM_VALS(proposal, tx));
}

/* Returns a stored transaction; refuses if there is none. */
static const sim_val *tx_of(struct sim_host *h, sim_val id)
{
    return sim_get_needed(h, sim_key1(h, EN(multi_sig_tx), id), "multi-sig tx not found");
}

/* Returns the wallet of a pending transaction. Refuses if the transaction is decided or the party
 * is no signer of the wallet. */
static const sim_val *wallet_of_open_tx(struct sim_host *h, const sim_val *tx,
                                        struct sim_addr party)
{
    sim_require(h, in_state(tx, "Pending"), "tx not pending");
    const sim_val *wallet = dao_wallet(h, sim_field_u32(tx, "wallet_id"), true);
    uint32_t at;
    sim_require(h, dao_wallet_lists(wallet, party, &at), "not a signer for this wallet");
    return wallet;
}

/* Returns the status that the votes have decided, or NULL if the vote is open. A rejection needs
 * more votes than those that could prevent the threshold. */
static const char *decided_status(const sim_val *tx, const sim_val *wallet)
{
    uint32_t threshold = sim_field_u32(wallet, "threshold");
    uint32_t signers = sim_field(wallet, "signers")->len;
    if (sim_field_u32(tx, "approvals") >= threshold)
        return "Approved";
    return sim_field_u32(tx, "rejections") > signers - threshold ? "Rejected" : NULL;
}

/* args: signer, transaction, approval. Each signer votes once. */
static void approve_multisig_tx(struct sim_host *h, const sim_val *args)
{
    const sim_val *tx = tx_of(h, args[1]);
    const sim_val *wallet = wallet_of_open_tx(h, tx, args[0].addr);
    struct sim_key approval = sim_key(h, EN(multi_sig_approval), SIM_VALS(args[1], args[0]));
    sim_require(h, !sim_has(h, approval), "already voted on this tx");
    sim_put(h, approval, args[2]);
    sim_val *count = sim_field(tx, args[2].b ? "approvals" : "rejections");
    count->u32++;
    put_item(h, EN(multi_sig_tx), tx, decided_status(tx, wallet));
    sim_emit(h, EV(msig_approved), SIM_VALS(args[1], args[0]), SIM_NONE);
}

/* args: caller, transaction. Neither the caller nor the number of approvals is checked, as
 * published. */
static void execute_multisig_tx(struct sim_host *h, const sim_val *args)
{
    const sim_val *tx = tx_of(h, args[1]);
    sim_require(h, in_state(tx, "Pending") || in_state(tx, "Approved"), "tx already finalized");
    dao_apply(h, sim_field(tx, "call_data")->bytes, args[0]);
    put_item(h, EN(multi_sig_tx), tx, "Executed");
    sim_emit(h, EV(msig_executed), SIM_NONE,
             SIM_FIELDS({ "tx_id", args[1] }, { "proposal_id", *sim_field(tx, "proposal_id") }));
}

/* args: signer, transaction */
static void cancel_multisig_tx(struct sim_host *h, const sim_val *args)
{
    const sim_val *tx = tx_of(h, args[1]);
    (void)wallet_of_open_tx(h, tx, args[0].addr);
    put_item(h, EN(multi_sig_tx), tx, "Cancelled");
}

/* --- reads ----------------------------------------------------------------------------------- */

/* args: proposal */
static sim_val get_proposal(struct sim_host *h, const sim_val *args)
{
    return *proposal_of(h, args[0]);
}

/* args: transaction */
static sim_val get_multisig_tx_summary(struct sim_host *h, const sim_val *args)
{
    const sim_val *tx = tx_of(h, args[0]);
    const sim_val *wallet = dao_wallet(h, sim_field_u32(tx, "wallet_id"), true);
    return sim_make(h,
                    SIM_FIELDS({ "tx_id", args[0] }, { "wallet_id", *sim_field(tx, "wallet_id") },
                               { "proposal_id", *sim_field(tx, "proposal_id") },
                               { "target", *sim_field(tx, "target") },
                               { "function_name", *sim_field(tx, "function_name") },
                               { "approvals", *sim_field(tx, "approvals") },
                               { "rejections", *sim_field(tx, "rejections") },
                               { "threshold", *sim_field(wallet, "threshold") },
                               { "signer_count", sim_u32(sim_field(wallet, "signers")->len) },
                               { "status", *sim_field(tx, "status") },
                               { "created_at", *sim_field(tx, "created_at") }));
}

/* args: wallet */
static sim_val get_signers(struct sim_host *h, const sim_val *args)
{
    return *sim_field(dao_wallet(h, args[0].u32, true), "signers");
}

/* args: wallet */
static sim_val get_pending_multisig_txs(struct sim_host *h, const sim_val *args)
{
    (void)dao_wallet(h, args[0].u32, true);
    const sim_val *ids = sim_get(h, sim_key1(h, EN(multi_sig_wallet_tx_ids), args[0]));
    sim_val out = sim_vec(&h->arena, SIM_NONE);
    for (uint32_t i = 0; ids && i < ids->len; i++) {
        const sim_val *tx = sim_get(h, sim_key1(h, EN(multi_sig_tx), ids->vec[i]));
        if (tx && in_state(tx, "Pending"))
            sim_vec_push(&h->arena, &out, ids->vec[i]);
    }
    return out;
}

static const struct sim_fn fns[] = {
    { "initialize", "aa", SIM_FIRST, .change = initialize },
    { "set_protocol_config", "aaaaaa", "DAO_ADDR", .change = set_protocol_config },
    { "set_compliance", "aa", "DAO_ADDR", .set = "COMPLY" },
    { "set_oracle", "aa", "DAO_ADDR", .set = "ORACLE" },
    { "set_multisig_mask", "au", "DAO_ADDR", .set = "MSIGMSK" },
    { "add_oracle_provider", "aa", "DAO_ADDR", .change = add_oracle_provider },
    { "upgrade", "ah", "DAO_ADDR", .change = sim_upgrade_arg },
    { "create_multisig", "auVau", "DAO_ADDR", .answer = create_multisig },
    { "add_signer_to_wallet", "aua", "DAO_ADDR", .change = add_signer_to_wallet },
    { "remove_signer_from_wallet", "aua", "DAO_ADDR", .change = remove_signer_from_wallet },
    { "propose", "axxx", SIM_FIRST, .answer = propose },
    { "vote", "aUb", SIM_FIRST, .change = vote },
    { "finalise", "U", SIM_FREE, .change = finalise },
    { "execute", "aU", SIM_FIRST, .change = execute },
    { "cancel", "aU", SIM_FIRST, .change = cancel },
    { "submit_multisig_tx", "auUayx", SIM_FIRST, .answer = submit_multisig_tx },
    { "propose_and_queue_multisig", "axxxuay", SIM_FIRST, .answer = propose_and_queue },
    { "approve_multisig_tx", "aUb", SIM_FIRST, .change = approve_multisig_tx },
    { "execute_multisig_tx", "aU", SIM_FIRST, .change = execute_multisig_tx },
    { "cancel_multisig_tx", "aU", SIM_FIRST, .change = cancel_multisig_tx },
    { "get_proposal", "U", SIM_FREE, .answer = get_proposal },
    { "get_proposal_multisig_txs", "U", SIM_FREE, .as = SIM_AS_LIST,
      .entry = ID(proposal_multi_sig_txs) },
    { "get_multisig_tx_summary", "U", SIM_FREE, .answer = get_multisig_tx_summary },
    { "get_signers", "u", SIM_FREE, .answer = get_signers },
    { "get_pending_multisig_txs", "u", SIM_FREE, .answer = get_pending_multisig_txs },
    { "get_proposal_count", "", SIM_FREE, .slot = "PROP_CNT" },
    { "get_param_cr", "", SIM_FREE, .as = SIM_AS_I128, .entry = ID(param_cr) },
    { 0 },
};

const struct sim_class sim_class_dao_governance = { .role = TIDE_ROLE_dao_governance, .fns = fns };
