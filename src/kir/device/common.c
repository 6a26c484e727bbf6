/* What every part of the device form needs: variables and helper functions of the form, made when
 * first needed.
 * Must not know: the parts. */
#include "kir/device/device_internal.h"
#include "kir/builder.h"
#include "kir/sugar.h"

kir_var *device_own_var(device *d, kir_var **var, uint8_t type, const char *name) {
    if (!*var) *var = kir_var_create(d->out, NULL, type, 0, name);
    if (!*var) d->failed = true;
    return *var;
}

rewrite_helper device_helper(device *d, const char *name, uint8_t result, uint8_t params,
                             const uint8_t *types) {
    rewrite_helper h = {0};
    h.function = kir_helper(d->out, name, result, params, types, &h.fresh);
    kir_builder_init(&h.b, d->out, h.function);
    if (!h.function) d->failed = true;
    return h;
}

void device_helper_end(device *d, rewrite_helper *h) {
    if (h->b.failed) d->failed = true;
}

bool device_is_open(const kir_value *access) {
    uint8_t space = access->u.mem.space;
    return space == KIR_FLAT ||
           ((space == KIR_BUFFER || space == KIR_POOL) && access->u.mem.slot < 0);
}

void device_open_vars(device *d) {
    if (d->vars.open_state) return;
    for (int i = 0; i < 2; i++) {
        uint8_t type = d->i64 ? HG_TYPE_U64 : HG_TYPE_U32;
        if (i == 1 && d->i64) break;
        d->vars.open_base[i] = kir_var_create(d->out, NULL, type, 0,
                                              i ? "open_base_high" : "open_base");
        d->vars.open_size[i] = kir_var_create(d->out, NULL, type, 0,
                                              i ? "open_size_high" : "open_size");
        if (!d->vars.open_base[i] || !d->vars.open_size[i]) d->failed = true;
    }
    d->vars.open_arena = kir_var_create(d->out, NULL, HG_TYPE_U32, 0, "open_arena");
    d->vars.open_state = kir_var_create(d->out, NULL, HG_TYPE_U32, 0, "open_state");
    if (!d->vars.open_arena || !d->vars.open_state) d->failed = true;
}

/* A branch of its own: devices that run lanes in step (SwiftShader) do what stands before a loop's
 * exit only when every lane has left, and a lock that is released there is never released. */
void device_leave_lock(kir_builder *b, kir_value *taken) {
    kir_value *done = kir_if_begin(b, is_zero(b, taken));
    kir_break(b);
    kir_if_end(b, done);
}
