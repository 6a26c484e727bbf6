/* What an executor keeps for tensors: programs by their texts, array graphs by what they say, and
 * which storages it has.
 * Must not know: operations. */
#include "runtime/executor.h"
#include "tensor/tensor.h"
#include <hologram/program.h>
#include <string.h>

static void end(void *kept);

static void *make(hg_executor *executor) {
    tensor_state *state = hg_calloc(1, sizeof *state);
    if (!state) {
        HG_IGNORE(hg_fail_memory()); /* the caller returns it */
        return NULL;
    }
    state->references = 1;
    state->executor = executor;
    state->backend = hg_executor_backend(executor);
    hg_mutex_init(&state->lock);
    hg_mutex_init(&state->recording);
    return state;
}

hg_status tensor_state_of(hg_executor *executor, tensor_state **state) {
    if (!executor) return hg_null_argument("executor");
    *state = hg_executor_keep(executor, make, end);
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
    hg_vec_free(&state->graphs);
    for (tensor_storage *s = state->storages; s; s = s->next)
        if (s->buffer.handle && !s->class_bytes && !s->borrowed)
            HG_IGNORE(hg_backend_free_buffer(state->backend, s->buffer)); /* it is there */
    state->executor = NULL;
    state->backend = NULL;
    tensor_state_release(state);
}

/* ---- programs ---- */

static hg_status assemble(const hg_text *text, hg_program **program) {
    hg_diagnostics *d = hg_diagnostics_create(4);
    if (!d) return hg_fail_memory();
    hg_status status = hg_program_assemble(text->data, text->length, d, program);
    char *printed = status == HG_OK ? NULL
                                    : hg_diagnostics_print(d, "tensor", text->data, text->length);
    if (printed) status = hg_fail(HG_ERROR_INTERNAL, "%.400s", printed);
    hg_string_free(printed);
    hg_diagnostics_destroy(d);
    return status;
}

static hg_status add_program(tensor_state *state, const hg_text *text, hg_program **program) {
    HG_TRY(assemble(text, program));
    char *key = hg_alloc(text->length + 1);
    tensor_program *entry = key ? hg_vec_push(&state->programs) : NULL;
    if (!entry) {
        hg_free(key);
        hg_program_release(*program);
        return hg_fail_memory();
    }
    memcpy(key, text->data, text->length + 1);
    *entry = (tensor_program){*program, key, text->length};
    return HG_OK;
}

hg_status tensor_program_of(tensor_state *state, const hg_text *text, hg_program **program) {
    if (text->failed) return hg_fail_memory();
    hg_mutex_lock(&state->lock);
    hg_status status = HG_OK;
    *program = NULL;
    for (uint64_t i = 0; i < state->programs.count && !*program; i++) {
        const tensor_program *p = &state->programs.data[i];
        if (p->length == text->length && memcmp(p->key, text->data, text->length) == 0)
            *program = p->program;
    }
    if (!*program) status = add_program(state, text, program);
    hg_mutex_unlock(&state->lock);
    return status;
}
