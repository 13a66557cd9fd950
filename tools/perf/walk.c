/* perf walk ROUNDS FILE…: cost of the walk over ledgers against the machine's own limits.
 *
 *   walk          walking whole ledgers and summing the bytes of every event and contract-data
 *                 change, against memcpy of the same bytes
 *   zstd+walk     decompressing and walking, against decompressing alone
 *   zstd+proofs   decompressing, checking every hash and walking, against SHA-256 alone */
#include "corpus.h"
#include "perf.h"
#include "ratio.h"

#include "indexer/decode/proof.h"
#include "tidemark/hash.h"
#include "tidemark/meta.h"
#include "tidemark/text.h"
#include "tidemark/zstd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Totals of a walk. The sum of the bytes keeps the compiler from removing the walk. */
struct sum {
    uint64_t bytes;
    uint64_t events;
    uint64_t changes;
};

/* Reads every byte of s, eight at a time. */
static void add_bytes(struct sum *sum, tide_slice s)
{
    uint64_t total = 0;
    size_t i = 0;
    for (; i + 8 <= s.len; i += 8) {
        uint64_t word;
        memcpy(&word, s.ptr + i, 8);
        total += word;
    }
    for (; i < s.len; i++)
        total += s.ptr[i];
    sum->bytes += total;
}

static tide_status on_event(void *self, const struct tide_tx *tx, const struct tide_event *event)
{
    (void)tx;
    struct sum *sum = self;
    sum->events++;
    add_bytes(sum, event->xdr);
    return TIDE_OK;
}

static tide_status on_change(void *self, const struct tide_tx *tx, const struct tide_change *change)
{
    (void)tx;
    struct sum *sum = self;
    if (change->type != TIDE_ENTRY_CONTRACT_DATA)
        return TIDE_OK;
    sum->changes++;
    add_bytes(sum, change->entry);
    return TIDE_OK;
}

/* Walks all ledgers; ends the program at the first that is malformed. */
static void walk_all(const struct corpus *corpus, struct sum *sum)
{
    const struct tide_walk walk = { .self = sum, .event = on_event, .change = on_change };
    struct tide_err err;
    for (uint32_t i = 0; i < corpus->count; i++)
        if (tide_ledger_walk(&walk, corpus->ledgers[i], &err) != TIDE_OK)
            perf_die("walk", &err);
}

static double time_walk(const struct corpus *corpus, struct sum *sum)
{
    double start = perf_now();
    walk_all(corpus, sum);
    return perf_now() - start;
}

static double time_memcpy(const struct corpus *corpus, uint8_t *to)
{
    double start = perf_now();
    for (uint32_t i = 0; i < corpus->count; i++)
        memcpy(to + (corpus->ledgers[i].ptr - corpus->bytes), corpus->ledgers[i].ptr,
               corpus->ledgers[i].len);
    return perf_now() - start;
}

static double time_sha256(const struct corpus *corpus, uint8_t *out)
{
    double start = perf_now();
    for (uint32_t i = 0; i < corpus->count; i++)
        tide_sha256(out, corpus->ledgers[i]);
    return perf_now() - start;
}

/* Opens a decompressor; ends the program if there is no memory. */
static struct tide_unzstd *open_unzstd(void)
{
    struct tide_unzstd *z = NULL;
    struct tide_err err;
    if (tide_unzstd_open(&z) != TIDE_OK) {
        tide_fail(&err, TIDE_E_MEMORY, "decompressor");
        perf_die("zstd", &err);
    }
    return z;
}

/* Decompresses one frame into window. Returns the length; ends the program if the frame is
 * damaged. */
static size_t unpack_frame(struct tide_unzstd *z, tide_slice frame, uint8_t *window,
                           size_t window_len)
{
    size_t len = 0;
    const char *what = "";
    tide_unzstd_reset(z);
    while (frame.len || !tide_unzstd_complete(z)) {
        size_t made = 0;
        if (tide_unzstd_read(z, &frame, window + len, window_len - len, &made, &what) != TIDE_OK) {
            struct tide_err err;
            tide_fail(&err, TIDE_E_DECODE, "%s", what);
            perf_die("zstd", &err);
        }
        len += made;
    }
    return len;
}

/* ---- walk and proofs in one pass, as the decoder does ---- */

/* The self pointer of a walk with proofs. */
struct proving {
    struct sum *sum;
    struct tide_proof_check *verify;
};

static tide_status prove_header(void *self, const struct tide_ledger_header *header)
{
    tide_proof_header(((struct proving *)self)->verify, header);
    return TIDE_OK;
}

static tide_status prove_envelope(void *self, const struct tide_envelope *envelope)
{
    return tide_proof_envelope(((struct proving *)self)->verify, envelope);
}

static tide_status prove_tx_set(void *self, tide_slice tx_set)
{
    tide_proof_tx_set(((struct proving *)self)->verify, tx_set);
    return TIDE_OK;
}

static tide_status prove_tx(void *self, const struct tide_tx *tx, bool *inside)
{
    (void)inside;
    tide_proof_tx(((struct proving *)self)->verify, tx);
    return TIDE_OK;
}

static tide_status prove_tx_end(void *self, const struct tide_tx *tx)
{
    (void)tide_proof_tx_end(((struct proving *)self)->verify, tx);
    return TIDE_OK;
}

static tide_status prove_event(void *self, const struct tide_tx *tx, const struct tide_event *event)
{
    return on_event(((struct proving *)self)->sum, tx, event);
}

static tide_status prove_change(void *self, const struct tide_tx *tx,
                                const struct tide_change *change)
{
    return on_change(((struct proving *)self)->sum, tx, change);
}

/* Returns the checker of hashes, which the first call opens. A daemon opens one for its lifetime,
 * so the opening is not part of the cost. */
static struct tide_proof_check *proof_checker(const char *passphrase)
{
    static struct tide_proof_check *verify; /* opened once a run */
    if (!verify) {
        struct tide_err err;
        uint8_t network[TIDE_HASH_BYTES];
        tide_network_id(network, tide_slice_str(passphrase));
        if (tide_proof_open(&verify, TIDE_PROOF_EVENTS, network) != TIDE_OK) {
            tide_fail(&err, TIDE_E_MEMORY, "verifier");
            perf_die("verify", &err);
        }
    }
    return verify;
}

static tide_status walk_proving(const struct tide_walk *plain, tide_slice lcm, struct tide_err *err)
{
    struct proving p = { plain->self,
                         proof_checker("Public Global Stellar Network ; September 2015") };
    const struct tide_walk walk = { .self = &p,
                                    .header = prove_header,
                                    .envelope = prove_envelope,
                                    .tx_set = prove_tx_set,
                                    .tx = prove_tx,
                                    .tx_end = prove_tx_end,
                                    .event = prove_event,
                                    .change = prove_change };
    tide_status status = tide_ledger_walk(&walk, lcm, err);
    tide_proof_end(p.verify);
    return status;
}

enum after_zstd { NOTHING, WALK, WALK_AND_PROOFS }; /* work on a decompressed ledger */

/* Decompresses the ledgers one by one into the same window and does the work that `then` names.
 * Returns the seconds. */
static double time_zstd(const struct corpus *corpus, uint8_t *window, size_t window_len,
                        enum after_zstd then, struct sum *sum)
{
    struct tide_unzstd *z = open_unzstd();
    const struct tide_walk walk = { .self = sum, .event = on_event, .change = on_change };
    struct tide_err err;
    double start = perf_now();
    for (uint32_t i = 0; i < corpus->count; i++) {
        size_t len = unpack_frame(z, corpus->frames[i], window, window_len);
        tide_slice lcm = tide_slice_of(window, len);
        tide_status status = TIDE_OK;
        if (then == WALK)
            status = tide_ledger_walk(&walk, lcm, &err);
        else if (then == WALK_AND_PROOFS)
            status = walk_proving(&walk, lcm, &err);
        if (status != TIDE_OK)
            perf_die("walk", &err);
    }
    double took = perf_now() - start;
    tide_unzstd_close(z);
    return took;
}

/* Memory of a run, allocated before the first round. */
struct setup {
    struct corpus corpus;
    uint8_t *copy;   /* as large as the corpus */
    uint8_t *window; /* as large as the largest ledger */
    size_t window_len;
};

/* Loads the ledgers and allocates the buffers; ends the program on failure. */
static void prepare_setup(struct setup *s, char **paths, int count)
{
    struct tide_err err;
    if (corpus_load(&s->corpus, paths, count, (size_t)64 << 20, &err) != TIDE_OK)
        perf_die("load", &err);
    for (uint32_t i = 0; i < s->corpus.count; i++)
        if (s->corpus.ledgers[i].len > s->window_len)
            s->window_len = s->corpus.ledgers[i].len;
    s->copy = malloc(s->corpus.len);
    s->window = malloc(s->window_len);
    if (!s->copy || !s->window) {
        tide_fail(&err, TIDE_E_MEMORY, "%zu bytes", s->corpus.len);
        perf_die("load", &err);
    }
    memset(s->copy, 1, s->corpus.len); /* the kernel maps the pages now, not in the first round */
}

/* Runs the rounds, ours and theirs in turn, and prints the three ratios. */
static void measure_rounds(struct setup *s, uint32_t rounds)
{
    struct ratio walk = { 0 }, zstd_walk = { 0 }, proofs = { 0 };
    struct sum sum = { 0 };
    uint8_t hash[TIDE_HASH_BYTES];
    for (uint32_t i = 0; i < rounds; i++) {
        double theirs = time_memcpy(&s->corpus, s->copy);
        ratio_add(&walk, time_walk(&s->corpus, &sum), theirs);
        theirs = time_zstd(&s->corpus, s->window, s->window_len, NOTHING, &sum);
        ratio_add(&zstd_walk, time_zstd(&s->corpus, s->window, s->window_len, WALK, &sum), theirs);
        theirs = time_sha256(&s->corpus, hash);
        ratio_add(&proofs, time_zstd(&s->corpus, s->window, s->window_len, WALK_AND_PROOFS, &sum),
                  theirs);
    }
    char detail[256];
    snprintf(detail, sizeof detail,
             "%u ledgers, %.1f MB, %" PRIu64 " events and %" PRIu64
             " changes visited, sum %" PRIx64,
             s->corpus.count, (double)s->corpus.len / 1e6, sum.events, sum.changes, sum.bytes);
    ratio_print(&walk, "walk / memcpy", detail);
    ratio_print(&zstd_walk, "zstd + walk / zstd", detail);
    ratio_print(&proofs, "zstd + proofs + walk / sha256", detail);
}

int perf_walk(int argc, char **argv)
{
    if (argc < 2) {
        fputs("usage: tidemark-perf walk ROUNDS FILE...\n", stderr);
        return 64;
    }
    uint64_t rounds = 0;
    if (tide_parse_u64(&rounds, tide_slice_str(argv[0]), ROUNDS_MAX) != TIDE_OK || rounds == 0) {
        fputs("tidemark-perf walk: ROUNDS must be a number from 1 to 64\n", stderr);
        return 64;
    }
    struct setup s = { 0 };
    prepare_setup(&s, argv + 1, argc - 1);
    measure_rounds(&s, (uint32_t)rounds);
    free(s.copy);
    free(s.window);
    corpus_free(&s.corpus);
    return 0;
}
