/* The reason of a decision that the person sees: every label of every provider that maps to a
 * reason, and invented labels, which map to none. */
#include "api/kyc/base/state.h"
#include "api/kyc/providers/provider_impl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

typedef void because_fn(struct tide_kyc_decision *out, json_t *said);

/* A decision of each provider that carries these labels. NULL ends the list. */
static json_t *sumsub_said(const char *const *labels)
{
    json_t *said = json_array();
    for (; *labels; labels++)
        json_array_append_new(said, json_string(*labels));
    return said;
}

static json_t *veriff_said(const char *const *labels)
{
    return json_string(*labels);
}

static json_t *didit_said(const char *const *labels)
{
    json_t *warnings = json_array();
    for (; *labels; labels++)
        json_array_append_new(warnings, json_pack("{s:s, s:s, s:s}", "risk", *labels, "log_type",
                                                  "error", "long_description", "PLANTED"));
    return json_pack("{s:s, s:[{s:[]}, {s:o}]}", "status", "Declined", "id_verifications",
                     "warnings", "warnings", warnings);
}

static const struct {
    because_fn *because;
    json_t *(*said)(const char *const *labels);
    bool many; /* labels in one decision */
    struct {
        const char *label, *reason;
    } rows[20];
} providers[] = {
    { tide_kyc_sumsub_because,
      sumsub_said,
      true,
      { { "UNSATISFACTORY_PHOTOS", "document_unreadable" },
        { "LOW_QUALITY", "document_unreadable" },
        { "BLACK_AND_WHITE", "document_unreadable" },
        { "SCREENSHOTS", "document_unreadable" },
        { "INCOMPLETE_DOCUMENT", "document_incomplete" },
        { "DOCUMENT_PAGE_MISSING", "document_incomplete" },
        { "FRONT_SIDE_MISSING", "document_incomplete" },
        { "BACK_SIDE_MISSING", "document_incomplete" },
        { "EXPIRATION_DATE", "document_expired" },
        { "DOCUMENT_DAMAGED", "document_damaged" },
        { "NOT_DOCUMENT", "document_unsupported" },
        { "BAD_SELFIE", "face_unclear" },
        { "BAD_VIDEO_SELFIE", "face_unclear" },
        { "PROBLEMATIC_APPLICANT_DATA", "details_differ" },
        { "WRONG_ADDRESS", "details_differ" } } },
    { tide_kyc_veriff_because,
      veriff_said,
      false,
      { { "101", "document_unsupported" },
        { "104", "details_differ" },
        { "202", "face_unclear" },
        { "203", "document_unreadable" },
        { "204", "document_unreadable" },
        { "205", "document_damaged" },
        { "206", "document_unsupported" },
        { "207", "document_expired" },
        { "208", "face_unclear" },
        { "209", "document_incomplete" },
        { "510", "document_unsupported" },
        { "511", "document_expired" } } },
    { tide_kyc_didit_because,
      didit_said,
      true,
      { { "DOCUMENT_EXPIRED", "document_expired" },
        { "DOCUMENT_NOT_SUPPORTED_FOR_APPLICATION", "document_unsupported" },
        { "PORTRAIT_IMAGE_NOT_DETECTED", "document_unreadable" },
        { "MRZ_NOT_DETECTED", "document_unreadable" },
        { "QR_NOT_DETECTED", "document_unreadable" },
        { "BARCODE_NOT_DETECTED", "document_unreadable" } } },
};

static const char *reason_of(size_t provider, enum tide_kyc_state state, const char *const *labels)
{
    struct tide_kyc_decision out = { .state = state };
    json_t *said = providers[provider].said(labels);
    assert_non_null(said);
    providers[provider].because(&out, said);
    json_decref(said);
    assert_true(!out.reason || tide_kyc_reason_shown(tide_slice_str(out.reason)));
    return out.reason;
}

static const char *reason_of_one(size_t provider, enum tide_kyc_state state, const char *label)
{
    return reason_of(provider, state, (const char *const[]){ label, NULL });
}

static void each_label_has_its_reason(void **state)
{
    (void)state;
    static const enum tide_kyc_state refusals[] = { TIDE_KYC_DECLINED, TIDE_KYC_ACTION_REQUIRED };
    static const enum tide_kyc_state others[] = { TIDE_KYC_CREATED, TIDE_KYC_PENDING,
                                                  TIDE_KYC_REVIEW, TIDE_KYC_APPROVED,
                                                  TIDE_KYC_EXPIRED };
    for (size_t p = 0; p < TIDE_COUNT(providers); p++)
        for (size_t i = 0; providers[p].rows[i].label; i++) {
            const char *label = providers[p].rows[i].label;
            for (size_t s = 0; s < TIDE_COUNT(refusals); s++)
                assert_string_equal(reason_of_one(p, refusals[s], label),
                                    providers[p].rows[i].reason);
            for (size_t s = 0; s < TIDE_COUNT(others); s++)
                assert_null(reason_of_one(p, others[s], label));
        }
}

/* If one label must not be shown, no reason is shown, wherever that label stands in the list. */
static void a_suspicion_is_not_hidden(void **state)
{
    (void)state;
    for (size_t p = 0; p < TIDE_COUNT(providers); p++) {
        const char *first = providers[p].rows[0].label, *second = providers[p].rows[1].label;
        if (!providers[p].many)
            continue;
        const char *const known[] = { first, second, NULL };
        assert_string_equal(reason_of(p, TIDE_KYC_DECLINED, known), providers[p].rows[1].reason);
        const char *const before[] = { "FORGERY", first, NULL };
        assert_null(reason_of(p, TIDE_KYC_DECLINED, before));
        const char *const after[] = { first, "FORGERY", NULL };
        assert_null(reason_of(p, TIDE_KYC_DECLINED, after));
        assert_null(reason_of(p, TIDE_KYC_DECLINED, (const char *const[]){ NULL }));
    }
}

static bool is_known(size_t provider, const char *label)
{
    for (size_t i = 0; providers[provider].rows[i].label; i++)
        if (strcmp(providers[provider].rows[i].label, label) == 0)
            return true;
    return false;
}

/* Known labels with one byte changed, missing or added, and private comments, give no reason. */
static void made_up_labels_give_none(void **state)
{
    (void)state;
    static const char alphabet[] = "ABCXYZ_019abc .-";
    uint32_t chance = 20261122, made = 0;
    for (size_t p = 0; p < TIDE_COUNT(providers); p++) {
        size_t rows = 0;
        while (providers[p].rows[rows].label)
            rows++;
        for (int round = 0; rows && round < 5000; round++) {
            char label[64];
            chance = chance * 1664525u + 1013904223u;
            snprintf(label, sizeof label, "%s", providers[p].rows[(chance >> 8) % rows].label);
            size_t len = strlen(label);
            char c = alphabet[(chance >> 12) % (sizeof alphabet - 1)];
            if (round % 3 == 0)
                label[(chance >> 16) % len] = c;
            else if (round % 3 == 1)
                snprintf(label + len, sizeof label - len, "%c", c);
            else
                label[len - 1] = 0;
            if (is_known(p, label))
                continue;
            made++;
            assert_null(reason_of_one(p, TIDE_KYC_DECLINED, label));
        }
        assert_null(reason_of_one(p, TIDE_KYC_DECLINED, "The passport of Jane Doe is on a list."));
        assert_null(reason_of_one(p, TIDE_KYC_DECLINED, ""));
    }
    assert_true(made > 10000);
}

static void other_shapes_give_none(void **state)
{
    (void)state;
    static const char *const shapes[] = { "null",
                                          "true",
                                          "{}",
                                          "[]",
                                          "[null]",
                                          "[207]",
                                          "[[\"207\"]]",
                                          "{\"a\":{\"warnings\":[]}}",
                                          "{\"a\":[1,{\"warnings\":7}]}",
                                          "{\"a\":[{\"warnings\":[3,{\"risk\":207}]}]}",
                                          "-207",
                                          "\"LOW_QUALITY\\u0000\"" };
    for (size_t p = 0; p < TIDE_COUNT(providers); p++)
        for (size_t i = 0; i < TIDE_COUNT(shapes); i++) {
            struct tide_kyc_decision out = { .state = TIDE_KYC_DECLINED };
            json_t *said = json_loads(shapes[i], JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
            assert_non_null(said);
            providers[p].because(&out, said);
            assert_null(out.reason);
            json_decref(said);
        }
    struct tide_kyc_decision out = { .state = TIDE_KYC_DECLINED };
    json_t *number = json_integer(207); /* Veriff's code as a number */
    tide_kyc_veriff_because(&out, number);
    assert_string_equal(out.reason, "document_expired");
    json_decref(number);
}

/* Didit's warnings with log_type "information" do not count. Warnings of other features do. */
static void warnings_of_other_features_count(void **state)
{
    (void)state;
    static const struct {
        const char *said, *reason;
    } rows[] = {
        { "{\"id_verifications\":[{\"warnings\":[{\"risk\":\"DOCUMENT_EXPIRED\",\"log_type\":"
          "\"error\"},{\"risk\":\"ANY\",\"log_type\":\"information\"}]}]}",
          "document_expired" },
        { "{\"id_verifications\":[{\"warnings\":[{\"risk\":\"DOCUMENT_EXPIRED\",\"log_type\":"
          "\"information\"}]}]}",
          NULL },
        { "{\"id_verifications\":[{\"warnings\":[{\"risk\":\"DOCUMENT_EXPIRED\",\"log_type\":"
          "\"error\"}]}],\"aml_screenings\":[{\"warnings\":[{\"risk\":\"POSSIBLE_MATCH_FOUND\","
          "\"log_type\":\"warning\"}]}]}",
          NULL },
    };
    for (size_t i = 0; i < TIDE_COUNT(rows); i++) {
        struct tide_kyc_decision out = { .state = TIDE_KYC_DECLINED };
        json_t *said = json_loads(rows[i].said, 0, NULL);
        tide_kyc_didit_because(&out, said);
        if (rows[i].reason)
            assert_string_equal(out.reason, rows[i].reason);
        else
            assert_null(out.reason);
        json_decref(said);
    }
}

int test_kyc_reason(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_label_has_its_reason),
        cmocka_unit_test(a_suspicion_is_not_hidden),
        cmocka_unit_test(made_up_labels_give_none),
        cmocka_unit_test(other_shapes_give_none),
        cmocka_unit_test(warnings_of_other_features_count),
    };
    return cmocka_run_group_tests_name("kyc reason", tests, NULL, NULL);
}
