/* Contract values as trees, on which the model computes.
 *
 * Shapes   Every ScVal arm that the protocol's contracts use. The type tag is enum tide_scval_type,
 *          so a tag is the arm's discriminant.
 * Memory   Items, entries and bytes lie in the arena of the call that made them and are freed with
 *          it. A tree is private to its reader, which may change it in place. Values outlive a call
 *          only as XDR.
 * Maps     are sorted by key, as the network's host sorts them; keys are distinct.
 * Full     If the arena has no room, a constructor returns an empty value and the arena stays full.
 *          The host checks this at the end of a call at the latest, and refuses the call. */
#ifndef SIM_VALUE_H
#define SIM_VALUE_H

#include "tidemark/buf.h"
#include "tidemark/i128.h"
#include "tidemark/scval.h"
#include "tools/sim/host/arena.h"

/* An amount. Compare with operators; compute only with sim_add and its family (host.h). */
typedef tide_raw_i128 sim_amount;

#define SIM_ACCOUNT  0u
#define SIM_CONTRACT 1u

static_assert(SIM_ACCOUNT == 0 && SIM_CONTRACT == 1, "discriminants of SCAddress, as written");
static_assert(sizeof(sim_amount) == 16, "amounts have 128 bits");

/* SCAddress: an account's ed25519 key or a contract's id. */
struct sim_addr {
    uint32_t kind; /* SIM_ACCOUNT or SIM_CONTRACT */
    uint8_t key[TIDE_HASH_BYTES];
};

/* A value: type selects the member. VOID and the instance key have none. */
typedef struct sim_val sim_val;

struct sim_val {
    uint32_t type; /* enum tide_scval_type */
    uint32_t len;  /* items of a VEC, pairs of a MAP */
    union {
        bool b;
        uint32_t u32;
        uint64_t u64;
        sim_amount i128;
        tide_slice bytes; /* BYTES, STRING, SYMBOL */
        sim_val *vec;
        struct sim_pair *map;
        struct sim_addr addr;
        struct sim_instance *instance;
    };
};

/* An entry of a MAP. */
struct sim_pair {
    sim_val key;
    sim_val val;
};

/* ScContractInstance. */
struct sim_instance {
    bool stellar_asset; /* else the executable is wasm */
    uint8_t wasm[TIDE_HASH_BYTES];
    sim_val storage; /* MAP */
};

/* A named value: a field of a struct, or a data field of an event. */
struct sim_field {
    const char *name;
    sim_val val;
};

/* Lists written in place: SIM_VALS(a, b) and SIM_FIELDS({ "name", v }, …) each expand to two
 * arguments, pointer and count. SIM_NONE is the empty list. */
#define SIM_VALS(...) \
    (const sim_val[]){ __VA_ARGS__ }, (uint32_t)TIDE_COUNT(((const sim_val[]){ __VA_ARGS__ }))
#define SIM_FIELDS(...)                        \
    (const struct sim_field[]){ __VA_ARGS__ }, \
        (uint32_t)TIDE_COUNT(((const struct sim_field[]){ __VA_ARGS__ }))
#define SIM_NONE NULL, 0u

static inline sim_val sim_void(void)
{
    return (sim_val){ .type = TIDE_SCV_VOID };
}

static inline sim_val sim_bool(bool v)
{
    return (sim_val){ .type = TIDE_SCV_BOOL, .b = v };
}

static inline sim_val sim_u32(uint32_t v)
{
    return (sim_val){ .type = TIDE_SCV_U32, .u32 = v };
}

static inline sim_val sim_u64(uint64_t v)
{
    return (sim_val){ .type = TIDE_SCV_U64, .u64 = v };
}

static inline sim_val sim_i128(sim_amount v)
{
    return (sim_val){ .type = TIDE_SCV_I128, .i128 = v };
}

static inline sim_val sim_address(struct sim_addr v)
{
    return (sim_val){ .type = TIDE_SCV_ADDRESS, .addr = v };
}

/* Borrows the bytes, which must live as long as the value. sim_string and sim_symbol do the
 * same. */
static inline sim_val sim_bytes(tide_slice v)
{
    return (sim_val){ .type = TIDE_SCV_BYTES, .bytes = v };
}

static inline sim_val sim_string(tide_slice v)
{
    return (sim_val){ .type = TIDE_SCV_STRING, .bytes = v };
}

static inline sim_val sim_symbol(tide_slice v)
{
    return (sim_val){ .type = TIDE_SCV_SYMBOL, .bytes = v };
}

static inline sim_val sim_sym(const char *literal)
{
    return sim_symbol(tide_slice_str(literal));
}

static inline bool sim_addr_eq(struct sim_addr a, struct sim_addr b)
{
    return a.kind == b.kind && memcmp(a.key, b.key, TIDE_HASH_BYTES) == 0;
}

/* Returns a Vec of copies of the items. */
sim_val sim_vec(struct tide_arena *arena, const sim_val *items, uint32_t count);
/* Appends an item: the Vec's items move to new memory. */
void sim_vec_push(struct tide_arena *arena, sim_val *vec, sim_val item);
/* Returns a Map of the fields, keyed by Symbol and sorted; fields of type VOID are left out. */
sim_val sim_struct(struct tide_arena *arena, const struct sim_field *fields, uint32_t count);
/* Returns the value under key, or NULL. The pointer is valid until the next put to the map. */
sim_val *sim_map_get(const sim_val *map, const sim_val *key);
/* Creates or replaces the pair of key, in order. */
void sim_map_put(struct tide_arena *arena, sim_val *map, sim_val key, sim_val val);

/* Compares in ScVal order: by arm, then by content (Vecs item by item, Maps pair by pair, symbols
 * and strings byte by byte). Returns a negative number, 0 or a positive number. */
int sim_val_cmp(const sim_val *a, const sim_val *b);

/* Appends the value's XDR. buf->failed is set if there is no room. */
void sim_val_xdr(struct tide_buf *buf, const sim_val *val);
/* Returns the tree of XDR that sim_val_xdr wrote. Other XDR fails an assertion. Bytes borrow from
 * xdr, which must live as long as the tree. */
sim_val sim_val_read(struct tide_arena *arena, tide_slice xdr);

/* Returns true if the count values have the types that the text lists, one letter each: b bool, u
 * u32, U u64, i i128, a address, y symbol, s string, x bytes, h 32 bytes, V before a letter: a Vec
 * of it. */
bool sim_types_fit(const char *types, const sim_val *vals, uint32_t count);

#endif
