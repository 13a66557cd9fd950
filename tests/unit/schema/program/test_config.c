/* Settings from a file, the environment and the command line: their order, and refusals that name
 * key, value and bounds. */
#include "schema/program/cli_impl.h"
#include "schema/program/config_impl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

#include <cmocka.h>

/* clang-format off */
static const struct {
    const char *text;
    const char *message; /* part of it; NULL: accepted */
    const char *why;
} files[] = {
    { "batch_mib = 8\n",                    NULL,                             "plain"                    },
    { "batch_mib=8",                        NULL,                             "no end of line"           },
    { "[batches]\r\nbatch_mib = 8\r\n",     NULL,                             "section, CRLF"            },
    { "# note\n\n  batch_mib\t=\t8  \n",    NULL,                             "comments, blanks"         },
    { "batch-mib = 8\n",                    NULL,                             "dashes are underscores"   },
    { "batch_mib = 0\n",                    "batch_mib=0 (f:1): expected 1..256 MiB", "below the least"  },
    { "\nbatch_mib = 257\n",                "batch_mib=257 (f:2)",            "above the most"           },
    { "batch_mib = 99999999999999999999\n", "expected 1..256 MiB",            "beyond 64 bits"           },
    { "batch_mib = -1\n",                   "batch_mib=-1",                   "sign"                     },
    { "batch_mib = 8 MiB\n",                "batch_mib=8 MiB",                "unit in the value"        },
    { "batch_mib =\n",                      "batch_mib= (f:1)",               "nothing"                  },
    { "batch_mib = 8\nbatch_mib = 8\n",     "batch_mib (f:2): already given at 1", "twice"               },
    { "batch_mb = 8\n",                     "unknown key batch_mb; did you mean batch_mib?", "unknown"   },
    { "api_tls_cert = c.pem\n",             "f:1: api_tls_cert is no setting any more: tidemark-api speaks plain HTTP; let Caddy, nginx or HAProxy end TLS", "gone" },
    { "api-tls-key = k.pem\n",              "api_tls_key is no setting any more: give it to the proxy", "gone, with dashes" },
    { "batch_mib 8\n",                      "f:1: expected key = value",      "no equals sign"           },
    { "[batches\n",                         "f:1: a section is [name]",       "open section"             },
    { "proof = all\n",                      "proof=all (f:1): expected none, results, events", "choice"  },
    { "standby = yes\n",                    "standby=yes (f:1): expected true or false", "boolean"       },
    { "lake = a\x01z\n",                    "lake (f:1): control character",  "control character"        },
};
/* clang-format on */

static void file_lines_are_taken_or_refused_by_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < TIDE_COUNT(files); i++) {
        struct tide_config c;
        struct tide_err err = { 0 };
        tide_config_defaults(&c);
        tide_status status = tide_config_parse(&c, tide_slice_str(files[i].text), "f", &err);
        if (status != (files[i].message ? TIDE_E_CONFIG : TIDE_OK))
            fail_msg("%s: %s", files[i].why, err.text);
        if (files[i].message && !strstr(err.text, files[i].message))
            fail_msg("%s: %s", files[i].why, err.text);
        if (!files[i].message)
            assert_int_equal(c.batch_mib, 8);
    }
}

static void a_file_has_bounds(void **state)
{
    (void)state;
    struct tide_config c;
    struct tide_err err;
    tide_config_defaults(&c);
    char *big = calloc(1, TIDE_CONFIG_FILE_MAX + 1);
    assert_non_null(big);
    memset(big, '\n', TIDE_CONFIG_FILE_MAX + 1);
    assert_int_equal(tide_config_parse(&c, tide_slice_of(big, TIDE_CONFIG_FILE_MAX), "f", &err),
                     TIDE_OK);
    assert_int_equal(tide_config_parse(&c, tide_slice_of(big, TIDE_CONFIG_FILE_MAX + 1), "f", &err),
                     TIDE_E_CONFIG);
    assert_int_equal(tide_config_parse(&c, TIDE_SLICE("proof = none\0"), "f", &err), TIDE_E_CONFIG);
    memset(big, 'x', 2000);
    memcpy(big, "lake = ", 7);
    assert_int_equal(tide_config_parse(&c, tide_slice_of(big, 2000), "f", &err), TIDE_E_CONFIG);
    assert_non_null(strstr(err.text, "1993 bytes, at most 1023 fit"));
    free(big);
}

static char config_path[64];

static char *environment(const char *name)
{
    if (strcmp(name, "TIDEMARK_CONFIG") == 0)
        return config_path;
    if (strcmp(name, "TIDEMARK_POLL_MS") == 0 || strcmp(name, "TIDEMARK_BATCH_MIB") == 0) {
        static char value[] = "22";
        return value;
    }
    return NULL;
}

static char *nothing(const char *name)
{
    (void)name;
    return NULL;
}

static void later_overrides_earlier(void **state)
{
    (void)state;
    snprintf(config_path, sizeof config_path, "/tmp/tide-config-XXXXXX");
    int fd = mkstemp(config_path);
    assert_true(fd >= 0);
    static const char text[] = "poll_ms = 11\nbatch_mib = 11\nbatch_ledgers = 11\n";
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    char *argv[] = { (char[]){ "x" },
                     (char[]){ "run" },
                     (char[]){ "--batch-mib" },
                     (char[]){ "33" },
                     (char[]){ "--stop-at-end" },
                     (char[]){ "--from=7" },
                     (char[]){ "--json" },
                     (char[]){ "--" },
                     (char[]){ "--poll_ms=1" },
                     NULL };
    int argc = 9;
    struct tide_option options[] = { { .name = "from" }, { .name = "json", .flag = true }, { 0 } };
    struct tide_config c;
    struct tide_err err = { 0 };
    tide_status status = tide_config_load(&c, &argc, argv, options, environment, &err);
    unlink(config_path);
    if (status)
        fail_msg("%s", err.text);
    assert_int_equal(c.batch_ledgers, 11);
    assert_int_equal(c.poll_ms, 22);
    assert_int_equal(c.batch_mib, 33);
    assert_true(c.stop_at_end);
    assert_int_equal(argc, 3);
    assert_string_equal(argv[1], "run");
    assert_string_equal(argv[2], "--poll_ms=1");
    uint32_t from = 0;
    assert_int_equal(tide_option_u32(&options[0], 1, 9, &from, &err), TIDE_OK);
    assert_int_equal(from, 7);
    assert_int_equal(tide_option_u32(&options[0], 8, 9, &from, &err), TIDE_E_USAGE);
    assert_non_null(options[1].value);
}

static char credentials[64];

static char *systemd(const char *name)
{
    static char url[] = "dbname=environment";
    if (strcmp(name, "CREDENTIALS_DIRECTORY") == 0)
        return credentials;
    return strcmp(name, "TIDEMARK_DATABASE_URL") == 0 ? url : NULL;
}

static void put_credential(const char *key, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/tidemark_%s", credentials, key);
    unlink(path);
    if (!text)
        return;
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void secrets_come_as_credentials(void **state)
{
    (void)state;
    snprintf(credentials, sizeof credentials, "/tmp/tide-credentials-XXXXXX");
    assert_non_null(mkdtemp(credentials));
    struct tide_config c;
    struct tide_err err = { 0 };
    char *argv[] = { (char[]){ "x" }, NULL };
    int argc = 1;
    put_credential("rpc_header", "X-Key: abc\n");
    put_credential("database_url", "dbname=credential");
    put_credential("lake", "no secret, so not read");
    tide_status status = tide_config_load(&c, &argc, argv, NULL, systemd, &err);
    if (status)
        fail_msg("%s", err.text);
    assert_string_equal(c.rpc_header, "X-Key: abc");
    assert_string_equal(c.database_url, "dbname=environment");
    assert_string_equal(c.lake, "");
    put_credential("rpc_header", "two\nlines\n");
    assert_int_equal(tide_config_load(&c, &argc, argv, NULL, systemd, &err), TIDE_E_CONFIG);
    assert_non_null(strstr(err.text, "control character"));
    assert_null(strstr(err.text, "two"));
    put_credential("rpc_header", NULL);
    put_credential("database_url", NULL);
    put_credential("lake", NULL);
    rmdir(credentials);
}

/* clang-format off */
static const struct {
    const char *first, *second;
    tide_status want;
    const char *message;
} commands[] = {
    { "--nonsense",        "1",             TIDE_E_USAGE,  "unknown option --nonsense"    },
    { "--api-tls-cert=c",  NULL,            TIDE_E_CONFIG, "command line: api_tls_cert is no setting any more" },
    { "--poll_ms",         NULL,            TIDE_E_USAGE,  "--poll_ms needs a value"      },
    { "--poll_ms=1",       NULL,            TIDE_E_CONFIG, "poll_ms=1 (command line): expected 10..600000 ms" },
    { "--poll_ms=10",      "--poll-ms=10",  TIDE_E_CONFIG, "already given"                },
    { "--json=1",          NULL,            TIDE_E_USAGE,  "--json takes no value"        },
    { "--config=/missing", NULL,            TIDE_E_CONFIG, "config=/missing: No such file" },
    { "--config=",         "--config=a",    TIDE_E_CONFIG, "a second file"                },
    { "--standby=false",   NULL,            TIDE_OK,       NULL                           },
    { "--standby",         "--standby=no",  TIDE_E_CONFIG, "already given"                },
    { "--standby=no",      NULL,            TIDE_E_CONFIG, "standby=no (command line): expected true or false" },
};
/* clang-format on */

static void the_command_line_is_refused_by_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < TIDE_COUNT(commands); i++) {
        char first[64], second[64];
        snprintf(first, sizeof first, "%s", commands[i].first);
        snprintf(second, sizeof second, "%s", commands[i].second ? commands[i].second : "");
        char *argv[] = { (char[]){ "x" }, first, commands[i].second ? second : NULL, NULL };
        int argc = commands[i].second ? 3 : 2;
        struct tide_option options[] = { { .name = "json", .flag = true }, { 0 } };
        struct tide_config c;
        struct tide_err err = { 0 };
        tide_status status = tide_config_load(&c, &argc, argv, options, nothing, &err);
        if (status != commands[i].want || (status && !strstr(err.text, commands[i].message)))
            fail_msg("%s: %s", first, err.text);
    }
}

static char *of_the_past(const char *name)
{
    static char value[] = "key.pem";
    return strcmp(name, "TIDEMARK_API_TLS_KEY") == 0 ? value : NULL;
}

static void a_variable_of_the_past_is_refused(void **state)
{
    (void)state;
    char *argv[] = { (char[]){ "x" }, NULL };
    int argc = 1;
    struct tide_config c;
    struct tide_err err = { 0 };
    assert_int_equal(tide_config_load(&c, &argc, argv, NULL, of_the_past, &err), TIDE_E_CONFIG);
    assert_string_equal(err.text,
                        "TIDEMARK_API_TLS_KEY: api_tls_key is no setting any more: give it "
                        "to the proxy that ends TLS before tidemark-api");
}

static void a_switch_takes_its_value_either_way(void **state)
{
    (void)state;
    static const struct {
        const char *first, *second;
        bool want;
        int left; /* arguments left of argc */
    } rows[] = {
        { "--standby", NULL, true, 1 },        { "--standby", "true", true, 1 },
        { "--standby", "false", false, 1 },    { "--standby=false", NULL, false, 1 },
        { "--standby", "falsehood", true, 2 }, { "--standby", "--poll-ms=10", true, 1 },
    };
    for (size_t i = 0; i < TIDE_COUNT(rows); i++) {
        char first[32], second[32];
        snprintf(first, sizeof first, "%s", rows[i].first);
        snprintf(second, sizeof second, "%s", rows[i].second ? rows[i].second : "");
        char *argv[] = { (char[]){ "x" }, first, rows[i].second ? second : NULL, NULL };
        int argc = rows[i].second ? 3 : 2;
        struct tide_option options[] = { { 0 } };
        struct tide_config c;
        struct tide_err err = { 0 };
        assert_int_equal(tide_config_load(&c, &argc, argv, options, nothing, &err), TIDE_OK);
        if (c.standby != rows[i].want || argc != rows[i].left)
            fail_msg("%s %s: %d, %d left", first, second, c.standby, argc);
    }
}

static void a_secret_is_never_shown(void **state)
{
    (void)state;
    struct tide_config c;
    struct tide_err err;
    struct tide_buf out;
    tide_buf_init(&out, 64u << 10);
    tide_config_defaults(&c);
    tide_config_log(&c, &out);
    assert_int_equal(out.len, 0);
    assert_int_equal(
        tide_config_parse(
            &c, TIDE_SLICE("database_url=postgres://a:hush@b/c\nproof=none\nlake=/a b"), "f", &err),
        TIDE_OK);
    tide_config_log(&c, &out);
    tide_buf_u8(&out, 0);
    assert_string_equal((const char *)out.ptr, "database_url=set proof=none lake=\"/a b\"");
    assert_int_equal(tide_config_parse(&c, TIDE_SLICE("database_url=hush\x01"), "f", &err),
                     TIDE_E_CONFIG);
    assert_null(strstr(err.text, "hush"));
    tide_buf_release(&out);
}

/* Returns the warnings about these environment variables. */
static const char *said_of(char *const *variables, char *out, size_t size)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    fflush(stderr);
    int kept = dup(STDERR_FILENO);
    assert_true(kept >= 0 && dup2(fileno(file), STDERR_FILENO) >= 0);
    tide_config_strays(variables);
    assert_true(dup2(kept, STDERR_FILENO) >= 0);
    close(kept);
    rewind(file);
    out[fread(out, 1, size - 1, file)] = '\0';
    fclose(file);
    return out;
}

static void a_mistyped_variable_is_named(void **state)
{
    (void)state;
    char text[8192];
    char *ours[] = { (char[]){ "TIDEMARK_POLL_MS=7" },
                     (char[]){ "TIDEMARK_CONFIG=/x" },
                     (char[]){ "TIDEMARK_RPC_URL=u" },
                     (char[]){ "TIDEMARK_API_URL=u" },
                     (char[]){ "TIDEMARK_KYC_KEY=k" },
                     (char[]){ "TIDEMARK_STACK=/x" },
                     (char[]){ "TIDEMARK_STATE=/x" },
                     (char[]){ "TIDEMARK_CONSOLE_URL=u" },
                     (char[]){ "PATH=/bin" },
                     (char[]){ "TIDEMARKED_POLL=7" },
                     (char[]){ "XTIDEMARK_POLL=7" },
                     (char[]){ "TIDEMARK_DATABASE_URL" },
                     NULL };
    assert_string_equal(said_of(ours, text, sizeof text), "");
    static const struct {
        const char *variable, *want; /* at the end of its line */
    } rows[] = {
        { "TIDEMARK_PULL_MS=hush", "variable=\"TIDEMARK_PULL_MS\" nearest=TIDEMARK_POLL_MS\n" },
        { "TIDEMARK_poll_ms=hush", "variable=\"TIDEMARK_poll_ms\" nearest=TIDEMARK_POLL_MS\n" },
        { "TIDEMARK_DATABASEURL",
          "variable=\"TIDEMARK_DATABASEURL\" nearest=TIDEMARK_DATABASE_URL\n" },
        { "TIDEMARK_RPCS=hush", "variable=\"TIDEMARK_RPCS\" nearest=TIDEMARK_RPC\n" },
        { "TIDEMARK_COLOUR_OF_HATS=hush", "variable=\"TIDEMARK_COLOUR_OF_HATS\"\n" },
        { "TIDEMARK_=hush", "variable=\"TIDEMARK_\"\n" },
        { "TIDEMARK_A\nB=hush", "variable=\"TIDEMARK_A B\"\n" },
    };
    for (size_t i = 0; i < TIDE_COUNT(rows); i++) {
        char variable[64];
        snprintf(variable, sizeof variable, "%s", rows[i].variable);
        said_of((char *[]){ variable, NULL }, text, sizeof text);
        size_t len = strlen(text), end = strlen(rows[i].want);
        if (len < end || strcmp(text + len - end, rows[i].want) != 0 ||
            !strstr(text, " WARN config.unknown ") || strstr(text, "hush"))
            fail_msg("%s: said %s", rows[i].variable, text);
    }
    char longest[400] = "TIDEMARK_"; /* and more of them than are said */
    memset(longest + strlen(longest), 'X', 300);
    char *many[41] = { NULL };
    for (size_t i = 0; i < 40; i++)
        many[i] = longest;
    said_of(many, text, sizeof text);
    size_t lines = 0;
    for (const char *p = text; *p; p++)
        lines += *p == '\n';
    assert_int_equal(lines, 16);
}

int test_config(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(file_lines_are_taken_or_refused_by_name),
        cmocka_unit_test(a_file_has_bounds),
        cmocka_unit_test(later_overrides_earlier),
        cmocka_unit_test(secrets_come_as_credentials),
        cmocka_unit_test(the_command_line_is_refused_by_name),
        cmocka_unit_test(a_variable_of_the_past_is_refused),
        cmocka_unit_test(a_switch_takes_its_value_either_way),
        cmocka_unit_test(a_secret_is_never_shown),
        cmocka_unit_test(a_mistyped_variable_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
