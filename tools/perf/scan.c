/* perf scan ROUNDS LAKE: reads a page of getLedgers that is made of a lake's ledgers. The indexer's
 * scanner finds the fields and decodes base64 in place. The program compares its time with a memcpy
 * of the same text, and with jansson followed by the same base64 decoder. */
#include "perf.h"
#include "ratio.h"

#include "indexer/source/source.h"
#include "schema/rpc/answer.h"
#include "tidemark/json_read.h"
#include "tidemark/text.h"

enum { PAGE_LEDGERS = 50, TEXT_MAX = 64 << 20 };

/* Appends one ledger as an element of the page's array. */
static void put_entry(struct tide_buf *out, uint32_t sequence, tide_slice lcm)
{
    uint32_t version = lcm.ptr[3];
    /* The hash of the header follows the version and, in version 1 and 2, the extension. */
    const uint8_t *hash = lcm.ptr + (version == 0 ? 4 : lcm.ptr[7] ? 20 : 8);
    tide_buf_str(out, "{\"hash\":\"");
    tide_buf_hex(out, tide_slice_of(hash, TIDE_HASH_BYTES));
    tide_buf_putf(out, "\",\"sequence\":%u,\"ledgerCloseTime\":\"1767225600\",\"headerXdr\":\"",
                  sequence);
    /* the length of a usual header; its content is not read */
    tide_buf_base64(out, tide_slice_of(hash, 360));
    tide_buf_str(out, "\",\"metadataXdr\":\"");
    tide_buf_base64(out, lcm);
    tide_buf_str(out, "\"}");
}

/* Writes one page as a server does, and adds the bytes of its ledgers to xdr_bytes. Ends the
 * program if the lake holds no ledger. */
static void make_page(struct tide_buf *out, const char *lake, size_t *xdr_bytes)
{
    static struct tide_config config;
    struct tide_source source;
    struct tide_err err;
    tide_config_defaults(&config);
    snprintf(config.lake, sizeof config.lake, "%s", lake);
    const struct tide_source_options options = { .config = &config };
    if (tide_lake_open(&source, &options, &err) || source.ops->seek(source.self, 0, 0, &err))
        perf_die("scan", &err);
    tide_buf_str(out, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"ledgers\":[");
    uint32_t count = 0;
    for (; count < PAGE_LEDGERS; count++) {
        tide_slice lcm;
        uint32_t sequence;
        if (source.ops->next(source.self, &lcm, &sequence, &err) != TIDE_OK)
            break;
        tide_buf_str(out, count ? "," : "");
        put_entry(out, sequence, lcm);
        *xdr_bytes += lcm.len;
    }
    tide_buf_str(out, "],\"latestLedger\":99999999,\"latestLedgerCloseTime\":1767225600,"
                      "\"oldestLedger\":2,\"oldestLedgerCloseTime\":1,\"cursor\":\"1\"}}");
    source.ops->close(source.self);
    if (out->failed || count == 0) {
        tide_fail(&err, TIDE_E_LIMIT, "%s: no page of ledgers", lake);
        perf_die("scan", &err);
    }
}

/* Returns the seconds of a memcpy of the text. */
static double time_copy(uint8_t *to, tide_slice text)
{
    double start = perf_now();
    memcpy(to, text.ptr, text.len);
    return perf_now() - start;
}

/* Returns the seconds of the scanner. The scanner decodes in place, so copy is destroyed. Ends the
 * program if the decoded length is wrong. */
static double time_scan(uint8_t *copy, size_t len, size_t xdr_bytes)
{
    static struct tide_rpc_page page;
    struct tide_rpc_error error;
    struct tide_err err;
    double start = perf_now();
    if (tide_rpc_answer_read(&tide_rpc_ledgers_question, &error, &page, copy, len, 1, &err) !=
        TIDE_OK)
        perf_die("scan", &err);
    double took = perf_now() - start;
    size_t bytes = 0;
    for (uint32_t i = 0; i < page.count; i++)
        bytes += page.ledgers[i].lcm.len;
    if (bytes != xdr_bytes) {
        tide_fail(&err, TIDE_E_DECODE, "%zu bytes of ledgers instead of %zu", bytes, xdr_bytes);
        perf_die("scan", &err);
    }
    return took;
}

/* Returns the seconds of jansson with base64. Ends the program if the decoded length is wrong. */
static double time_jansson(tide_slice text, struct tide_buf *xdr, size_t xdr_bytes)
{
    json_error_t where;
    struct tide_err err;
    double start = perf_now();
    json_t *root = tide_json_load(text, JSON_REJECT_DUPLICATES, &where);
    const json_t *ledgers = json_object_get(json_object_get(root, "result"), "ledgers");
    tide_buf_reset(xdr);
    for (size_t i = 0; i < json_array_size(ledgers); i++) {
        const json_t *meta = json_object_get(json_array_get(ledgers, i), "metadataXdr");
        tide_slice base64 = tide_slice_of(json_string_value(meta), json_string_length(meta));
        if (tide_buf_base64_decode(xdr, base64) != TIDE_OK)
            break;
    }
    json_decref(root);
    double took = perf_now() - start;
    if (xdr->len != xdr_bytes) {
        tide_fail(&err, TIDE_E_DECODE, "jansson: %zu bytes of ledgers instead of %zu", xdr->len,
                  xdr_bytes);
        perf_die("scan", &err);
    }
    return took;
}

int perf_scan(int argc, char **argv)
{
    uint64_t rounds = 0;
    if (argc != 2 || tide_parse_u64(&rounds, tide_slice_str(argv[0]), ROUNDS_MAX) != TIDE_OK ||
        rounds == 0) {
        fputs("usage: tidemark-perf scan ROUNDS LAKE\n", stderr);
        return 64;
    }
    struct tide_buf text, xdr;
    struct ratio copy = { 0 }, jansson = { 0 };
    size_t xdr_bytes = 0;
    tide_buf_init(&text, TEXT_MAX);
    tide_buf_init(&xdr, TEXT_MAX);
    make_page(&text, argv[1], &xdr_bytes);
    uint8_t *body = malloc(text.len);
    if (!body)
        return 71;
    /* the kernel maps the pages now, not while the first round is timed */
    memset(body, 1, text.len);
    double ours[ROUNDS_MAX];
    for (uint32_t i = 0; i < rounds; i++) {
        /* The copy restores the text that the scanner of the round before has destroyed. */
        double copied = time_copy(body, tide_buf_view(&text));
        ours[i] = time_scan(body, text.len, xdr_bytes);
        ratio_add(&copy, ours[i], copied);
        ratio_add(&jansson, ours[i], time_jansson(tide_buf_view(&text), &xdr, xdr_bytes));
    }
    char detail[160];
    snprintf(detail, sizeof detail, "a page of %zu bytes, %.0f MB/s of text", text.len,
             (double)text.len / 1e6 / median(ours, (uint32_t)rounds));
    ratio_print(&copy, "getLedgers to XDR / memcpy of the answer", detail);
    ratio_print(&jansson, "getLedgers to XDR / jansson and base64", detail);
    free(body);
    tide_buf_release(&text);
    tide_buf_release(&xdr);
    return 0;
}
