/* Reads files that a user names; checks a proof that an API gave, and prints what it proves. */
#include "indexer/verify/proof_buckets.h"
#include "indexer/verify/proof_check.h"
#include "indexer/verify/verify.h"
#include "tidemark/deployment.h"
#include "tidemark/hash.h"
#include "tidemark/json_read.h"
#include "tidemark/limits.h"
#include "tidemark/scval.h"
#include "tidemark/stop.h"
#include "tidemark/strkey.h"
#include "tidemark/text.h"

#include <errno.h>
#include <stdio.h>

/* A file has the proof in base64, and little else. */
enum { FILE_BYTES_MAX = 48 << 20 };
static_assert(FILE_BYTES_MAX > PROOF_BYTES_MAX / 3 * 4, "the largest proof as base64");

/* --- files that a user names ----------------------------------------------------------------- */

tide_status verify_read_file(struct tide_buf *out, const char *path, const char *what,
                             struct tide_err *err)
{
    enum { PIECE = 4096 };
    FILE *file = fopen(path, "rbe");
    if (!file)
        return tide_fail(err, TIDE_E_IO, "%s: %s", path, strerror(errno));
    for (;;) {
        uint8_t *to = tide_buf_room(out, PIECE);
        size_t got = to ? fread(to, 1, PIECE, file) : 0;
        out->len += got;
        if (got == 0)
            break;
    }
    bool failed = ferror(file);
    fclose(file);
    if (out->failed)
        return tide_fail(err, TIDE_E_LIMIT, "%s: larger than %s", path, what);
    return failed ? tide_fail(err, TIDE_E_IO, "%s: cannot be read", path) : TIDE_OK;
}

tide_status tide_verify_validators(struct tide_deployment **out, const struct tide_config *config,
                                   const char *what, struct tide_err *err)
{
    *out = NULL;
    if (!*config->deployment)
        return tide_fail(err, TIDE_E_CONFIG, "%s; set deployment", what);
    tide_status status = tide_deployment_read(out, config->deployment, err);
    if (status == TIDE_OK && (*out)->quorum.count == 0)
        status =
            tide_fail(err, TIDE_E_CONFIG, "%s: `validators` is missing, so no signature counts",
                      config->deployment);
    return status;
}

/* Decodes the member proof.data of an API's answer. */
static tide_status decode_answer(struct tide_buf *out, tide_slice text, const char *path,
                                 struct tide_err *err)
{
    json_error_t error;
    json_t *root = tide_json_load(text, JSON_REJECT_DUPLICATES, &error);
    const json_t *data = json_object_get(json_object_get(root, "proof"), "data");
    tide_status status = TIDE_E_DECODE;
    if (json_is_string(data))
        status = tide_buf_base64_decode(
            out, tide_slice_of(json_string_value(data), json_string_length(data)));
    json_decref(root);
    if (status == TIDE_OK && !out->failed)
        return TIDE_OK;
    return tide_fail(err, TIDE_E_DECODE,
                     "%s: not an answer of /api/proof: its proof.data is no base64", path);
}

/* --- output ---------------------------------------------------------------------------------- */

static void print_ledger(const struct proof_claim *c, const struct tide_quorum *quorum)
{
    char hash[2 * TIDE_HASH_BYTES], time[TIDE_RFC3339_BYTES];
    tide_hex(hash, tide_slice_of(c->hash, TIDE_HASH_BYTES));
    tide_time_rfc3339_ms(time, (int64_t)tide_header_closed_ms(&c->header));
    printf("ledger  %u closed at %s, hash %.64s\n", c->header.sequence, time, hash);
    printf("signed  %u of %u named validators signed ledger %u, which follows from it\n",
           tide_signers_count(&c->signers), quorum->count, c->signed_ledger);
}

static void print_result(const struct proof_claim *c)
{
    char tx[2 * TIDE_HASH_BYTES];
    tide_hex(tx, tide_slice_of(c->tx.hash, TIDE_HASH_BYTES));
    printf("proof   transaction %.64s, number %u of %u in ledger %u\n", tx, c->tx.index,
           c->tx.count, c->header.sequence);
    printf("result  %s: code %d, fee %" PRId64 "\n", c->tx.successful ? "succeeded" : "failed",
           c->tx.result_code, c->tx.fee_charged);
}

static void print_event(struct tide_buf *line, const struct tide_event *event)
{
    char contract[TIDE_STRKEY_ADDRESS_MAX] = "-";
    size_t len = 1;
    if (event->contract)
        len = tide_strkey_encode(contract, TIDE_STRKEY_CONTRACT,
                                 tide_slice_of(event->contract, TIDE_HASH_BYTES));
    tide_buf_reset(line);
    struct tide_xdr topics = tide_xdr_of(event->topics);
    for (uint32_t i = 0; i <= event->topic_count; i++) {
        tide_slice value = i < event->topic_count ? tide_scval_span(&topics) : event->data;
        tide_buf_u8(line, ' ');
        if (tide_scval_json(line, value) != TIDE_OK)
            tide_buf_str(line, "?");
    }
    printf("event   %u %.*s type %u:%.*s\n", event->index, (int)len, contract, event->type,
           (int)line->len, line->ptr ? (const char *)line->ptr : "");
}

static tide_status print_events(const struct proof_claim *c, struct tide_err *err)
{
    struct tide_buf line;
    struct tide_event event = { 0 };
    struct tide_xdr x = tide_xdr_of(c->events);
    if (!c->has_events) {
        printf("events  not proven by this file\n");
        return TIDE_OK;
    }
    printf("events  %u, all of the transaction's\n", c->event_count);
    tide_buf_init(&line, TIDE_JSON_BYTES_MAX);
    for (uint32_t i = 0; i < c->event_count && !line.failed; i++) {
        tide_event_read(&x, &event);
        event.index = i;
        print_event(&line, &event);
    }
    bool failed = line.failed;
    tide_buf_release(&line);
    return failed ? tide_fail(err, TIDE_E_MEMORY, "an event") : TIDE_OK;
}

static tide_status print_transaction(const struct proof_claim *c, const struct tide_quorum *quorum,
                                     struct tide_err *err)
{
    print_result(c);
    print_ledger(c, quorum);
    return print_events(c, err);
}

/* --- an entry -------------------------------------------------------------------------------- */

/* Prints a value behind a label; "?" if its text would be too long. */
static void print_value(const char *label, tide_slice value)
{
    struct tide_buf json;
    tide_buf_init(&json, TIDE_JSON_BYTES_MAX);
    bool readable = tide_scval_json(&json, value) == TIDE_OK && !json.failed;
    tide_slice text = readable ? tide_buf_view(&json) : tide_slice_str("?");
    printf("%s%.*s\n", label, (int)text.len, (const char *)text.ptr);
    tide_buf_release(&json);
}

static void print_key(const struct proof_claim *c)
{
    char contract[TIDE_STRKEY_ADDRESS_MAX], hash[2 * TIDE_HASH_BYTES];
    uint8_t of[TIDE_HASH_BYTES];
    tide_sha256(of, c->key);
    tide_hex(hash, tide_slice_of(of, sizeof of));
    int len = (int)tide_strkey_from_address(contract, c->of.contract);
    printf("proof   entry %.64s as of ledger %u\n", hash, c->header.sequence);
    printf("owner   %.*s, %s\n", len, contract, c->of.durability ? "persistent" : "temporary");
    print_value("key     ", c->of.key);
}

static void print_bucket(const struct proof_claim *c, const struct proof_entry *e)
{
    char hash[2 * TIDE_HASH_BYTES];
    if (e->rank == UINT32_MAX) {
        printf("found   in none of %u buckets, %" PRIu64 " bytes\n", e->buckets, e->bytes);
        return;
    }
    const struct history_level *level =
        &(e->list == BUCKET_LIST_LIVE ? c->buckets.live : c->buckets.hot)[e->rank / 2];
    tide_hex(hash, tide_slice_of(e->rank % 2 ? level->snap : level->curr, TIDE_HASH_BYTES));
    printf("found   in level %u %s of the %s, %.64s; %u buckets read, %" PRIu64 " bytes\n",
           e->rank / 2, e->rank % 2 ? "snap" : "curr",
           e->list == BUCKET_LIST_LIVE ? "live list" : "hot archive", hash, e->buckets, e->bytes);
}

/* Compares the bucket's entry with what the server says. */
static tide_status judge_entry(const struct proof_claim *c, const struct proof_entry *e,
                               struct tide_err *err)
{
    bool is_there = e->place != PROOF_PLACE_NONE;
    if (c->said == PROOF_SAID_NOTHING) {
        printf("said    nothing: the proof has no value\n");
        return TIDE_OK;
    }
    if (is_there == (c->said == PROOF_SAID_VALUE) &&
        (!is_there || tide_slice_eq(c->value, tide_buf_view(&e->value)))) {
        printf("said    the same\n");
        return TIDE_OK;
    }
    return tide_fail(err, TIDE_E_CONFLICT, "the buckets have another value than the proof says");
}

static tide_status read_buckets(const struct proof_claim *c, const struct tide_config *config,
                                struct tide_err *err)
{
    static const char *const places[] = { "absent", "live", "archived" };
    struct archive *archive = NULL;
    struct proof_entry e;
    const struct archive_options options = { .places = config->archive,
                                             .config = config,
                                             .stopping = tide_stop_asked };
    tide_status status = archive_open(&archive, &options, err);
    if (status != TIDE_OK)
        return status;
    status = proof_find_entry(&e, c, archive, err);
    archive_close(archive);
    if (status == TIDE_OK) {
        printf("entry   %s", places[e.place]);
        if (e.place == PROOF_PLACE_NONE)
            printf("\n");
        else
            printf(", written in ledger %u\n", e.last_modified);
        if (e.place != PROOF_PLACE_NONE)
            print_value("value   ", tide_buf_view(&e.value));
        print_bucket(c, &e);
        status = judge_entry(c, &e, err);
    }
    tide_buf_release(&e.value);
    return status;
}

/* Prints what is proven. Without buckets that is the list of them alone. */
static tide_status print_entry(const struct proof_claim *c, const struct tide_quorum *quorum,
                               const struct tide_config *config, struct tide_err *err)
{
    print_key(c);
    print_ledger(c, quorum);
    printf("buckets %u hashes are those of the ledger's state\n",
           c->buckets.version * 2 * HISTORY_LEVELS);
    if (*config->archive)
        return read_buckets(c, config, err);
    printf("entry   not proven by this file alone: its buckets are to be read, with --archive\n");
    return TIDE_OK;
}

/* --------------------------------------------------------------------------------------------- */

static tide_status check_file(struct tide_buf *proof, const char *path,
                              const struct tide_deployment *deployment,
                              const struct tide_config *config, struct tide_err *err)
{
    struct proof_claim claim;
    struct tide_buf text;
    tide_buf_init(&text, FILE_BYTES_MAX);
    tide_status status = verify_read_file(&text, path, "a proof", err);
    if (status == TIDE_OK)
        status = decode_answer(proof, tide_buf_view(&text), path, err);
    tide_buf_release(&text);
    if (status == TIDE_OK)
        status = proof_check(tide_buf_view(proof), &deployment->quorum, deployment->network_id,
                             &claim, err);
    if (status != TIDE_OK)
        return status;
    return claim.kind == PROOF_ENTRY ? print_entry(&claim, &deployment->quorum, config, err)
                                     : print_transaction(&claim, &deployment->quorum, err);
}

tide_status tide_verify_proof(const char *path, const struct tide_config *config,
                              struct tide_err *err)
{
    struct tide_deployment *deployment = NULL;
    struct tide_buf proof;
    tide_status status = tide_verify_validators(
        &deployment, config, "proof: the deployment file must name network and validators", err);
    tide_buf_init(&proof, PROOF_BYTES_MAX);
    if (status == TIDE_OK)
        status = check_file(&proof, path, deployment, config, err);
    tide_buf_release(&proof);
    free(deployment);
    return status;
}
