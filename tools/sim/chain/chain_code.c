/* The code entry that all native contracts share: wasm without bytes. Its life ends like that of
 * other persistent entries. */
#include "tidemark/xdr.h"
#include "tools/sim/chain/chain.h"

void chain_put_code(const struct chain *chain, struct tide_buf *buf)
{
    assert(chain->code.modified > 0 && chain->code.modified <= chain->ledger);
    tide_buf_be32(buf, chain->code.modified);
    tide_buf_be32(buf, 7); /* entry type CONTRACT_CODE */
    tide_buf_be32(buf, 0);
    tide_buf_put(buf, chain->code.hash, TIDE_HASH_BYTES);
    tide_buf_be32(buf, 0); /* no bytes of code */
    tide_buf_be32(buf, 0);
}

/* Hashes the entry's key: the key of its lifetime. */
static void hash_key(struct chain *chain, uint8_t hash[TIDE_HASH_BYTES])
{
    tide_buf_reset(&chain->answer);
    lcm_put_code_key(&chain->answer, chain->code.hash);
    tide_sha256(hash, tide_buf_view(&chain->answer));
}

/* Appends a change of the lifetime. at: ledger of the last write, last ledger of the life. */
static void put_ttl(struct chain *chain, uint32_t *count, uint32_t kind, const uint32_t at[2])
{
    uint8_t hash[TIDE_HASH_BYTES];
    hash_key(chain, hash);
    chain_change(&chain->changes, count, kind);
    lcm_put_ttl(&chain->changes, at[0], hash, at[1]);
}

/* Appends the entry with a full new life. */
static void put_alive(struct chain *chain, uint32_t *count, uint32_t kind)
{
    chain->code.live_until = chain->ledger + chain->host.persistent_life;
    chain->code.evicted = false;
    chain_change(&chain->changes, count, kind);
    chain_put_code(chain, &chain->changes);
    put_ttl(chain, count, kind, (uint32_t[]){ chain->ledger, chain->code.live_until });
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
    put_ttl(chain, count, CHANGE_STATE, (uint32_t[]){ code->modified, code->live_until });
    put_ttl(chain, count, CHANGE_UPDATED, (uint32_t[]){ chain->ledger, live_until });
    code->live_until = live_until;
}

void chain_code_evict(struct chain *chain)
{
    uint8_t hash[TIDE_HASH_BYTES];
    if (!chain_code_lapsed(chain) || chain->code.evicted)
        return;
    hash_key(chain, hash);
    lcm_evict(&chain->lcm, tide_buf_view(&chain->answer));
    tide_buf_reset(&chain->answer);
    lcm_put_ttl_key(&chain->answer, hash);
    lcm_evict(&chain->lcm, tide_buf_view(&chain->answer));
    chain->code.evicted = true;
}
