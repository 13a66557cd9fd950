/* Opens the source that the configuration names. */
#include "indexer/source/source.h"

bool tide_source_refetch(const struct tide_source *source, uint32_t ledger, struct tide_err *err)
{
    bool content = err->code == TIDE_E_DECODE || err->code == TIDE_E_UNKNOWN ||
                   err->code == TIDE_E_LIMIT || err->code == TIDE_E_RANGE ||
                   err->code == TIDE_E_CHAIN;
    return content && source->ops->refetch && source->ops->refetch(source->self, ledger, err);
}

tide_status tide_source_check(const struct tide_config *config, struct tide_err *err)
{
    bool lake = *config->lake, stream = *config->stream, rpc = *config->rpc;
    if (!lake && !stream && !rpc)
        return tide_fail(err, TIDE_E_CONFIG, "lake, rpc, stream: one of them must be set");
    if (stream && (lake || rpc))
        return tide_fail(err, TIDE_E_CONFIG,
                         "stream and %s: a stream stands alone; only lake and rpc go together",
                         lake ? "lake" : "rpc");
    return TIDE_OK;
}

tide_status tide_source_open(struct tide_source *out, const struct tide_source_options *options,
                             struct tide_err *err)
{
    const struct tide_config *c = options->config;
    tide_status status = tide_source_check(c, err);
    if (status != TIDE_OK)
        return status;
    if (*c->stream)
        return tide_stream_open(out, options, err);
    if (*c->lake && *c->rpc)
        return tide_joined_open(out, options, err);
    return *c->lake ? tide_lake_open(out, options, err) : tide_rpc_open(out, options, err);
}
