/* Decides which network addresses a client may make a server connect to. Pure. */
#ifndef TIDEMARK_PUBLIC_ADDRESS_H
#define TIDEMARK_PUBLIC_ADDRESS_H

#include "tidemark/base.h"

#include <sys/socket.h>

/* Returns false for addresses that are not globally reachable by IANA's registries of
 * special-purpose addresses (RFC 6890), for multicast, and for IPv6 addresses that contain such an
 * IPv4 address (mapped, translated, 6to4, Teredo). */
bool tide_public_address(const struct sockaddr *address);

#endif
