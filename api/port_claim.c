/* Claims of ports as abstract Unix sockets. */
#include "api/port_claim.h"
#include "tidemark/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* The name is "tidemark-api/PORT/HOST/CACHE/SERVED/RANDOM". CACHE and SERVED are the first
 * digits of hashes; SERVED is "-" while unknown. RANDOM lets processes with equal claims
 * coexist. */
enum { HOST_MAX = 46, DIGITS = 16, RANDOM_BYTES = 4, NAME_MAX_BYTES = 107 };
#define PREFIX  "tidemark-api/"
#define UNKNOWN "-"

static_assert((int)sizeof PREFIX - 1 + 5 + HOST_MAX + 2 * (1 + DIGITS) + 1 + 2 * RANDOM_BYTES + 1 <=
                  NAME_MAX_BYTES + 1,
              "the longest name fits");
static_assert(HOST_MAX == 46 && DIGITS == 16 && RANDOM_BYTES == 4, "the widths in read_name");
static_assert((int)DIGITS <= 2 * (int)TIDE_HASH_BYTES, "a hash has so many digits");

struct tide_port_claim {
    int fd;
    uint32_t port;
    char host[HOST_MAX];
    char cache[DIGITS + 1], served[DIGITS + 1];
    char name[NAME_MAX_BYTES + 1];
};

static void cut_hash(char out[DIGITS + 1], const uint8_t hash[TIDE_HASH_BYTES])
{
    char text[2 * TIDE_HASH_BYTES + 1];
    tide_hex(text, tide_slice_of(hash, TIDE_HASH_BYTES));
    memcpy(out, text, DIGITS);
    out[DIGITS] = 0;
}

static void set_served(struct tide_port_claim *claim, const struct tide_port_serves *serves)
{
    char real[4096];
    uint8_t hash[TIDE_HASH_BYTES];
    const char *cache =
        strlen(serves->cache) < sizeof real && realpath(serves->cache, real) ? real : serves->cache;
    tide_sha256(hash, tide_slice_str(cache));
    cut_hash(claim->cache, hash);
    if (serves->known)
        cut_hash(claim->served, serves->served);
    else
        snprintf(claim->served, sizeof claim->served, UNKNOWN);
}

/* --- registering ------------------------------------------------------------------------- */

/* Binds a socket to the claim's name, then closes the old one, so that the port is claimed at
 * all times. */
static tide_status register_name(struct tide_port_claim *claim, struct tide_err *err)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    uint8_t chance[RANDOM_BYTES];
    char random[2 * RANDOM_BYTES + 1];
    if (getrandom(chance, sizeof chance, 0) != sizeof chance)
        return tide_fail(err, TIDE_E_IO, "no random bytes: %s", strerror(errno));
    tide_hex(random, tide_slice_of(chance, sizeof chance));
    random[(size_t)2 * RANDOM_BYTES] = 0;
    int len = snprintf(claim->name, sizeof claim->name, PREFIX "%u/%s/%s/%s/%s", claim->port,
                       claim->host, claim->cache, claim->served, random);
    assert(len > 0 && (size_t)len < sizeof claim->name && (size_t)len < sizeof address.sun_path);
    /* A leading NUL makes an abstract name */
    memcpy(address.sun_path + 1, claim->name, (size_t)len);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (const struct sockaddr *)&address, size) != 0) {
        tide_fail(err, TIDE_E_IO, "cannot claim port %u: %s", claim->port, strerror(errno));
        if (fd >= 0)
            close(fd);
        return TIDE_E_IO;
    }
    if (claim->fd >= 0)
        close(claim->fd);
    claim->fd = fd;
    return TIDE_OK;
}

/* --- claims of other processes --------------------------------------------------------------- */

static bool is_wildcard(const char *host)
{
    return strcmp(host, "0.0.0.0") == 0 || strcmp(host, "[::]") == 0 || strcmp(host, "::") == 0;
}

/* Returns whether two claims may share the port: they differ in port or address, or serve the
 * same. */
static bool is_compatible(const struct tide_port_claim *a, const struct tide_port_claim *b)
{
    if (a->port != b->port ||
        (strcmp(a->host, b->host) != 0 && !is_wildcard(a->host) && !is_wildcard(b->host)))
        return true;
    if (strcmp(a->served, UNKNOWN) == 0 || strcmp(b->served, UNKNOWN) == 0)
        return strcmp(a->cache, b->cache) == 0;
    return strcmp(a->served, b->served) == 0;
}

/* Parses a claim's name, as the kernel lists it after "@". */
static bool read_name(struct tide_port_claim *out, const char *name)
{
    char random[2 * RANDOM_BYTES + 1];
    return sscanf(name, PREFIX "%5u/%45[^/]/%16[^/]/%16[^/]/%8s", &out->port, out->host, out->cache,
                  out->served, random) == 5;
}

static tide_status compare_all(const struct tide_port_claim *claim, struct tide_err *err)
{
    char line[512];
    tide_status status = TIDE_OK;
    FILE *file = fopen("/proc/self/net/unix", "re");
    if (!file)
        return tide_fail(err, TIDE_E_IO, "/proc/self/net/unix: %s", strerror(errno));
    while (status == TIDE_OK && fgets(line, sizeof line, file)) {
        struct tide_port_claim other;
        const char *at = strstr(line, "@" PREFIX);
        if (at && strncmp(at + 1, claim->name, strlen(claim->name)) != 0 &&
            read_name(&other, at + 1) && !is_compatible(claim, &other))
            status = tide_fail(err, TIDE_E_CONFLICT,
                               "another tidemark-api on port %u serves another deployment or "
                               "database: stop it, or use another port in api_listen",
                               claim->port);
    }
    fclose(file);
    return status;
}

/* --- open, renew, close -------------------------------------------------------------------- */

tide_status tide_port_claim_open(struct tide_port_claim **out, const char *listen, uint16_t port,
                                 const struct tide_port_serves *serves, struct tide_err *err)
{
    struct tide_port_claim *claim = calloc(1, sizeof *claim);
    if (!claim)
        return tide_fail(err, TIDE_E_MEMORY, "port claim");
    const char *colon = strrchr(listen, ':');
    claim->fd = -1;
    claim->port = port;
    snprintf(claim->host, sizeof claim->host, "%.*s", colon ? (int)(colon - listen) : 0, listen);
    set_served(claim, serves);
    tide_status status = register_name(claim, err);
    /* Compare after registering: of two that start at once, at least one sees the other. */
    if (status == TIDE_OK)
        status = compare_all(claim, err);
    if (status == TIDE_OK)
        *out = claim;
    else
        tide_port_claim_close(claim);
    return status;
}

tide_status tide_port_claim_renew(struct tide_port_claim *claim,
                                  const struct tide_port_serves *serves, struct tide_err *err)
{
    struct tide_port_claim before = *claim;
    set_served(claim, serves);
    if (strcmp(before.served, claim->served) == 0)
        return TIDE_OK;
    tide_status status = register_name(claim, err);
    if (status != TIDE_OK) { /* the caller retries a second later */
        before.fd = claim->fd;
        *claim = before;
        return status;
    }
    return compare_all(claim, err);
}

void tide_port_claim_close(struct tide_port_claim *claim)
{
    if (!claim)
        return;
    if (claim->fd >= 0)
        close(claim->fd);
    free(claim);
}
