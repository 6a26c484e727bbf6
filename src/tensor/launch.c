/* One lane program over storages, launched at once. Its binding is kept for the next launch with
 * the same numbers and with buffers of the same sizes.
 * Must not know: what it calculates. */
#include "isa/program.h"
#include "runtime/binding.h"
#include "tensor/tensor.h"
#include <string.h>

enum { MOST_ARGS = 64, FEW_ARGS = 12 };

/* ---- as parameters ---- */

static uint64_t word_of(const tensor_arg *a) {
    uint64_t word = a->number;
    if (a->kind == TENSOR_SCALAR) memcpy(&word, a->bytes, sizeof word);
    return word;
}

/* Values as hg_params has them. Names are not copied: they live as long as the library. Bytes
 * behind the first eight are not looked at: no type of an argument has more. */
static void put(hg_param_value *v, const char *name, hg_param_kind kind, uint8_t type,
                uint64_t value) {
    v->name = (char *)(uintptr_t)name;
    v->reg = 0;
    v->kind = (uint8_t)kind;
    v->type = type;
    v->constant = false;
    v->handle = kind == HG_PARAM_BUFFER ? value : 0;
    memcpy(v->bytes, &value, sizeof value);
}

static hg_status launch_first(tensor_state *state, const tensor_work *work, const tensor_arg *args,
                              uint32_t arg_count, const tensor_target *targets,
                              uint32_t target_count, hg_binding **binding) {
    hg_param_value few[FEW_ARGS], *values = few; /* half a KiB each, and stacks may be small */
    uint32_t count = arg_count + target_count;
    if (count > MOST_ARGS)
        return hg_fail(HG_ERROR_INTERNAL, "%s has too many operands", work->operation);
    if (count > FEW_ARGS) values = hg_alloc(count * sizeof *values);
    if (!values) return hg_fail_memory();
    hg_params params = {.values = {values, count, count}};
    for (uint32_t i = 0; i < arg_count; i++) {
        const tensor_arg *a = &args[i];
        if (a->kind == TENSOR_ARRAY)
            put(&values[i], a->name, HG_PARAM_BUFFER, HG_TYPE_U64,
                a->tensor->storage->buffer.handle);
        else
            put(&values[i], a->name, HG_PARAM_SCALAR,
                a->kind == TENSOR_SIZE ? (uint8_t)HG_TYPE_U64 : a->type, word_of(a));
    }
    for (uint32_t i = 0; i < target_count; i++)
        put(&values[arg_count + i], targets[i].operand, HG_PARAM_BUFFER, HG_TYPE_U64,
            targets[i].storage->buffer.handle);
    hg_status status = hg_launch_first(state->backend, work->program, NULL, &params, binding);
    if (values != few) hg_free(values);
    return status;
}

/* ---- what a launch is known by ---- */

enum { MOST_WORDS = 32 };

typedef struct launch_key {
    const hg_program *program;
    uint64_t hash;
    uint32_t word_count, buffer_count;
    uint64_t words[MOST_WORDS]; /* numbers; of each buffer its size and which it is the same as */
} launch_key;

struct tensor_kept {
    hg_binding *binding;
    uint8_t regs[HG_MOST_MOVED]; /* of the buffers' parameters */
    launch_key key;
};

typedef struct buffer_list {
    hg_buffer buffers[HG_MOST_MOVED];
    uint32_t count;
} buffer_list;

static void add_word(launch_key *key, uint64_t word) {
    key->words[key->word_count++] = word;
    key->hash = (key->hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    key->hash ^= key->hash >> 29;
}

static void add_buffer(launch_key *key, buffer_list *list, const tensor_storage *s) {
    uint32_t same = 0;
    while (same < list->count && list->buffers[same].handle != s->buffer.handle) same++;
    list->buffers[list->count++] = s->buffer;
    add_word(key, (s->class_bytes ? s->class_bytes : s->count) * HG_MOST_MOVED + same);
}

/* False: there are too many operands. */
static bool describe(launch_key *key, buffer_list *list, const tensor_work *work,
                     const tensor_arg *args, uint32_t arg_count, const tensor_target *targets,
                     uint32_t target_count) {
    list->count = 0;
    key->program = work->program;
    key->hash = (uint64_t)(uintptr_t)work->program;
    key->word_count = 0;
    if (arg_count + target_count > MOST_WORDS || target_count > HG_MOST_MOVED) return false;
    for (uint32_t i = 0; i < arg_count; i++) {
        if (args[i].kind != TENSOR_ARRAY) {
            add_word(key, word_of(&args[i]));
            continue;
        }
        if (list->count + target_count == HG_MOST_MOVED) return false;
        add_buffer(key, list, args[i].tensor->storage);
    }
    for (uint32_t i = 0; i < target_count; i++) add_buffer(key, list, targets[i].storage);
    key->buffer_count = list->count;
    return true;
}

static bool is_same(const launch_key *x, const launch_key *y) {
    return x->program == y->program && x->word_count == y->word_count &&
           memcmp(x->words, y->words, x->word_count * sizeof *x->words) == 0;
}

/* ---- what is kept ---- */

static void free_kept(tensor_kept *kept) {
    if (!kept) return;
    hg_binding_destroy(kept->binding);
    hg_free(kept);
}

void tensor_forget_launches(tensor_state *state) {
    for (uint32_t i = 0; i < TENSOR_LAUNCHES; i++)
        free_kept(hg_atomic_exchange(&state->launches[i].kept, NULL, HG_ACQ_REL));
}

static tensor_slot *slots_of(tensor_state *state, uint64_t hash) {
    return &state->launches[hash >> 32 & (TENSOR_LAUNCHES - TENSOR_WAYS)];
}

/* Nobody takes it meanwhile. */
static void give(tensor_state *state, tensor_kept *kept) {
    tensor_slot *slots = slots_of(state, kept->key.hash), *to = NULL;
    for (uint32_t way = 0; way < TENSOR_WAYS && !to; way++)
        if (!hg_atomic_load(&slots[way].kept, HG_RELAXED)) to = &slots[way];
    if (!to) to = &slots[hg_atomic_fetch_add(&state->launch_turn, 1, HG_RELAXED) % TENSOR_WAYS];
    hg_atomic_store(&to->hash, kept->key.hash, HG_RELAXED);
    free_kept(hg_atomic_exchange(&to->kept, kept, HG_ACQ_REL));
}

/* NULL: there is none, or another thread has it. */
static tensor_kept *take(tensor_state *state, const launch_key *key) {
    tensor_slot *slots = slots_of(state, key->hash);
    for (uint32_t way = 0; way < TENSOR_WAYS; way++) {
        if (hg_atomic_load(&slots[way].hash, HG_RELAXED) != key->hash) continue;
        tensor_kept *kept = hg_atomic_exchange(&slots[way].kept, NULL, HG_ACQ_REL);
        if (kept && is_same(&kept->key, key)) return kept;
        if (kept) give(state, kept);
    }
    return NULL;
}

static bool find_register(const hg_program *program, const char *name, uint8_t *reg) {
    for (uint32_t i = 0; i < program->param_count; i++) {
        if (strcmp(program->params[i].name, name) != 0) continue;
        *reg = program->params[i].reg;
        return true;
    }
    return false;
}

static bool find_registers(tensor_kept *kept, const tensor_arg *args, uint32_t arg_count,
                           const tensor_target *targets, uint32_t target_count) {
    uint32_t count = 0;
    bool found = true;
    for (uint32_t i = 0; i < arg_count && found; i++)
        if (args[i].kind == TENSOR_ARRAY)
            found = find_register(kept->key.program, args[i].name, &kept->regs[count++]);
    for (uint32_t i = 0; i < target_count && found; i++)
        found = find_register(kept->key.program, targets[i].operand, &kept->regs[count++]);
    return found;
}

/* Takes the binding over. */
static void keep(tensor_state *state, const launch_key *key, hg_binding *binding,
                 const tensor_arg *args, uint32_t arg_count, const tensor_target *targets,
                 uint32_t target_count) {
    tensor_kept *kept = hg_binding_loosen(binding) ? hg_alloc(sizeof *kept) : NULL;
    if (kept) kept->key = *key;
    if (kept && find_registers(kept, args, arg_count, targets, target_count)) {
        kept->binding = binding;
        give(state, kept);
    } else {
        hg_free(kept);
        hg_binding_destroy(binding);
    }
}

hg_status tensor_launch(tensor_state *state, const tensor_work *work, const tensor_arg *args,
                        uint32_t arg_count, const tensor_target *targets, uint32_t target_count) {
    launch_key key;
    buffer_list list;
    HG_TRY(tensor_await(state));
    bool keeps = describe(&key, &list, work, args, arg_count, targets, target_count);
    tensor_kept *kept = keeps ? take(state, &key) : NULL;
    if (kept && hg_binding_move(kept->binding, kept->regs, list.buffers, list.count)) {
        hg_status status = hg_launch_bound(kept->binding, state->backend->context);
        give(state, kept);
        return status;
    }
    free_kept(kept);
    hg_binding *binding;
    HG_TRY(launch_first(state, work, args, arg_count, targets, target_count, &binding));
    if (keeps)
        keep(state, &key, binding, args, arg_count, targets, target_count);
    else
        hg_binding_destroy(binding);
    return HG_OK;
}
