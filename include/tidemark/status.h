/* A status for the program, a sentence for the person.
 *
 * Everything that can fail returns tide_status. Functions that touch the world
 * also fill struct tide_err (last parameter, never NULL), only on failure. The
 * code decides, the text explains; each layer adds its context once. */
#ifndef TIDEMARK_STATUS_H
#define TIDEMARK_STATUS_H

#include "tidemark/base.h"

typedef enum tide_status {
#define TIDE_STATUS(name, exit_code, text) TIDE_##name,
#include "tidemark/status.def"
#undef TIDE_STATUS
    TIDE_STATUS_COUNT
} tide_status;

#define TIDE_ERR_TEXT_MAX 768u

struct tide_err {
    tide_status code;
    char text[TIDE_ERR_TEXT_MAX]; /* NUL-terminated, cut if too long */
};

/* Fills err and returns code. code is not TIDE_OK. */
tide_status tide_fail(struct tide_err *err, tide_status code, const char *format, ...)
    TIDE_PRINTF(3, 4);

/* Puts context in front of a text that is already there and returns err->code. */
tide_status tide_fail_context(struct tide_err *err, const char *format, ...) TIDE_PRINTF(2, 3);

/* Static text and exit code of the table above. */
const char *tide_status_name(tide_status status);
const char *tide_status_text(tide_status status);
int tide_status_exit(tide_status status);

#endif
