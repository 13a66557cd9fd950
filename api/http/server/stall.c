/* The decision whether a thread is stalled. */
#include "api/http/server/stall.h"

enum tide_stall_step tide_stall_observe(struct tide_stall *stall, uint64_t moved, bool keeps)
{
    bool progress = moved != stall->moved;
    stall->moved = moved;
    stall->still = progress ? 0 : stall->still + 1;
    if (keeps || stall->still == TIDE_STALL_REPORT)
        return TIDE_STALL_REPORT_NOW;
    return stall->still == TIDE_STALL_CUT ? TIDE_STALL_CUT_NOW : TIDE_STALL_NONE;
}
