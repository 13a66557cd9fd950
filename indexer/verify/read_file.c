#include "indexer/verify/read_file.h"

#include <errno.h>
#include <stdio.h>

enum { PIECE = 4096 };

tide_status verify_read_file(struct tide_buf *out, const char *path, const char *what,
                             struct tide_err *err)
{
    FILE *file = fopen(path, "rbe");
    if (!file)
        return tide_fail(err, TIDE_E_IO, "%s: %s", path, strerror(errno));
    for (;;) {
        uint8_t *to = tide_buf_room(out, PIECE);
        size_t got = to ? fread(to, 1, PIECE, file) : 0;
        out->len += got;
        if (got == 0)
            break;
    }
    bool failed = ferror(file);
    fclose(file);
    if (out->failed)
        return tide_fail(err, TIDE_E_LIMIT, "%s: larger than %s", path, what);
    return failed ? tide_fail(err, TIDE_E_IO, "%s: cannot be read", path) : TIDE_OK;
}
