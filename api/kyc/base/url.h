/* Addresses on the web, read strictly, because people are sent there. */
#ifndef API_KYC_BASE_URL_H
#define API_KYC_BASE_URL_H

#include "tidemark/slice.h"

#define TIDE_KYC_HOST_BYTES 129u

struct tide_kyc_url {
    bool secure;                    /* https                                   */
    bool local;                     /* 127.0.0.1, localhost: this machine      */
    char host[TIDE_KYC_HOST_BYTES]; /* lower case, without port                */
    uint32_t port;                  /* 0: none is written                      */
    tide_slice rest;                /* path, query, fragment: borrows from url */
};

/* False for anything but http(s)://host[:port][/…] in printable ASCII: no user, no brackets, no
 * backslash, nothing that two readers may understand differently; and for http to another
 * machine. */
bool tide_kyc_url_read(struct tide_kyc_url *out, tide_slice url);

/* "host" or "host:port" as it stands in the KYC file: lower case. */
bool tide_kyc_host_valid(tide_slice host);
/* True when url's host is that one. A host without a port means the scheme's own; on this machine
 * any. */
bool tide_kyc_host_is(const struct tide_kyc_url *url, const char *host);

#endif
