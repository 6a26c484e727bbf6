/* For tests of drivers that run kernels in device form: building such kernels by hand, running them
 * through the driver's table. */
#ifndef HG_TESTS_DEVICE_SUPPORT_H
#define HG_TESTS_DEVICE_SUPPORT_H

#include "emit/emit.h"
#include "driver/driver.h"
#include "test.h"
#include "kir/builder.h"
#include <stdlib.h>

extern const hg_driver hg_driver_opencl;

/* ---- kernels ---- */

typedef struct device_kernel {
    kir_module *module;
    kir_device_layout layout;
} device_kernel;

kir_value *build_field(device_kernel *k, kir_builder *b, kir_field_kind kind, uint32_t index,
                       uint8_t type);

/* The same field in another function. */
kir_value *build_field_again(kir_builder *b, const kir_value *field);

/* A kernel with slots of plain memory; the odd ones begin at a field of the record. */
void device_kernel_begin(device_kernel *k, kir_builder *b, const char *name, uint32_t slots);
/* addressed: all begin at a field, which is an address. */
void device_kernel_begin_as(device_kernel *k, kir_builder *b, const char *name, uint32_t slots,
                            bool addressed);
void device_kernel_end(device_kernel *k, const kir_builder *b);
void device_kernel_free(device_kernel *k);
kir_value *build_id(kir_builder *b, kir_device_id id);
void build_barrier(kir_builder *b);

/* An access; slot KIR_OPEN: group memory. */
kir_value *build_access(kir_builder *b, kir_op op, int16_t slot, uint8_t type, uint8_t nargs,
                        kir_value *const *args, uint8_t of);
kir_value *build_load(kir_builder *b, int16_t slot, kir_value *at, uint8_t type);
void build_store(kir_builder *b, int16_t slot, kir_value *at, kir_value *value);
kir_value *build_atomic(kir_builder *b, int16_t slot, kir_atomic atomic, uint8_t count,
                        kir_value *at, kir_value *const *operands);
kir_value *build_group_load(kir_builder *b, kir_value *at, uint8_t type);
void build_group_store(kir_builder *b, kir_value *at, kir_value *value);

/* ---- running them ---- */

typedef struct device_fixture {
    const hg_driver *driver;
    const hg_device_caps *caps;
    hg_device *device;
    hg_driver_queue *queue;
    hg_driver_event *event;
} device_fixture;

typedef struct device_memory {
    void *bytes; /* copied in before and out after */
    uint64_t size;
} device_memory;

void device_shut(device_fixture *d);

/* The first device; false with the reason when there is none. */
bool device_open(device_fixture *d, const hg_driver *driver, const char *pretend, char reason[256]);
bool device_submit(device_fixture *d, const hg_driver_command *commands, uint32_t count);

enum {
    DEVICE_SLOTS = 16,
    DEVICE_BASE = 256 /* offset of slots that begin at a field of the record */
};

/* The record: values of the fields but BASE, in order. */
void device_fill_record(const device_kernel *k, const uint64_t *values, uint8_t *record);

/* One dispatch of one dimension over copies of the slots' memories; false after a failure, which is
 * counted. */
bool device_run(device_fixture *d, const device_kernel *k, uint32_t groups, uint32_t group,
                uint64_t group_memory, const uint64_t *values, const device_memory *memories);

#endif
