/* The live side of one API process: the hub of /api/stream with its thread, and what that thread
 * knows of the indexer, for /metrics. */
#ifndef API_STREAM_SERVICE_H
#define API_STREAM_SERVICE_H

#include "api/stream/pg_source.h"
#include "api/stream/stream.h"
#include "tidemark/config.h"

struct tide_stream_service;

/* conninfo: of a role that may read jurisdictions, the feeder's. Does not connect yet. */
tide_status tide_stream_service_open(struct tide_stream_service **out,
                                     const struct tide_config *config, const char *conninfo,
                                     struct tide_deployment_select *select,
                                     struct tide_err *err) TIDE_MUST_USE;
tide_status tide_stream_service_start(struct tide_stream_service *service,
                                      struct tide_err *err) TIDE_MUST_USE;
/* Every subscriber is told "dropped", "shutdown"; the thread ends. Before the server is stopped. */
void tide_stream_service_stop(struct tide_stream_service *service);
/* After the server was closed. NULL is allowed. */
void tide_stream_service_close(struct tide_stream_service *service);

struct tide_stream_hub *tide_stream_service_hub(struct tide_stream_service *service);
void tide_stream_service_figures(struct tide_stream_service *service, struct stream_figures *out);

#endif
