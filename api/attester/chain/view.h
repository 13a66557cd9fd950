/* The state of a person and of the verifier on the chain, decoded from ledger entries, transaction
 * changes and events; and the names of errors. */
#ifndef API_ATTESTER_CHAIN_VIEW_H
#define API_ATTESTER_CHAIN_VIEW_H

#include "api/attester/chain/rpc.h"
#include "api/attester/chain/signer.h"

/* ComplianceRec.status */
enum { ATT_UNKNOWN, ATT_PENDING_RECORD, ATT_VERIFIED, ATT_SUSPENDED, ATT_SANCTIONED, ATT_EXPIRED };

#define ATT_SINCE_BYTES 40u

struct att_view {
    uint32_t ledger;
    bool account; /* the verifier's account exists; seq is its sequence number */
    int64_t seq;
    int64_t balance; /* stroops */
    bool verifier;   /* the registry lists the attester's key as a verifier */
    /* The person is frozen; the jurisdiction of the claim is blocked. */
    bool frozen, blocked;
    bool record;         /* a ComplianceRec exists */
    uint32_t status;     /* status of the record; ATT_UNKNOWN without one */
    bool kyc;            /* a Kyc entry exists */
    bool kyc_ours;       /* its verifier is the attester */
    bool kyc_same;       /* kyc_ours, and its fields and keyed hash equal the claim */
    bool kyc_former;     /* another key made it, with the hash that is to be revoked */
    bool same;           /* kyc_same, and the record equals the claim: Verified by the attester */
    uint32_t kyc_ledger; /* ledger of the Kyc entry's last change */
    uint32_t record_ledger;      /* likewise of the record; from servers alone */
    bool unindexed;              /* the index does not have the newest change yet */
    char since[ATT_SINCE_BYTES]; /* a change after the decision that contradicts it; "": none */
    bool has_code;               /* the registry's instance names its wasm, whose hash is code */
    uint8_t code[TIDE_HASH_BYTES];
};

/* Reads and decodes the entries at one server's newest ledger. Fails with TIDE_E_DECODE if an
 * entry is unreadable, because a guess could overwrite a sanction; else as the calls of rpc.h
 * do. */
tide_status att_view_read(struct att_view *out, struct att_rpc *rpc,
                          const uint8_t contract[TIDE_HASH_BYTES], const struct att_claim *claim,
                          struct tide_err *err) TIDE_MUST_USE;

/* Decodes entries whose keys are in the order of the ATT_KEY_ constants below; for tests. */
enum { ATT_VIEW_KEYS = 7 };
tide_status att_view_of(struct att_view *out, const struct tide_rpc_entries *entries,
                        const struct att_claim *claim, struct tide_err *err) TIDE_MUST_USE;

/* Sets out[i] to the SHA-256 of key i, by which the index identifies entries. */
tide_status att_view_hashes(uint8_t out[ATT_VIEW_KEYS][TIDE_HASH_BYTES],
                            const uint8_t contract[TIDE_HASH_BYTES], const struct att_claim *claim,
                            struct tide_err *err) TIDE_MUST_USE;
/* Order of the keys in att_view_read. */
enum {
    ATT_KEY_ACCOUNT,
    ATT_KEY_RECORD,
    ATT_KEY_KYC,
    ATT_KEY_FROZEN,
    ATT_KEY_BLOCKED,
    ATT_KEY_VERIFIER,
    ATT_KEY_INSTANCE
};

/* Reads the hash of the registry's code from the next server. Sets *has_code to false if its
 * instance names none. */
tide_status att_view_code(bool *has_code, uint8_t code[TIDE_HASH_BYTES], struct att_rpc *rpc,
                          const uint8_t contract[TIDE_HASH_BYTES],
                          struct tide_err *err) TIDE_MUST_USE;

/* Reads the balance of the account key in stroops; -1: the account does not exist or is
 * unreadable. */
tide_status att_view_balance(int64_t *balance, struct att_rpc *rpc,
                             const uint8_t key[TIDE_HASH_BYTES],
                             struct tide_err *err) TIDE_MUST_USE;

/* Sets *status to the status of the subject's record before a simulated call, and *known to
 * whether the answer shows it. Fails with TIDE_E_DECODE if the record is unreadable. */
tide_status att_view_simulated(bool *known, uint32_t *status,
                               const struct tide_rpc_simulated *simulated,
                               const uint8_t contract[TIDE_HASH_BYTES],
                               const struct att_claim *claim, struct tide_err *err) TIDE_MUST_USE;

/* The subject's record right before a transaction of the attester, from the transaction's own
 * changes. */
struct att_before {
    bool changed;    /* the transaction changed the record; status is the overwritten one */
    uint32_t status; /* ATT_UNKNOWN: no record existed */
};

/* Reads a TransactionMeta. Fails with TIDE_E_DECODE if the meta or a record in it is unreadable. */
tide_status att_view_before(struct att_before *out, tide_slice meta,
                            const uint8_t contract[TIDE_HASH_BYTES], const struct att_claim *claim,
                            struct tide_err *err) TIDE_MUST_USE;

/* Returns true if event was emitted by the contract, reports function ("attest" or "revoke"),
 * and names the claim's verifier and subject. */
bool att_event_is(tide_slice event, const uint8_t contract[TIDE_HASH_BYTES], const char *function,
                  const struct att_claim *claim);

/* Write the name of the error that made a call fail: "contract:7" for a number of the contract's
 * own, "auth:InvalidAction" for an error of the host. The sources are the text of a simulation,
 * and a diagnostic event. Both return false if the source names no error. */
#define ATT_ERROR_NAME_BYTES 48u
bool att_error_of_text(char out[ATT_ERROR_NAME_BYTES], const char *text);
bool att_error_of_event(char out[ATT_ERROR_NAME_BYTES], tide_slice diagnostic);
/* Writes the error name from a TransactionResult, which holds less: "failed:-2" for an
 * operation's result code, or "txBAD_AUTH". */
void att_error_of_result(char out[ATT_ERROR_NAME_BYTES], tide_slice result);

/* TransactionResultCode */
enum { ATT_TX_TOO_LATE = -3, ATT_TX_BAD_SEQ = -5, ATT_TX_INSUFFICIENT_FEE = -9 };
/* Returns the static name of code, "txBAD_SEQ" for example; "tx" if the code is unknown. */
const char *att_code_name(int32_t code);
/* Returns the code of that name; 0, which is txSUCCESS, if there is no such name. */
int32_t att_code_of(const char *name);

#endif
