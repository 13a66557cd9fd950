/* Running a call: nested calls, authorisation, events. */
#include "tidemark/hash.h"
#include "tools/sim/host/host_impl.h"

/* --- calls ------------------------------------------------------------------------ */

/* Returns the function of that name in the contract's code, or NULL. */
static const struct sim_fn *find_function(const struct sim_contract *contract, const char *name)
{
    for (const struct sim_fn *fn = contract->code ? contract->code->fns : NULL; fn && fn->name;
         fn++) {
        if (strcmp(fn->name, name) == 0)
            return fn;
    }
    return NULL;
}

/* Requires the authorisation that the function's row names. */
static void check_auth(struct sim_host *h, const char *auth, const sim_val *args)
{
    if (!auth)
        return;
    bool stored = *auth == '=', first = *auth == '+';
    const char *slot = stored ? auth + 1 : auth;
    sim_require(h, !first || !sim_slot(h, "ADMIN"), "already initialized");
    if (!first && !stored && *slot)
        sim_require(h, sim_addr_eq(sim_slot_addr(h, slot), args[0].addr), "unauthorised");
    sim_auth(h, stored ? sim_slot_addr(h, slot) : args[0].addr);
    if (first)
        sim_slot_put(h, "ADMIN", args[0]);
}

/* Returns the entry's value in the way that the row says. */
static sim_val read_entry(struct sim_host *h, const struct sim_fn *fn, const sim_val *args,
                          uint32_t arg_count)
{
    struct sim_key key = sim_key(h, tide_entries()[fn->entry].name, args, arg_count);
    if (fn->as == SIM_AS_FLAG)
        return sim_bool(sim_has(h, key));
    if (fn->as == SIM_AS_LIST)
        return sim_get_list(h, key);
    if (fn->as == SIM_AS_I128)
        return sim_i128(sim_get_i128(h, key));
    const sim_val *val = sim_get(h, key);
    return val ? *val : sim_void();
}

static sim_val run_function(struct sim_host *h, const struct sim_fn *fn, const sim_val *args,
                            uint32_t arg_count)
{
    check_auth(h, fn->auth, args);
    if (fn->answer)
        return fn->answer(h, args);
    if (fn->as)
        return read_entry(h, fn, args, arg_count);
    if (fn->slot) {
        const sim_val *val = sim_slot(h, fn->slot);
        sim_require(h, val, "not initialised");
        return *val;
    }
    if (fn->set)
        sim_slot_put(h, fn->set, args[1]);
    else
        fn->change(h, args);
    return sim_void();
}

/* The arguments are copied into the arena, because the caller's array may be a temporary of its
 * frame while the outcome's frame outlives the call. */
sim_val sim_call(struct sim_host *h, struct sim_addr to, const char *name, const sim_val *args,
                 uint32_t arg_count)
{
    struct sim_contract *contract = sim_contract_find(h, to);
    sim_require(h, contract && sim_instance_load(h, contract), "no such contract");
    const struct sim_fn *fn = find_function(contract, name);
    sim_require(h, fn, "no such function");
    sim_require(h, sim_types_fit(fn->types, args, arg_count), "arguments do not fit");
    sim_require(h, h->depth < SIM_DEPTH_MAX, "calls nested too deep");

    struct sim_contract *caller = h->self;
    uint32_t caller_frame = h->frame;
    sim_grow((void **)&h->out.frames, &h->frame_max, h->out.frame_count, sizeof(*h->out.frames));
    h->frame = h->out.frame_count++;
    sim_val kept = sim_vec(&h->arena, args, arg_count);
    sim_check_arena(h);
    h->out.frames[h->frame] = (struct sim_frame){ .contract = contract,
                                                  .fn = fn->name,
                                                  .args = kept.vec,
                                                  .arg_count = arg_count,
                                                  .parent = caller ? caller_frame : h->frame };
    h->self = contract;
    h->depth++;
    sim_val answer = run_function(h, fn, kept.vec, arg_count);
    assert(h->self == contract && h->depth > 0 && "the calls below this one have ended");
    h->depth--;
    h->self = caller;
    h->frame = caller_frame;
    return answer;
}

/* Drops the last outcome and starts the next call. */
static void begin_call(struct sim_host *h, struct sim_addr source)
{
    assert(!h->attempt && "an attempt ends before the next call");
    sim_drop_outcome(h);
    h->call++;
    h->source = source;
    h->self = NULL;
    h->frame = 0;
    h->depth = 0;
    struct sim_outcome *out = &h->out;
    out->ok = false;
    out->reason = NULL;
    out->ret = sim_void();
    out->code_created = false;
    out->changed = 0;
}

/* Undoes the call. Touches, frames and authorisations stay in the outcome: a failed transaction
 * still shows its footprint and uses its nonces. */
static void end_refused(struct sim_host *h)
{
    sim_undo(h);
    h->out.ok = false;
    h->out.ret = sim_void();
    h->out.event_count = 0;
}

/* Keeps the call's effects. Each first authorisation uses a nonce, which is an entry of its own. */
static void end_passed(struct sim_host *h)
{
    assert(!h->self && h->depth == 0 && "the root call has ended");
    h->out.ok = true;
    sim_commit(h);
    for (uint32_t i = 0; i < h->out.auth_count; i++) {
        if (!h->out.auths[i].first)
            continue;
        h->out.changed++;
        struct sim_contract *contract = sim_contract_find(h, h->out.auths[i].party);
        if (contract)
            contract->nonces++;
    }
}

const struct sim_outcome *sim_invoke(struct sim_host *h, struct sim_addr source,
                                     struct sim_addr contract, const char *fn, const sim_val *args,
                                     uint32_t arg_count)
{
    begin_call(h, source);
    /* The longjmp of sim_refuse ends here. Only the host is used after it, no local that
     * changed. */
    if (setjmp(h->refused) != 0) {
        end_refused(h);
        return &h->out;
    }
    h->out.ret = sim_call(h, contract, fn, args, arg_count);
    sim_check_arena(h);
    end_passed(h);
    return &h->out;
}

const struct sim_outcome *sim_deploy(struct sim_host *h, struct sim_addr source,
                                     struct sim_contract *contract)
{
    begin_call(h, source);
    if (setjmp(h->refused) != 0) {
        end_refused(h);
        return &h->out;
    }
    sim_require(h, !sim_instance_load(h, contract), "contract already exists");
    struct sim_instance *instance = tide_new(&h->arena, struct sim_instance, 1);
    sim_check_arena(h);
    instance->storage.type = TIDE_SCV_MAP;
    /* All contracts but Stellar assets run natively and share one code entry, that of the empty
     * wasm. The first deployment creates it. */
    instance->stellar_asset = contract->code && contract->code->first_storage;
    if (instance->stellar_asset) {
        instance->storage = contract->code->first_storage(h, contract);
    } else {
        tide_sha256(instance->wasm, (tide_slice){ 0 });
        h->out.code_created = !h->code_present;
    }
    contract->loaded = instance;
    contract->loaded_in = h->call;
    sim_instance_save(h, contract);
    h->code_present |= h->out.code_created;
    end_passed(h);
    return &h->out;
}

const struct sim_outcome *sim_view(struct sim_host *h, struct sim_addr contract, const char *fn,
                                   const sim_val *args, uint32_t arg_count)
{
    begin_call(h, contract);
    if (setjmp(h->refused) != 0) {
        end_refused(h);
        return &h->out;
    }
    h->out.ret = sim_call(h, contract, fn, args, arg_count);
    sim_check_arena(h);
    /* A read function may write on the way, for instance its sub-calls' accruals. */
    sim_undo(h);
    h->out.ok = true;
    return &h->out;
}

const struct sim_outcome *sim_attempt(struct sim_host *h, const struct sim_attempt *attempt)
{
    begin_call(h, attempt->source);
    h->attempt = true;
    if (setjmp(h->refused) != 0) {
        h->attempt = false;
        end_refused(h);
        return &h->out;
    }
    h->out.ret = sim_call(h, attempt->contract, attempt->fn, attempt->args, attempt->arg_count);
    sim_check_arena(h);
    h->out.ok = true;
    /* The callback sees the state as the call left it. Its rejection takes the path of a
     * refusal. */
    const char *objection = attempt->judge(attempt->self, &h->out);
    if (objection)
        sim_refuse(h, objection);
    h->attempt = false;
    sim_drop_lapsed(h);
    end_passed(h);
    return &h->out;
}

void sim_auth(struct sim_host *h, struct sim_addr party)
{
    /* The direct caller authorises the call by making it, without a signature. */
    assert(h->frame < h->out.frame_count && h->depth > 0);
    uint32_t parent = h->out.frames[h->frame].parent;
    if (parent != h->frame && sim_addr_eq(h->out.frames[parent].contract->address, party))
        return;
    if (h->strict_auth && party.kind == SIM_CONTRACT) {
        struct sim_contract *contract = sim_contract_find(h, party);
        sim_require(h, contract && contract->role == TIDE_ROLE_wallet, "not authorised");
    }
    bool first = true;
    for (uint32_t i = 0; i < h->out.auth_count; i++)
        first = first && !sim_addr_eq(h->out.auths[i].party, party);
    sim_grow((void **)&h->out.auths, &h->auth_max, h->out.auth_count, sizeof(*h->out.auths));
    h->out.auths[h->out.auth_count++] = (struct sim_auth){ party, h->frame, first };
}

/* --- events ------------------------------------------------------------------------- */

static void push_event(struct sim_host *h, struct sim_event event)
{
    sim_check_arena(h);
    assert(event.topics.type == TIDE_SCV_VEC && event.topics.len > 0 && "the name comes first");
    sim_grow((void **)&h->out.events, &h->event_max, h->out.event_count, sizeof(*h->out.events));
    h->out.events[h->out.event_count++] = event;
}

void sim_emit_val(struct sim_host *h, const char *name, const sim_val *topics, uint32_t topic_count,
                  sim_val data)
{
    push_event(h, (struct sim_event){ .contract = h->self,
                                      .topics = sim_named_vec(h, name, topics, topic_count),
                                      .data = data });
}

void sim_emit(struct sim_host *h, const char *name, const sim_val *topics, uint32_t topic_count,
              const struct sim_field *fields, uint32_t field_count)
{
    sim_emit_val(h, name, topics, topic_count, sim_struct(&h->arena, fields, field_count));
}

static const sim_val *value_of(const struct sim_field *values, uint32_t count, const char *column)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(values[i].name, column) == 0)
            return &values[i].val;
    return NULL;
}

/* Returns the values of a form's parts that are there. */
static uint32_t gather_parts(const struct tide_kind *kind, const struct tide_part *parts,
                             uint32_t part_count, const struct sim_field *values, uint32_t count,
                             struct sim_field *out)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < part_count; i++) {
        const sim_val *val = value_of(values, count, kind->fields[parts[i].field].column);
        assert((val || parts[i].optional) && "the form has the field");
        if (val)
            out[found++] = (struct sim_field){ kind->fields[parts[i].field].column, *val };
    }
    return found;
}

/* Returns a map of the parts that are there, by their names. Their order is that of the names. */
static sim_val form_map(struct sim_host *h, const struct tide_kind *kind,
                        const struct tide_event_form *form, const struct sim_field *values,
                        uint32_t count)
{
    struct sim_field members[TIDE_PARTS_MAX];
    uint32_t found = 0;
    for (uint32_t i = 0; i < form->data_count; i++) {
        const struct tide_part *part = &form->data[i];
        const sim_val *val = value_of(values, count, kind->fields[part->field].column);
        if (!val)
            continue;
        char *name = tide_new(&h->arena, char, part->name.len + 1);
        sim_check_arena(h);
        memcpy(name, part->name.ptr, part->name.len);
        members[found++] = (struct sim_field){ name, *val };
    }
    return sim_struct(&h->arena, members, found);
}

void sim_emit_form(struct sim_host *h, enum tide_event_id id, uint32_t form,
                   const struct sim_field *values, uint32_t count)
{
    const struct tide_kind *kind = &tide_events()[id];
    assert(form < kind->form_count);
    const struct tide_event_form *as = &kind->forms[form];
    struct sim_field parts[TIDE_PARTS_MAX];
    sim_val topics[TIDE_PARTS_MAX], items[TIDE_PARTS_MAX], data;
    uint32_t topic_count = gather_parts(kind, as->topics, as->topic_count, values, count, parts);
    for (uint32_t i = 0; i < topic_count; i++)
        topics[i] = parts[i].val;
    uint32_t item_count = gather_parts(kind, as->data, as->data_count, values, count, parts);
    for (uint32_t i = 0; i < item_count; i++)
        items[i] = parts[i].val;
    if (as->shape == TIDE_SHAPE_MAP)
        data = form_map(h, kind, as, values, count);
    else
        data = as->shape == TIDE_SHAPE_VALUE ? items[0] : sim_vec(&h->arena, items, item_count);
    sim_emit_val(h, kind->name, topics, topic_count, data);
}

/* Returns the executable as the topic of an executable_update event: Vec(Wasm, hash). */
static sim_val wasm_tag(struct sim_host *h, const uint8_t hash[TIDE_HASH_BYTES])
{
    uint8_t *copy = tide_new(&h->arena, uint8_t, TIDE_HASH_BYTES);
    sim_check_arena(h);
    memcpy(copy, hash, TIDE_HASH_BYTES);
    return sim_vec(&h->arena,
                   SIM_VALS(sim_sym("Wasm"), sim_bytes(tide_slice_of(copy, TIDE_HASH_BYTES))));
}

/* The network reports a change of code as a system event with the old and the new executable. */
void sim_upgrade(struct sim_host *h, tide_slice hash)
{
    assert(hash.len == TIDE_HASH_BYTES);
    struct sim_instance *instance = sim_instance_load(h, h->self);
    sim_val before = wasm_tag(h, instance->wasm);
    sim_val after = wasm_tag(h, hash.ptr);
    memcpy(instance->wasm, hash.ptr, TIDE_HASH_BYTES);
    sim_instance_save(h, h->self);
    sim_val topics =
        sim_named_vec(h, SIM_EVENT(liquidity_pool, executable_update), SIM_VALS(before, after));
    push_event(h, (struct sim_event){ .contract = h->self,
                                      .system = true,
                                      .topics = topics,
                                      .data = { .type = TIDE_SCV_VEC } });
}

void sim_upgrade_arg(struct sim_host *h, const sim_val *args)
{
    sim_upgrade(h, args[1].bytes);
}

/* --- calls that most contracts make ------------------------------------------------- */

void sim_transfer(struct sim_host *h, struct sim_addr token, struct sim_addr from,
                  struct sim_addr to, sim_amount amount)
{
    sim_call(h, token, "transfer", SIM_VALS(sim_address(from), sim_address(to), sim_i128(amount)));
}

void sim_assert_compliant(struct sim_host *h, struct sim_addr user)
{
    sim_call(h, sim_slot_addr(h, "COMPL"), "assert_user_compliant",
             SIM_VALS(sim_address(sim_self(h)), sim_address(user)));
}

void sim_event_xdr(struct tide_buf *buf, const struct sim_event *event)
{
    tide_buf_be32(buf, 0); /* extension */
    tide_buf_be32(buf, 1); /* contract id present */
    tide_buf_put(buf, event->contract->address.key, TIDE_HASH_BYTES);
    tide_buf_be32(buf, event->system ? 0 : 1);
    tide_buf_be32(buf, 0); /* body version */
    tide_buf_be32(buf, event->topics.len);
    for (uint32_t i = 0; i < event->topics.len; i++)
        sim_val_xdr(buf, &event->topics.vec[i]);
    sim_val_xdr(buf, &event->data);
}
