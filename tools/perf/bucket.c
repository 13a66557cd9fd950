/* Makes a large bucket of the live list: entries of strangers, in the shares of a public network.
 * Keys and hashes are random, so the bytes pack as real ones do. */
#include "perf.h"

#include "tidemark/hash.h"
#include "tidemark/scval.h"
#include "tidemark/text.h"
#include "tidemark/xdr.h"
#include "tools/sim/ledger/lcm.h"

#include <stdlib.h>

enum { PIECE = 1 << 20, RECORD_MAX = 1 << 12, MODIFIED = 100 };

struct bucket {
    struct tide_buf piece, record;
    struct tide_sha256 hash;
    uint64_t random;
    uint64_t bytes; /* so far */
};

static uint64_t next_random(struct bucket *b)
{
    uint64_t z = (b->random += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Makes a key that sorts by n. */
static void make_key(struct bucket *b, uint8_t key[TIDE_HASH_BYTES], uint64_t n)
{
    uint64_t words[4] = { __builtin_bswap64(n << 24), next_random(b), next_random(b),
                          next_random(b) };
    memcpy(key, words, TIDE_HASH_BYTES);
}

static void flush_piece(struct bucket *b)
{
    tide_sha256_update(&b->hash, tide_buf_view(&b->piece));
    b->bytes += b->piece.len;
    if (fwrite(b->piece.ptr, 1, b->piece.len, stdout) != b->piece.len)
        exit(74);
    tide_buf_reset(&b->piece);
}

/* Appends the record with its mark. */
static void put_record(struct bucket *b)
{
    assert(b->record.len <= RECORD_MAX && b->record.len % 4 == 0);
    tide_buf_be32(&b->piece, UINT32_C(1) << 31 | (uint32_t)b->record.len);
    tide_buf_slice(&b->piece, tide_buf_view(&b->record));
    if (b->piece.len >= PIECE)
        flush_piece(b);
    tide_buf_reset(&b->record);
}

static void put_account(struct bucket *b, uint64_t n)
{
    struct lcm_account account = { .balance = (int64_t)(next_random(b) >> 20),
                                   .seq = (int64_t)(next_random(b) >> 8),
                                   .subentries = (uint32_t)(n % 9),
                                   .modified = MODIFIED };
    make_key(b, account.key, n);
    lcm_put_account(&b->record, &account);
}

static void put_line(struct bucket *b, uint64_t n)
{
    static const uint8_t issuer[TIDE_HASH_BYTES] = { 7 };
    struct tide_buf asset;
    tide_buf_init(&asset, 64);
    lcm_put_asset4(&asset, "USDC", issuer);
    struct lcm_trustline line = { .asset = tide_buf_view(&asset),
                                  .balance = (int64_t)(next_random(b) >> 24),
                                  .limit = INT64_MAX,
                                  .flags = 1,
                                  .modified = MODIFIED };
    make_key(b, line.key, n);
    lcm_put_trustline(&b->record, &line);
    tide_buf_release(&asset);
}

/* Appends a balance that a Stellar asset keeps for a contract. */
static void put_balance(struct bucket *b, uint64_t n)
{
    struct tide_buf parts;
    uint8_t contract[TIDE_HASH_BYTES], holder[TIDE_HASH_BYTES];
    make_key(b, contract, n / 1000);
    memset(contract + 8, 0, sizeof contract - 8); /* a thousand holders each */
    make_key(b, holder, n);
    tide_buf_init(&parts, RECORD_MAX);
    lcm_put_address_contract(&parts, contract);
    size_t key_at = parts.len;
    tide_buf_be32(&parts, TIDE_SCV_VEC);
    tide_buf_be32(&parts, 1);
    tide_buf_be32(&parts, 2);
    lcm_put_symbol(&parts, "Balance");
    tide_buf_be32(&parts, TIDE_SCV_ADDRESS);
    lcm_put_address_contract(&parts, holder);
    size_t value_at = parts.len;
    tide_buf_be32(&parts, TIDE_SCV_MAP);
    tide_buf_be32(&parts, 1);
    tide_buf_be32(&parts, 1);
    lcm_put_symbol(&parts, "amount");
    lcm_put_i128(&parts, (int64_t)(next_random(b) >> 20));
    struct lcm_data data = { tide_slice_of(parts.ptr, key_at),
                             tide_slice_of(parts.ptr + key_at, value_at - key_at), 1 };
    lcm_put_data(&b->record, MODIFIED, &data,
                 tide_slice_of(parts.ptr + value_at, parts.len - value_at));
    tide_buf_release(&parts);
}

static void put_ttl(struct bucket *b, uint64_t n)
{
    uint8_t hash[TIDE_HASH_BYTES];
    make_key(b, hash, n);
    lcm_put_ttl(&b->record, MODIFIED, hash, MODIFIED + (uint32_t)(next_random(b) >> 40));
}

/* Appends entries of one type until the bucket has `until` bytes. */
static void put_entries(struct bucket *b, uint64_t until, void (*put)(struct bucket *b, uint64_t n))
{
    for (uint64_t n = 1; b->bytes + b->piece.len < until; n++) {
        tide_buf_be32(&b->record, 0); /* LIVEENTRY */
        put(b, n);
        put_record(b);
    }
}

int perf_bucket(int argc, char **argv)
{
    struct bucket b = { .random = 1 };
    uint64_t size;
    uint8_t hash[TIDE_HASH_BYTES];
    char hex[2 * TIDE_HASH_BYTES];
    if (argc != 1 || tide_parse_u64(&size, tide_slice_str(argv[0]), UINT64_MAX / 100) != TIDE_OK)
        return 64;
    tide_buf_init(&b.piece, (size_t)2 * PIECE);
    tide_buf_init(&b.record, RECORD_MAX);
    tide_sha256_init(&b.hash);
    tide_buf_be32(&b.record, UINT32_MAX); /* METAENTRY: protocol 25, no extension */
    tide_buf_be32(&b.record, 25);
    tide_buf_be32(&b.record, 0);
    put_record(&b);
    put_entries(&b, size / 100 * 30, put_account);
    put_entries(&b, size / 100 * 60, put_line);
    put_entries(&b, size / 100 * 85, put_balance);
    put_entries(&b, size, put_ttl);
    flush_piece(&b);
    tide_sha256_final(&b.hash, hash);
    tide_hex(hex, tide_slice_of(hash, sizeof hash));
    fprintf(stderr, "%.*s\n", (int)sizeof hex, hex);
    tide_buf_release(&b.piece);
    tide_buf_release(&b.record);
    return 0;
}
