#include "api/http/metrics_text.h"

#include <inttypes.h>

void tide_metric_family(struct tide_buf *out, const char *name, const char *type, const char *help)
{
    tide_buf_putf(out, "# HELP tidemark_%s %s\n# TYPE tidemark_%s %s\n", name, help, name, type);
}

static void put_name(struct tide_buf *out, const char *name, const char *labels)
{
    tide_buf_putf(out, *labels ? "tidemark_%s{%s} " : "tidemark_%s%s ", name, labels);
}

void tide_metric_u64(struct tide_buf *out, const char *name, const char *labels, uint64_t value)
{
    put_name(out, name, labels);
    tide_buf_putf(out, "%" PRIu64 "\n", value);
}

void tide_metric_real(struct tide_buf *out, const char *name, const char *labels, double value)
{
    put_name(out, name, labels);
    tide_buf_putf(out, "%.15g\n", value);
}

void tide_metric_counter(struct tide_buf *out, const char *name, const char *help, uint64_t value)
{
    tide_metric_family(out, name, "counter", help);
    tide_metric_u64(out, name, "", value);
}

void tide_metric_gauge(struct tide_buf *out, const char *name, const char *help, double value)
{
    tide_metric_family(out, name, "gauge", help);
    tide_metric_real(out, name, "", value);
}
