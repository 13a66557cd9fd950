/* A status for the program, and a text for people.
 *
 * Every function that can fail returns tide_status. Functions that use files, sockets or the
 * database also fill struct tide_err (last parameter, never NULL), but only on failure. Programs
 * decide by the code; the text explains it. Each layer adds its context once. */
#ifndef TIDEMARK_STATUS_H
#define TIDEMARK_STATUS_H

#include "tidemark/base.h"

typedef enum tide_status {
#define TIDE_STATUS(name, exit_code, text) TIDE_##name,
#include "tidemark/status.def"
#undef TIDE_STATUS
    TIDE_STATUS_COUNT
} tide_status;
static_assert(TIDE_OK == 0, "`if (status)` asks for a failure");

#define TIDE_ERR_TEXT_MAX 768u

struct tide_err {
    tide_status code;
    char text[TIDE_ERR_TEXT_MAX]; /* NUL-terminated, cut if too long */
};

/* Fills err and returns code. code is not TIDE_OK. */
tide_status tide_fail(struct tide_err *err, tide_status code, const char *format, ...)
    TIDE_PRINTF(3, 4);
#ifdef __clang_analyzer__
/* clang's analyzer does not look into another file, so it would follow paths on which tide_fail
 * returns TIDE_OK. This form shows it the returned value. */
static inline tide_status tide_status_same(tide_status code)
{
    return code;
}
#define tide_fail(err, code, ...) \
    ((void)(tide_fail)(err, code, __VA_ARGS__), tide_status_same(code))
#endif

/* Puts context before the text that is already there and returns err->code. */
tide_status tide_fail_context(struct tide_err *err, const char *format, ...) TIDE_PRINTF(2, 3);

/* Return the static texts and the exit code of status.def. */
const char *tide_status_name(tide_status status);
const char *tide_status_text(tide_status status);
int tide_status_exit(tide_status status);

#endif
