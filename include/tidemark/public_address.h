/* Tells which network addresses a client may let a server connect to. Pure. */
#ifndef TIDEMARK_PUBLIC_ADDRESS_H
#define TIDEMARK_PUBLIC_ADDRESS_H

#include "tidemark/base.h"

#include <sys/socket.h>

/* False for every address that is not globally reachable by the registries of IANA for special
 * purposes (RFC 6890), for multicast, and for IPv6 addresses that stand for such an IPv4 address
 * (mapped, translated, 6to4, Teredo). */
bool tide_public_address(const struct sockaddr *address);

#endif
