/* What the debugger can look at where a launch has stopped: registers of lanes, memory.
 * Must not know: commands, when a launch stops. */
#include "debug.h"
#include "driver/driver.h"
#include <string.h>

bool debug_is_here(const debug *d, uint64_t lane) {
    const tile_place *p = d->run.place;
    return p && lane >= p->lane0 && lane - p->lane0 < p->n && p->active[lane - p->lane0];
}

hg_type debug_register(const debug *d, bool predicate, uint8_t number, uint64_t lane,
                       uint64_t words[64]) {
    const debug_row *row = predicate ? &d->look.predicates[number] : &d->look.registers[number];
    if (!row->type || lane < d->look.window || lane - d->look.window >= d->look.window_lanes)
        return HG_TYPE_COUNT;
    uint64_t at = lane - d->look.window;
    if (!row->type[at]) return HG_TYPE_COUNT;
    hg_type type = (hg_type)(row->type[at] - 1);
    uint64_t count = (hg_type_size_bytes(type) + 7) / 8;
    for (uint64_t i = 0; i < count; i++) words[i] = row->parts[i] ? row->parts[i][at] : 0;
    return type;
}

/* ---- memory ---- */

/* NULL: not known here. */
static const uint8_t *memory_of_param(const debug *d, uint32_t param, uint64_t *size) {
    const hg_param *p = &d->program->params[param];
    if (p->kind == HG_PARAM_BUFFER) {
        *size = d->values.data[param].bytes;
        return d->memory[param];
    }
    *size = 0;
    if (!d->run.place || p->kind == HG_PARAM_SCALAR || !d->look.has_handle[p->reg]) return NULL;
    const hg_driver_launch *launch = d->run.place->launch->resolve_user;
    if (!launch || !launch->resolve.call) return NULL;
    tile_memory found = d->run.place->launch->resolve(d->run.place->launch->resolve_user,
                                                      d->look.handle[p->reg],
                                                      p->kind == HG_PARAM_POOL, false);
    *size = found.valid ? found.size : 0;
    return found.valid ? found.base : NULL;
}

static const uint8_t *shared_memory(const debug *d, uint64_t *size) {
    const tile_place *p = d->run.place;
    *size = p && p->shared ? p->shared_bytes - p->launch->shared_scratch : 0; /* as far as the
                                                                                 program sees it */
    return *size ? p->shared : NULL;
}

static const uint8_t *memory_of(const debug *d, int array, uint64_t *size) {
    return array == DEBUG_SHARED ? shared_memory(d, size)
                                 : memory_of_param(d, (uint32_t)array, size);
}

/* Lanes that run together have their private memory whether or not they have come to this place. */
static bool has_private(const debug *d, uint64_t lane) {
    const tile_place *p = d->run.place;
    return p && p->own && lane >= p->lane0 && lane - p->lane0 < p->n;
}

uint64_t debug_memory_size(const debug *d, int array, uint64_t lane) {
    uint64_t size;
    if (array == DEBUG_PRIVATE) return has_private(d, lane) ? d->program->private_bytes : 0;
    return memory_of(d, array, &size) ? size : 0;
}

bool debug_bytes(const debug *d, int array, uint64_t lane, uint64_t offset, uint64_t size,
                 uint8_t *bytes) {
    uint64_t most = 0;
    const uint8_t *from = NULL;
    if (array == DEBUG_PRIVATE)
        most = debug_memory_size(d, array, lane);
    else
        from = memory_of(d, array, &most);
    if ((!from && array != DEBUG_PRIVATE) || offset > most || most - offset < size) return false;
    for (uint64_t i = 0; i < size; i++)
        bytes[i] = from ? from[offset + i]
                        : *tile_private_byte(d->run.place, (uint32_t)(lane - d->run.place->lane0),
                                             offset + i);
    return true;
}
