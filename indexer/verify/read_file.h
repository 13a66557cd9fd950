/* A small file that a user names, whole. */
#ifndef INDEXER_VERIFY_READ_FILE_H
#define INDEXER_VERIFY_READ_FILE_H

#include "tidemark/buf.h"
#include "tidemark/status.h"

/* Appends the file to the buffer. TIDE_E_IO if it cannot be read, TIDE_E_LIMIT if it is larger than
 * the buffer may be: "larger than WHAT". */
tide_status verify_read_file(struct tide_buf *out, const char *path, const char *what,
                             struct tide_err *err) TIDE_MUST_USE;

#endif
