/* Codes of a TransactionResult, and their names. */
#ifndef API_ATTESTER_CHAIN_RESULT_CODE_H
#define API_ATTESTER_CHAIN_RESULT_CODE_H

#include "tidemark/base.h"

/* TransactionResultCode */
enum { ATT_TX_TOO_LATE = -3, ATT_TX_BAD_SEQ = -5, ATT_TX_INSUFFICIENT_FEE = -9 };
/* "txBAD_SEQ" …; static; of an unknown one "tx" */
const char *att_code_name(int32_t code);
int32_t att_code_of(const char *name); /* 0: no such name */

#endif
