#include "tidemark/nearest.h"

static char folded(char c)
{
    if (c == '-')
        return '_';
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Returns how many letters must be inserted, deleted, replaced or swapped with a neighbour to turn
 * one word into the other. */
static size_t changes(tide_slice a, const char *b)
{
    /* rows of the table for the last two letters of b and the present one */
    size_t rows[3][TIDE_NEAREST_MAX + 1];
    size_t *before = rows[0], *last = rows[1], *row = rows[2];
    assert(a.len <= TIDE_NEAREST_MAX);
    for (size_t i = 0; i <= a.len; i++)
        last[i] = i;
    for (size_t j = 1; b[j - 1]; j++) {
        row[0] = j;
        for (size_t i = 1; i <= a.len; i++) {
            char x = folded((char)a.ptr[i - 1]), y = folded(b[j - 1]);
            size_t best = last[i - 1] + (x != y);
            best = best < last[i] + 1 ? best : last[i] + 1;
            best = best < row[i - 1] + 1 ? best : row[i - 1] + 1;
            if (i > 1 && j > 1 && x == folded(b[j - 2]) && y == folded((char)a.ptr[i - 2]) &&
                before[i - 2] + 1 < best)
                best = before[i - 2] + 1;
            row[i] = best;
        }
        size_t *spare = before;
        before = last;
        last = row;
        row = spare;
    }
    return last[a.len];
}

struct tide_nearest tide_nearest_of(tide_slice typed)
{
    return (struct tide_nearest){ .typed = typed, .changes = typed.len / 2 + 1 };
}

void tide_nearest_try(struct tide_nearest *nearest, const char *name)
{
    if (nearest->typed.len > TIDE_NEAREST_MAX)
        return;
    size_t count = changes(nearest->typed, name);
    if (count >= nearest->changes)
        return;
    nearest->changes = count;
    nearest->found = name;
}
