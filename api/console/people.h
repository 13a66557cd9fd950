/* The people of the console, and who of them sends a request.
 *
 * The proxy asks each browser for a client certificate, checks it against its own list of issuers
 * and passes it on, with a secret that proxy and console share. The console compares the
 * certificate's SHA-256 with those of the file. Nothing is kept between requests.
 *
 * File       console_file (mode 0600): {"origin", "proxySecret", "people": [{"name", "role",
 *            "certificates"}]}; read once, at the start
 * Ownership  persons borrow from the people
 * Threads    any: nothing changes after the opening */
#ifndef API_CONSOLE_PEOPLE_H
#define API_CONSOLE_PEOPLE_H

#include "api/http/request.h"
#include "tidemark/hash.h"

#define CONSOLE_PEOPLE_MAX       64u
#define CONSOLE_CERTIFICATES_MAX 4u
#define CONSOLE_NAME_BYTES       33u
#define CONSOLE_ORIGIN_BYTES     256u

/* Each may do what those before it may. */
enum console_role { CONSOLE_VIEWER, CONSOLE_REVIEWER, CONSOLE_OPERATOR };
const char *console_role_name(enum console_role role);

struct console_person {
    char name[CONSOLE_NAME_BYTES]; /* as the audit has it */
    enum console_role role;
    uint8_t certificates[CONSOLE_CERTIFICATES_MAX][TIDE_HASH_BYTES]; /* SHA-256 of the DER */
    uint32_t certificate_count;
};

struct console_people {
    char origin[CONSOLE_ORIGIN_BYTES];     /* of the console's pages, as browsers write it */
    uint8_t proxy_secret[TIDE_HASH_BYTES]; /* its SHA-256 */
    struct console_person people[CONSOLE_PEOPLE_MAX];
    uint32_t count;
};

/* TIDE_E_CONFIG says what is wrong, nothing of what stands there. *out is freed by the caller. */
tide_status console_people_parse(struct console_people **out, tide_slice text,
                                 struct tide_err *err) TIDE_MUST_USE;
tide_status console_people_load(struct console_people **out, const char *path,
                                struct tide_err *err) TIDE_MUST_USE;

/* Who sends the request; NULL: no person, and *why is a word for the log. */
const struct console_person *console_person_of(const struct console_people *people,
                                               const struct tide_request *request,
                                               const char **why);

/* SHA-256 of the certificate in escaped PEM, as nginx passes it; false: it is none. */
bool console_fingerprint(uint8_t out[TIDE_HASH_BYTES], tide_slice escaped);

#endif
