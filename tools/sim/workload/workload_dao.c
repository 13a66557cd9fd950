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

static void put_address(struct tide_buf *buf, const struct story *story, cast_ref who)
{
    tide_buf_u8(buf, 56);
    cast_put_strkey(buf, story->cast, who);
}

static void data_market(struct story *story, struct tide_buf *data)
{
    const struct cast_market *market = &cast_markets[CAST_MARKETS - 1];
    put_text(data, tide_slice_str(market->symbol));
    put_address(data, story, cast_contract(CAST_TOKEN + CAST_MARKETS - 1));
    put_text(data, tide_slice_str(market->feed));
    put_address(data, story, cast_contract(CAST_XLM));
    put_text(data, TIDE_SLICE("XLM"));
    put_amount(data, 20000);
    put_amount(data, 15000);
    put_amount(data, 1000);
    put_amount(data, 0);
    put_amount(data, 5000000000000);
}

static void data_pool(struct story *story, struct tide_buf *data)
{
    put_text(data, tide_slice_str(story_pool_names[POOL_TSLA]));
    put_address(data, story, cast_contract(CAST_TOKEN + 1));
    put_address(data, story, cast_contract(CAST_USDC));
    put_amount(data, 30);
}

static void data_upgrade(struct story *story, struct tide_buf *data)
{
    put_address(data, story, cast_contract(CAST_PARTNERS));
    for (uint32_t i = 0; i < 32; i++)
        tide_buf_u8(data, (uint8_t)(i * 7));
}

static void data_of_party(struct story *story, struct tide_buf *data, uint32_t action)
{
    if (action == 6 || action == 7) {
        put_le(data, 0, 4, 0);
        put_address(data, story, (cast_ref)(CAST_GOV + story_pick(story, CAST_GOVS)));
    } else if (action == 8 || action == 9) {
        put_address(data, story, (cast_ref)(CAST_FEED + CAST_FEEDS - 1));
    } else if (action == 11 || action == 12) {
        put_address(data, story, (cast_ref)(CAST_VERIFIER + CAST_VERIFIERS - 1));
    } else {
        put_address(data, story, cast_contract(CAST_USDC));
        tide_buf_u8(data, 1);
    }
}

static void data_of_partner(struct story *story, struct tide_buf *data, uint32_t action)
{
    if (action == 14) {
        put_address(data, story, (cast_ref)(CAST_PARTNER + story_pick(story, CAST_PARTNERS_MAX)));
        put_text(data, TIDE_SLICE("Proposed \xc3\xa9 partner"));
    } else if (action == 15) {
        put_text(data, TIDE_SLICE("PS0"));
    } else {
        put_le(data, story_pick(story, 3), 4, 0);
        if (action == 3)
            put_amount(data, story_between(story, 1000, 8500));
    }
}

/* Layouts of protocol.md: action u32 little-endian, then its payload. */
static void sound_data(struct story *story, struct tide_buf *data, uint32_t action)
{
    put_le(data, action, 4, 0);
    if (action == 0) {
        data_market(story, data);
    } else if (action == 1 || action == 3 || action == 14 || action == 15) {
        data_of_partner(story, data, action);
    } else if (action == 4) {
        put_amount(data, story_between(story, 12000, 18000));
        put_amount(data, story_between(story, 500, 1500));
    } else if (action == 5) {
        data_pool(story, data);
    } else if (action == 10) {
        put_le(data, 3, 4, 0);
    } else if (action == 16) {
        data_upgrade(story, data);
    } else if (action != 2 && action != 99) {
        data_of_party(story, data, action);
    }
}

static void legacy_data(struct story *story, struct tide_buf *data)
{
    tide_buf_u8(data, (uint8_t)story_pick(story, 3));
    put_amount(data, story_between(story, 1, 900) * 257);
}

/* Data for a proposal; empty, legacy, cut short or noise now and then. */
static void call_data(struct story *story, struct tide_buf *data)
{
    static const uint8_t actions[] = {
        0, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 2, 99
    };
    uint32_t luck = story_pick(story, 20);
    tide_buf_reset(data);
    if (luck == 0)
        return;
    if (luck == 1) {
        legacy_data(story, data);
        return;
    }
    if (luck == 2) {
        for (uint32_t i = story_pick(story, 30); i > 0; i--)
            tide_buf_u8(data, (uint8_t)story_random(story));
        return;
    }
    sound_data(story, data, actions[story_pick(story, TIDE_COUNT(actions))]);
    if (luck == 3)
        data->len -= story_pick(story, (uint32_t)data->len);
    else if (luck == 4)
        tide_buf_str(data, "trailing");
}

/* A wallet lists its transactions in one entry, and the network keeps no entry over 64 KiB: people
 * go on with the next wallet long before. Wallets are made far more often than they are full. */
static int wallet_in_use(const struct story *story)
{
    return (int)(story->msig_tx / WALLET_TXS);
}

static void propose(struct story *story, struct story_call *call)
{
    struct tide_buf data;
    uint32_t gov = CAST_GOV + story_pick(story, story_once_in(story, 8) ? CAST_GOVS : 5);
    tide_slice title = story_text(story), text = story_text(story);
    bool queue = story_once_in(story, 3);
    tide_buf_init(&data, 4096);
    call_data(story, &data);
    tide_slice bytes = tide_buf_view(&data);
    story_begin(call, gov, CAST_DAO, queue ? "propose_and_queue_multisig" : "propose");
    story_args(story, call, "ayyy", (int)gov, &title, &text, &bytes);
    if (queue)
        story_args(story, call, "uas",
                   wallet_in_use(story) + (story_once_in(story, 9) ? STRANGE_WALLET : 0),
                   cast_contract(CAST_ORACLE), "anything");
    call->note = NOTE_PROPOSE;
    call->flag = queue;
    tide_buf_release(&data);
}

/* The oldest proposals first find their votes, then an end. */
static bool is_ripe(const struct story *story, const struct story_proposal *p)
{
    return p->asked >= 4 && story->now >= p->made_at + 259200;
}

static struct story_proposal *pick_proposal(struct story *story, bool voted)
{
    uint32_t count =
        story->proposal_count < STORY_PROPOSALS ? story->proposal_count : STORY_PROPOSALS;
    uint32_t at = count ? story_pick(story, count) : 0;
    for (uint32_t tries = 0; tries < count; tries++, at = (at + 1) % count) {
        const struct story_proposal *p = &story->proposals[at];
        if (voted ? is_ripe(story, p) : p->asked < 5)
            break;
    }
    return count ? &story->proposals[at] : NULL;
}

static void vote(struct story *story, struct story_call *call, struct story_proposal *p)
{
    uint32_t gov = CAST_GOV + (p->asked < 5 ? p->asked : story_pick(story, CAST_GOVS));
    p->asked++;
    story_begin(call, gov, CAST_DAO, "vote");
    story_args(story, call, "atb", (int)gov, (long long)p->id, !story_once_in(story, 7));
}

static void end_proposal(struct story *story, struct story_call *call, struct story_proposal *p)
{
    uint32_t luck = story_pick(story, 10);
    if (luck < 7) {
        uint32_t by = story_once_in(story, 3) ? CAST_OUTSIDER : CAST_DAOWALLET;
        story_begin(call, by, CAST_DAO, "execute");
        story_args(story, call, "at", (int)by, (long long)p->id);
        if (story->pools[POOL_TSLA].made || luck > 3)
            return;
        call->note = NOTE_NOTHING;
    } else if (luck < 9) {
        story_begin(call, story->users[story_free_user(story)].source, CAST_DAO, "finalise");
        story_args(story, call, "t", (long long)p->id);
    } else {
        uint32_t gov = CAST_GOV + story_pick(story, 5);
        story_begin(call, gov, CAST_DAO, "cancel");
        story_args(story, call, "at", (int)gov, (long long)p->id);
    }
}

static void queue_tx(struct story *story, struct story_call *call)
{
    struct tide_buf data;
    uint32_t by = story->users[story_free_user(story)].source;
    tide_buf_init(&data, 4096);
    call_data(story, &data);
    tide_slice bytes = tide_buf_view(&data);
    story_begin(call, by, CAST_DAO, "submit_multisig_tx");
    story_args(story, call, "autasy", (int)by,
               wallet_in_use(story) + (story_once_in(story, 12) ? STRANGER_WALLET : 0),
               (long long)story_pick(story, story->proposal_count + 2), cast_contract(CAST_ENGINE),
               "run_it", &bytes);
    call->note = NOTE_SUBMIT_TX;
    tide_buf_release(&data);
}

static void handle_tx(struct story *story, struct story_call *call)
{
    uint32_t newest = (uint32_t)story->msig_tx, luck = story_pick(story, 12);
    long long tx = newest > 4 ? newest - 1 - story_pick(story, 5) : story_pick(story, newest + 1);
    uint32_t gov = CAST_GOV + story_pick(story, story_once_in(story, 9) ? CAST_GOVS : 5);
    if (luck < 8) {
        story_begin(call, gov, CAST_DAO, "approve_multisig_tx");
        story_args(story, call, "atb", (int)gov, tx, !story_once_in(story, 5));
    } else if (luck < 11) {
        story_begin(call, CAST_DAOWALLET, CAST_DAO, "execute_multisig_tx");
        story_args(story, call, "at", CAST_DAOWALLET, tx);
    } else {
        story_begin(call, gov, CAST_DAO, "cancel_multisig_tx");
        story_args(story, call, "at", (int)gov, tx);
    }
}

static void wallet_rules(struct story *story, struct story_call *call)
{
    uint32_t luck = story_pick(story, 6);
    int gov = (int)(CAST_GOV + story_pick(story, CAST_GOVS));
    if (luck < 3) {
        story_begin(call, CAST_DAOWALLET, CAST_DAO,
                    luck ? "add_signer_to_wallet" : "remove_signer_from_wallet");
        story_args(story, call, "aua", CAST_DAOWALLET, luck == 2, gov);
    } else if (luck < 5) {
        story_begin(call, CAST_DAOWALLET, CAST_DAO, "create_multisig");
        story_args(story, call, "au", CAST_DAOWALLET, luck == 3 ? 2 : 9);
        story_vec(call, 3);
        for (int i = 0; i < 3; i++)
            story_put(story, call, 'a', CAST_GOV + i);
        story_args(story, call, "u", (int)story_pick(story, 3));
    } else {
        story_begin(call, CAST_DAOWALLET, CAST_DAO, "set_multisig_mask");
        story_args(story, call, "au", CAST_DAOWALLET, (int)story_pick(story, 0x1ffff));
    }
}

void story_dao(struct story *story, struct story_call *call)
{
    uint32_t luck = story_pick(story, 40);
    struct story_proposal *p = pick_proposal(story, luck >= 20 && !story_once_in(story, 3));
    if (!p || luck < 6)
        propose(story, call);
    else if (luck < 20 && (p->asked < 5 || story_once_in(story, 5)))
        vote(story, call, p);
    else if (luck < 28 && (is_ripe(story, p) || story_once_in(story, 5)))
        end_proposal(story, call, p);
    else if (luck < 31)
        queue_tx(story, call);
    else if (luck < 38)
        handle_tx(story, call);
    else
        wallet_rules(story, call);
}
