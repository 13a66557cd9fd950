/* Reads URLs strictly. The pages link to them, so a URL that two parsers could understand
 * differently is refused. */
#ifndef TIDEMARK_URL_H
#define TIDEMARK_URL_H

#include "tidemark/slice.h"

#define TIDE_KYC_HOST_BYTES 129u

struct tide_kyc_url {
    bool secure;                    /* https */
    bool local;                     /* 127.0.0.1 or localhost */
    char host[TIDE_KYC_HOST_BYTES]; /* lower case, without the port */
    uint32_t port;                  /* 0: the URL has none */
    tide_slice rest;                /* path, query, fragment; borrowed from url */
};

/* Returns false for anything but http(s)://host[:port][/…] in printable ASCII. Also refused: a
 * user, brackets, a backslash, other bytes that parsers treat differently, and http to another
 * machine. */
bool tide_kyc_url_read(struct tide_kyc_url *out, tide_slice url);

/* True for "host" or "host:port" in lower case, as the KYC file writes it. */
bool tide_kyc_host_valid(tide_slice host);
/* True if url has that host. A host without a port means the scheme's default port; on this machine
 * any port. */
bool tide_kyc_host_is(const struct tide_kyc_url *url, const char *host);

#endif
