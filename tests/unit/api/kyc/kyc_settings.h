/* A KYC file with one provider of each kind, for tests. The secrets are invented. */
#ifndef TESTS_UNIT_KYC_SETTINGS_H
#define TESTS_UNIT_KYC_SETTINGS_H

#define KYC_SEED "SAAQEAYEAUDAOCAJBIFQYDIOB4IBCEQTCQKRMFYYDENBWHA5DYPSBF5K"
#define KYC_KEY(pair)                                                                              \
    "\"" pair pair pair pair pair pair pair pair pair pair pair pair pair pair pair pair pair pair \
        pair pair pair pair pair pair pair pair pair pair pair pair pair pair "\""
#define KYC_KEYS                                                      \
    "\"challengeSeed\":\"" KYC_SEED                                   \
    "\",\"referenceKey\":" KYC_KEY("11") ",\"metadataKey\":" KYC_KEY( \
        "22") ",\"tokenKey\":" KYC_KEY("33") ",\"intentKey\":" KYC_KEY("44")
#define KYC_SANDBOX                                                   \
    "{\"key\":\"sandbox\",\"type\":\"sandbox\",\"name\":\"Sandbox\"," \
    "\"webhookSecrets\":[{\"secret\":\"sandbox-webhook\"}]}"
#define KYC_HEAD "{\"publicUrl\":\"https://kyc.example\"," KYC_KEYS ","

#define KYC_SUMSUB                                                                          \
    "{\"key\":\"sumsub\",\"type\":\"sumsub\",\"name\":\"Sumsub\",\"apiKey\":\"sbx:token\"," \
    "\"apiSecret\":\"sumsub-secret\",\"webhookSecrets\":[{\"secret\":\"sumsub-webhook\"},"  \
    "{\"secret\":\"sumsub-former\",\"notAfter\":\"2026-06-01T00:00:00Z\"}],"                \
    "\"level\":\"id and liveness\",\"environment\":\"sandbox\",\"hosts\":[\"in.sumsub.com\"]}"
#define KYC_PERSONA                                                                                \
    "{\"key\":\"persona\",\"type\":\"persona\",\"name\":\"Persona\",\"apiKey\":\"persona_key\","   \
    "\"webhookSecrets\":[{\"secret\":\"wbhsec_persona\"},{\"secret\":\"wbhsec_former\","           \
    "\"notAfter\":\"2026-06-01T00:00:00Z\"}],\"level\":\"itmpl_1\",\"apiVersion\":\"2023-01-05\"," \
    "\"environment\":\"sandbox\",\"hosts\":[\"withpersona.com\"],"                                 \
    "\"frameHosts\":[\"inquiry.withpersona.com\"]}"
#define KYC_VERIFF                                                                              \
    "{\"key\":\"veriff\",\"type\":\"veriff\",\"name\":\"Veriff\","                              \
    "\"baseUrl\":\"https://stationapi.veriff.com\",\"apiKey\":\"veriff-key\","                  \
    "\"apiSecret\":\"veriff-shared\",\"environment\":\"live\",\"hosts\":[\"magic.veriff.me\"]," \
    "\"timeoutMs\":2000}"
#define KYC_DIDIT                                                                        \
    "{\"key\":\"didit\",\"type\":\"didit\",\"name\":\"Didit\",\"apiKey\":\"didit-key\"," \
    "\"webhookSecrets\":[{\"secret\":\"didit-webhook\",\"notAfter\":null}],"             \
    "\"level\":\"workflow-1\",\"environment\":\"live\",\"hosts\":[\"verify.didit.me\"]}"

#define KYC_FILE                                                                         \
    KYC_HEAD "\"providers\":[" KYC_SANDBOX "," KYC_SUMSUB "," KYC_PERSONA "," KYC_VERIFF \
             "," KYC_DIDIT "]}"

#endif
