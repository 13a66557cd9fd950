/* Declarations that cli*.c share: the rows of one command, in the forms that help and man page
 * use. */
#ifndef SCHEMA_PROGRAM_CLI_IMPL_H
#define SCHEMA_PROGRAM_CLI_IMPL_H

#include "tidemark/cli.h"

/* Returns the next row of the command, or NULL after its last one. */
const struct tide_cli_row *tide_cli_next(const struct tide_cli *cli,
                                         const struct tide_cli_row *row);
/* Appends "--from N". */
void tide_cli_option_text(struct tide_buf *out, const struct tide_cli_row *row);
/* Appends "tidemark-indexer verify [--from N] [--to N]". */
void tide_cli_usage(const struct tide_cli *cli, const struct tide_cli_row *command,
                    struct tide_buf *out);
/* Calls put for each exit code, with the texts of its outcomes. */
void tide_exit_codes(struct tide_buf *out,
                     void (*put)(struct tide_buf *out, const char *code, const char *text));

#endif
