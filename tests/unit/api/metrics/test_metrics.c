/* The text of /metrics: a family has its help and its type, a sample its labels. */
#include "api/metrics/metrics.h"
#include "tidemark/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_text(void **state)
{
    (void)state;
    struct tide_buf out;
    tide_buf_init(&out, 4096);
    tide_metric_family(&out, TIDE_M_api_requests_total);
    tide_metric_u64(&out, TIDE_M_api_requests_total, "route=\"x\"", 7);
    tide_metric_part_real(&out, TIDE_M_api_request_duration_seconds, "_sum", "", 0.5);
    tide_buf_u8(&out, 0);
    assert_string_equal((const char *)out.ptr,
                        "# HELP tidemark_api_requests_total Requests answered, by route "
                        "and status; route none: matched no route.\n"
                        "# TYPE tidemark_api_requests_total counter\n"
                        "tidemark_api_requests_total{route=\"x\"} 7\n"
                        "tidemark_api_request_duration_seconds_sum 0.5\n");
    tide_buf_release(&out);
}

int test_metrics(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_text) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
