#include "api/kyc/worker/refused.h"

#include <pthread.h>
#include <stdlib.h>

struct word {
    enum tide_kyc_fate fate;
    const char *why;
    uint64_t count, told;
    int64_t told_ms;
    bool was_told;
};

struct list {
    struct word words[TIDE_KYC_REFUSED_WORDS];
    uint32_t count;
    int64_t full_ms; /* when the bucket of its forgeries will be full again, monotonic */
};

struct tide_kyc_refused {
    pthread_mutex_t mutex;
    struct list lists[TIDE_KYC_PROVIDERS_MAX];
};

const char *tide_kyc_fate_text(enum tide_kyc_fate fate)
{
    static const char *const texts[TIDE_KYC_FATE_COUNT] = { "kept",       "repeated", "not_ours",
                                                            "unreadable", "forged",   "unkept" };
    return texts[fate];
}

struct tide_kyc_refused *tide_kyc_refused_open(void)
{
    struct tide_kyc_refused *refused = calloc(1, sizeof *refused);
    if (refused)
        pthread_mutex_init(&refused->mutex, NULL);
    return refused;
}

void tide_kyc_refused_close(struct tide_kyc_refused *refused)
{
    if (!refused)
        return;
    pthread_mutex_destroy(&refused->mutex);
    free(refused);
}

static bool is_of(const struct word *word, enum tide_kyc_fate fate, const char *why)
{
    if (word->fate != fate || !word->why != !why)
        return false;
    return !why || strcmp(word->why, why) == 0;
}

/* The last place is "other"'s. */
static struct word *word_of(struct list *list, enum tide_kyc_fate fate, const char *why)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (is_of(&list->words[i], fate, why))
            return &list->words[i];
    if (list->count == TIDE_KYC_REFUSED_WORDS)
        return &list->words[list->count - 1];
    struct word *made = &list->words[list->count++];
    *made = (struct word){ .fate = fate, .why = why };
    if (list->count == TIDE_KYC_REFUSED_WORDS)
        made->why = "other";
    return made;
}

void tide_kyc_count(struct tide_kyc_refused *refused, uint32_t provider, enum tide_kyc_fate fate,
                    const char *why)
{
    pthread_mutex_lock(&refused->mutex);
    word_of(&refused->lists[provider], fate, why)->count++;
    pthread_mutex_unlock(&refused->mutex);
}

/* A token comes back each STEP_MS; what is owed to the bucket is kept as a time. */
bool tide_kyc_has_patience(struct tide_kyc_refused *refused, uint32_t provider, int64_t now_ms)
{
    enum { WINDOW_MS = 60000, STEP_MS = WINDOW_MS / TIDE_KYC_PATIENCE };
    pthread_mutex_lock(&refused->mutex);
    int64_t *full_ms = &refused->lists[provider].full_ms;
    int64_t owed = *full_ms > now_ms ? *full_ms : now_ms;
    bool has = owed + STEP_MS - now_ms <= WINDOW_MS;
    if (has)
        *full_ms = owed + STEP_MS;
    pthread_mutex_unlock(&refused->mutex);
    return has;
}

uint32_t tide_kyc_counted(struct tide_kyc_refused *refused, uint32_t provider,
                          struct tide_kyc_count_line out[TIDE_KYC_REFUSED_WORDS])
{
    pthread_mutex_lock(&refused->mutex);
    const struct list *list = &refused->lists[provider];
    uint32_t count = list->count;
    for (uint32_t i = 0; i < count; i++)
        out[i] = (struct tide_kyc_count_line){ .fate = list->words[i].fate,
                                               .why = list->words[i].why,
                                               .count = list->words[i].count };
    pthread_mutex_unlock(&refused->mutex);
    return count;
}

bool tide_kyc_to_tell(struct tide_kyc_refused *refused, uint32_t provider, int64_t now_ms,
                      int64_t every_ms, struct tide_kyc_count_line *out)
{
    bool found = false;
    pthread_mutex_lock(&refused->mutex);
    struct list *list = &refused->lists[provider];
    for (uint32_t i = 0; i < list->count && !found; i++) {
        struct word *word = &list->words[i];
        bool early = word->was_told && now_ms - word->told_ms < every_ms;
        bool matters = word->why && word->fate != TIDE_KYC_NOT_OURS;
        if (!matters || word->count == word->told || early)
            continue;
        *out = (struct tide_kyc_count_line){ .fate = word->fate,
                                             .why = word->why,
                                             .count = word->count - word->told };
        word->told = word->count;
        word->told_ms = now_ms;
        word->was_told = found = true;
    }
    pthread_mutex_unlock(&refused->mutex);
    return found;
}

void tide_kyc_untold(struct tide_kyc_refused *refused, uint32_t provider,
                     const struct tide_kyc_count_line *line)
{
    pthread_mutex_lock(&refused->mutex);
    struct word *word = word_of(&refused->lists[provider], line->fate, line->why);
    word->told -= line->count <= word->told ? line->count : word->told;
    word->was_told = false;
    pthread_mutex_unlock(&refused->mutex);
}
