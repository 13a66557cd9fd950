/* The member detail of an action: its shape. The database judges the values. */
#ifndef API_CONSOLE_DETAIL_H
#define API_CONSOLE_DETAIL_H

#include "api/kyc/base/settings_read.h"

/* Whether detail has the members of that action, one of those that take a detail, and no other.
 * TIDE_E_CONFIG: the reader names the place. Any thread. */
tide_status console_detail_check(struct tide_reader *r, const char *action,
                                 json_t *detail) TIDE_MUST_USE;

#endif
