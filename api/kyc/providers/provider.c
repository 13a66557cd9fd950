/* The table of adapters, and what they have in common: webhooks and decisions. */
#include "api/kyc/providers/provider_impl.h"
#include "tidemark/sign.h"

static const struct tide_kyc_adapter *adapter_of(enum tide_kyc_type type)
{
    static const struct tide_kyc_adapter *const adapters[TIDE_KYC_TYPE_COUNT] = {
        [TIDE_KYC_SANDBOX] = &tide_kyc_sandbox, [TIDE_KYC_SUMSUB] = &tide_kyc_sumsub,
        [TIDE_KYC_PERSONA] = &tide_kyc_persona, [TIDE_KYC_VERIFF] = &tide_kyc_veriff,
        [TIDE_KYC_DIDIT] = &tide_kyc_didit,
    };
    assert(type < TIDE_KYC_TYPE_COUNT);
    assert(strcmp(adapters[type]->type, tide_kyc_type_text(type)) == 0);
    return adapters[type];
}

tide_status tide_kyc_create(const struct tide_kyc_call *call, const struct tide_kyc_order *order,
                            struct tide_kyc_page *out, struct tide_err *err)
{
    const struct tide_kyc_adapter *adapter = adapter_of(call->provider->type);
    tide_status status = adapter->create(call, order, out, err);
    out->expires_at = call->now + adapter->link_s;
    return status;
}

enum tide_kyc_verdict tide_kyc_verify(const struct tide_kyc_provider *provider,
                                      const struct tide_kyc_hook *hook, struct tide_kyc_event *out)
{
    const struct tide_kyc_adapter *adapter = adapter_of(provider->type);
    out->why = adapter->check(provider, hook, out);
    if (out->why)
        return TIDE_KYC_FORGED;
    json_t *root = tide_kyc_hook_json(hook, out);
    enum tide_kyc_verdict verdict =
        root ? adapter->read(provider, hook, root, out) : tide_kyc_malformed(out, "json");
    tide_json_wipe(root);
    return verdict;
}

/* True if the provider has erased the person of the decision. */
static bool is_gone(const struct tide_kyc_adapter *adapter, json_t *decision)
{
    return adapter->gone && (json_is_true(tide_kyc_at(decision, adapter->gone)) ||
                             tide_kyc_text_at(decision, adapter->gone).len);
}

/* Fills the decision. An approval by another level, template or workflow is doubtful. */
static void map_decision(const struct tide_kyc_adapter *adapter,
                         const struct tide_kyc_provider *provider, json_t *root, json_t *decision,
                         struct tide_kyc_decision *out)
{
    tide_slice country = adapter->map(out, decision);
    tide_kyc_about(out, tide_kyc_at(decision, adapter->ref));
    if (adapter->decided)
        out->decided_ms = tide_kyc_ms(tide_kyc_text_at(decision, adapter->decided));
    if (out->state == TIDE_KYC_APPROVED && adapter->level &&
        !tide_slice_eq_str(tide_kyc_text_at(decision, adapter->level), provider->level))
        tide_kyc_other_level(out);
    tide_kyc_settle(out, provider, root, country);
}

/* Reads the answer. It must name the requested id: a mix-up would attest another person's
 * address. */
static tide_status read_decision(const struct tide_kyc_adapter *adapter,
                                 const struct tide_kyc_call *call, const char *provider_id,
                                 json_t *root, struct tide_kyc_decision *out, struct tide_err *err)
{
    json_t *decision = tide_kyc_at(root, adapter->decision);
    *out = (struct tide_kyc_decision){ 0 };
    if (adapter->waits && json_is_null(decision)) {
        out->state = TIDE_KYC_PENDING;
        return TIDE_OK;
    }
    if (!tide_slice_eq_str(tide_kyc_text_at(decision, adapter->id), provider_id))
        return tide_kyc_odd(err, "about another person");
    if (is_gone(adapter, decision))
        return tide_fail(err, TIDE_E_MISSING, "the provider has erased the person");
    map_decision(adapter, call->provider, root, decision, out);
    return TIDE_OK;
}

tide_status tide_kyc_fetch(const struct tide_kyc_call *call, const char *provider_id,
                           struct tide_kyc_decision *out, struct tide_err *err)
{
    const struct tide_kyc_adapter *adapter = adapter_of(call->provider->type);
    char path[64 + TIDE_KYC_ID_BYTES];
    json_t *root;
    uint32_t code;
    if (adapter->fetch)
        return adapter->fetch(call, provider_id, out, err);
    int len = snprintf(path, sizeof path, "%s%s%s", adapter->path, provider_id, adapter->path_end);
    assert(len > 0 && (size_t)len < sizeof path);
    (void)len;
    const struct tide_kyc_question question = {
        .adapter = adapter, .method = TIDE_HTTP_GET, .path = path, .about = provider_id
    };
    tide_status status = tide_kyc_ask(call, &question, &root, &code, err);
    if (status != TIDE_OK)
        return status;
    status = read_decision(adapter, call, provider_id, root, out, err);
    tide_json_wipe(root);
    return status;
}
