/* What the host side of a front end (src/clients) asks of the runtime beyond the public interface.
 * It includes no other header of the runtime but exchange.h. Must not know: drivers, records of the
 * runtime. */
#ifndef HG_RUNTIME_CLIENT_H
#define HG_RUNTIME_CLIENT_H

#include "base/budget.h"
#include "library/tiles.h"
#include "profile/profile.h"
#include "runtime/exchange.h"
#include <hologram/backend.h>

/* ---- errors ---- */
/* HG_ERROR_ISA with a code of language.md 5.1: P01 … P08. */
hg_status hg_binding_error(const char *code, const char *format, ...) HG_PRINTF(2, 3);

/* What params has under a name, for those that stand for it. */
typedef struct hg_given {
    bool buffer;     /* else a scalar */
    uint64_t handle; /* of the buffer */
    hg_type type;    /* of the scalar */
    const uint8_t *bytes;
} hg_given;
bool hg_params_given(const hg_params *params, const char *name, hg_given *given);
/* Whether a register is set, one of the launch: r252 ... r255. */
bool hg_params_set_registers(const hg_params *params);
/* Every parameter that is set is one of the program, of its kind and type. */
hg_status hg_params_check(const hg_params *params, const hg_program *program) HG_NODISCARD;

/* What callers fill may be of an older or a newer header (base/sized.h): *own gets this library's
 * form of it. */
hg_status hg_launch_take(const hg_launch *given, hg_launch *own) HG_NODISCARD;

/* ---- the backend ---- */
/* Whether two buffers share bytes, as far as that is known. */
bool hg_buffers_meet(hg_backend *b, uint64_t one, uint64_t other);
/* Kernels run on the host's threads, in its memory. */
bool hg_backend_is_host(const hg_backend *b);
uint32_t hg_backend_threads(const hg_backend *b); /* as configured; 0: as many as there are */
/* What is charged for the backend's memory, where that is the host's; else NULL. */
hg_budget *hg_backend_host_budget(hg_backend *b);
hg_backend *hg_queue_backend(const hg_queue *q);
hg_profile *hg_backend_profile(const hg_backend *b); /* NULL: off */

uint64_t hg_backend_timeout_ms(const hg_backend *b); /* of its configuration; 0: none */

/* ---- events of work that is not a queue's (event.c) ---- */
/* With one holder. driven: its queue has no thread. */
hg_event *hg_event_create(hg_backend *b, bool driven);
void hg_event_retain(hg_event *e);
void hg_event_release(hg_event *e); /* NULL is allowed */
/* It is done. error: looked at where the status is none of success. NULL event is allowed. */
void hg_event_finish(hg_event *e, hg_status status, const hg_error *error);
bool hg_event_is_done(const hg_event *e);
bool hg_event_is_lost(const hg_event *e); /* in a forked child: of the parent, and not done there
                                             when it forked */
/* Not 0 once it is cancelled; NULL for no event. */
const volatile int *hg_event_cancel_word(const hg_event *e);
/* Its status; the error becomes this thread's. It must be done. */
hg_status hg_event_result(const hg_event *e);

/* ---- sizes of tiles of library programs ---- */
library_tiles hg_backend_tile_presets(const hg_backend *b); /* without a measurement */
library_tiles *hg_backend_tiles(hg_backend *b); /* what is bound from now on has them. Not while
                                                   anything is bound */
/* The file of this device's sizes, and the text that must stand in it; the caller frees both. The
 * path is "" where none is kept. */
hg_status hg_backend_tile_file(const hg_backend *b, char **path) HG_NODISCARD;
hg_status hg_backend_tile_device(const hg_backend *b, char **device) HG_NODISCARD;
/* The sizes of the file; where it says nothing, the presets. why: why they do not count; "" where
 * they do. */
hg_status hg_backend_tiles_read(const hg_backend *b, library_tiles *tiles,
                                char why[LIBRARY_TILES_WHY]) HG_NODISCARD;

/* ---- class memory of one context ---- */
/* Made when first asked for. *image: as the host sees it; NULL where it does not. */
hg_status hg_context_class_image(hg_context *context, uint8_t **image) HG_NODISCARD;

/* ---- steps between ranks ---- */
/* The context's from now on; NULL: of the backend's own. */
hg_status hg_context_set_ranks(hg_backend *b, hg_context *context,
                               const hg_ranks *ranks) HG_NODISCARD;

/* ---- copies on a context's queue; a handle of a class means the context's ---- */
hg_status hg_context_write(hg_context *context, uint64_t handle, uint64_t offset, const void *data,
                           uint64_t length) HG_NODISCARD;
hg_status hg_context_read(hg_context *context, uint64_t handle, uint64_t offset, void *data,
                          uint64_t length) HG_NODISCARD;
hg_status hg_copy_between(hg_context *context, uint64_t to, uint64_t offset, uint64_t from,
                          uint64_t from_offset, uint64_t length) HG_NODISCARD;
hg_status hg_fill(hg_context *context, uint64_t handle, uint64_t offset, uint64_t length,
                  uint8_t value) HG_NODISCARD;

#endif
