/* Result codes of a transaction and their names. */
#include "api/attester/chain/result_code.h"

/* The code at index i is -i. */
/* clang-format off */
static const char *const code_names[] = {
    "txSUCCESS", "txFAILED", "txTOO_EARLY", "txTOO_LATE", "txMISSING_OPERATION", "txBAD_SEQ",
    "txBAD_AUTH", "txINSUFFICIENT_BALANCE", "txNO_ACCOUNT", "txINSUFFICIENT_FEE",
    "txBAD_AUTH_EXTRA", "txINTERNAL_ERROR", "txNOT_SUPPORTED", "txFEE_BUMP_INNER_FAILED",
    "txBAD_SPONSORSHIP", "txBAD_MIN_SEQ_AGE_OR_GAP", "txMALFORMED", "txSOROBAN_INVALID",
};
/* clang-format on */

static_assert(TIDE_COUNT(code_names) == 18, "up to txSOROBAN_INVALID, which is -17");

const char *att_code_name(int32_t code)
{
    return code <= 0 && -code < (int32_t)TIDE_COUNT(code_names) ? code_names[-code] : "tx";
}

int32_t att_code_of(const char *name)
{
    for (int32_t i = 0; i < (int32_t)TIDE_COUNT(code_names); i++)
        if (strcmp(code_names[i], name) == 0)
            return -i;
    return 0;
}
