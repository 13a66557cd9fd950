/* Calls of the DAO: proposals, votes, multisig transactions. Their call data is valid, cut short or
 * nonsense. */
#include "tools/sim/workload/workload.h"

/* transactions in a wallet; offsets of wallets that do not exist */
enum { WALLET_TXS = 1000, STRANGE_WALLET = 3, STRANGER_WALLET = 7 };

/* Appends a number, little-endian. Bytes behind the eighth are fill, which is the sign of an
 * i128. */
static void put_le(struct tide_buf *buf, uint64_t value, uint32_t bytes, uint8_t fill)
{
    for (uint32_t i = 0; i < bytes; i++)
        tide_buf_u8(buf, (uint8_t)(i < 8 ? value >> (8 * i) : fill));
}

/* Appends an i128. */
static void put_amount(struct tide_buf *buf, int64_t value)
{
    put_le(buf, (uint64_t)value, 16, value < 0 ? 0xff : 0);
}

/* Appends a text with its length in one byte. */
static void put_text(struct tide_buf *buf, tide_slice text)
{
    tide_buf_u8(buf, (uint8_t)text.len);
    tide_buf_slice(buf, text);
}

/* Appends an address as a strkey with its length. */
static void put_address(struct tide_buf *buf, const struct workload *workload, party_ref party)
{
    tide_buf_u8(buf, 56);
    parties_put_strkey(buf, workload->parties, party);
}

/* Data of action 0: a market of the partner's synthetic asset. */
static void put_market_data(struct workload *workload, struct tide_buf *data)
{
    const struct party_market *market = &party_markets[PARTY_MARKETS - 1];
    put_text(data, tide_slice_str(market->symbol));
    put_address(data, workload, parties_contract(PARTY_TOKEN + PARTY_MARKETS - 1));
    put_text(data, tide_slice_str(market->feed));
    put_address(data, workload, parties_contract(PARTY_XLM));
    put_text(data, TIDE_SLICE("XLM"));
    put_amount(data, 20000);
    put_amount(data, 15000);
    put_amount(data, 1000);
    put_amount(data, 0);
    put_amount(data, 5000000000000);
}

/* Data of action 5: the pool whose creation the deployment fails to make. */
static void put_pool_data(struct workload *workload, struct tide_buf *data)
{
    put_text(data, tide_slice_str(workload_pool_names[POOL_TSLA]));
    put_address(data, workload, parties_contract(PARTY_TOKEN + 1));
    put_address(data, workload, parties_contract(PARTY_USDC));
    put_amount(data, 30);
}

/* Data of action 16: new code for the partner registry. No code has this hash. */
static void put_upgrade_data(struct workload *workload, struct tide_buf *data)
{
    put_address(data, workload, parties_contract(PARTY_PARTNERS));
    for (uint32_t i = 0; i < 32; i++)
        tide_buf_u8(data, (uint8_t)(i * 7));
}

/* Data of the actions that name a signer, an oracle provider, a verifier or a collateral. */
static void put_party_data(struct workload *workload, struct tide_buf *data, uint32_t action)
{
    if (action == 6 || action == 7) {
        put_le(data, 0, 4, 0);
        put_address(data, workload, (party_ref)(PARTY_GOV + workload_pick(workload, PARTY_GOVS)));
    } else if (action == 8 || action == 9) {
        put_address(data, workload, (party_ref)(PARTY_FEED + PARTY_FEEDS - 1));
    } else if (action == 11 || action == 12) {
        put_address(data, workload, (party_ref)(PARTY_VERIFIER + PARTY_VERIFIERS - 1));
    } else {
        put_address(data, workload, parties_contract(PARTY_USDC));
        tide_buf_u8(data, 1);
    }
}

/* Data of the actions on partners. */
static void put_partner_data(struct workload *workload, struct tide_buf *data, uint32_t action)
{
    if (action == 14) {
        put_address(data, workload,
                    (party_ref)(PARTY_PARTNER + workload_pick(workload, PARTY_PARTNERS_MAX)));
        put_text(data, TIDE_SLICE("Proposed \xc3\xa9 partner"));
    } else if (action == 15) {
        put_text(data, TIDE_SLICE("PS0"));
    } else {
        put_le(data, workload_pick(workload, 3), 4, 0);
        if (action == 3)
            put_amount(data, workload_between(workload, 1000, 8500));
    }
}

/* Appends valid call data: the action's number, then its payload (see contracts/dao_call.c). */
static void put_valid_data(struct workload *workload, struct tide_buf *data, uint32_t action)
{
    put_le(data, action, 4, 0);
    if (action == 0) {
        put_market_data(workload, data);
    } else if (action == 1 || action == 3 || action == 14 || action == 15) {
        put_partner_data(workload, data, action);
    } else if (action == 4) {
        put_amount(data, workload_between(workload, 12000, 18000));
        put_amount(data, workload_between(workload, 500, 1500));
    } else if (action == 5) {
        put_pool_data(workload, data);
    } else if (action == 10) {
        put_le(data, 3, 4, 0);
    } else if (action == 16) {
        put_upgrade_data(workload, data);
    } else if (action != 2 && action != 99) { /* action 2 has no payload, 99 is unknown */
        put_party_data(workload, data, action);
    }
}

/* Appends call data of the old form: a parameter's number and its value. */
static void put_legacy_data(struct workload *workload, struct tide_buf *data)
{
    tide_buf_u8(data, (uint8_t)workload_pick(workload, 3));
    put_amount(data, workload_between(workload, 1, 900) * 257);
}

/* Makes the call data of a proposal; sometimes empty, of the old form, noise, cut short, or with
 * more bytes behind. */
static void make_call_data(struct workload *workload, struct tide_buf *data)
{
    static const uint8_t actions[] = {
        0, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 2, 99
    };
    uint32_t luck = workload_pick(workload, 20);
    tide_buf_reset(data);
    if (workload->profile == WORKLOAD_SHOWCASE) {
        put_valid_data(workload, data, actions[workload_pick(workload, TIDE_COUNT(actions) - 2)]);
        return;
    }
    if (luck == 0)
        return;
    if (luck == 1) {
        put_legacy_data(workload, data);
        return;
    }
    if (luck == 2) {
        for (uint32_t i = workload_pick(workload, 30); i > 0; i--)
            tide_buf_u8(data, (uint8_t)workload_random(workload));
        return;
    }
    put_valid_data(workload, data, actions[workload_pick(workload, TIDE_COUNT(actions))]);
    if (luck == 3)
        data->len -= workload_pick(workload, (uint32_t)data->len);
    else if (luck == 4)
        tide_buf_str(data, "trailing");
}

/* Returns the wallet that transactions are queued for. A wallet lists its transactions in one
 * entry, and the network stores no entry over 64 KiB, so the workload changes to the next wallet
 * long before. Proposals create wallets faster than they fill. */
static int wallet_in_use(const struct workload *workload)
{
    return (int)(workload->msig_tx / WALLET_TXS);
}

/* Makes title, text and call data of a proposal. */
static void make_showcase_texts(struct workload *workload, tide_slice *title, tide_slice *text,
                                struct tide_buf *data)
{
    static const struct {
        uint32_t action;
        const char *title, *text;
    } plans[] = {
        { 0, "List sOIL", "A market of synthetic oil with XLM as collateral." },
        { 1, "Deactivate an idle partner", "It has forwarded nothing for a quarter." },
        { 3, "Change a partner's share", "The share follows the volume of the last quarter." },
        { 4, "Adjust ratio and penalty of sGOLD", "Gold has become calmer." },
        { 5, "Open the pool sTSLA / USDC", "Holders ask for a place to trade." },
        { 6, "Add a signer to the wallet", "So that three of six may act." },
        { 8, "Add a price provider", "A fifth source for every feed." },
        { 10, "Raise the quorum of prices to three", "One wrong source must not decide." },
        { 11, "Add a verifier", "For applicants in East Asia." },
        { 13, "Allow USDC as collateral", "Vaults with less risk." },
        { 14, "Register a partner", "It brings its own customers." },
        { 16, "Upgrade the partner registry", "The audit's report is linked in the forum." },
    };
    uint32_t at = workload_pick(workload, TIDE_COUNT(plans));
    *title = tide_slice_str(plans[at].title);
    *text = tide_slice_str(plans[at].text);
    tide_buf_reset(data);
    put_valid_data(workload, data, plans[at].action);
}

/* Makes a proposal, one in three with a transaction in the queue of a wallet. */
static void make_proposal(struct workload *workload, struct workload_call *call)
{
    struct tide_buf data;
    uint32_t gov =
        /* the last two governors are no signers of the wallet */
        PARTY_GOV + workload_pick(workload, workload_once_in(workload, 8) ? PARTY_GOVS : 5);
    tide_slice title = workload_text(workload), text = workload_text(workload);
    bool queue = workload_once_in(workload, 3);
    tide_buf_init(&data, 4096);
    if (workload->profile == WORKLOAD_SHOWCASE)
        make_showcase_texts(workload, &title, &text, &data);
    else
        make_call_data(workload, &data);
    tide_slice bytes = tide_buf_view(&data);
    workload_begin(call, gov, PARTY_DAO, queue ? "propose_and_queue_multisig" : "propose");
    workload_args(workload, call, "ayyy", (int)gov, &title, &text, &bytes);
    if (queue)
        workload_args(workload, call, "uas",
                      wallet_in_use(workload) +
                          (workload_once_in(workload, 9) ? STRANGE_WALLET : 0),
                      parties_contract(PARTY_ORACLE), "anything");
    call->note = NOTE_PROPOSE;
    call->flag = queue;
    tide_buf_release(&data);
}

/* Returns true if the proposal has votes enough and its timelock, in seconds, is over. */
static bool is_ripe(const struct workload *workload, const struct workload_proposal *p)
{
    return p->asked >= 4 && workload->now >= p->made_at + 259200;
}

/* Returns a recent proposal, or NULL if there is none: one that is ripe, or one that still needs
 * votes. If no proposal fits, it is any. */
static struct workload_proposal *pick_proposal(struct workload *workload, bool voted)
{
    uint32_t count = workload->proposal_count < WORKLOAD_PROPOSALS ? workload->proposal_count
                                                                   : WORKLOAD_PROPOSALS;
    uint32_t at = count ? workload_pick(workload, count) : 0;
    for (uint32_t tries = 0; tries < count; tries++, at = (at + 1) % count) {
        const struct workload_proposal *p = &workload->proposals[at];
        if (voted ? is_ripe(workload, p) : p->asked < 5)
            break;
    }
    return count ? &workload->proposals[at] : NULL;
}

/* Each governor votes once, then random ones, who are refused. */
static void cast_vote(struct workload *workload, struct workload_call *call,
                      struct workload_proposal *p)
{
    uint32_t gov = PARTY_GOV + (p->asked < 5 ? p->asked : workload_pick(workload, PARTY_GOVS));
    p->asked++;
    workload_begin(call, gov, PARTY_DAO, "vote");
    workload_args(workload, call, "atb", (int)gov, (long long)p->id,
                  !workload_once_in(workload, 7));
}

/* Cancels a proposal. Only its proposer may. */
static void cancel_proposal(struct workload *workload, struct workload_call *call,
                            const struct workload_proposal *p)
{
    workload_begin(call, p->proposer, PARTY_DAO, "cancel");
    workload_args(workload, call, "at", (int)p->proposer, (long long)p->id);
}

/* Executes, finalises or cancels a proposal. A random governor cancels, who is mostly refused. */
static void decide_proposal(struct workload *workload, struct workload_call *call,
                            struct workload_proposal *p)
{
    uint32_t luck = workload_pick(workload, 10);
    if (luck < 7) {
        uint32_t by = workload_once_in(workload, 3) ? PARTY_OUTSIDER : PARTY_DAOWALLET;
        workload_begin(call, by, PARTY_DAO, "execute");
        workload_args(workload, call, "at", (int)by, (long long)p->id);
        if (workload->pools[POOL_TSLA].made || luck > 3)
            return;
        call->note = NOTE_NOTHING;
    } else if (luck < 9) {
        workload_begin(call, workload->users[workload_free_user(workload)].source, PARTY_DAO,
                       "finalise");
        workload_args(workload, call, "t", (long long)p->id);
    } else {
        uint32_t gov = PARTY_GOV + workload_pick(workload, 5);
        workload_begin(call, gov, PARTY_DAO, "cancel");
        workload_args(workload, call, "at", (int)gov, (long long)p->id);
    }
}

/* Queues a transaction for a wallet; some wallets and proposals do not exist. */
static void queue_tx(struct workload *workload, struct workload_call *call)
{
    struct tide_buf data;
    uint32_t by = workload->users[workload_free_user(workload)].source;
    tide_buf_init(&data, 4096);
    make_call_data(workload, &data);
    tide_slice bytes = tide_buf_view(&data);
    uint32_t proposal = workload_pick(workload, workload->proposal_count + 2);
    int wallet = wallet_in_use(workload);
    if (workload_once_in(workload, 12))
        wallet += STRANGER_WALLET;
    workload_begin(call, by, PARTY_DAO, "submit_multisig_tx");
    workload_args(workload, call, "autasy", (int)by, wallet, (long long)proposal,
                  parties_contract(PARTY_ENGINE), "run_it", &bytes);
    call->note = NOTE_SUBMIT_TX;
    tide_buf_release(&data);
}

/* Approves, executes or cancels one of the newest transactions. */
static void decide_tx(struct workload *workload, struct workload_call *call)
{
    uint32_t newest = (uint32_t)workload->msig_tx, luck = workload_pick(workload, 12);
    long long tx =
        newest > 4 ? newest - 1 - workload_pick(workload, 5) : workload_pick(workload, newest + 1);
    uint32_t gov =
        PARTY_GOV + workload_pick(workload, workload_once_in(workload, 9) ? PARTY_GOVS : 5);
    if (luck < 8) {
        workload_begin(call, gov, PARTY_DAO, "approve_multisig_tx");
        workload_args(workload, call, "atb", (int)gov, tx, !workload_once_in(workload, 5));
    } else if (luck < 11) {
        workload_begin(call, PARTY_DAOWALLET, PARTY_DAO, "execute_multisig_tx");
        workload_args(workload, call, "at", PARTY_DAOWALLET, tx);
    } else {
        workload_begin(call, gov, PARTY_DAO, "cancel_multisig_tx");
        workload_args(workload, call, "at", (int)gov, tx);
    }
}

/* Changes a wallet's signers, creates a wallet, or sets the mask. */
static void change_wallets(struct workload *workload, struct workload_call *call)
{
    uint32_t luck = workload_pick(workload, 6);
    int gov = (int)(PARTY_GOV + workload_pick(workload, PARTY_GOVS));
    if (luck < 3) {
        workload_begin(call, PARTY_DAOWALLET, PARTY_DAO,
                       luck ? "add_signer_to_wallet" : "remove_signer_from_wallet");
        workload_args(workload, call, "aua", PARTY_DAOWALLET, luck == 2, gov);
    } else if (luck < 5) {
        workload_begin(call, PARTY_DAOWALLET, PARTY_DAO, "create_multisig");
        workload_args(workload, call, "au", PARTY_DAOWALLET, luck == 3 ? 2 : 9);
        workload_vec(call, 3);
        for (int i = 0; i < 3; i++)
            workload_put(workload, call, 'a', PARTY_GOV + i);
        workload_args(workload, call, "u", (int)workload_pick(workload, 3));
    } else {
        workload_begin(call, PARTY_DAOWALLET, PARTY_DAO, "set_multisig_mask");
        workload_args(workload, call, "au", PARTY_DAOWALLET, (int)workload_pick(workload, 0x1ffff));
    }
}

/* Fewer proposals than votes, so that the showcase has some in each state. Shares are of 40. */
static void run_showcase_dao(struct workload *workload, struct workload_call *call)
{
    uint32_t luck = workload_pick(workload, 40);
    struct workload_proposal *p = pick_proposal(workload, luck >= 26 && luck < 30);
    if (!p || luck < 4)
        make_proposal(workload, call);
    else if (luck < 24 && p->asked < 5)
        cast_vote(workload, call, p);
    else if (luck < 25 && p->asked < 5)
        cancel_proposal(workload, call, p);
    else if (luck < 26) {
        workload_begin(call, PARTY_GOV, PARTY_DAO, "finalise");
        workload_args(workload, call, "t", (long long)p->id);
    } else if (luck < 30 && is_ripe(workload, p))
        decide_proposal(workload, call, p);
    else if (luck < 33)
        queue_tx(workload, call);
    else
        decide_tx(workload, call);
}

/* Shares are of 40. A branch that has no fitting proposal falls through to the next. */
void workload_dao(struct workload *workload, struct workload_call *call)
{
    if (workload->profile == WORKLOAD_SHOWCASE) {
        run_showcase_dao(workload, call);
        return;
    }
    uint32_t luck = workload_pick(workload, 40);
    struct workload_proposal *p =
        pick_proposal(workload, luck >= 20 && !workload_once_in(workload, 3));
    if (!p || luck < 6)
        make_proposal(workload, call);
    else if (luck < 20 && (p->asked < 5 || workload_once_in(workload, 5)))
        cast_vote(workload, call, p);
    else if (luck < 28 && (is_ripe(workload, p) || workload_once_in(workload, 5)))
        decide_proposal(workload, call, p);
    else if (luck < 31)
        queue_tx(workload, call);
    else if (luck < 38)
        decide_tx(workload, call);
    else
        change_wallets(workload, call);
}
