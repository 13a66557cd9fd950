/* The frame of a ledger around its transactions: header, transaction set, hashes. */
#include "tools/sim/ledger/lcm.h"
#include "tidemark/limits.h"
#include "tidemark/stellar_value.h"
#include "tidemark/xdr.h"

/* Transactions in a cluster, clusters in a stage of the parallel Soroban phase. Any split is valid
 * for readers. */
enum { CLUSTER_TXS = 5, STAGE_CLUSTERS = 4 };

static const int64_t total_coins = 1000000000000000000; /* stroops: the network's total of XLM */

static_assert(TIDE_LEDGER_BYTES_MAX < UINT32_MAX, "lengths in a ledger are 32-bit numbers");

void lcm_open(struct lcm *lcm)
{
    assert(lcm->version == 1 || lcm->version == 2);
    tide_network_id(lcm->network_id, tide_slice_str(lcm->passphrase));
    memset(lcm->bucket_hash, 0, sizeof lcm->bucket_hash);
    for (size_t i = 0; i < TIDE_COUNT(lcm->buffers); i++)
        tide_buf_init(&lcm->buffers[i], TIDE_LEDGER_BYTES_MAX);
    lcm->index = NULL;
    lcm->parts = NULL;
    lcm->index_max = 0;
    lcm->fee_pool = 0;
}

void lcm_close(struct lcm *lcm)
{
    for (size_t i = 0; i < TIDE_COUNT(lcm->buffers); i++)
        tide_buf_release(&lcm->buffers[i]);
    free(lcm->index);
    free(lcm->parts);
    lcm->index = NULL;
    lcm->parts = NULL;
}

void lcm_begin(struct lcm *lcm, uint32_t sequence, uint64_t close_time)
{
    lcm->sequence = sequence;
    lcm->close_time = close_time;
    lcm->tx_count = 0;
    lcm->evicted_count = lcm->upgrade_count = 0;
    for (size_t i = 0; i < TIDE_COUNT(lcm->buffers); i++)
        tide_buf_reset(&lcm->buffers[i]);
}

void lcm_evict(struct lcm *lcm, tide_slice ledger_key)
{
    tide_buf_slice(&lcm->evicted, ledger_key);
    lcm->evicted_count++;
}

void lcm_evict_data(struct lcm *lcm, const struct lcm_data *data)
{
    uint8_t hash[TIDE_HASH_BYTES];
    lcm_data_hash(hash, data);
    lcm_put_data_key(&lcm->evicted, data);
    lcm_put_ttl_key(&lcm->evicted, hash);
    lcm->evicted_count += 2;
}

void lcm_upgrade(struct lcm *lcm, const struct lcm_list *changes)
{
    enum { VERSION = 1 };
    lcm_words(&lcm->upgrades, VERSION, lcm_protocol(lcm), changes->count);
    tide_buf_slice(&lcm->upgrades, changes->xdr);
    lcm->upgrade_count++;
}

/* Orders a transaction set: classic before Soroban transactions, each phase by hash. */
static int by_phase_and_hash(const void *a, const void *b)
{
    const struct lcm_envelope *x = a, *y = b;
    if (x->soroban != y->soroban)
        return x->soroban ? 1 : -1;
    return memcmp(x->hash, y->hash, TIDE_HASH_BYTES);
}

/* Appends some of the sorted envelopes, with their number. */
static void put_envelopes(struct lcm *lcm, uint32_t first, uint32_t count)
{
    assert(first + count <= lcm->tx_count);
    tide_buf_be32(&lcm->out, count);
    for (uint32_t i = first; i < first + count; i++)
        tide_buf_put(&lcm->out, lcm->envelopes.ptr + lcm->index[i].at, lcm->index[i].len);
}

/* Appends a phase of fee components: none, or one component with all transactions. */
static void put_component_phase(struct lcm *lcm, uint32_t first, uint32_t count)
{
    lcm_words(&lcm->out, 0, count ? 1 : 0);
    if (!count)
        return;
    lcm_words(&lcm->out, 0, 1); /* component type: maybe discounted fee, a base fee follows */
    tide_buf_be64(&lcm->out, 100);
    put_envelopes(lcm, first, count);
}

static uint32_t min_u32(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Appends a stage: a list of clusters, each of which is a list of envelopes. */
static void put_stage(struct lcm *lcm, uint32_t first, uint32_t count)
{
    assert(count > 0 && count <= CLUSTER_TXS * STAGE_CLUSTERS);
    tide_buf_be32(&lcm->out, (count + CLUSTER_TXS - 1) / CLUSTER_TXS);
    for (uint32_t at = 0; at < count; at += CLUSTER_TXS)
        put_envelopes(lcm, first + at, min_u32(CLUSTER_TXS, count - at));
}

/* Appends a phase of stages that a node may execute in parallel. */
static void put_parallel_phase(struct lcm *lcm, uint32_t first, uint32_t count)
{
    const uint32_t stage = CLUSTER_TXS * STAGE_CLUSTERS;
    lcm_words(&lcm->out, 1, 0,
              (count + stage - 1) / stage); /* phase type: parallel, no base fee of its own */
    for (uint32_t at = 0; at < count; at += stage)
        put_stage(lcm, first + at, min_u32(stage, count - at));
}

static void put_tx_set(struct lcm *lcm)
{
    uint32_t classic = 0;
    if (lcm->tx_count)
        qsort(lcm->index, lcm->tx_count, sizeof *lcm->index, by_phase_and_hash);
    while (classic < lcm->tx_count && !lcm->index[classic].soroban)
        classic++;
    assert(lcm->out.len == 0 && "the set's hash covers the buffer from its front");
    tide_buf_be32(&lcm->out, 1); /* GeneralizedTransactionSet 1 */
    tide_buf_put(&lcm->out, lcm->previous_hash, TIDE_HASH_BYTES);
    tide_buf_be32(&lcm->out, 2); /* phases */
    put_component_phase(lcm, 0, classic);
    if (lcm->version == 2)
        put_parallel_phase(lcm, classic, lcm->tx_count - classic);
    else
        put_component_phase(lcm, classic, lcm->tx_count - classic);
}

/* Hashes the TransactionResultSet: the number of results and the results. */
static void hash_results(const struct lcm *lcm, uint8_t out[TIDE_HASH_BYTES])
{
    uint32_t count = __builtin_bswap32(lcm->tx_count);
    struct tide_sha256 h;
    tide_sha256_init(&h);
    tide_sha256_update(&h, tide_slice_of(&count, sizeof count));
    tide_sha256_update(&h, tide_buf_view(&lcm->results));
    tide_sha256_final(&h, out);
}

/* Makes up the next bucket-list hash for a chain without bucket lists, which cost time. The hash
 * depends on all results. */
static void next_bucket_hash(struct lcm *lcm)
{
    struct tide_sha256 h;
    tide_sha256_init(&h);
    tide_sha256_update(&h, tide_slice_of(lcm->bucket_hash, TIDE_HASH_BYTES));
    tide_sha256_update(&h, tide_buf_view(&lcm->results));
    tide_sha256_final(&h, lcm->bucket_hash);
}

/* Bytes that a value with milliseconds has more: closeTimeMs, the proposer's key, and an empty
 * signature. Validators sign their votes, not this. */
enum { MS_BYTES = 8 + (4 + TIDE_HASH_BYTES) + 4 };

/* Offset of bucketListHash in a header without upgrades and milliseconds: version, previous hash,
 * value, results. */
enum { BUCKET_HASH_AT = 4 + TIDE_HASH_BYTES + (TIDE_HASH_BYTES + 16) + TIDE_HASH_BYTES };
/* Behind it: sequence, coins, fees, inflation, ids, three limits, skip list, extension. */
enum { HEADER_BYTES = BUCKET_HASH_AT + TIDE_HASH_BYTES + 4 + 8 + 8 + 4 + 8 + 12 + 128 + 4 };
static_assert(HEADER_BYTES == 324, "a LedgerHeader without upgrades");

static size_t ms_bytes(const struct lcm *lcm)
{
    return lcm->milliseconds ? (size_t)MS_BYTES : 0;
}

/* Appends the value's extension: basic, or signed with milliseconds. */
static void put_value_ext(struct tide_buf *buf, const struct lcm *lcm)
{
    tide_buf_be32(buf, lcm->milliseconds ? TIDE_VALUE_SIGNED_MS : TIDE_VALUE_BASIC);
    if (!lcm->milliseconds)
        return;
    tide_buf_be64(buf, lcm->close_time * 1000 + lcm->close_ms);
    tide_buf_be32(buf, 0); /* a key of Ed25519 */
    tide_buf_put(buf, lcm->network_id, TIDE_HASH_BYTES);
    tide_buf_be32(buf, 0);
}

static void put_header(struct lcm *lcm, const uint8_t tx_set_hash[TIDE_HASH_BYTES],
                       const uint8_t result_hash[TIDE_HASH_BYTES])
{
    static const uint8_t skip_list[4 * TIDE_HASH_BYTES];
    struct tide_buf *buf = &lcm->out;
    tide_buf_be32(buf, lcm_protocol(lcm));
    tide_buf_put(buf, lcm->previous_hash, TIDE_HASH_BYTES);
    tide_buf_put(buf, tx_set_hash, TIDE_HASH_BYTES);
    tide_buf_be64(buf, lcm->close_time);
    tide_buf_be32(buf, 0); /* no upgrades */
    put_value_ext(buf, lcm);
    tide_buf_put(buf, result_hash, TIDE_HASH_BYTES);
    tide_buf_put(buf, lcm->bucket_hash, TIDE_HASH_BYTES);
    tide_buf_be32(buf, lcm->sequence);
    tide_buf_be64(buf, (uint64_t)total_coins);
    tide_buf_be64(buf, (uint64_t)lcm->fee_pool);
    tide_buf_be32(buf, 0); /* inflation sequence */
    tide_buf_be64(buf, lcm->sequence);
    /* base fee and base reserve, stroops; then the most transactions of a set */
    lcm_words(buf, 100, 5000000, 1000);
    tide_buf_put(buf, skip_list, sizeof skip_list);
    tide_buf_be32(buf, 0);
}

/* Appends results and metas, each with the refund that came behind all transactions. */
static void put_processing(struct lcm *lcm)
{
    if (lcm->version == 1) {
        tide_buf_slice(&lcm->out, tide_buf_view(&lcm->processing));
        return;
    }
    size_t at = 0;
    for (uint32_t i = 0; i < lcm->tx_count; i++) {
        const struct lcm_part *part = &lcm->parts[i];
        assert(part->end > at && part->end <= lcm->processing.len);
        tide_buf_put(&lcm->out, lcm->processing.ptr + at, part->end - at);
        tide_buf_be32(&lcm->out, part->refund_count);
        if (part->refund_count)
            tide_buf_put(&lcm->out, lcm->refunds.ptr + part->refund_at, part->refund_len);
        at = part->end;
    }
    assert(at == lcm->processing.len && "every byte of the transactions is written");
}

/* Returns TIDE_E_LIMIT if a buffer is full. */
static tide_status buffers_status(const struct lcm *lcm)
{
    for (size_t i = 0; i < TIDE_COUNT(lcm->buffers); i++) {
        if (lcm->buffers[i].failed)
            return TIDE_E_LIMIT;
    }
    return TIDE_OK;
}

/* Adds the ledger to the bucket lists, and writes their hash into its header. */
static bool add_to_buckets(struct lcm *lcm, tide_slice ledger, uint8_t *hash)
{
    struct tide_err err;
    if (bucket_list_add(lcm->buckets, lcm->sequence, ledger, &err) != TIDE_OK)
        return false;
    assert(memcmp(hash, lcm->bucket_hash, TIDE_HASH_BYTES) == 0 && "the header has the old hash");
    bucket_list_hash(lcm->buckets, lcm->bucket_hash);
    memcpy(hash, lcm->bucket_hash, TIDE_HASH_BYTES);
    return true;
}

/* The transaction set stands behind the header, which contains the set's hash. The set is therefore
 * written at the front of the buffer and hashed; header and a copy of the set follow. The ledger
 * begins behind the first set. */
tide_status lcm_end(struct lcm *lcm, tide_slice *out)
{
    struct tide_buf *buf = &lcm->out;
    uint8_t tx_set_hash[TIDE_HASH_BYTES], result_hash[TIDE_HASH_BYTES], hash[TIDE_HASH_BYTES];
    put_tx_set(lcm);
    if (buffers_status(lcm) != TIDE_OK)
        return TIDE_E_LIMIT;
    tide_sha256(tx_set_hash, tide_buf_view(buf));
    hash_results(lcm, result_hash);
    if (!lcm->buckets)
        next_bucket_hash(lcm);
    size_t mark = buf->len;
    lcm_words(buf, lcm->version, 0); /* meta extension */
    size_t hash_at = buf->len;
    tide_buf_put(buf, lcm->previous_hash, TIDE_HASH_BYTES);
    size_t header_at = buf->len;
    put_header(lcm, tx_set_hash, result_hash);
    size_t header_end = buf->len;
    tide_buf_be32(buf, 0); /* history entry extension */
    /* The copy below reads from the buffer itself, so the buffer must not move while it grows. */
    if (!tide_buf_room(buf, mark))
        return TIDE_E_LIMIT;
    tide_buf_put(buf, buf->ptr, mark);
    tide_buf_be32(buf, lcm->tx_count);
    put_processing(lcm);
    tide_buf_be32(buf, lcm->upgrade_count);
    tide_buf_slice(buf, tide_buf_view(&lcm->upgrades));
    tide_buf_be32(buf, 0);         /* SCP messages */
    tide_buf_be64(buf, 1u << 20u); /* live Soroban state in bytes */
    tide_buf_be32(buf, lcm->evicted_count);
    tide_buf_slice(buf, tide_buf_view(&lcm->evicted));
    if (lcm->version == 1)
        tide_buf_be32(buf, 0); /* unused */
    if (buf->failed)
        return TIDE_E_LIMIT;
    *out = tide_slice_of(buf->ptr + mark, buf->len - mark);
    assert(header_end - header_at == HEADER_BYTES + ms_bytes(lcm));
    if (lcm->buckets &&
        !add_to_buckets(lcm, *out, buf->ptr + header_at + BUCKET_HASH_AT + ms_bytes(lcm)))
        return TIDE_E_MEMORY;
    tide_sha256(hash, tide_slice_of(buf->ptr + header_at, header_end - header_at));
    memcpy(buf->ptr + hash_at, hash, TIDE_HASH_BYTES);
    memcpy(lcm->previous_hash, hash, TIDE_HASH_BYTES);
    return lcm->shuffle ? lcm_shuffle(buf, mark, lcm->shuffle) : TIDE_OK;
}
