/* verify --receipt: computes the receipt's answer again from the index, at the receipt's ledger and
 * time, by the code that makes answers (include/tidemark/answer.h). */
#include "tidemark/receipt.h"
#include "indexer/database/query.h"
#include "indexer/verify/verify.h"
#include "tidemark/answer.h"
#include "tidemark/json_read.h"
#include "tidemark/jws.h"
#include "tidemark/text.h"

#include <stdlib.h>

enum { FILE_BYTES_MAX = 256 << 10, ANSWER_MAX = 64 << 10, SHOWN_MAX = 20 };

/* The receipt's claims. Texts belong to the payload. */
struct claims {
    const struct tide_receipt_route *route;
    enum tide_receipt_kind kind;
    const char *network, *deployment, *hash;
    tide_slice subject;
    const json_t *query, *answer, *contracts;
    uint64_t ledger, issued_at, expires_at;
    const char *closed_at; /* text, borrowed from the payload */
    int64_t evaluated_at;
};

struct check {
    struct tide_buf file, bytes, again; /* again: the answer as the index gives it */
    struct tide_jws jws;
    json_t *payload;
    struct claims claims;
    uint32_t wrong;       /* number of differences */
    bool unknown;         /* a difference may come from a token that the server did not know then */
    uint64_t holds_until; /* end of the answer's validity in unix seconds; 0: none */
};

/* --- files ------------------------------------------------------------------------------- */

static json_t *load_object(tide_slice text, const char *what, struct tide_err *err)
{
    json_error_t error;
    json_t *root = tide_json_load(text, JSON_REJECT_DUPLICATES, &error);
    if (root && json_is_object(root))
        return root;
    json_decref(root);
    (void)!tide_fail(err, TIDE_E_DECODE, "%s: not a JSON object", what);
    return NULL;
}

/* --- the signature ----------------------------------------------------------------------- */

static const char *text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "";
}

static bool read_public_key(uint8_t public[TIDE_HASH_BYTES], const json_t *jwk)
{
    struct tide_buf bytes;
    tide_buf_init(&bytes, 256);
    bool fits = strcmp(text_of(jwk, "kty"), "OKP") == 0 &&
                strcmp(text_of(jwk, "crv"), "Ed25519") == 0 &&
                tide_buf_base64url_decode(&bytes, tide_slice_str(text_of(jwk, "x"))) == TIDE_OK &&
                bytes.len == TIDE_HASH_BYTES;
    if (fits)
        memcpy(public, bytes.ptr, TIDE_HASH_BYTES);
    tide_buf_release(&bytes);
    return fits;
}

/* Finds the key by its thumbprint: the kid in the file may be any text. */
static bool find_key(uint8_t public[TIDE_HASH_BYTES], const json_t *set, const char *kid)
{
    char name[TIDE_JWS_KID + 1];
    const json_t *jwk;
    size_t i;
    json_array_foreach(json_object_get(set, "keys"), i, jwk)
    {
        if (!read_public_key(public, jwk))
            continue;
        tide_jws_kid(name, public);
        if (strcmp(name, kid) == 0)
            return true;
    }
    return false;
}

/* Rejects every header with crit. A signer may list extensions in crit that a reader must
 * understand (RFC 7515, 4.1.11), and this build has none. */
static tide_status check_header(const json_t *header, struct tide_err *err)
{
    if (json_object_get(header, "crit"))
        return tide_fail(err, TIDE_E_CONFLICT,
                         "not a receipt: its header has crit, and this build supports no extension "
                         "that crit may name");
    if (strcmp(text_of(header, "alg"), "EdDSA") == 0 &&
        strcmp(text_of(header, "typ"), TIDE_RECEIPT_TYPE) == 0)
        return TIDE_OK;
    return tide_fail(err, TIDE_E_CONFLICT, "not a receipt: alg must be EdDSA, typ %s",
                     TIDE_RECEIPT_TYPE);
}

static tide_status check_signature(const struct check *check, const char *kid, const char *jwks,
                                   struct tide_err *err)
{
    uint8_t public[TIDE_HASH_BYTES];
    struct tide_buf text;
    if (!jwks) {
        printf("signature  not checked: no --jwks FILE\n");
        return TIDE_OK;
    }
    tide_buf_init(&text, FILE_BYTES_MAX);
    tide_status status = verify_read_file(&text, jwks, "a receipt", err);
    json_t *set = status == TIDE_OK ? load_object(tide_buf_view(&text), jwks, err) : NULL;
    if (!set) {
        status = err->code;
    } else if (!json_is_array(json_object_get(set, "keys"))) {
        status = tide_fail(err, TIDE_E_DECODE, "%s: its member keys is no list", jwks);
    } else if (!find_key(public, set, kid)) {
        status = tide_fail(err, TIDE_E_CONFLICT, "wrong: %s has no key %.60s", jwks, kid);
    } else if (!tide_jws_holds(&check->jws, public)) {
        status = tide_fail(err, TIDE_E_CONFLICT, "wrong: the signature does not hold");
    } else {
        printf("signature  holds: key %s\n", kid);
    }
    json_decref(set);
    tide_buf_release(&text);
    return status;
}

/* Fails if the key was withdrawn: a thief may have signed with it. */
static tide_status check_withdrawn(struct tide_pg *pg, const char *kid, struct tide_err *err)
{
    struct tide_pg_rows rows;
    tide_status status = tide_pg_query(pg, &rows,
                                       "SELECT chain.rfc3339(withdrawn_at) FROM"
                                       " chain.withdrawn_key WHERE kid = $1",
                                       (const char *[]){ kid }, 1, err);
    if (status != TIDE_OK)
        return status;
    if (rows.count)
        status = tide_fail(err, TIDE_E_CONFLICT, "wrong: key %.60s was withdrawn at %s", kid,
                           tide_pg_text(&rows, 0, 0));
    tide_pg_rows_release(&rows);
    return status;
}

/* --- claims ------------------------------------------------------------------------------ */

/* Finds the route by its id and reads the variable part of the path. */
static bool read_path(struct claims *claims, const char *route, const char *path)
{
    for (int kind = 0; kind < (int)TIDE_RECEIPT_KIND_COUNT; kind++) {
        const struct tide_receipt_route *r = &tide_receipt_routes[kind];
        size_t before = strlen(r->before), after = strlen(r->after), len = strlen(path);
        if (strcmp(route, r->id) != 0 || len <= before + after ||
            memcmp(path, r->before, before) != 0 || strcmp(path + len - after, r->after) != 0)
            continue;
        claims->kind = (enum tide_receipt_kind)kind;
        claims->route = r;
        claims->subject = tide_slice_of(path + before, len - before - after);
        assert(claims->subject.len > 0);
        return true;
    }
    return false;
}

/* Reads a positive number of seconds. */
static bool read_seconds(uint64_t *out, const json_t *value)
{
    json_int_t seconds = json_integer_value(value);
    *out = (uint64_t)seconds;
    return json_is_integer(value) && seconds > 0;
}

static tide_status read_claims(struct claims *claims, const json_t *payload, struct tide_err *err)
{
    const json_t *ledger = json_object_get(payload, "ledger");
    const json_t *question = json_object_get(payload, "question");
    *claims = (struct claims){ .network = text_of(payload, "network"),
                               .deployment = text_of(payload, "deployment"),
                               .hash = text_of(ledger, "hash"),
                               .query = json_object_get(question, "query"),
                               .closed_at = text_of(ledger, "closedAt"),
                               .answer = json_object_get(payload, "answer"),
                               .contracts = json_object_get(payload, "contracts") };
    if (json_is_object(claims->query) && json_is_object(claims->answer) &&
        json_is_object(claims->contracts) &&
        read_path(claims, text_of(question, "route"), text_of(question, "path")) &&
        tide_parse_u64(&claims->ledger, tide_slice_str(text_of(ledger, "sequence")), INT32_MAX) ==
            TIDE_OK &&
        read_seconds(&claims->issued_at, json_object_get(payload, "iat")) &&
        read_seconds(&claims->expires_at, json_object_get(payload, "exp")) &&
        tide_time_parse(&(int64_t){ 0 }, tide_slice_str(text_of(ledger, "closedAt"))) == TIDE_OK &&
        tide_time_parse(&claims->evaluated_at, tide_slice_str(text_of(payload, "evaluatedAt"))) ==
            TIDE_OK)
        return TIDE_OK;
    return tide_fail(err, TIDE_E_DECODE, "not a receipt: a claim is missing or malformed");
}

/* --- the answer computed again --------------------------------------------------------- */

static enum tide_refusal write_price(struct check *check, struct tide_reader *reader)
{
    struct tide_hot_symbol asset;
    const struct tide_hot_feed *feed = NULL;
    if (tide_hot_symbol_of(&asset, check->claims.subject)) {
        struct tide_hot_key key = tide_hot_key_symbol(TIDE_HOT_FEED, &asset);
        feed = tide_reader_get(reader, &key);
    }
    if (!feed)
        return TIDE_REFUSED_NO_FEED;
    struct tide_json j = tide_answer_begin(&check->again, reader);
    check->holds_until = tide_answer_price(&j, reader, &asset, feed);
    tide_json_close(&j, '}');
    return TIDE_REFUSED_NOTHING;
}

static enum tide_refusal write_quote(struct check *check, struct tide_reader *reader)
{
    struct tide_hot_symbol pool;
    struct tide_quote quote;
    tide_i128 amount;
    bool a_to_b = strcmp(text_of(check->claims.query, "direction"), "b_to_a") != 0;
    if (!tide_hot_symbol_of(&pool, check->claims.subject) ||
        tide_i128_parse(&amount, tide_slice_str(text_of(check->claims.query, "amountIn"))) !=
            TIDE_OK)
        return TIDE_REFUSED_NO_POOL;
    enum tide_refusal why = tide_answer_find_quote(&quote, reader, &pool, amount.raw, a_to_b);
    if (why != TIDE_REFUSED_NOTHING)
        return why;
    struct tide_json j = tide_answer_begin(&check->again, reader);
    tide_answer_quote(&j, reader, &quote);
    tide_json_close(&j, '}');
    return TIDE_REFUSED_NOTHING;
}

static enum tide_refusal write_status(struct check *check, struct tide_reader *reader)
{
    struct tide_hot_address who;
    /* A text that is no address leaves an address without an entry. */
    (void)tide_hot_address_parse(&who, check->claims.subject);
    struct tide_json j = tide_answer_begin(&check->again, reader);
    check->holds_until = tide_answer_status(&j, reader, &who, check->claims.subject);
    tide_json_close(&j, '}');
    return TIDE_REFUSED_NOTHING;
}

/* --- differences ------------------------------------------------------------------------- */

/* Counts a difference and prints the first SHOWN_MAX. */
static void report_difference(struct check *check, const char *where, const char *receipt,
                              const char *index)
{
    if (check->wrong++ < SHOWN_MAX)
        printf("wrong      %s: the receipt says %s, the index %s\n", where, receipt, index);
}

static void report_values(struct check *check, const char *where, const json_t *receipt,
                          const json_t *index)
{
    char *a = receipt ? json_dumps(receipt, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
    char *b = index ? json_dumps(index, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
    report_difference(check, where, a ? a : "nothing", b ? b : "nothing");
    free(a);
    free(b);
}

/* Returns whether the server may not have known the value: the symbol or the decimals of a token
 * whose past was read later. */
static bool may_be_learnt(const char *name, const json_t *receipt)
{
    size_t len = strlen(name);
    return (!receipt || json_is_null(receipt)) &&
           ((len > 6 && strcmp(name + len - 6, "Scaled") == 0) ||
            (len > 6 && strcmp(name + len - 6, "Symbol") == 0));
}

static void compare_objects(struct check *check, const char *where, const json_t *receipt,
                            const json_t *index)
{
    const char *name;
    json_t *value;
    char path[256];
    json_object_foreach((json_t *)(uintptr_t)index, name, value)
    {
        const json_t *said = json_object_get(receipt, name);
        snprintf(path, sizeof path, "%s/%s", where, name);
        if (json_is_object(value) && json_is_object(said))
            compare_objects(check, path, said, value);
        else if (!said || !json_equal((json_t *)(uintptr_t)said, value)) {
            check->unknown |= may_be_learnt(name, said);
            report_values(check, path, said, value);
        }
    }
    json_object_foreach((json_t *)(uintptr_t)receipt, name, value)
    {
        snprintf(path, sizeof path, "%s/%s", where, name);
        if (!json_object_get(index, name))
            report_values(check, path, value, NULL);
    }
}

/* Compares the receipt's claims beside the answer. */
static void compare_claims(struct check *check, const struct tide_hot_meta *meta)
{
    const struct claims *claims = &check->claims;
    assert(claims->route);
    const char *named = text_of(claims->query, "ledger");
    uint64_t at = (uint64_t)claims->evaluated_at;
    uint64_t live = claims->issued_at > meta->close_time ? claims->issued_at : meta->close_time;
    char closed[TIDE_RFC3339_BYTES];
    tide_time_rfc3339_ms(closed, (int64_t)tide_cache_closed_ms(meta));
    if (strcmp(claims->closed_at, closed) != 0)
        report_difference(check, "/ledger/closedAt", "another time",
                          "that of the answer's closedAt");
    if (*named ? at != meta->close_time : at != live)
        report_difference(check, "/evaluatedAt", "another time",
                          *named ? "the ledger's close"
                                 : "the later of iat and the ledger's close");
    if (check->holds_until && claims->expires_at > check->holds_until)
        report_difference(check, "/exp", "a later time", "that the answer ends earlier");
    for (uint32_t i = 0; i < claims->route->role_count; i++) {
        char address[TIDE_HOT_ADDRESS_TEXT];
        enum tide_role role = claims->route->roles[i];
        tide_hot_address_text(address, &meta->contracts[role]);
        const char *said = text_of(claims->contracts, tide_role_name(role));
        if (strcmp(said, address) != 0)
            report_difference(check, "/contracts", *said ? said : "nothing",
                              *address ? address : "nothing");
    }
}

static tide_status compare_answer(struct check *check, enum tide_refusal why, struct tide_err *err)
{
    if (why != TIDE_REFUSED_NOTHING) {
        report_difference(check, "/answer", "an answer", tide_refusal_text(why));
        return TIDE_OK;
    }
    if (check->again.failed)
        return tide_fail(err, TIDE_E_MEMORY, "answer");
    json_t *again = load_object(tide_buf_view(&check->again), "answer", err);
    if (!again)
        return err->code;
    compare_objects(check, "/answer", check->claims.answer, again);
    json_decref(again);
    return TIDE_OK;
}

/* --- whether the index can decide ------------------------------------------------------ */

static bool is_hash(const char *text, const uint8_t hash[TIDE_HASH_BYTES])
{
    uint8_t said[TIDE_HASH_BYTES];
    return tide_hex_decode(said, sizeof said, tide_slice_str(text)) == TIDE_OK &&
           memcmp(said, hash, sizeof said) == 0;
}

/* Fails if the index has no answer to compare with: another network or deployment, or an
 * unknown ledger. */
static tide_status can_decide(const struct check *check, const struct tide_reader *reader,
                              struct tide_err *err)
{
    const struct tide_hot_meta *meta = reader->meta;
    const struct claims *claims = &check->claims;
    const char *named = text_of(claims->query, "ledger");
    uint64_t asked = claims->ledger;
    if (strcmp(claims->network, meta->passphrase) != 0)
        return tide_fail(err, TIDE_E_MISSING, "cannot be told: the receipt is of network %.80s",
                         claims->network);
    if (!is_hash(claims->deployment, meta->protocol))
        return tide_fail(err, TIDE_E_MISSING,
                         "cannot be told: the receipt is of another deployment (--deployment)");
    if (meta->close_time == 0)
        return tide_fail(err, TIDE_E_MISSING, "cannot be told: ledger %u is not indexed",
                         meta->ledger);
    if (!is_hash(claims->hash, meta->hash))
        return tide_fail(err, TIDE_E_MISSING,
                         "cannot be told: ledger %u of the index has another hash", meta->ledger);
    if (claims->kind == TIDE_RECEIPT_STATUS && !meta->compliance_complete)
        return tide_fail(
            err, TIDE_E_MISSING,
            "cannot be told: at ledger %u the compliance registry is not indexed completely",
            meta->ledger);
    if (*named && (tide_parse_u64(&asked, tide_slice_str(named), INT32_MAX) != TIDE_OK ||
                   asked != claims->ledger))
        return tide_fail(err, TIDE_E_CONFLICT,
                         "wrong: the question names ledger %.20s, the answer is of ledger %u",
                         named, meta->ledger);
    return TIDE_OK;
}

/* Computes the answer at the receipt's time and compares it with the receipt. */
static tide_status answer_again(struct check *check, struct tide_reader *reader,
                                struct tide_err *err)
{
    typedef enum tide_refusal write_fn(struct check *, struct tide_reader *);
    static write_fn *const writers[TIDE_RECEIPT_KIND_COUNT] = {
        [TIDE_RECEIPT_STATUS] = write_status,
        [TIDE_RECEIPT_PRICE] = write_price,
        [TIDE_RECEIPT_QUOTE] = write_quote,
    };
    tide_status status = can_decide(check, reader, err);
    if (status != TIDE_OK)
        return status;
    reader->now = (uint64_t)check->claims.evaluated_at;
    assert(check->claims.kind < TIDE_RECEIPT_KIND_COUNT && writers[check->claims.kind]);
    enum tide_refusal why = writers[check->claims.kind](check, reader);
    status = compare_answer(check, why, err);
    if (status == TIDE_OK)
        compare_claims(check, reader->meta);
    return status;
}

static tide_status check_answer(struct check *check, const struct tide_verify_receipt *of,
                                struct tide_err *err)
{
    assert(check->claims.ledger <= UINT32_MAX);
    struct tide_reader reader = { .pg = of->pg };
    struct tide_err late;
    tide_status status = reader_past_open(&reader.past, &reader.meta, of->pg, of->deployment,
                                          (uint32_t)check->claims.ledger, err);
    if (status != TIDE_OK)
        return status;
    status = answer_again(check, &reader, err);
    tide_status closed = reader_past_close(reader.past, &late);
    if (status == TIDE_OK && closed != TIDE_OK) {
        *err = late;
        status = closed;
    }
    return status;
}

/* --- the whole check -------------------------------------------------------------------- */

/* Returns the file's text without the newline at its end. */
static tide_slice trim_newline(const struct tide_buf *file)
{
    tide_slice text = tide_buf_view(file);
    while (text.len && (text.ptr[text.len - 1] == '\n' || text.ptr[text.len - 1] == '\r'))
        text.len--;
    return text;
}

static tide_status open_receipt(struct check *check, const struct tide_verify_receipt *of,
                                struct tide_err *err)
{
    tide_status status = verify_read_file(&check->file, of->path, "a receipt", err);
    if (status == TIDE_OK)
        status = tide_jws_open(&check->jws, &check->bytes, trim_newline(&check->file), err);
    if (status != TIDE_OK)
        return status;
    json_t *header = load_object(check->jws.header, "header", err);
    status = header ? check_header(header, err) : err->code;
    if (status == TIDE_OK)
        status = check_signature(check, text_of(header, "kid"), of->jwks, err);
    if (status == TIDE_OK)
        status = check_withdrawn(of->pg, text_of(header, "kid"), err);
    json_decref(header);
    if (status != TIDE_OK)
        return status;
    check->payload = load_object(check->jws.payload, "payload", err);
    return check->payload ? read_claims(&check->claims, check->payload, err) : err->code;
}

/* Prints or returns the result. */
static tide_status report_result(const struct check *check, struct tide_err *err)
{
    assert(check->claims.route);
    if (check->wrong && check->unknown)
        return tide_fail(
            err, TIDE_E_MISSING,
            "cannot be told: %u differences, some in values that the server may not have known",
            check->wrong);
    if (check->wrong)
        return tide_fail(err, TIDE_E_CONFLICT, "wrong: %u differences", check->wrong);
    printf("receipt    right: %s at ledger %" PRIu64 ", evaluated at %" PRIi64 "\n",
           check->claims.route->id, check->claims.ledger, check->claims.evaluated_at);
    return TIDE_OK;
}

tide_status tide_verify_receipt(const struct tide_verify_receipt *of, struct tide_err *err)
{
    struct check check = { 0 };
    tide_buf_init(&check.file, FILE_BYTES_MAX);
    tide_buf_init(&check.bytes, FILE_BYTES_MAX);
    tide_buf_init(&check.again, ANSWER_MAX);
    tide_status status = open_receipt(&check, of, err);
    if (status == TIDE_OK)
        status = check_answer(&check, of, err);
    if (status == TIDE_OK)
        status = report_result(&check, err);
    json_decref(check.payload);
    tide_buf_release(&check.file);
    tide_buf_release(&check.bytes);
    tide_buf_release(&check.again);
    return status;
}
