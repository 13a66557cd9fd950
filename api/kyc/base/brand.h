/* Colours and logo of the KYC pages, as the KYC file gives them for all pages, and
 * kyc.integrator for the sessions of one integrator:
 *
 *   "brand": { "name": "Acme",                      in the header; default: the integrator's name
 *              "color": "#0b5c6b",                  buttons and links; default: ours
 *              "colorDark": "#7fd0e2",              the same where the visitor prefers dark
 *              "logo": "https://acme.example/logo.svg" }
 *
 * Contrast  a colour is text and carries text. It is refused unless its contrast to each background
 *           of api/web/kyc.css in its scheme is 4.5 or more (WCAG 2, AA).
 * Logo      the one picture of another host that the page's policy allows; no query, no quotes */
#ifndef API_KYC_BASE_BRAND_H
#define API_KYC_BASE_BRAND_H

#include "tidemark/slice.h"
#include "tidemark/status.h"

#define TIDE_KYC_COLOR_BYTES      8u /* "#rrggbb", NUL-terminated */
#define TIDE_KYC_BRAND_NAME_BYTES 129u
#define TIDE_KYC_LOGO_BYTES       257u

struct tide_kyc_brand { /* "": not given */
    char name[TIDE_KYC_BRAND_NAME_BYTES];
    char color[TIDE_KYC_COLOR_BYTES];
    char color_dark[TIDE_KYC_COLOR_BYTES];
    char logo[TIDE_KYC_LOGO_BYTES];
};

/* Reads the JSON text of kyc.integrator.brand. TIDE_E_CONFIG names the member that is wrong. */
tide_status tide_kyc_brand_parse(struct tide_kyc_brand *out, tide_slice text,
                                 struct tide_err *err) TIDE_MUST_USE;

/* The background of each scheme that its colour is hardest to read on, "#rrggbb". */
extern const char tide_kyc_light_background[], tide_kyc_dark_background[];

/* Contrast of two colours "#rrggbb" by WCAG 2, in hundredths: 100 .. 2100. Rounded down. */
uint32_t tide_kyc_contrast(const char *one, const char *other);

#endif
