/* Countries as providers and passports write them, and as the contract keeps them. */
#ifndef API_KYC_PROVIDERS_COUNTRY_H
#define API_KYC_PROVIDERS_COUNTRY_H

#include "tidemark/slice.h"

/* ISO 3166-1 numeric of an alpha-2 or alpha-3 code, exactly as ISO writes them (upper case). 0 for
 * all else: codes of passports that are no country (XXA, UNO, GBN, RKS, D …), reserved ones,
 * empty text. A caller that gets 0 leaves the case to a person, never to the chain. */
uint32_t tide_kyc_country(tide_slice code);

#endif
