/* The deployment's contracts for exports: addresses, roles, names, and which of them have private
 * fields. */
#include "indexer/export/export.h"
#include "tidemark/stop.h"

#include <stdio.h>
#include <stdlib.h>

/* Contracts of the deployment file, then the tokens that the chain named. The file's role and name
 * come first. */
static const char contracts_sql[] =
    "SELECT DISTINCT ON (address COLLATE \"C\") address, role, name FROM ("
    " SELECT c ->> 'address' AS address, c ->> 'role' AS role, c ->> 'name' AS name, 0 AS later"
    " FROM chain.deployment AS d, jsonb_array_elements(d.contracts) AS c WHERE d.id = $1"
    " UNION ALL SELECT contract, role, name, 1 FROM chain.contract_seen WHERE deployment = $1"
    " AND what IN ('discovered', 'asset')"
    ") AS x ORDER BY address COLLATE \"C\", later, role";

static bool copy_text(char *out, size_t size, const char *text)
{
    int n = snprintf(out, size, "%s", text);
    return n >= 0 && (size_t)n < size;
}

static bool has_private(const struct tide_kind *kinds, uint32_t count, enum tide_role role)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < kinds[i].field_count; k++)
            if (kinds[i].role == role && kinds[i].fields[k].is_private)
                return true;
    return false;
}

static bool is_private(enum tide_role role)
{
    return has_private(tide_events(), TIDE_EV_COUNT, role) ||
           has_private(tide_entries(), TIDE_EN_COUNT, role) ||
           has_private(tide_instances(), TIDE_IN_COUNT, role);
}

tide_status tide_export_contracts(struct tide_export *x, struct tide_err *err)
{
    assert(!x->contracts && x->contract_count == 0);
    struct tide_pg_rows rows;
    char id[8];
    snprintf(id, sizeof id, "%u", x->deployment);
    tide_status status = tide_pg_query(x->pg, &rows, contracts_sql, (const char *[]){ id }, 1, err);
    if (status != TIDE_OK)
        return status;
    x->contracts = calloc(rows.count + 1u, sizeof *x->contracts);
    if (!x->contracts)
        status = tide_fail(err, TIDE_E_MEMORY, "export: contracts");
    for (uint32_t i = 0; i < rows.count && status == TIDE_OK; i++) {
        struct tide_export_contract *c = &x->contracts[i];
        if (!copy_text(c->address, sizeof c->address, tide_pg_text(&rows, i, 0)) ||
            !copy_text(c->role_name, sizeof c->role_name, tide_pg_text(&rows, i, 1)) ||
            !copy_text(c->name, sizeof c->name, tide_pg_text(&rows, i, 2)))
            status = tide_fail(err, TIDE_E_LIMIT, "export: contract %u has a name too long", i);
        c->is_private = is_private(tide_role_named(tide_slice_str(c->role_name)));
        x->contract_count = i + 1;
    }
    tide_pg_rows_release(&rows);
    return status;
}

static int compare_address(const void *key, const void *item)
{
    const struct tide_export_contract *contract = item;
    return tide_slice_cmp(*(const tide_slice *)key, tide_slice_str(contract->address));
}

const struct tide_export_contract *tide_export_contract(const struct tide_export *x,
                                                        tide_slice address)
{
    assert(x->contracts || x->contract_count == 0);
    return bsearch(&address, x->contracts, x->contract_count, sizeof *x->contracts,
                   compare_address);
}

bool tide_export_hides(const struct tide_export *x, tide_slice contract)
{
    const struct tide_export_contract *known = tide_export_contract(x, contract);
    return !x->with_private && (!known || known->is_private);
}

tide_status tide_export_stop(struct tide_err *err)
{
    return tide_stop_asked(NULL) ? tide_fail(err, TIDE_E_STOPPED, "asked to stop") : TIDE_OK;
}
