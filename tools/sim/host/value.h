/* Contract values as trees: what the model computes with.
 *
 * Shapes   every ScVal arm that the protocol's contracts use; the type tag is enum
 *          tide_scval_type, so a tag is the arm's discriminant.
 * Memory   items, entries and bytes lie in the arena of the call that made them and die
 *          with it; a tree is private to its reader and may be changed in place. What
 *          outlives a call is its XDR.
 * Maps     are kept sorted by key, as the host keeps them; equal keys do not occur.
 * Full     an arena without room makes the constructor return an empty value and stays
 *          full; the host asks once, at the end of a call, and refuses it. */
#ifndef SIM_VALUE_H
#define SIM_VALUE_H

#include "schema/base/arena.h"
#include "tidemark/buf.h"
#include "tidemark/i128.h"
#include "tidemark/scval.h"

/* An amount. Compare with operators; compute with sim_add and its family (host.h) only. */
typedef tide_raw_i128 sim_amount;

#define SIM_ACCOUNT  0u
#define SIM_CONTRACT 1u

/* SCAddress: an account's ed25519 key or a contract's id. */
struct sim_addr {
    uint32_t kind; /* SIM_ACCOUNT or SIM_CONTRACT */
    uint8_t key[TIDE_HASH_BYTES];
};

typedef struct sim_val sim_val;

struct sim_val {
    uint32_t type; /* enum tide_scval_type */
    uint32_t len;  /* VEC: items, MAP: pairs */
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

struct sim_pair {
    sim_val key;
    sim_val val;
};

/* ScContractInstance. */
struct sim_instance {
    bool stellar_asset; /* else wasm */
    uint8_t wasm[TIDE_HASH_BYTES];
    sim_val storage; /* MAP */
};

/* A named value: a field of a struct, a data field of an event. */
struct sim_field {
    const char *name;
    sim_val val;
};

/* Lists written in place: SIM_VALS(a, b) and SIM_FIELDS({ "name", v }, …) each stand
 * for two arguments, pointer and count. */
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

/* The bytes are borrowed; they live as long as the value. */
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

/* A Vec of copies of items. */
sim_val sim_vec(struct tide_arena *arena, const sim_val *items, uint32_t count);
/* Appends in place: vec's items move to new memory. */
void sim_vec_push(struct tide_arena *arena, sim_val *vec, sim_val item);
/* A Map of the fields, keyed by Symbol, sorted; fields of type VOID are left out. */
sim_val sim_struct(struct tide_arena *arena, const struct sim_field *fields, uint32_t count);
/* The value under key, or NULL. The pointer stays good until the next put to the map. */
sim_val *sim_map_get(const sim_val *map, const sim_val *key);
/* Creates or replaces, in order. */
void sim_map_put(struct tide_arena *arena, sim_val *map, sim_val key, sim_val val);

/* ScVal order: by arm, then by content (vecs item by item, maps pair by pair, symbols and
 * strings byte by byte). */
int sim_val_cmp(const sim_val *a, const sim_val *b);

/* Appends the value's XDR. */
void sim_val_xdr(struct tide_buf *buf, const sim_val *val);
/* A tree of XDR that sim_val_xdr wrote: trusted, asserted, never refused. Bytes borrow from
 * xdr, which must live as long as the tree. */
sim_val sim_val_read(struct tide_arena *arena, tide_slice xdr);

/* Types as text, one letter each: b bool, u u32, U u64, i i128, a address, y symbol, s string,
 * x bytes, h 32 bytes, V before a letter: a Vec of it. True when count values fit. */
bool sim_types_fit(const char *types, const sim_val *vals, uint32_t count);

#endif
