/* Files that hold secrets: which files are read, which are refused, and the texts of the
 * refusals. */
#include "api/base/secret.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

struct place {
    char dir[32], file[64], other[64];
    struct tide_buf out;
    struct tide_err err;
};

static int open_place(void **state)
{
    struct place *p = calloc(1, sizeof *p);
    assert_non_null(p);
    snprintf(p->dir, sizeof p->dir, "/tmp/secret.XXXXXX");
    assert_non_null(mkdtemp(p->dir));
    snprintf(p->file, sizeof p->file, "%s/key", p->dir);
    snprintf(p->other, sizeof p->other, "%s/other", p->dir);
    tide_buf_init(&p->out, 64);
    *state = p;
    return 0;
}

static int close_place(void **state)
{
    struct place *p = *state;
    unsetenv("CREDENTIALS_DIRECTORY");
    unlink(p->file);
    unlink(p->other);
    rmdir(p->dir);
    tide_buf_release(&p->out);
    free(p);
    return 0;
}

static void write_file(const char *path, const char *text, mode_t mode)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, mode), 0);
}

static void refused(struct place *p, const char *why)
{
    assert_int_equal(tide_secret_file(&p->out, p->file, &p->err), TIDE_E_CONFIG);
    assert_non_null(strstr(p->err.text, why));
    assert_non_null(strstr(p->err.text, p->file));
    assert_null(strstr(p->err.text, "SECRET"));
    assert_int_equal(p->out.len, 0);
    assert_false(p->out.failed);
}

static void a_private_file_is_read_whole(void **state)
{
    struct place *p = *state;
    static const char *const ends[] = { "", "\n", "\r\n" };
    for (size_t i = 0; i < TIDE_COUNT(ends); i++) {
        char text[32];
        snprintf(text, sizeof text, "SECRET\n2%s", ends[i]);
        write_file(p->file, text, i ? 0600 : 0400);
        tide_buf_reset(&p->out);
        assert_int_equal(tide_secret_file(&p->out, p->file, &p->err), TIDE_OK);
        assert_true(tide_slice_eq_str(tide_buf_view(&p->out), "SECRET\n2"));
        unlink(p->file);
    }
}

static void what_others_may_read_is_refused(void **state)
{
    struct place *p = *state;
    static const mode_t modes[] = { 0644, 0640, 0604, 0620, 0602, 0610, 0601 };
    for (size_t i = 0; i < TIDE_COUNT(modes); i++) {
        write_file(p->file, "SECRET\n", modes[i]);
        refused(p, "lets others at a secret");
    }
}

static void links_folders_pipes_and_nothing_are_refused(void **state)
{
    struct place *p = *state;
    refused(p, "No such file");
    write_file(p->other, "SECRET\n", 0600);
    assert_int_equal(symlink(p->other, p->file), 0);
    refused(p, "a link");
    unlink(p->file);
    assert_int_equal(mkfifo(p->file, 0600), 0);
    refused(p, "not a regular file");
    unlink(p->file);
    assert_int_equal(mkdir(p->file, 0700), 0);
    refused(p, "not a regular file");
    rmdir(p->file);
}

static void an_empty_or_a_large_file_is_refused(void **state)
{
    struct place *p = *state;
    write_file(p->file, "", 0600);
    refused(p, "empty");
    write_file(p->file, "\n", 0600);
    refused(p, "empty");
    write_file(p->file, "SECRETSECRETSECRETSECRETSECRETSECRETSECRETSECRETSECRETSECRETSECRET", 0600);
    refused(p, "larger");
}

static void a_credential_may_have_an_access_list(void **state)
{
    struct place *p = *state;
    write_file(p->file, "SECRET", 0440);
    refused(p, "lets others");
    setenv("CREDENTIALS_DIRECTORY", p->dir, 1);
    assert_int_equal(tide_secret_file(&p->out, p->file, &p->err), TIDE_OK);
    tide_buf_reset(&p->out);
    write_file(p->file, "SECRET", 0444);
    refused(p, "lets others");
}

int test_secret(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_private_file_is_read_whole, open_place, close_place),
        cmocka_unit_test_setup_teardown(what_others_may_read_is_refused, open_place, close_place),
        cmocka_unit_test_setup_teardown(links_folders_pipes_and_nothing_are_refused, open_place,
                                        close_place),
        cmocka_unit_test_setup_teardown(an_empty_or_a_large_file_is_refused, open_place,
                                        close_place),
        cmocka_unit_test_setup_teardown(a_credential_may_have_an_access_list, open_place,
                                        close_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
