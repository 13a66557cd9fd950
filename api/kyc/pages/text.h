/* Texts of the KYC pages: api/web/kyc_text.json, an object of languages, each an object of the same
 * keys. A language of that file is offered by being in it; the first one, English, is the default.
 *
 * Documents  {{key}} in a page's document is replaced by that text, {{*}} by all texts of the
 *            language as JSON, for the page's script
 * Threads    any; nothing changes after tide_kyc_texts_open */
#ifndef API_KYC_PAGES_TEXT_H
#define API_KYC_PAGES_TEXT_H

#include "tidemark/slice.h"
#include "tidemark/status.h"

struct tide_kyc_texts;
struct tide_kyc_words; /* the texts of one language; live as long as the texts */

/* *out is the caller's. TIDE_E_MEMORY; the document itself is right: test_kyc_text. */
tide_status tide_kyc_texts_open(struct tide_kyc_texts **out, struct tide_err *err) TIDE_MUST_USE;
void tide_kyc_texts_close(struct tide_kyc_texts *texts); /* NULL is fine */

/* The language of a visitor, never NULL. wanted: a language tag ("pt-BR") or nothing; it comes
 * before accept, the value of an Accept-Language line (RFC 9110, quality values included). Of a tag
 * only its first part counts. */
const struct tide_kyc_words *tide_kyc_words_for(const struct tide_kyc_texts *texts,
                                                tide_slice wanted, tide_slice accept);
/* A text; empty with ptr NULL: there is no such key. */
tide_slice tide_kyc_word_of(const struct tide_kyc_words *words, tide_slice key);
/* All of them as a JSON object. */
tide_slice tide_kyc_words_json(const struct tide_kyc_words *words);

#endif
