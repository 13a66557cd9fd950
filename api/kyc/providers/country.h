/* Country codes of providers and documents, and the numeric codes of the attestation contract. */
#ifndef API_KYC_PROVIDERS_COUNTRY_H
#define API_KYC_PROVIDERS_COUNTRY_H

#include "tidemark/slice.h"

/* Returns the ISO 3166-1 numeric code of an alpha-2 or alpha-3 code in upper case. Returns 0 for
 * any other text: passport codes without a country (XXA, UNO, GBN, RKS, D…), reserved codes, "".
 * The caller then leaves the decision to a person; nothing is attested. */
uint32_t tide_kyc_country(tide_slice code);

#endif
