/* Reading of the recordings: files of JSON lines, the deployment, values. */
#include "tidemark/hash.h"
#include "tidemark/strkey.h"
#include "tidemark/text.h"
#include "tools/sim/chain/expect.h"
#include "tools/sim/replay/replay.h"

#define START_STROOPS 40000000000000 /* 4 000 000 XLM */
#define PIECE         65536u         /* bytes of one read */

/* --- files ------------------------------------------------------------------------ */

/* Reads a whole file. The caller releases out, after a failure too. */
static tide_status read_file(struct tide_buf *out, const char *path, struct tide_err *err)
{
    FILE *file = fopen(path, "rb");
    tide_buf_init(out, REPLAY_FILE_MAX);
    if (!file)
        return tide_fail(err, TIDE_E_IO, "%s: cannot be opened", path);
    size_t got = 0;
    do {
        uint8_t *room = tide_buf_room(out, PIECE);
        got = room ? fread(room, 1, PIECE, file) : 0;
        out->len += got;
    } while (got);
    bool failed = ferror(file) || out->failed;
    (void)fclose(file);
    return failed ? tide_fail(err, TIDE_E_IO, "%s: cannot be read", path) : TIDE_OK;
}

tide_status replay_lines_open(struct replay_lines *lines, const char *path, struct tide_err *err)
{
    *lines = (struct replay_lines){ .path = path };
    tide_status status = read_file(&lines->bytes, path, err);
    return status == TIDE_OK ? replay_lines_next(lines, err) : status;
}

tide_status replay_lines_next(struct replay_lines *lines, struct tide_err *err)
{
    json_decref(lines->line);
    lines->line = NULL;
    if (lines->at >= lines->bytes.len)
        return TIDE_OK;
    const char *start = (const char *)lines->bytes.ptr + lines->at;
    size_t left = lines->bytes.len - lines->at;
    const char *end = memchr(start, '\n', left);
    size_t len = end ? (size_t)(end - start) : left;
    lines->at += len + 1;
    lines->number++;
    json_error_t error;
    lines->line = json_loadb(start, len, JSON_ALLOW_NUL, &error);
    if (!json_is_object(lines->line))
        return tide_fail(err, TIDE_E_DECODE, "%s:%" PRIu32 ": not a JSON object: %s", lines->path,
                         lines->number, error.text);
    return TIDE_OK;
}

void replay_lines_close(struct replay_lines *lines)
{
    json_decref(lines->line);
    tide_buf_release(&lines->bytes);
    *lines = (struct replay_lines){ 0 };
}

const char *replay_text(const json_t *object, const char *field)
{
    const char *text = json_string_value(json_object_get(object, field));
    return text ? text : "";
}

uint64_t replay_number(const json_t *object, const char *field)
{
    json_int_t number = json_integer_value(json_object_get(object, field));
    return number > 0 ? (uint64_t)number : 0;
}

/* --- contracts and accounts ------------------------------------------------------------ */

static bool starts_with(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Returns the role of a contract by its name in deployment.json; TIDE_ROLE_COUNT if it is
 * unknown. */
static enum tide_role role_of(const char *name)
{
    static const char *const names[] = {
        "liquidity_pool",   "synthetic_engine",     "stability_pool", "compliance_registry",
        "partner_registry", "earnings_distributor", "oracle",         "dao_governance",
    };
    for (uint32_t i = 0; i < TIDE_COUNT(names); i++) {
        if (strcmp(names[i], name) == 0)
            return (enum tide_role)i;
    }
    if (starts_with(name, "token_"))
        return TIDE_ROLE_synth_token;
    if (starts_with(name, "wallet"))
        return TIDE_ROLE_wallet;
    if (strcmp(name, "usdc") == 0 || strcmp(name, "xlm") == 0)
        return TIDE_ROLE_stellar_asset;
    return TIDE_ROLE_COUNT;
}

/* Creates the contracts. */
static tide_status add_contracts(struct sim_host *h, json_t *contracts, uint32_t usdc,
                                 struct tide_err *err)
{
    const char *name;
    json_t *value;
    json_object_foreach(contracts, name, value)
    {
        struct sim_addr address;
        enum tide_role role = role_of(name);
        const char *text = json_string_value(value);
        if (role == TIDE_ROLE_COUNT || !text || !replay_address(&address, text))
            return tide_fail(err, TIDE_E_CONFIG, "contract %s: unknown role or address", name);
        struct sim_contract *contract = sim_contract_add(h, address, role, name);
        contract->asset = strcmp(name, "usdc") == 0 ? usdc : 0;
    }
    return TIDE_OK;
}

/* Creates the accounts with the balances and trustlines that the recorded chain gave them. */
static tide_status add_accounts(struct sim_host *h, json_t *accounts, uint32_t usdc,
                                struct tide_err *err)
{
    const char *name;
    json_t *value;
    json_object_foreach(accounts, name, value)
    {
        struct sim_addr address;
        const char *text = json_string_value(value);
        if (!text || !replay_address(&address, text))
            return tide_fail(err, TIDE_E_CONFIG, "account %s: not an address", name);
        struct sim_account *account = sim_account_add(h, address, START_STROOPS);
        if (sim_addr_eq(address, h->assets[usdc].issuer))
            account->subentries = 1;
        else
            sim_trust(account, usdc);
    }
    return TIDE_OK;
}

tide_status replay_world(struct sim_host *h, const char *path, struct tide_err *err)
{
    struct tide_buf bytes;
    tide_status status = read_file(&bytes, path, err);
    json_t *root = NULL;
    if (status == TIDE_OK) {
        root = json_loadb((const char *)bytes.ptr, bytes.len, JSON_REJECT_DUPLICATES, NULL);
        if (!root)
            status = tide_fail(err, TIDE_E_CONFIG, "not JSON");
    }
    tide_buf_release(&bytes);
    uint8_t network[TIDE_HASH_BYTES];
    tide_network_id(network, tide_slice_str(replay_text(root, "network")));
    sim_open(h, network, sim_classes);
    struct sim_addr issuer = { 0 };
    json_t *asset = json_object_get(root, "usdc");
    if (status == TIDE_OK && !replay_address(&issuer, replay_text(asset, "issuer")))
        status = tide_fail(err, TIDE_E_CONFIG, "usdc: no issuer");
    if (status == TIDE_OK) {
        uint32_t usdc = sim_asset_add(h, replay_text(asset, "code"), issuer);
        status = add_contracts(h, json_object_get(root, "contracts"), usdc, err);
        if (status == TIDE_OK)
            status = add_accounts(h, json_object_get(root, "accounts"), usdc, err);
    }
    json_decref(root);
    return status == TIDE_OK ? TIDE_OK : tide_fail_context(err, "%s", path);
}

/* --- values --------------------------------------------------------------------------- */

bool replay_address(struct sim_addr *out, const char *text)
{
    enum tide_strkey kind;
    uint8_t payload[TIDE_STRKEY_PAYLOAD_MAX];
    size_t len;
    if (tide_strkey_decode(&kind, payload, &len, tide_slice_str(text)) != TIDE_OK ||
        (kind != TIDE_STRKEY_ACCOUNT && kind != TIDE_STRKEY_CONTRACT))
        return false;
    out->kind = kind == TIDE_STRKEY_ACCOUNT ? SIM_ACCOUNT : SIM_CONTRACT;
    memcpy(out->key, payload, TIDE_HASH_BYTES);
    return true;
}

/* Parses hexadecimal bytes. */
static bool read_hex(struct tide_arena *arena, tide_slice *out, tide_slice text)
{
    uint8_t *bytes = tide_new(arena, uint8_t, text.len / 2 + 1);
    if (!bytes || text.len % 2 || tide_hex_decode(bytes, text.len / 2, text) != TIDE_OK)
        return false;
    *out = tide_slice_of(bytes, text.len / 2);
    return true;
}

/* Converts a JSON string to a value of the type. */
static bool read_text(struct tide_arena *arena, sim_val *out, char type, tide_slice text)
{
    tide_i128 number;
    switch (type) {
    case 'U':
        out->type = TIDE_SCV_U64;
        return tide_parse_u64(&out->u64, text, UINT64_MAX) == TIDE_OK;
    case 'i':
        if (tide_i128_parse(&number, text) != TIDE_OK)
            return false;
        *out = sim_i128(number.raw);
        return true;
    case 'y':
        *out = sim_symbol(text);
        return true;
    case 's':
        *out = sim_string(text);
        return true;
    case 'x':
    case 'h':
        out->type = TIDE_SCV_BYTES;
        return read_hex(arena, &out->bytes, text);
    default:
        return false;
    }
}

/* Converts a JSON value to a value of the type. */
static bool read_one(struct tide_arena *arena, sim_val *out, char type, const json_t *json)
{
    if (type == 'b') {
        *out = sim_bool(json_is_true(json));
        return json_is_boolean(json);
    }
    if (type == 'u') {
        *out = sim_u32((uint32_t)json_integer_value(json));
        return json_is_integer(json);
    }
    if (!json_is_string(json))
        return false;
    if (type == 'a') {
        *out = (sim_val){ .type = TIDE_SCV_ADDRESS };
        return replay_address(&out->addr, json_string_value(json));
    }
    return read_text(arena, out, type,
                     tide_slice_of(json_string_value(json), json_string_length(json)));
}

/* Converts a JSON array to a Vec whose items have the type. */
static bool read_vec(struct tide_arena *arena, sim_val *out, char type, const json_t *json)
{
    size_t count = json_array_size(json);
    *out = (sim_val){ .type = TIDE_SCV_VEC, .len = (uint32_t)count };
    out->vec = count ? tide_new(arena, sim_val, count) : NULL;
    if (!json_is_array(json) || (count && !out->vec))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!read_one(arena, &out->vec[i], type, json_array_get(json, i)))
            return false;
    }
    return true;
}

bool replay_args(struct tide_arena *arena, sim_val *out, uint32_t *count, const char *types,
                 const json_t *args)
{
    *count = 0;
    size_t given = json_array_size(args);
    for (; *types && *count < REPLAY_ARGS_MAX; types++) {
        const json_t *json = json_array_get(args, *count);
        bool is_vec = *types == 'V';
        types += is_vec;
        bool read = is_vec ? read_vec(arena, &out[*count], *types, json)
                           : read_one(arena, &out[*count], *types, json);
        if (!read)
            return false;
        (*count)++;
    }
    return *types == '\0' && *count == given;
}

json_t *replay_json(const sim_val *val)
{
    struct tide_buf text;
    tide_buf_init(&text, REPLAY_FILE_MAX);
    expect_value(&text, val);
    json_t *out =
        json_loadb((const char *)text.ptr, text.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    tide_buf_release(&text);
    return out;
}
