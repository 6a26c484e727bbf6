/* What an executor keeps for tensors: programs by their texts, array graphs by what they say, and
 * which storages it has.
 * Must not know: operations. */
#include "runtime/executor.h"
#include "tensor/tensor.h"
#include <hologram/program.h>
#include <string.h>

static void end(void *kept);

void tensor_state_trim(tensor_state *state) {
    tensor_forget_launches(state);
    hg_mutex_lock(&state->lock);
    for (uint32_t k = 0; k < TENSOR_STEADY; k++) {
        hg_graph_binding_destroy(state->steady[k].bound.binding);
        hg_free(state->steady[k].bound.handles);
        state->steady[k] = (tensor_steady){0};
    }
    hg_atomic_store(&state->wasted, 0, HG_RELAXED);
    for (uint64_t i = 0; i < state->graphs.count; i++)
        for (uint32_t k = 0; k < TENSOR_BINDINGS; k++) {
            tensor_bound *b = &state->graphs.data[i]->bound[k];
            hg_graph_binding_destroy(b->binding);
            hg_free(b->handles);
            *b = (tensor_bound){0};
        }
    if (state->trim_records) state->trim_records(state);
    hg_mutex_unlock(&state->lock);
}

static void trim(void *kept) { tensor_state_trim(kept); }

static void *make(hg_executor *executor) {
    tensor_state *state = hg_calloc(1, sizeof *state);
    if (!state) {
        HG_IGNORE(hg_fail_memory()); /* the caller returns it */
        return NULL;
    }
    state->references = 1;
    state->executor = executor;
    state->backend = hg_executor_backend(executor);
    state->appends.queue = hg_executor_queue(executor);
    hg_mutex_init(&state->lock);
    hg_mutex_init(&state->recording);
    return state;
}

hg_status tensor_state_of(hg_executor *executor, tensor_state **state) {
    if (!executor) return hg_null_argument("executor");
    *state = hg_executor_keep(executor, make, end, trim);
    return *state ? HG_OK : HG_ERROR_OUT_OF_MEMORY;
}

tensor_state *tensor_state_retain(tensor_state *state) {
    if (state) hg_atomic_fetch_add(&state->references, 1, HG_RELAXED);
    return state;
}

void tensor_state_release(tensor_state *state) {
    if (!state || hg_atomic_sub_fetch(&state->references, 1, HG_ACQ_REL) != 0) return;
    hg_mutex_destroy(&state->lock);
    hg_mutex_destroy(&state->recording);
    hg_free(state);
}

/* The executor goes: what is left of its tensors has no elements any more. */
static void end(void *kept) {
    tensor_state *state = kept;
    tensor_state_trim(state);
    hg_event_destroy(state->appends.last);
    state->appends.last = NULL;
    for (uint64_t i = 0; i < state->programs.count; i++) {
        hg_program_release(state->programs.data[i].program);
        hg_free(state->programs.data[i].key);
    }
    for (uint64_t i = 0; i < state->graphs.count; i++) {
        hg_graph_executable_destroy(state->graphs.data[i]->executable);
        hg_free(state->graphs.data[i]->key);
        hg_free(state->graphs.data[i]);
    }
    hg_vec_free(&state->programs);
    hg_free(state->program_slots);
    if (state->free_records) state->free_records(state);
    hg_vec_free(&state->graphs);
    hg_mutex_lock(&state->lock); /* other threads may release some */
    for (tensor_storage *s = state->imported; s; s = s->next)
        HG_IGNORE(hg_backend_free_buffer(state->backend, s->buffer)); /* it is there */
    state->executor = NULL;
    state->backend = NULL;
    hg_mutex_unlock(&state->lock);
    tensor_state_release(state);
}

/* ---- programs ---- */

static hg_status assemble(const hg_text *text, hg_program **program) {
    hg_diagnostics *d = hg_diagnostics_create(4);
    if (!d) return hg_fail_memory();
    hg_status status = hg_program_assemble(text->data, text->length, d, program);
    if (status != HG_OK && status != HG_ERROR_OUT_OF_MEMORY) { /* the text is ours */
        char *printed = hg_diagnostics_print(d, "tensor", text->data, text->length);
        status = printed ? hg_fail(HG_ERROR_INTERNAL, "%.400s", printed) : hg_fail_memory();
        hg_string_free(printed);
    }
    hg_diagnostics_destroy(d);
    return status;
}

void tensor_add_section(hg_text *out, const char *text, const char *name) {
    static const char word[] = "\n.program ";
    size_t length = strlen(name), skip = sizeof word - 1;
    const char *from = strstr(text, word), *next;
    while (from && (strncmp(from + skip, name, length) != 0 || from[skip + length] != '\n'))
        from = strstr(from + skip, word);
    if (!from) return; /* the text is not assembled then */
    next = strstr(from + skip, word);
    hg_text_add(out, from + 1, next ? (size_t)(next - from) : strlen(from + 1));
}

static uint64_t hash_of(const void *key, size_t length) {
    const uint8_t *at = key;
    uint64_t hash = length, word;
    for (; length >= 8; at += 8, length -= 8) {
        memcpy(&word, at, 8);
        hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
        hash ^= hash >> 29;
    }
    for (; length; length--) hash = (hash ^ *at++) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 32;
}

/* Of a program with that key, or where it would stand. The lock is held. */
static uint32_t slot_of(const tensor_state *state, const void *key, size_t length, uint64_t hash) {
    uint32_t at = (uint32_t)hash & (state->program_slot_count - 1);
    for (; state->program_slots[at]; at = (at + 1) & (state->program_slot_count - 1)) {
        const tensor_program *p = &state->programs.data[state->program_slots[at] - 1];
        if (p->hash == hash && p->length == length && memcmp(p->key, key, length) == 0) break;
    }
    return at;
}

static hg_program *known(const tensor_state *state, const void *key, size_t length, uint64_t hash) {
    if (!state->program_slot_count) return NULL;
    uint32_t number = state->program_slots[slot_of(state, key, length, hash)];
    return number ? state->programs.data[number - 1].program : NULL;
}

static bool grow(tensor_state *state) {
    uint32_t count = state->program_slot_count ? state->program_slot_count * 2 : 64;
    uint32_t *slots = hg_calloc(count, sizeof *slots);
    if (!slots) return false;
    hg_free(state->program_slots);
    state->program_slots = slots;
    state->program_slot_count = count;
    for (uint64_t i = 0; i < state->programs.count; i++) {
        const tensor_program *p = &state->programs.data[i];
        slots[slot_of(state, p->key, p->length, p->hash)] = (uint32_t)i + 1;
    }
    return true;
}

static hg_status add_program(tensor_state *state, const void *key, size_t length, uint64_t hash,
                             const hg_text *text, hg_program **program) {
    if (state->programs.count * 2 >= state->program_slot_count && !grow(state))
        return hg_fail_memory();
    HG_TRY(assemble(text, program));
    char *own = hg_alloc(length + 1);
    tensor_program *entry = own ? hg_vec_push(&state->programs) : NULL;
    if (!entry) {
        hg_free(own);
        hg_program_release(*program);
        *program = NULL;
        return hg_fail_memory();
    }
    memcpy(own, key, length);
    *entry = (tensor_program){*program, own, length, hash};
    state->program_slots[slot_of(state, key, length, hash)] = (uint32_t)state->programs.count;
    return HG_OK;
}

hg_program *tensor_program_known(tensor_state *state, const void *key, size_t length) {
    uint64_t hash = hash_of(key, length);
    hg_mutex_lock(&state->lock);
    hg_program *program = known(state, key, length, hash);
    hg_mutex_unlock(&state->lock);
    return program;
}

hg_status tensor_program_add(tensor_state *state, const void *key, size_t length,
                             const hg_text *text, hg_program **program) {
    uint64_t hash = hash_of(key, length);
    if (text->failed) return hg_fail_memory();
    hg_mutex_lock(&state->lock);
    hg_status status = HG_OK;
    *program = known(state, key, length, hash);
    if (!*program) status = add_program(state, key, length, hash, text, program);
    hg_mutex_unlock(&state->lock);
    return status;
}

hg_status tensor_program_of(tensor_state *state, const hg_text *text, hg_program **program) {
    if (text->failed) return hg_fail_memory();
    return tensor_program_add(state, text->data, text->length, text, program);
}
