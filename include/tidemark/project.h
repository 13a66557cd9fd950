/* From rows to records: the tables that the hot cache is made of, and what a row of each does.
 *
 * A row is a version of an entry (or its removal), or a swap. Applied in the order of the ledger
 * to records of the time before, it gives the records of the time after; a whole table applied
 * to no records gives them as of now. Each table changes fields of its own, so tables may be
 * applied in any order, but pools before their swaps. */
#ifndef TIDEMARK_PROJECT_H
#define TIDEMARK_PROJECT_H

#include "tidemark/hot_sink.h"
#include "tidemark/pg.h"

#define PROJECT_TABLE_NAME 64u

/* Sources that others name; the rest are known by their place in project_sources. */
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

/* A row that is being applied. The values stand in columns first … of rows. */
struct project_row {
    struct tide_hot_sink *sink;
    const struct tide_pg_rows *rows;
    uint32_t at;    /* row */
    uint32_t first; /* column */
    uint32_t ledger;
    uint64_t close_time;
    tide_slice contract;
    bool removed;
    const char *bad; /* column that does not fit, NULL so far */
};

struct project_source {
    const char *name;    /* of the table, the same in state and history */
    const char *columns; /* SQL, a list */
    uint32_t count;      /* of columns */
    tide_status (*apply)(struct project_row *row, struct tide_err *err);
};

extern const struct project_source project_sources[PROJECT_SOURCE_COUNT];

/* Bit of each source whose table the index does not keep: what records should have from it is not
 * false or nothing but unknown. scope as in api/sql/scope.h. */
#define PROJECT_BIT(source) (1u << (source))
uint32_t project_unkept(const char *scope);
/* Sources without which a record of that kind, or that there is none, says nothing. What a record
 * has from further ones (PROJECT_DEBT), and META and CONTRACT have from any, its readers name:
 * tide_reader_need. */
uint32_t project_sources_of(enum tide_hot_kind kind);
/* The first table of those bits, "state.x". */
void project_table_name(char out[PROJECT_TABLE_NAME], uint32_t bits);

/* Applies the row; TIDE_E_SCHEMA names table and column when a value does not fit. */
tide_status project_apply(enum project_source_id source, struct project_row *row,
                          struct tide_err *err) TIDE_MUST_USE;

/* --- values of a row; column is counted from row->first ----------------------- */

bool project_null(const struct project_row *row, uint32_t column);
tide_slice project_text(const struct project_row *row, uint32_t column);
uint64_t project_u64(struct project_row *row, uint32_t column);
bool project_bool(struct project_row *row, uint32_t column);
struct tide_hot_amount project_amount(struct project_row *row, uint32_t column);
/* None, when it is null or neither account nor contract. */
struct tide_hot_address project_address(struct project_row *row, uint32_t column);
struct tide_hot_symbol project_symbol(struct project_row *row, uint32_t column);
/* bytea */
struct tide_hot_name project_name(struct project_row *row, uint32_t column);

/* --- apply functions (project_*.c) -------------------------------------------------- */

typedef tide_status project_apply_fn(struct project_row *row, struct tide_err *err);
project_apply_fn project_pool, project_swap, project_rec, project_frozen, project_whitelist,
    project_blocked, project_verifier, project_feed, project_provider, project_market, project_debt,
    project_vault, project_collateral, project_partner, project_catalog, project_registry,
    project_pools, project_engine, project_earnings, project_governance, project_token,
    project_asset;

#endif
