/* Metrics as Prometheus' text. */
#include "api/metrics/metrics.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

const struct tide_metric_info tide_metric_infos[TIDE_METRIC_COUNT] = {
#define TIDE_METRIC(name, type, labels, help) { #name, #type, labels, help },
#include "api/metrics/metrics.def"
};

void tide_metric_family(struct tide_buf *out, enum tide_metric metric)
{
    const struct tide_metric_info *info = &tide_metric_infos[metric];
    tide_buf_putf(out, "# HELP tidemark_%s %s\n# TYPE tidemark_%s %s\n", info->name, info->help,
                  info->name, info->type);
}

/* Writes a sample up to its value. Both formats take the same three arguments; without labels
 * the last one is empty. */
static void put_name(struct tide_buf *out, enum tide_metric metric, const char *part,
                     const char *labels)
{
    tide_buf_putf(out, *labels ? "tidemark_%s%s{%s} " : "tidemark_%s%s%s ",
                  tide_metric_infos[metric].name, part, labels);
}

void tide_metric_part_u64(struct tide_buf *out, enum tide_metric metric, const char *part,
                          const char *labels, uint64_t value)
{
    put_name(out, metric, part, labels);
    tide_buf_putf(out, "%" PRIu64 "\n", value);
}

/* 15 significant digits: enough for sums in seconds and bytes. */
void tide_metric_part_real(struct tide_buf *out, enum tide_metric metric, const char *part,
                           const char *labels, double value)
{
    put_name(out, metric, part, labels);
    tide_buf_putf(out, "%.15g\n", value);
}

void tide_metric_u64(struct tide_buf *out, enum tide_metric metric, const char *labels,
                     uint64_t value)
{
    tide_metric_part_u64(out, metric, "", labels, value);
}

void tide_metric_real(struct tide_buf *out, enum tide_metric metric, const char *labels,
                      double value)
{
    tide_metric_part_real(out, metric, "", labels, value);
}

void tide_metric_counter(struct tide_buf *out, enum tide_metric metric, uint64_t value)
{
    assert(strcmp(tide_metric_infos[metric].type, "counter") == 0);
    tide_metric_family(out, metric);
    tide_metric_u64(out, metric, "", value);
}

void tide_metric_gauge(struct tide_buf *out, enum tide_metric metric, double value)
{
    assert(strcmp(tide_metric_infos[metric].type, "gauge") == 0);
    tide_metric_family(out, metric);
    tide_metric_real(out, metric, "", value);
}
