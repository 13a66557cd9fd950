/* The text format of Prometheus (0.0.4): families with HELP and TYPE, and their samples.
 * metrics.def lists all metrics. */
#ifndef API_METRICS_METRICS_H
#define API_METRICS_METRICS_H

#include "tidemark/buf.h"

#define TIDE_METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"

enum tide_metric {
#define TIDE_METRIC(name, type, labels, help) TIDE_M_##name,
#include "api/metrics/metrics.def"
    TIDE_METRIC_COUNT
};

struct tide_metric_info {
    const char *name; /* without "tidemark_" */
    const char *type;
    const char *labels; /* comma-separated; empty: none */
    const char *help;
};
extern const struct tide_metric_info tide_metric_infos[TIDE_METRIC_COUNT];

/* Writes "# HELP tidemark_<name> help" and "# TYPE tidemark_<name> type". The family's samples
 * must follow. */
void tide_metric_family(struct tide_buf *out, enum tide_metric metric);
/* Writes a sample. labels: empty, or `route="prices",status="200"`. */
void tide_metric_u64(struct tide_buf *out, enum tide_metric metric, const char *labels,
                     uint64_t value);
void tide_metric_real(struct tide_buf *out, enum tide_metric metric, const char *labels,
                      double value);
/* Writes a sample of a histogram. part: "_bucket", "_sum" or "_count". */
void tide_metric_part_u64(struct tide_buf *out, enum tide_metric metric, const char *part,
                          const char *labels, uint64_t value);
void tide_metric_part_real(struct tide_buf *out, enum tide_metric metric, const char *part,
                           const char *labels, double value);
/* Writes a family of one sample. The metric must have that type. */
void tide_metric_counter(struct tide_buf *out, enum tide_metric metric, uint64_t value);
void tide_metric_gauge(struct tide_buf *out, enum tide_metric metric, double value);

#endif
