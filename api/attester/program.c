/* Opens and closes the things that commands share: the deployment, the keys, the outbox. */
#include "api/attester/attester.h"
#include "api/base/secret.h"
#include "tidemark/sign.h"
#include "tidemark/text.h"

#include <stdlib.h>

/* Reads the deployment file and finds its compliance registry. Fails with TIDE_E_CONFIG if
 * either is missing. */
static tide_status read_deployment(struct att_program *p, struct tide_err *err)
{
    if (!p->config->deployment[0])
        return tide_fail(
            err, TIDE_E_CONFIG,
            "deployment is not set: set it to the file that names network and contracts");
    tide_status status = tide_deployment_read(&p->deployment, p->config->deployment, err);
    for (uint32_t i = 0; status == TIDE_OK && i < p->deployment->contract_count; i++)
        if (p->deployment->contracts[i].role == TIDE_ROLE_compliance_registry)
            p->contract = &p->deployment->contracts[i];
    if (status == TIDE_OK && !p->contract)
        status =
            tide_fail(err, TIDE_E_CONFIG,
                      "%s: the deployment file names no contract with the role compliance_registry",
                      p->config->deployment);
    return status;
}

/* Opens the verifier's key under the policy of this deployment. The path is not kept. */
static tide_status open_key(struct att_program *p, struct tide_err *err)
{
    assert(p->deployment && p->contract); /* read_deployment found both */
    char path[TIDE_CONFIG_TEXT_MAX + 64];
    struct att_policy policy = { .fee_max = p->config->attester_fee_max };
    memcpy(policy.network_id, p->deployment->network_id, TIDE_HASH_BYTES);
    memcpy(policy.contract, p->contract->id, TIDE_HASH_BYTES);
    if (!tide_secret_path(path, sizeof path, p->config->attester_key, "tidemark_attester_key"))
        return tide_fail(err, TIDE_E_CONFIG,
                         "attester_key is not set: set it to the file with the verifier's seed");
    return att_signer_open(&p->signer, path, &policy, err);
}

/* Decodes attester_intent_key. The error text never quotes the value: it is a secret. */
static tide_status read_intent_key(struct att_program *p, struct tide_err *err)
{
    const char *text = p->config->attester_intent_key;
    if (!*text)
        return tide_fail(err, TIDE_E_CONFIG,
                         "attester_intent_key is not set: set it to the intentKey of the KYC file");
    if (tide_hex_decode(p->intent_key, sizeof p->intent_key, tide_slice_str(text)) != TIDE_OK)
        return tide_fail(err, TIDE_E_CONFIG, "attester_intent_key: expected 64 hexadecimal digits");
    return TIDE_OK;
}

tide_status att_program_open(struct att_program *program, bool with_key, struct tide_err *err)
{
    static const uint8_t no_key[TIDE_HASH_BYTES];
    const struct tide_config *config = program->config;
    /* An empty string leaves the choice to libpq's environment. */
    const char *url =
        config->attester_database_url[0] ? config->attester_database_url : config->database_url;
    tide_status status = read_deployment(program, err);
    if (status == TIDE_OK && with_key)
        status = open_key(program, err);
    if (status == TIDE_OK && with_key)
        status = read_intent_key(program, err);
    if (status != TIDE_OK)
        return status;
    assert(!with_key == !program->signer); /* zeros must never name the lock */
    const struct att_outbox_options outbox = {
        .conninfo = *url ? url : NULL,
        .deployment = program->deployment,
        .contract = program->contract->address,
        /* Commands without a key take no lock, so the zeros are never used. */
        .key = program->signer ? att_signer_public(program->signer) : no_key,
        .intent_key = with_key ? program->intent_key : NULL,
        .stopped = program->stopped,
    };
    return att_outbox_open(&program->outbox, &outbox, err);
}

void att_program_close(struct att_program *program)
{
    att_outbox_close(program->outbox);
    att_signer_close(program->signer);
    tide_sign_wipe(program->intent_key, sizeof program->intent_key);
    free(program->deployment);
}
