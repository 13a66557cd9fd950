/* Reads and checks the brand of the KYC pages. */
#include "tidemark/brand.h"
#include "tidemark/json_members.h"
#include "tidemark/text.h"

#include <math.h>

enum { CONTRAST_LEAST = 450 }; /* hundredths: 4.5 */

const char tide_kyc_light_background[] = "#eef3f5", tide_kyc_dark_background[] = "#1c272e";

/* --- contrast ------------------------------------------------------------------------------ */

/* Converts an sRGB channel to linear light, with the constants of WCAG 2. */
static double linear_of(uint8_t channel)
{
    double c = channel / 255.0;
    return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

/* Returns the relative luminance of "#rrggbb". The caller has checked the form. */
static double luminance_of(const char *color)
{
    uint8_t rgb[3];
    tide_status status = tide_hex_decode(rgb, sizeof rgb, tide_slice_str(color + 1));
    assert(status == TIDE_OK);
    (void)status;
    return 0.2126 * linear_of(rgb[0]) + 0.7152 * linear_of(rgb[1]) + 0.0722 * linear_of(rgb[2]);
}

uint32_t tide_kyc_contrast(const char *one, const char *other)
{
    double a = luminance_of(one), b = luminance_of(other);
    double ratio = a > b ? (a + 0.05) / (b + 0.05) : (b + 0.05) / (a + 0.05);
    return (uint32_t)(100.0 * ratio);
}

/* --- the file ------------------------------------------------------------------------------ */

/* Reads "#rrggbb". Fails if the contrast to background is too low for text. */
static tide_status read_color(struct tide_members_reader *r, void *to, json_t *value,
                              const char *background)
{
    tide_slice text = tide_read_string(value);
    uint8_t rgb[3];
    if (text.len != TIDE_KYC_COLOR_BYTES - 1 || text.ptr[0] != '#' ||
        tide_hex_decode(rgb, sizeof rgb, tide_slice_of(text.ptr + 1, text.len - 1)) != TIDE_OK)
        return tide_read_refuse(r, "expected a colour: #rrggbb in lower case");
    memcpy(to, text.ptr, text.len);
    ((char *)to)[text.len] = 0;
    uint32_t contrast = tide_kyc_contrast(to, background);
    if (contrast < CONTRAST_LEAST) {
        char expected[96];
        snprintf(expected, sizeof expected,
                 "its contrast to %s is %u.%02u; at least 4.50 is needed", background,
                 contrast / 100, contrast % 100);
        return tide_read_refuse(r, expected);
    }
    return TIDE_OK;
}

static tide_status read_light(struct tide_members_reader *r, const struct tide_member *m, void *to,
                              json_t *value)
{
    (void)m;
    return read_color(r, to, value, tide_kyc_light_background);
}

static tide_status read_dark(struct tide_members_reader *r, const struct tide_member *m, void *to,
                             json_t *value)
{
    (void)m;
    return read_color(r, to, value, tide_kyc_dark_background);
}

/* Accepts only characters that cannot end a directive: the URL becomes part of the page's
 * Content-Security-Policy header. */
static tide_status read_logo(struct tide_members_reader *r, const struct tide_member *m, void *to,
                             json_t *value)
{
    tide_slice text = tide_read_string(value);
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.ptr[i];
        bool plain = (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
        if (!plain && !strchr("/:._~%-", c))
            return tide_read_refuse(r, "expected letters, digits and /:._~%- only");
    }
    return tide_read_url(r, m, to, value);
}

/* clang-format off */
#define BRAND(member) offsetof(struct tide_kyc_brand, member)
static const struct tide_member members[] = {
    { "name",      tide_read_text, BRAND(name),       0, TIDE_KYC_BRAND_NAME_BYTES, true, 0 },
    { "color",     read_light,     BRAND(color),      0, 0,                         true, 0 },
    { "colorDark", read_dark,      BRAND(color_dark), 0, 0,                         true, 0 },
    { "logo",      read_logo,      BRAND(logo),       0, TIDE_KYC_LOGO_BYTES,       true, 0 },
};
/* clang-format on */

tide_status tide_kyc_brand_read(struct tide_members_reader *r, const struct tide_member *m,
                                void *to, json_t *value)
{
    (void)m;
    return tide_read_object(r, members, TIDE_COUNT(members), to, value);
}

tide_status tide_kyc_brand_parse(struct tide_kyc_brand *out, tide_slice text, struct tide_err *err)
{
    json_error_t error;
    struct tide_members_reader reader = { .err = err };
    *out = (struct tide_kyc_brand){ 0 };
    json_t *root = tide_json_load(text, JSON_REJECT_DUPLICATES, &error);
    tide_status status = root ? tide_kyc_brand_read(&reader, NULL, out, root)
                              : tide_fail(err, TIDE_E_CONFIG, "not JSON: %s", error.text);
    json_decref(root);
    return status;
}
