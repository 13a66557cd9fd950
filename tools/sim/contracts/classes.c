/* Look-up of a contract's code by its role. */
#include "tools/sim/host/host.h"

#define SIM_CLASS(role) extern const struct sim_class sim_class_##role;
#include "tools/sim/contracts/classes.def"
#undef SIM_CLASS

const struct sim_class *sim_class_of(enum tide_role role)
{
    static const struct sim_class *const classes[TIDE_ROLE_COUNT] = {
#define SIM_CLASS(role) [TIDE_ROLE_##role] = &sim_class_##role,
#include "tools/sim/contracts/classes.def"
#undef SIM_CLASS
    };
    return classes[role];
}
