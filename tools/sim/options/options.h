/* Options of the simulator's commands: their tables, one reader for all, and the settings of a
 * chain that several commands share. */
#ifndef SIM_OPTIONS_H
#define SIM_OPTIONS_H

#include "tools/sim/chain/chain.h"
#include "tools/sim/hostile/hostile.h"
#include "tools/sim/ledger/lake_write.h"

#include <stdio.h>

/* Type of an option's field: const char *, uint64_t, bool, struct sim_texts. */
enum sim_option_kind { SIM_TEXT, SIM_NUMBER, SIM_FLAG, SIM_TEXTS };

/* An option that may be given more than once. */
struct sim_texts {
    const char *text[64];
    size_t count;
};

/* One option of a command. */
struct sim_option {
    const char *name;
    enum sim_option_kind kind;
    size_t at;         /* offset of its field in the command's structure */
    uint64_t min, max; /* range of a number, both included */
    const char *help;
};

/* A table of options and the structure that they fill. */
struct sim_options {
    const struct sim_option *rows;
    size_t count;
    void *to; /* the structure */
};

/* Reads --name value, --name=value and --name, looking each up in all tables. Returns TIDE_E_USAGE
 * with the first argument that does not fit. Texts borrow from argv. */
tide_status sim_options_read(const struct sim_options *tables, size_t table_count, int argc,
                             char **argv, struct tide_err *err) TIDE_MUST_USE;
/* Prints one line for each option. */
void sim_options_help(FILE *to, const struct sim_options *tables, size_t table_count);

/* Settings of a chain and of the place where it is written. The fields are those of chain_options,
 * hostile_options and lake_options. */
struct sim_settings {
    const char *lake, *deployment, *passphrase, *profile, *hostile_attacks;
    uint64_t seed, ledgers, txs, addresses, noise, life, first_ledger, close_step, start_time, lcm;
    uint64_t hostile, hostile_all_from, hostile_bulk, shuffle;
    uint64_t ledgers_per_object, objects_per_partition;
    bool full, strict_auth, catalog_native, diagnostics, milliseconds;
};

#define SIM_PASSPHRASE "Tidemark Simulated Network ; 2026"

/* Returns the defaults. lake, deployment and hostile_attacks are NULL. */
struct sim_settings sim_settings_default(void);
/* Returns the table of a chain's options, which fill settings. */
struct sim_options sim_settings_options(struct sim_settings *settings);
/* Checks settings that depend on each other. Returns TIDE_E_USAGE. */
tide_status sim_settings_check(const struct sim_settings *settings,
                               struct tide_err *err) TIDE_MUST_USE;
/* Return checked settings in the form that chain, attackers and lake take. Texts borrow. */
struct chain_options sim_settings_chain(const struct sim_settings *settings);
struct hostile_options sim_settings_hostile(const struct sim_settings *settings);
struct lake_options sim_settings_lake(const struct sim_settings *settings);
/* Writes names and addresses to the file --deployment, or beside the lake; writes nothing if
 * neither is given. last is the chain's last ledger; 0 if the chain goes on. Returns TIDE_E_IO. */
tide_status sim_settings_deployment(const struct sim_settings *settings,
                                    const struct parties *parties, uint32_t last,
                                    struct tide_err *err) TIDE_MUST_USE;

#endif
