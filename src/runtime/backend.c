/* Backends and contexts: their ends, and the blocking execute calls. open.c opens them. */
#include "runtime/binding.h"
#include "runtime/memory.h"
#include <stdio.h>
#include <string.h>

hg_status hg_context_create(hg_backend *b, hg_context **context) {
    HG_ENTRY;
    if (!b) return hg_null_argument("backend");
    if (!context) return hg_null_argument("context");
    HG_TRY(hg_backend_alive(b));
    hg_context *c = hg_calloc(1, sizeof *c);
    if (!c) return hg_fail_memory();
    c->backend = b;
    hg_child_add(&b->children, HG_CHILD_CONTEXT);
    hg_mutex_init(&c->class_lock);
    hg_mutex_init(&c->start_lock);
    hg_status status = hg_stream_create(c, &c->main);
    if (status != HG_OK) {
        hg_context_destroy(c);
        return status;
    }
    hg_context_watch_forks(c);
    *context = c;
    return HG_OK;
}

/* Waits for launches that were started; HG_ERROR_WOULD_BLOCK: nobody can, and nothing has changed.
 * NULL is allowed. */
static hg_status end_starts(hg_context *c) {
    return c && c->end_starters && !c->lost ? c->end_starters(c) : HG_OK;
}

hg_status hg_backend_end_starts(hg_backend *b) { return b ? end_starts(b->context) : HG_OK; }

hg_status hg_context_set_ranks(hg_backend *b, hg_context *context, const hg_ranks *ranks) {
    HG_TRY(hg_backend_alive(b));
    hg_context *c = context ? context : b->context;
    if (c->backend != b)
        return hg_fail(HG_ERROR_INVALID_ARGUMENT, "the context belongs to another backend");
    if (c->lost) return hg_lost("context");
    if (c->ranks.release) c->ranks.release(c->ranks.comm);
    c->ranks = *ranks;
    return HG_OK;
}

void hg_context_destroy(hg_context *c) {
    HG_ENTRY;
    if (!c || end_starts(c) != HG_OK) return;
    hg_context_forget_forks(c);
    if (c->lost) return; /* what it has may be half made */
    hg_stream_destroy(c->main);
    while (c->spare) {
        hg_stream *next = c->spare->next;
        hg_stream_destroy(c->spare);
        c->spare = next;
    }
    hg_piece_free(&c->backend->memory, &c->class_memory);
    hg_state_close(c);
    if (c->ranks.release) c->ranks.release(c->ranks.comm);
    hg_mutex_destroy(&c->class_lock);
    hg_mutex_destroy(&c->start_lock);
    hg_child_remove(&c->backend->children, HG_CHILD_CONTEXT);
    hg_free(c);
}

hg_budget *hg_backend_host_budget(hg_backend *b) { return b->on_host ? &b->budget : NULL; }

/* Whether something that the caller made of the backend is left, which a build with NDEBUG does not
 * know. The backend's own are its context, the queues of launches that were started in that, and
 * the executables that only the cache has. */
static bool has_children(hg_backend *b) {
    static const char *const names[HG_CHILD_KINDS] = {"contexts", "queues", "executables",
                                                      "bindings"};
    uint32_t own[HG_CHILD_KINDS] = {b->context != NULL,
                                    b->context ? (uint32_t)b->context->starters.count : 0,
                                    hg_executables_kept(b), 0};
    char text[128] = "";
    for (int i = 0; i < HG_CHILD_KINDS; i++) {
        uint32_t count = hg_atomic_load(&b->children.count[i], HG_ACQUIRE);
        size_t length = strlen(text);
        if (count > own[i])
            snprintf(text + length, sizeof text - length, "%s%u %s", length ? ", " : "",
                     (unsigned)(count - own[i]), names[i]);
    }
    if (text[0])
        HG_IGNORE(hg_fail(HG_ERROR_INVALID_ARGUMENT, "the backend still has %s: destroy them first",
                          text));
    return text[0] != 0;
}

void hg_backend_destroy(hg_backend *b) {
    HG_ENTRY;
    if (!b) return;
    hg_recent_close(b);
    if (b->fork.process == hg_fork_count && has_children(b))
        return; /* a forked child may not know them */
    hg_error kept = *hg_error_record();
    if (end_starts(b->context) != HG_OK) return;
    hg_backend_forget_forks(b);
    hg_progress_close(b->progress); /* while callbacks may still use the backend */
    hg_context_destroy(b->context);
    if (b->fork.lost) return;
    hg_executables_forget(b);
    hg_expansions_free(&b->expansions.first);
    hg_background_close(b->code.background);
    hg_handles_free(&b->buffers);
    hg_handles_free(&b->pools);
    hg_dispatch_device_close(&b->dispatch_device);
    hg_piece_free(&b->memory, &b->characters.piece);
    hg_free(b->characters.left);
    hg_suballocator_destroy(&b->memory);
    if (b->adopted) hg_compiler_finish(b->code.compiler);
    hg_compiler_close(b->code.compiler);
    if (b->device && !b->code.compiler) b->driver->device_close(b->device);
    hg_free(b->paths.cache);
    hg_free(b->paths.profile);
    hg_profile_destroy(b->profile);
    hg_mutex_destroy(&b->cache.lock);
    hg_mutex_destroy(&b->guard.lock);
    hg_mutex_destroy(&b->expansions.lock);
    hg_mutex_destroy(&b->characters.lock);
    hg_mutex_destroy(&b->types.lock);
    hg_backend_number_give(b);
    hg_monitor_destroy(&b->monitor);
    hg_free(b);
    *hg_error_record() = kept;
}

hg_status hg_backend_write_profile(hg_backend *b, const char *path) {
    HG_ENTRY;
    if (!b) return hg_null_argument("backend");
    if (!b->profile) return hg_fail(HG_ERROR_INVALID_ARGUMENT, "the backend records no profile");
    return hg_profile_write(b->profile, path);
}

hg_status hg_backend_progress(hg_backend *b, bool *left) {
    HG_ENTRY;
    if (!b) return hg_null_argument("backend");
    if (!left) return hg_null_argument("left");
    HG_TRY(hg_backend_alive(b));
    hg_progress_state state = hg_progress_drive(b->progress);
    if (state == HG_PROGRESS_INSIDE)
        return hg_fail(
            HG_ERROR_WOULD_BLOCK,
            "what is left goes on when the host call or callback that asks has returned");
    bool told = hg_progress_tell(b->progress);
    *left = told || state == HG_PROGRESS_LEFT;
    return HG_OK;
}

hg_status hg_backend_listen(hg_backend *b, hg_code_listener *call, void *user) {
    HG_ENTRY;
    if (!b) return hg_null_argument("backend");
    hg_atomic_store(&b->code.ear.call, NULL, HG_RELEASE);
    b->code.ear.user = user;
    hg_atomic_store(&b->code.ear.call, call, HG_RELEASE);
    return HG_OK;
}

const char *hg_backend_name(const hg_backend *b) {
    HG_ENTRY;
    return b ? b->driver->name : "";
}
void *hg_backend_native(hg_backend *b) {
    HG_ENTRY;
    return b && b->driver->device_native ? b->driver->device_native(b->device) : NULL;
}

hg_status hg_backend_execute_program(hg_backend *b, const hg_program *program,
                                     const hg_launch *launch) {
    HG_ENTRY;
    return hg_backend_execute_program_with_params(b, program, launch, NULL);
}

hg_status hg_launch_first(hg_backend *b, const hg_program *program, const hg_launch *launch,
                          const hg_params *params, hg_binding **binding) {
    hg_executable *e;
    uint64_t start = hg_clock_ns();
    *binding = NULL;
    HG_TRY(hg_executable_create_for(b, program, launch, params, &e));
    hg_status status = hg_binding_create(e, launch, params, binding);
    hg_executable_destroy(e);
    if (status != HG_OK) return status;
    (*binding)->spent_ns = hg_clock_ns() - start;
    status = hg_binding_launch(*binding);
    if (status == HG_OK) return HG_OK;
    hg_binding_destroy(*binding);
    *binding = NULL;
    return status;
}

hg_status hg_backend_execute_program_with_params(hg_backend *b, const hg_program *program,
                                                 const hg_launch *launch, const hg_params *params) {
    HG_ENTRY;
    hg_binding *binding;
    hg_status status;
    if (b && program && hg_recent_launch(b, program, launch, params, &status)) return status;
    HG_TRY(hg_launch_first(b, program, launch, params, &binding));
    if (!hg_recent_keep(b, program, launch, params, binding)) hg_binding_destroy(binding);
    return HG_OK;
}
