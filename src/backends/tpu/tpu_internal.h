/* Shared by the files of the TPU backend. */
#ifndef HG_TPU_INTERNAL_H
#define HG_TPU_INTERNAL_H

#include "backends/tpu/pjrt.h"
#include "base/blobcache.h"
#include "base/thread.h"
#include "driver/driver.h"
#include "emit/emit_stablehlo.h"

/* ---- plugin.c ---- */
typedef struct tpu_plugin {
    char path[256];
    int major, minor;
    char name[64], version[128]; /* of the platform */
#define PJRT_CALL(place, name, arguments) pjrt_error *(*name)(arguments *);
    PJRT_CALLS(PJRT_CALL)
    PJRT_OPTIONAL_CALLS(PJRT_CALL) /* NULL: it has none */
#undef PJRT_CALL
    pjrt_client *client;
    pjrt_device *const *devices;
    size_t device_count;
} tpu_plugin;
extern const hg_vendor tpu_vendor;
/* Opened when first asked for, and never closed. NULL: why, and what to install. */
const tpu_plugin *tpu_open(char reason[256]);
extern const tpu_plugin *tpu; /* after tpu_open */
/* The plugin's words as an error; it takes the error over. call: "compile". */
hg_status tpu_check(const char *call, pjrt_error *error) HG_NODISCARD;
bool tpu_went_well(pjrt_error *error); /* where nobody wants to know its words */
hg_status tpu_await(const char *call, pjrt_event *event) HG_NODISCARD; /* NULL: done */
void tpu_free_buffer(pjrt_buffer *buffer);                             /* NULL is fine */

/* ---- memory.c ---- */
/* An executable by the hash of its text, which steps and modules share. */
typedef struct tpu_code {
    uint8_t key[32];
    pjrt_executable *executable;
    uint32_t references; /* 0: it is kept for the next who has that text */
    uint64_t used;       /* when, by the device's clock */
} tpu_code;
struct hg_device {
    hg_device_caps caps;
    pjrt_device *device;
    hg_blob_cache *cache; /* of executables, on disk */
    bool expands;         /* vendor `off`: steps are their expansions */
    hg_mutex lock;        /* of arenas' contents and of all executables */
    HG_VEC(tpu_code *) codes;
    uint64_t clock;
};
/* Bytes that are on the host, on the device, or on both. */
struct hg_driver_arena {
    hg_device *device;
    uint8_t *bytes;
    uint64_t size;
    bool on_host;          /* bytes are what the arena holds */
    pjrt_buffer *buffer;   /* the same on the device; NULL: it is not there */
    hg_driver_shape shape; /* of buffer */
};
hg_status tpu_to_host(hg_driver_arena *arena) HG_NODISCARD;
/* The arena as a tensor of that shape, which has all its bytes: on the device, instead of as any
 * other one. */
bool tpu_is_on_device(const hg_driver_arena *arena, const hg_driver_shape *shape);
hg_status tpu_to_device(hg_driver_arena *arena, const hg_driver_shape *shape) HG_NODISCARD;
/* What a failed run was to be given; nobody knows its contents unless the plugin has left it. */
void tpu_lose(hg_driver_arena *arena);
/* The arena is that tensor, which it takes over. */
void tpu_put(hg_driver_arena *arena, pjrt_buffer *buffer, const hg_driver_shape *shape);
hg_driver_shape tpu_numbers(uint64_t count, uint8_t word); /* unsigned, of so many bytes */
uint64_t tpu_words(const hg_driver_arena *arena, uint8_t word);
hg_status tpu_upload(hg_device *device, const void *data, const hg_driver_shape *shape,
                     pjrt_buffer **buffer) HG_NODISCARD;
hg_status tpu_download(pjrt_buffer *buffer, void *data, uint64_t size) HG_NODISCARD;

/* ---- executable.c ---- */
/* read: hg_driver_module_text. */
hg_status tpu_compile_text(hg_text *text, bool read, pjrt_executable **code) HG_NODISCARD;
/* The cache on disk; false: it is not there. */
bool tpu_kept(hg_device *device, const hg_text *text, bool read, pjrt_executable **code);
void tpu_keep(hg_device *device, const hg_text *text, bool read, pjrt_executable *code);
void tpu_free_executable(pjrt_executable *code); /* NULL is fine */
/* The same, compiled once for all who have that text. Requires: the device's lock. */
hg_status tpu_code_find(hg_device *device, char *text, uint64_t length, bool read,
                        tpu_code **code) HG_NODISCARD;
void tpu_code_release(tpu_code *code); /* NULL is fine. The same */
void tpu_free_codes(hg_device *device);
/* results: room for as many as it has; what it gave is the caller's, also after a failure.
 * Arguments that results are in place of (tf.aliasing_output) are only to be freed afterwards. */
hg_status tpu_execute(pjrt_device *device, pjrt_executable *code, pjrt_buffer *const *arguments,
                      size_t count, pjrt_buffer **results) HG_NODISCARD;

/* ---- job.c ---- */
/* What a launch is done with. arguments, results: room for `count`; those of arguments behind the
 * first are arenas' until the run is left. */
typedef struct tpu_run {
    pjrt_executable *code; /* NULL: it is compiled first */
    pjrt_buffer **arguments, **results;
    uint32_t count;
    bool in_place; /* results are in place of arguments */
} tpu_run;
void tpu_free_run(tpu_run *run); /* with all that is in it */
/* Runs until it is done, cancelled or late. *left: the last two, which the fault says; run and text
 * are empty then, unless it did not begin, and arenas, those behind the first argument in their
 * order, hold what they held before. In place it goes to its end once it has begun. Requires: the
 * device's lock. */
hg_status tpu_run_watched(hg_device *device, const hg_driver_launch *launch, hg_text *text,
                          hg_driver_arena *const *arenas, tpu_run *run, hg_driver_fault *fault,
                          bool *left) HG_NODISCARD;

/* ---- module.c: as of hg_driver ---- */
hg_status tpu_module_create(hg_device *device, const hg_driver_module_text *text,
                            hg_driver_module **module) HG_NODISCARD;
void tpu_module_destroy(hg_driver_module *module);
hg_status tpu_module_run(hg_driver_module *module, const hg_range *ranges, bool *bad) HG_NODISCARD;

/* ---- noted.c: as of hg_driver ---- */
enum { TPU_FAULT_NUMBERS = 5 }; /* code, phase, lane and two values of a launch's first fault */
typedef struct tpu_noted_memory {
    hg_driver_arena *arena;
    uint8_t type; /* of a tensor with one axis */
    uint64_t count;
    bool written;
    bool lasts; /* class memory: after a fault it is what it was before */
} tpu_noted_memory;
/* A command as a module of its own: @main takes the numbers, where there are some, and the
 * memories, and returns the numbers of the first fault, where it takes numbers, and the memories
 * that are written. */
typedef struct tpu_note {
    hg_text text;
    tpu_noted_memory *memories;
    uint32_t count;
    uint64_t *numbers, number_count;
} tpu_note;
hg_status tpu_note_begin(hg_device *device) HG_NODISCARD;
hg_status tpu_note_end(hg_device *device, const hg_range *scratch,
                       hg_driver_noted **noted) HG_NODISCARD;
hg_status tpu_noted_run(hg_driver_noted *noted, bool *bad) HG_NODISCARD;
void tpu_noted_destroy(hg_driver_noted *noted);
bool tpu_is_noting(const hg_device *device); /* this thread */
hg_status tpu_note_command(const hg_driver_command *command) HG_NODISCARD;

/* ---- step.c ---- */
hg_status tpu_note_step(const hg_driver_step *step, tpu_note *note) HG_NODISCARD;
/* A copy or a fill; none of many bytes of the host, none to the host. */
hg_status tpu_note_move(const hg_driver_command *command, tpu_note *note) HG_NODISCARD;
bool tpu_step_supported(const hg_device *device, const plan_call *call, uint64_t *scratch);
hg_status tpu_run_step(hg_device *device, const hg_driver_step *step) HG_NODISCARD; /* the lock */

/* ---- launch.c ---- */
hg_status tpu_note_launch(const hg_driver_launch *launch, tpu_note *note) HG_NODISCARD;
hg_status tpu_kernel_create(hg_device *device, const kir_module *module,
                            hg_driver_kernel **kernel) HG_NODISCARD;
void tpu_kernel_destroy(hg_driver_kernel *kernel);
/* Requires: the device's lock. */
hg_status tpu_launch(hg_device *device, const hg_driver_launch *launch,
                     hg_driver_fault *fault) HG_NODISCARD;

#endif
