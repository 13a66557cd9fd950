/* The files of a history archive. This file alone of the simulator includes zlib. */
#include "tools/sim/ledger/archive_write.h"
#include "tidemark/hash.h"
#include "tidemark/limits.h"
#include "tidemark/meta.h"
#include "tidemark/strkey.h"
#include "tidemark/text.h"
#include "tidemark/xdr.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <zlib.h>

#define RECORDS_BYTES (UINT32_C(1) << 30)

enum { CHECKPOINT = 64, PATH_BYTES = 4096, STATE_BYTES = 64 << 10, HEX_BYTES = 64 };
static_assert(HEX_BYTES == 2 * TIDE_HASH_BYTES, "the text of a hash");
static_assert((CHECKPOINT & (CHECKPOINT - 1)) == 0, "the network's interval is a power of two");

void archive_write_open(struct archive_write *archive, const struct archive_write *options)
{
    *archive = *options;
    tide_buf_init(&archive->headers, TIDE_LEDGER_BYTES_MAX);
    tide_buf_init(&archive->transactions, RECORDS_BYTES);
    tide_buf_init(&archive->results, RECORDS_BYTES);
    tide_buf_init(&archive->votes, TIDE_LEDGER_BYTES_MAX);
    tide_buf_init(&archive->text, STATE_BYTES);
}

void archive_write_close(struct archive_write *archive)
{
    tide_buf_release(&archive->headers);
    tide_buf_release(&archive->transactions);
    tide_buf_release(&archive->results);
    tide_buf_release(&archive->votes);
    tide_buf_release(&archive->text);
}

/* ---- validators ---- */

/* ENVELOPE_TYPE_SCP, SCP_ST_EXTERNALIZE: stellar-core's numbers. */
enum { SEED_TEXT = 512, ENVELOPE_SCP = 1, EXTERNALIZE = 2, STATEMENT_MAX = 1 << 20 };

static tide_status open_key(struct tide_sign **key, const char *passphrase, uint32_t number)
{
    char text[SEED_TEXT];
    uint8_t seed[TIDE_SEED_BYTES];
    snprintf(text, sizeof text, "%s validator %u", passphrase, number);
    tide_sha256(seed, tide_slice_str(text));
    return tide_sign_open(key, seed);
}

tide_status validators_open(struct validators *v, const char *passphrase, uint32_t count,
                            uint32_t signers)
{
    assert(count <= VALIDATORS_MAX);
    *v = (struct validators){ .count = count, .signers = signers < count ? signers : count };
    tide_sha256(v->network_id, tide_slice_str(passphrase));
    tide_status status = TIDE_OK;
    for (uint32_t i = 0; i < count && status == TIDE_OK; i++)
        status = open_key(&v->keys[i], passphrase, i);
    return status;
}

void validators_close(struct validators *v)
{
    for (uint32_t i = 0; i < v->count; i++)
        tide_sign_close(v->keys[i]);
    v->count = 0;
}

void validators_put_quorum(struct tide_buf *json, const struct validators *v)
{
    char address[TIDE_STRKEY_ADDRESS_MAX];
    tide_buf_putf(json, "{ \"threshold\": %u, \"validators\": [", v->count - (v->count - 1) / 3);
    for (uint32_t i = 0; i < v->count; i++) {
        size_t len =
            tide_strkey_encode(address, TIDE_STRKEY_ACCOUNT,
                               tide_slice_of(tide_sign_public(v->keys[i]), TIDE_HASH_BYTES));
        tide_buf_putf(json, "%s\"%.*s\"", i ? ", " : "", (int)len, address);
    }
    tide_buf_str(json, "] }");
}

/* Appends the SCPStatement of a validator: its commit has counter 1, and names no quorum set. */
static void put_statement(struct tide_buf *out, const uint8_t *public, uint32_t ledger,
                          tide_slice value)
{
    static const uint8_t no_hash[TIDE_HASH_BYTES];
    tide_buf_be32(out, 0); /* a key of Ed25519 */
    tide_buf_put(out, public, TIDE_HASH_BYTES);
    tide_buf_be32(out, 0); /* slot index of 64 bits */
    tide_buf_be32(out, ledger);
    tide_buf_be32(out, EXTERNALIZE);
    tide_buf_be32(out, 1);
    tide_xdr_put_var(out, value);
    tide_buf_be32(out, 1);
    tide_buf_put(out, no_hash, sizeof no_hash);
}

/* Appends the SCPEnvelope: the statement and its signature over network, type and statement. */
static void put_envelope(struct tide_buf *out, const struct validators *v, uint32_t number,
                         uint32_t ledger, tide_slice value)
{
    const struct tide_sign *key = v->keys[number];
    uint8_t signature[TIDE_SIGNATURE_BYTES];
    struct tide_buf message;
    tide_buf_init(&message, STATEMENT_MAX);
    tide_buf_put(&message, v->network_id, TIDE_HASH_BYTES);
    tide_buf_be32(&message, ENVELOPE_SCP);
    size_t head = message.len;
    put_statement(&message, tide_sign_public(key), ledger, value);
    if (message.failed) {
        out->failed = true;
    } else {
        tide_sign(key, signature, tide_buf_view(&message));
        tide_buf_put(out, message.ptr + head, message.len - head);
        tide_xdr_put_var(out, tide_slice_of(signature, sizeof signature));
    }
    tide_buf_release(&message);
}

/* Appends an SCPHistoryEntry with the signers' EXTERNALIZE votes for the ledger's value. */
static void put_scp(struct tide_buf *out, const struct validators *v, uint32_t ledger,
                    tide_slice value)
{
    tide_buf_be32(out, 0); /* version */
    tide_buf_be32(out, 0); /* no quorum sets */
    tide_buf_be32(out, ledger);
    tide_buf_be32(out, v->signers);
    for (uint32_t i = 0; i < v->signers; i++)
        put_envelope(out, v, i, ledger, value);
}

/* ---- files ---- */

static tide_status fail_path(const char *path, struct tide_err *err)
{
    return tide_fail(err, TIDE_E_IO, "%s: %s", path, strerror(errno));
}

/* Makes the folders that the path names. */
static tide_status make_folders(char *path, struct tide_err *err)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        bool failed = mkdir(path, 0777) != 0 && errno != EEXIST;
        if (failed)
            return fail_path(path, err);
        *slash = '/';
    }
    return TIDE_OK;
}

static tide_status write_plain(const char *path, tide_slice bytes, struct tide_err *err)
{
    FILE *file = fopen(path, "wb");
    if (!file)
        return fail_path(path, err);
    bool good = fwrite(bytes.ptr, 1, bytes.len, file) == bytes.len;
    good = fclose(file) == 0 && good;
    return good ? TIDE_OK : fail_path(path, err);
}

static tide_status write_packed(const char *path, tide_slice bytes, struct tide_err *err)
{
    enum { PIECE = 1 << 20 };
    gzFile file = gzopen(path, "wb1");
    bool good = file != NULL;
    for (size_t at = 0; at < bytes.len && good; at += PIECE) {
        size_t len = bytes.len - at < PIECE ? bytes.len - at : PIECE;
        good = gzwrite(file, bytes.ptr + at, (unsigned)len) == (int)len;
    }
    if (file)
        good = gzclose(file) == Z_OK && good;
    return good ? TIDE_OK : fail_path(path, err);
}

/* Writes the bytes to a file below the archive's folder; packed if its name ends in .gz. */
static tide_status write_file(const struct archive_write *archive, const char *name,
                              tide_slice bytes, struct tide_err *err)
{
    char path[PATH_BYTES];
    size_t len = strlen(name);
    if (snprintf(path, sizeof path, "%s/%s", archive->dir, name) >= (int)sizeof path)
        return tide_fail(err, TIDE_E_IO, "%s: the path is too long", archive->dir);
    tide_status status = make_folders(path, err);
    if (status != TIDE_OK)
        return status;
    bool packed = len > 3 && strcmp(name + len - 3, ".gz") == 0;
    return packed ? write_packed(path, bytes, err) : write_plain(path, bytes, err);
}

/* ---- a checkpoint ---- */

static tide_status write_bucket(const struct archive_write *archive, tide_slice bytes,
                                const char hex[HEX_BYTES + 1], struct tide_err *err)
{
    char name[160];
    if (bytes.len == 0)
        return TIDE_OK;
    int len = snprintf(name, sizeof name, "bucket/%.2s/%.2s/%.2s/bucket-%s.xdr.gz", hex, hex + 2,
                       hex + 4, hex);
    assert(len > 0 && (size_t)len < sizeof name);
    (void)len;
    return write_file(archive, name, bytes, err);
}

/* Writes a bucket, and its hash as a member of the state file. */
static tide_status put_bucket(struct archive_write *archive, const char *member,
                              struct bucket_place place, struct tide_err *err)
{
    uint8_t hash[TIDE_HASH_BYTES];
    char hex[HEX_BYTES + 1] = { 0 };
    tide_slice bytes = bucket_list_at(archive->buckets, place, hash);
    tide_hex(hex, tide_slice_of(hash, sizeof hash));
    tide_buf_putf(&archive->text, "\"%s\": \"%s\"", member, hex);
    return write_bucket(archive, bytes, hex, err);
}

static tide_status put_list(struct archive_write *archive, const char *member, bool hot,
                            struct tide_err *err)
{
    tide_status status = TIDE_OK;
    tide_buf_putf(&archive->text, ",\n    \"%s\": [", member);
    for (uint32_t i = 0; i < BUCKET_LEVELS && status == TIDE_OK; i++) {
        tide_buf_str(&archive->text, i ? ",\n        { " : "\n        { ");
        status = put_bucket(archive, "curr", (struct bucket_place){ hot, i, false }, err);
        tide_buf_str(&archive->text, ", \"next\": { \"state\": 0 }, ");
        if (status == TIDE_OK)
            status = put_bucket(archive, "snap", (struct bucket_place){ hot, i, true }, err);
        tide_buf_str(&archive->text, " }");
    }
    tide_buf_str(&archive->text, "\n    ]");
    return status;
}

/* Writes the buckets, and the state file's text. */
static tide_status put_state(struct archive_write *archive, uint32_t ledger, struct tide_err *err)
{
    struct tide_buf *text = &archive->text;
    tide_buf_reset(text);
    tide_buf_putf(text,
                  "{\n    \"version\": 2,\n    \"server\": \"tidemark-sim\",\n"
                  "    \"currentLedger\": %u,\n    \"networkPassphrase\": \"%s\"",
                  ledger, archive->passphrase);
    tide_status status = put_list(archive, "currentBuckets", false, err);
    if (status == TIDE_OK)
        status = put_list(archive, "hotArchiveBuckets", true, err);
    tide_buf_str(text, "\n}\n");
    if (status == TIDE_OK && text->failed)
        status = tide_fail(err, TIDE_E_MEMORY, "the archive's state");
    return status;
}

static void file_name(char out[96], const char *kind, uint32_t ledger, const char *end)
{
    int len = snprintf(out, 96, "%s/%02x/%02x/%02x/%s-%08x.%s", kind, ledger >> 24,
                       ledger >> 16 & 0xff, ledger >> 8 & 0xff, kind, ledger, end);
    assert(len > 0 && len < 96);
    (void)len;
}

/* Writes a file of records and begins the next one. */
static tide_status write_records(struct archive_write *archive, const char *kind,
                                 struct tide_buf *records, uint32_t ledger, struct tide_err *err)
{
    char name[96];
    file_name(name, kind, ledger, "xdr.gz");
    tide_status status = records->failed ? tide_fail(err, TIDE_E_MEMORY, "the archive's %s", kind)
                                         : write_file(archive, name, tide_buf_view(records), err);
    tide_buf_reset(records);
    return status;
}

/* Writes the files of the checkpoint. The state file comes last: others find the rest by it. */
static tide_status write_checkpoint(struct archive_write *archive, uint32_t ledger,
                                    struct tide_err *err)
{
    char name[96];
    tide_status status = write_records(archive, "ledger", &archive->headers, ledger, err);
    if (status == TIDE_OK)
        status = write_records(archive, "transactions", &archive->transactions, ledger, err);
    if (status == TIDE_OK)
        status = write_records(archive, "results", &archive->results, ledger, err);
    if (status == TIDE_OK && archive->validators->count)
        status = write_records(archive, "scp", &archive->votes, ledger, err);
    if (status == TIDE_OK)
        status = put_state(archive, ledger, err);
    file_name(name, "history", ledger, "json");
    if (status == TIDE_OK)
        status = write_file(archive, name, tide_buf_view(&archive->text), err);
    if (status == TIDE_OK)
        status = write_file(archive, ".well-known/stellar-history.json",
                            tide_buf_view(&archive->text), err);
    return status;
}

/* ---- a ledger ---- */

/* The parts of a ledger, from the walk. They borrow from it. */
struct parts {
    struct tide_ledger_header header;
    tide_slice tx_set;
    struct tide_buf pairs; /* results of the transactions */
    uint32_t count;
};

static tide_status take_header(void *self, const struct tide_ledger_header *header)
{
    struct parts *parts = self;
    parts->header = *header;
    return TIDE_OK;
}

static tide_status take_tx_set(void *self, tide_slice tx_set)
{
    struct parts *parts = self;
    parts->tx_set = tx_set;
    return TIDE_OK;
}

static tide_status take_tx(void *self, const struct tide_tx *tx, bool *inside)
{
    struct parts *parts = self;
    *inside = false;
    parts->count++;
    tide_buf_slice(&parts->pairs, tx->result_pair);
    return TIDE_OK;
}

/* Begins a record whose length is not known, and sets it at its end. */
static size_t begin_record(struct tide_buf *out)
{
    size_t at = out->len;
    tide_buf_be32(out, 0);
    return at;
}

static void end_record(struct tide_buf *out, size_t at)
{
    const uint32_t last_fragment = UINT32_C(1) << 31;
    uint32_t mark = last_fragment | (uint32_t)(out->len - at - 4);
    for (uint32_t i = 0; i < 4 && !out->failed; i++)
        out->ptr[at + i] = (uint8_t)(mark >> (24 - 8 * i));
}

/* Appends a TransactionHistoryEntry. */
static void put_tx_set(struct archive_write *archive, uint32_t ledger, tide_slice tx_set)
{
    static const uint8_t no_hash[TIDE_HASH_BYTES];
    struct tide_buf *out = &archive->transactions;
    size_t at = begin_record(out);
    tide_buf_be32(out, ledger);
    tide_buf_put(out, no_hash, sizeof no_hash); /* a set from before protocol 20, empty */
    tide_buf_be32(out, 0);
    tide_buf_be32(out, 1); /* a generalized set follows */
    tide_buf_slice(out, tx_set);
    end_record(out, at);
}

/* Appends a TransactionHistoryResultEntry. */
static void put_results(struct archive_write *archive, const struct parts *parts)
{
    struct tide_buf *out = &archive->results;
    size_t at = begin_record(out);
    tide_buf_be32(out, parts->header.sequence);
    tide_buf_be32(out, parts->count);
    tide_buf_slice(out, tide_buf_view(&parts->pairs));
    tide_buf_be32(out, 0);
    out->failed = out->failed || parts->pairs.failed;
    end_record(out, at);
}

static void put_votes(struct archive_write *archive, uint32_t ledger, tide_slice value)
{
    size_t at = begin_record(&archive->votes);
    put_scp(&archive->votes, archive->validators, ledger, value);
    end_record(&archive->votes, at);
}

/* Returns the StellarValue in the header. */
static tide_slice value_of(const struct tide_ledger_header *header)
{
    enum { VALUE_AT = 4 + TIDE_HASH_BYTES };
    const uint8_t *value = header->header_xdr.ptr + VALUE_AT;
    return tide_slice_of(value, (size_t)(header->result_hash - value));
}

/* Appends votes and set of a ledger that follows another one than the chain's. */
static void put_fork(struct archive_write *archive, const struct parts *parts)
{
    enum { PREVIOUS_AT = 4 };
    struct tide_buf set, value;
    tide_buf_init(&set, TIDE_LEDGER_BYTES_MAX);
    tide_buf_init(&value, TIDE_LEDGER_BYTES_MAX);
    tide_buf_slice(&set, parts->tx_set);
    tide_buf_slice(&value, value_of(&parts->header));
    if (set.failed || value.failed) {
        archive->votes.failed = true;
    } else {
        tide_sha256(set.ptr + PREVIOUS_AT, tide_slice_of(parts->header.hash, TIDE_HASH_BYTES));
        tide_sha256(value.ptr, tide_buf_view(&set));
        put_tx_set(archive, parts->header.sequence, tide_buf_view(&set));
        put_votes(archive, parts->header.sequence, tide_buf_view(&value));
    }
    tide_buf_release(&set);
    tide_buf_release(&value);
}

/* Appends the ledger's records. As at stellar-core, a ledger without transactions has neither set
 * nor results. */
static void put_ledger(struct archive_write *archive, const struct parts *parts)
{
    const struct tide_ledger_header *header = &parts->header;
    size_t at = begin_record(&archive->headers);
    tide_buf_slice(&archive->headers, header->history_entry);
    end_record(&archive->headers, at);
    if (parts->count)
        put_results(archive, parts);
    if (header->sequence == archive->fork) {
        put_fork(archive, parts);
        return;
    }
    if (parts->count)
        put_tx_set(archive, header->sequence, parts->tx_set);
    if (archive->validators->count)
        put_votes(archive, header->sequence, value_of(header));
}

tide_status archive_write_put(struct archive_write *archive, tide_slice lcm, struct tide_err *err)
{
    struct parts parts = { .count = 0 };
    const struct tide_walk walk = {
        .self = &parts, .header = take_header, .tx_set = take_tx_set, .tx = take_tx
    };
    tide_buf_init(&parts.pairs, TIDE_LEDGER_BYTES_MAX);
    tide_status status = tide_ledger_walk(&walk, lcm, err);
    if (status == TIDE_OK)
        put_ledger(archive, &parts);
    tide_buf_release(&parts.pairs);
    if (status != TIDE_OK)
        return status;
    return parts.header.sequence % CHECKPOINT == CHECKPOINT - 1
               ? write_checkpoint(archive, parts.header.sequence, err)
               : TIDE_OK;
}
