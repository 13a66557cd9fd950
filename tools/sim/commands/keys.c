/* tidemark-sim keys: prints the key pairs of a simulated network. */
#include "tidemark/strkey.h"
#include "tools/sim/options/command.h"
#include "tools/sim/options/options.h"
#include "tools/sim/workload/parties.h"

/* The command's options. */
struct keys_options {
    const char *name;
    uint64_t seed, users;
};

/* clang-format off */
#define AT(field) offsetof(struct keys_options, field)
static const struct sim_option table[] = {
    { "seed",  SIM_NUMBER, AT(seed),  0, UINT64_MAX, "N  seed of the network, as in write and serve; default 1" },
    { "users", SIM_NUMBER, AT(users), 1, 100000,     "N  how many users to list; default 48" },
    { "name",  SIM_TEXT,   AT(name),  0, 0,          "NAME  print only this one: user7, sumsub, admin, or any other name" },
};
/* clang-format on */

/* Prints one line: name, address, secret. The key follows from seed and name alone. */
static void print_key(uint64_t seed, const char *name)
{
    uint8_t secret[TIDE_SEED_BYTES], public[TIDE_HASH_BYTES];
    char text[TIDE_STRKEY_TEXT_MAX];
    struct keys keys = { 0 };
    parties_seed(secret, seed, name);
    if (keys_add(&keys, secret, public) != TIDE_OK)
        abort();
    size_t len =
        tide_strkey_encode(text, TIDE_STRKEY_ACCOUNT, tide_slice_of(public, sizeof public));
    printf("%-12s %.*s ", name, (int)len, text);
    len = tide_strkey_encode(text, TIDE_STRKEY_SEED, tide_slice_of(secret, sizeof secret));
    printf("%.*s\n", (int)len, text);
    keys_close(&keys);
}

/* Prints all accounts of a chain with that seed. The passphrase does not matter to keys. */
static tide_status print_all(const struct keys_options *o, struct tide_err *err)
{
    struct parties parties;
    tide_status status = parties_open(&parties, "", o->seed, (uint32_t)o->users);
    if (status != TIDE_OK)
        tide_fail(err, status, "no memory for the keys");
    for (uint32_t i = 0; status == TIDE_OK && i < parties.account_count; i++)
        print_key(o->seed, parties.accounts[i].name);
    parties_close(&parties);
    return status;
}

int sim_keys_command(int argc, char **argv)
{
    struct tide_err err;
    struct keys_options o = { .seed = 1, .users = 48 };
    const struct sim_options tables[] = { { table, TIDE_COUNT(table), &o } };
    if (argc > 0 && strcmp(argv[0], "--help") == 0) {
        printf("usage: tidemark-sim keys [options]\n\n"
               "Prints name, address and secret of each account of a simulated network.\n\n");
        sim_options_help(stdout, tables, TIDE_COUNT(tables));
        return 0;
    }
    tide_status status = sim_options_read(tables, TIDE_COUNT(tables), argc, argv, &err);
    if (status == TIDE_OK) {
        fprintf(stderr,
                "simulated keys: everyone can compute them, never use them on a real network\n");
        if (o.name)
            print_key(o.seed, o.name);
        else
            status = print_all(&o, &err);
    }
    if (status != TIDE_OK)
        fprintf(stderr, "tidemark-sim keys: %s\n", err.text);
    return tide_status_exit(status);
}
