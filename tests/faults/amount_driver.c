/* amount_driver: scales amounts and divides them as answers do, for tests that compare C with SQL.
 *
 * Each line of the input has an amount, its decimals, and the same of another token. The output has
 * for each the first amount scaled, and the price of the second token in the first, or null. */
#include "tidemark/json.h"
#include "tidemark/rule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tide_raw_i128 number(const char *text)
{
    tide_i128 v = { 0 };
    if (tide_i128_parse(&v, tide_slice_str(text)) != TIDE_OK)
        exit(2);
    return v.raw;
}

/* Prints the value of the member that was written, without its quotes. */
static void print_value(struct tide_buf *out, char end)
{
    tide_slice text = tide_buf_view(out);
    const char *colon = memchr(text.ptr, ':', text.len);
    if (out->failed || !colon)
        exit(2);
    for (const char *c = colon + 1; c < (const char *)text.ptr + text.len; c++)
        if (*c != '"')
            putchar(*c);
    putchar(end);
    tide_buf_release(out);
}

static void print_scaled(tide_raw_i128 v, uint32_t decimals, char end)
{
    struct tide_buf out;
    tide_buf_init(&out, 1024);
    struct tide_json j = { .buf = &out };
    tide_json_scaled(&j, "v", v, decimals);
    print_value(&out, end);
}

int main(void)
{
    char a[64], b[64];
    unsigned a_decimals, b_decimals;
    while (scanf("%63s %u %63s %u", a, &a_decimals, b, &b_decimals) == 4) {
        struct tide_hot_pool pool = { .reserve_a = tide_hot_amount(number(b)),
                                      .reserve_b = tide_hot_amount(number(a)) };
        tide_raw_i128 price = 0;
        bool known = a_decimals <= 38 && b_decimals <= 38 &&
                     tide_rule_shown(&price, &pool, true, b_decimals, a_decimals);
        print_scaled(number(a), a_decimals, ' ');
        print_scaled(price, known ? 7 : TIDE_JSON_UNKNOWN, '\n');
    }
    return 0;
}
