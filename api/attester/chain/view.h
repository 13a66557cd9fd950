/* What the chain says about a person and about us, out of ledger entries. */
#ifndef API_ATTESTER_CHAIN_VIEW_H
#define API_ATTESTER_CHAIN_VIEW_H

#include "api/attester/chain/envelope.h"
#include "api/attester/chain/rpc.h"

/* ComplianceRec.status */
enum { ATT_UNKNOWN, ATT_PENDING_RECORD, ATT_VERIFIED, ATT_SUSPENDED, ATT_SANCTIONED, ATT_EXPIRED };

struct att_view {
    uint32_t ledger;
    bool account; /* ours exists; seq is its sequence number */
    int64_t seq;
    int64_t balance; /* stroops */
    bool verifier;   /* we are one */
    bool frozen, blocked;
    bool record;         /* there is a ComplianceRec */
    uint32_t status;     /* of it; ATT_UNKNOWN without one */
    bool kyc;            /* there is a Kyc */
    bool kyc_ours;       /* by us */
    bool kyc_same;       /* and it says exactly what is meant, the keyed hash included */
    bool kyc_former;     /* by another key, yet with the hash of what is to be revoked */
    bool same;           /* so does the record, Verified by us */
    uint32_t kyc_ledger; /* of the Kyc entry's last change */
    bool has_code;       /* the registry's instance names its wasm */
    uint8_t code[TIDE_HASH_BYTES];
};

/* Asks for the entries and reads them. TIDE_E_DECODE: an unreadable entry (refuse, never
 * guess); else as the calls of rpc.h. */
tide_status att_view_read(struct att_view *out, struct att_rpc *rpc,
                          const uint8_t contract[TIDE_HASH_BYTES], const struct att_words *words,
                          struct tide_err *err) TIDE_MUST_USE;

/* The same of entries that came: keys in the order of att_view_keys; for tests. */
enum { ATT_VIEW_KEYS = 7 };
tide_status att_view_of(struct att_view *out, const struct att_entries *entries,
                        const struct att_words *words, struct tide_err *err) TIDE_MUST_USE;

/* SHA-256 of the same keys but the account's, as the index has them: [i] of att_view_keys. */
tide_status att_view_hashes(uint8_t out[ATT_VIEW_KEYS][TIDE_HASH_BYTES],
                            const uint8_t contract[TIDE_HASH_BYTES], const struct att_words *words,
                            struct tide_err *err) TIDE_MUST_USE;
/* Order of the keys. */
enum {
    ATT_KEY_ACCOUNT,
    ATT_KEY_RECORD,
    ATT_KEY_KYC,
    ATT_KEY_FROZEN,
    ATT_KEY_BLOCKED,
    ATT_KEY_VERIFIER,
    ATT_KEY_INSTANCE
};

/* The registry's code as the next server has it; has_code false: it names none. */
tide_status att_view_code(bool *has_code, uint8_t code[TIDE_HASH_BYTES], struct att_rpc *rpc,
                          const uint8_t contract[TIDE_HASH_BYTES],
                          struct tide_err *err) TIDE_MUST_USE;

/* Our account alone. *balance in stroops; -1: there is none, or it is unreadable. */
tide_status att_view_balance(int64_t *balance, struct att_rpc *rpc,
                             const uint8_t key[TIDE_HASH_BYTES],
                             struct tide_err *err) TIDE_MUST_USE;

/* Status of the subject's record before a simulated call, as far as the answer tells: false when
 * it does not. TIDE_E_DECODE as above. */
tide_status att_view_simulated(bool *told, uint32_t *status, const struct att_simulated *simulated,
                               const uint8_t contract[TIDE_HASH_BYTES],
                               const struct att_words *words, struct tide_err *err) TIDE_MUST_USE;

/* The subject's record right before a transaction of ours, out of its own changes. */
struct att_before {
    bool told;       /* the transaction changed the record: status is what it overwrote */
    uint32_t status; /* ATT_UNKNOWN: there was no record */
};

/* Of a TransactionMeta. TIDE_E_DECODE: it, or the record in it, is unreadable. */
tide_status att_view_before(struct att_before *out, tide_slice meta,
                            const uint8_t contract[TIDE_HASH_BYTES], const struct att_words *words,
                            struct tide_err *err) TIDE_MUST_USE;

/* True when event is the contract's attest or revoke of that subject by us. */
bool att_event_is(tide_slice event, const uint8_t contract[TIDE_HASH_BYTES], const char *function,
                  const struct att_words *words);

/* Why a call failed, as one word: "contract:7" of a contract's own number, "auth:InvalidAction" of
 * the host. From a simulation's text, or from diagnostic events; false when they do not say. */
#define ATT_WORD_BYTES 48u
bool att_error_of_text(char out[ATT_WORD_BYTES], const char *text);
bool att_error_of_event(char out[ATT_WORD_BYTES], tide_slice diagnostic);
/* The same of a TransactionResult, which knows less: "failed:-2" of an operation's code, or
 * "txBAD_AUTH". */
void att_error_of_result(char out[ATT_WORD_BYTES], tide_slice result);

#endif
