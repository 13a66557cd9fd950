/* Steps that the programs of api/ share at their start. */
#ifndef API_BASE_PROGRAM_H
#define API_BASE_PROGRAM_H

#include "tidemark/config.h"
#include "tidemark/status.h"

/* Sets the log as the configuration says, and reports settings that nothing reads. */
void tide_program_log(const struct tide_config *config);
/* Writes the port to the file at path, for programs that start the server with port 0. An empty
 * path: no file. */
tide_status tide_program_port(const char *path, uint16_t port, struct tide_err *err) TIDE_MUST_USE;

#endif
