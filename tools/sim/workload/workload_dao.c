/* Proposals, votes, multisig, and the call data they carry: sound, cut short, and nonsense. */
#include "tools/sim/workload/workload.h"

enum { WALLET_TXS = 1000, STRANGE_WALLET = 3, STRANGER_WALLET = 7 };

static void put_le(struct tide_buf *buf, uint64_t value, uint32_t bytes, uint8_t fill)
{
    for (uint32_t i = 0; i < bytes; i++)
        tide_buf_u8(buf, (uint8_t)(i < 8 ? value >> (8 * i) : fill));
}

static void put_amount(struct tide_buf *buf, int64_t value)
{
    put_le(buf, (uint64_t)value, 16, value < 0 ? 0xff : 0);
}

static void put_text(struct tide_buf *buf, tide_slice text)
{
    tide_buf_u8(buf, (uint8_t)text.len);
    tide_buf_slice(buf, text);
}

static void put_address(struct tide_buf *buf, const struct workload *workload, party_ref party)
{
    tide_buf_u8(buf, 56);
    parties_put_strkey(buf, workload->parties, party);
}

static void data_market(struct workload *workload, struct tide_buf *data)
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

static void data_pool(struct workload *workload, struct tide_buf *data)
{
    put_text(data, tide_slice_str(workload_pool_names[POOL_TSLA]));
    put_address(data, workload, parties_contract(PARTY_TOKEN + 1));
    put_address(data, workload, parties_contract(PARTY_USDC));
    put_amount(data, 30);
}

static void data_upgrade(struct workload *workload, struct tide_buf *data)
{
    put_address(data, workload, parties_contract(PARTY_PARTNERS));
    for (uint32_t i = 0; i < 32; i++)
        tide_buf_u8(data, (uint8_t)(i * 7));
}

static void data_of_party(struct workload *workload, struct tide_buf *data, uint32_t action)
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

static void data_of_partner(struct workload *workload, struct tide_buf *data, uint32_t action)
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

/* Layouts of protocol.md: action u32 little-endian, then its payload. */
static void sound_data(struct workload *workload, struct tide_buf *data, uint32_t action)
{
    put_le(data, action, 4, 0);
    if (action == 0) {
        data_market(workload, data);
    } else if (action == 1 || action == 3 || action == 14 || action == 15) {
        data_of_partner(workload, data, action);
    } else if (action == 4) {
        put_amount(data, workload_between(workload, 12000, 18000));
        put_amount(data, workload_between(workload, 500, 1500));
    } else if (action == 5) {
        data_pool(workload, data);
    } else if (action == 10) {
        put_le(data, 3, 4, 0);
    } else if (action == 16) {
        data_upgrade(workload, data);
    } else if (action != 2 && action != 99) {
        data_of_party(workload, data, action);
    }
}

static void legacy_data(struct workload *workload, struct tide_buf *data)
{
    tide_buf_u8(data, (uint8_t)workload_pick(workload, 3));
    put_amount(data, workload_between(workload, 1, 900) * 257);
}

/* Data for a proposal; empty, legacy, cut short or noise now and then. */
static void call_data(struct workload *workload, struct tide_buf *data)
{
    static const uint8_t actions[] = {
        0, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 2, 99
    };
    uint32_t luck = workload_pick(workload, 20);
    tide_buf_reset(data);
    if (luck == 0)
        return;
    if (luck == 1) {
        legacy_data(workload, data);
        return;
    }
    if (luck == 2) {
        for (uint32_t i = workload_pick(workload, 30); i > 0; i--)
            tide_buf_u8(data, (uint8_t)workload_random(workload));
        return;
    }
    sound_data(workload, data, actions[workload_pick(workload, TIDE_COUNT(actions))]);
    if (luck == 3)
        data->len -= workload_pick(workload, (uint32_t)data->len);
    else if (luck == 4)
        tide_buf_str(data, "trailing");
}

/* A wallet lists its transactions in one entry, and the network keeps no entry over 64 KiB. So
 * the workload changes to the next wallet long before. There are always enough wallets. */
static int wallet_in_use(const struct workload *workload)
{
    return (int)(workload->msig_tx / WALLET_TXS);
}

static void propose(struct workload *workload, struct workload_call *call)
{
    struct tide_buf data;
    uint32_t gov =
        PARTY_GOV + workload_pick(workload, workload_once_in(workload, 8) ? PARTY_GOVS : 5);
    tide_slice title = workload_text(workload), text = workload_text(workload);
    bool queue = workload_once_in(workload, 3);
    tide_buf_init(&data, 4096);
    call_data(workload, &data);
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

/* The oldest proposals first find their votes, then an end. */
static bool is_ripe(const struct workload *workload, const struct workload_proposal *p)
{
    return p->asked >= 4 && workload->now >= p->made_at + 259200;
}

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

static void vote(struct workload *workload, struct workload_call *call, struct workload_proposal *p)
{
    uint32_t gov = PARTY_GOV + (p->asked < 5 ? p->asked : workload_pick(workload, PARTY_GOVS));
    p->asked++;
    workload_begin(call, gov, PARTY_DAO, "vote");
    workload_args(workload, call, "atb", (int)gov, (long long)p->id,
                  !workload_once_in(workload, 7));
}

static void end_proposal(struct workload *workload, struct workload_call *call,
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

static void queue_tx(struct workload *workload, struct workload_call *call)
{
    struct tide_buf data;
    uint32_t by = workload->users[workload_free_user(workload)].source;
    tide_buf_init(&data, 4096);
    call_data(workload, &data);
    tide_slice bytes = tide_buf_view(&data);
    workload_begin(call, by, PARTY_DAO, "submit_multisig_tx");
    workload_args(workload, call, "autasy", (int)by,
                  wallet_in_use(workload) + (workload_once_in(workload, 12) ? STRANGER_WALLET : 0),
                  (long long)workload_pick(workload, workload->proposal_count + 2),
                  parties_contract(PARTY_ENGINE), "run_it", &bytes);
    call->note = NOTE_SUBMIT_TX;
    tide_buf_release(&data);
}

static void handle_tx(struct workload *workload, struct workload_call *call)
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

static void wallet_rules(struct workload *workload, struct workload_call *call)
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

void workload_dao(struct workload *workload, struct workload_call *call)
{
    uint32_t luck = workload_pick(workload, 40);
    struct workload_proposal *p =
        pick_proposal(workload, luck >= 20 && !workload_once_in(workload, 3));
    if (!p || luck < 6)
        propose(workload, call);
    else if (luck < 20 && (p->asked < 5 || workload_once_in(workload, 5)))
        vote(workload, call, p);
    else if (luck < 28 && (is_ripe(workload, p) || workload_once_in(workload, 5)))
        end_proposal(workload, call, p);
    else if (luck < 31)
        queue_tx(workload, call);
    else if (luck < 38)
        handle_tx(workload, call);
    else
        wallet_rules(workload, call);
}
