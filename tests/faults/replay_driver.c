/* replay_driver: runs recorded calls of the real contracts in the simulator's model.
 *
 *   replay_driver DEPLOYMENT     commands on standard input, a line of JSON for each answer
 *
 *   types                        the types of each function's arguments, as sim_types_fit has them
 *   call|view LEDGER TIME SOURCE CONTRACT FN ARGS
 *                                runs a call, or a read function, which changes nothing. ARGS: the
 *                                ScVals in base64; FN -: deploys the contract
 *   state                        every entry, and how many nonces each contract has used
 *
 * tests/golden/_replay.py gives the commands and compares the answers with the recordings. */
#include "tidemark/strkey.h"
#include "tidemark/text.h"
#include "tidemark/xdr.h"
#include "tools/sim/chain/expect.h"

#include <stdio.h>
#include <stdlib.h>

enum { ARGS_MAX = 64, OUT_MAX = 64 << 20 };

static struct sim_host host;
static struct tide_arena arena;           /* values of the present command */
static struct tide_buf out, event, given; /* given: the arguments, which values borrow from */

static struct sim_addr address_of(const char *text)
{
    struct sim_addr address = { 0 };
    enum tide_strkey kind;
    uint8_t key[TIDE_STRKEY_PAYLOAD_MAX];
    size_t len;
    if (tide_strkey_decode(&kind, key, &len, tide_slice_str(text)) != TIDE_OK)
        abort();
    address.kind = kind == TIDE_STRKEY_ACCOUNT ? SIM_ACCOUNT : SIM_CONTRACT;
    memcpy(address.key, key, TIDE_HASH_BYTES);
    return address;
}

/* Creates accounts and contracts as they were before the first recorded call. */
static void open_world(const struct tide_deployment *deployment)
{
    const int64_t start = 4000000LL * 10000000; /* stroops */
    uint32_t usdc = 0;
    sim_open(&host, deployment->network_id, sim_classes);
    for (uint32_t i = 0; i < deployment->account_count; i++) {
        const struct tide_account *account = &deployment->accounts[i];
        struct sim_addr address = { .kind = SIM_ACCOUNT };
        memcpy(address.key, account->key, TIDE_HASH_BYTES);
        struct sim_account *made = sim_account_add(&host, address, start);
        if (strcmp(account->name, "issuer") == 0)
            usdc = sim_asset_add(&host, "USDC", address);
        made->subentries = strcmp(account->name, "issuer") == 0;
    }
    for (uint32_t i = 0; i < deployment->account_count; i++) {
        struct sim_addr address = { .kind = SIM_ACCOUNT };
        memcpy(address.key, deployment->accounts[i].key, TIDE_HASH_BYTES);
        if (!sim_addr_eq(address, host.assets[usdc].issuer))
            sim_trust(sim_account_find(&host, address), usdc);
    }
    for (uint32_t i = 0; i < deployment->contract_count; i++) {
        const struct tide_contract *c = &deployment->contracts[i];
        struct sim_contract *made =
            sim_contract_add(&host, address_of(c->address), c->role, c->name);
        made->asset = strcmp(c->name, "usdc") == 0 ? usdc : 0;
    }
}

/* Appends "name":"<base64>". */
static void put_xdr(const char *name, tide_slice bytes)
{
    tide_buf_putf(&out, ",\"%s\":\"", name);
    tide_buf_base64(&out, bytes);
    tide_buf_u8(&out, '"');
}

static void list_types(void)
{
    for (uint32_t role = 0; role < TIDE_ROLE_COUNT; role++)
        for (const struct sim_fn *f = sim_classes[role] ? sim_classes[role]->fns : NULL;
             f && f->name; f++)
            tide_buf_putf(&out, "{\"role\":\"%s\",\"fn\":\"%s\",\"types\":\"%s\"}\n",
                          tide_role_name((enum tide_role)role), f->name, f->types);
}

/* Appends the outcome of the call. */
static void put_outcome(void)
{
    const struct sim_outcome *o = &host.out;
    tide_buf_putf(&out, "{\"ok\":%s,\"changed\":%u,\"reason\":", o->ok ? "true" : "false",
                  o->changed);
    tide_buf_json_string(&out, tide_slice_str(o->reason ? o->reason : ""));
    tide_buf_str(&out, ",\"ret\":");
    expect_value(&out, &o->ret);
    tide_buf_str(&out, ",\"events\":[");
    for (uint32_t i = 0; i < o->event_count; i++) {
        tide_buf_reset(&event);
        sim_event_xdr(&event, &o->events[i]);
        tide_buf_str(&out, i ? ",\"" : "\"");
        tide_buf_base64(&out, tide_buf_view(&event));
        tide_buf_u8(&out, '"');
    }
    tide_buf_str(&out, "]}\n");
}

/* Runs a call or a read function. words: those of the command. */
static void run_call(char *words[8])
{
    sim_val args[ARGS_MAX];
    uint32_t count = 0;
    struct sim_addr source = address_of(words[3]), contract = address_of(words[4]);
    sim_ledger(&host, (uint32_t)strtoul(words[1], NULL, 10), strtoull(words[2], NULL, 10));
    tide_arena_reset(&arena);
    tide_buf_reset(&given);
    if (words[6] && tide_buf_base64_decode(&given, tide_slice_str(words[6])) != TIDE_OK)
        abort();
    struct tide_xdr x = tide_xdr_of(tide_buf_view(&given));
    while (count < ARGS_MAX && tide_xdr_left(&x))
        args[count++] = sim_val_read(&arena, tide_scval_span(&x));
    if (strcmp(words[5], "-") == 0)
        (void)sim_deploy(&host, source, sim_contract_find(&host, contract));
    else if (strcmp(words[0], "view") == 0)
        (void)sim_view(&host, contract, words[5], args, count);
    else
        (void)sim_invoke(&host, source, contract, words[5], args, count);
    put_outcome();
}

static void list_state(const struct tide_deployment *deployment)
{
    struct sim_walk walk = { 0 };
    for (struct sim_entry *e = sim_entry_next(&host, &walk); e; e = sim_entry_next(&host, &walk)) {
        tide_buf_str(&out, "{\"contract\":");
        expect_address(&out, e->contract->address);
        tide_buf_putf(&out, ",\"durability\":\"%s\",\"live_until\":%u",
                      e->durability == SIM_TEMPORARY ? "temporary" : "persistent", e->live_until);
        put_xdr("key_xdr", e->key);
        put_xdr("val_xdr", e->val);
        tide_buf_str(&out, "}\n");
    }
    for (uint32_t i = 0; i < deployment->contract_count; i++) {
        const char *address = deployment->contracts[i].address;
        tide_buf_putf(&out, "{\"contract\":\"%s\",\"nonces\":%u}\n", address,
                      sim_contract_find(&host, address_of(address))->nonces);
    }
}

int main(int argc, char **argv)
{
    struct tide_deployment *deployment;
    struct tide_err err;
    char *line = NULL;
    size_t room = 0;
    if (argc != 2 || tide_deployment_read(&deployment, argv[1], &err) != TIDE_OK ||
        tide_arena_open(&arena, SIM_ARENA) != TIDE_OK)
        return 64;
    tide_buf_init(&out, OUT_MAX);
    tide_buf_init(&event, OUT_MAX);
    tide_buf_init(&given, OUT_MAX);
    open_world(deployment);
    while (getline(&line, &room, stdin) > 0) {
        char *words[8] = { 0 }, *rest = line;
        for (int i = 0; i < 7; i++)
            words[i] = strtok_r(rest, " \n", &rest);
        tide_buf_reset(&out);
        if (strcmp(words[0], "types") == 0)
            list_types();
        else if (strcmp(words[0], "state") == 0)
            list_state(deployment);
        else
            run_call(words);
        fwrite(out.ptr, 1, out.len, stdout);
        puts("."); /* the end of an answer */
        fflush(stdout);
    }
    free(line);
    free(deployment);
    tide_buf_release(&out);
    tide_buf_release(&event);
    tide_buf_release(&given);
    tide_arena_close(&arena);
    sim_close(&host);
    return 0;
}
