#include "tools/sim/chain/tally.h"

static bool same_reason(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

void tally_tx(void *self, const struct chain_tx *tx)
{
    struct tally *tally = self;
    char what[sizeof tally->lines[0].what];
    const char *reason = tx->outcome->ok ? NULL : tx->outcome->reason;
    bool token = strncmp(tx->contract->name, "token_", 6) == 0;
    snprintf(what, sizeof what, "%s.%s", token ? "synth_token" : tx->contract->name,
             tx->fn ? tx->fn : "(create)");
    uint32_t i = 0;
    while (i < tally->line_count && (strcmp(tally->lines[i].what, what) != 0 ||
                                     !same_reason(tally->lines[i].reason, reason)))
        i++;
    if (i == TALLY_LINES)
        i--;
    if (i == tally->line_count) {
        snprintf(tally->lines[i].what, sizeof tally->lines[i].what, "%s", what);
        tally->lines[i].reason = reason;
        tally->line_count++;
    }
    tally->lines[i].count++;
}

static int by_name_and_count(const void *a, const void *b)
{
    const struct tally_line *x = a, *y = b;
    int order = strcmp(x->what, y->what);
    return order ? order : (x->count < y->count) - (x->count > y->count);
}

void tally_print(struct tally *tally, FILE *to)
{
    qsort(tally->lines, tally->line_count, sizeof tally->lines[0], by_name_and_count);
    for (uint32_t i = 0; i < tally->line_count; i++) {
        const struct tally_line *line = &tally->lines[i];
        fprintf(to, "%8" PRIu64 "  %-44s %s\n", line->count, line->what,
                line->reason ? line->reason : "passed");
    }
}
