/* Colours and logo of the KYC pages. The KYC file gives them for all pages, and kyc.integrator for
 * the sessions of one integrator:
 *
 *   "brand": { "name": "Acme",                      in the header; default: the integrator's name
 *              "color": "#0b5c6b",                  buttons and links; default: Tidemark's colours
 *              "colorDark": "#7fd0e2",              the same for visitors who prefer dark
 *              "logo": "https://acme.example/logo.svg" }
 *
 * Contrast  a colour is used for text and as a background of text. The reader refuses a colour
 *           whose contrast to a background of api/web/kyc.css in its scheme is below 4.5 (WCAG 2,
 *           AA).
 * Logo      the only picture of another host that the page's Content-Security-Policy allows;
 *           without query and quotes */
#ifndef TIDEMARK_BRAND_H
#define TIDEMARK_BRAND_H

#include "tidemark/json_members.h"
#include "tidemark/slice.h"
#include "tidemark/status.h"

#define TIDE_KYC_COLOR_BYTES      8u /* "#rrggbb", NUL-terminated */
#define TIDE_KYC_BRAND_NAME_BYTES 129u
#define TIDE_KYC_LOGO_BYTES       257u

struct tide_kyc_brand { /* "" in a member: not given */
    char name[TIDE_KYC_BRAND_NAME_BYTES];
    char color[TIDE_KYC_COLOR_BYTES];
    char color_dark[TIDE_KYC_COLOR_BYTES];
    char logo[TIDE_KYC_LOGO_BYTES];
};

/* Reads the JSON text of kyc.integrator.brand. TIDE_E_CONFIG names the faulty member. */
tide_status tide_kyc_brand_parse(struct tide_kyc_brand *out, tide_slice text,
                                 struct tide_err *err) TIDE_MUST_USE;

tide_read_fn tide_kyc_brand_read; /* into a struct tide_kyc_brand */

/* The background colour of each scheme that gives the lowest contrast, "#rrggbb". */
extern const char tide_kyc_light_background[], tide_kyc_dark_background[];

/* Returns the contrast of two colours "#rrggbb" by WCAG 2 in hundredths, rounded down: 100 to
 * 2100. */
uint32_t tide_kyc_contrast(const char *one, const char *other);

#endif
