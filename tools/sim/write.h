/* tidemark-sim write: a simulated chain into a lake or a stream. */
#ifndef SIM_WRITE_H
#define SIM_WRITE_H

/* argv holds the options alone. Answers the exit code. */
int sim_write_command(int argc, char **argv);

#endif
