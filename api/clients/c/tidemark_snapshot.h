/* Compliance records of a Tidemark API, inside your own process: "may this address trade now?"
 * in less than a microsecond.
 *
 * A snapshot is a file from GET /api/sdk/snapshot. Changes since then come from
 * GET /api/sdk/snapshot/changes?after=LEDGER, in the same format. Map or read both, open them, ask:
 *
 *     struct tidemark_snapshot base, changes;
 *     if (tidemark_snapshot_open(&base, bytes, size, check, keys) != TIDEMARK_OK) …
 *     struct tidemark_view view = { &base, &changes, .stale_after_ms = 10000, .ledger_age_s = 300 };
 *     if (tidemark_compliant(&view, address, now_ms) == TIDEMARK_YES)
 *         let it pass;                 // no, stale, incomplete …: all but YES refuse
 *
 * One file, C99, no allocation, no global state. Threads may share an open snapshot.
 *
 * Format   little-endian; offset and bytes of each field.
 *    0   8  "TIDESNP1"
 *    8   4  256: bytes of this header
 *   12   4  48: bytes of a record
 *   16   8  number of records
 *   24  32  SHA-256 of the network's passphrase
 *   56  32  identity of the deployment
 *   88  32  the compliance registry
 *  120   4  ledger: what is said is true at its close
 *  124   4  bit 0: the registry is indexed whole
 *  128  32  hash of that ledger
 *  160   8  when it closed, unix seconds
 *  168   8  when the indexer last renewed its lease, unix ms, by the database's clock
 *  176   8  when this was signed, unix ms, by the server's clock
 *  184   8  how old the server's knowledge of the indexer was then, ms
 *  192   4  0: a snapshot, 1: changes
 *  196   4  changes: those after this ledger; else 0
 *  200  32  SHA-256 of all records
 *  232  24  zero
 *  256  32  the key that signed: its thumbprint (RFC 7638), `kid` of /.well-known/jwks.json decoded
 *  288  64  Ed25519 signature over "tidemark-snapshot-v1", a zero byte, and bytes 0 to 287
 *  352      records, by address
 *
 * A record
 *    0   1  kind of address: 48 an account (G), 16 a contract (C)
 *    1  32  the address
 *   33   1  bits: 1 it has a record, 2 frozen, 4 its jurisdiction is blocked, 8 whitelisted,
 *           128 (changes) there is nothing of it any more
 *   34   2  status: 0 unknown, 1 pending, 2 verified, 3 suspended, 4 sanctioned, 5 expired;
 *           65535 another
 *   36   4  ledger of the record's last change
 *   40   8  when it ends, unix seconds; 0: never
 *
 * A reader who compares two snapshots sees which "blocked" bits changed together with the list of
 * blocked jurisdictions. */
#ifndef TIDEMARK_SNAPSHOT_H
#define TIDEMARK_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define TIDEMARK_SNAPSHOT_HEADER  256u
#define TIDEMARK_SNAPSHOT_RECORDS 352u /* where they begin */
#define TIDEMARK_SNAPSHOT_RECORD  48u
#define TIDEMARK_ADDRESS_BYTES    33u
#define TIDEMARK_SNAPSHOT_SIGNED  "tidemark-snapshot-v1"

enum tidemark_opened {
    TIDEMARK_OK,
    TIDEMARK_MALFORMED, /* not such a file, or cut short */
    TIDEMARK_UNSIGNED   /* check refused it */
};

enum tidemark_answer {
    TIDEMARK_NO,         /* not compliant */
    TIDEMARK_YES,        /* compliant now */
    TIDEMARK_STALE,      /* too old to tell */
    TIDEMARK_INCOMPLETE, /* the registry is not indexed whole */
    TIDEMARK_MISMATCHED, /* the changes are not those of the snapshot */
    TIDEMARK_BAD_ADDRESS
};

struct tidemark_snapshot {
    const unsigned char *bytes; /* the caller's, as long as this is used */
    uint64_t count;
    uint32_t ledger, after;
    bool complete, is_changes;
    uint64_t closed_at_s, signed_at_ms, age_ms;
};

/* Says whether the file is signed: head is bytes 0 to 351, records the rest. It compares the
 * SHA-256 of the records with bytes 200 to 231 and verifies the signature with a key that it knows
 * by bytes 256 to 287. ../README.md has one for OpenSSL. */
typedef bool tidemark_check_fn(void *self, const unsigned char *head, const unsigned char *records,
                               size_t len);

struct tidemark_view {
    const struct tidemark_snapshot *base;
    const struct tidemark_snapshot *changes; /* NULL: none yet */
    uint64_t stale_after_ms;                 /* the oldest knowledge of the indexer that you take */
    uint64_t ledger_age_s;                   /* the oldest ledger that you take; 0: any */
};

static inline uint32_t tidemark_u32(const unsigned char *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static inline uint64_t tidemark_u64(const unsigned char *at)
{
    return (uint64_t)tidemark_u32(at) | (uint64_t)tidemark_u32(at + 4) << 32;
}

/* Reads the header. check NULL: the caller verified the file before. Whatever the records hold, a
 * question reads inside the file and ends. */
static inline enum tidemark_opened tidemark_snapshot_open(struct tidemark_snapshot *out,
                                                          const unsigned char *bytes, size_t size,
                                                          tidemark_check_fn *check, void *self)
{
    memset(out, 0, sizeof *out);
    if (size < TIDEMARK_SNAPSHOT_RECORDS || memcmp(bytes, "TIDESNP1", 8) != 0 ||
        tidemark_u32(bytes + 8) != TIDEMARK_SNAPSHOT_HEADER ||
        tidemark_u32(bytes + 12) != TIDEMARK_SNAPSHOT_RECORD)
        return TIDEMARK_MALFORMED;
    uint64_t count = tidemark_u64(bytes + 16);
    size_t room = size - TIDEMARK_SNAPSHOT_RECORDS;
    if (count != room / TIDEMARK_SNAPSHOT_RECORD || room % TIDEMARK_SNAPSHOT_RECORD != 0 ||
        tidemark_u32(bytes + 192) > 1)
        return TIDEMARK_MALFORMED;
    if (check && !check(self, bytes, bytes + TIDEMARK_SNAPSHOT_RECORDS, room))
        return TIDEMARK_UNSIGNED;
    out->bytes = bytes;
    out->count = count;
    out->ledger = tidemark_u32(bytes + 120);
    out->complete = tidemark_u32(bytes + 124) & 1;
    out->closed_at_s = tidemark_u64(bytes + 160);
    out->signed_at_ms = tidemark_u64(bytes + 176);
    out->age_ms = tidemark_u64(bytes + 184);
    out->is_changes = tidemark_u32(bytes + 192) == 1;
    out->after = tidemark_u32(bytes + 196);
    return TIDEMARK_OK;
}

/* The record of an address (kind and 32 bytes); NULL: none. */
static inline const unsigned char *
tidemark_record(const struct tidemark_snapshot *in,
                const unsigned char address[TIDEMARK_ADDRESS_BYTES])
{
    uint64_t low = 0, high = in->count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        const unsigned char *record =
            in->bytes + TIDEMARK_SNAPSHOT_RECORDS + middle * TIDEMARK_SNAPSHOT_RECORD;
        int order = memcmp(address, record, TIDEMARK_ADDRESS_BYTES);
        if (order == 0)
            return record;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

/* An address as text (strkey, NUL-terminated) as kind and 32 bytes. False for any other text, a
 * wrong checksum included. */
static inline bool tidemark_address(unsigned char out[TIDEMARK_ADDRESS_BYTES], const char *text)
{
    unsigned char raw[35];
    uint32_t bits = 0, have = 0, n = 0;
    for (uint32_t i = 0; i < 56; i++) {
        char c = text[i];
        uint32_t value;
        if (c >= 'A' && c <= 'Z')
            value = (uint32_t)(c - 'A');
        else if (c >= '2' && c <= '7')
            value = (uint32_t)(c - '2') + 26;
        else
            return false; /* NUL too */
        bits = bits << 5 | value;
        for (have += 5; have >= 8; n++) {
            have -= 8;
            raw[n] = (unsigned char)(bits >> have);
        }
    }
    uint32_t crc = 0; /* CRC-16/XMODEM */
    for (uint32_t i = 0; i < 33; i++) {
        crc ^= (uint32_t)raw[i] << 8;
        for (int bit = 0; bit < 8; bit++)
            crc = (crc & 0x8000 ? crc << 1 ^ 0x1021 : crc << 1) & 0xffff;
    }
    if (text[56] != '\0' || n != 35 || raw[33] != (crc & 0xff) || raw[34] != crc >> 8 ||
        (raw[0] != 6 << 3 && raw[0] != 2 << 3))
        return false;
    memcpy(out, raw, TIDEMARK_ADDRESS_BYTES);
    return true;
}

/* What the newest of the two says of the whole. A clock of this host that runs more than a minute
 * behind the server's makes all stale. */
static inline enum tidemark_answer tidemark_usable(const struct tidemark_view *view,
                                                   uint64_t now_ms)
{
    const struct tidemark_snapshot *base = view->base,
                                   *newest = view->changes ? view->changes : base;
    if (!base || !base->bytes || base->is_changes || !newest->bytes)
        return TIDEMARK_MISMATCHED;
    if (view->changes &&
        (!newest->is_changes || newest->after != base->ledger || newest->ledger < base->ledger ||
         memcmp(newest->bytes + 24, base->bytes + 24, 96) != 0))
        return TIDEMARK_MISMATCHED;
    if (!newest->complete)
        return TIDEMARK_INCOMPLETE;
    uint64_t since = now_ms > newest->signed_at_ms ? now_ms - newest->signed_at_ms : 0;
    uint64_t ahead = newest->signed_at_ms > now_ms ? newest->signed_at_ms - now_ms : 0;
    if (ahead > 60000 || newest->age_ms > view->stale_after_ms ||
        since > view->stale_after_ms - newest->age_ms)
        return TIDEMARK_STALE;
    uint64_t now_s = now_ms / 1000;
    if (view->ledger_age_s && now_s > newest->closed_at_s &&
        now_s - newest->closed_at_s > view->ledger_age_s)
        return TIDEMARK_STALE;
    return TIDEMARK_YES;
}

/* Whether the registry lets the address trade now: the contract's rule, as
 * GET /api/sdk/kyc/status/{address} has it. now_ms is this host's clock, unix milliseconds. */
static inline enum tidemark_answer
tidemark_compliant_raw(const struct tidemark_view *view,
                       const unsigned char address[TIDEMARK_ADDRESS_BYTES], uint64_t now_ms)
{
    enum tidemark_answer usable = tidemark_usable(view, now_ms);
    if (usable != TIDEMARK_YES)
        return usable;
    const struct tidemark_snapshot *newest = view->changes ? view->changes : view->base;
    const unsigned char *record = view->changes ? tidemark_record(view->changes, address) : NULL;
    if (!record)
        record = tidemark_record(view->base, address);
    if (!record || (record[33] & (1 | 2 | 4 | 128)) != 1)
        return TIDEMARK_NO;
    uint32_t status = (uint32_t)record[34] | (uint32_t)record[35] << 8;
    uint64_t ends = tidemark_u64(record + 40), now_s = now_ms / 1000;
    if (now_s < newest->closed_at_s)
        now_s = newest->closed_at_s;
    return status == 2 && (ends == 0 || ends >= now_s) ? TIDEMARK_YES : TIDEMARK_NO;
}

static inline enum tidemark_answer tidemark_compliant(const struct tidemark_view *view,
                                                      const char *address, uint64_t now_ms)
{
    unsigned char raw[TIDEMARK_ADDRESS_BYTES];
    return tidemark_address(raw, address) ? tidemark_compliant_raw(view, raw, now_ms)
                                          : TIDEMARK_BAD_ADDRESS;
}

#endif
