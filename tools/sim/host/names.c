/* The catalogue's names as arrays, indexed by event and by entry. */
#include "tools/sim/host/names.h"

const char *const sim_event_names[TIDE_EV_COUNT] = {
#define TIDE_EVENT(role, id, name, doc) [TIDE_EV_##role##_##id] = name,
#include "schema/catalogue/all.def"
};

const char *const sim_entry_names[TIDE_EN_COUNT] = {
#define TIDE_ENTRY(role, id, variant, durability, doc) [TIDE_EN_##role##_##id] = variant,
#include "schema/catalogue/all.def"
};
