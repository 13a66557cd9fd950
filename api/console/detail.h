/* Checks the form of the member "detail" of an action. The database checks the values. */
#ifndef API_CONSOLE_DETAIL_H
#define API_CONSOLE_DETAIL_H

#include "tidemark/json_members.h"

/* Fails with TIDE_E_CONFIG unless detail has exactly the members of that action; the reader names
 * the faulty one. action must be one that takes a detail. Any thread. */
tide_status console_detail_check(struct tide_members_reader *r, const char *action,
                                 json_t *detail) TIDE_MUST_USE;

#endif
