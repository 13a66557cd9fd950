/* Texts of the KYC pages: every language has all of them with the same placeholders, no page lacks
 * one, and each visitor gets a language. */
#include "api/http/static_files.h"
#include "api/kyc/base/state.h"
#include "api/kyc/pages/text.h"
#include "tidemark/json_read.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static json_t *load_texts(void)
{
    json_error_t error;
    json_t *root =
        tide_json_load(tide_static_file_of("/kyc_text.json")->text, JSON_REJECT_DUPLICATES, &error);
    if (!root)
        fail_msg("line %d: %s", error.line, error.text);
    return root;
}

/* Returns a number that encodes the names of the {placeholders} and their counts. */
static uint32_t gaps_of(const char *text)
{
    uint32_t sum = 0;
    for (const char *at = text ? strchr(text, '{') : NULL; at; at = strchr(at + 1, '{')) {
        uint32_t one = 0;
        for (const char *c = at + 1; *c && *c != '}'; c++)
            one = 31 * one + (uint8_t)*c;
        sum += one;
    }
    return sum;
}

static void each_language_has_each_text(void **state)
{
    (void)state;
    json_t *root = load_texts(), *english = json_object_get(root, "en"), *texts, *text;
    const char *tag, *key;
    assert_int_equal(json_object_size(root), 5);
    json_object_foreach(root, tag, texts)
    {
        assert_string_equal(json_string_value(json_object_get(texts, "lang")), tag);
        json_object_foreach(english, key, text)
        {
            const char *own = json_string_value(json_object_get(texts, key));
            if (!own || !*own)
                fail_msg("%s has no %s", tag, key);
            if (gaps_of(own) != gaps_of(json_string_value(text)))
                fail_msg("%s: the gaps of %s are not those of the English text", tag, key);
        }
        assert_int_equal(json_object_size(texts), json_object_size(english));
    }
    json_decref(root);
}

/* Each text between two marks of a page is a key of the language's texts. */
static uint32_t check_keys(json_t *texts, const char *path, const char *open, const char *close)
{
    const char *at = (const char *)tide_static_file_of(path)->text.ptr;
    uint32_t count = 0;
    while ((at = strstr(at, open))) {
        char key[64];
        at += strlen(open);
        size_t len = (size_t)(strstr(at, close) - at);
        assert_true(len < sizeof key);
        memcpy(key, at, len);
        key[len] = 0;
        bool special =
            strcmp(key, "data") == 0 || strcmp(key, "brand") == 0 || strcmp(key, "*") == 0;
        if (!special && !json_object_get(texts, key))
            fail_msg("%s: there is no text %s", path, key);
        count++;
    }
    return count;
}

static void no_page_names_a_text_that_is_not_there(void **state)
{
    (void)state;
    json_t *root = load_texts(), *english = json_object_get(root, "en");
    assert_true(check_keys(english, "/kyc", "{{", "}}") > 30);
    assert_int_equal(check_keys(english, "/kyc/sandbox", "{{", "}}"), 0);
    assert_true(check_keys(english, "/kyc/kyc.js", "say('", "'") > 30);
    assert_true(check_keys(english, "/kyc/kyc.js", "return is('", "'") > 5);
    json_decref(root);
}

static void each_reason_that_is_shown_has_a_text(void **state)
{
    (void)state;
    json_t *root = load_texts(), *english = json_object_get(root, "en"), *text;
    const char *key;
    uint32_t count = 0;
    json_object_foreach(english, key, text)
    {
        if (strncmp(key, "reason_", 7) != 0 || strcmp(key, "reason_none") == 0)
            continue;
        assert_true(tide_kyc_reason_shown(tide_slice_str(key + 7)));
        count++;
    }
    assert_int_equal(count, 7);
    static const char *const hidden[] = { "", "declined", "many_revocations", "level", "none" };
    for (size_t i = 0; i < TIDE_COUNT(hidden); i++)
        assert_false(tide_kyc_reason_shown(tide_slice_str(hidden[i])));
    json_decref(root);
}

static void the_visitor_chooses_then_the_browser(void **state)
{
    (void)state;
    static const struct {
        const char *wanted, *accept, *is;
    } rows[] = {
        { "", "", "en" },
        { "de", "fr", "de" },
        { "pt-BR", "", "pt" },
        { "DE", "", "de" },
        { "xx", "fr-CH, fr;q=0.9, en;q=0.8", "fr" },
        { "", "fr-CH", "fr" },
        { "", "ja, es;q=0.3, de;q=0.7", "de" },
        { "", "ja;q=1, es;q=0.5, de;q=0.501", "de" },
        { "", "de;q=0, es;q=0.001", "es" },
        { "", "de;q=0", "en" },
        { "", "*", "en" },
        { "", "deu, e, -, ;q=1,,, ", "en" },
        { "", "es ; q=0.2 , pt ; q=0.9", "pt" },
        { "", "de;q=", "de" },
        { "", "de;q=2", "de" },
    };
    struct tide_kyc_texts *texts;
    struct tide_err err;
    assert_int_equal(tide_kyc_texts_open(&texts, &err), TIDE_OK);
    for (size_t i = 0; i < TIDE_COUNT(rows); i++) {
        const struct tide_kyc_words *words = tide_kyc_words_for(
            texts, tide_slice_str(rows[i].wanted), tide_slice_str(rows[i].accept));
        tide_slice lang = tide_kyc_word_of(words, TIDE_SLICE("lang"));
        if (!tide_slice_eq_str(lang, rows[i].is))
            fail_msg("\"%s\", \"%s\": %.*s", rows[i].wanted, rows[i].accept, TIDE_SLICE_FMT(lang));
        assert_non_null(
            memmem(tide_kyc_words_json(words).ptr, tide_kyc_words_json(words).len, "\"lang\":", 7));
        assert_null(tide_kyc_word_of(words, TIDE_SLICE("no such text")).ptr);
    }
    tide_kyc_texts_close(texts);
}

int test_kyc_text(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_language_has_each_text),
        cmocka_unit_test(no_page_names_a_text_that_is_not_there),
        cmocka_unit_test(each_reason_that_is_shown_has_a_text),
        cmocka_unit_test(the_visitor_chooses_then_the_browser),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
