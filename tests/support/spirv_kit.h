/* What the tests of the SPIR-V emitter share: the ways to see memory, building kernels in device
 * form by hand, checking words with spirv-val and their text with spirv-as. */
#ifndef HG_TESTS_SPIRV_KIT_H
#define HG_TESTS_SPIRV_KIT_H

#include "emit/emit.h"
#include "test.h"
#include "kir/builder.h"
#include <stdlib.h>

enum {
    GROUP = 64,
    GROUPS = 4,
    LANES = GROUP * GROUPS,
    CELL = 8,
    MAX_SLOTS = 4,
    MAX_FUNCTIONS = 128
};

/* One way to see memory and types. */
typedef struct way {
    const char *name;
    bool addressed, i64, words /* memory has 32-bit elements only */, pushed, debug;
} way;

enum { WAY_COUNT = 8 };
extern const way WAYS[WAY_COUNT];

typedef struct kit {
    const way *how;
    kir_module *m;
    kir_builder b;
    kir_device_layout layout;
    kir_value *thread;
    uint32_t group_memory;
} kit;

extern emit_spirv_options float_controls; /* only these fields: what the device offers */

extern uint64_t random_state;
uint64_t next_random(void);
uint32_t below(uint32_t n);

/* ---- building ---- */

void add_field(kit *k, uint8_t kind, uint32_t index, bool high);
void begin(kit *k, const way *how, const char *name, uint32_t slots);
kir_value *op2(kit *k, kir_op op, kir_value *a, kir_value *c);

/* scale · index + disp as an offset of this way. */
kir_value *offset(kit *k, kir_value *index, uint32_t scale, uint32_t disp);
kir_value *access_memory(kit *k, kir_op op, uint8_t type, int16_t slot, kir_value *at,
                         uint8_t count, kir_value *const *operands);
kir_value *load(kit *k, uint8_t type, int16_t slot, kir_value *at);
kir_value *store(kit *k, int16_t slot, kir_value *at, kir_value *value);
void end(kit *k);

/* ---- words and text ---- */

void set_options(const kit *k, emit_spirv_options *o);
void check_words(const kit *k, const emit_words *words);

/* A place for files, unless there are no tools to read them. */
void open_folder(void);
void close_folder(void);

#endif
