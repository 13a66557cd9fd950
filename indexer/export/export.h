/* Export of stored rows as lines: events, calls, or the entries of all contracts, rebuilt from
 * typed columns and the catalogue. Only rows that were stored raw are read from their XDR.
 *
 * Form      field names and encodings of the catalogue's values: integers above 32 bits and amounts
 *           are strings, bytes hex, addresses strkeys, structs objects
 * Order     events and calls as they happened; entries by kind and key
 * Memory    a piece of rows of each table, for any number of rows
 * Snapshot  all lines of an export show one moment of the database
 * Private   a person's jurisdiction is left out of objects, and null among arguments, unless the
 *           operator asks for it. Values that may contain one where the catalogue does not know the
 *           form are left out whole: raw entries, raw events and answers of contracts with such
 *           entries, and malformed arguments. */
#ifndef INDEXER_EXPORT_EXPORT_H
#define INDEXER_EXPORT_EXPORT_H

#include "indexer/export/row.h"
#include "tidemark/catalogue.h"
#include "tidemark/pg.h"

struct tide_export_contract {
    char address[57];
    char role_name[TIDE_NAME_MAX];
    char name[TIDE_NAME_MAX];
    bool is_private; /* entries may contain a person's jurisdiction */
};

struct tide_export {
    struct tide_pg *pg;
    uint16_t deployment;
    uint32_t from, to; /* for events and calls */
    uint32_t as_of;    /* for state; 0: now */
    bool with_private;
    struct tide_export_row row;
    struct tide_buf json; /* scratch buffer for one value */
    uint32_t contract_count;
    struct tide_export_contract *contracts; /* sorted by address */
};

/* Column lists of the three kinds, each ending with NULL. */
extern const char *const tide_export_event_columns[];
extern const char *const tide_export_call_columns[];
extern const char *const tide_export_state_columns[];

/* Write all lines, inside the transaction that the caller has begun. */
tide_status tide_export_events(struct tide_export *x, struct tide_err *err) TIDE_MUST_USE;
tide_status tide_export_calls(struct tide_export *x, struct tide_err *err) TIDE_MUST_USE;
tide_status tide_export_state(struct tide_export *x, struct tide_err *err) TIDE_MUST_USE;

/* Reads x->contracts. Fails with TIDE_E_LIMIT (a name is too long), TIDE_E_MEMORY or a failure of
 * the database. */
tide_status tide_export_contracts(struct tide_export *x, struct tide_err *err) TIDE_MUST_USE;
/* Returns the contract with that address, or NULL if the deployment does not know it. */
const struct tide_export_contract *tide_export_contract(const struct tide_export *x,
                                                        tide_slice address);
/* Returns true if values of that contract must be left out where the catalogue does not know their
 * form. */
bool tide_export_hides(const struct tide_export *x, tide_slice contract);

/* Appends the arguments of a call (a JSON array) with the private argument as null. Returns false,
 * with nothing appended, if the function has no private argument. If no number stands at the
 * private argument's place, the arguments are not the function's and the private value could stand
 * anywhere: then only the addresses before that place are shown. */
bool tide_export_args(struct tide_buf *json, enum tide_role role, tide_slice fn, tide_slice args);

/* Returns TIDE_E_STOPPED if a stop was asked for. Call before each line. */
tide_status tide_export_stop(struct tide_err *err) TIDE_MUST_USE;

#endif
