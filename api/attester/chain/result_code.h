/* Result codes of a transaction and their names in XDR. */
#ifndef API_ATTESTER_CHAIN_RESULT_CODE_H
#define API_ATTESTER_CHAIN_RESULT_CODE_H

#include "tidemark/base.h"

/* TransactionResultCode */
enum { ATT_TX_TOO_LATE = -3, ATT_TX_BAD_SEQ = -5, ATT_TX_INSUFFICIENT_FEE = -9 };
/* Returns the static name of code, "txBAD_SEQ" for example; "tx" if the code is unknown. */
const char *att_code_name(int32_t code);
/* Returns the code of that name; 0, which is txSUCCESS, if there is no such name. */
int32_t att_code_of(const char *name);

#endif
