/* Claims of ports: processes that share a port must serve the same deployment of the same
 * database. SO_REUSEPORT lets one process replace another without a refused connection, but
 * would also let two of different deployments answer in turn.
 *
 * Claim     An abstract Unix socket, whose name tells address, port and what is served. Like ports
 *           it belongs to the network namespace, and it disappears with the process.
 * Conflict  A new process is rejected if another claim of the port serves something else. A
 *           wildcard address overlaps all addresses. While a process does not know what it
 *           serves (its database is away), only processes with the same cache may join it. */
#ifndef API_PORT_CLAIM_H
#define API_PORT_CLAIM_H

#include "tidemark/hash.h"
#include "tidemark/status.h"

struct tide_port_claim; /* opaque */

struct tide_port_serves {
    bool known;                      /* served is set */
    uint8_t served[TIDE_HASH_BYTES]; /* as tide_deployment_select_served wrote it */
    const char *cache;               /* the folder of the hot cache */
};

/* Claims the port. listen: api_listen, "address:port", whose port may be 0; port: the real one.
 * Fails with TIDE_E_CONFLICT, naming the port, or TIDE_E_IO if claims cannot be read. *out is
 * the caller's until tide_port_claim_close. */
tide_status tide_port_claim_open(struct tide_port_claim **out, const char *listen, uint16_t port,
                                 const struct tide_port_serves *serves,
                                 struct tide_err *err) TIDE_MUST_USE;
/* Replaces the claim if the served deployment has changed. Fails with TIDE_E_CONFLICT if the claim
 * of another process differs; the new claim is kept even then. */
tide_status tide_port_claim_renew(struct tide_port_claim *claim,
                                  const struct tide_port_serves *serves,
                                  struct tide_err *err) TIDE_MUST_USE;
void tide_port_claim_close(struct tide_port_claim *claim); /* NULL is allowed */

#endif
