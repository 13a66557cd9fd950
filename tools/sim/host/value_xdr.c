/* Conversion of trees to XDR and back. The reader trusts its input: it reads only XDR that the
 * writer in this file wrote. */
#include "tidemark/xdr.h"
#include "tools/sim/host/value.h"

static void write_address(struct tide_buf *buf, const struct sim_addr *addr)
{
    assert(addr->kind == SIM_ACCOUNT || addr->kind == SIM_CONTRACT);
    tide_buf_be32(buf, addr->kind);
    if (addr->kind == SIM_ACCOUNT)
        tide_buf_be32(buf, 0); /* PublicKeyType ed25519 */
    tide_buf_put(buf, addr->key, TIDE_HASH_BYTES);
}

static void write_map(struct tide_buf *buf, const sim_val *map)
{
    tide_buf_be32(buf, 1); /* the optional map is present */
    tide_buf_be32(buf, map->len);
    for (uint32_t i = 0; i < map->len; i++) {
        sim_val_xdr(buf, &map->map[i].key);
        sim_val_xdr(buf, &map->map[i].val);
    }
}

static void write_instance(struct tide_buf *buf, const struct sim_instance *instance)
{
    /* The executable's discriminant: 0 wasm with its hash, 1 Stellar asset. An empty storage is an
     * absent map, as the network's host writes it. */
    assert(instance->storage.type == TIDE_SCV_MAP);
    tide_buf_be32(buf, instance->stellar_asset);
    if (!instance->stellar_asset)
        tide_buf_put(buf, instance->wasm, TIDE_HASH_BYTES);
    if (instance->storage.len == 0)
        tide_buf_be32(buf, 0);
    else
        write_map(buf, &instance->storage);
}

void sim_val_xdr(struct tide_buf *buf, const sim_val *val)
{
    tide_buf_be32(buf, val->type);
    switch (val->type) {
    case TIDE_SCV_BOOL:
        tide_buf_be32(buf, val->b);
        break;
    case TIDE_SCV_U32:
        tide_buf_be32(buf, val->u32);
        break;
    case TIDE_SCV_U64:
        tide_buf_be64(buf, val->u64);
        break;
    case TIDE_SCV_I128:
        tide_buf_be64(buf, (uint64_t)(val->i128 >> 64));
        tide_buf_be64(buf, (uint64_t)val->i128);
        break;
    case TIDE_SCV_BYTES:
    case TIDE_SCV_STRING:
    case TIDE_SCV_SYMBOL:
        tide_xdr_put_var(buf, val->bytes);
        break;
    case TIDE_SCV_VEC:
        tide_buf_be32(buf, 1); /* the optional vector is present */
        tide_buf_be32(buf, val->len);
        for (uint32_t i = 0; i < val->len; i++)
            sim_val_xdr(buf, &val->vec[i]);
        break;
    case TIDE_SCV_MAP:
        write_map(buf, val);
        break;
    case TIDE_SCV_ADDRESS:
        write_address(buf, &val->addr);
        break;
    case TIDE_SCV_CONTRACT_INSTANCE:
        write_instance(buf, val->instance);
        break;
    default:
        assert(val->type == TIDE_SCV_VOID || val->type == TIDE_SCV_LEDGER_KEY_CONTRACT_INSTANCE);
        break;
    }
}

/* Position in the XDR that is read. Reading past the end fails an assertion at the end. */
struct reader {
    struct tide_arena *arena;
    struct tide_xdr x;
};

static sim_val read_val(struct reader *r);

static sim_val read_map(struct reader *r)
{
    sim_val out = { .type = TIDE_SCV_MAP };
    if (tide_xdr_u32(&r->x) == 0)
        return out;
    uint32_t count = tide_xdr_u32(&r->x);
    /* A full arena leaves the map empty; the pairs are still read, so that the position stays
     * right. */
    out.map = count ? tide_new(r->arena, struct sim_pair, count) : NULL;
    for (uint32_t i = 0; i < count; i++) {
        sim_val key = read_val(r);
        sim_val val = read_val(r);
        if (out.map)
            out.map[i] = (struct sim_pair){ key, val };
    }
    out.len = out.map ? count : 0;
    return out;
}

static sim_val read_vec(struct reader *r)
{
    sim_val out = { .type = TIDE_SCV_VEC };
    if (tide_xdr_u32(&r->x) == 0)
        return out;
    uint32_t count = tide_xdr_u32(&r->x);
    out.vec = count ? tide_new(r->arena, sim_val, count) : NULL;
    for (uint32_t i = 0; i < count; i++) {
        sim_val item = read_val(r);
        if (out.vec)
            out.vec[i] = item;
    }
    out.len = out.vec ? count : 0;
    return out;
}

static struct sim_instance *read_instance(struct reader *r)
{
    struct sim_instance read = { .stellar_asset = tide_xdr_u32(&r->x) == 1 };
    if (!read.stellar_asset)
        memcpy(read.wasm, tide_xdr_opaque(&r->x, TIDE_HASH_BYTES).ptr, TIDE_HASH_BYTES);
    read.storage = read_map(r);
    struct sim_instance *out = tide_new(r->arena, struct sim_instance, 1);
    if (out)
        *out = read;
    return out;
}

static sim_val read_val(struct reader *r)
{
    sim_val out = { .type = tide_xdr_u32(&r->x) };
    switch (out.type) {
    case TIDE_SCV_BOOL:
        out.b = tide_xdr_u32(&r->x) == 1;
        break;
    case TIDE_SCV_U32:
        out.u32 = tide_xdr_u32(&r->x);
        break;
    case TIDE_SCV_U64:
        out.u64 = tide_xdr_u64(&r->x);
        break;
    case TIDE_SCV_I128: {
        uint64_t hi = tide_xdr_u64(&r->x);
        out.i128 = tide_i128_from_parts((int64_t)hi, tide_xdr_u64(&r->x)).raw;
        break;
    }
    case TIDE_SCV_BYTES:
    case TIDE_SCV_STRING:
    case TIDE_SCV_SYMBOL:
        out.bytes = tide_xdr_var(&r->x, UINT32_MAX);
        break;
    case TIDE_SCV_VEC:
        return read_vec(r);
    case TIDE_SCV_MAP:
        return read_map(r);
    case TIDE_SCV_ADDRESS:
        out.addr.kind = tide_xdr_u32(&r->x);
        assert(out.addr.kind == SIM_ACCOUNT || out.addr.kind == SIM_CONTRACT);
        if (out.addr.kind == SIM_ACCOUNT)
            (void)tide_xdr_u32(&r->x);
        memcpy(out.addr.key, tide_xdr_opaque(&r->x, TIDE_HASH_BYTES).ptr, TIDE_HASH_BYTES);
        break;
    case TIDE_SCV_CONTRACT_INSTANCE:
        out.instance = read_instance(r);
        break;
    default:
        assert(out.type == TIDE_SCV_VOID || out.type == TIDE_SCV_LEDGER_KEY_CONTRACT_INSTANCE);
        break;
    }
    return out;
}

sim_val sim_val_read(struct tide_arena *arena, tide_slice xdr)
{
    struct reader r = { arena, tide_xdr_of(xdr) };
    sim_val out = read_val(&r);
    assert(r.x.status == TIDE_OK && !tide_xdr_left(&r.x) && "one value fills its XDR");
    return out;
}
