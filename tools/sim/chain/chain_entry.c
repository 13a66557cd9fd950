/* Functions that all files of a chain share: changes of entries and lifetimes, evictions, fee events,
 * and the code entry of all native contracts: wasm without bytes, whose life ends like that of other
 * persistent entries. */
#include "tidemark/scval.h"
#include "tidemark/xdr.h"
#include "tools/sim/chain/chain.h"

/* splitmix64. The workload uses the same generator with another seed. */
uint64_t chain_random(struct chain *chain)
{
    uint64_t z = (chain->random += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

struct sim_addr chain_addr(const struct chain *chain, party_ref party)
{
    struct sim_addr out = { .kind = party >= 0 ? SIM_ACCOUNT : SIM_CONTRACT };
    memcpy(out.key, parties_get(&chain->parties, party)->id, TIDE_HASH_BYTES);
    return out;
}

struct lcm_account chain_account(const struct sim_account *account)
{
    struct lcm_account out = { .balance = account->balance,
                               .seq = account->seq,
                               .subentries = account->subentries,
                               .flags = account->flags,
                               .modified = account->modified };
    memcpy(out.key, account->address.key, TIDE_HASH_BYTES);
    return out;
}

void chain_change(struct tide_buf *buf, uint32_t *count, uint32_t kind)
{
    assert(kind <= CHANGE_RESTORED);
    tide_buf_be32(buf, kind);
    (*count)++;
}

void chain_account_change(struct tide_buf *buf, uint32_t *count, const struct lcm_account *before,
                          const struct lcm_account *after)
{
    chain_change(buf, count, CHANGE_STATE);
    lcm_put_account(buf, before);
    chain_change(buf, count, CHANGE_UPDATED);
    lcm_put_account(buf, after);
}

void chain_report_version(struct chain *chain, uint32_t tx, const struct sim_entry *entry,
                          enum chain_change_kind what)
{
    const struct chain_observer *observer = &chain->options.observer;
    if (!observer->version)
        return;
    observer->version(observer->self, &(struct chain_version){ .ledger = chain->ledger,
                                                               .tx = tx,
                                                               .entry = entry,
                                                               .removed = what == CHAIN_REMOVED,
                                                               .life_only = what == CHAIN_LIFE });
}

struct lcm_trustline chain_line(const struct chain *chain, const struct sim_account *account)
{
    const struct sim_line *line = &account->lines[SIM_USDC];
    struct lcm_trustline out = { .asset = tide_buf_view(&chain->asset),
                                 .balance = line->balance,
                                 .limit = line->limit,
                                 .flags = line->authorized ? 1 : 0,
                                 .modified = line->modified };
    memcpy(out.key, account->address.key, TIDE_HASH_BYTES);
    return out;
}

void chain_put_touch(struct chain *chain, struct tide_buf *buf, const struct sim_touch *touch,
                     bool before)
{
    uint32_t modified = before ? touch->modified : chain->ledger;
    if (touch->kind == SIM_TOUCH_DATA) {
        struct lcm_data data = chain_data(touch->entry, &chain->scratch);
        lcm_put_data(buf, modified, &data, before ? touch->val : touch->entry->val);
    } else if (touch->kind == SIM_TOUCH_ACCOUNT) {
        struct lcm_account entry = chain_account(touch->account);
        entry.balance = before ? touch->balance : entry.balance;
        entry.modified = modified;
        lcm_put_account(buf, &entry);
    } else {
        assert(touch->asset == SIM_USDC && "chain->asset is USDC");
        struct lcm_trustline entry = chain_line(chain, touch->account);
        entry.balance = before ? touch->balance : entry.balance;
        entry.modified = modified;
        lcm_put_trustline(buf, &entry);
    }
}

void chain_fee_event(struct chain *chain, const uint8_t payer[TIDE_HASH_BYTES], uint32_t stage,
                     int64_t amount)
{
    struct tide_buf *buf = &chain->tx_events;
    tide_buf_be32(buf, stage);
    lcm_put_event_head(buf, chain->parties.contracts[PARTY_XLM].id, 1, 2);
    lcm_put_symbol(buf, "fee");
    tide_buf_be32(buf, TIDE_SCV_ADDRESS);
    lcm_put_address_account(buf, payer);
    lcm_put_i128(buf, amount);
}

void chain_move(struct chain *chain, struct tide_buf *buf, uint32_t *count,
                struct sim_account *account, int64_t by)
{
    struct lcm_account before = chain_account(account);
    account->balance += by;
    account->modified = chain->ledger;
    struct lcm_account after = chain_account(account);
    chain_account_change(buf, count, &before, &after);
}

void chain_bump_sequence(struct chain *chain, struct sim_account *source, uint32_t *count)
{
    struct lcm_account before = chain_account(source);
    source->seq++;
    source->modified = chain->ledger;
    struct lcm_account after = chain_account(source);
    chain_account_change(&chain->before, count, &before, &after);
}

void chain_reset(struct chain *chain)
{
    for (size_t i = 0; i < TIDE_COUNT(chain->buffers); i++)
        tide_buf_reset(&chain->buffers[i]);
}

/* --- lifetimes and evictions ----------------------------------------------------- */

struct lcm_data chain_data(const struct sim_entry *entry, struct tide_buf *address)
{
    return lcm_data_of(address, entry->contract->address.key, entry->key, entry->durability);
}

void chain_put_ttl(struct chain *chain, uint32_t *count, uint32_t kind, const struct lcm_data *data,
                   uint32_t modified, uint32_t live_until)
{
    uint8_t hash[TIDE_HASH_BYTES];
    lcm_data_hash(hash, data);
    chain_change(&chain->changes, count, kind);
    if (kind == CHANGE_REMOVED)
        lcm_put_ttl_key(&chain->changes, hash);
    else
        lcm_put_ttl(&chain->changes, modified, hash, live_until);
}

void chain_evict(struct chain *chain, const struct sim_entry *entry)
{
    struct lcm_data data = chain_data(entry, &chain->scratch);
    lcm_evict_data(&chain->lcm, &data);
    if (entry->durability == SIM_TEMPORARY)
        chain_report_version(chain, 0, entry, CHAIN_REMOVED);
}

/* --- the shared code ------------------------------------------------------------- */

void chain_put_code(const struct chain *chain, struct tide_buf *buf)
{
    assert(chain->code.modified > 0 && chain->code.modified <= chain->ledger);
    lcm_words(buf, chain->code.modified, 7, 0); /* entry type CONTRACT_CODE */
    tide_buf_put(buf, chain->code.hash, TIDE_HASH_BYTES);
    lcm_words(buf, 0, 0); /* no bytes of code */
}

/* Writes the code's key to chain->answer and hashes it: the key of its lifetime. */
static void hash_code(struct chain *chain, uint8_t hash[TIDE_HASH_BYTES])
{
    tide_buf_reset(&chain->answer);
    lcm_put_code_key(&chain->answer, chain->code.hash);
    tide_sha256(hash, tide_buf_view(&chain->answer));
}

/* Appends a change of the code's lifetime. */
static void put_code_life(struct chain *chain, uint32_t *count, uint32_t kind, uint32_t modified,
                          uint32_t live_until)
{
    uint8_t hash[TIDE_HASH_BYTES];
    hash_code(chain, hash);
    chain_change(&chain->changes, count, kind);
    lcm_put_ttl(&chain->changes, modified, hash, live_until);
}

/* Appends the entry with a full new life. */
static void put_alive(struct chain *chain, uint32_t *count, uint32_t kind)
{
    chain->code.live_until = chain->ledger + chain->host.persistent_life;
    chain->code.evicted = false;
    chain_change(&chain->changes, count, kind);
    chain_put_code(chain, &chain->changes);
    put_code_life(chain, count, kind, chain->ledger, chain->code.live_until);
}

void chain_code_create(struct chain *chain, uint32_t *count)
{
    assert(chain->code.modified == 0 && "the first deployment alone creates the code");
    chain->code.modified = chain->ledger;
    tide_sha256(chain->code.hash, (tide_slice){ 0 });
    put_alive(chain, count, CHANGE_CREATED);
}

void chain_code_restore(struct chain *chain, uint32_t *count)
{
    assert(chain_code_lapsed(chain));
    put_alive(chain, count, CHANGE_RESTORED);
}

bool chain_is_code(const struct chain *chain, const uint8_t *hash)
{
    return hash && chain->code.modified && memcmp(hash, chain->code.hash, TIDE_HASH_BYTES) == 0;
}

bool chain_code_lapsed(const struct chain *chain)
{
    return chain->code.modified && chain->code.live_until < chain->ledger;
}

void chain_code_extend(struct chain *chain, uint32_t live_until, uint32_t *count)
{
    struct chain_code *code = &chain->code;
    if (code->live_until >= live_until)
        return;
    put_code_life(chain, count, CHANGE_STATE, code->modified, code->live_until);
    put_code_life(chain, count, CHANGE_UPDATED, chain->ledger, live_until);
    code->live_until = live_until;
}

void chain_code_evict(struct chain *chain)
{
    uint8_t hash[TIDE_HASH_BYTES];
    if (!chain_code_lapsed(chain) || chain->code.evicted)
        return;
    hash_code(chain, hash);
    lcm_evict(&chain->lcm, tide_buf_view(&chain->answer));
    tide_buf_reset(&chain->answer);
    lcm_put_ttl_key(&chain->answer, hash);
    lcm_evict(&chain->lcm, tide_buf_view(&chain->answer));
    chain->code.evicted = true;
}
