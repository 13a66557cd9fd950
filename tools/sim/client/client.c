/* tidemark-sim tx: sends one transaction, from its options to its ledger. */
#include "tools/sim/client/client.h"
#include "tidemark/hash.h"
#include "tidemark/scval.h"
#include "tidemark/strkey.h"
#include "tidemark/text.h"
#include "tidemark/tx.h"
#include "tools/sim/chain/chain_call.h"
#include "tools/sim/options/command.h"
#include "tools/sim/options/options.h"

#include <time.h>

/* Stroops; seconds that a transaction is valid; tries of a call; milliseconds between questions;
 * ledgers that an authorisation is valid. */
enum { INCLUSION_FEE = 1000, VALID_S = 120, TRIES = 8, POLL_MS = 100, AUTH_LEDGERS = 60 };
enum { TX_BAD_SEQ = -5 };

/* clang-format off */
#define AT(field) offsetof(struct client_options, field)
static const struct sim_option table[] = {
    { "rpc",        SIM_TEXT,   AT(rpc),        0, 0, "URL  server (default: $TIDEMARK_RPC_URL, else http://127.0.0.1:8000)" },
    { "seed",       SIM_NUMBER, AT(seed),       0, UINT64_MAX, "N  seed of the network, as in serve (default: 1)" },
    { "user",       SIM_TEXT,   AT(user),       0, 0, "N  acts as userN" },
    { "as",         SIM_TEXT,   AT(as),         0, 0, "NAME  acts as this account: sumsub, gov0, feed0, admin, or any new name after tx fund" },
    { "sender",     SIM_TEXT,   AT(sender),     0, 0, "NAME  sends and pays in its place; --as then signs an authorisation" },
    { "subject",    SIM_TEXT,   AT(subject),    0, 0, "NAME  a name as above, or an address G… or C…; signer and owner too" },
    { "signer",     SIM_TEXT,   AT(signer),     0, 0, "NAME" },
    { "owner",      SIM_TEXT,   AT(owner),      0, 0, "NAME" },
    { "pool",       SIM_TEXT,   AT(pool),       0, 0, "POOL  XLM, sGOLD, sBTC, sTSLA (against USDC)" },
    { "reverse",    SIM_FLAG,   AT(reverse),    0, 0, "pays with USDC" },
    { "amount",     SIM_TEXT,   AT(amount),     0, 0, "X  an amount with at most 7 decimals, as the next three" },
    { "amount-b",   SIM_TEXT,   AT(amount_b),   0, 0, "X  of USDC" },
    { "min",        SIM_TEXT,   AT(min),        0, 0, "X  least amount to receive (default: 0)" },
    { "price",      SIM_TEXT,   AT(price),      0, 0, "X" },
    { "synth",      SIM_TEXT,   AT(synth),      0, 0, "SYMBOL  sGOLD, sTSLA, sBTC" },
    { "asset",      SIM_TEXT,   AT(asset),      0, 0, "SYMBOL  of the oracle: GOLD, TSLA, BTC, XLM, USDC, OIL" },
    { "country",    SIM_NUMBER, AT(country),    0, UINT32_MAX, "N  ISO 3166 number (default: 756)" },
    { "expires-in", SIM_NUMBER, AT(expires_in), 0, UINT32_MAX, "S  seconds; 0: never (default: 0)" },
    { "metadata",   SIM_TEXT,   AT(metadata),   0, 0, "TEXT" },
    { "title",      SIM_TEXT,   AT(title),      0, 0, "TEXT" },
    { "text",       SIM_TEXT,   AT(text),       0, 0, "TEXT" },
    { "proposal",   SIM_NUMBER, AT(proposal),   0, UINT64_MAX, "N" },
    { "against",    SIM_FLAG,   AT(against),    0, 0, "votes no" },
};
/* clang-format on */

/* A command that is being run. */
struct session {
    struct client client;
    const struct client_options *o;
    const struct client_call *call;
    struct tide_call invoked; /* the contract's function */
    struct parties parties;
    struct tide_sign *actor;  /* key of --as */
    struct tide_sign *sender; /* key of --sender, or of --as */
    struct tide_buf args, auth, soroban, envelope;
    uint32_t arg_count;
    uint8_t hash[TIDE_HASH_BYTES];
    uint64_t max_time; /* upper time bound of the transaction, unix seconds */
    bool refused;      /* the refusal has been printed */
};

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){ .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 }, NULL);
}

/* Prints a refusal. The command then exits with 1. */
static void print_refused(struct session *s, const char *where, const char *why)
{
    printf("%s %s: refused %s: %s\n", s->call->name, s->o->as, where, why);
    s->refused = true;
}

/* --- keys and names ---------------------------------------------------------------------- */

/* Derives the key of a named account. */
static tide_status open_key(struct tide_sign **out, uint64_t seed, const char *name,
                            struct tide_err *err)
{
    uint8_t secret[TIDE_SEED_BYTES];
    parties_seed(secret, seed, name);
    if (tide_sign_open(out, secret) != TIDE_OK)
        return tide_fail(err, TIDE_E_MEMORY, "no memory for a key");
    return TIDE_OK;
}

/* Reads the network's passphrase and makes the names. The keys are public knowledge: a network with
 * real assets must never see one, so such networks are rejected. */
static tide_status open_network(struct session *s, struct tide_rpc_network *network,
                                struct tide_err *err)
{
    tide_status status = client_network(&s->client, network, err);
    if (status != TIDE_OK)
        return status;
    if (strstr(network->passphrase, "; September 2015") ||
        strstr(network->passphrase, "; October 2022"))
        return tide_fail(
            err, TIDE_E_CONFIG,
            "the server belongs to a real network, where everyone knows the simulated keys");
    if (parties_open(&s->parties, network->passphrase, s->o->seed, 1) != TIDE_OK)
        return tide_fail(err, TIDE_E_MEMORY, "no memory for the names");
    return TIDE_OK;
}

/* --- making the transaction --------------------------------------------------------------- */

/* Makes the draft that is simulated: no resources, no authorisations. */
static tide_status draft_tx(struct session *s, struct tide_draft *out, struct tide_err *err)
{
    struct tide_rpc_latest latest = { 0 };
    s->invoked = (struct tide_call){ .function = s->call->fn,
                                     .args = tide_buf_view(&s->args),
                                     .arg_count = s->arg_count };
    memcpy(s->invoked.contract, s->parties.contracts[s->call->place].id, TIDE_HASH_BYTES);
    *out = (struct tide_draft){ .fee = INCLUSION_FEE, .call = &s->invoked };
    memcpy(out->source, tide_sign_public(s->sender), TIDE_HASH_BYTES);
    tide_status status = client_sequence(&s->client, out->source, &out->seq, err);
    if (status == TIDE_OK)
        status = tide_rpc_client_latest(&s->client.rpc, &latest, err);
    out->seq++;
    out->max_time = s->max_time = latest.close_time + VALID_S;
    return status;
}

/* Writes the envelope and its hash, signed unless key is NULL. */
static tide_status put_envelope(struct session *s, const struct tide_draft *what,
                                struct tide_sign *key, struct tide_err *err)
{
    struct tide_envelope e;
    struct tide_xdr x;
    tide_buf_reset(&s->envelope);
    tide_status status = tide_envelope_put(&s->envelope, what);
    if (status == TIDE_OK)
        status = tide_envelope_read(&e, tide_buf_view(&s->envelope), &x);
    if (status == TIDE_OK)
        tide_envelope_hash(s->hash, &e, s->parties.network_id);
    if (status == TIDE_OK && key)
        status = tide_envelope_sign(&s->envelope, key, s->hash);
    return status == TIDE_OK ? TIDE_OK : tide_fail(err, TIDE_E_MEMORY, "cannot write the envelope");
}

/* Appends an authorisation entry of a simulation's answer. One with address credentials is signed by
 * key and valid until the ledger `expires`; its nonce and invocation stay. One of the source stays
 * as it is. TIDE_E_DECODE if the entry is malformed or of an unknown kind. */
static tide_status put_auth(struct tide_buf *buf, const uint8_t *network_id, tide_slice entry,
                            struct tide_sign *key, uint32_t expires)
{
    uint8_t hash[TIDE_HASH_BYTES], signature[TIDE_SIGNATURE_BYTES];
    struct tide_xdr x = tide_xdr_of(entry);
    uint32_t arm = tide_xdr_u32(&x);
    if (arm == 0) {
        tide_buf_slice(buf, entry);
        return TIDE_OK;
    }
    const uint8_t *mark = x.cur;
    tide_scaddress_skip(&x);
    tide_slice address = tide_xdr_span(&x, mark);
    struct chain_signed what = { .nonce = tide_xdr_i64(&x), .expires = expires };
    tide_xdr_skip(&x, 4);
    tide_scval_skip(&x);
    what.invocation = tide_slice_of(x.cur, tide_xdr_left(&x));
    if (arm > 1 || x.status != TIDE_OK)
        return TIDE_E_DECODE;
    chain_auth_hash(network_id, &what, hash);
    tide_sign(key, signature, tide_slice_of(hash, sizeof hash));
    tide_buf_be32(buf, arm);
    tide_buf_slice(buf, address);
    tide_buf_be64(buf, (uint64_t)what.nonce);
    tide_buf_be32(buf, expires);
    chain_put_signature(buf, tide_sign_public(key), signature);
    tide_buf_slice(buf, what.invocation);
    return buf->failed ? TIDE_E_MEMORY : TIDE_OK;
}

/* Completes the draft with the answer of its simulation: data, fee, authorisations signed by the
 * actor. */
static tide_status complete_tx(struct session *s, struct tide_draft *what,
                               const struct tide_rpc_simulated *simulated, struct tide_err *err)
{
    tide_status status = TIDE_OK;
    tide_buf_reset(&s->soroban);
    tide_buf_reset(&s->auth);
    tide_buf_slice(&s->soroban, simulated->data);
    what->soroban = tide_buf_view(&s->soroban);
    what->fee += simulated->resource_fee;
    what->auth_count = simulated->auth_count;
    for (uint32_t i = 0; status == TIDE_OK && i < what->auth_count; i++) {
        status = put_auth(&s->auth, s->parties.network_id, simulated->auth[i], s->actor,
                          simulated->ledger + AUTH_LEDGERS);
        if (status != TIDE_OK)
            tide_fail(err, status,
                      "simulateTransaction: an authorisation is malformed or of an unknown kind");
    }
    what->auth = tide_buf_view(&s->auth);
    return status;
}

/* --- sending -------------------------------------------------------------------------------- */

/* Sends the envelope until the queue has it. Sets *again if another transaction has used its
 * sequence number. */
static tide_status send_tx(struct session *s, bool *again, struct tide_err *err)
{
    struct tide_rpc_sent sent;
    char why[64];
    *again = false;
    for (uint64_t waited = 0;; waited += POLL_MS) {
        tide_status status = client_send(&s->client, tide_buf_view(&s->envelope), &sent, err);
        if (status != TIDE_OK)
            return status;
        if (sent.status == TIDE_RPC_PENDING || sent.status == TIDE_RPC_DUPLICATE)
            return TIDE_OK;
        if (sent.status == TIDE_RPC_ERROR) {
            snprintf(why, sizeof why, "transaction result %d", sent.code);
            *again = sent.code == TX_BAD_SEQ;
            if (!*again)
                print_refused(s, "by the queue", why);
            return TIDE_OK;
        }
        if (waited > VALID_S * UINT64_C(1000)) {
            print_refused(s, "by the queue", "TRY_AGAIN_LATER");
            return TIDE_OK;
        }
        pause_ms(POLL_MS);
    }
}

/* Waits until a ledger contains the transaction, or until its time is over. */
static tide_status wait_for_tx(struct session *s, struct tide_rpc_found *found,
                               struct tide_err *err)
{
    for (;;) {
        tide_status status = client_find(&s->client, s->hash, found, err);
        if (status != TIDE_OK || found->status != TIDE_RPC_NOT_FOUND)
            return status;
        if (found->close_time > s->max_time) {
            print_refused(s, "by time", "no ledger contained it before its time bound");
            return TIDE_OK;
        }
        pause_ms(POLL_MS);
    }
}

/* Prints what a transaction that passed returned. */
static void print_passed(struct session *s, const struct tide_rpc_found *found, const char *hash)
{
    struct tide_buf json;
    tide_slice value = client_return_value(found->meta), text = TIDE_SLICE("none");
    tide_buf_init(&json, CLIENT_BYTES_MAX);
    if (value.len && tide_scval_json(&json, value) == TIDE_OK)
        text = tide_buf_view(&json);
    printf("%s %s: passed in ledger %u, fee %" PRId64 " stroops, answer %.*s, tx %s\n",
           s->call->name, s->o->as, found->ledger, found->fee, TIDE_SLICE_FMT(text), hash);
    tide_buf_release(&json);
}

/* Prints the transaction's outcome. */
static void print_found(struct session *s, const struct tide_rpc_found *found)
{
    char hash[65] = "", why[512] = "no reason given";
    tide_hex(hash, tide_slice_of(s->hash, TIDE_HASH_BYTES));
    if (found->status == TIDE_RPC_SUCCESS) {
        print_passed(s, found, hash);
        return;
    }
    for (uint32_t i = 0; i < found->diagnostic_count; i++)
        if (client_error(why, sizeof why, found->diagnostics[i]))
            break;
    printf("%s %s: refused on chain in ledger %u, fee %" PRId64 " stroops, tx %s: %s\n",
           s->call->name, s->o->as, found->ledger, found->fee, hash, why);
    s->refused = true;
}

/* Makes one try. Sets *again if the call must be tried from the start: the sequence number was
 * used. */
static tide_status try_once(struct session *s, bool *again, struct tide_err *err)
{
    struct tide_draft what;
    struct tide_rpc_simulated simulated;
    struct tide_rpc_found found;
    *again = false;
    tide_status status = draft_tx(s, &what, err);
    if (status == TIDE_OK)
        status = put_envelope(s, &what, NULL, err);
    if (status == TIDE_OK)
        status = client_simulate(&s->client, tide_buf_view(&s->envelope), &simulated, err);
    if (status != TIDE_OK)
        return status;
    if (simulated.error[0]) {
        print_refused(s, "by the simulation", simulated.error);
        return TIDE_OK;
    }
    status = complete_tx(s, &what, &simulated, err);
    if (status == TIDE_OK)
        status = put_envelope(s, &what, s->sender, err);
    if (status == TIDE_OK)
        status = send_tx(s, again, err);
    if (status != TIDE_OK || *again || s->refused)
        return status;
    status = wait_for_tx(s, &found, err);
    if (status == TIDE_OK && !s->refused)
        print_found(s, &found);
    return status;
}

/* Makes the call, with several tries. */
static tide_status invoke_call(struct session *s, struct tide_err *err)
{
    struct client_options o = *s->o;
    struct tide_rpc_latest latest = { 0 };
    bool again = true;
    tide_status status = open_key(&s->actor, o.seed, o.as, err);
    if (status == TIDE_OK)
        status = open_key(&s->sender, o.seed, o.sender ? o.sender : o.as, err);
    if (status == TIDE_OK && o.expires_in)
        status = tide_rpc_client_latest(&s->client.rpc, &latest, err);
    o.expires_in += latest.close_time;
    if (status == TIDE_OK)
        status = client_args(&s->args, &s->arg_count, s->call, &o, &s->parties, err);
    for (int i = 0; i < TRIES && again && !s->refused && status == TIDE_OK; i++)
        status = try_once(s, &again, err);
    if (status == TIDE_OK && again && !s->refused)
        print_refused(s, "by the queue", "other transactions used its sequence number every time");
    return status;
}

/* --- the command ----------------------------------------------------------------------------- */

static const struct client_call fund_call = { .name = "fund" };

/* Funds an account by the friendbot. */
static tide_status fund_account(struct session *s, const struct tide_rpc_network *network,
                                struct tide_err *err)
{
    char address[TIDE_STRKEY_TEXT_MAX];
    if (!network->friendbot[0])
        return tide_fail(err, TIDE_E_CONFIG, "the network has no friendbot");
    tide_status status = open_key(&s->actor, s->o->seed, s->o->as, err);
    if (status != TIDE_OK)
        return status;
    size_t len = tide_strkey_encode(address, TIDE_STRKEY_ACCOUNT,
                                    tide_slice_of(tide_sign_public(s->actor), TIDE_HASH_BYTES));
    address[len] = 0;
    status = client_fund(&s->client, network->friendbot, address, err);
    if (status == TIDE_OK)
        printf("fund %s: passed, %s\n", s->o->as, address);
    return status;
}

/* Opens client and network and runs the command. */
static tide_status run_call(struct session *s, struct tide_err *err)
{
    struct tide_rpc_network network;
    tide_status status = client_open(&s->client, s->o->rpc, err);
    if (status == TIDE_OK)
        status = open_network(s, &network, err);
    if (status != TIDE_OK)
        return status;
    return s->call == &fund_call ? fund_account(s, &network, err) : invoke_call(s, err);
}

/* Runs the command and frees everything. */
static tide_status run_session(const struct client_call *call, const struct client_options *o,
                               bool *refused, struct tide_err *err)
{
    struct session s = { .o = o, .call = call };
    struct tide_buf *all[] = { &s.args, &s.auth, &s.soroban, &s.envelope };
    for (size_t i = 0; i < TIDE_COUNT(all); i++)
        tide_buf_init(all[i], CLIENT_BYTES_MAX);
    tide_status status = run_call(&s, err);
    *refused = s.refused;
    for (size_t i = 0; i < TIDE_COUNT(all); i++)
        tide_buf_release(all[i]);
    tide_sign_close(s.actor);
    tide_sign_close(s.sender);
    parties_close(&s.parties);
    client_close(&s.client);
    return status;
}

static void print_help(FILE *to, const struct sim_options *tables)
{
    fprintf(to,
            "usage: tidemark-sim tx CALL [options]\n\n"
            "Sends one transaction to a simulated network and waits for its ledger.\n"
            "Exit code 0: it passed; 1: it was refused, the reason is printed. For example\n"
            "  tidemark-sim tx swap --user 7 --pool sBTC --amount 1\n\nCalls:\n"
            "  %-20s --as NAME  a new account, with XLM and USDC\n",
            "fund");
    for (const struct client_call *call = client_calls; call->name; call++)
        fprintf(to, "  %-20s %s\n", call->name, call->help);
    fprintf(to, "\nOptions:\n");
    sim_options_help(to, tables, 1);
}

/* Finds a call by its name. */
static const struct client_call *find_call(const char *name)
{
    const struct client_call *call = client_calls;
    if (strcmp(name, "fund") == 0)
        return &fund_call;
    while (call->name && strcmp(call->name, name) != 0)
        call++;
    return call->name ? call : NULL;
}

/* Sets the defaults and checks --user and --as. */
static tide_status check_options(struct client_options *o, char user[32], struct tide_err *err)
{
    uint64_t n;
    const char *url = getenv("TIDEMARK_RPC_URL");
    if (!o->rpc)
        o->rpc = url && *url ? url : "http://127.0.0.1:8000";
    if (o->user && o->as)
        return tide_fail(err, TIDE_E_USAGE, "--user and --as exclude each other");
    if (o->user && tide_parse_u64(&n, tide_slice_str(o->user), 99999) != TIDE_OK)
        return tide_fail(err, TIDE_E_USAGE, "--user: a number is needed");
    snprintf(user, 32, "user%s", o->user ? o->user : "");
    if (o->user)
        o->as = user;
    return o->as ? TIDE_OK : tide_fail(err, TIDE_E_USAGE, "--user or --as is needed");
}

int sim_tx_command(int argc, char **argv)
{
    struct tide_err err;
    char user[32];
    bool refused = false;
    struct client_options o = { .seed = 1, .country = 756, .min = "0" };
    const struct sim_options tables = { table, TIDE_COUNT(table), &o };
    if (argc > 0 && strcmp(argv[0], "--help") == 0) {
        print_help(stdout, &tables);
        return 0;
    }
    const struct client_call *call = argc > 0 ? find_call(argv[0]) : NULL;
    tide_status status = TIDE_OK;
    if (!call)
        status = tide_fail(&err, TIDE_E_USAGE, "unknown call; --help lists all calls");
    if (status == TIDE_OK)
        status = sim_options_read(&tables, 1, argc - 1, argv + 1, &err);
    if (status == TIDE_OK)
        status = check_options(&o, user, &err);
    if (status == TIDE_OK)
        status = run_session(call, &o, &refused, &err);
    if (status != TIDE_OK)
        fprintf(stderr, "tidemark-sim tx: %s\n", err.text);
    return status == TIDE_OK ? refused : tide_status_exit(status);
}
