/* The catalogue as data: what each contract role puts on the ledger. Built once from
 * schema/catalogue/all.def, which says what the lines mean; constant from then on. */
#ifndef TIDEMARK_CATALOGUE_H
#define TIDEMARK_CATALOGUE_H

#include "tidemark/deployment.h"
#include "tidemark/slice.h"

/* TIDE_EV_liquidity_pool_swap … */
enum tide_event_id {
#define TIDE_EVENT(role, id, name, doc) TIDE_EV_##role##_##id,
#include "schema/catalogue/all.def"
    TIDE_EV_COUNT
};

/* TIDE_EN_liquidity_pool_pool … */
enum tide_entry_id {
#define TIDE_ENTRY(role, id, variant, durability, doc) TIDE_EN_##role##_##id,
#include "schema/catalogue/all.def"
    TIDE_EN_COUNT
};

#endif
