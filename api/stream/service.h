/* The live side of one API process: the hub of /api/stream with its thread, and what that thread
 * knows of the indexer, for /metrics. */
#ifndef API_STREAM_SERVICE_H
#define API_STREAM_SERVICE_H

#include "api/stream/pg_source.h"
#include "api/stream/stream.h"
#include "tidemark/config.h"

struct tide_live;

/* conninfo: of a role that may read jurisdictions, the feeder's. Connects to nobody yet. */
tide_status tide_live_open(struct tide_live **out, const struct tide_config *config,
                           const char *conninfo, struct tide_deployment_select *select,
                           struct tide_err *err) TIDE_MUST_USE;
tide_status tide_live_start(struct tide_live *live, struct tide_err *err) TIDE_MUST_USE;
/* Every subscriber is told "dropped", "shutdown"; the thread ends. Before the server is stopped. */
void tide_live_stop(struct tide_live *live);
/* After the server was closed. NULL is allowed. */
void tide_live_close(struct tide_live *live);

struct tide_hub *tide_live_hub(struct tide_live *live);
void tide_live_figures(struct tide_live *live, struct stream_figures *out);

#endif
