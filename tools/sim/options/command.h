/* The commands of tidemark-sim. Each takes the arguments behind its name and returns the exit
 * status. */
#ifndef SIM_COMMAND_H
#define SIM_COMMAND_H

/* keys [--seed N] [--name NAME]: prints addresses and secrets of a simulated network. */
int sim_keys_command(int argc, char **argv);
/* tx CALL [options]: sends one transaction as a client would. */
int sim_tx_command(int argc, char **argv);
/* write [options]: writes a chain to a lake or a stream. */
int sim_write_command(int argc, char **argv);
/* serve [options]: runs a network with a Stellar RPC. */
int sim_serve_command(int argc, char **argv);

#endif
