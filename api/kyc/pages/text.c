/* Chooses the language of the KYC pages and looks up their texts. */
#include "api/kyc/pages/text.h"
#include "api/http/header.h"
#include "api/http/static_files.h"
#include "tidemark/json_read.h"

enum { LANGUAGES_MAX = 16, TAG_BYTES = 4 };

struct tide_kyc_words {
    char tag[TAG_BYTES]; /* "en" */
    json_t *texts;       /* borrowed from root */
    char *json;          /* all texts of the language, compact; owned */
};

struct tide_kyc_texts {
    json_t *root;
    struct tide_kyc_words words[LANGUAGES_MAX];
    uint32_t count;
};

/* The asserts check the embedded document: a bad one is a fault of the build. */
static tide_status add_language(struct tide_kyc_texts *texts, const char *tag, json_t *of)
{
    assert(texts->count < LANGUAGES_MAX && strlen(tag) < TAG_BYTES && json_is_object(of));
    struct tide_kyc_words *words = &texts->words[texts->count++];
    memcpy(words->tag, tag, strlen(tag) + 1);
    words->texts = of;
    words->json = json_dumps(of, JSON_COMPACT);
    return words->json ? TIDE_OK : TIDE_E_MEMORY;
}

tide_status tide_kyc_texts_open(struct tide_kyc_texts **out, struct tide_err *err)
{
    const struct tide_static_file *file = tide_static_file_of("/kyc_text.json");
    json_error_t error;
    const char *tag;
    json_t *of;
    assert(file);
    struct tide_kyc_texts *texts = calloc(1, sizeof *texts);
    if (texts)
        texts->root = tide_json_load(file->text, JSON_REJECT_DUPLICATES, &error);
    bool good = texts && texts->root;
    if (good)
        json_object_foreach(texts->root, tag, of) good &= add_language(texts, tag, of) == TIDE_OK;
    if (!good) {
        tide_kyc_texts_close(texts);
        return tide_fail(err, TIDE_E_MEMORY, "out of memory: texts of the KYC pages");
    }
    *out = texts;
    return TIDE_OK;
}

void tide_kyc_texts_close(struct tide_kyc_texts *texts)
{
    if (!texts)
        return;
    for (uint32_t i = 0; i < texts->count; i++)
        free(texts->words[i].json);
    json_decref(texts->root);
    free(texts);
}

/* --- which language ------------------------------------------------------------------------ */

/* Returns the language of a tag such as "pt-BR", ignoring case, or NULL. */
static const struct tide_kyc_words *language_of(const struct tide_kyc_texts *texts, tide_slice tag)
{
    tide_slice primary = tide_header_cut(&tag, '-');
    for (uint32_t i = 0; i < texts->count; i++) {
        const char *own = texts->words[i].tag;
        bool same = primary.len == strlen(own);
        for (size_t k = 0; k < primary.len && same; k++)
            same = (primary.ptr[k] | 0x20) == own[k];
        if (same)
            return &texts->words[i];
    }
    return NULL;
}

/* Returns the quality "q=0.8" in thousandths. A missing or malformed one counts as 1. */
static int quality_of(tide_slice parameter)
{
    tide_slice name = tide_header_cut(&parameter, '=');
    int weight = tide_header_is(name, "q") ? tide_header_weight(tide_header_cut(&parameter, ';'))
                                           : TIDE_WEIGHT_WRONG;
    return weight == TIDE_WEIGHT_WRONG ? TIDE_WEIGHT_MAX : weight;
}

/* Takes the wanted language, else the one with the highest quality, else the default. */
const struct tide_kyc_words *tide_kyc_words_for(const struct tide_kyc_texts *texts,
                                                tide_slice wanted, tide_slice accept)
{
    assert(texts->count > 0 && texts->count <= TIDE_COUNT(texts->words)); /* the first is default */
    const struct tide_kyc_words *best = language_of(texts, wanted);
    int best_quality = best ? TIDE_WEIGHT_MAX : 0;
    while (accept.len && best_quality < TIDE_WEIGHT_MAX) {
        tide_slice item = tide_header_cut(&accept, ',');
        const struct tide_kyc_words *one = language_of(texts, tide_header_cut(&item, ';'));
        int quality = quality_of(item);
        if (one && quality > best_quality) {
            best = one;
            best_quality = quality;
        }
    }
    return best ? best : &texts->words[0];
}

/* --- texts --------------------------------------------------------------------------------- */

tide_slice tide_kyc_word_of(const struct tide_kyc_words *words, tide_slice key)
{
    char name[64];
    if (key.len >= sizeof name)
        return (tide_slice){ 0 };
    memcpy(name, key.ptr, key.len);
    name[key.len] = 0;
    const json_t *text = json_object_get(words->texts, name);
    return text ? tide_slice_of(json_string_value(text), json_string_length(text))
                : (tide_slice){ 0 };
}

tide_slice tide_kyc_words_json(const struct tide_kyc_words *words)
{
    return tide_slice_str(words->json);
}
