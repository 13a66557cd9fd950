/* What the tables hold, as lines: events, calls, or the entries of all contracts, rebuilt from
 * typed columns and the catalogue alone. Neither the chain nor the XDR is needed, but for what is
 * kept raw.
 *
 * Form     the field names and encodings of the catalogue's values: integers over 32 bits and
 *          amounts are strings, bytes hex, addresses strkeys, structs objects
 * Order    events and calls as they happened; entries by kind and key
 * Memory   a piece of rows a table, whatever the number of rows
 * Snapshot all lines of an export are of one moment of the database
 * Private  a person's jurisdiction is left out of objects, and null among arguments, unless asked
 *          for. What may hold one in a place that the catalogue does not know is left out whole:
 *          raw entries, raw events and answers of contracts with such entries, and malformed
 *          arguments. */
#ifndef INDEXER_EXPORT_EXPORT_H
#define INDEXER_EXPORT_EXPORT_H

#include "indexer/export/row.h"
#include "tidemark/catalogue.h"
#include "tidemark/pg.h"

struct tide_export_contract {
    char address[57];
    char role_name[TIDE_NAME_MAX];
    char name[TIDE_NAME_MAX];
    bool is_private; /* its entries may hold a person's jurisdiction */
};

struct tide_export {
    struct tide_pg *pg;
    uint16_t deployment;
    uint32_t from, to; /* events and calls */
    uint32_t as_of;    /* state: 0 is now */
    bool with_private;
    struct tide_export_row row;
    struct tide_buf json; /* scratch of one value */
    uint32_t contract_count;
    struct tide_export_contract *contracts; /* sorted by address */
};

/* Column lists of the three kinds, each ending with NULL. */
extern const char *const tide_export_event_columns[];
extern const char *const tide_export_call_columns[];
extern const char *const tide_export_state_columns[];

/* Each writes all its lines, inside the transaction that the caller has begun. */
tide_status tide_export_events(struct tide_export *x, struct tide_err *err) TIDE_MUST_USE;
tide_status tide_export_calls(struct tide_export *x, struct tide_err *err) TIDE_MUST_USE;
tide_status tide_export_state(struct tide_export *x, struct tide_err *err) TIDE_MUST_USE;

/* Fills contracts. TIDE_E_LIMIT, TIDE_E_MEMORY. */
tide_status tide_export_contracts(struct tide_export *x, struct tide_err *err) TIDE_MUST_USE;
/* NULL when the deployment does not know that address. */
const struct tide_export_contract *tide_export_contract(const struct tide_export *x,
                                                        tide_slice address);
/* True if what that contract told must be left out where the catalogue does not say what it is. */
bool tide_export_hides(const struct tide_export *x, tide_slice contract);
/* The role that a contract's exported role name stands for; TIDE_ROLE_COUNT: none. */
enum tide_role tide_export_role(tide_slice role_name);

/* Arguments of a call (a JSON array) with the private one as null, appended to json; false, and
 * nothing appended, when that function has none. Where no number stands in its place the arguments
 * are not the function's and it could stand anywhere: only addresses before it are shown. */
bool tide_export_args(struct tide_buf *json, enum tide_role role, tide_slice fn, tide_slice args);

/* TIDE_E_STOPPED once a stop was asked; before each line. */
tide_status tide_export_stop(struct tide_err *err) TIDE_MUST_USE;

#endif
