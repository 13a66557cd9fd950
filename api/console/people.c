/* Reads the file of people, and identifies the person who sends a request. */
#include "api/console/people.h"
#include "api/base/secret.h"
#include "tidemark/json_members.h"
#include "tidemark/sign.h"
#include "tidemark/text.h"

#include <stdlib.h>

enum { FILE_MAX = 64 << 10, SECRET_MIN = 32, SECRET_ROOM = 129, PEM_MAX = 8192 };

static const char *const role_names[] = { "viewer", "reviewer", "operator" };

static_assert(TIDE_COUNT(role_names) == CONSOLE_OPERATOR + 1, "a name for each role");

const char *console_role_name(enum console_role role)
{
    assert(role < TIDE_COUNT(role_names) && role_names[role]);
    return role_names[role];
}

/* --- the file --------------------------------------------------------------------------------- */

static tide_status read_role(struct tide_members_reader *r, const struct tide_member *m, void *to,
                             json_t *value)
{
    tide_slice text = tide_read_string(value);
    (void)m;
    for (size_t i = 0; i < TIDE_COUNT(role_names); i++)
        if (tide_slice_eq_str(text, role_names[i])) {
            *(enum console_role *)to = (enum console_role)i;
            return TIDE_OK;
        }
    return tide_read_refuse(r, "expected viewer, reviewer or operator");
}

static tide_status read_certificates(struct tide_members_reader *r, const struct tide_member *m,
                                     void *to, json_t *value)
{
    struct console_person *person = TIDE_MEMBER_OWNER(console_person, m, to);
    struct tide_list list = { tide_read_hex32, TIDE_HASH_BYTES, &person->certificate_count };
    return tide_read_list(r, m, list, to, value);
}

static tide_status read_person(struct tide_members_reader *r, const struct tide_member *m, void *to,
                               json_t *value)
{
    static const struct tide_member members[] = {
        { .name = "name",
          .read = tide_read_word,
          .offset = offsetof(struct console_person, name),
          .high = CONSOLE_NAME_BYTES },
        { .name = "role", .read = read_role, .offset = offsetof(struct console_person, role) },
        { .name = "certificates",
          .read = read_certificates,
          .offset = offsetof(struct console_person, certificates),
          .low = 1,
          .high = CONSOLE_CERTIFICATES_MAX },
    };
    (void)m;
    return tide_read_object(r, members, TIDE_COUNT(members), to, value);
}

static tide_status read_people(struct tide_members_reader *r, const struct tide_member *m, void *to,
                               json_t *value)
{
    struct console_people *people = TIDE_MEMBER_OWNER(console_people, m, to);
    struct tide_list list = { read_person, sizeof people->people[0], &people->count };
    return tide_read_list(r, m, list, to, value);
}

/* Stores the secret's SHA-256, so that the secret itself does not stay in memory. */
static tide_status read_secret(struct tide_members_reader *r, const struct tide_member *m, void *to,
                               json_t *value)
{
    char text[SECRET_ROOM];
    const struct tide_member token = { .name = m->name, .high = sizeof text };
    tide_status status = tide_read_token(r, &token, text, value);
    if (status == TIDE_OK && strlen(text) < SECRET_MIN)
        status = tide_read_refuse(r, "expected at least 32 characters");
    if (status == TIDE_OK)
        tide_sha256(to, tide_slice_str(text));
    tide_sign_wipe(text, sizeof text);
    return status;
}

static const struct tide_member file_members[] = {
    { .name = "origin",
      .read = tide_read_origin,
      .offset = offsetof(struct console_people, origin),
      .high = CONSOLE_ORIGIN_BYTES },
    { .name = "proxySecret",
      .read = read_secret,
      .offset = offsetof(struct console_people, proxy_secret) },
    { .name = "people",
      .read = read_people,
      .offset = offsetof(struct console_people, people),
      .low = 1,
      .high = CONSOLE_PEOPLE_MAX },
};

/* Refuses a certificate or a name in two entries: one person could otherwise act as two. */
static tide_status check_unique(const struct console_people *all, struct tide_err *err)
{
    assert(all->count <= CONSOLE_PEOPLE_MAX);
    for (uint32_t a = 0; a < all->count; a++)
        for (uint32_t b = 0; b < all->count; b++) {
            const struct console_person *one = &all->people[a], *other = &all->people[b];
            if (a < b && strcmp(one->name, other->name) == 0)
                return tide_fail(err, TIDE_E_CONFIG, "/people/%u/name: is used twice", b);
            for (uint32_t i = 0; i < one->certificate_count; i++)
                for (uint32_t k = 0; k < other->certificate_count; k++)
                    if ((a != b || i < k) &&
                        memcmp(one->certificates[i], other->certificates[k], TIDE_HASH_BYTES) == 0)
                        return tide_fail(err, TIDE_E_CONFIG,
                                         "/people/%u/certificates/%u: is used twice", b, k);
        }
    return TIDE_OK;
}

tide_status console_people_parse(struct console_people **out, tide_slice text, struct tide_err *err)
{
    json_error_t error;
    struct tide_members_reader r = { .err = err };
    struct console_people *people = calloc(1, sizeof *people);
    *out = NULL;
    if (!people)
        return tide_fail(err, TIDE_E_MEMORY, "out of memory");
    json_t *root = tide_json_load_private(text, JSON_REJECT_DUPLICATES, &error);
    tide_status status =
        root ? tide_read_object(&r, file_members, TIDE_COUNT(file_members), people, root)
             : tide_fail(err, TIDE_E_CONFIG, "line %d: not JSON, or an object with a member twice",
                         error.line);
    tide_sign_wipe(&error, sizeof error);
    tide_json_wipe(root);
    if (status == TIDE_OK)
        status = check_unique(people, err);
    if (status == TIDE_OK)
        *out = people;
    else
        free(people);
    return status;
}

/* The buffer held the proxy's secret, so it is wiped before it is released. */
tide_status console_people_load(struct console_people **out, const char *path, struct tide_err *err)
{
    struct tide_buf text;
    tide_buf_init(&text, FILE_MAX);
    *out = NULL;
    tide_status status = tide_secret_file(&text, path, err);
    if (status == TIDE_OK) {
        status = console_people_parse(out, tide_buf_view(&text), err);
        if (status != TIDE_OK)
            tide_fail_context(err, "%s", path);
        tide_sign_wipe(text.ptr, text.cap);
    }
    tide_buf_release(&text);
    return status;
}

/* --- a request -------------------------------------------------------------------------------- */

/* Decodes percent escapes into out. Returns the length, or 0 for a malformed text. */
static size_t unescape(char *out, tide_slice text)
{
    assert(text.len <= PEM_MAX); /* the room in out */
    size_t len = 0;
    for (size_t i = 0; i < text.len; i++) {
        uint8_t byte = text.ptr[i];
        if (byte == '%') {
            tide_slice digits = { text.ptr + i + 1, 2 };
            if (i + 2 >= text.len || tide_hex_decode(&byte, 1, digits) != TIDE_OK)
                return 0;
            i += 2;
        }
        out[len++] = (char)byte;
    }
    return len;
}

/* Removes the PEM's first and last line and all line ends. Returns the base64 text, or an empty
 * slice. */
static tide_slice base64_of(char *pem, size_t len)
{
    static const char head[] = "-----BEGIN CERTIFICATE-----\n";
    static const char tail[] = "-----END CERTIFICATE-----";
    size_t from = sizeof head - 1, count = 0;
    while (len > 0 && pem[len - 1] == '\n')
        len--;
    if (len <= from + sizeof tail - 1 || memcmp(pem, head, from) != 0 ||
        memcmp(pem + len - (sizeof tail - 1), tail, sizeof tail - 1) != 0)
        return (tide_slice){ 0 };
    for (size_t i = from; i < len - (sizeof tail - 1); i++)
        if (pem[i] != '\n')
            pem[count++] = pem[i];
    assert(count <= len);
    return tide_slice_of(pem, count);
}

/* Hashes the DER bytes: two PEM texts of one certificate may differ in their line ends. */
bool console_fingerprint(uint8_t out[TIDE_HASH_BYTES], tide_slice escaped)
{
    char pem[PEM_MAX];
    struct tide_buf der;
    if (escaped.len == 0 || escaped.len > sizeof pem)
        return false;
    tide_slice body = base64_of(pem, unescape(pem, escaped));
    tide_buf_init(&der, sizeof pem);
    bool decoded = body.len > 0 && tide_buf_base64_decode(&der, body) == TIDE_OK && der.len > 0;
    if (decoded)
        tide_sha256(out, tide_buf_view(&der));
    tide_buf_release(&der);
    return decoded;
}

/* Compares hashes in constant time, so the time says nothing about the secret. */
static bool has_secret(const struct console_people *people, const struct tide_request *request)
{
    uint8_t hash[TIDE_HASH_BYTES];
    uint32_t times;
    tide_slice secret = tide_request_header(request, "X-Console-Proxy", &times);
    if (times != 1)
        return false;
    tide_sha256(hash, secret);
    return tide_same_secret(hash, people->proxy_secret, sizeof hash);
}

/* Checks the proxy's secret first: without it any local program could claim a certificate. */
const struct console_person *console_person_of(const struct console_people *people,
                                               const struct tide_request *request, const char **why)
{
    assert(people->count <= CONSOLE_PEOPLE_MAX);
    uint8_t hash[TIDE_HASH_BYTES];
    uint32_t times;
    *why = "not_the_proxy";
    if (!has_secret(people, request))
        return NULL;
    *why = "no_certificate";
    tide_slice escaped = tide_request_header(request, "X-Console-Certificate", &times);
    if (times != 1 || !console_fingerprint(hash, escaped))
        return NULL;
    *why = "unknown_certificate";
    for (uint32_t i = 0; i < people->count; i++)
        for (uint32_t k = 0; k < people->people[i].certificate_count; k++)
            if (memcmp(people->people[i].certificates[k], hash, sizeof hash) == 0)
                return &people->people[i];
    return NULL;
}
