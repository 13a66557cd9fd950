/* The age of a database's content. */
#include "api/sql/age.h"

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

struct tide_age_sign tide_age_read(const struct tide_pg_rows *rows, uint32_t row, uint32_t column)
{
    assert(column + TIDE_AGE_COLUMN_COUNT <= rows->columns); /* the SQL text ends in them */
    return (struct tide_age_sign){
        .renewed_ms = (int64_t)tide_pg_u64(rows, row, column),
        .server_ms = (int64_t)tide_pg_u64(rows, row, column + 1),
        .standby = tide_pg_u64(rows, row, column + 2) == 1,
    };
}

/* Returns the server's clock minus the renewal. A renewal slightly in the server's future is
 * normal and counts as 0. */
static int64_t by_server(const struct tide_age_sign *sign)
{
    int64_t age = sign->server_ms - sign->renewed_ms;
    if (age >= 0)
        return age;
    return age < -TIDE_AGE_SKEW_MS ? -age : 0;
}

uint64_t tide_age_of(struct tide_age *age, const struct tide_age_sign *sign, int64_t wall_ms,
                     int64_t now_ms)
{
    if (age->renewed_ms != sign->renewed_ms)
        *age = (struct tide_age){ sign->renewed_ms, now_ms };
    int64_t oldest = later(by_server(sign), now_ms - age->changed_ms);
    if (sign->standby)
        oldest = later(oldest, wall_ms - sign->renewed_ms);
    assert(oldest >= 0);
    return (uint64_t)oldest;
}

uint64_t tide_age_closed(const struct tide_age_sign *sign, uint64_t closed_ms, int64_t wall_ms)
{
    int64_t age = later(sign->server_ms, wall_ms) - (int64_t)closed_ms;
    return age > 0 ? (uint64_t)age : 0;
}
