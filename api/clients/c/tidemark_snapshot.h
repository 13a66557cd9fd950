/* Compliance records of a Tidemark API, inside your own process: "may this address trade now?"
 * in about a microsecond (tools/bench snapshot).
 *
 * A snapshot is a file from GET /api/sdk/snapshot. Later changes come from
 * GET /api/sdk/snapshot/changes?after=LEDGER, in the same format. Map or read both into memory,
 * open them, and look addresses up:
 *
 *     struct tidemark_mirror mirror = { .view = { .stale_after_ms = 10000, .ledger_age_s = 300 } };
 *     struct tidemark_snapshot base, changes;
 *     tidemark_mirror_keys(&mirror, kids, count, now_ms);      // at least every five minutes
 *     if (tidemark_snapshot_open(&base, bytes, size, check, keys) != TIDEMARK_OK) …
 *     tidemark_mirror_take(&mirror, &base, &changes, now_ms);  // with each answer of the server
 *     if (tidemark_mirror_compliant(&mirror, address, now_ms) == TIDEMARK_YES)
 *         let it pass;                 // no, stale, incomplete …: all but YES refuse
 *
 * A mirror remembers the newest files of several nodes and never goes back: it refuses files of a
 * node that is behind, files that arrive late, and files of another chain. tidemark_compliant uses
 * two files without that memory.
 *
 * One file, C99, no allocation, no global state. Threads may share an open snapshot. An open
 * snapshot takes 16 KiB for an index, so that a look-up reads few records of the file.
 *
 * Format   little-endian; offset and bytes of each field.
 *    0   8  "TIDESNP1"
 *    8   4  256: bytes of this header
 *   12   4  48: bytes of a record
 *   16   8  number of records
 *   24  32  SHA-256 of the network's passphrase
 *   56  32  identity of the deployment
 *   88  32  the compliance registry
 *  120   4  ledger: the records are as of its close
 *  124   4  bit 0: the whole registry is indexed
 *  128  32  hash of that ledger
 *  160   8  close time of that ledger, unix seconds
 *  168   8  when the indexer last renewed its lease, unix ms, by the database's clock
 *  176   8  when the server signed the file, unix ms, by its clock
 *  184   8  age of the server's knowledge of the indexer at that time, ms
 *  192   4  0: a snapshot, 1: changes
 *  196   4  of changes: the ledger after which they begin; else 0
 *  200  32  SHA-256 of all records
 *  232   4  number of the deployment in the server's database: a reset of the network changes it
 *  236  20  zero
 *  256  32  thumbprint (RFC 7638) of the signing key: the decoded `kid` of /.well-known/jwks.json
 *  288  64  Ed25519 signature over "tidemark-snapshot-v1", a zero byte, and bytes 0 to 287
 *  352      records, sorted by address
 *
 * A record
 *    0   1  kind of address: 48 an account (G), 16 a contract (C)
 *    1  32  the address
 *   33   1  bits: 1 there is a compliance record, 2 frozen, 4 jurisdiction blocked, 8 whitelisted,
 *           128 (in changes) nothing is stored for the address any more
 *   34   2  status: 0 unknown, 1 pending, 2 verified, 3 suspended, 4 sanctioned, 5 expired;
 *           65535 any other
 *   36   4  ledger of the record's last change
 *   40   8  end of the record, unix seconds; 0: never
 *
 * Privacy: "blocked" bits that change together when the list of blocked jurisdictions changes show
 * which addresses share a jurisdiction. */
#ifndef TIDEMARK_SNAPSHOT_H
#define TIDEMARK_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define TIDEMARK_SNAPSHOT_HEADER  256u
#define TIDEMARK_SNAPSHOT_RECORDS 352u /* offset of the first record */
#define TIDEMARK_SNAPSHOT_RECORD  48u
#define TIDEMARK_ADDRESS_BYTES    33u
#define TIDEMARK_SNAPSHOT_SPANS   4096u /* number of equal parts of the accounts' address range */
#define TIDEMARK_SNAPSHOT_SIGNED  "tidemark-snapshot-v1"

enum tidemark_opened {
    TIDEMARK_OK,
    TIDEMARK_MALFORMED, /* no snapshot, cut short, or more than 2^32 - 1 records */
    TIDEMARK_UNSIGNED   /* the check function refused it */
};

enum tidemark_answer {
    TIDEMARK_NO,         /* the address is not compliant */
    TIDEMARK_YES,        /* the address is compliant now */
    TIDEMARK_STALE,      /* the data are too old for an answer */
    TIDEMARK_INCOMPLETE, /* the server has not indexed the whole registry */
    TIDEMARK_MISMATCHED, /* the changes do not belong to the snapshot */
    TIDEMARK_BAD_ADDRESS
};

struct tidemark_snapshot {
    const unsigned char *bytes; /* the file; the caller keeps it as long as this struct is used */
    uint32_t span[TIDEMARK_SNAPSHOT_SPANS + 1]; /* index of the first account of each span */
    uint32_t count;                             /* number of records; contracts come first */
    uint32_t ledger, after;
    bool complete, is_changes;
    uint64_t closed_at_s, signed_at_ms, age_ms;
};

/* Returns whether the file's signature is valid. head is bytes 0 to 351, records the rest. The
 * function compares the SHA-256 of the records with bytes 200 to 231, and verifies the signature
 * with the key that bytes 256 to 287 name. ../README.md has one for OpenSSL. */
typedef bool tidemark_check_fn(void *self, const unsigned char *head, const unsigned char *records,
                               size_t len);

/* Two open files and the limits of their age. */
struct tidemark_view {
    const struct tidemark_snapshot *base;
    const struct tidemark_snapshot *changes; /* NULL: no changes yet */
    /* greatest age of the server's knowledge of the indexer that you accept */
    uint64_t stale_after_ms;
    uint64_t ledger_age_s; /* greatest age of the newest ledger that you accept; 0: any */
};

static inline uint32_t tidemark_u32(const unsigned char *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static inline uint64_t tidemark_u64(const unsigned char *at)
{
    return (uint64_t)tidemark_u32(at) | (uint64_t)tidemark_u32(at + 4) << 32;
}

static inline const unsigned char *tidemark_at(const struct tidemark_snapshot *in, uint64_t i)
{
    return in->bytes + TIDEMARK_SNAPSHOT_RECORDS + i * TIDEMARK_SNAPSHOT_RECORD;
}

/* Returns the first bytes of an address after its kind, as a number with the same order. */
static inline uint64_t tidemark_prefix(const unsigned char *address)
{
    const unsigned char *at = address + 1;
    return (uint64_t)at[0] << 56 | (uint64_t)at[1] << 48 | (uint64_t)at[2] << 40 |
           (uint64_t)at[3] << 32 | (uint64_t)at[4] << 24 | (uint64_t)at[5] << 16 |
           (uint64_t)at[6] << 8 | (uint64_t)at[7];
}

/* Returns the span of an account's address. Contracts come before all spans. */
static inline uint32_t tidemark_span(const unsigned char *address)
{
    return (uint32_t)(tidemark_prefix(address) / (UINT64_MAX / TIDEMARK_SNAPSHOT_SPANS + 1));
}

/* Finds the first record of each span by halving, from the first record of the previous span on.
 * Even if the records are not sorted, the spans ascend and stay inside the file. */
static inline void tidemark_index(struct tidemark_snapshot *in)
{
    uint32_t begin = 0;
    for (uint32_t span = 0; span < TIDEMARK_SNAPSHOT_SPANS; span++) {
        uint32_t high = in->count;
        while (begin < high) {
            uint32_t middle = begin + (high - begin) / 2;
            const unsigned char *record = tidemark_at(in, middle);
            if (record[0] > 16 && tidemark_span(record) >= span)
                high = middle;
            else
                begin = middle + 1;
        }
        in->span[span] = begin;
    }
    in->span[TIDEMARK_SNAPSHOT_SPANS] = in->count;
}

/* Reads the header. check NULL: the caller has verified the file. Whatever the records contain,
 * every look-up stays inside the file and ends. */
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
        count > UINT32_MAX || tidemark_u32(bytes + 192) > 1)
        return TIDEMARK_MALFORMED;
    if (check && !check(self, bytes, bytes + TIDEMARK_SNAPSHOT_RECORDS, room))
        return TIDEMARK_UNSIGNED;
    out->bytes = bytes;
    out->count = (uint32_t)count;
    out->ledger = tidemark_u32(bytes + 120);
    out->complete = tidemark_u32(bytes + 124) & 1;
    out->closed_at_s = tidemark_u64(bytes + 160);
    out->signed_at_ms = tidemark_u64(bytes + 176);
    out->age_ms = tidemark_u64(bytes + 184);
    out->is_changes = tidemark_u32(bytes + 192) == 1;
    out->after = tidemark_u32(bytes + 196);
    tidemark_index(out);
    return TIDEMARK_OK;
}

/* Estimates the index of a prefix between first and last among `count` records. Addresses are keys
 * and hashes, so they are spread evenly. */
static inline uint64_t tidemark_guess(uint64_t count, uint64_t first, uint64_t last,
                                      uint64_t prefix)
{
    if (prefix <= first || last <= first)
        return 0;
    double share = (double)(prefix - first) / ((double)(last - first) + 1.0);
    uint64_t step = (uint64_t)(share * (double)count);
    return step < count ? step : count - 1;
}

/* Returns the record of an address (kind and 32 bytes), or NULL. A few estimates usually suffice.
 * After eight it halves the range, so that chosen addresses cannot make it slow. */
static inline const unsigned char *
tidemark_record(const struct tidemark_snapshot *in,
                const unsigned char address[TIDEMARK_ADDRESS_BYTES])
{
    uint64_t prefix = tidemark_prefix(address), first = 0, last = UINT64_MAX;
    uint64_t low = 0, high = in->span[0];
    if (address[0] > 16) {
        uint32_t span = tidemark_span(address);
        first = span * (UINT64_MAX / TIDEMARK_SNAPSHOT_SPANS + 1);
        last = first + UINT64_MAX / TIDEMARK_SNAPSHOT_SPANS;
        low = in->span[span];
        high = in->span[span + 1];
    }
    for (int guesses = 0; low < high; guesses++) {
        uint64_t at = low + (guesses < 8 ? tidemark_guess(high - low, first, last, prefix)
                                         : (high - low) / 2);
        const unsigned char *record = tidemark_at(in, at);
        uint64_t there = tidemark_prefix(record); /* usually one cache line */
        int order = prefix < there   ? -1
                    : prefix > there ? 1
                                     : memcmp(address, record, TIDEMARK_ADDRESS_BYTES);
        if (order == 0)
            return record;
        if (order < 0) {
            high = at;
            last = there;
        } else {
            low = at + 1;
            first = there;
        }
    }
    return NULL;
}

/* Computes the CRC-16/XMODEM. */
static inline uint32_t tidemark_crc16(const unsigned char *bytes, size_t len)
{
    static const uint16_t of[256] = {
        0x0000, 0x1021, 0x2042, 0x3063, 0x4084, 0x50a5, 0x60c6, 0x70e7, 0x8108, 0x9129, 0xa14a,
        0xb16b, 0xc18c, 0xd1ad, 0xe1ce, 0xf1ef, 0x1231, 0x0210, 0x3273, 0x2252, 0x52b5, 0x4294,
        0x72f7, 0x62d6, 0x9339, 0x8318, 0xb37b, 0xa35a, 0xd3bd, 0xc39c, 0xf3ff, 0xe3de, 0x2462,
        0x3443, 0x0420, 0x1401, 0x64e6, 0x74c7, 0x44a4, 0x5485, 0xa56a, 0xb54b, 0x8528, 0x9509,
        0xe5ee, 0xf5cf, 0xc5ac, 0xd58d, 0x3653, 0x2672, 0x1611, 0x0630, 0x76d7, 0x66f6, 0x5695,
        0x46b4, 0xb75b, 0xa77a, 0x9719, 0x8738, 0xf7df, 0xe7fe, 0xd79d, 0xc7bc, 0x48c4, 0x58e5,
        0x6886, 0x78a7, 0x0840, 0x1861, 0x2802, 0x3823, 0xc9cc, 0xd9ed, 0xe98e, 0xf9af, 0x8948,
        0x9969, 0xa90a, 0xb92b, 0x5af5, 0x4ad4, 0x7ab7, 0x6a96, 0x1a71, 0x0a50, 0x3a33, 0x2a12,
        0xdbfd, 0xcbdc, 0xfbbf, 0xeb9e, 0x9b79, 0x8b58, 0xbb3b, 0xab1a, 0x6ca6, 0x7c87, 0x4ce4,
        0x5cc5, 0x2c22, 0x3c03, 0x0c60, 0x1c41, 0xedae, 0xfd8f, 0xcdec, 0xddcd, 0xad2a, 0xbd0b,
        0x8d68, 0x9d49, 0x7e97, 0x6eb6, 0x5ed5, 0x4ef4, 0x3e13, 0x2e32, 0x1e51, 0x0e70, 0xff9f,
        0xefbe, 0xdfdd, 0xcffc, 0xbf1b, 0xaf3a, 0x9f59, 0x8f78, 0x9188, 0x81a9, 0xb1ca, 0xa1eb,
        0xd10c, 0xc12d, 0xf14e, 0xe16f, 0x1080, 0x00a1, 0x30c2, 0x20e3, 0x5004, 0x4025, 0x7046,
        0x6067, 0x83b9, 0x9398, 0xa3fb, 0xb3da, 0xc33d, 0xd31c, 0xe37f, 0xf35e, 0x02b1, 0x1290,
        0x22f3, 0x32d2, 0x4235, 0x5214, 0x6277, 0x7256, 0xb5ea, 0xa5cb, 0x95a8, 0x8589, 0xf56e,
        0xe54f, 0xd52c, 0xc50d, 0x34e2, 0x24c3, 0x14a0, 0x0481, 0x7466, 0x6447, 0x5424, 0x4405,
        0xa7db, 0xb7fa, 0x8799, 0x97b8, 0xe75f, 0xf77e, 0xc71d, 0xd73c, 0x26d3, 0x36f2, 0x0691,
        0x16b0, 0x6657, 0x7676, 0x4615, 0x5634, 0xd94c, 0xc96d, 0xf90e, 0xe92f, 0x99c8, 0x89e9,
        0xb98a, 0xa9ab, 0x5844, 0x4865, 0x7806, 0x6827, 0x18c0, 0x08e1, 0x3882, 0x28a3, 0xcb7d,
        0xdb5c, 0xeb3f, 0xfb1e, 0x8bf9, 0x9bd8, 0xabbb, 0xbb9a, 0x4a75, 0x5a54, 0x6a37, 0x7a16,
        0x0af1, 0x1ad0, 0x2ab3, 0x3a92, 0xfd2e, 0xed0f, 0xdd6c, 0xcd4d, 0xbdaa, 0xad8b, 0x9de8,
        0x8dc9, 0x7c26, 0x6c07, 0x5c64, 0x4c45, 0x3ca2, 0x2c83, 0x1ce0, 0x0cc1, 0xef1f, 0xff3e,
        0xcf5d, 0xdf7c, 0xaf9b, 0xbfba, 0x8fd9, 0x9ff8, 0x6e17, 0x7e36, 0x4e55, 0x5e74, 0x2e93,
        0x3eb2, 0x0ed1, 0x1ef0,
    };
    uint32_t crc = 0;
    for (size_t i = 0; i < len; i++)
        crc = (crc << 8 & 0xffff) ^ of[(crc >> 8) ^ bytes[i]];
    return crc;
}

/* Decodes an address (strkey, NUL-terminated) to kind and 32 bytes. Returns false for any other
 * text, also for a wrong checksum. */
static inline bool tidemark_address(unsigned char out[TIDEMARK_ADDRESS_BYTES], const char *text)
{
    unsigned char raw[35];
    uint32_t wrong = 0;
    for (uint32_t group = 0; group < 7; group++) { /* each group has 8 characters for 5 bytes */
        uint64_t bits = 0;
        for (uint32_t i = 0; i < 8; i++) {
            unsigned char c = (unsigned char)text[8 * group + i];
            if (c == 0)
                return false;
            /* computed without branches, which would be mispredicted */
            uint32_t letter = c - 65u, digit = c - 50u;
            uint32_t is_letter = letter < 26, is_digit = digit < 6;
            wrong |= !(is_letter | is_digit);
            bits =
                bits << 5 | (((letter & (0u - is_letter)) | ((digit + 26) & (0u - is_digit))) & 31);
        }
        for (uint32_t i = 0; i < 5; i++)
            raw[5 * group + i] = (unsigned char)(bits >> (32 - 8 * i));
    }
    uint32_t crc = tidemark_crc16(raw, 33);
    if (wrong || text[56] != '\0' || raw[33] != (crc & 0xff) || raw[34] != crc >> 8 ||
        (raw[0] != 6 << 3 && raw[0] != 2 << 3))
        return false;
    memcpy(out, raw, TIDEMARK_ADDRESS_BYTES);
    return true;
}

/* Returns whether two files have the same network, deployment, registry and epoch. */
static inline bool tidemark_is_of(const struct tidemark_snapshot *file,
                                  const struct tidemark_snapshot *other)
{
    return memcmp(file->bytes + 24, other->bytes + 24, 96) == 0 &&
           memcmp(file->bytes + 232, other->bytes + 232, 4) == 0;
}

/* Returns whether the changes continue base: same chain, after its ledger, and not closed before
 * it. */
static inline bool tidemark_continues(const struct tidemark_snapshot *changes,
                                      const struct tidemark_snapshot *base)
{
    if (base->is_changes || !changes->is_changes || changes->after != base->ledger ||
        !tidemark_is_of(changes, base))
        return false;
    if (changes->ledger == base->ledger)
        return memcmp(changes->bytes + 128, base->bytes + 128, 32) == 0;
    return changes->ledger > base->ledger && changes->closed_at_s >= base->closed_at_s;
}

/* Returns TIDEMARK_YES if base and changes may be used, otherwise the reason against it. Records
 * that did not change are only in base. If this host's clock is more than a minute behind the
 * server's, the files count as stale. */
static inline enum tidemark_answer tidemark_usable(const struct tidemark_view *view,
                                                   uint64_t now_ms)
{
    const struct tidemark_snapshot *base = view->base,
                                   *newest = view->changes ? view->changes : base;
    if (!base || !base->bytes || base->is_changes || !newest->bytes)
        return TIDEMARK_MISMATCHED;
    if (view->changes && !tidemark_continues(newest, base))
        return TIDEMARK_MISMATCHED;
    if (!base->complete || !newest->complete)
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

/* Returns whether the registry lets the address trade now, by the contract's rule, like GET
 * /api/sdk/kyc/status/{address}. now_ms is this host's clock in unix milliseconds. */
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

/* --- a mirror ----------------------------------------------------------------------------- */

/* greatest age of the server's keys: with older ones every answer is TIDEMARK_STALE */
#define TIDEMARK_KEYS_OLDEST_MS 300000u
#define TIDEMARK_AHEAD_MS       60000u /* allowed difference of the clocks */

/* Initialise it with the limits in view and zero elsewhere. Threads must not share it: lock it, or
 * replace a whole copy. */
struct tidemark_mirror {
    struct tidemark_view view; /* base NULL: no files yet */
    const unsigned char
        *deployment; /* `deployment` of receipts, 32 bytes; NULL: that of the first file */
    /* Private from here on: only the functions below read or write these members. */
    uint32_t ledger; /* the newest ledger that any file named */
    uint64_t closed_at_s;
    unsigned char ledger_signer[32]; /* the key that signed that file */
    unsigned char identity[100];     /* bytes 24 to 119 and 232 to 235 of a file */
    bool identified;
    uint64_t keys_at_ms;
};

enum tidemark_taken {
    TIDEMARK_TAKEN, /* the view uses these files now: both must stay open */
    /* refused: of an earlier ledger than previous files, or less fresh at the same ledger */
    TIDEMARK_BEHIND,
    TIDEMARK_OTHER /* refused: of another deployment or chain, or the two do not belong together */
};

static inline const struct tidemark_snapshot *tidemark_newest(const struct tidemark_view *view)
{
    return view->changes ? view->changes : view->base;
}

static inline bool tidemark_is_whole(const struct tidemark_view *view)
{
    return view->base->complete && tidemark_newest(view)->complete;
}

static inline bool tidemark_is_behind(const struct tidemark_mirror *mirror,
                                      const struct tidemark_snapshot *file)
{
    return file->ledger < mirror->ledger || file->closed_at_s < mirror->closed_at_s;
}

/* Stores the ledger and identity of a verified file. Returns false if the file is of another
 * chain. */
static inline bool tidemark_note(struct tidemark_mirror *mirror,
                                 const struct tidemark_snapshot *file, uint64_t now_ms)
{
    const unsigned char *signer = file->bytes + 256;
    uint64_t most = (now_ms + TIDEMARK_AHEAD_MS) / 1000;
    uint64_t closed = file->closed_at_s < most ? file->closed_at_s : most;
    if (mirror->deployment && memcmp(mirror->deployment, file->bytes + 56, 32) != 0)
        return false;
    if (mirror->identified && (memcmp(mirror->identity, file->bytes + 24, 96) != 0 ||
                               memcmp(mirror->identity + 96, file->bytes + 232, 4) != 0))
        return false;
    memcpy(mirror->identity, file->bytes + 24, 96);
    memcpy(mirror->identity + 96, file->bytes + 232, 4);
    mirror->identified = true;
    if (file->ledger >= mirror->ledger) {
        mirror->ledger = file->ledger;
        memcpy(mirror->ledger_signer, signer, 32);
    }
    if (closed > mirror->closed_at_s)
        mirror->closed_at_s = closed;
    return true;
}

/* Compares offered files that are not behind with the present ones. At the same ledger, complete
 * files win over incomplete ones; if both are equally complete, the fresher knowledge wins. */
static inline enum tidemark_taken tidemark_compare(const struct tidemark_view *known,
                                                   const struct tidemark_view *offered,
                                                   uint64_t now_ms)
{
    const struct tidemark_snapshot *old = known->base ? tidemark_newest(known) : NULL;
    const struct tidemark_snapshot *file = tidemark_newest(offered);
    if (!old || old->ledger != file->ledger || old->signed_at_ms > now_ms + TIDEMARK_AHEAD_MS)
        return TIDEMARK_TAKEN;
    if (memcmp(old->bytes + 128, file->bytes + 128, 32) != 0)
        return TIDEMARK_OTHER;
    if (tidemark_is_whole(known) != tidemark_is_whole(offered))
        return tidemark_is_whole(known) ? TIDEMARK_BEHIND : TIDEMARK_TAKEN;
    bool older = file->signed_at_ms + old->age_ms < old->signed_at_ms + file->age_ms;
    return older ? TIDEMARK_BEHIND : TIDEMARK_TAKEN;
}

/* Uses these files from now on: a snapshot and its changes (NULL: none yet), both opened and
 * verified. Newer changes must come with the snapshot that they belong to. If the files are
 * refused, the view does not change. */
static inline enum tidemark_taken tidemark_mirror_take(struct tidemark_mirror *mirror,
                                                       const struct tidemark_snapshot *base,
                                                       const struct tidemark_snapshot *changes,
                                                       uint64_t now_ms)
{
    struct tidemark_view offered = mirror->view;
    offered.base = base;
    offered.changes = changes;
    bool known = tidemark_note(mirror, tidemark_newest(&offered), now_ms);
    if (!known || base->is_changes || (changes && !tidemark_continues(changes, base)))
        return TIDEMARK_OTHER;
    if (tidemark_is_behind(mirror, tidemark_newest(&offered)))
        return TIDEMARK_BEHIND;
    enum tidemark_taken taken = tidemark_compare(&mirror->view, &offered, now_ms);
    if (taken == TIDEMARK_TAKEN)
        mirror->view = offered;
    return taken;
}

/* Drops the files that none of these keys signed (kids: the decoded `kid` of each key of the
 * server). at_ms is the time of the request minus the answer's Age. The newest ledger is forgotten
 * if no key signed its file; its close time stays, so that a node that is behind is not newest. */
static inline void tidemark_mirror_keys(struct tidemark_mirror *mirror,
                                        const unsigned char (*kids)[32], size_t count,
                                        uint64_t at_ms)
{
    struct tidemark_view *view = &mirror->view;
    bool base = false, changes = false, ledger = false;
    for (size_t i = 0; i < count; i++) {
        base = base || (view->base && memcmp(view->base->bytes + 256, kids[i], 32) == 0);
        changes =
            changes || (view->changes && memcmp(view->changes->bytes + 256, kids[i], 32) == 0);
        ledger = ledger || memcmp(mirror->ledger_signer, kids[i], 32) == 0;
    }
    if (!base || !changes)
        view->changes = NULL;
    if (!base)
        view->base = NULL;
    if (!ledger)
        mirror->ledger = 0;
    mirror->keys_at_ms = at_ms;
}

/* Returns whether the address may trade now. Also returns TIDEMARK_STALE if a file named a newer
 * ledger than the view has, or if tidemark_mirror_keys was called too long ago. */
static inline enum tidemark_answer tidemark_mirror_compliant(const struct tidemark_mirror *mirror,
                                                             const char *address, uint64_t now_ms)
{
    uint64_t at = mirror->keys_at_ms;
    if (!mirror->view.base || at > now_ms + TIDEMARK_AHEAD_MS ||
        (now_ms > at && now_ms - at >= TIDEMARK_KEYS_OLDEST_MS) ||
        tidemark_is_behind(mirror, tidemark_newest(&mirror->view)))
        return TIDEMARK_STALE;
    return tidemark_compliant(&mirror->view, address, now_ms);
}

#endif
