#include "api/sql/fork.h"

enum { RETRY_S = 60 };

void tide_fork_refuse(struct tide_reply *reply, uint32_t ledger)
{
    reply->at = (struct tide_answer_at){ .known = false };
    tide_reply_problem(
        reply, 503, "forked",
        "Validators of the network signed another ledger %u than the indexed one, so "
        "nothing that is indexed is relied on until the operator of this service has "
        "resolved it.",
        ledger);
    reply->retry_after_s = RETRY_S;
}
