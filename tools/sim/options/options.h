/* Options of the simulator's commands: tables, one reader for all, and what every command that
 * makes a chain is asked. */
#ifndef SIM_OPTIONS_H
#define SIM_OPTIONS_H

#include "tools/sim/chain/chain.h"
#include "tools/sim/hostile/hostile.h"
#include "tools/sim/ledger/lake_write.h"

#include <stdio.h>

/* const char *, uint64_t, bool, struct sim_texts */
enum sim_option_kind { SIM_TEXT, SIM_NUMBER, SIM_FLAG, SIM_TEXTS };

/* An option that may be given more than once. */
struct sim_texts {
    const char *text[64];
    size_t count;
};

struct sim_option {
    const char *name;
    enum sim_option_kind kind;
    size_t at; /* of its field in the structure that its table is of */
    uint64_t min, max;
    const char *help;
};

struct sim_options {
    const struct sim_option *rows;
    size_t count;
    void *to; /* the structure */
};

/* --name value, --name=value and --flag, each looked for in all tables. TIDE_E_USAGE names what
 * does not fit. Texts borrow from argv. */
tide_status sim_options_read(const struct sim_options *tables, size_t table_count, int argc,
                             char **argv, struct tide_err *err) TIDE_MUST_USE;
void sim_options_help(FILE *to, const struct sim_options *tables, size_t table_count);

/* What decides a chain and where it is written. */
struct sim_settings {
    const char *lake, *deployment, *passphrase, *profile, *hostile_attacks;
    uint64_t seed, ledgers, txs, addresses, noise, life, first_ledger, close_step, start_time, lcm;
    uint64_t hostile, hostile_all_from, hostile_bulk, shuffle;
    uint64_t ledgers_per_object, objects_per_partition;
    bool full, strict_auth, catalog_native, diagnostics;
};

#define SIM_PASSPHRASE "Tidemark Simulated Network ; 2026"

/* All but the places, which are NULL. */
struct sim_settings sim_settings_default(void);
struct sim_options sim_settings_options(struct sim_settings *settings);
tide_status sim_settings_check(const struct sim_settings *settings,
                               struct tide_err *err) TIDE_MUST_USE;
struct chain_options sim_settings_chain(const struct sim_settings *settings);
struct hostile_options sim_settings_hostile(const struct sim_settings *settings);
struct lake_options sim_settings_lake(const struct sim_settings *settings);
/* Names and addresses, into --deployment or beside the lake; nowhere when there is neither.
 * last is 0 for a chain that goes on. */
tide_status sim_settings_deployment(const struct sim_settings *settings,
                                    const struct parties *parties, uint32_t last,
                                    struct tide_err *err) TIDE_MUST_USE;

#endif
