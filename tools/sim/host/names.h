/* Names that the model writes, taken from the catalogue's lines. The model uses nothing else of the
 * catalogue. An event or entry that the catalogue does not know does not compile. Names of fields
 * and of instance slots stand in the contracts; a test compares them with the catalogue. */
#ifndef SIM_NAMES_H
#define SIM_NAMES_H

#include "tidemark/catalogue.h"

extern const char *const sim_event_names[TIDE_EV_COUNT]; /* topic 0 */
extern const char *const sim_entry_names[TIDE_EN_COUNT]; /* first symbol of a key */

#define SIM_EVENT(role, id) sim_event_names[TIDE_EV_##role##_##id]
#define SIM_ENTRY(role, id) sim_entry_names[TIDE_EN_##role##_##id]

#endif
