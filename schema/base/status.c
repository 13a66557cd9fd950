#include "tidemark/status.h"

#include <stdarg.h>
#include <string.h>

struct outcome {
    const char *name;
    const char *text;
    int exit_code;
};

static const struct outcome outcomes[TIDE_STATUS_COUNT] = {
#define TIDE_STATUS(name, exit_code, text) { #name, text, exit_code },
#include "tidemark/status.def"
#undef TIDE_STATUS
};

tide_status(tide_fail)(struct tide_err *err, tide_status code, const char *format, ...)
{
    assert(err);
    assert(code != TIDE_OK);
    err->code = code;
    va_list args;
    va_start(args, format);
    vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    return code;
}

tide_status tide_fail_context(struct tide_err *err, const char *format, ...)
{
    assert(err);
    assert(err->code != TIDE_OK);
    char was[TIDE_ERR_TEXT_MAX];
    memcpy(was, err->text, sizeof was);
    va_list args;
    va_start(args, format);
    int len = vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    if (len >= 0 && (size_t)len + 3 < sizeof err->text)
        snprintf(err->text + len, sizeof err->text - (size_t)len, ": %.512s", was);
    return err->code;
}

const char *tide_status_name(tide_status status)
{
    assert(status < TIDE_STATUS_COUNT);
    return outcomes[status].name;
}

const char *tide_status_text(tide_status status)
{
    assert(status < TIDE_STATUS_COUNT);
    return outcomes[status].text;
}

int tide_status_exit(tide_status status)
{
    assert(status < TIDE_STATUS_COUNT);
    return outcomes[status].exit_code;
}
