/* getHealth, getNetwork, getLatestLedger, getLedgers. */
#include "tidemark/clock.h"
#include "tidemark/meta.h"
#include "tidemark/text.h"
#include "tools/sim/rpc/rpc.h"

/* ledgers of a page by default and at most, as in stellar-rpc */
enum { PAGE_USUAL = 50, PAGE_MOST = 200 };

/* --- the network ---------------------------------------------------------------- */

bool rpc_getHealth(struct rpc_call *call)
{
    struct rpc *rpc = call->rpc;
    const struct tide_clock *clock = tide_clock_system();
    int64_t age = clock->now_ms(clock->self) - atomic_load(&rpc->closed_ms);
    if (rpc->healthy_ms && age > rpc->healthy_ms)
        return rpc_refuse(call, RPC_INTERNAL,
                          "latency (%" PRId64 "s) since last known ledger closed is too high "
                          "(>%" PRId64 "s)",
                          age / 1000, rpc->healthy_ms / 1000);
    tide_buf_putf(call->out,
                  "{\"status\":\"healthy\",\"latestLedger\":%u,\"latestLedgerCloseTime\":%" PRIu64
                  ",\"oldestLedger\":%u,\"oldestLedgerCloseTime\":%" PRIu64
                  ",\"ledgerRetentionWindow\":%u}",
                  call->latest.sequence, call->latest.close_time, call->oldest.sequence,
                  call->oldest.close_time, rpc->retention);
    return true;
}

bool rpc_getNetwork(struct rpc_call *call)
{
    struct tide_buf *out = call->out;
    const char *passphrase = sim_fault_on(call->hit, SIM_FAULT_PASSPHRASE)
                                 ? "Another Simulated Network ; 2026"
                                 : call->rpc->passphrase;
    tide_buf_str(out, "{");
    if (call->rpc->friendbot[0]) {
        tide_buf_str(out, "\"friendbotUrl\":");
        tide_buf_json_string(out, tide_slice_str(call->rpc->friendbot));
        tide_buf_str(out, ",");
    }
    tide_buf_str(out, "\"passphrase\":");
    tide_buf_json_string(out, tide_slice_str(passphrase));
    tide_buf_putf(out, ",\"protocolVersion\":%u}", call->latest.protocol);
    return true;
}

bool rpc_getLatestLedger(struct rpc_call *call)
{
    struct ledger_info info;
    struct tide_buf lcm;
    uint32_t ahead = (uint32_t)call->hit->number[SIM_FAULT_BOAST];
    tide_buf_init(&lcm, RPC_ANSWER_BYTES_MAX);
    bool there = ledger_store_read(call->store, call->latest.sequence, &lcm, &info);
    if (there) {
        tide_buf_str(call->out, "{\"id\":\"");
        tide_buf_hex(call->out, tide_slice_of(info.hash, sizeof info.hash));
        tide_buf_putf(call->out,
                      "\",\"protocolVersion\":%u,\"sequence\":%u,\"closeTime\":\"%" PRIu64 "\",",
                      info.protocol, info.sequence + ahead, info.close_time);
        rpc_put_xdr(call->out, "headerXdr",
                    tide_slice_of(lcm.ptr + info.header_at, info.header_len));
        tide_buf_str(call->out, "\"metadataXdr\":");
        rpc_put_base64(call->out, tide_buf_view(&lcm));
        tide_buf_str(call->out, "}");
    }
    tide_buf_release(&lcm);
    return there || rpc_refuse(call, RPC_INTERNAL, "cannot read ledger %u", call->latest.sequence);
}

/* --- deliberately altered ledgers --------------------------------------------------- */

/* Parts of a ledger that break_chain changes. */
struct parts {
    struct tide_ledger_header header;
    tide_slice tx_set;
};

static tide_status on_header(void *self, const struct tide_ledger_header *header)
{
    ((struct parts *)self)->header = *header;
    return TIDE_OK;
}

static tide_status on_tx_set(void *self, tide_slice tx_set)
{
    ((struct parts *)self)->tx_set = tx_set;
    return TIDE_OK;
}

/* Gives the ledger another parent, in header and transaction set, and valid hashes. Only the link
 * to the ledger before is wrong. */
static void break_chain(struct tide_buf *lcm)
{
    struct tide_err err;
    struct parts parts;
    const struct tide_walk walk = { .self = &parts, .header = on_header, .tx_set = on_tx_set };
    if (tide_ledger_walk(&walk, tide_buf_view(lcm), &err) != TIDE_OK)
        return;
    uint8_t *previous = lcm->ptr + (parts.header.previous_hash - lcm->ptr);
    uint8_t *set = lcm->ptr + (parts.tx_set.ptr - lcm->ptr);
    previous[0] = (uint8_t)~previous[0];
    memcpy(set + 4, previous, TIDE_HASH_BYTES); /* behind the discriminant */
    tide_sha256(lcm->ptr + (parts.header.tx_set_hash - lcm->ptr), parts.tx_set);
    tide_sha256(lcm->ptr + (parts.header.hash - lcm->ptr), parts.header.header_xdr);
}

/* Sets a version of LedgerCloseMeta that does not exist. */
static void set_unknown_version(struct tide_buf *lcm)
{
    lcm->ptr[3] = 99;
}

/* --- a page of ledgers ---------------------------------------------------------------- */

/* A ledger of a page. */
struct item {
    uint32_t sequence;
    void (*alter)(struct tide_buf *lcm); /* alters the bytes; NULL: they stay */
};

/* A page, with room for one ledger twice. */
struct page {
    struct item items[PAGE_MOST + 1];
    uint32_t count;
};

/* Finds the ledger of the page that a fault affects: the one that it names, or else the second.
 * Returns false if the fault does not strike. */
static bool find_target(const struct rpc_call *call, const struct page *page,
                        enum sim_fault_kind kind, uint32_t *at)
{
    if (!sim_fault_on(call->hit, kind) || page->count == 0)
        return false;
    uint64_t wanted = call->hit->number[kind];
    uint32_t i = wanted ? 0 : page->count > 1;
    while (wanted && i < page->count && page->items[i].sequence != wanted)
        i++;
    *at = i;
    return i < page->count && sim_faults_strike(call->rpc->faults, call->hit, kind);
}

/* Applies the faults to the page, in an order in which they do not hide each other. */
static void alter_page(const struct rpc_call *call, struct page *page)
{
    uint32_t at = 0;
    if (find_target(call, page, SIM_FAULT_HASH_BREAK, &at))
        page->items[at].alter = break_chain;
    if (find_target(call, page, SIM_FAULT_POISON, &at))
        page->items[at].alter = set_unknown_version;
    if (find_target(call, page, SIM_FAULT_DUPLICATE, &at)) {
        memmove(&page->items[at + 1], &page->items[at], (page->count - at) * sizeof page->items[0]);
        page->count++;
    }
    if (find_target(call, page, SIM_FAULT_GAP, &at)) {
        page->count--;
        memmove(&page->items[at], &page->items[at + 1], (page->count - at) * sizeof page->items[0]);
    }
    if (page->count > 1 && sim_fault_on(call->hit, SIM_FAULT_REVERSE) &&
        sim_faults_strike(call->rpc->faults, call->hit, SIM_FAULT_REVERSE)) {
        for (uint32_t i = 0; i < page->count / 2; i++) {
            struct item item = page->items[i];
            page->items[i] = page->items[page->count - 1 - i];
            page->items[page->count - 1 - i] = item;
        }
    }
}

/* Appends a ledger as a JSON object. */
static bool put_ledger(struct rpc_call *call, const struct item *item, struct tide_buf *lcm)
{
    struct ledger_info info;
    struct tide_buf *out = call->out;
    tide_buf_reset(lcm);
    if (!ledger_store_read(call->store, item->sequence, lcm, &info))
        return rpc_refuse(call, RPC_INTERNAL, "error fetching ledgers from db: no ledger %u",
                          item->sequence);
    if (item->alter)
        item->alter(lcm);
    tide_buf_str(out, "{\"hash\":\"");
    tide_buf_hex(out, tide_slice_of(lcm->ptr + info.entry_at, TIDE_HASH_BYTES));
    tide_buf_putf(out, "\",\"sequence\":%u,\"ledgerCloseTime\":\"%" PRIu64 "\",", info.sequence,
                  info.close_time);
    rpc_put_xdr(out, "headerXdr", tide_slice_of(lcm->ptr + info.entry_at, info.entry_len));
    tide_buf_str(out, "\"metadataXdr\":");
    rpc_put_base64(out, tide_buf_view(lcm));
    tide_buf_str(out, "}");
    return true;
}

/* Appends the page's ledgers. */
static bool put_ledgers(struct rpc_call *call, const struct page *page)
{
    struct tide_buf lcm;
    bool good = true;
    tide_buf_init(&lcm, RPC_ANSWER_BYTES_MAX);
    tide_buf_str(call->out, "{\"ledgers\":[");
    for (uint32_t i = 0; good && i < page->count && !call->out->failed; i++) {
        if (i)
            tide_buf_u8(call->out, ',');
        good = put_ledger(call, &page->items[i], &lcm);
    }
    tide_buf_release(&lcm);
    return good;
}

/* Sets the page's start to the ledger behind the cursor. Refuses if the call does not see that
 * ledger. */
static bool start_behind_cursor(struct rpc_call *call, struct rpc_page *page)
{
    uint64_t cursor = 0;
    if (tide_parse_u64(&cursor, tide_slice_str(page->cursor), UINT32_MAX) != TIDE_OK)
        return rpc_refuse(call, RPC_PARAMS, "strconv.ParseUint: parsing \"%.40s\": invalid syntax",
                          page->cursor);
    page->start = (uint32_t)cursor + 1;
    if (page->start >= call->oldest.sequence && page->start <= call->latest.sequence)
        return true;
    return rpc_refuse(call, RPC_PARAMS,
                      "cursor ('%s') must be between the oldest ledger: %u and the latest ledger: "
                      "%u for this rpc instance",
                      page->cursor, call->oldest.sequence, call->latest.sequence);
}

bool rpc_getLedgers(struct rpc_call *call)
{
    struct rpc_page wanted;
    struct page page = { .count = 0 };
    if (!rpc_read_page(call, &wanted, PAGE_USUAL, PAGE_MOST) ||
        (wanted.cursor && !start_behind_cursor(call, &wanted)))
        return false;
    uint32_t last = call->latest.sequence;
    for (uint32_t s = wanted.start; s <= last && page.count < wanted.limit; s++)
        page.items[page.count++] = (struct item){ .sequence = s };
    /* The cursor is that of the page without faults. */
    uint32_t cursor = page.items[page.count - 1].sequence;
    alter_page(call, &page);
    if (!put_ledgers(call, &page))
        return false;
    tide_buf_putf(call->out,
                  "],\"latestLedger\":%u,\"latestLedgerCloseTime\":%" PRIu64
                  ",\"oldestLedger\":%u,\"oldestLedgerCloseTime\":%" PRIu64 ",\"cursor\":\"%u\"}",
                  last, call->latest.close_time, call->oldest.sequence, call->oldest.close_time,
                  cursor);
    return true;
}

/* --- getFeeStats: a simulated ledger always has room, so every bid is the base fee --- */

/* ledgers that stellar-rpc's statistics cover */
enum { SOROBAN_LEDGERS = 50, CLASSIC_LEDGERS = 10 };

/* Appends one distribution of fees. Each of its values is the base fee of 100 stroops. */
static void put_stats(struct tide_buf *out, const char *name, uint32_t ledgers)
{
    static const char *const fields[] = { "max", "min", "mode", "p10", "p20", "p30", "p40",
                                          "p50", "p60", "p70",  "p80", "p90", "p95", "p99" };
    tide_buf_putf(out, "\"%s\":{", name);
    for (size_t i = 0; i < TIDE_COUNT(fields); i++)
        tide_buf_putf(out, "\"%s\":\"100\",", fields[i]);
    tide_buf_putf(out, "\"transactionCount\":\"%u\",\"ledgerCount\":%u}", ledgers, ledgers);
}

bool rpc_getFeeStats(struct rpc_call *call)
{
    tide_buf_str(call->out, "{");
    put_stats(call->out, "sorobanInclusionFee", SOROBAN_LEDGERS);
    tide_buf_str(call->out, ",");
    put_stats(call->out, "inclusionFee", CLASSIC_LEDGERS);
    tide_buf_putf(call->out, ",\"latestLedger\":%u}", call->latest.sequence);
    return true;
}
