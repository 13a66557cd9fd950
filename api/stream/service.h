/* The stream service of one API process: the stream, its PostgreSQL source and its thread. Also
 * the indexer's figures for /metrics, which that thread reads. */
#ifndef API_STREAM_SERVICE_H
#define API_STREAM_SERVICE_H

#include "api/stream/pg_source.h"
#include "api/stream/stream.h"
#include "tidemark/config.h"

struct tide_stream_service;

/* conninfo: a role that may read jurisdictions (the feeder's). Does not connect yet. Fails with
 * TIDE_E_MEMORY. *out is the caller's until tide_stream_service_close. */
tide_status tide_stream_service_open(struct tide_stream_service **out,
                                     const struct tide_config *config, const char *conninfo,
                                     struct tide_deployment_select *select,
                                     struct tide_err *err) TIDE_MUST_USE;
/* Starts the thread. */
tide_status tide_stream_service_start(struct tide_stream_service *service,
                                      struct tide_err *err) TIDE_MUST_USE;
/* Drops every subscriber with "shutdown" and joins the thread. Call before the server stops, so
 * that clients get the message. */
void tide_stream_service_stop(struct tide_stream_service *service);
/* Call after the server was closed: its connections hold subscribers. NULL is allowed. */
void tide_stream_service_close(struct tide_stream_service *service);

struct tide_event_stream *tide_stream_service_stream(struct tide_stream_service *service);
/* Copies the indexer's last figures. Any thread. */
void tide_stream_service_figures(struct tide_stream_service *service, struct stream_figures *out);

#endif
