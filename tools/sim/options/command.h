/* The commands of tidemark-sim. Each gets what follows its name; its result is the exit code. */
#ifndef SIM_COMMAND_H
#define SIM_COMMAND_H

/* replay CALLS --deployment FILE [--events FILE] [--state FILE]… [--views FILE] */
int sim_replay_command(int argc, char **argv);
/* keys [--seed N] [--name NAME]: addresses and secrets of a simulated network. */
int sim_keys_command(int argc, char **argv);
/* tx CALL [options]: one transaction, sent as a client would. */
int sim_tx_command(int argc, char **argv);
int sim_write_command(int argc, char **argv);
int sim_serve_command(int argc, char **argv);

#endif
