/* The text format of Prometheus (0.0.4): families with HELP and TYPE, and their samples. */
#ifndef API_HTTP_METRICS_TEXT_H
#define API_HTTP_METRICS_TEXT_H

#include "tidemark/buf.h"

#define TIDE_METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* "# HELP tidemark_<name> help", "# TYPE tidemark_<name> type". Its samples follow. */
void tide_metric_family(struct tide_buf *out, const char *name, const char *type, const char *help);
/* A sample; labels "" or `route="prices",status="200"`. */
void tide_metric_u64(struct tide_buf *out, const char *name, const char *labels, uint64_t value);
void tide_metric_real(struct tide_buf *out, const char *name, const char *labels, double value);
/* A family of one sample. */
void tide_metric_counter(struct tide_buf *out, const char *name, const char *help, uint64_t value);
void tide_metric_gauge(struct tide_buf *out, const char *name, const char *help, double value);

#endif
