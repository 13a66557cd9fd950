/* Finds out which ledgers a lake has: its first and last one, and whether a missing object is the
 * tip or a hole. A store that can list its objects is listed; others are probed at doubling
 * distances. */
#include "indexer/source/lake_impl.h"

enum { GALLOP_MAX = 32 };

bool lake_is_stopping(const struct lake *l)
{
    return l->options.stopping && l->options.stopping(l->options.stopping_self);
}

/* Returns whether the ledger's object exists: TIDE_OK, TIDE_E_MISSING, TIDE_E_IO or
 * TIDE_E_STOPPED. */
static tide_status is_there(struct lake *l, uint32_t ledger, struct tide_err *err)
{
    tide_status status = TIDE_E_MISSING;
    if (lake_is_stopping(l))
        return tide_fail(err, TIDE_E_STOPPED, "asked to stop");
    for (uint32_t i = 0; i < LAKE_EXTENSIONS && status == TIDE_E_MISSING; i++) {
        char key[TIDE_OBJECT_KEY_MAX];
        struct object_fault fault = { 0 };
        lake_layout_key(key, &l->layout, ledger, i);
        status = l->store.ops->exists(l->store.self, TIDE_OBJECT_CLIENTS_MAX - 1, key, &fault, err);
    }
    if (status != TIDE_E_STOPPED)
        prefetch_note(l->prefetch, status, err);
    return status;
}

/* Finds a ledger after `from` whose object exists; *found is 0 if there is none. With `wide` the
 * whole lake is searched, listed or probed at doubling distances; otherwise only the next object is
 * probed. */
static tide_status find_later(struct lake *l, uint32_t from, bool wide, uint32_t *found,
                              struct tide_err *err)
{
    *found = 0;
    if (wide && l->store.ops->list) {
        struct lake_listing listing;
        tide_status status = lake_layout_list(&listing, &l->store, err);
        if (!status && listing.last >= (uint64_t)from + l->layout.batch)
            *found = lake_layout_start(&l->layout, listing.last);
        return status;
    }
    uint64_t step = l->layout.batch;
    for (uint32_t i = 0; i < (wide ? GALLOP_MAX : 1) && from + step <= UINT32_MAX; i++, step *= 2) {
        tide_status status = is_there(l, (uint32_t)(from + step), err);
        if (status == TIDE_OK)
            *found = (uint32_t)(from + step);
        if (status != TIDE_E_MISSING)
            return status;
    }
    return TIDE_OK;
}

/* Decides whether a missing object is the tip or a hole. */
tide_status lake_at_gap(struct lake *l, struct tide_err *err)
{
    uint32_t start = lake_layout_start(&l->layout, l->next), found = 0;
    /* A store that cannot be listed is searched once after a seek, since that takes many requests.
     * Others are listed once for each missing ledger. */
    bool wide = l->store.ops->list ? l->hole_asked != l->next : l->hole_asked == 0;
    tide_status status = find_later(l, start, wide, &found, err);
    if (status)
        return status;
    l->hole_asked = l->next;
    /* The missing object may have been added meanwhile. */
    if (found && (status = is_there(l, l->next, err)) == TIDE_E_MISSING)
        return tide_fail(err, TIDE_E_MISSING,
                         "%s/%s: ledger %u is missing, but the object of ledger %u is there",
                         l->store.name, l->key, l->next, found);
    return status ? status
                  : tide_fail(err, TIDE_E_EOF, "%s/%s: not there yet", l->store.name, l->key);
}

/* Finds the last ledger of the run of objects from ledger `from` on, by doubling the distance and
 * then halving it. The result is right for lakes without holes. */
static tide_status probe_last(struct lake *l, uint32_t from, uint32_t *last, struct tide_err *err)
{
    assert(l->layout.batch > 0);
    uint32_t batch = l->layout.batch;
    uint64_t there = lake_layout_start(&l->layout, from), missing = 0, step = batch;
    while (!missing && there + step <= UINT32_MAX) {
        tide_status status = is_there(l, (uint32_t)(there + step), err);
        if (status == TIDE_E_MISSING) {
            missing = there + step;
        } else if (status == TIDE_OK) {
            there += step;
            step *= 2;
        } else {
            return status;
        }
    }
    while (missing > there + batch) {
        uint64_t middle = there + (missing - there) / batch / 2 * batch;
        assert(there < middle && middle < missing);
        tide_status status = is_there(l, (uint32_t)middle, err);
        if (status && status != TIDE_E_MISSING)
            return status;
        *(status ? &missing : &there) = middle;
    }
    assert(missing == 0 || missing == there + batch);
    *last = (uint32_t)(there + batch - 1);
    return TIDE_OK;
}

tide_status lake_range(void *self, uint32_t *first, uint32_t *last, struct tide_err *err)
{
    struct lake *l = self;
    *first = *last = 0;
    if (l->store.ops->list) {
        struct lake_listing listing;
        tide_status status = lake_layout_list(&listing, &l->store, err);
        *first = listing.first;
        *last = listing.last;
        return status;
    }
    /* Without a listing, only the next wanted ledger and the one before it can be probed at little
     * cost. */
    uint32_t from = l->sought && l->next > 2 ? l->next : 2;
    tide_status status = is_there(l, from, err);
    if (status == TIDE_OK) {
        *first = from;
        return probe_last(l, from, last, err);
    }
    if (status == TIDE_E_MISSING && from > 2 && (status = is_there(l, from - 1, err)) == TIDE_OK)
        *first = *last = from - 1;
    return status == TIDE_E_MISSING ? TIDE_OK : status;
}
