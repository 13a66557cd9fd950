#include "tidemark/receipt.h"
#include "tidemark/cache_meta.h"
#include "tidemark/record_json.h"
#include "tidemark/text.h"

#include <stdio.h>

const struct tide_receipt_route tide_receipt_routes[TIDE_RECEIPT_KIND_COUNT] = {
    [TIDE_RECEIPT_STATUS] = { "kyc_status",
                              "/api/sdk/kyc/status/",
                              "",
                              5,
                              { TIDE_ROLE_compliance_registry, TIDE_ROLE_liquidity_pool,
                                TIDE_ROLE_synthetic_engine, TIDE_ROLE_stability_pool,
                                TIDE_ROLE_dao_governance } },
    [TIDE_RECEIPT_PRICE] = { "price",
                             "/api/prices/",
                             "",
                             2,
                             { TIDE_ROLE_oracle, TIDE_ROLE_dao_governance } },
    [TIDE_RECEIPT_QUOTE] = { "pool_quote",
                             "/api/pools/",
                             "/quote",
                             2,
                             { TIDE_ROLE_liquidity_pool, TIDE_ROLE_dao_governance } },
};

void tide_receipt_read(struct tide_receipt *receipt, const struct tide_reader *reader)
{
    assert(receipt->kind < TIDE_RECEIPT_KIND_COUNT);
    const struct tide_hot_meta *meta = reader->meta;
    const struct tide_receipt_route *route = &tide_receipt_routes[receipt->kind];
    receipt->live = !reader->past;
    receipt->ledger = meta->ledger;
    receipt->closed_ms = tide_cache_closed_ms(meta);
    receipt->evaluated_at = reader->now;
    receipt->renewed_ms = meta->renewed_ms > 0 ? (uint64_t)meta->renewed_ms : 0;
    receipt->age_ms = reader->age_ms;
    memcpy(receipt->hash, meta->hash, sizeof receipt->hash);
    memcpy(receipt->deployment, meta->protocol, sizeof receipt->deployment);
    memcpy(receipt->network, meta->passphrase, sizeof receipt->network);
    for (uint32_t i = 0; i < route->role_count; i++)
        receipt->contracts[route->roles[i]] = meta->contracts[route->roles[i]];
}

static uint64_t sooner(uint64_t a, uint64_t b)
{
    return b < a ? b : a;
}

void tide_receipt_end(struct tide_receipt *receipt, const struct tide_receipt_limits *limits,
                      uint64_t now_ms, uint64_t holds_until)
{
    uint64_t left_ms =
        limits->stale_after_ms > receipt->age_ms ? limits->stale_after_ms - receipt->age_ms : 0;
    uint64_t known_ms = (receipt->live ? now_ms : receipt->closed_ms) + left_ms;
    if (receipt->live)
        known_ms = sooner(known_ms, receipt->renewed_ms + limits->stale_after_ms +
                                        limits->clock_skew_s * 1000);
    receipt->issued_at = now_ms / 1000;
    receipt->expires_at = known_ms / 1000;
    if (holds_until)
        receipt->expires_at = sooner(receipt->expires_at, holds_until);
    if (receipt->kind == TIDE_RECEIPT_STATUS && limits->compliance_age_s)
        receipt->expires_at =
            sooner(receipt->expires_at, receipt->closed_ms / 1000 + limits->compliance_age_s);
}

static void put_hash(struct tide_json *j, const char *name, const uint8_t hash[TIDE_HASH_BYTES])
{
    char text[2 * TIDE_HASH_BYTES];
    tide_hex(text, tide_slice_of(hash, TIDE_HASH_BYTES));
    tide_json_name(j, name);
    tide_json_plain(j, tide_slice_of(text, sizeof text));
}

/* Writes the subject of the receipt: the network, the protocol on it, the contracts, the ledger. */
static void put_state(struct tide_json *j, const struct tide_receipt *receipt)
{
    assert(receipt->kind < TIDE_RECEIPT_KIND_COUNT);
    const struct tide_receipt_route *route = &tide_receipt_routes[receipt->kind];
    tide_json_text(j, "network", tide_slice_str(receipt->network));
    put_hash(j, "deployment", receipt->deployment);
    tide_json_name(j, "contracts");
    tide_json_open(j, '{');
    for (uint32_t i = 0; i < route->role_count; i++)
        if (receipt->contracts[route->roles[i]].kind)
            tide_record_json_address(j, tide_role_name(route->roles[i]),
                                     &receipt->contracts[route->roles[i]]);
    tide_json_close(j, '}');
    tide_json_name(j, "ledger");
    tide_json_open(j, '{');
    tide_json_u64(j, "sequence", receipt->ledger);
    put_hash(j, "hash", receipt->hash);
    tide_json_time_ms(j, "closedAt", receipt->closed_ms);
    if (receipt->proven)
        tide_json_u64(j, "provenThrough", receipt->proven);
    else
        tide_json_null(j, "provenThrough");
    tide_json_close(j, '}');
}

static void put_lease(struct tide_json *j, const struct tide_receipt *receipt)
{
    if (!receipt->live) {
        tide_json_null(j, "lease");
        return;
    }
    tide_json_name(j, "lease");
    tide_json_open(j, '{');
    tide_json_time(j, "renewedAt", receipt->renewed_ms / 1000);
    tide_json_number(j, "ageMs", receipt->age_ms);
    tide_json_close(j, '}');
}

static void put_question(struct tide_json *j, const struct tide_receipt *receipt)
{
    assert(receipt->query_count <= TIDE_COUNT(receipt->query));
    const struct tide_receipt_route *route = &tide_receipt_routes[receipt->kind];
    char path[160];
    int len = snprintf(path, sizeof path, "%s%.*s%s", route->before,
                       TIDE_SLICE_FMT(receipt->subject), route->after);
    assert(len > 0 && (size_t)len < sizeof path);
    tide_json_name(j, "question");
    tide_json_open(j, '{');
    tide_json_word(j, "route", route->id);
    tide_json_text(j, "path", tide_slice_of(path, (size_t)len));
    tide_json_name(j, "query");
    tide_json_open(j, '{');
    for (uint32_t i = 0; i < receipt->query_count; i++)
        tide_json_text(j, receipt->query[i].name, receipt->query[i].text);
    tide_json_close(j, '}');
    tide_json_close(j, '}');
}

void tide_receipt_write(struct tide_buf *out, const struct tide_receipt *receipt, tide_slice answer)
{
    assert(answer.len > 0);
    struct tide_json j = { .buf = out };
    tide_json_open(&j, '{');
    tide_json_text(&j, "iss", receipt->issuer);
    tide_json_number(&j, "iat", receipt->issued_at);
    tide_json_number(&j, "exp", receipt->expires_at);
    put_state(&j, receipt);
    tide_json_time(&j, "evaluatedAt", receipt->evaluated_at);
    put_lease(&j, receipt);
    put_question(&j, receipt);
    tide_json_name(&j, "answer");
    tide_json_raw(&j, answer);
    tide_json_close(&j, '}');
}
