/* The command export: prints stored events, calls or entries. */
#include "indexer/commands/command.h"
#include "indexer/database/migrate.h"
#include "indexer/database/query.h"
#include "indexer/export/export.h"
#include "indexer/write/writer.h"
#include "tidemark/limits.h"
#include "tidemark/log.h"
#include "tidemark/table.h"

#include <errno.h>
#include <stdlib.h>

enum export_kind { EXPORT_EVENTS, EXPORT_CALLS, EXPORT_STATE };

struct request {
    enum export_kind kind;
    enum tide_export_format format;
    uint32_t from, to, ledger; /* 0: not given */
};

static tide_status read_kind(struct request *r, int argc, char **argv, struct tide_err *err)
{
    static const char *const names[] = { "events", "calls", "state" };
    static_assert(TIDE_COUNT(names) == EXPORT_STATE + 1, "each kind has its word");
    for (uint32_t i = 0; argc == 2 && i < TIDE_COUNT(names); i++) {
        if (strcmp(argv[1], names[i]) == 0) {
            r->kind = (enum export_kind)i;
            return TIDE_OK;
        }
    }
    return tide_fail(err, TIDE_E_USAGE, "expected one of events, calls, state");
}

static tide_status read_format(struct request *r, const struct tide_option *option,
                               struct tide_err *err)
{
    if (!option->value || strcmp(option->value, "jsonl") == 0)
        r->format = TIDE_EXPORT_JSONL;
    else if (strcmp(option->value, "csv") == 0)
        r->format = TIDE_EXPORT_CSV;
    else
        return tide_fail(err, TIDE_E_USAGE, "--format: jsonl or csv, not \"%.40s\"", option->value);
    return TIDE_OK;
}

/* Reads operand and options. Ranges are for events and calls; the state has one ledger. */
static tide_status read_request(struct request *r, const struct tide_option *options, int argc,
                                char **argv, struct tide_err *err)
{
    tide_status status = read_kind(r, argc, argv, err);
    if (status == TIDE_OK)
        status = read_format(r, tide_option_find(options, "format"), err);
    if (status == TIDE_OK)
        status = tide_option_u32(tide_option_find(options, "from"), 1, INT32_MAX, &r->from, err);
    if (status == TIDE_OK)
        status = tide_option_u32(tide_option_find(options, "to"), 1, INT32_MAX, &r->to, err);
    if (status == TIDE_OK)
        status =
            tide_option_u32(tide_option_find(options, "ledger"), 1, INT32_MAX, &r->ledger, err);
    if (status == TIDE_OK && (r->from || r->to) && (r->ledger || r->kind == EXPORT_STATE))
        status = tide_fail(err, TIDE_E_USAGE,
                           "--from and --to choose events or calls; --ledger alone "
                           "chooses one ledger of them, or the state's");
    if (status == TIDE_OK && r->to && r->from > r->to)
        status = tide_fail(err, TIDE_E_USAGE, "--from %u is after --to %u", r->from, r->to);
    return status;
}

/* Sets the range, and fails if a part of it is not indexed or archived: an empty output would look
 * like an empty chain. */
static tide_status choose_range(struct tide_export *x, const struct request *r,
                                struct tide_err *err)
{
    assert(!r->ledger || (!r->from && !r->to));
    struct tide_range chosen, asked = { r->from, r->to };
    if (r->ledger)
        asked = (struct tide_range){ r->ledger, r->ledger };
    tide_status status = tide_query_covered(x->pg, x->deployment, asked, &chosen, err);
    if (status != TIDE_OK)
        return status;
    x->from = chosen.from;
    x->to = chosen.to;
    x->as_of = r->kind == EXPORT_STATE ? r->ledger : 0;
    if (r->kind != EXPORT_STATE)
        return tide_query_whole(x->pg, x->deployment, x->from, x->to, err);
    return TIDE_OK;
}

static tide_status write_all(struct tide_export *x, const struct request *r, struct tide_err *err)
{
    static const char *const *const columns[] = { tide_export_event_columns,
                                                  tide_export_call_columns,
                                                  tide_export_state_columns };
    static_assert(TIDE_COUNT(columns) == EXPORT_STATE + 1, "each kind has its columns");
    assert((size_t)r->kind < TIDE_COUNT(columns));
    tide_status status = choose_range(x, r, err);
    if (status == TIDE_OK)
        status = tide_export_contracts(x, err);
    if (status != TIDE_OK)
        return status;
    tide_export_row_open(&x->row, stdout, r->format, columns[r->kind]);
    tide_buf_init(&x->json, TIDE_JSON_BYTES_MAX);
    if (r->kind == EXPORT_EVENTS)
        status = tide_export_events(x, err);
    else if (r->kind == EXPORT_CALLS)
        status = tide_export_calls(x, err);
    else
        status = tide_export_state(x, err);
    if (status == TIDE_OK && fflush(stdout) != 0)
        status = tide_fail(err, TIDE_E_IO, "cannot write: %s", strerror(errno));
    tide_buf_release(&x->json);
    tide_export_row_close(&x->row);
    return status;
}

int tide_export_main(const struct tide_config *config, const struct tide_option *options, int argc,
                     char **argv)
{
    struct tide_err err;
    struct request r = { 0 };
    struct tide_export x = { .with_private = tide_option_given(options, "private") };
    tide_status status = read_request(&r, options, argc, argv, &err);
    if (status == TIDE_OK)
        status = tide_query_open(&x.pg, config, "tidemark-export", &err);
    if (status == TIDE_OK)
        status = tide_query_deployment(x.pg, config, &x.deployment, &err);
    if (status == TIDE_OK)
        status = write_all(&x, &r, &err);
    free(x.contracts);
    tide_pg_close(x.pg);
    return tide_command_end("export", status, &err);
}
