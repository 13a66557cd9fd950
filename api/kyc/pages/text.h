/* Texts of the KYC pages, from api/web/kyc_text.json: an object of languages, each an object with
 * the same keys. A page is available in each language of that file. The first one, English, is the
 * default.
 *
 * Documents  {{key}} in a page's document is replaced by the text of that key, {{*}} by all texts
 *            of the language as JSON, for the page's script
 * Threads    any; the texts are constant after tide_kyc_texts_open */
#ifndef API_KYC_PAGES_TEXT_H
#define API_KYC_PAGES_TEXT_H

#include "tidemark/slice.h"
#include "tidemark/status.h"

struct tide_kyc_texts;
struct tide_kyc_words; /* texts of one language; valid until tide_kyc_texts_close */

/* Opens the texts that are embedded in the program. The caller closes *out. TIDE_E_MEMORY is the
 * only failure: test_kyc_text checks the document. */
tide_status tide_kyc_texts_open(struct tide_kyc_texts **out, struct tide_err *err) TIDE_MUST_USE;
void tide_kyc_texts_close(struct tide_kyc_texts *texts); /* NULL is allowed */

/* Chooses the visitor's language; never NULL. wanted, a language tag ("pt-BR") or empty, has
 * precedence over accept, the value of an Accept-Language header (RFC 9110, with quality values).
 * Only the first part of a tag counts. */
const struct tide_kyc_words *tide_kyc_words_for(const struct tide_kyc_texts *texts,
                                                tide_slice wanted, tide_slice accept);
/* Returns a text. ptr is NULL if there is no such key. */
tide_slice tide_kyc_word_of(const struct tide_kyc_words *words, tide_slice key);
/* Returns all texts of the language as a JSON object. */
tide_slice tide_kyc_words_json(const struct tide_kyc_words *words);

#endif
