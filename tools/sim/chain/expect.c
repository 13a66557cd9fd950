/* Files of `--expect`: events, calls, versions and state as lines of JSON. */
#include "tools/sim/chain/expect.h"
#include "tidemark/limits.h"
#include "tidemark/scval.h"
#include "tidemark/strkey.h"
#include "tidemark/text.h"

#include <errno.h>
#include <sys/stat.h>

/* --- values: 64-bit and 128-bit numbers are strings, as JSON readers keep only 53 bits --- */

void expect_address(struct tide_buf *json, struct sim_addr party)
{
    char text[TIDE_STRKEY_TEXT_MAX];
    enum tide_strkey kind = party.kind == SIM_ACCOUNT ? TIDE_STRKEY_ACCOUNT : TIDE_STRKEY_CONTRACT;
    size_t len = tide_strkey_encode(text, kind, tide_slice_of(party.key, TIDE_HASH_BYTES));
    assert(len == 56 && party.kind <= SIM_CONTRACT);
    tide_buf_u8(json, '"');
    tide_buf_put(json, text, len);
    tide_buf_u8(json, '"');
}

static void put_amount(struct tide_buf *json, sim_amount amount)
{
    char text[TIDE_I128_TEXT_MAX];
    tide_buf_u8(json, '"');
    tide_buf_put(json, text, tide_i128_text(text, (tide_i128){ amount }));
    tide_buf_u8(json, '"');
}

static void put_vec(struct tide_buf *json, const sim_val *val)
{
    tide_buf_u8(json, '[');
    for (uint32_t i = 0; i < val->len; i++) {
        if (i)
            tide_buf_u8(json, ',');
        expect_value(json, &val->vec[i]);
    }
    tide_buf_u8(json, ']');
}

/* Writes a symbol as it is, any other key as its JSON text in a string. */
static void put_key(struct tide_buf *json, const sim_val *key)
{
    if (key->type == TIDE_SCV_SYMBOL) {
        tide_buf_json_string(json, key->bytes);
        return;
    }
    struct tide_buf text;
    tide_buf_init(&text, SIM_ARENA);
    expect_value(&text, key);
    tide_buf_json_string(json, tide_buf_view(&text));
    tide_buf_release(&text);
}

static void put_map(struct tide_buf *json, const sim_val *val)
{
    tide_buf_u8(json, '{');
    for (uint32_t i = 0; i < val->len; i++) {
        if (i)
            tide_buf_u8(json, ',');
        put_key(json, &val->map[i].key);
        tide_buf_u8(json, ':');
        expect_value(json, &val->map[i].val);
    }
    tide_buf_u8(json, '}');
}

static void put_instance(struct tide_buf *json, const struct sim_instance *instance)
{
    if (instance->stellar_asset) {
        tide_buf_str(json, "{\"executable\":\"contractExecutableStellarAsset\"");
    } else {
        tide_buf_str(json, "{\"executable\":\"contractExecutableWasm\",\"wasm\":\"");
        tide_buf_hex(json, tide_slice_of(instance->wasm, TIDE_HASH_BYTES));
        tide_buf_u8(json, '"');
    }
    tide_buf_str(json, ",\"storage\":");
    put_map(json, &instance->storage);
    tide_buf_u8(json, '}');
}

void expect_value(struct tide_buf *json, const sim_val *val)
{
    switch (val->type) {
    case TIDE_SCV_BOOL:
        tide_buf_str(json, val->b ? "true" : "false");
        break;
    case TIDE_SCV_U32:
        tide_buf_putf(json, "%u", val->u32);
        break;
    case TIDE_SCV_U64:
        tide_buf_putf(json, "\"%" PRIu64 "\"", val->u64);
        break;
    case TIDE_SCV_I128:
        put_amount(json, val->i128);
        break;
    case TIDE_SCV_BYTES:
        tide_buf_u8(json, '"');
        tide_buf_hex(json, val->bytes);
        tide_buf_u8(json, '"');
        break;
    case TIDE_SCV_STRING:
    case TIDE_SCV_SYMBOL:
        tide_scval_json_string(json, val->bytes);
        break;
    case TIDE_SCV_VEC:
        put_vec(json, val);
        break;
    case TIDE_SCV_MAP:
        put_map(json, val);
        break;
    case TIDE_SCV_ADDRESS:
        expect_address(json, val->addr);
        break;
    case TIDE_SCV_CONTRACT_INSTANCE:
        put_instance(json, val->instance);
        break;
    case TIDE_SCV_LEDGER_KEY_CONTRACT_INSTANCE:
        tide_buf_str(json, "\"LedgerKeyContractInstance\"");
        break;
    default: /* the model has no value of another type */
        assert(val->type == TIDE_SCV_VOID);
        tide_buf_str(json, "null");
        break;
    }
}

/* --- files ------------------------------------------------------------------------ */

static FILE *open_file(const char *dir, const char *name, struct tide_err *err)
{
    char path[4096];
    int len = snprintf(path, sizeof path, "%s/%s.jsonl", dir, name);
    FILE *file = len > 0 && (size_t)len < sizeof path ? fopen(path, "wb") : NULL;
    if (!file)
        tide_fail(err, TIDE_E_IO, "cannot write %s/%s.jsonl", dir, name);
    return file;
}

tide_status expect_open(struct expect *expect, const char *dir, struct tide_err *err)
{
    *expect = (struct expect){ 0 };
    tide_buf_init(&expect->line, TIDE_JSON_BYTES_MAX);
    if (mkdir(dir, 0777) != 0 && errno != EEXIST)
        return tide_fail(err, TIDE_E_IO, "cannot make folder %s", dir);
    expect->events = open_file(dir, "events", err);
    expect->calls = expect->events ? open_file(dir, "calls", err) : NULL;
    expect->history = expect->calls ? open_file(dir, "history", err) : NULL;
    /* The first file that cannot be opened leaves the others NULL. */
    expect->state = expect->history ? open_file(dir, "state", err) : NULL;
    return expect->state ? TIDE_OK : err->code;
}

/* Ends and writes a line. A failure is remembered until expect_close. */
static void end_line(struct expect *expect, FILE *to)
{
    struct tide_buf *line = &expect->line;
    tide_buf_str(line, "}\n");
    if (line->failed || fwrite(line->ptr, 1, line->len, to) != line->len)
        expect->failed = true;
    tide_buf_reset(line);
}

/* Returns the role's name. A contract's name is its role, except for tokens and wallets. */
static const char *role_name(const struct sim_contract *contract)
{
    if (contract->role == TIDE_ROLE_synth_token)
        return "synth_token";
    return contract->role == TIDE_ROLE_wallet ? "wallet" : contract->name;
}

static void put_contract(struct tide_buf *line, const struct sim_contract *contract)
{
    tide_buf_str(line, "\"contract\":");
    expect_address(line, contract->address);
    tide_buf_putf(line, ",\"role\":\"%s\"", role_name(contract));
}

/* Begins a line with the position of the transaction. */
static void put_position(struct tide_buf *line, const struct chain_tx *tx)
{
    tide_buf_putf(line, "{\"ledger\":%u,\"closeTime\":%" PRIu64 ",\"tx\":%u,", tx->ledger,
                  tx->close_time, tx->index);
}

static void put_hash(struct tide_buf *line, const struct chain_tx *tx)
{
    tide_buf_str(line, "\"hash\":\"");
    tide_buf_hex(line, tide_slice_of(tx->hash, TIDE_HASH_BYTES));
    tide_buf_str(line, "\",");
}

/* --- events and calls -------------------------------------------------------- */

static void write_event(struct expect *expect, const struct chain_tx *tx, uint32_t i)
{
    struct tide_buf *line = &expect->line;
    const struct sim_event *event = &tx->outcome->events[i];
    put_position(line, tx);
    tide_buf_putf(line, "\"op\":0,\"event\":%u,", i);
    put_hash(line, tx);
    tide_buf_putf(line, "\"type\":\"%s\",", event->system ? "system" : "contract");
    put_contract(line, event->contract);
    tide_buf_str(line, ",\"topics\":");
    expect_value(line, &event->topics);
    tide_buf_str(line, ",\"data\":");
    expect_value(line, &event->data);
    end_line(expect, expect->events);
}

static void put_outcome(struct tide_buf *line, const struct chain_tx *tx)
{
    const struct sim_outcome *out = tx->outcome;
    tide_buf_putf(line, ",\"ok\":%s", out->ok ? "true" : "false");
    if (out->ok) {
        tide_buf_str(line, ",\"ret\":");
        expect_value(line, &out->ret);
    } else {
        tide_buf_str(line, ",\"reason\":");
        tide_buf_json_string(line, tide_slice_str(out->reason ? out->reason : ""));
    }
    tide_buf_putf(line, ",\"events\":%u,\"changed\":%u", out->event_count, tx->changed);
}

/* Writes who pays the sequence number and the fee, and the hash in a fee bump. */
static void put_payers(struct tide_buf *line, const struct chain_tx *tx)
{
    tide_buf_str(line, ",\"txSource\":");
    expect_address(line, tx->sender);
    tide_buf_str(line, ",\"feeSource\":");
    expect_address(line, tx->payer);
    if (tx->payer_id)
        tide_buf_putf(line, ",\"feeSourceMuxedId\":\"%" PRIu64 "\"", tx->payer_id);
    if (!tx->inner_hash)
        return;
    tide_buf_str(line, ",\"innerHash\":\"");
    tide_buf_hex(line, tide_slice_of(tx->inner_hash, TIDE_HASH_BYTES));
    tide_buf_u8(line, '"');
}

static void write_call(struct expect *expect, const struct chain_tx *tx)
{
    struct tide_buf *line = &expect->line;
    put_position(line, tx);
    put_hash(line, tx);
    tide_buf_str(line, "\"source\":");
    expect_address(line, tx->source);
    tide_buf_u8(line, ',');
    put_contract(line, tx->contract);
    tide_buf_putf(line, ",\"name\":\"%s\",\"fn\":", tx->contract->name);
    if (tx->fn)
        tide_buf_json_string(line, tide_slice_str(tx->fn));
    else
        tide_buf_str(line, "null");
    tide_buf_str(line, ",\"args\":[");
    for (uint32_t i = 0; i < tx->arg_count; i++) {
        if (i)
            tide_buf_u8(line, ',');
        expect_value(line, &tx->args[i]);
    }
    tide_buf_u8(line, ']');
    put_payers(line, tx);
    put_outcome(line, tx);
    end_line(expect, expect->calls);
}

/* --- entries -------------------------------------------------------------------- */

static void put_entry(struct expect *expect, const struct sim_entry *entry,
                      struct tide_arena *arena)
{
    struct tide_buf *line = &expect->line;
    put_contract(line, entry->contract);
    tide_buf_str(line, ",\"key\":");
    sim_val key = sim_val_read(arena, entry->key);
    expect_value(line, &key);
    tide_buf_putf(line, ",\"durability\":\"%s\"",
                  entry->durability == SIM_TEMPORARY ? "temporary" : "persistent");
}

/* An evicted entry has no lifetime on the ledger until it is restored. */
static void put_life(struct tide_buf *line, const struct sim_entry *entry)
{
    if (entry->evicted)
        tide_buf_str(line, ",\"live_until\":null");
    else
        tide_buf_putf(line, ",\"live_until\":%u", entry->live_until);
}

static void put_value(struct expect *expect, const struct sim_entry *entry,
                      struct tide_arena *arena)
{
    sim_val val = sim_val_read(arena, entry->val);
    put_life(&expect->line, entry);
    tide_buf_str(&expect->line, ",\"val\":");
    expect_value(&expect->line, &val);
}

/* Writes one version of an entry. The arena is opened here because versions are reported while the
 * host's arena is in use. */
static void write_version(void *self, const struct chain_version *version)
{
    struct expect *expect = self;
    struct tide_buf *line = &expect->line;
    struct tide_arena arena;
    if (tide_arena_open(&arena, 1u << 20) != TIDE_OK)
        abort();
    tide_buf_putf(line, "{\"ledger\":%u,\"tx\":%u,", version->ledger, version->tx);
    put_entry(expect, version->entry, &arena);
    if (version->removed)
        tide_buf_str(line, ",\"removed\":true");
    else if (version->life_only)
        put_life(line, version->entry);
    else
        put_value(expect, version->entry, &arena);
    end_line(expect, expect->history);
    tide_arena_close(&arena);
}

static void write_tx(void *self, const struct chain_tx *tx)
{
    struct expect *expect = self;
    for (uint32_t i = 0; i < tx->outcome->event_count; i++)
        write_event(expect, tx, i);
    write_call(expect, tx);
}

struct chain_observer expect_observer(struct expect *expect)
{
    return (struct chain_observer){ .self = expect, .tx = write_tx, .version = write_version };
}

static void write_state(struct expect *expect, struct sim_host *host)
{
    struct tide_arena arena;
    struct sim_walk walk = { 0 };
    if (tide_arena_open(&arena, 1u << 20) != TIDE_OK)
        abort();
    for (struct sim_entry *e = sim_entry_next(host, &walk); e; e = sim_entry_next(host, &walk)) {
        tide_arena_reset(&arena);
        tide_buf_u8(&expect->line, '{');
        put_entry(expect, e, &arena);
        put_value(expect, e, &arena);
        end_line(expect, expect->state);
    }
    tide_arena_close(&arena);
}

tide_status expect_close(struct expect *expect, struct sim_host *host, struct tide_err *err)
{
    FILE *files[] = { expect->events, expect->calls, expect->history, expect->state };
    if (host && expect->state)
        write_state(expect, host);
    for (size_t i = 0; i < TIDE_COUNT(files); i++) {
        if (files[i] && fclose(files[i]) != 0)
            expect->failed = true;
    }
    tide_buf_release(&expect->line);
    return expect->failed ? tide_fail(err, TIDE_E_IO,
                                      "a file of --expect cannot be written: is the disk full?")
                          : TIDE_OK;
}
