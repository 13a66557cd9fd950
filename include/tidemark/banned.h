/* Force-included into every source file of the project. Using one of these functions stops the
 * build; the comment beside it names the replacement. */
#ifndef TIDEMARK_BANNED_H
#define TIDEMARK_BANNED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#pragma GCC poison strcpy strcat strncpy strncat /* tide_buf_put, tide_slice        */
#pragma GCC poison sprintf vsprintf              /* snprintf, tide_buf_putf         */
#pragma GCC poison strtok atoi atol atof strtod  /* tide_parse_u64, tide_i128_parse */
#pragma GCC poison gmtime localtime ctime        /* tide_time_rfc3339               */
#ifndef TIDE_OPENSSL_EVP                         /* OpenSSL's header has a member of that name */
#pragma GCC poison rand srand                    /* tide_retry_chance, or a cryptographic source */
#endif

#endif
