/* lake_stream LAKE: writes the ledgers of a lake to standard output as a framed stream. */
#include "indexer/source/source.h"
#include "tidemark/config.h"

#include <stdio.h>
#include <stdlib.h>

static tide_status put_record(tide_slice lcm, struct tide_err *err)
{
    uint32_t len = (uint32_t)lcm.len;
    uint8_t mark[4] = { (uint8_t)(len >> 24 | 0x80), (uint8_t)(len >> 16), (uint8_t)(len >> 8),
                        (uint8_t)len };
    if (fwrite(mark, 1, 4, stdout) != 4 || fwrite(lcm.ptr, 1, lcm.len, stdout) != lcm.len)
        return tide_fail(err, TIDE_E_IO, "cannot write");
    return TIDE_OK;
}

static tide_status copy_ledgers(struct tide_source *source, struct tide_err *err)
{
    tide_slice lcm;
    uint32_t sequence;
    tide_status status = source->ops->seek(source->self, 0, 0, err);
    while (status == TIDE_OK) {
        status = source->ops->next(source->self, &lcm, &sequence, err);
        if (status == TIDE_OK)
            status = put_record(lcm, err);
    }
    return status == TIDE_E_EOF ? TIDE_OK : status;
}

int main(int argc, char **argv)
{
    static struct tide_config config;
    struct tide_source source;
    struct tide_err err;
    tide_config_defaults(&config);
    if (argc != 2 || snprintf(config.lake, sizeof config.lake, "%s", argv[1]) < 0)
        return 64;
    struct tide_source_options options = { .config = &config };
    tide_status status = tide_source_open(&source, &options, &err);
    if (status == TIDE_OK) {
        status = copy_ledgers(&source, &err);
        source.ops->close(source.self);
    }
    if (status != TIDE_OK)
        fprintf(stderr, "lake_stream: %s\n", err.text);
    return status == TIDE_OK && fflush(stdout) == 0 ? 0 : 1;
}
