/* Processes that share a port serve the same deployment of the same database. SO_REUSEPORT lets one
 * process replace another without a refused connection, and would let two of different deployments
 * take turns in answering.
 *
 * Claim     an abstract Unix socket whose name says address, port and what is served. It has the
 *           scope of ports, the network namespace, and goes with the process.
 * Refused   the newcomer, when another claim of the port serves something else. A wildcard address
 *           meets every address. While a process does not know what it serves (its database is
 *           away), only processes with the same cache may join it. */
#ifndef API_PORT_CLAIM_H
#define API_PORT_CLAIM_H

#include "tidemark/hash.h"
#include "tidemark/status.h"

struct tide_port_claim; /* opaque */

struct tide_port_serves {
    bool known;
    uint8_t served[TIDE_HASH_BYTES]; /* tide_deployment_select_served */
    const char *cache;               /* folder of the hot cache */
};

/* listen is api_listen, "address:port"; its port may be 0, port is the real one. TIDE_E_CONFLICT
 * names the port; TIDE_E_IO when claims cannot be read. */
tide_status tide_port_claim_open(struct tide_port_claim **out, const char *listen, uint16_t port,
                                 const struct tide_port_serves *serves,
                                 struct tide_err *err) TIDE_MUST_USE;
/* Claims for what is served now; nothing when that did not change. TIDE_E_CONFLICT: the new claim
 * stands, and so does another that differs. */
tide_status tide_port_claim_renew(struct tide_port_claim *claim,
                                  const struct tide_port_serves *serves,
                                  struct tide_err *err) TIDE_MUST_USE;
void tide_port_claim_close(struct tide_port_claim *claim); /* NULL is fine */

#endif
