/* The console's people, and the person who sends a request.
 *
 * The proxy asks each browser for a client certificate, checks it against its own list of issuers,
 * and passes it on together with a secret that proxy and console share. The console looks for the
 * certificate's SHA-256 in its file. No state is kept between requests.
 *
 * File       console_file (mode 0600): {"origin", "proxySecret", "people": [{"name", "role",
 *            "certificates"}]}. Read once, at the start
 * Ownership  a person belongs to its console_people
 * Threads    any; nothing changes after loading */
#ifndef API_CONSOLE_PEOPLE_H
#define API_CONSOLE_PEOPLE_H

#include "api/http/request.h"
#include "tidemark/hash.h"

#define CONSOLE_PEOPLE_MAX       64u
#define CONSOLE_CERTIFICATES_MAX 4u
#define CONSOLE_NAME_BYTES       33u
#define CONSOLE_ORIGIN_BYTES     256u

/* Each role includes the roles before it. */
enum console_role { CONSOLE_VIEWER, CONSOLE_REVIEWER, CONSOLE_OPERATOR };
const char *console_role_name(enum console_role role);

struct console_person {
    char name[CONSOLE_NAME_BYTES]; /* as the audit shows it */
    enum console_role role;
    uint8_t certificates[CONSOLE_CERTIFICATES_MAX][TIDE_HASH_BYTES]; /* SHA-256 of the DER */
    uint32_t certificate_count;
};

struct console_people {
    char origin[CONSOLE_ORIGIN_BYTES];     /* origin of the console's pages, as browsers write it */
    uint8_t proxy_secret[TIDE_HASH_BYTES]; /* SHA-256 of the secret */
    struct console_person people[CONSOLE_PEOPLE_MAX];
    uint32_t count;
};

/* Reads the file's text, or the file at path. TIDE_E_CONFIG names the faulty member, never a value.
 * The caller wipes and frees *out. */
tide_status console_people_parse(struct console_people **out, tide_slice text,
                                 struct tide_err *err) TIDE_MUST_USE;
tide_status console_people_load(struct console_people **out, const char *path,
                                struct tide_err *err) TIDE_MUST_USE;

/* Returns the person who sends the request. NULL: not a known person; *why is a word for the
 * log. */
const struct console_person *console_person_of(const struct console_people *people,
                                               const struct tide_request *request,
                                               const char **why);

/* Computes the SHA-256 of the certificate in escaped PEM, as nginx passes it. Returns false if the
 * text is no certificate. */
bool console_fingerprint(uint8_t out[TIDE_HASH_BYTES], tide_slice escaped);

#endif
