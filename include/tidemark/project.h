/* Projection: turns rows of the tables into records of the hot cache.
 *
 * A row is a version of an entry (or its removal), or a swap. Rows applied in ledger order bring
 * records from one ledger to a later one. A whole state table applied to no records gives the
 * present records. Each table changes fields of its own, so tables may be applied in any order,
 * except that pools come before their swaps. */
#ifndef TIDEMARK_PROJECT_H
#define TIDEMARK_PROJECT_H

#include "tidemark/hot_sink.h"
#include "tidemark/pg.h"

/* The sources, in the order of project_sources. */
enum project_source_id {
    PROJECT_POOL,
    PROJECT_SWAP,
    PROJECT_REC,
    PROJECT_FROZEN,
    PROJECT_WHITELIST,
    PROJECT_BLOCKED,
    PROJECT_VERIFIER,
    PROJECT_FEED,
    PROJECT_PROVIDER,
    PROJECT_MARKET,
    PROJECT_DEBT,
    PROJECT_VAULT,
    PROJECT_COLLATERAL,
    PROJECT_PARTNER,
    PROJECT_CATALOG,
    PROJECT_REGISTRY,
    PROJECT_POOLS,
    PROJECT_ENGINE,
    PROJECT_EARNINGS,
    PROJECT_GOVERNANCE,
    PROJECT_TOKEN,
    PROJECT_ASSET,
    PROJECT_SOURCE_COUNT
};
static_assert(PROJECT_SOURCE_COUNT <= 32, "each source has a bit in a word");

/* A row that is being applied. Its values are in the columns from `first` on. */
struct project_row {
    struct tide_hot_sink *sink;
    const struct tide_pg_rows *rows;
    uint32_t at;    /* row */
    uint32_t first; /* column */
    uint32_t ledger;
    uint64_t close_time;
    tide_slice contract;
    bool removed;
    const char *bad; /* first column whose value does not fit; NULL: none so far */
};

struct project_source {
    const char *name;    /* name of the table, the same in the schemas state and history */
    const char *columns; /* SQL column list */
    uint32_t count;      /* number of columns */
    tide_status (*apply)(struct project_row *row, struct tide_err *err);
};

extern const struct project_source project_sources[PROJECT_SOURCE_COUNT];

/* Applies the row. If a value does not fit, TIDE_E_SCHEMA names table and column. */
tide_status project_apply(enum project_source_id source, struct project_row *row,
                          struct tide_err *err) TIDE_MUST_USE;

/* --- values of a row; column is counted from row->first ----------------------- */

bool project_null(const struct project_row *row, uint32_t column);
tide_slice project_text(const struct project_row *row, uint32_t column);
uint64_t project_u64(struct project_row *row, uint32_t column);
bool project_bool(struct project_row *row, uint32_t column);
struct tide_hot_amount project_amount(struct project_row *row, uint32_t column);
/* Returns the address; kind 0 for NULL and for text that is neither an account nor a contract. */
struct tide_hot_address project_address(struct project_row *row, uint32_t column);
struct tide_hot_symbol project_symbol(struct project_row *row, uint32_t column);
/* The column is a bytea. */
struct tide_hot_name project_name(struct project_row *row, uint32_t column);

/* --- apply functions (project_*.c) -------------------------------------------------- */

typedef tide_status project_apply_fn(struct project_row *row, struct tide_err *err);
project_apply_fn project_pool, project_swap, project_rec, project_frozen, project_whitelist,
    project_blocked, project_verifier, project_feed, project_provider, project_market, project_debt,
    project_vault, project_collateral, project_partner, project_catalog, project_registry,
    project_pools, project_engine, project_earnings, project_governance, project_token,
    project_asset;

#endif
