/* GET /api/proof/entry/{key} and GET /api/proof/compliance/{address}: what proves an entry to
 * others as of the newest proven checkpoint. A statement puts it together (chain/proof_entry.sql).
 * Here are the key, the value that the tables tell, and the reasons why there is no proof. */
#include "api/routes/handlers.h"
#include "api/sql/sql_answer.h"
#include "api/sql/sql_problem.h"
#include "tidemark/entry_value.h"
#include "tidemark/hash.h"
#include "tidemark/history_lookup.h"
#include "tidemark/scval.h"
#include "tidemark/strkey.h"
#include "tidemark/text.h"
#include "tidemark/xdr_skip.h"

#include <stdio.h>

enum { STATE_LEDGER, SIGNED_LEDGER, BYTES, DATA, COLUMNS }; /* columns of the statement */
enum { KEY_BYTES_MAX = 4096, VALUE_BYTES_MAX = 1 << 20 };

/* One request. */
struct entry_proof {
    const struct tide_sql_task *task;
    struct tide_reply *reply;
    struct tide_buf key; /* LedgerKey */
    struct tide_change of;
    char contract[TIDE_STRKEY_ADDRESS_MAX + 1];
    uint32_t ledger; /* the checkpoint's */
    enum tide_entry_said said;
    struct tide_buf value;
};

static const char *statement_text(void)
{
    return tide_query_file_text("proof_entry");
}

/* --- the key --------------------------------------------------------------------------------- */

static void refuse_key(struct tide_reply *reply, const char *why)
{
    tide_reply_problem(reply, 400, "invalid_parameters",
                       "The request has parameters that this route does not accept: see errors.");
    tide_reply_problem_field(reply, "{key}", why);
}

/* Reads the LedgerKey. Returns false with a problem in the reply. */
static bool read_key(struct entry_proof *p)
{
    struct tide_xdr x = tide_xdr_of(tide_buf_view(&p->key));
    skip_ledger_key(&x, &p->of);
    if (tide_xdr_end(&x) != TIDE_OK || p->of.type != TIDE_ENTRY_CONTRACT_DATA) {
        refuse_key(p->reply, "must be the LedgerKey of contract data in XDR, as base64url");
        return false;
    }
    size_t len = tide_strkey_from_address(p->contract, p->of.contract);
    p->contract[len] = '\0';
    return true;
}

static bool decode_key(struct entry_proof *p, tide_slice text)
{
    if (tide_buf_base64url_decode(&p->key, text) != TIDE_OK || p->key.failed) {
        refuse_key(p->reply, "must be base64url without padding");
        return false;
    }
    return read_key(p);
}

/* --- the proof ------------------------------------------------------------------------------- */

/* Reads of which ledger the state is proven. Its row is the statement's, in the same snapshot. */
static tide_status read_ledger(struct entry_proof *p, struct tide_err *err)
{
    char id[8];
    struct tide_pg_rows rows;
    snprintf(id, sizeof id, "%u", p->task->deployment);
    tide_status status =
        tide_pg_query(p->task->pg, &rows,
                      "SELECT s.ledger FROM chain.proof_state AS s WHERE s.deployment ="
                      " $1::smallint AND s.ledger <= chain.proven_through($1::smallint)",
                      (const char *[]){ id }, 1, err);
    if (status != TIDE_OK)
        return status;
    if (rows.count)
        p->ledger = (uint32_t)tide_pg_u64(&rows, 0, 0);
    else
        tide_reply_problem(p->reply, 404, "no_proof",
                           "This server does not know the bucket hashes of a checkpoint that "
                           "signatures prove: it keeps no proofs, or has not collected them yet.");
    tide_pg_rows_release(&rows);
    return TIDE_OK;
}

/* Asks the tables for the value. A contract that is not followed is a problem in the reply. */
static tide_status read_value(struct entry_proof *p, struct tide_err *err)
{
    bool followed = false;
    const struct tide_entry_question of = { .pg = p->task->pg,
                                            .deployment = p->task->deployment,
                                            .ledger = p->ledger,
                                            .contract = p->contract,
                                            .key = &p->of };
    tide_status status = tide_entry_value(&of, &followed, &p->said, &p->value, err);
    if (status == TIDE_OK && !followed)
        tide_reply_problem(p->reply, 404, "not_found",
                           "The protocol has no contract of that address.");
    return status;
}

/* Writes the parts that the statement puts behind the buckets: the key, and what is said. */
static const char *put_parts(struct tide_buf *hex, const struct entry_proof *p)
{
    static const uint32_t words[] = {
        [TIDE_ENTRY_UNTOLD] = 0, [TIDE_ENTRY_ABSENT] = 1, [TIDE_ENTRY_VALUE] = 2
    };
    struct tide_buf xdr;
    tide_buf_init(&xdr, KEY_BYTES_MAX + VALUE_BYTES_MAX + 64);
    tide_xdr_put_var(&xdr, tide_buf_view(&p->key));
    tide_buf_be32(&xdr, words[p->said]);
    if (p->said == TIDE_ENTRY_VALUE)
        tide_xdr_put_var(&xdr, tide_buf_view(&p->value));
    tide_buf_init(hex, 2 * xdr.max + 1);
    tide_buf_hex(hex, tide_buf_view(&xdr));
    tide_buf_u8(hex, 0);
    bool failed = xdr.failed || hex->failed;
    tide_buf_release(&xdr);
    return failed ? NULL : (const char *)hex->ptr;
}

static void put_proof(const struct entry_proof *p, const struct tide_pg_rows *rows)
{
    static const char *const said[] = { "nothing", "absent", "value" };
    uint8_t hash[TIDE_HASH_BYTES];
    struct tide_json j = { .buf = &p->reply->body };
    tide_sha256(hash, tide_buf_view(&p->key));
    tide_json_open(&j, '{');
    tide_json_u64(&j, "ledger", p->reply->at.ledger);
    tide_json_time_ms(&j, "closedAt", p->reply->at.closed_ms);
    p->reply->content_from = p->reply->body.len;
    tide_json_name(&j, "proof");
    tide_json_open(&j, '{');
    tide_json_word(&j, "kind", "entry");
    tide_json_hex(&j, "keyHash", tide_slice_of(hash, sizeof hash));
    tide_json_word(&j, "contract", p->contract);
    tide_json_word(&j, "stateLedger", tide_pg_text(rows, 0, STATE_LEDGER));
    tide_json_word(&j, "signedLedger", tide_pg_text(rows, 0, SIGNED_LEDGER));
    tide_json_u32(&j, "bytes", (uint32_t)tide_pg_u64(rows, 0, BYTES));
    tide_json_word(&j, "said", said[p->said]);
    tide_json_word(&j, "data", tide_pg_text(rows, 0, DATA));
    tide_json_close(&j, '}');
    tide_json_close(&j, '}');
}

static tide_status answer_proof(struct entry_proof *p, struct tide_err *err)
{
    char id[8];
    struct tide_buf parts;
    struct tide_pg_rows rows = { 0 };
    snprintf(id, sizeof id, "%u", p->task->deployment);
    const char *const values[] = { id, put_parts(&parts, p) };
    tide_status status = values[1] ? tide_pg_query(p->task->pg, &rows, statement_text(), values,
                                                   TIDE_COUNT(values), err)
                                   : tide_fail(err, TIDE_E_MEMORY, "proof");
    if (status == TIDE_OK && (rows.count != 1 || rows.columns != COLUMNS))
        status = tide_fail(err, TIDE_E_DB_FATAL, "proof_entry.sql: %u columns", rows.columns);
    if (status == TIDE_OK && tide_pg_is_null(&rows, 0, DATA))
        tide_reply_problem(p->reply, 503, "too_large",
                           "The proof has %" PRIu64 " bytes, more than one answer may have.",
                           tide_pg_u64(&rows, 0, BYTES));
    else if (status == TIDE_OK)
        put_proof(p, &rows);
    tide_pg_rows_release(&rows);
    tide_buf_release(&parts);
    return status;
}

static tide_status prove_entry(struct entry_proof *p, struct tide_err *err)
{
    tide_status status = read_ledger(p, err);
    if (status == TIDE_OK && p->reply->status == 200)
        status = read_value(p, err);
    return status == TIDE_OK && p->reply->status == 200 ? answer_proof(p, err) : status;
}

static void open_proof(struct entry_proof *p, const struct tide_handler_context *context,
                       struct tide_reply *reply)
{
    *p = (struct entry_proof){ .task = tide_sql_task(context), .reply = reply };
    tide_buf_init(&p->key, KEY_BYTES_MAX);
    tide_buf_init(&p->value, VALUE_BYTES_MAX);
}

static void close_proof(struct entry_proof *p, tide_status status, const struct tide_err *err)
{
    if (status != TIDE_OK)
        tide_sql_problem(p->reply, p->task->pg, err);
    tide_buf_release(&p->key);
    tide_buf_release(&p->value);
}

void tide_route_proof_entry(struct tide_handler_context *context,
                            const struct tide_request *request, struct tide_reply *reply)
{
    struct entry_proof p;
    struct tide_err err;
    open_proof(&p, context, reply);
    bool read = decode_key(&p, tide_request_param(request, TIDE_PARAM_key)->text);
    close_proof(&p, read ? prove_entry(&p, &err) : TIDE_OK, &err);
}

/* Makes the key of an entry of the registry, and proves it. */
static tide_status prove_registry(struct entry_proof *p, const struct tide_request *request,
                                  struct tide_err *err)
{
    static const char *const variants[] = { "ComplianceRec", "Frozen", "Whitelist" };
    struct tide_history history;
    const struct tide_param_value *entry = tide_request_param(request, TIDE_PARAM_entry);
    tide_status status =
        tide_history_open(&history, p->task->pg, p->task->deployment, p->reply->at.ledger, err);
    if (status != TIDE_OK)
        return status;
    const struct tide_hot_address *registry = &history.contracts[TIDE_ROLE_compliance_registry];
    if (registry->kind == 0) {
        tide_reply_problem(p->reply, 404, "not_found", "The protocol has no compliance registry.");
        return TIDE_OK;
    }
    assert(entry->number < TIDE_COUNT(variants)); /* the words of the parameter */
    const struct tide_entry_key key = {
        .contract = *registry,
        .variant = variants[entry->number],
        .count = 1,
        .parts = { TIDE_PART_ADDRESS(tide_request_param(request, TIDE_PARAM_address)->address) }
    };
    tide_entry_key_put(&p->key, &key);
    return read_key(p) ? prove_entry(p, err) : TIDE_OK;
}

void tide_route_proof_compliance(struct tide_handler_context *context,
                                 const struct tide_request *request, struct tide_reply *reply)
{
    struct entry_proof p;
    struct tide_err err;
    open_proof(&p, context, reply);
    close_proof(&p, prove_registry(&p, request, &err), &err);
}
