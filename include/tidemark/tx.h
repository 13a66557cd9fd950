/* Transaction envelopes: their hash, their invoked call, their footprint; and the only writer of
 * them. */
#ifndef TIDEMARK_TX_H
#define TIDEMARK_TX_H

#include "tidemark/buf.h"
#include "tidemark/hash.h"
#include "tidemark/slice.h"
#include "tidemark/status.h"
#include "tidemark/xdr.h"

enum { TIDE_OP_INVOKE = 24 };                          /* OperationType */
enum { TIDE_ENVELOPE_TX = 2, TIDE_ENVELOPE_BUMP = 5 }; /* EnvelopeType */

#define TIDE_OPS_PER_TX_MAX 100u /* most operations of a transaction in the protocol */

/* The parts of an envelope that an indexer reads. Slices borrow from its bytes. */
struct tide_envelope {
    tide_slice span; /* the whole envelope                                          */
    uint32_t type;   /* EnvelopeType: 0 v0, 2 v1, 5 fee bump                        */
    /* payer of the sequence number: MuxedAccount span of the (inner) transaction; v0: 32 bytes */
    tide_slice source;
    const uint8_t *source_key; /* its ed25519 key, 32 bytes                                   */
    tide_slice caller;         /* actor of operation 0: its source, else the transaction's */
    const uint8_t *caller_key;
    tide_slice signed_part;       /* span of Transaction / TransactionV0 / FeeBumpTransaction    */
    tide_slice inner_signed_part; /* fee bump: span of the inner Transaction                  */
    int64_t fee;                  /* the bid, stroops: the outer one of a fee bump               */
    int64_t seq_num;
    /* preconditions of the (inner) transaction: 0 none, 1 time bounds, 2 more */
    uint32_t preconditions;
    uint64_t min_time, max_time; /* preconditions 1: unix seconds; max_time 0 is no end          */
    const uint8_t
        *fee_source_key;   /* payer of the fee: the fee bump's source, else source_key     */
    tide_slice fee_source; /* its MuxedAccount span                                       */
    uint32_t op_count;
    uint8_t op_types[TIDE_OPS_PER_TX_MAX]; /* OperationType of each */
    /* the host function, when operation 0 is InvokeHostFunction */
    bool has_invoke;
    uint32_t host_function;  /* 0 invoke contract, 1 create, 2 upload wasm, 3 create v2     */
    const uint8_t *contract; /* invoke: contract id, 32 bytes; NULL if not a contract       */
    tide_slice function;     /* symbol                                                      */
    uint32_t arg_count;
    tide_slice args; /* back to back; of create v2 those of the constructor         */
    uint32_t auth_count;
    tide_slice auth;            /* SorobanAuthorizationEntry back to back                     */
    tide_slice create_preimage; /* create: ContractIDPreimage span                            */
    tide_slice op_source;       /* MuxedAccount span of operation 0; empty if none             */
    uint32_t first_op;          /* OperationType of operation 0                                */
    /* Soroban data */
    bool has_soroban;
    tide_slice soroban; /* SorobanTransactionData span */
    uint32_t read_only_count;
    tide_slice read_only; /* LedgerKeys back to back */
    uint32_t read_write_count;
    tide_slice read_write;
    uint32_t soroban_ext; /* SorobanTransactionDataExt arm */
    uint32_t instructions;
    int64_t resource_fee;
};

/* Reads env, which must be exactly one TransactionEnvelope. Otherwise returns TIDE_E_DECODE,
 * TIDE_E_UNKNOWN or TIDE_E_LIMIT; x has the offset. */
tide_status tide_envelope_read(struct tide_envelope *out, tide_slice env,
                               struct tide_xdr *x) TIDE_MUST_USE;
/* Reads the envelope at x and moves the cursor behind it. *out is valid only if x has not
 * failed. */
void tide_envelope_next(struct tide_xdr *x, struct tide_envelope *out);
/* Steps over one TransactionEnvelope. */
void tide_envelope_skip(struct tide_xdr *x);

/* Returns whether a MuxedAccount span (or the bare key of a v0 transaction) is a multiplexed
 * account, and its id. */
bool tide_muxed_id(uint64_t *id, tide_slice account);

/* Computes the transaction's hash, as in its result pair (of a fee bump the outer one). */
void tide_envelope_hash(uint8_t out[TIDE_HASH_BYTES], const struct tide_envelope *envelope,
                        const uint8_t network_id[TIDE_HASH_BYTES]);
/* Computes the hash of the transaction in a fee bump. Returns false for other envelopes. */
bool tide_envelope_inner_hash(uint8_t out[TIDE_HASH_BYTES], const struct tide_envelope *envelope,
                              const uint8_t network_id[TIDE_HASH_BYTES]);

/* --- writing ------------------------------------------------------------------------------ */

/* The call of a contract's function. */
struct tide_call {
    uint8_t contract[TIDE_HASH_BYTES];
    const char *function;
    uint32_t arg_count;
    tide_slice args; /* the arguments, ScVals back to back; borrowed */
};

/* A transaction of one operation, the call, by an account with an ed25519 key. */
struct tide_draft {
    uint8_t source[TIDE_HASH_BYTES];
    uint32_t fee; /* stroops, resources included */
    int64_t seq;
    uint64_t max_time;            /* unix seconds; no ledger that closes later includes it */
    const struct tide_call *call; /* borrowed */
    uint32_t auth_count;          /* number of authorisations in auth */
    tide_slice auth;              /* SorobanAuthorizationEntry, back to back */
    tide_slice soroban;           /* SorobanTransactionData; empty: a draft to simulate */
};

/* Appends InvokeContractArgs. */
void tide_call_put(struct tide_buf *out, const struct tide_call *call);
/* Appends the TransactionEnvelope without signatures. TIDE_E_MEMORY if out is full. */
tide_status tide_envelope_put(struct tide_buf *out, const struct tide_draft *draft) TIDE_MUST_USE;
/* Appends a FeeBumpTransaction around the signed envelope inner, without a signature of its own.
 * source pays fee stroops in total, the inner transaction's resources included. TIDE_E_MEMORY if
 * out is full. */
tide_status tide_envelope_put_bump(struct tide_buf *out, tide_slice inner,
                                   const uint8_t source[TIDE_HASH_BYTES],
                                   int64_t fee) TIDE_MUST_USE;
struct tide_sign;
/* Signs the hash with the key, in an envelope that has no signature. TIDE_E_MEMORY if there is no
 * room: the envelope is as before. */
tide_status tide_envelope_sign(struct tide_buf *envelope, struct tide_sign *key,
                               const uint8_t hash[TIDE_HASH_BYTES]) TIDE_MUST_USE;

/* Computes a contract id: SHA-256 of HashIDPreimage{8, network, preimage}. */
void tide_contract_id(uint8_t out[TIDE_HASH_BYTES], const uint8_t network_id[TIDE_HASH_BYTES],
                      tide_slice preimage_xdr);
/* Computes the SHA-256 of the XDR LedgerKey of contract data, by which TTL entries name their
 * entry. */
void tide_data_key_hash(uint8_t out[TIDE_HASH_BYTES], tide_slice contract_xdr, tide_slice key_xdr,
                        uint32_t durability);

#endif
