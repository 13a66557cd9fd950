/* The contracts that have code. */
#include "tools/sim/host/host.h"

#define SIM_CLASS(role) extern const struct sim_class sim_class_##role;
#include "tools/sim/contracts/classes.def"
#undef SIM_CLASS

const struct sim_class *const sim_classes[TIDE_ROLE_COUNT] = {
#define SIM_CLASS(role) [TIDE_ROLE_##role] = &sim_class_##role,
#include "tools/sim/contracts/classes.def"
#undef SIM_CLASS
};
