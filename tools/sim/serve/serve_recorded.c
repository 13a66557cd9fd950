/* Reading of a framed stream of ledgers, one ahead. */
#include "tools/sim/serve/serve_recorded.h"

#include <errno.h>

enum { MARK_BYTES = 4, LEDGER_BYTES_MAX = 128 << 20 };

tide_status recorded_open(struct recorded *r, const char *file, struct tide_err *err)
{
    *r = (struct recorded){ .file = strcmp(file, "-") == 0 ? stdin : fopen(file, "rb") };
    tide_buf_init(&r->next, LEDGER_BYTES_MAX);
    if (!r->file)
        return tide_fail(err, TIDE_E_IO, "cannot read %s: %s", file, strerror(errno));
    return recorded_advance(r, err);
}

void recorded_close(struct recorded *r)
{
    if (r->file)
        fclose(r->file);
    tide_buf_release(&r->next);
    r->file = NULL;
}

tide_status recorded_advance(struct recorded *r, struct tide_err *err)
{
    uint8_t mark[MARK_BYTES];
    tide_buf_reset(&r->next);
    size_t got = fread(mark, 1, sizeof mark, r->file);
    r->ended = got == 0;
    if (r->ended)
        return TIDE_OK;
    uint32_t len =
        (uint32_t)mark[0] << 24 | (uint32_t)mark[1] << 16 | (uint32_t)mark[2] << 8 | mark[3];
    /* The top bit of the length marks a record's last fragment; ledgers have one. */
    if (got < sizeof mark || !(len >> 31))
        return tide_fail(err, TIDE_E_DECODE, "the recorded ledgers are no framed stream");
    len &= 0x7fffffff;
    uint8_t *to = tide_buf_room(&r->next, len);
    if (!to)
        return tide_fail(err, TIDE_E_LIMIT, "a recorded ledger has %u bytes", len);
    if (fread(to, 1, len, r->file) != len)
        return tide_fail(err, TIDE_E_DECODE, "the recorded ledgers end within a ledger");
    r->next.len += len;
    return TIDE_OK;
}
